// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-adopt-kernels)' --split-input-file --verify-diagnostics

// expected-error @below {{has kernels of LLVM for amdgcn-amd-amdhsa; those for nvptx64 are what is understood here}}
module attributes {llvm.target_triple = "amdgcn-amd-amdhsa"} {
  llvm.func @k() attributes {nvvm.kernel} {
    llvm.return
  }
}

// -----

gpu.module @given {
  // expected-error @below {{is a kernel with a variable number of arguments, which no launch can pass}}
  llvm.func ptx_kernelcc @variadic(...) {
    llvm.return
  }
}
