// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-pack-memory{dynamic=never max-static-bytes=300})' --remarks-filter='workgroup-pack-memory' --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s

// The remark that goes with the error of a kernel that wants too much.

// CHECK-DAG: error: workgroup memory of kernel 'kernel' is 512 bytes, exceeding the limit of 300 bytes
// CHECK-DAG: remark: [Failure] OutOfCapacity | Category:workgroup-pack-memory | Function=kernel | Limit=300, Required=512
gpu.module @kernels {
  gpu.func @kernel(%i: index, %v: f32)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    memref.store %v, %a[%i] : memref<64xf32, 3>
    memref.store %v, %b[%i] : memref<64xf32, 3>
    memref.store %v, %a[%i] : memref<64xf32, 3>
    gpu.return
  }
}
