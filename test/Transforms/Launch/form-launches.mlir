// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-form-launches)' | FileCheck %s --check-prefixes=CHECK,WANTED
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-form-launches{threads=64,2})' | FileCheck %s --check-prefixes=CHECK,GIVEN
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-form-launches)' -o %t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-form-launches)' -o %t.twice
// RUN: diff %t.once %t.twice
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-form-launches,gpu-kernel-outlining)' -o %t.outlined
// RUN: mlir-opt %t.outlined --pass-pipeline='builtin.module(workgroup-form-launches)' -o %t.again
// RUN: diff %t.outlined %t.again

// Dimensions go where they are mapped; a block has as many threads as the largest loop over them.
// CHECK-LABEL: func.func @tiles(
// CHECK-DAG:     %[[C8:.+]] = arith.constant 8 : index
// CHECK-DAG:     %[[C16:.+]] = arith.constant 16 : index
// WANTED-DAG:    %[[C32:.+]] = arith.constant 32 : index
// WANTED-DAG:    %[[C4:.+]] = arith.constant 4 : index
// GIVEN-DAG:     %[[C64:.+]] = arith.constant 64 : index
// GIVEN-DAG:     %[[C2:.+]] = arith.constant 2 : index
// CHECK-NOT:     scf.if
// CHECK:         gpu.launch blocks(%[[X:[^,]+]], %[[Y:[^,]+]], %{{[^)]+}}) in (%{{[^ ]+}} = %[[C16]], %{{[^ ]+}} = %[[C8]], %{{[^ ]+}} = %{{[^ ]+}})
// WANTED-SAME:     threads({{.+}}) in (%{{.+}} = %[[C32]], %{{.+}} = %[[C4]],
// GIVEN-SAME:      threads({{.+}}) in (%{{.+}} = %[[C64]], %{{.+}} = %[[C2]],
// CHECK:           memref.subview %{{.+}}[%[[Y]], %[[X]]]
// CHECK:           scf.forall
// CHECK:           } {mapping = [#gpu.thread<y>, #gpu.thread<x>]}
// CHECK:           gpu.terminator
// CHECK-NOT:     scf.forall
// CHECK:         return
func.func @tiles(%m: memref<8x16xf32>, %x: f32) {
  scf.forall (%i, %j) in (8, 16) {
    %tile = memref.subview %m[%i, %j] [1, 1] [1, 1] : memref<8x16xf32> to memref<1x1xf32, strided<[16, 1], offset: ?>>
    scf.forall (%u, %v) in (4, 32) {
      %c0 = arith.constant 0 : index
      memref.store %x, %tile[%c0, %c0] : memref<1x1xf32, strided<[16, 1], offset: ?>>
    } {mapping = [#gpu.thread<y>, #gpu.thread<x>]}
  } {mapping = [#gpu.block<y>, #gpu.block<x>]}
  return
}

// A grid that may have too many rows: all blocks along x, found by narrow divisions.
// CHECK-LABEL: func.func @dynamic(
// CHECK-SAME:    %{{.+}}: memref<?x?xf32>, %{{.+}}: f32, %[[M:.+]]: index, %[[N:.+]]: index
// CHECK:         %[[EXTENT_N:.+]] = arith.maxsi %[[N]]
// CHECK:         %[[COUNT_N:.+]] = arith.divui
// CHECK:         %[[COUNT_M:.+]] = arith.divui
// CHECK:         %[[ALL:.+]] = arith.muli %[[COUNT_N]], %[[COUNT_M]]
// CHECK:         %[[HAS:.+]] = arith.cmpi sgt, %[[ALL]], %{{.+}}
// CHECK:         scf.if %[[HAS]]
// CHECK-NOT:       arith.muli
// CHECK:           gpu.launch blocks(%[[X:[^,]+]], {{.+}}) in (%{{.+}} = %[[ALL]],
// CHECK:             %[[ID:.+]] = arith.index_castui %[[X]] : index to i32
// CHECK:             %[[NARROW:.+]] = arith.index_cast %[[COUNT_N]] : index to i32
// CHECK:             %[[COLUMNS:.+]] = arith.maxsi %[[NARROW]], %{{.+}} : i32
// CHECK:             %[[COLUMN:.+]] = arith.remui %[[ID]], %[[COLUMNS]] : i32
// CHECK:             %[[J:.+]] = arith.index_castui %[[COLUMN]] : i32 to index
// CHECK:             %[[AT_J:.+]] = arith.muli %[[J]], %{{.+}}
// CHECK:             %[[ROW:.+]] = arith.divui %[[ID]], %[[COLUMNS]] : i32
// CHECK:             %[[I:.+]] = arith.index_castui %[[ROW]] : i32 to index
// CHECK:             %[[AT_I:.+]] = arith.muli %[[I]], %{{.+}}
// CHECK:             scf.forall
// CHECK:               memref.store %{{.+}}, %{{.+}}[%[[AT_I]], %[[AT_J]]]
func.func @dynamic(%m: memref<?x?xf32>, %x: f32, %rows: index, %columns: index) {
  scf.forall (%i, %j) = (0, 0) to (%rows, %columns) step (16, 32) {
    scf.forall (%t) in (1) {
      memref.store %x, %m[%i, %j] : memref<?x?xf32>
    } {mapping = [#gpu.thread<linear_dim_0>]}
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// Of one loop that has several iterations all blocks are one row of ids, whatever the others are.
// CHECK-LABEL: func.func @one_of_three(
// CHECK:         gpu.launch blocks(%[[X:[^,]+]], {{.+}})
// CHECK-NOT:       arith.remui
// CHECK:           %[[AT:.+]] = arith.muli %[[X]], %{{.+}}
// CHECK-NOT:       arith.remui
// CHECK:           memref.store %{{.+}}, %{{.+}}[%{{.+}}, %[[AT]], %{{.+}}]
func.func @one_of_three(%m: memref<2x?x7xf32>, %x: f32, %rows: index) {
  scf.forall (%i, %j, %k) = (0, 0, 0) to (2, %rows, 7) step (2, 4, 7) {
    scf.forall (%t) in (1) {
      memref.store %x, %m[%i, %j, %k] : memref<2x?x7xf32>
    } {mapping = [#gpu.thread<linear_dim_0>]}
  } {mapping = [#gpu.block<linear_dim_2>, #gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// Known to be too many rows for y. Linear threads are rounded up to warps.
// CHECK-LABEL: func.func @rows(
// CHECK-DAG:     %[[ALL:.+]] = arith.constant 140000 : index
// WANTED-DAG:    %[[C96:.+]] = arith.constant 96 : index
// CHECK-NOT:     scf.if
// CHECK:         gpu.launch blocks({{.+}}) in (%{{.+}} = %[[ALL]],
// WANTED-SAME:     threads({{.+}}) in (%{{.+}} = %[[C96]],
// CHECK:           arith.remui %{{.+}} : i32
func.func @rows(%m: memref<70000x2xf32>, %x: f32) {
  scf.forall (%i, %j) in (70000, 2) {
    scf.forall (%t) in (70) {
      memref.store %x, %m[%i, %j] : memref<70000x2xf32>
    } {mapping = [#gpu.thread<linear_dim_0>]}
  } {mapping = [#gpu.block<y>, #gpu.block<x>]}
  return
}

// Several launches, and code on the host around; the number of blocks along x need not be known.
// CHECK-LABEL: func.func @several(
// CHECK:         memref.dim
// CHECK:         gpu.launch
// CHECK:         scf.for
// CHECK:           scf.if
// CHECK:             gpu.launch
// CHECK-NOT:           arith.divui
// CHECK:         return
func.func @several(%m: memref<?xf32>, %n: memref<64xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %size = memref.dim %m, %c0 : memref<?xf32>
  scf.forall (%i) in (64) {
    scf.forall (%t) in (8) {
      memref.store %x, %n[%i] : memref<64xf32>
    } {mapping = [#gpu.warp<linear_dim_0>]}
  } {mapping = [#gpu.block<x>]}
  scf.for %k = %c0 to %c3 step %c1 {
    scf.forall (%i) in (%size) {
      scf.forall (%t) in (%size) {
        memref.store %x, %m[%i] : memref<?xf32>
      } {mapping = [#gpu.thread<x>]}
    } {mapping = [#gpu.block<x>]}
  }
  return
}

// Nothing to do, and so no launch.
// CHECK-LABEL: func.func @empty(
// CHECK-NEXT:    return
func.func @empty(%m: memref<64xf32>, %x: f32) {
  scf.forall (%i, %j) in (0, 4) {
    scf.forall (%t) in (8) {
      memref.store %x, %m[%i] : memref<64xf32>
    } {mapping = [#gpu.thread<x>]}
  } {mapping = [#gpu.block<x>, #gpu.block<y>]}
  return
}

// A parallel loop, of which one dimension is a loop of each block; from 2 on, by 3.
// CHECK-LABEL: func.func @parallel(
// CHECK-SAME:    %{{.+}}: memref<64x8xf32>, %{{.+}}: f32, %[[N:.+]]: index
// CHECK-DAG:     %[[C2:.+]] = arith.constant 2 : index
// CHECK-DAG:     %[[C3:.+]] = arith.constant 3 : index
// CHECK-DAG:     %[[BLOCKS:.+]] = arith.constant 21 : index
// CHECK:         gpu.launch blocks(%[[X:[^,]+]], {{.+}}) in (%{{.+}} = %[[BLOCKS]],
// CHECK:           %[[AT:.+]] = arith.muli %[[X]], %{{.+}}
// CHECK:           %[[I:.+]] = arith.addi %{{.+}}, %[[AT]]
// CHECK:           scf.for %[[J:.+]] = %{{.+}} to %[[N]]
// CHECK:             scf.forall
// CHECK:               memref.store %{{.+}}, %{{.+}}[%[[I]], %[[J]]]
func.func @parallel(%m: memref<64x8xf32>, %x: f32, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  scf.parallel (%i, %j) = (%c2, %c0) to (%c64, %n) step (%c3, %c1) {
    scf.forall (%t) in (1) {
      memref.store %x, %m[%i, %j] : memref<64x8xf32>
    } {mapping = [#gpu.thread<x>]}
  } {mapping = [#gpu.loop_dim_map<processor = block_x, map = (d0) -> (d0), bound = (d0) -> (d0)>, #gpu.loop_dim_map<processor = sequential, map = (d0) -> (d0), bound = (d0) -> (d0)>]}
  return
}

// Work of the whole block, a thread's own memory, and bodies that tell threads apart.
// CHECK-LABEL: func.func @together(
// CHECK-COUNT-2: gpu.launch
// CHECK:         return
func.func @together(%m: memref<64x64xf32>, %x: f32) {
  scf.forall (%i) in (64) {
    %own = memref.alloca() : memref<f32>
    memref.store %x, %own[] : memref<f32>
    %row = memref.subview %m[%i, 0] [1, 64] [1, 1] : memref<64x64xf32> to memref<1x64xf32, strided<[64, 1], offset: ?>>
    %tile = memref.alloc() : memref<1x64xf32, 3>
    linalg.fill ins(%x : f32) outs(%tile : memref<1x64xf32, 3>)
    memref.copy %tile, %row : memref<1x64xf32, 3> to memref<1x64xf32, strided<[64, 1], offset: ?>>
  } {mapping = [#gpu.block<x>]}
  scf.forall (%i) in (64) {
    %t = gpu.thread_id x
    memref.store %x, %m[%i, %t] : memref<64x64xf32>
  } {mapping = [#gpu.block<x>]}
  return
}

// What is executed by threads already is left to workgroup-distribute-loops.
// CHECK-LABEL: func.func @device(
// CHECK:         scf.forall
func.func @device(%m: memref<64x64xf32>, %x: f32) {
  %t = gpu.thread_id x
  scf.forall (%i) in (64) {
    memref.store %x, %m[%i, %t] : memref<64x64xf32>
  } {mapping = [#gpu.block<x>]}
  return
}
// CHECK-LABEL: func.func private @called(
// CHECK:         scf.forall
func.func private @called(%m: memref<64x64xf32>, %x: f32) {
  scf.forall (%i, %j) in (64, 64) {
    memref.store %x, %m[%i, %j] : memref<64x64xf32>
  } {mapping = [#gpu.block<y>, #gpu.block<x>]}
  return
}
// CHECK-LABEL: func.func @launches(
// CHECK:         gpu.launch
// CHECK:           func.call @called
// CHECK:           scf.forall
func.func @launches(%m: memref<64x64xf32>, %x: f32, %c: index) {
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c, %gy = %c, %gz = %c) threads(%tx, %ty, %tz) in (%nx = %c, %ny = %c, %nz = %c) {
    func.call @called(%m, %x) : (memref<64x64xf32>, f32) -> ()
    scf.forall (%i) in (64) {
      memref.store %x, %m[%i, %tx] : memref<64x64xf32>
    } {mapping = [#gpu.block<x>]}
    gpu.terminator
  }
  return
}

// Rows are whole warps where warps have x, y and z.
// CHECK-LABEL: func.func @rows_of_warps(
// WANTED-DAG:    %[[X:.*]] = arith.constant 32 : index
// WANTED-DAG:    %[[Y:.*]] = arith.constant 4 : index
// WANTED:        gpu.launch {{.*}} threads({{.*}} = %[[X]], {{.*}} = %[[Y]], {{.*}})
func.func @rows_of_warps(%m: memref<8x4x32xf32>, %x: f32) {
  scf.forall (%i) in (8) {
    scf.forall (%w) in (4) {
      scf.forall (%l) in (32) {
        memref.store %x, %m[%i, %w, %l] : memref<8x4x32xf32>
      } {mapping = [#gpu.lane<linear_dim_0>]}
    } {mapping = [#gpu.warp<y>]}
  } {mapping = [#gpu.block<x>]}
  return
}

func.func private @own(%own: memref<8xf32>, %i: index, %x: f32) {
  memref.store %x, %own[%i] : memref<8xf32>
  return
}
// Each thread has what it allocates, in functions, too.
// CHECK-LABEL: func.func @stack_of_threads(
// CHECK:         gpu.launch
// CHECK:           memref.alloca
func.func @stack_of_threads(%x: f32) {
  scf.forall (%i) in (8) {
    %own = memref.alloca() : memref<8xf32>
    func.call @own(%own, %i, %x) : (memref<8xf32>, index, f32) -> ()
  } {mapping = [#gpu.block<x>]}
  return
}
// A block has no threads that would miss the barrier.
// CHECK-LABEL: func.func @meeting_threads(
// WANTED-DAG:    %[[X:.*]] = arith.constant 40 : index
// WANTED:        gpu.launch {{.*}} threads({{.*}} = %[[X]], {{.*}})
func.func @meeting_threads(%m: memref<8x40xf32>, %x: f32) {
  scf.forall (%i) in (8) {
    scf.forall (%t) in (40) {
      memref.store %x, %m[%i, %t] : memref<8x40xf32>
      gpu.barrier
    } {mapping = [#gpu.thread<linear_dim_0>]}
  } {mapping = [#gpu.block<x>]}
  return
}
