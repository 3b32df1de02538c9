// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-distribute-loops)' | FileCheck %s

// Which processors get to a loop.

gpu.module @m {
  // Every warp would do the same: the first one does it.
  // CHECK-LABEL: gpu.func @first_warp(
  // CHECK:         %[[W:.+]] = arith.divui %{{.+}}, %c32
  // CHECK:         %[[F:.+]] = arith.cmpi eq, %[[W]], %c0
  // CHECK:         scf.if %[[F]]
  // CHECK:           arith.remui
  gpu.func @first_warp(%m: memref<32xf32>, %x: f32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    scf.forall (%i) in (32) {
      memref.store %x, %m[%i] : memref<32xf32>
    } {mapping = [#gpu.lane<linear_dim_0>]}
    gpu.return
  }
  // There is one only.
  // CHECK-LABEL: gpu.func @one_warp(
  // CHECK-NOT:     scf.if
  // CHECK:         gpu.return
  gpu.func @one_warp(%m: memref<32xf32>, %x: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    scf.forall (%i) in (32) {
      memref.store %x, %m[%i] : memref<32xf32>
    } {mapping = [#gpu.lane<linear_dim_0>]}
    gpu.return
  }
  // Each warp has work of its own, and lanes of a warp get there together.
  // CHECK-LABEL: gpu.func @own_warp(
  // CHECK:         scf.if
  // CHECK-NOT:     scf.if
  // CHECK:         gpu.return
  gpu.func @own_warp(%m: memref<2x32xf32>, %x: f32) kernel attributes {known_block_size = array<i32: 96, 1, 1>} {
    %c2 = arith.constant 2 : index
    %c32 = arith.constant 32 : index
    %t = gpu.thread_id x
    %w = arith.divui %t, %c32 : index
    %works = arith.cmpi ult, %w, %c2 : index
    scf.if %works {
      scf.forall (%i) in (32) {
        memref.store %x, %m[%w, %i] : memref<2x32xf32>
      } {mapping = [#gpu.lane<linear_dim_0>]}
    }
    gpu.return
  }
  // What a thread has alone each warp needs.
  // CHECK-LABEL: gpu.func @own_memory(
  // CHECK-NOT:     scf.if
  // CHECK:         gpu.return
  gpu.func @own_memory(%x: f32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %m = memref.alloca() : memref<32xf32>
    scf.forall (%i) in (32) {
      memref.store %x, %m[%i] : memref<32xf32>
    } {mapping = [#gpu.lane<linear_dim_0>]}
    gpu.return
  }
  // Conditions on the block, and on iterations of a loop over blocks, are the same for all threads.
  // CHECK-LABEL: gpu.func @uniform(
  // CHECK:         scf.if
  gpu.func @uniform(%m: memref<64xf32>, %x: f32, %n: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    scf.forall (%b) in (4) {
      %some = arith.cmpi ult, %b, %n : index
      scf.if %some {
        scf.forall (%i) in (64) {
          memref.store %x, %m[%i] : memref<64xf32>
        } {mapping = [#gpu.thread<linear_dim_0>]}
      }
    } {mapping = [#gpu.block<x>]}
    gpu.return
  }
}

// What the host calls has no threads, unless a kernel calls it as well.
// CHECK-LABEL: func.func private @of_host(
// CHECK-NOT:     gpu.thread_id
// CHECK:         scf.forall
func.func private @of_host(%m: memref<64xf32>, %x: f32) {
  scf.forall (%i) in (64) {
    memref.store %x, %m[%i] : memref<64xf32>
  } {mapping = [#gpu.thread<x>]}
  return
}
// CHECK-LABEL: func.func private @of_both(
// CHECK:         gpu.thread_id
// CHECK-NOT:     scf.forall
func.func private @of_both(%m: memref<64xf32>, %x: f32) {
  scf.forall (%i) in (64) {
    memref.store %x, %m[%i] : memref<64xf32>
  } {mapping = [#gpu.thread<x>]}
  return
}
// CHECK-LABEL: func.func @host(
func.func @host(%m: memref<64xf32>, %x: f32) {
  %c1 = arith.constant 1 : index
  call @of_host(%m, %x) : (memref<64xf32>, f32) -> ()
  call @of_both(%m, %x) : (memref<64xf32>, f32) -> ()
  gpu.launch blocks(%a, %b, %c) in (%d = %c1, %e = %c1, %f = %c1) threads(%g, %h, %i) in (%j = %c1, %k = %c1, %l = %c1) {
    func.call @of_both(%m, %x) : (memref<64xf32>, f32) -> ()
    gpu.terminator
  }
  return
}
