// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-verify-kernels)' --verify-diagnostics
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-verify-kernels{max-bytes=-1})' 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: error: max-static-bytes and max-bytes must not be negative, and assume-buffer-alignment must be a power of two

// The address of a global does not get out of a function.
gpu.module @kernels {
  memref.global "private" @table : memref<64xf32, 3> = uninitialized {alignment = 16 : i64}
  func.func @get() -> memref<8xf32, strided<[1], offset: 8>, 3> {
    %table = memref.get_global @table : memref<64xf32, 3>
    %part = memref.subview %table[8] [8] [1] : memref<64xf32, 3> to memref<8xf32, strided<[1], offset: 8>, 3>
    // expected-error @+1 {{'func.return' op returns a global, whose address the lowering would lose; take it by memref.get_global in the caller}}
    return %part : memref<8xf32, strided<[1], offset: 8>, 3>
  }
  func.func @pass(%a: memref<64xf32, 3>) -> memref<64xf32, 3> {
    return %a : memref<64xf32, 3>
  }
}
