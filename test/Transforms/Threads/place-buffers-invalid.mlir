// RUN: mlir-opt %s --pass-pipeline="builtin.module(workgroup-place-buffers)" --verify-diagnostics

// Memory that a loop hands on.

func.func @carried(%n: index, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.forall (%b) in (4) {
    // expected-error@+1 {{cannot be put into workgroup memory: its memory is handed on by 'scf.for'; give it a memory space where it is made}}
    %a = memref.alloc() : memref<8xf32>
    // expected-note@+1 {{here}}
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%m = %a) -> memref<8xf32> {
      linalg.fill ins(%f : f32) outs(%m : memref<8xf32>)
      scf.yield %m : memref<8xf32>
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}
