// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-resolve-bank-conflicts)' -o %t.once
// RUN: FileCheck %s < %t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-resolve-bank-conflicts)' -o %t.twice
// RUN: diff %t.once %t.twice
// RUN: mlir-opt %s --pass-pipeline='builtin.module(func.func(workgroup-resolve-bank-conflicts),gpu.module(gpu.func(workgroup-resolve-bank-conflicts)))' | FileCheck %s --check-prefixes=NARROW

// Before outlining, an attribution and an allocation in one spelling each.
// CHECK-LABEL:  func.func @launch
// CHECK:          workgroup(%[[W:.+]] : memref<32x33xf32, #gpu.address_space<workgroup>>)
// CHECK:          %[[V:.+]] = memref.alloc() : memref<32x33xf32, #gpu.address_space<workgroup>>
// CHECK:          memref.load %[[W]]
// CHECK:          memref.store %{{.+}}, %[[V]]
// NARROW-LABEL: func.func @launch
// NARROW:         workgroup(%{{.+}} : memref<32x33xf32, #gpu.address_space<workgroup>>)
func.func @launch() {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c0 = arith.constant 0 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c32, %sz = %c1)
             workgroup(%w: memref<32x32xf32, #gpu.address_space<workgroup>>) {
    %v = memref.alloc() : memref<32x32xf32, #nvvm.memory_space<shared>>
    %0 = memref.load %w[%tx, %ty] : memref<32x32xf32, #gpu.address_space<workgroup>>
    memref.store %0, %v[%tx, %ty] : memref<32x32xf32, #nvvm.memory_space<shared>>
    gpu.terminator
  }
  return
}

gpu.module @kernels {
  // A global of one kernel changes with all that refers to it, if the pass runs
  // on its module.
  // CHECK:       memref.global "private" @mine : memref<32x33xf32, 3> = uninitialized {alignment = 128 : i64}
  // CHECK:       memref.global "private" @ours : memref<32x32xf32, 3>
  // CHECK:       memref.global @public : memref<32x32xf32, 3>
  // NARROW:      memref.global "private" @mine : memref<32x32xf32, 3>
  memref.global "private" @mine : memref<32x32xf32, 3> = uninitialized {alignment = 128 : i64}
  memref.global "private" @ours : memref<32x32xf32, 3> = uninitialized
  memref.global @public : memref<32x32xf32, 3> = uninitialized

  // CHECK-LABEL: gpu.func @globals
  // CHECK:         %[[FIRST:.+]] = memref.get_global @mine : memref<32x33xf32, 3>
  // CHECK:         %[[SECOND:.+]] = memref.get_global @mine : memref<32x33xf32, 3>
  // CHECK:         memref.load %[[FIRST]]
  // CHECK:         memref.store %{{.+}}, %[[SECOND]]
  gpu.func @globals() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %x = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %first = memref.get_global @mine : memref<32x32xf32, 3>
    %second = memref.get_global @mine : memref<32x32xf32, 3>
    %ours = memref.get_global @ours : memref<32x32xf32, 3>
    %public = memref.get_global @public : memref<32x32xf32, 3>
    %0 = memref.load %first[%x, %c0] : memref<32x32xf32, 3>
    memref.store %0, %second[%c0, %x] : memref<32x32xf32, 3>
    memref.store %0, %ours[%x, %c0] : memref<32x32xf32, 3>
    memref.store %0, %public[%x, %c0] : memref<32x32xf32, 3>
    gpu.return
  }

  gpu.func @other() -> f32 attributes {known_block_size = array<i32: 32, 1, 1>} {
    %x = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %ours = memref.get_global @ours : memref<32x32xf32, 3>
    %0 = memref.load %ours[%x, %c0] : memref<32x32xf32, 3>
    gpu.return %0 : f32
  }

  // A function of a known block.
  // CHECK-LABEL: func.func @device
  // CHECK:         memref.alloc() {alignment = 64 : i64} : memref<32x33xf32, 3>
  func.func @device() -> f32 attributes {gpu.known_block_size = array<i32: 32, 1, 1>} {
    %x = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %w = memref.alloc() {alignment = 64} : memref<32x32xf32, 3>
    %0 = memref.load %w[%x, %c0] : memref<32x32xf32, 3>
    return %0 : f32
  }
}
