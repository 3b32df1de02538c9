// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-pack-memory,workgroup-hoist-allocs,workgroup-verify-kernels)' -o /dev/null

// What nobody uses has no bytes in the end, and is no reason to refuse a kernel, to
// pack it or to make its memory dynamic.
gpu.module @kernels {
  gpu.func @beside_another(%i: index, %v: f32)
      workgroup(%a: memref<10240xf32, 3>, %unused: memref<10240xf32, 3>) kernel {
    memref.store %v, %a[%i] : memref<10240xf32, 3>
    gpu.return
  }
  gpu.func @alone() workgroup(%unused: memref<65536xf32, 3>) kernel {
    gpu.return
  }
}
