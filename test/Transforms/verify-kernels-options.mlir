// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-verify-kernels)' -o /dev/null 2>&1 | FileCheck %s
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-verify-kernels{verify-barriers=false})' --remarks-filter='workgroup.*' --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=NO-BARRIERS
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-verify-kernels{max-static-bytes=65536})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=MORE-BYTES
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-verify-kernels{verify-barriers=false max-static-bytes=65536})' --verify-diagnostics -o /dev/null

// Each option silences its own finding and no other; with both the module passes.

// CHECK-DAG: error: barrier in divergent control flow
// CHECK-DAG: error: workgroup memory of kernel 'large' is 65536 bytes, exceeding the limit of 49152 bytes

// NO-BARRIERS-NOT: barrier in divergent control flow
// NO-BARRIERS-DAG: error: workgroup memory of kernel 'large' is 65536 bytes, exceeding the limit of 49152 bytes
// NO-BARRIERS-DAG: remark: [Failure] OutOfCapacity | Category:workgroup-verify-kernels | Function=large | Limit=49152, Required=65536
// NO-BARRIERS-NOT: barrier in divergent control flow

// MORE-BYTES-NOT: exceeding the limit
// MORE-BYTES:     error: barrier in divergent control flow
// MORE-BYTES-NOT: exceeding the limit

gpu.module @kernels {
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
