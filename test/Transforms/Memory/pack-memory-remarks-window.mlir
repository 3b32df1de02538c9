// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-pack-memory)' --remarks-filter='workgroup.*' --remark-format=emitRemark --verify-diagnostics -o /dev/null

// What a launch has to ask for, where the program has dynamic memory of its own.

gpu.module @kernels {
  // With dynamic memory of the program's own behind the arena, that comes on top.
  // expected-remark @+2 {{[Passed] PackedKernel}}
  // expected-remark @+1 {{each has to ask for 66560 bytes of dynamic workgroup memory}}
  gpu.func @large_beside_window(%i: index, %v: f32, %w: i8)
      // expected-remark @+1 {{Bytes=65552, Offset=0}}
      workgroup(%a: memref<16388xf32, 3>) kernel {
    %window = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    memref.store %w, %window[%i] : memref<?xi8, #gpu.address_space<workgroup>>
    memref.store %v, %a[%i] : memref<16388xf32, 3>
    gpu.return
  }
}
