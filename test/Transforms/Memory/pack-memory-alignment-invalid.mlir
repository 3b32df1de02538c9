// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-pack-memory,workgroup-verify-kernels{assume-buffer-alignment=16})' --split-input-file --verify-diagnostics
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-pack-memory{dynamic=always},workgroup-verify-kernels{assume-buffer-alignment=16})' --split-input-file --verify-diagnostics

// What is wrong with an attribution is still found after packing.
gpu.module @kernels {
  // expected-error @+1 {{has workgroup attribution with llvm.align = 12, which is not a power of two up to 2^32}}
  gpu.func @no_power_of_two(%i: index, %v: f32)
      workgroup(%a: memref<64xf32, #gpu.address_space<workgroup>> {llvm.align = 12 : i64},
                %b: memref<64xf32, #gpu.address_space<workgroup>>) kernel {
    memref.store %v, %a[%i] : memref<64xf32, #gpu.address_space<workgroup>>
    memref.store %v, %b[%i] : memref<64xf32, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @+1 {{has workgroup attribution with llvm.align = 4611686018427387904, which is not a power of two up to 2^32}}
  gpu.func @too_large(%i: index, %v: f32)
      workgroup(%a: memref<64xf32, #gpu.address_space<workgroup>> {llvm.align = 4611686018427387904 : i64},
                %b: memref<64xf32, #gpu.address_space<workgroup>>) kernel {
    memref.store %v, %a[%i] : memref<64xf32, #gpu.address_space<workgroup>>
    memref.store %v, %b[%i] : memref<64xf32, #gpu.address_space<workgroup>>
    gpu.return
  }
}
