// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-verify-kernels)' --split-input-file --verify-diagnostics

// B11: matrices in registers with which nothing can be done.

!c16 = !gpu.mma_matrix<16x16xf16, "COp">
!c64 = !gpu.mma_matrix<8x8xf64, "COp">
!i32 = !gpu.mma_matrix<16x16xi32, "COp">
!a32 = !gpu.mma_matrix<16x8xf32, "AOp">

gpu.module @kernels {
  gpu.func @elementwise(%x: !c16, %i: !i32, %d: !c64, %a: !a32) {
    // expected-error @+1 {{'gpu.subgroup_mma_elementwise' op applies extf to a matrix, which has no lowering for NVIDIA GPUs; those of floats that have one are addf, subf, mulf, divf, maxf, minf and negatef: store the matrix, and compute in memory}}
    %0 = gpu.subgroup_mma_elementwise extf %x : (!c16) -> !c16
    // expected-error @+1 {{applies addi to a matrix, which has no lowering}}
    %1 = gpu.subgroup_mma_elementwise addi %i, %i : (!i32, !i32) -> !i32
    // expected-error @+1 {{applies negates to a matrix, which has no lowering}}
    %2 = gpu.subgroup_mma_elementwise negates %i : (!i32) -> !i32
    // expected-error @+1 {{applies addf to a matrix of 'i32', but it is an operation on floats}}
    %3 = gpu.subgroup_mma_elementwise addf %i, %i : (!i32, !i32) -> !i32
    // expected-error @+1 {{applies addf to 1 matrices, but it takes 2}}
    %4 = gpu.subgroup_mma_elementwise addf %x : (!c16) -> !c16
    // expected-error @+1 {{applies negatef to 2 matrices, but it takes 1}}
    %5 = gpu.subgroup_mma_elementwise negatef %x, %x : (!c16, !c16) -> !c16
    // expected-error @+1 {{has a result of another type than its operands}}
    %6 = gpu.subgroup_mma_elementwise mulf %x, %x : (!c16, !c16) -> !c64
    // expected-error @+1 {{applies subf to a matrix of f64, which has no lowering for NVIDIA GPUs; negate where it is loaded from, and use addf}}
    %7 = gpu.subgroup_mma_elementwise subf %d, %d : (!c64, !c64) -> !c64
    // expected-error @+1 {{computes in a matrix of f32 that is an operand of products, whose registers hold tf32}}
    %8 = gpu.subgroup_mma_elementwise mulf %a, %a : (!a32, !a32) -> !a32
    %9 = gpu.subgroup_mma_elementwise subf %x, %x : (!c16, !c16) -> !c16
    %10 = gpu.subgroup_mma_elementwise divf %d, %d : (!c64, !c64) -> !c64
    gpu.return
  }

  gpu.func @constant(%f: f32) {
    // expected-error @+1 {{'gpu.subgroup_mma_constant_matrix' op fills a matrix of 'f32' that is an operand of products, whose registers hold other elements}}
    %0 = gpu.subgroup_mma_constant_matrix %f : !a32
    %1 = gpu.subgroup_mma_constant_matrix %f : !gpu.mma_matrix<16x16xf32, "COp">
    gpu.return
  }

  gpu.func @bf16(%a: vector<4x2xbf16>, %b: vector<2x2xbf16>, %c: vector<2x2xf32>, %m: vector<2xi16>) {
    // expected-error @+1 {{'nvgpu.mma.sync' op multiplies matrices of 'bf16', which have no lowering from nvgpu; write it as nvvm.mma.sync, which takes two elements in an i32}}
    %0 = nvgpu.mma.sync(%a, %b, %c) {mmaShape = [16, 8, 16]} : (vector<4x2xbf16>, vector<2x2xbf16>, vector<2x2xf32>) -> vector<2x2xf32>
    // expected-error @+1 {{'nvgpu.mma.sp.sync' op multiplies matrices of 'bf16'}}
    %1 = nvgpu.mma.sp.sync(%a, %a, %c) metadata(%m) {mmaShape = [16, 8, 32]} : (vector<4x2xbf16>, vector<4x2xbf16>, vector<2x2xf32>) -> vector<2x2xf32>
    gpu.return
  }
}
