// RUN: mlir-opt %s --split-input-file --pass-pipeline="builtin.module(func.func(workgroup-map-loops{block=64}))" | FileCheck %s
// RUN: mlir-opt %s --split-input-file --pass-pipeline="builtin.module(func.func(workgroup-map-loops{block=64},workgroup-map-loops{block=64}))" | FileCheck %s

// An iteration is the work of a thread: tiles of 64 rows for blocks, from the lower bounds on, in steps.
// CHECK: #[[$REST:.*]] = affine_map<(d0)[s0] -> (64, -d0 + s0)>
// CHECK-LABEL: func.func @points
// CHECK-SAME: (%[[X:[^:]*]]: memref<?x?xf32>, %[[Y:[^:]*]]: memref<?x?xf32>, %[[M:[^:]*]]: index, %[[N:[^:]*]]: index, %[[S:[^:]*]]: index)
// CHECK: %[[ROWS:.*]] = arith.subi %[[M]], %{{.*}} : index
// CHECK: %[[WIDTH:.*]] = arith.subi %[[N]], %{{.*}} : index
// CHECK: %[[COLUMNS:.*]] = arith.ceildivsi %[[WIDTH]], %[[S]] : index
// CHECK: scf.forall (%[[B:[a-z0-9]*]]) = (0) to (%[[ROWS]]) step (64) {
// CHECK: %[[LEFT:.*]] = affine.min #[[$REST]](%[[B]])[%[[ROWS]]]
// CHECK: scf.forall (%[[P:[a-z0-9]*]], %[[Q:[a-z0-9]*]]) in (%[[LEFT]], %[[COLUMNS]]) {
// CHECK: %[[I0:.*]] = arith.addi %[[B]], %[[P]] : index
// CHECK: %[[I:.*]] = arith.addi %{{.*}}, %[[I0]] : index
// CHECK: %[[J0:.*]] = arith.muli %[[Q]], %[[S]] : index
// CHECK: %[[J:.*]] = arith.addi %{{.*}}, %[[J0]] : index
// CHECK: %[[V:.*]] = memref.load %[[X]][%[[I]], %[[J]]]
// CHECK: memref.store %[[V]], %[[Y]][%[[I]], %[[J]]]
// CHECK: } {mapping = [#gpu.thread<linear_dim_1>, #gpu.thread<linear_dim_0>]}
// CHECK: } {mapping = [#gpu.block<linear_dim_0>]}
func.func @points(%x: memref<?x?xf32>, %y: memref<?x?xf32>, %m: index, %n: index, %s: index) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.parallel (%i, %j) = (%c2, %c1) to (%m, %n) step (%c1, %s) {
    %v = memref.load %x[%i, %j] : memref<?x?xf32>
    memref.store %v, %y[%i, %j] : memref<?x?xf32>
  }
  return
}

// -----

// What a thread allocates is on its stack, and its loops are its own.
// CHECK-LABEL: func.func @stack
// CHECK: scf.forall (%{{.*}}) = (0) to (8) step (64) {
// CHECK: scf.forall
// CHECK: %[[A:.*]] = memref.alloca() : memref<100xf32>
// CHECK: scf.for
// CHECK-NOT: memref.dealloc
// CHECK: } {mapping = [#gpu.thread<linear_dim_0>]}
func.func @stack(%x: memref<8x100xf32>, %y: memref<8x100xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  scf.forall (%i) in (8) {
    %a = memref.alloc() : memref<100xf32>
    scf.for %j = %c0 to %c100 step %c1 {
      %v = memref.load %x[%i, %j] : memref<8x100xf32>
      memref.store %v, %a[%j] : memref<100xf32>
    }
    %w = memref.load %a[%i] : memref<100xf32>
    memref.store %w, %y[%i, %c0] : memref<8x100xf32>
    memref.dealloc %a : memref<100xf32>
  }
  return
}

// -----

// An iteration is a block: its loop goes to threads, that in it is one of each thread; a structured operation is left to others.
// One thread stores what is stored besides, and memory on the stack that threads share is allocated.
// CHECK-LABEL: func.func @tiles
// CHECK-SAME: %[[R:[^:% ]*]]: memref<8xf32>, %[[F:[^:]*]]: f32)
// CHECK: scf.forall (%[[I:.*]]) in (8) {
// CHECK: %[[OWN:.*]] = memref.alloca() : memref<f32>
// CHECK: memref.store %[[F]], %[[OWN]][]
// CHECK: %[[SHARED:.*]] = memref.alloc() : memref<100xf32>
// CHECK: linalg.fill ins(%[[F]] : f32) outs(%[[SHARED]]
// CHECK: %[[G:.*]] = memref.load %[[OWN]][]
// CHECK: scf.forall (%{{.*}}) in (1) {
// CHECK-NEXT: memref.store %[[G]], %[[R]][%[[I]]]
// CHECK-NEXT: } {mapping = [#gpu.thread<linear_dim_0>]}
// CHECK: scf.forall (%{{.*}}) in (25) {
// CHECK: scf.for
// CHECK: memref.load %[[SHARED]]
// CHECK: } {mapping = [#gpu.thread<linear_dim_0>]}
// CHECK: } {mapping = [#gpu.block<linear_dim_0>]}
func.func @tiles(%x: memref<8x100xf32>, %y: memref<8x100xf32>, %r: memref<8xf32>, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c25 = arith.constant 25 : index
  scf.forall (%i) in (8) {
    %own = memref.alloca() : memref<f32>
    memref.store %f, %own[] : memref<f32>
    %shared = memref.alloca() : memref<100xf32>
    linalg.fill ins(%f : f32) outs(%shared : memref<100xf32>)
    %g = memref.load %own[] : memref<f32>
    memref.store %g, %r[%i] : memref<8xf32>
    scf.parallel (%j) = (%c0) to (%c25) step (%c1) {
      scf.parallel (%k) = (%c0) to (%c4) step (%c1) {
        %v = memref.load %shared[%j] : memref<100xf32>
        memref.store %v, %y[%i, %j] : memref<8x100xf32>
      }
    }
  }
  return
}

// -----

// Loops with structured operations in them, and loops that reduce, are gone through by the block.
// CHECK-LABEL: func.func @sequential
// CHECK: scf.forall (%{{.*}}) in (8) {
// CHECK: scf.for
// CHECK: linalg.fill
// CHECK: %[[T:.*]] = scf.for {{.*}} iter_args
// CHECK: scf.forall (%{{.*}}) in (1) {
// CHECK-NEXT: memref.store %[[T]]
// CHECK-NEXT: } {mapping = [#gpu.thread<linear_dim_0>]}
// CHECK: } {mapping = [#gpu.block<linear_dim_0>]}
func.func @sequential(%x: memref<8x4x16xf32>, %r: memref<8xf32>, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.forall (%i) in (8) {
    scf.forall (%j) in (4) {
      %s = memref.subview %x[%i, %j, 0] [1, 1, 16] [1, 1, 1] : memref<8x4x16xf32> to memref<16xf32, strided<[1], offset: ?>>
      linalg.fill ins(%f : f32) outs(%s : memref<16xf32, strided<[1], offset: ?>>)
    }
    %t = scf.parallel (%j) = (%c0) to (%c4) step (%c1) init (%f) -> f32 {
      %v = memref.load %x[%i, %j, %c0] : memref<8x4x16xf32>
      scf.reduce(%v : f32) {
        ^bb0(%a: f32, %b: f32):
          %c = arith.addf %a, %b : f32
          scf.reduce.return %c : f32
      }
    }
    memref.store %t, %r[%i] : memref<8xf32>
  }
  return
}

// -----

// Loops that are mapped, and those of kernels, are left alone.
// CHECK-LABEL: func.func @others
// CHECK: } {mapping = [#gpu.block<x>]}
// CHECK: gpu.launch
// CHECK: scf.forall (%{{.*}}) in (8) {
// CHECK-NEXT: memref.store
// CHECK-NEXT: }{{$}}
func.func @others(%y: memref<8xf32>, %f: f32) {
  %c1 = arith.constant 1 : index
  scf.forall (%i) in (8) {
    memref.store %f, %y[%i] : memref<8xf32>
  } {mapping = [#gpu.block<x>]}
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    scf.forall (%i) in (8) {
      memref.store %f, %y[%i] : memref<8xf32>
    }
    gpu.terminator
  }
  return
}
