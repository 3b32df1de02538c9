// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-distribute-loops{strategy=exact})' 2>&1 | FileCheck %s --check-prefix=EXACT
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-distribute-loops{strategy=guarded})' 2>&1 | FileCheck %s --check-prefix=GUARDED
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-distribute-loops{levels=arguments ids=0 counts=1})' 2>&1 | FileCheck %s --check-prefix=ARGUMENTS
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-distribute-loops{levels=blocks})' 2>&1 | FileCheck %s --check-prefix=DEEP
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-distribute-loops{strategy=cyclical})' 2>&1 | FileCheck %s --check-prefix=STRATEGY
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-distribute-loops{levels=clusters})' 2>&1 | FileCheck %s --check-prefix=LEVEL
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-distribute-loops{chunk=0})' 2>&1 | FileCheck %s --check-prefix=CHUNK
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-distribute-loops{chunk=4294967296})' 2>&1 | FileCheck %s --check-prefix=LARGE
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-distribute-loops{levels=threads ids=0 counts=1})' 2>&1 | FileCheck %s --check-prefix=UNUSED
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-distribute-loops{levels=arguments ids=0,1 counts=1})' 2>&1 | FileCheck %s --check-prefix=UNEVEN
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-distribute-loops{levels=arguments ids=0,0 counts=1,1})' 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-distribute-loops{levels=arguments ids=0,2 counts=1,1})' 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-distribute-loops{strategy=cyclic,block})' 2>&1 | FileCheck %s --check-prefix=LINEAR
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-distribute-loops{levels=arguments ids=0,1 counts=0,1 strategy=exact})' 2>&1 | FileCheck %s --check-prefix=BARRIER

// Options that contradict each other, or the loop.

// BARRIER: error: barrier in a loop of which threads may execute different numbers of iterations; split the loop at the barrier
// EXACT: :{{[0-9]+}}:5: error: 'scf.forall' op has 20 iterations for 16 processors; use another strategy than exact
// GUARDED: :{{[0-9]+}}:5: error: 'scf.forall' op has 20 iterations for 16 processors; use another strategy than guarded
// ARGUMENTS: error: 'scf.forall' op has 2 dimensions for 1 processors that arguments tell; name an id and a count for each
// DEEP: error: 'scf.forall' op is in as many loops as there are levels; name one more level, or make it an scf.for
// STRATEGY: unknown strategy 'cyclical'; use cyclic, guarded, exact, block or block-cyclic
// LEVEL: unknown level 'clusters'; use blocks, warps, lanes, threads or arguments
// CHUNK: chunk is 0; it has to be at least 1, and less than 2^31
// LARGE: chunk is 4294967296; it has to be at least 1, and less than 2^31
// UNUSED: options ids and counts are of the level arguments, which levels does not name
// UNEVEN: the level arguments needs as many ids as counts, and one of them at least
// TWICE: ids names argument 0 twice
// TYPE: error: 'scf.forall' op goes to processors that arguments tell, but number 2 is no argument of the function of type index
// LINEAR: error: 'scf.forall' op counts linear dimensions together; give them one strategy

gpu.module @m {
  gpu.func @more(%m: memref<64x64xf32>, %x: f32) kernel attributes {known_block_size = array<i32: 16, 1, 1>} {

    scf.forall (%i) in (20) {
      memref.store %x, %m[%i, %i] : memref<64x64xf32>
    } {mapping = [#gpu.thread<x>]}
    gpu.return
  }
}
func.func @few(%id: index, %count: index, %m: memref<64x64xf32>, %x: f32) {
  scf.forall (%i, %j) in (64, 64) {
    memref.store %x, %m[%i, %j] : memref<64x64xf32>
  }
  return
}
func.func @deep(%id: index, %count: index, %m: memref<64x64xf32>, %x: f32) {
  scf.parallel (%i) = (%id) to (%count) step (%count) {
    scf.forall (%j) in (64) {
      memref.store %x, %m[%i, %j] : memref<64x64xf32>
    }
  }
  return
}
gpu.module @linear {
  gpu.func @linear(%m: memref<64x64xf32>, %x: f32) kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    scf.forall (%i, %j) in (4, 4) {
      memref.store %x, %m[%i, %j] : memref<64x64xf32>
    } {mapping = [#gpu.thread<linear_dim_1>, #gpu.thread<linear_dim_0>]}
    gpu.return
  }
}
func.func @meeting(%id: index, %count: index, %m: memref<64x64xf32>, %x: f32) {
  scf.forall (%i) in (64) {
    gpu.barrier
    memref.store %x, %m[%i, %id] : memref<64x64xf32>
  }
  return
}
