// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-distribute-loops{levels=blocks,warps,lanes})' | FileCheck %s

// Loops without a mapping: the outermost ones to blocks, those in them to warps, and so on.

// CHECK-LABEL: func.func @nest(
// CHECK:         gpu.block_id
// CHECK:         arith.divui %{{.+}}, %c32
// CHECK:         arith.remui %{{.+}}, %c32
// CHECK-NOT:     scf.parallel
// CHECK:           memref.store
func.func @nest(%a: index, %b: index, %c: index, %d: index, %n: index, %m: memref<?x?x?xf32>, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    scf.parallel (%j) = (%c0) to (%n) step (%c1) {
      scf.parallel (%k) = (%c0) to (%n) step (%c1) {
        memref.store %f, %m[%i, %j, %k] : memref<?x?x?xf32>
      }
    }
  }
  return
}
