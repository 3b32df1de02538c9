// RUN: mlir-opt %s --pass-pipeline="builtin.module(func.func(workgroup-map-loops{block=-1}))" --verify-diagnostics

func.func @negative(%x: memref<8xf32>, %f: f32) {
  // expected-error@+1 {{'scf.forall' op cannot be in tiles of -1; sizes in 'block' are positive, or 0 for all}}
  scf.forall (%i) in (8) {
    memref.store %f, %x[%i] : memref<8xf32>
  }
  return
}
