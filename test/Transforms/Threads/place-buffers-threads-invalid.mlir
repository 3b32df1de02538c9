// RUN: mlir-opt %s --pass-pipeline="builtin.module(workgroup-place-buffers)" --verify-diagnostics

// Memory that each thread makes for itself.

func.func @forall(%f: f32) {
  scf.forall (%b) in (4) {
    scf.forall (%t) in (32) {
      // expected-error@+1 {{is made by each thread, which workgroup memory has no room for; use memref.alloca for what a thread has for itself}}
      %a = memref.alloc() : memref<8xf32>
      linalg.fill ins(%f : f32) outs(%a : memref<8xf32>)
      %w = memref.alloc() : memref<8xf32, #gpu.address_space<workgroup>>
      linalg.fill ins(%f : f32) outs(%w : memref<8xf32, #gpu.address_space<workgroup>>)
    } {mapping = [#gpu.thread<x>]}
  } {mapping = [#gpu.block<x>]}
  return
}

func.func @parallel(%f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.forall (%b) in (4) {
    scf.parallel (%t) = (%c0) to (%c4) step (%c1) {
      // expected-error@+1 {{is made by each thread}}
      %a = memref.alloc() : memref<8xf32>
      linalg.fill ins(%f : f32) outs(%a : memref<8xf32>)
    }
  } {mapping = [#gpu.block<x>]}
  return
}
