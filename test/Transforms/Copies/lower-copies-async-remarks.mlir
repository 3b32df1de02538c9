// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-copies{strategy=cp-async insert-barriers=false})' --remarks-filter='workgroup.*' --remark-format=emitRemark --verify-diagnostics -o /dev/null

// How a copy went, and why not by cp.async.
gpu.module @chips {
  gpu.func @asynchronous(%in: memref<512xf32> {llvm.align = 16})
      workgroup(%buffer: memref<512xf32, 3>) kernel
      attributes {known_block_size = array<i32: 32, 2, 1>} {
    // expected-remark @+1 {{[Passed] LoweredCopy | Category:workgroup-lower-copies | Function=asynchronous | BytesPerAccess=16, Remark="copy spread over the block by cp.async", Threads=64}}
    memref.copy %in, %buffer : memref<512xf32> to memref<512xf32, 3>
    gpu.return
  }
  gpu.func @narrow(%in: memref<64xi8>) workgroup(%buffer: memref<64xi8, 3>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    // expected-remark @+3 {{LoweredCopy}}
    // expected-remark @+2 {{[Missed] NotAsync | Category:workgroup-lower-copies | Function=narrow | Reason="cp.async not used: it copies 4, 8 or 16 bytes that are contiguous on both sides, not 1"}}
    // expected-remark @+1 {{NarrowCopy}}
    memref.copy %in, %buffer : memref<64xi8> to memref<64xi8, 3>
    gpu.return
  }
}
gpu.module @pipelined {
  // To wait for a copy is to wait for all that was begun before it.
  gpu.func @pipelined(%in: memref<512xf32> {llvm.align = 16}) workgroup(%buffer: memref<512xf32, 3>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    scf.for %i = %c0 to %c8 step %c1 {
      nvvm.cp.async.wait.group 2
      scf.for %j = %c0 to %c8 step %c1 {
        // expected-remark @+2 {{Remark="copy spread over the block"}}
        // expected-remark @+1 {{[Missed] NotAsync | Category:workgroup-lower-copies | Function=pipelined | Reason="cp.async not used: to wait for it would be to wait for the copies that run ahead in 'scf.for' of line }}
        memref.copy %in, %buffer : memref<512xf32> to memref<512xf32, 3>
      }
    }
    // expected-remark @+1 {{Remark="copy spread over the block by cp.async"}}
    memref.copy %in, %buffer : memref<512xf32> to memref<512xf32, 3>
    gpu.return
  }
}
gpu.module @old [#nvvm.target<chip = "sm_75">] {
  gpu.func @kernel(%in: memref<64xf64> {llvm.align = 16}) workgroup(%buffer: memref<64xf64, 3>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    // expected-remark @+2 {{LoweredCopy}}
    // expected-remark @+1 {{[Missed] NotAsync | Category:workgroup-lower-copies | Function=kernel | Reason="cp.async not used: sm_75 does not have it"}}
    memref.copy %in, %buffer : memref<64xf64> to memref<64xf64, 3>
    gpu.return
  }
}
