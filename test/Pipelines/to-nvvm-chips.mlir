// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-to-nvvm)' | FileCheck %s -DCHIP=sm_80 -DVERSION=70
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-to-nvvm{chip=sm_75})' | FileCheck %s -DCHIP=sm_75 -DVERSION=63
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-to-nvvm{chip=sm_80})' | FileCheck %s -DCHIP=sm_80 -DVERSION=70
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-to-nvvm{chip=sm_86})' | FileCheck %s -DCHIP=sm_86 -DVERSION=71
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-to-nvvm{chip=sm_89})' | FileCheck %s -DCHIP=sm_89 -DVERSION=78
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-to-nvvm{chip=sm_90})' | FileCheck %s -DCHIP=sm_90 -DVERSION=80
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-to-nvvm{chip=sm_90a})' | FileCheck %s -DCHIP=sm_90a -DVERSION=80
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-to-nvvm{chip=sm_100})' | FileCheck %s -DCHIP=sm_100 -DVERSION=86
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-to-nvvm{chip=sm_120})' | FileCheck %s -DCHIP=sm_120 -DVERSION=87
// RUN: mlir-opt %s --pass-pipeline='builtin.module(nvvm-attach-target{chip=sm_86 features=+ptx85},workgroup-to-nvvm)' | FileCheck %s -DCHIP=sm_86 -DVERSION=85
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-to-nvvm{chip=sm_1})' 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(nvvm-attach-target{chip=sm_86},workgroup-to-nvvm{chip=sm_90})' 2>&1 | FileCheck %s --check-prefix=CONFLICT

// The oldest PTX version that knows the chip: what runs with the oldest driver.
// Without the option, the module's own target decides.

// CHECK: gpu.module @kernels [#nvvm.target<{{.*}}chip = "[[CHIP]]", features = "+ptx[[VERSION]]">]

// UNKNOWN: error: unknown chip 'sm_1'; supported are sm_75, sm_80, sm_86, sm_89, sm_90, sm_90a, sm_100, sm_120
// CONFLICT: error: 'gpu.module' op has a target for sm_86, but is to be compiled for sm_90; drop the target, or name its chip

gpu.module @kernels {
  gpu.func @kernel(%a: memref<64xf32>) kernel {
    %thread = gpu.thread_id x
    %x = memref.load %a[%thread] : memref<64xf32>
    %y = arith.addf %x, %x : f32
    memref.store %y, %a[%thread] : memref<64xf32>
    gpu.return
  }
}
