// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-verify-kernels)' --split-input-file --verify-diagnostics

// What upstream makes of two loops over threads: ids tell who writes which element.
gpu.module @m {
  gpu.func @reversed(%y: memref<64xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c63 = arith.constant 63 : index
    %t = gpu.thread_id x
    // expected-error @+1 {{buffer is shared by threads but lives in per-thread memory}}
    %b = memref.alloca() : memref<64xf32>
    %v = memref.load %y[%t] : memref<64xf32>
    // expected-note @+1 {{that other threads write here}}
    memref.store %v, %b[%t] : memref<64xf32>
    gpu.barrier
    %m = arith.subi %c63, %t : index
    // expected-note @+1 {{thread (0, 0, 0) reads an element here}}
    %w = memref.load %b[%m] : memref<64xf32>
    memref.store %w, %y[%t] : memref<64xf32>
    gpu.return
  }

  // Registers: a loaded index, a condition on the thread, an iteration of its own.
  gpu.func @own(%y: memref<64xf32>, %p: memref<64xindex>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %t = gpu.thread_id x
    %zero = arith.constant 0.0 : f32
    %b = memref.alloca() : memref<4xf32>
    scf.for %i = %c0 to %c4 step %c1 {
      memref.store %zero, %b[%i] : memref<4xf32>
    }
    %k = memref.load %p[%t] : memref<64xindex>
    %v = memref.load %y[%t] : memref<64xf32>
    %first = arith.cmpi ult, %t, %c4 : index
    scf.if %first {
      memref.store %v, %b[%t] : memref<4xf32>
    }
    %w = memref.load %b[%c1] : memref<4xf32>
    %u = memref.load %b[%k] : memref<4xf32>
    %s = arith.addf %w, %u : f32
    memref.store %s, %y[%t] : memref<64xf32>
    gpu.return
  }
}
