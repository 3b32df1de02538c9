// RUN: mlir-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(workgroup-form-launches)' -o /dev/null
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-form-launches{threads=64,32})' 2>&1 | FileCheck %s
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-form-launches{threads=0})' 2>&1 | FileCheck %s
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-form-launches{threads=1,1,128})' 2>&1 | FileCheck %s
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-form-launches{threads=1,1,1,1})' 2>&1 | FileCheck %s

// CHECK: threads has to be up to three sizes from 1 on, of 1024 threads at most, and 64 along z

// A body for one thread.
func.func @naive(%m: memref<64x64xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  // expected-note @+1 {{the loop over blocks}}
  scf.forall (%i) in (64) {
    scf.for %j = %c0 to %c64 step %c1 {
      // expected-error @+1 {{'memref.store' op writes memory in each thread of a block; put it in an scf.forall that is mapped to threads}}
      memref.store %x, %m[%i, %j] : memref<64x64xf32>
    }
  } {mapping = [#gpu.block<x>]}
  return
}

// -----

func.func @vectors(%m: memref<64x64xf32>, %x: vector<4xf32>) {
  // expected-note @+1 {{the loop over blocks}}
  scf.forall (%i) in (64) {
    // expected-error @+1 {{'vector.store' op writes memory in each thread of a block}}
    vector.store %x, %m[%i, %i] : memref<64x64xf32>, vector<4xf32>
  } {mapping = [#gpu.block<x>]}
  return
}

// -----

func.func @tensors(%t: tensor<64xf32>) -> tensor<64xf32> {
  // expected-error @+1 {{has results of tensors, which processors cannot put together; bufferize it}}
  %r = scf.forall (%i) in (64) shared_outs(%o = %t) -> tensor<64xf32> {
    %s = tensor.extract_slice %t[%i] [1] [1] : tensor<64xf32> to tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%i] [1] [1] : tensor<1xf32> into tensor<64xf32>
    }
  } {mapping = [#gpu.block<x>]}
  return %r : tensor<64xf32>
}

// -----

func.func @many(%m: memref<64x64xf32>, %x: f32) {
  // expected-error @+1 {{has more than 2^31 - 1 iterations for blocks; make a loop of some of them, or larger tiles}}
  scf.forall (%i, %j) in (1000000, 1000000) {
    scf.forall (%t) in (1) {
      memref.store %x, %m[%t, %t] : memref<64x64xf32>
    } {mapping = [#gpu.thread<x>]}
  } {mapping = [#gpu.block<y>, #gpu.block<x>]}
  return
}

// -----

func.func @mixed(%m: memref<64x64xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  // expected-error @+1 {{goes both to blocks and to threads; put a loop over threads into one over blocks}}
  scf.parallel (%i, %j) = (%c0, %c0) to (%c64, %c64) step (%c1, %c1) {
    memref.store %x, %m[%i, %j] : memref<64x64xf32>
  } {mapping = [#gpu.block<x>, #gpu.thread<x>]}
  return
}

// -----

func.func @twice(%m: memref<64x64xf32>, %x: f32) {
  // expected-error @+1 {{has two dimensions that go to the same processors}}
  scf.forall (%i, %j) in (64, 64) {
    %t = gpu.thread_id x
    memref.store %x, %m[%i, %j] : memref<64x64xf32>
  } {mapping = [#gpu.block<linear_dim_0>, #gpu.block<x>]}
  return
}

// -----

// One launch goes to the grid once.
func.func @nested(%m: memref<8x4xf32>, %x: f32) {
  // expected-note @+1 {{the loop over blocks around it}}
  scf.forall (%i) in (8) {
    // expected-error @+1 {{starts blocks in a block; make one loop over blocks of both, or a loop over threads of the inner one}}
    scf.forall (%j) in (4) {
      scf.forall (%t) in (1) {
        memref.store %x, %m[%i, %j] : memref<8x4xf32>
      } {mapping = [#gpu.thread<x>]}
    } {mapping = [#gpu.block<y>]}
  } {mapping = [#gpu.block<x>]}
  return
}

// -----

func.func private @inner(%m: memref<8x4xf32>, %i: index, %x: f32) {
  // expected-error @+1 {{starts blocks in a block}}
  scf.forall (%j) in (4) {
    %t = gpu.thread_id x
    memref.store %x, %m[%i, %j] : memref<8x4xf32>
  } {mapping = [#gpu.block<x>]}
  return
}
func.func @nested_by_call(%m: memref<8x4xf32>, %x: f32) {
  // expected-note @+1 {{the loop over blocks around it}}
  scf.forall (%i) in (8) {
    func.call @inner(%m, %i, %x) : (memref<8x4xf32>, index, f32) -> ()
  } {mapping = [#gpu.block<x>]}
  return
}

// -----

// No race tells of it, but 256 threads would.
func.func private @count(%m: memref<8xi32>, %i: index, %x: i32) {
  %o = memref.atomic_rmw addi %x, %m[%i] : (i32, memref<8xi32>) -> i32
  return
}
func.func @by_call(%m: memref<8xi32>, %x: i32) {
  // expected-note @+1 {{the loop over blocks}}
  scf.forall (%i) in (8) {
    // expected-error @+1 {{'func.call' op writes memory in each thread of a block; put it in an scf.forall that is mapped to threads}}
    func.call @count(%m, %i, %x) : (memref<8xi32>, index, i32) -> ()
  } {mapping = [#gpu.block<x>]}
  return
}

// -----

// The size of the block is the same for all of its threads.
func.func @no_ids(%m: memref<8xi32>, %x: i32) {
  // expected-note @+1 {{the loop over blocks}}
  scf.forall (%i) in (8) {
    %b = gpu.block_dim x
    // expected-error @+1 {{writes memory in each thread of a block}}
    %o = memref.atomic_rmw addi %x, %m[%i] : (i32, memref<8xi32>) -> i32
  } {mapping = [#gpu.block<x>]}
  return
}

// -----

// What the host has on its stack is not the thread's own.
func.func @stack_of_host(%x: i32) {
  %own = memref.alloca() : memref<8xi32>
  // expected-note @+1 {{the loop over blocks}}
  scf.forall (%i) in (8) {
    // expected-error @+1 {{writes memory in each thread of a block}}
    %o = memref.atomic_rmw addi %x, %own[%i] : (i32, memref<8xi32>) -> i32
  } {mapping = [#gpu.block<x>]}
  return
}
