// RUN: mlir-opt %s --pass-pipeline='builtin.module(gpu.module(workgroup-legalize-for-nvvm))' | FileCheck %s

// What upstream does not have of element-wise operations, by what it has.

!c16 = !gpu.mma_matrix<16x16xf16, "COp">
!c32 = !gpu.mma_matrix<16x16xf32, "COp">

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @difference
  // CHECK-SAME:    (%[[A:.+]]: !gpu.mma_matrix<16x16xf16, "COp">, %[[B:.+]]: !gpu.mma_matrix
  // CHECK:         %[[MINUS:.+]] = arith.constant -1.000000e+00 : f16
  // CHECK:         %[[ONES:.+]] = gpu.subgroup_mma_constant_matrix %[[MINUS]] : !gpu.mma_matrix<16x16xf16, "COp">
  // CHECK:         %[[NEGATIVE:.+]] = gpu.subgroup_mma_elementwise mulf %[[B]], %[[ONES]]
  // CHECK:         %[[SUM:.+]] = gpu.subgroup_mma_elementwise addf %[[A]], %[[NEGATIVE]]
  // CHECK:         gpu.return %[[SUM]]
  gpu.func @difference(%a: !c16, %b: !c16) -> !c16 {
    %0 = gpu.subgroup_mma_elementwise subf %a, %b : (!c16, !c16) -> !c16
    gpu.return %0 : !c16
  }

  // CHECK-LABEL: gpu.func @negation
  // CHECK:         %[[ONES:.+]] = gpu.subgroup_mma_constant_matrix %{{.+}} : !gpu.mma_matrix<16x16xf32, "COp">
  // CHECK:         %[[NEGATIVE:.+]] = gpu.subgroup_mma_elementwise mulf %{{.+}}, %[[ONES]]
  // CHECK:         gpu.return %[[NEGATIVE]]
  gpu.func @negation(%a: !c32) -> !c32 {
    %0 = gpu.subgroup_mma_elementwise negatef %a : (!c32) -> !c32
    gpu.return %0 : !c32
  }
}
