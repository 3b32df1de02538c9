// RUN: mlir-opt %s --pass-pipeline='builtin.module(gpu.module(workgroup-lower-copies{strategy=tma}))' --remarks-filter-missed='workgroup.*' --remark-format=emitRemark --verify-diagnostics -o /dev/null
// RUN: mlir-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(workgroup-lower-copies{strategy=tma})))' --remarks-filter-missed='workgroup.*' --remark-format=emitRemark --verify-diagnostics -o /dev/null

// A kernel cannot be given a map without its launches.
module attributes {gpu.container_module} {
  func.func @main(%in: memref<64x32xf32>) {
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    gpu.launch_func @new::@kernel blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%in : memref<64x32xf32>)
    return
  }
  gpu.module @new [#nvvm.target<chip = "sm_90">] {
    gpu.func @kernel(%in: memref<64x32xf32> {llvm.align = 16}) workgroup(%b: memref<64x32xf32, #gpu.address_space<workgroup>>)
        kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      // expected-remark @+1 {{[Missed] NotTMA | Category:workgroup-lower-copies | Function=kernel | Reason="TMA not used: the launches are outside of the operation that the pass runs on"}}
      memref.copy %in, %b : memref<64x32xf32> to memref<64x32xf32, #gpu.address_space<workgroup>>
      gpu.return
    }
  }
  // Where the chip has none, nothing else counts.
  gpu.module @old [#nvvm.target<chip = "sm_89">] {
    gpu.func @kernel(%in: memref<64x32xf32> {llvm.align = 16}) workgroup(%b: memref<64x32xf32, #gpu.address_space<workgroup>>)
        kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      // expected-remark @+1 {{[Missed] NotTMA | Category:workgroup-lower-copies | Function=kernel | Reason="TMA not used: sm_89 does not have it"}}
      memref.copy %in, %b : memref<64x32xf32> to memref<64x32xf32, #gpu.address_space<workgroup>>
      gpu.return
    }
  }
  gpu.module @oldest [#nvvm.target<chip = "sm_75">] {
    gpu.func @kernel(%in: memref<64x32xf32> {llvm.align = 16}) workgroup(%b: memref<64x32xf32, #gpu.address_space<workgroup>>)
        kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      // expected-remark @+2 {{TMA not used: sm_75 does not have it}}
      // expected-remark @+1 {{cp.async not used: sm_75 does not have it}}
      memref.copy %in, %b : memref<64x32xf32> to memref<64x32xf32, #gpu.address_space<workgroup>>
      gpu.return
    }
  }
}
