// RUN: mlir-opt %s --split-input-file --pass-pipeline="builtin.module(func.func(workgroup-map-loops{block=4,4}))" --verify-diagnostics

func.func @tensors(%x: tensor<8x8xf32>, %f: f32) -> tensor<8x8xf32> {
  // expected-error@+1 {{'scf.forall' op has results of tensors, which blocks cannot put together; bufferize it}}
  %r = scf.forall (%i, %j) in (8, 8) shared_outs(%o = %x) -> (tensor<8x8xf32>) {
    %v = tensor.from_elements %f : tensor<1x1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %v into %o[%i, %j] [1, 1] [1, 1] : tensor<1x1xf32> into tensor<8x8xf32>
    }
  }
  return %r : tensor<8x8xf32>
}

// -----

func.func @results(%x: memref<8x8xf32>, %f: f32, %c0: index, %c1: index, %c8: index) -> f32 {
  // expected-error@+1 {{'scf.parallel' op has results, which blocks would have to combine; run workgroup-serialize-loops, or store what each iteration has}}
  %r = scf.parallel (%i, %j) = (%c0, %c0) to (%c8, %c8) step (%c1, %c1) init (%f) -> f32 {
    %v = memref.load %x[%i, %j] : memref<8x8xf32>
    scf.reduce(%v : f32) {
      ^bb0(%a: f32, %b: f32):
        %c = arith.addf %a, %b : f32
        scf.reduce.return %c : f32
    }
  }
  return %r : f32
}

// -----

func.func @sizes(%x: memref<8xf32>, %f: f32) {
  // expected-error@+1 {{'scf.forall' op has 1 dimensions, but 'block' gives 2 sizes; give one for each at most}}
  scf.forall (%i) in (8) {
    memref.store %f, %x[%i] : memref<8xf32>
  }
  return
}

// -----

func.func @dimensions(%x: memref<f32>, %f: f32) {
  // expected-error@+1 {{'scf.forall' op has 11 dimensions, but blocks have from 1 to 10; make a loop of some of them}}
  scf.forall (%a, %b, %c, %d, %e, %g, %h, %i, %j, %k, %l) in (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1) {
    memref.store %f, %x[] : memref<f32>
  }
  return
}

// -----

func.func @counted(%x: memref<8xi32>, %y: memref<8x8xi32>, %one: i32) {
  %c0 = arith.constant 0 : index
  scf.forall (%i, %j) in (8, 8) {
    // expected-error@+1 {{'memref.atomic_rmw' op writes memory, and hands a value to all threads of a block; put it in an scf.forall}}
    %old = memref.atomic_rmw addi %one, %x[%c0] : (i32, memref<8xi32>) -> i32
    scf.forall (%k) in (8) {
      memref.store %old, %y[%i, %k] : memref<8x8xi32>
    }
  }
  return
}
