// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-resolve-bank-conflicts)' | FileCheck %s --check-prefixes=CHECK,STATIC
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-resolve-bank-conflicts{max-bytes=49408})' | FileCheck %s --check-prefixes=CHECK,LARGE
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-resolve-bank-conflicts{max-bytes=4096})' | FileCheck %s --check-prefixes=CHECK,SMALL
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-resolve-bank-conflicts{max-bytes=4096})' --remarks-filter='workgroup.*' --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK


// A module of kernels that is compiled for a chip.
gpu.module @kernels [#nvvm.target<chip = "sm_86">] {
  // Padding takes 128 bytes more than static memory has with the other buffer.
  // CHECK-LABEL: gpu.func @full
  // STATIC-SAME:   workgroup(%[[W:.+]] : memref<32x32xf32, 3>, %{{.+}} : memref<45056xi8, 3>)
  // STATIC:        arith.remui
  // STATIC:        memref.load %[[W]]
  // LARGE-SAME:    workgroup(%{{.+}} : memref<32x33xf32, 3>,
  // LARGE-NOT:     arith.remui
  // SMALL-SAME:    workgroup(%{{.+}} : memref<32x32xf32, 3>, %{{.+}} : memref<45056xi8, 3>)
  // SMALL:         arith.remui
  gpu.func @full() -> f32
      workgroup(%w: memref<32x32xf32, 3>, %rest: memref<45056xi8, 3>)
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %x = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %0 = memref.load %w[%x, %c0] : memref<32x32xf32, 3>
    gpu.return %0 : f32
  }

  // Where there is nothing to exchange, there is only padding.
  // CHECK-LABEL: gpu.func @narrow
  // STATIC-SAME:   workgroup(%{{.+}} : memref<1024x1xi64, 3>, %{{.+}} : memref<40960xi8, 3>)
  // LARGE-SAME:    workgroup(%{{.+}} : memref<1024x1xi64, 3>, %{{.+}} : memref<40960xi8, 3>)
  // SMALL-SAME:    workgroup(%{{.+}} : memref<1024x1xi64, 3>, %{{.+}} : memref<40960xi8, 3>)
  gpu.func @narrow() -> i64
      workgroup(%w: memref<1024x1xi64, 3>, %rest: memref<40960xi8, 3>)
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %x = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %i = arith.muli %x, %c16 : index
    %0 = memref.load %w[%i, %c0] : memref<1024x1xi64, 3>
    gpu.return %0 : i64
  }
}

// REMARK: [Missed] NotResolved
// REMARK-SAME: Function=narrow
// REMARK-SAME: but padded rows would exceed the 4096 bytes of workgroup memory that the kernel has
