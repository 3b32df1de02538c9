// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-distribute-loops{levels=arguments ids=4,5 counts=6,7})' | FileCheck %s
// CHECK:     scf.for
// CHECK:       scf.for
// CHECK-NOT: scf.parallel

// The loop of the thread "Tile/LowerToLoops + Distribute to processors with Linalg
// ops": two dimensions of any bounds and steps, for a grid of processors that the
// caller tells: who this is (%pidy, %pidx) and how many there are (%ny, %nx).

func.func @scale(%lb0: index, %lb1: index, %ub0: index, %ub1: index,
                 %pidy: index, %pidx: index, %ny: index, %nx: index,
                 %s0: index, %s1: index, %A: memref<?x?xf32>) {
  %two = arith.constant 2.0 : f32
  scf.parallel (%i, %j) = (%lb0, %lb1) to (%ub0, %ub1) step (%s0, %s1) {
    %x = memref.load %A[%i, %j] : memref<?x?xf32>
    %y = arith.mulf %x, %two : f32
    memref.store %y, %A[%i, %j] : memref<?x?xf32>
  }
  return
}
