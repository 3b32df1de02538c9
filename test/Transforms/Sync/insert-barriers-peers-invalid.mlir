// RUN: mlir-opt %s --verify-diagnostics --pass-pipeline='builtin.module(workgroup-insert-barriers,workgroup-verify-sync)' -o /dev/null

// Two threads read each element, then both write it (TileLang 0.1.15's probe P4,
// docs/measurements/peers.md). A barrier separates reads from writes; none separates two
// writes of one statement, so the kernel is refused, not passed in silence.
gpu.module @tilelang {
  gpu.func @p4(%out: memref<128xf32>, %values: memref<128xf32>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c2 = arith.constant 2 : index
    %t = gpu.thread_id x
    %half = arith.divui %t, %c2 : index
    %x = memref.load %values[%t] : memref<128xf32>
    %A = memref.alloc() : memref<64xf32, 3>
    %r = memref.load %A[%half] : memref<64xf32, 3>
    memref.store %r, %out[%t] : memref<128xf32>
    // expected-error @+2 {{cannot synchronize 'memref.store' and 'memref.store' on workgroup memory %alloc}}
    // expected-note @+1 {{the other access}}
    memref.store %x, %A[%half] : memref<64xf32, 3>
    gpu.return
  }
}
