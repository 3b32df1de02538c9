// RUN: mlir-opt %s --verify-diagnostics \
// RUN:   --pass-pipeline='builtin.module(workgroup-map-to-threads)'

// Memory of unknown rank.

func.func @unranked(%x: memref<*xf32>, %y: memref<*xf32>) {
  scf.forall (%b) in (4) {
    // expected-error@+1 {{is on memory of unknown rank, which threads cannot share out; cast it to a ranked memref}}
    memref.copy %x, %y : memref<*xf32> to memref<*xf32>
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}
