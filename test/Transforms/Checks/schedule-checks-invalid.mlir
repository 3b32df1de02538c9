// RUN: mlir-opt %s --transform-interpreter --verify-diagnostics

// A check that is part of the transform operations themselves, here in an include.
func.func @main(%x: memref<64xf32>, %v: f32) {
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%t, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    // expected-error @+1 {{'scf.forall' op maps 64 iterations to the 32 lanes of a warp, of which the rest would never run; distribute it cyclically}}
    scf.forall (%i) in (64) {
      memref.store %v, %x[%i] : memref<64xf32>
    } {mapping = [#gpu.lane<linear_dim_0>]}
    gpu.terminator
  }
  return
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @map(%launch: !transform.any_op {transform.consumed}) {
    transform.gpu.map_nested_forall_to_threads %launch block_dims = [64, 1, 1] : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %launch = transform.structured.match ops{["gpu.launch"]} in %module : (!transform.any_op) -> !transform.any_op
    transform.include @map failures(suppress) (%launch) : (!transform.any_op) -> ()
    transform.yield
  }
}
