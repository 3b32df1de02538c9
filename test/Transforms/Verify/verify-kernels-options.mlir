// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-verify-kernels)' -o /dev/null 2>&1 | FileCheck %s
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-verify-kernels{verify-barriers=false})' --remarks-filter='workgroup.*' --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=NO-BARRIERS
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-verify-kernels{max-static-bytes=65536})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=MORE-BYTES
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-verify-kernels{assume-buffer-alignment=16})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=ALIGNED
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-verify-kernels{verify-barriers=false max-static-bytes=65536 assume-buffer-alignment=16})' --verify-diagnostics -o /dev/null

// Each option silences its own finding and no other; with all the module passes.

// CHECK-DAG: error: barrier in divergent control flow
// CHECK-DAG: error: 'gpu.func' op has a workgroup buffer of type 'memref<64xf32, 3>' without a stated alignment
// CHECK-DAG: error: workgroup memory of kernel 'large' is 65536 bytes, exceeding the limit of 49152 bytes

// NO-BARRIERS-NOT: barrier in divergent control flow
// NO-BARRIERS-DAG: error: workgroup memory of kernel 'large' is 65536 bytes, exceeding the limit of 49152 bytes
// NO-BARRIERS-DAG: remark: [Failure] OutOfCapacity | Category:workgroup-verify-kernels | Function=large | Limit=49152, Required=65536
// NO-BARRIERS-NOT: barrier in divergent control flow

// MORE-BYTES-NOT: exceeding the limit
// MORE-BYTES:     error: barrier in divergent control flow
// MORE-BYTES-NOT: exceeding the limit

// ALIGNED-NOT: without a stated alignment
// ALIGNED-DAG: error: barrier in divergent control flow
// ALIGNED-DAG: error: workgroup memory of kernel
// ALIGNED-NOT: without a stated alignment

gpu.module @kernels {
  gpu.func @unaligned() workgroup(%a: memref<64xf32, 3>) kernel {
    gpu.return
  }
  gpu.func @divergent(%n: index) kernel {
    %thread = gpu.thread_id x
    %some = arith.cmpi ult, %thread, %n : index
    scf.if %some {
      gpu.barrier
    }
    gpu.return
  }
  gpu.func @large() workgroup(%a: memref<16384xf32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}) kernel {
    gpu.return
  }
}
