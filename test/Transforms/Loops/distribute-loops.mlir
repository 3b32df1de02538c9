// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-distribute-loops)' | FileCheck %s
// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-distribute-loops)' -o %t.once
// RUN: mlir-opt %t.once --split-input-file --pass-pipeline='builtin.module(workgroup-distribute-loops)' -o %t.twice
// RUN: diff %t.once %t.twice

// Loops with a mapping, in a kernel whose sizes are known.

#wg = #gpu.address_space<workgroup>

gpu.module @m {
  // As many iterations as threads: no loop, and no condition.
  // CHECK-LABEL: gpu.func @same(
  // CHECK-NEXT:    %[[Y:.+]] = gpu.thread_id y
  // CHECK-NEXT:    %[[X:.+]] = gpu.thread_id x
  // CHECK-NEXT:    memref.store %{{.+}}, %{{.+}}[%[[Y]], %[[X]]]
  // CHECK-NEXT:    gpu.return
  gpu.func @same(%m: memref<8x16xf32>, %x: f32) kernel attributes {known_block_size = array<i32: 16, 8, 1>} {
    scf.forall (%i, %j) in (8, 16) {
      memref.store %x, %m[%i, %j] : memref<8x16xf32>
    } {mapping = [#gpu.thread<y>, #gpu.thread<x>]}
    gpu.return
  }
  // Fewer: a condition. Nobody else along z and y.
  // CHECK-LABEL: gpu.func @fewer(
  // CHECK:         %[[Y:.+]] = gpu.thread_id y
  // CHECK:         %[[FIRST:.+]] = arith.cmpi eq, %[[Y]], %c0
  // CHECK:         scf.if %[[FIRST]] {
  // CHECK-NOT:       gpu.thread_id z
  // CHECK:           %[[X:.+]] = gpu.thread_id x
  // CHECK:           %[[IS:.+]] = arith.cmpi slt, %[[X]], %c10
  // CHECK:           scf.if %[[IS]] {
  // CHECK-NEXT:        memref.store %{{.+}}, %{{.+}}[%[[X]]]
  // CHECK-NOT:     scf.for
  gpu.func @fewer(%m: memref<16xf32>, %x: f32) kernel attributes {known_block_size = array<i32: 16, 8, 1>} {
    scf.forall (%i) in (10) {
      memref.store %x, %m[%i] : memref<16xf32>
    } {mapping = [#gpu.thread<x>]}
    gpu.return
  }
  // That the number of iterations is no more than 16 follows from its value.
  // CHECK-LABEL: gpu.func @bounded(
  // CHECK-NOT:     scf.for
  // CHECK:         gpu.return
  gpu.func @bounded(%m: memref<16xf32>, %x: f32, %n: index) kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    %count = affine.min affine_map<(d0) -> (d0, 16)>(%n)
    scf.forall (%i) in (%count) {
      memref.store %x, %m[%i] : memref<16xf32>
    } {mapping = [#gpu.thread<x>]}
    gpu.return
  }
  // More, from 3 on, every second: a loop.
  // CHECK-LABEL: gpu.func @more(
  // CHECK:         %[[X:.+]] = gpu.thread_id x
  // CHECK:         %[[TWICE:.+]] = arith.muli %[[X]], %c2
  // CHECK:         %[[FROM:.+]] = arith.addi %c3, %[[TWICE]]
  // CHECK:         scf.for %[[I:.+]] = %[[FROM]] to %c99 step %c32
  // CHECK-NEXT:      memref.store %{{.+}}, %{{.+}}[%[[I]]]
  gpu.func @more(%m: memref<99xf32>, %x: f32) kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    scf.forall (%i) = (3) to (99) step (2) {
      memref.store %x, %m[%i] : memref<99xf32>
    } {mapping = [#gpu.thread<x>]}
    gpu.return
  }
  // Linear ids are of the whole block; the last linear dimension is the slowest.
  // CHECK-LABEL: gpu.func @linear(
  // CHECK:         %[[Y:.+]] = gpu.thread_id y
  // CHECK:         %[[X:.+]] = gpu.thread_id x
  // CHECK:         %[[ROW:.+]] = arith.muli %[[Y]], %c16
  // CHECK:         %[[ID:.+]] = arith.addi %[[ROW]], %[[X]]
  // CHECK:         scf.for %[[K:.+]] = %[[ID]] to %c160 step %c128
  // CHECK-DAG:       %[[I:.+]] = arith.divui %[[K]], %c20
  // CHECK-DAG:       %[[J:.+]] = arith.remui %[[K]], %c20
  // CHECK:           memref.store %{{.+}}, %{{.+}}[%[[I]], %[[J]]]
  gpu.func @linear(%m: memref<8x20xf32>, %x: f32) kernel attributes {known_block_size = array<i32: 16, 8, 1>} {
    scf.forall (%i, %j) in (8, 20) {
      memref.store %x, %m[%i, %j] : memref<8x20xf32>
    } {mapping = [#gpu.thread<linear_dim_1>, #gpu.thread<linear_dim_0>]}
    gpu.return
  }
  // Blocks, warps of rows of 64 threads, lanes.
  // CHECK-LABEL: gpu.func @levels(
  // CHECK:         %[[B:.+]] = gpu.block_id x
  // CHECK:         scf.for %{{.+}} = %[[B]] to %{{.+}} step %c4
  // CHECK:           %[[X:.+]] = gpu.thread_id x
  // CHECK:           %[[W:.+]] = arith.divui %[[X]], %c32
  // CHECK:           %[[L:.+]] = arith.remui %{{.+}}, %c32
  // CHECK:           memref.store %{{.+}}, %{{.+}}[%{{.+}}, %[[W]], %[[L]]]
  gpu.func @levels(%m: memref<?x2x32xf32>, %x: f32, %n: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 4, 1, 1>} {
    scf.forall (%b) in (%n) {
      scf.forall (%w) in (2) {
        scf.forall (%l) in (32) {
          memref.store %x, %m[%b, %w, %l] : memref<?x2x32xf32>
        } {mapping = [#gpu.lane<linear_dim_0>]}
      } {mapping = [#gpu.warp<x>]}
    } {mapping = [#gpu.block<x>]}
    gpu.return
  }
  // What all threads can do together they do: a copy, a fill. What reads what it writes is for one
  // thread, and so is a copy in global memory, which may be to what it is from.
  // CHECK-LABEL: gpu.func @one_iteration(
  // CHECK-NOT:     scf.if
  // CHECK:         memref.copy
  // CHECK-NOT:     scf.if
  // CHECK:         linalg.fill
  // CHECK:         %[[T:.+]] = gpu.thread_id x
  // CHECK:         arith.cmpi slt, %[[T]], %c1
  // CHECK:         scf.if
  // CHECK:           linalg.add
  // CHECK:         scf.if
  // CHECK:           memref.copy
  gpu.func @one_iteration(%a: memref<16xf32>, %b: memref<16xf32>, %s: memref<16xf32, #wg>) kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    %zero = arith.constant 0.0 : f32
    scf.forall (%i) in (1) {
      memref.copy %a, %s : memref<16xf32> to memref<16xf32, #wg>
    } {mapping = [#gpu.thread<x>]}
    scf.forall (%i) in (1) {
      linalg.fill ins(%zero : f32) outs(%b : memref<16xf32>)
    } {mapping = [#gpu.thread<x>]}
    scf.forall (%i) in (1) {
      linalg.add ins(%a, %b : memref<16xf32>, memref<16xf32>) outs(%b : memref<16xf32>)
    } {mapping = [#gpu.thread<x>]}
    scf.forall (%i) in (1) {
      memref.copy %a, %b : memref<16xf32> to memref<16xf32>
    } {mapping = [#gpu.thread<x>]}
    gpu.return
  }
  // The bounds of a loop follow from the one around it.
  // CHECK-LABEL: gpu.func @triangle(
  // CHECK:         scf.for %[[B:.+]] = %{{.+}} to %{{.+}} step
  // CHECK:           scf.for %[[I:.+]] = %{{.+}} to %[[B]] step %c16
  // CHECK-NEXT:        memref.store %{{.+}}, %{{.+}}[%[[B]], %[[I]]]
  gpu.func @triangle(%m: memref<64x64xf32>, %x: f32, %n: index) kernel attributes {known_block_size = array<i32: 16, 1, 1>, known_grid_size = array<i32: 4, 1, 1>} {
    scf.forall (%b) in (%n) {
      scf.forall (%i) in (%b) {
        memref.store %x, %m[%b, %i] : memref<64x64xf32>
      } {mapping = [#gpu.thread<x>]}
    } {mapping = [#gpu.block<x>]}
    gpu.return
  }
  // Linear dimensions of each level by themselves.
  // CHECK-LABEL: gpu.func @warps_and_lanes(
  // CHECK:         %[[W:.+]] = arith.divui %{{.+}}, %c32
  // CHECK:         scf.for %[[I:.+]] = %[[W]] to %c16{{.*}} step %c2
  // CHECK:           %[[L:.+]] = arith.remui %{{.+}}, %c32
  // CHECK:           scf.for %[[J:.+]] = %[[L]] to %c48{{.*}} step %c32
  // CHECK-NEXT:        memref.store %{{.+}}, %{{.+}}[%[[I]], %[[J]]]
  gpu.func @warps_and_lanes(%m: memref<16x48xf32>, %x: f32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c48 = arith.constant 48 : index
    scf.parallel (%i, %j) = (%c0, %c0) to (%c16, %c48) step (%c1, %c1) {
      memref.store %x, %m[%i, %j] : memref<16x48xf32>
    } {mapping = [#gpu.warp<linear_dim_0>, #gpu.lane<linear_dim_0>]}
    gpu.return
  }
  // Mappings of `scf.parallel`; what is mapped to nothing is a loop of all.
  // CHECK-LABEL: gpu.func @parallel(
  // CHECK:         %[[BLOCK:.+]] = gpu.block_id y
  // CHECK:         scf.for
  // CHECK:           scf.for %{{.+}} = %c0{{.*}} to %c4{{.*}} step %c1
  // CHECK:             memref.store
  gpu.func @parallel(%m: memref<64x4xf32>, %x: f32, %n: index) kernel attributes {known_block_size = array<i32: 16, 1, 1>, known_grid_size = array<i32: 1, 8, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    scf.parallel (%i, %j) = (%c0, %c0) to (%n, %c4) step (%c1, %c1) {
      memref.store %x, %m[%i, %j] : memref<64x4xf32>
    } {mapping = [#gpu.loop_dim_map<processor = block_y, map = (d0) -> (d0), bound = (d0) -> (d0)>, #gpu.loop_dim_map<processor = sequential, map = (d0) -> (d0), bound = (d0) -> (d0)>]}
    gpu.return
  }
  // A barrier is no obstacle where all threads execute as many iterations.
  // CHECK-LABEL: gpu.func @barrier(
  // CHECK:         scf.for
  // CHECK:           gpu.barrier
  gpu.func @barrier(%m: memref<64xf32>, %x: f32) kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    scf.forall (%i) in (64) {
      memref.store %x, %m[%i] : memref<64xf32>
      gpu.barrier
    } {mapping = [#gpu.thread<x>]}
    gpu.return
  }
  // No mapping, nothing asked for.
  // CHECK-LABEL: gpu.func @unmapped(
  // CHECK:         scf.forall
  gpu.func @unmapped(%m: memref<64xf32>, %x: f32) kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    scf.forall (%i) in (64) {
      memref.store %x, %m[%i] : memref<64xf32>
    }
    gpu.return
  }
}

// -----

// Before outlining: the sizes are operands of the launch. The loop on the host stays.
// CHECK-LABEL: func.func @launch(
// CHECK:         scf.forall
// CHECK:         gpu.launch
// CHECK-NOT:     scf.forall
// CHECK:         %[[T:.+]] = gpu.thread_id x
// CHECK-NEXT:    memref.store %{{.+}}, %{{.+}}[%[[T]]]
func.func @launch(%m: memref<64xf32>, %x: f32) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.forall (%i) in (64) {
    memref.store %x, %m[%i] : memref<64xf32>
  } {mapping = [#gpu.thread<x>]}
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%nx = %c64, %ny = %c1, %nz = %c1) {
    scf.forall (%i) in (64) {
      memref.store %x, %m[%i] : memref<64xf32>
    } {mapping = [#gpu.thread<x>]}
    gpu.terminator
  }
  return
}

// What threads have different values of is the work of the first.
// CHECK-LABEL: gpu.module @different
gpu.module @different {
  // CHECK:       gpu.func @fill(
  // CHECK:         scf.if
  // CHECK-NEXT:      linalg.fill
  gpu.func @fill(%m: memref<16xi32>) kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    %t = gpu.thread_id x
    %v = arith.index_cast %t : index to i32
    scf.forall (%i) in (1) {
      linalg.fill ins(%v : i32) outs(%m : memref<16xi32>)
    } {mapping = [#gpu.thread<x>]}
    gpu.return
  }
}
