// REQUIRES: package
// RUN: not %pipeline compile %s --emit schedule 2>&1 | FileCheck %s --check-prefix=OWN
// RUN: not %pipeline compile %s --emit schedule --schedule none 2>&1 | FileCheck %s --check-prefix=USAGE
// RUN: %pipeline compile %s | FileCheck %s --check-prefix=PTX

// What has kernels of its own is not scheduled.

// OWN:   auto-invalid.mlir: error: there is no schedule to choose: the program has one or kernels of its own, or no linalg operation
// USAGE: error: --emit schedule prints what --schedule auto chooses
// PTX:   .entry store

gpu.module @kernels {
  gpu.func @store(%a: memref<32xf32>, %i: index) kernel {
    %one = arith.constant 1.0 : f32
    memref.store %one, %a[%i] : memref<32xf32>
    gpu.return
  }
}
