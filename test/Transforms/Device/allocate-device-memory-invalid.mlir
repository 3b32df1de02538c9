// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-allocate-device-memory{strict})' --split-input-file --verify-diagnostics -o /dev/null

func.func @registered() {
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{buffer stays in memory of the host, and kernels are launched with it: it is registered, so that kernels reach it where it is}}
  %a = memref.alloc() : memref<4xf32>
  %u = memref.cast %a : memref<4xf32> to memref<*xf32>
  // expected-note @+1 {{see here}}
  gpu.host_register %u : memref<*xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%i, %j, %k) in (%tx = %c1, %ty = %c1, %tz = %c1) {
    %f = memref.load %a[%i] : memref<4xf32>
    memref.store %f, %a[%i] : memref<4xf32>
    gpu.terminator
  }
  return
}

// -----

func.func @overlap(
    // expected-error @+1 {{it may overlap another buffer of launches that write}}
    %a: memref<4xf32>,
    // expected-error @+1 {{it may overlap another buffer of launches that write}}
    %b: memref<4xf32>) {
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%i, %j, %k) in (%tx = %c1, %ty = %c1, %tz = %c1) {
    %f = memref.load %a[%i] : memref<4xf32>
    memref.store %f, %b[%i] : memref<4xf32>
    gpu.terminator
  }
  return
}

// -----

// Two arguments that nobody writes may be one.
func.func @only_read(%a: memref<4xf32>, %b: memref<4xf32>) {
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%i, %j, %k) in (%tx = %c1, %ty = %c1, %tz = %c1) {
    %f = memref.load %a[%i] : memref<4xf32>
    %g = memref.load %b[%i] : memref<4xf32>
    %h = arith.addf %f, %g : f32
    gpu.printf "%f\n", %h : f32
    gpu.terminator
  }
  return
}
