// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-copies{block-size=32,2,1 strategy=sync})' --remarks-filter='workgroup.*' --remark-format=emitRemark --verify-diagnostics | FileCheck %s

// A kernel that does not state its block size states what was promised.
gpu.module @kernels {
  // CHECK-LABEL: gpu.func @promised
  // CHECK-SAME: known_block_size = array<i32: 32, 2, 1>
  // CHECK-NOT: gpu.block_dim
  // CHECK-NOT: scf.for
  // CHECK: gpu.return
  gpu.func @promised(%a: memref<64xi8>, %b: memref<64xi8>) kernel {
    // expected-remark @+2 {{LoweredCopy | Category:workgroup-lower-copies | Function=promised | BytesPerAccess=1, Remark="copy spread over the block", Threads=64}}
    // expected-remark @+1 {{NarrowCopy}}
    memref.copy %a, %b : memref<64xi8> to memref<64xi8>
    gpu.return
  }
  // CHECK-LABEL: gpu.func @stated
  // CHECK-SAME: known_block_size = array<i32: 128, 1, 1>
  gpu.func @stated(%a: memref<64xi8>, %b: memref<64xi8>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    gpu.return
  }
}

// What is launched where it stands has no place for it.
// CHECK-LABEL: func.func @host
// CHECK: gpu.block_dim
func.func @host(%a: memref<64xi8> {llvm.align = 16}, %b: memref<64xi8> {llvm.align = 16}, %n: index) {
  %c1 = arith.constant 1 : index
  // expected-remark @+1 {{[Missed] BlockSizeNotStated | Category:workgroup-lower-copies | Function=host | Reason="block-size not used: only a kernel that is outlined can state it", Suggestion="launch blocks of a constant size"}}
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %n, %sy = %c1, %sz = %c1) {
    // expected-remark @+1 {{LoweredCopy | Category:workgroup-lower-copies | Function=host | BytesPerAccess=16, Remark="copy spread over the block", Threads=0}}
    memref.copy %a, %b : memref<64xi8> to memref<64xi8>
    gpu.terminator
  }
  return
}
