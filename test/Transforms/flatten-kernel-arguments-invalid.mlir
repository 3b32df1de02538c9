// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-flatten-kernel-arguments)' --split-input-file --verify-diagnostics

// A memref of unknown rank has no fixed number of extents.
gpu.module @kernels {
  // expected-error @+1 {{'gpu.func' op has an unranked memref as argument 1, whose shape no launch can pass; cast it to a ranked type}}
  gpu.func @unranked(%i: index, %a: memref<*xf32>) kernel {
    gpu.return
  }
}

// -----

// A layout that no strides describe.
gpu.module @kernels {
  // expected-error @+1 {{'gpu.func' op has argument 0 of type 'memref<16xf32, affine_map<(d0) -> (d0 floordiv 4, d0 mod 4)>>' with a layout that is not strided; normalize its layout map}}
  gpu.func @tiled(%a: memref<16xf32, affine_map<(d0) -> (d0 floordiv 4, d0 mod 4)>>) kernel {
    gpu.return
  }
}

// -----

// In functions that kernels call as well; those of the host, and declarations, may
// have any argument.
func.func @host(%a: memref<*xf32>) {
  return
}
gpu.module @kernels {
  func.func private @declared(memref<*xf32>)
  // expected-error @+1 {{'func.func' op has an unranked memref as argument 0}}
  func.func @called(%a: memref<*xf32>) {
    return
  }
}
