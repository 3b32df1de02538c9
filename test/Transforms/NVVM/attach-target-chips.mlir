// Every supported chip gets the oldest PTX version that has its instructions.
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-attach-target{chip=sm_75})' | FileCheck %s -DCHIP=sm_75 -DPTX=63
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-attach-target{chip=sm_80})' | FileCheck %s -DCHIP=sm_80 -DPTX=70
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-attach-target{chip=sm_86})' | FileCheck %s -DCHIP=sm_86 -DPTX=71
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-attach-target{chip=sm_89})' | FileCheck %s -DCHIP=sm_89 -DPTX=78
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-attach-target{chip=sm_90})' | FileCheck %s -DCHIP=sm_90 -DPTX=80
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-attach-target{chip=sm_90a})' | FileCheck %s -DCHIP=sm_90a -DPTX=80
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-attach-target{chip=sm_100})' | FileCheck %s -DCHIP=sm_100 -DPTX=86
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-attach-target{chip=sm_120})' | FileCheck %s -DCHIP=sm_120 -DPTX=87

// CHECK: gpu.module @kernels [#nvvm.target<O = 3, chip = "[[CHIP]]", features = "+ptx[[PTX]]">]
gpu.module @kernels {
}
