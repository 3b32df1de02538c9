// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-pack-memory{reuse=auto})' --remarks-filter='workgroup.*' --remark-format=emitRemark --verify-diagnostics -o /dev/null

// What sharing could win, and did not.
gpu.module @kernels {
  // expected-remark @+1 {{[Missed] NotPacked | Category:workgroup-pack-memory | Function=kernel | Bytes=768, LowerBound=512, Reason="no two lives are disjoint, or barriers between them would not pay"}}
  gpu.func @kernel(%i: index, %v: f32)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>, %c: memref<64xf32, 3>) kernel {
    memref.store %v, %a[%i] : memref<64xf32, 3>
    memref.store %v, %c[%i] : memref<64xf32, 3>
    memref.store %v, %a[%i] : memref<64xf32, 3>
    memref.store %v, %b[%i] : memref<64xf32, 3>
    gpu.return
  }
}
