// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-verify-sync{assume-distinct-arguments})' --verify-diagnostics -o /dev/null

// Callers that are not in sight promise that arguments are different memory; of others
// that is seen.

// A host function that the module itself calls with one buffer twice,
func.func private @layer(%a: memref<64xf32>, %b: memref<64xf32>, %x: f32) {
  %c1 = arith.constant 1 : index
  %c63 = arith.constant 63 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%dx = %c64, %dy = %c1, %dz = %c1) {
    %u = arith.subi %c63, %tx : index
    // expected-note @+1 {{the other access}}
    memref.store %x, %b[%tx] : memref<64xf32>
    // expected-warning @+1 {{possible data race on global memory}}
    %v = memref.load %a[%u] : memref<64xf32>
    gpu.terminator
  }
  return
}
func.func @main(%p: memref<64xf32>, %x: f32) {
  call @layer(%p, %p, %x) : (memref<64xf32>, memref<64xf32>, f32) -> ()
  return
}

// -----

// and one that it calls with two that it made.
func.func private @layer(%a: memref<64xf32>, %b: memref<64xf32>, %x: f32) {
  %c1 = arith.constant 1 : index
  %c63 = arith.constant 63 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%dx = %c64, %dy = %c1, %dz = %c1) {
    %u = arith.subi %c63, %tx : index
    memref.store %x, %b[%tx] : memref<64xf32>
    %v = memref.load %a[%u] : memref<64xf32>
    gpu.terminator
  }
  return
}
func.func @main(%p: memref<64xf32>, %x: f32) {
  %q = memref.alloc() : memref<64xf32>
  call @layer(%p, %q, %x) : (memref<64xf32>, memref<64xf32>, f32) -> ()
  call @layer(%q, %p, %x) : (memref<64xf32>, memref<64xf32>, f32) -> ()
  return
}
