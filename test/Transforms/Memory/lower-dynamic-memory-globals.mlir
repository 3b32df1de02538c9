// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-dynamic-memory)' | FileCheck %s
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-dynamic-memory)' -o %t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-lower-dynamic-memory)' -o %t.twice
// RUN: diff %t.once %t.twice
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-sink-allocs)' | FileCheck %s --check-prefix=ONE
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-insert-barriers)' | FileCheck %s --check-prefix=BARRIERS

// External globals without elements are dynamic memory, all from the same start,
// whatever their elements and however their space is spelled.
// CHECK-LABEL: gpu.module @kernels
// CHECK-COUNT-1: memref.global @dynamic_workgroup_memory : memref<0xi8, #gpu.address_space<workgroup>> {alignment = 1024 : i64}
// CHECK-NOT:     memref.global
// ONE-LABEL:   gpu.module @kernels
// ONE-NOT:       memref.global
gpu.module @kernels {
  memref.global "private" @halves : memref<0xf16, 3> {alignment = 16 : i64}
  memref.global "private" @words : memref<0xi32, #nvvm.memory_space<shared>>

  // CHECK-LABEL: gpu.func @views
  // CHECK-NOT:     memref.get_global @halves
  // CHECK-NOT:     memref.get_global @words
  // CHECK:         memref.reinterpret_cast %{{.*}} to offset: [64], sizes: [64], strides: [1] : memref<?xf16, #gpu.address_space<workgroup>> to memref<64xf16, strided<[1], offset: 64>, #gpu.address_space<workgroup>>
  // ONE-LABEL:   gpu.func @views
  // ONE-COUNT-2:   gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
  //
  // The analysis sees one memory, before they are lowered.
  // BARRIERS-LABEL: gpu.func @views
  // BARRIERS:         memref.store
  // BARRIERS:         gpu.barrier
  // BARRIERS:         memref.load
  gpu.func @views(%out: memref<64xi32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %tx = gpu.thread_id x
    %c31 = arith.constant 31 : index
    %n = arith.subi %c31, %tx : index
    %h = memref.get_global @halves : memref<0xf16, 3>
    %a = memref.reinterpret_cast %h to offset: [64], sizes: [64], strides: [1] : memref<0xf16, 3> to memref<64xf16, strided<[1], offset: 64>, 3>
    %w = memref.get_global @words : memref<0xi32, #nvvm.memory_space<shared>>
    %b = memref.reinterpret_cast %w to offset: [0], sizes: [64], strides: [1] : memref<0xi32, #nvvm.memory_space<shared>> to memref<64xi32, #nvvm.memory_space<shared>>
    %one = arith.constant 1.0 : f16
    memref.store %one, %a[%tx] : memref<64xf16, strided<[1], offset: 64>, 3>
    %v = memref.load %b[%tx] : memref<64xi32, #nvvm.memory_space<shared>>
    memref.store %v, %out[%tx] : memref<64xi32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @rank
  // CHECK:         memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [2, 8], strides: [8, 1]
  gpu.func @rank(%out: memref<64xi32>) kernel {
    %c0 = arith.constant 0 : index
    %w = memref.get_global @words : memref<0xi32, #nvvm.memory_space<shared>>
    %b = memref.reinterpret_cast %w to offset: [0], sizes: [2, 8], strides: [8, 1] : memref<0xi32, #nvvm.memory_space<shared>> to memref<2x8xi32, #nvvm.memory_space<shared>>
    %v = memref.load %b[%c0, %c0] : memref<2x8xi32, #nvvm.memory_space<shared>>
    memref.store %v, %out[%c0] : memref<64xi32>
    gpu.return
  }
}

// CHECK-LABEL: gpu.module @static
// CHECK:         memref.global "private" @some : memref<4xf32, 3>
// CHECK:         memref.get_global @some
gpu.module @static {
  memref.global "private" @some : memref<4xf32, 3>
  gpu.func @kernel(%x: f32, %i: index) kernel {
    %g = memref.get_global @some : memref<4xf32, 3>
    memref.store %x, %g[%i] : memref<4xf32, 3>
    gpu.return
  }
}
