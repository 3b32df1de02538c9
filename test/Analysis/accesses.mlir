// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-print-accesses)' --verify-diagnostics=only-expected -o /dev/null

// What each kind of operation touches.

gpu.module @elements {
  gpu.func @loads_and_stores(%a: memref<64x32xf32>) workgroup(%s: memref<128xf32, 3>)
      private(%p: memref<4xf32, #gpu.address_space<private>>) kernel {
    %c1 = arith.constant 1 : index
    %x = gpu.thread_id x
    // expected-remark @+1 {{thread reads global memory of %arg0 at 128*%thread_id_x + 4, 4 long; 0 <= %thread_id_x + 0 < 64}}
    %v = memref.load %a[%x, %c1] : memref<64x32xf32>
    // expected-remark @+1 {{thread writes workgroup memory of %arg1 at 4*%thread_id_x + 0, 4 long; 0 <= %thread_id_x + 0 < 128}}
    memref.store %v, %s[%x] : memref<128xf32, 3>
    // Nobody else can reach it.
    memref.store %v, %p[%c1] : memref<4xf32, #gpu.address_space<private>>
    // expected-remark @+1 {{thread updates workgroup memory of %arg1 at 4, 4 long}}
    %old = memref.atomic_rmw addf %v, %s[%c1] : (f32, memref<128xf32, 3>) -> f32
    // expected-remark @+1 {{thread updates workgroup memory of %arg1 at 4*%thread_id_x}}
    %new = memref.generic_atomic_rmw %s[%x] : memref<128xf32, 3> {
    ^bb0(%current: f32):
      memref.atomic_yield %current : f32
    }
    gpu.return
  }
}
