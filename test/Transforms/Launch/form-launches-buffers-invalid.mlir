// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-form-launches)' --split-input-file --verify-diagnostics

// Each thread has one of what a block allocates in no memory space. Two loops over
// threads that go to different threads would not see the same one.
func.func @reversed(%y: memref<64xf32>) {
  %c63 = arith.constant 63 : index
  scf.forall (%bx) in (1) {
    // expected-error @+1 {{buffer is shared by threads but lives in per-thread memory; run workgroup-place-buffers or give it #gpu.address_space<workgroup>}}
    %b = memref.alloc() : memref<64xf32>
    scf.forall (%i) in (64) {
      %v = memref.load %y[%i] : memref<64xf32>
      // expected-note @+1 {{that other threads write here, each in a buffer of its own}}
      memref.store %v, %b[%i] : memref<64xf32>
    } {mapping = [#gpu.thread<x>]}
    scf.forall (%i) in (64) {
      %m = arith.subi %c63, %i : index
      // expected-note @+1 {{thread (0, 0, 0) reads an element here}}
      %v = memref.load %b[%m] : memref<64xf32>
      memref.store %v, %y[%i] : memref<64xf32>
    } {mapping = [#gpu.thread<x>]}
  } {mapping = [#gpu.block<x>]}
  return
}

// -----

// Warps and lanes are threads, too; and 100 iterations are more than one for some.
func.func @lanes(%y: memref<100xf32>) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%t, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    // expected-error @+1 {{buffer is shared by threads}}
    %b = memref.alloca() : memref<100xf32, #gpu.address_space<private>>
    scf.forall (%i) in (100) {
      %v = memref.load %y[%i] : memref<100xf32>
      // expected-note @+1 {{that other threads write here}}
      memref.store %v, %b[%i] : memref<100xf32, #gpu.address_space<private>>
    } {mapping = [#gpu.thread<linear_dim_0>]}
    scf.forall (%i) in (100) {
      // expected-note @+1 {{thread (0, 0, 0) reads an element here}}
      %v = memref.load %b[%i] : memref<100xf32, #gpu.address_space<private>>
      memref.store %v, %y[%i] : memref<100xf32>
    } {mapping = [#gpu.warp<linear_dim_0>]}
    gpu.terminator
  }
  return
}

// -----

// The same threads in both loops, and what each thread writes whole: its own.
func.func @own(%y: memref<64xf32>) {
  %zero = arith.constant 0.0 : f32
  scf.forall (%bx) in (1) {
    %b = memref.alloca() : memref<64xf32>
    %own = memref.alloca() : memref<4xf32>
    linalg.fill ins(%zero : f32) outs(%own : memref<4xf32>)
    scf.forall (%i) in (64) {
      %v = memref.load %y[%i] : memref<64xf32>
      memref.store %v, %b[%i] : memref<64xf32>
    } {mapping = [#gpu.thread<x>]}
    scf.forall (%i) in (64) {
      %c0 = arith.constant 0 : index
      %v = memref.load %b[%i] : memref<64xf32>
      %w = memref.load %own[%c0] : memref<4xf32>
      %s = arith.addf %v, %w : f32
      memref.store %s, %y[%i] : memref<64xf32>
    } {mapping = [#gpu.thread<x>]}
  } {mapping = [#gpu.block<x>]}
  return
}
