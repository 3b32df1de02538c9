// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-verify-kernels)' -o /dev/null 2>&1 | FileCheck %s
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-verify-kernels{assume-distinct-arguments})' --verify-diagnostics -o /dev/null
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-to-nvvm)' -o /dev/null 2>&1 | FileCheck %s
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-to-nvvm{assume-distinct-arguments})' --verify-diagnostics -o /dev/null
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-to-nvvm{verify-barriers=false})' --verify-diagnostics -o /dev/null

// Threads load the same flag at different times, and one may have changed it in
// between, unless the arguments are distinct.
// CHECK: error: barrier in divergent control flow
gpu.module @kernels {
  gpu.func @flag(%flag: memref<1xi1>, %out: memref<128xi1>) kernel {
    %c0 = arith.constant 0 : index
    %t = gpu.thread_id x
    %is = memref.load %flag[%c0] : memref<1xi1>
    memref.store %is, %out[%t] : memref<128xi1>
    scf.if %is {
      gpu.barrier
    }
    gpu.return
  }
}
