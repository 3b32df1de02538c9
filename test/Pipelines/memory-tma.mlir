// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-memory{copies=tma chip=sm_90 assume-alignment=16})' | FileCheck %s
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-memory{copies=tma chip=sm_90 assume-alignment=16 dynamic=always},workgroup-to-nvvm)' | FileCheck %s --check-prefix=DYNAMIC

// Buffers that TMA writes share bytes with nothing: it is not barriers that order
// its accesses. The block agrees on how often the loop iterates, though of mbarriers
// and fences nothing is said but what they are called. One barrier before each copy
// does for all passes.
#wg = #gpu.address_space<workgroup>

// CHECK-LABEL: gpu.func @main_kernel
// CHECK-SAME:    workgroup(%[[ARENA:.+]] : memref<4096xi8, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}, %[[A:.+]] : memref<32x32xf32, #gpu.address_space<workgroup>> {llvm.align = 128 : i64}, %[[B:.+]] : memref<32x32xf32, #gpu.address_space<workgroup>> {llvm.align = 128 : i64})
// CHECK:         %[[TURNS:.+]] = memref.load
// CHECK:         scf.for %{{.+}} to %[[TURNS]]
// CHECK-NOT:       gpu.barrier
// CHECK:           nvvm.fence.proxy
// CHECK-NEXT:      gpu.barrier
// CHECK-NOT:       gpu.barrier
// CHECK:           nvgpu.tma.async.load {{.+}} to %[[A]]
// CHECK-NOT:       gpu.barrier
// CHECK:           nvvm.fence.proxy
// CHECK-NEXT:      gpu.barrier
// CHECK-NOT:       gpu.barrier
// CHECK:           nvgpu.tma.async.load {{.+}} to %[[B]]
// CHECK:           memref.view %[[ARENA]]

// DYNAMIC-DAG:   llvm.mlir.global external @[[SYMBOL:.+]]() {addr_space = 3 : i32, alignment = 16 : i64}
// DYNAMIC-DAG:   llvm.mlir.global internal @__wg_main_kernel_0() {addr_space = 3 : i32, alignment = 128 : i64}
// DYNAMIC-DAG:   llvm.mlir.global internal @__wg_main_kernel_1() {addr_space = 3 : i32, alignment = 128 : i64}
module attributes {gpu.container_module} {
  func.func @main(%a: memref<64x32xf32>, %sizes: memref<1xindex>, %out: memref<64xf32>) {
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    gpu.launch_func @kernels::@main_kernel blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1)
        args(%a : memref<64x32xf32>, %sizes : memref<1xindex>, %out : memref<64xf32>)
    return
  }
  gpu.module @kernels {
    gpu.func @main_kernel(%a: memref<64x32xf32>, %sizes: memref<1xindex>, %out: memref<64xf32> {llvm.noalias})
        kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %one = arith.constant 1.0 : f32
      %tx = gpu.thread_id x
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %iterations = memref.load %sizes[%c0] : memref<1xindex>
      scf.for %i = %c0 to %iterations step %c1 {
        %first = memref.alloc() : memref<32x32xf32, #wg>
        %tile = memref.subview %a[%i, 0] [32, 32] [1, 1] : memref<64x32xf32> to memref<32x32xf32, strided<[32, 1], offset: ?>>
        memref.copy %tile, %first : memref<32x32xf32, strided<[32, 1], offset: ?>> to memref<32x32xf32, #wg>
        %x = memref.load %first[%c1, %i] : memref<32x32xf32, #wg>
        %second = memref.alloc() : memref<32x32xf32, #wg>
        memref.copy %tile, %second : memref<32x32xf32, strided<[32, 1], offset: ?>> to memref<32x32xf32, #wg>
        %y = memref.load %second[%i, %c1] : memref<32x32xf32, #wg>
        gpu.barrier
        %third = memref.alloc() : memref<1024xf32, #wg>
        linalg.fill ins(%one : f32) outs(%third : memref<1024xf32, #wg>)
        %z = memref.load %third[%tx] : memref<1024xf32, #wg>
        %fourth = memref.alloc() : memref<1024xf32, #wg>
        linalg.fill ins(%one : f32) outs(%fourth : memref<1024xf32, #wg>)
        %w = memref.load %fourth[%tx] : memref<1024xf32, #wg>
        %xy = arith.addf %x, %y : f32
        %zw = arith.addf %z, %w : f32
        %sum = arith.addf %xy, %zw : f32
        memref.store %sum, %out[%tx] : memref<64xf32>
      }
      gpu.return
    }
  }
}
