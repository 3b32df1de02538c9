// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-print-accesses)' --verify-diagnostics=only-expected -o /dev/null

// What operations touch that warps and blocks execute together, or that go on
// after them.

gpu.module @blocks {
  // Once by the block: uniform, and of uniform memory.
  gpu.func @copies(%a: memref<64x32xf32>, %f: f32) workgroup(%s: memref<64x32xf32, 3>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %x = gpu.thread_id x
    // expected-remark @+2 {{block reads global memory of %arg0 at 0, 8192 long}}
    // expected-remark @+1 {{block writes workgroup memory of %arg2 at 0, 8192 long}}
    memref.copy %a, %s : memref<64x32xf32> to memref<64x32xf32, 3>
    // expected-remark @+1 {{block writes workgroup memory of %arg2 at 0, 8192 long}}
    linalg.fill ins(%f : f32) outs(%s : memref<64x32xf32, 3>)
    // Each thread its own row.
    %row = memref.subview %s[%x, 0] [1, 32] [1, 1] : memref<64x32xf32, 3> to memref<32xf32, strided<[1], offset: ?>, 3>
    // expected-remark @+1 {{thread writes workgroup memory of %arg2 at 128*%thread_id_x, 128 long; 0 <= %thread_id_x < 64}}
    linalg.fill ins(%f : f32) outs(%row : memref<32xf32, strided<[1], offset: ?>, 3>)
    // Not all threads.
    %c0 = arith.constant 0 : index
    %is_first = arith.cmpi eq, %x, %c0 : index
    scf.if %is_first {
      // expected-remark @+2 {{thread reads global memory of %arg0 at 0, 8192 long}}
      // expected-remark @+1 {{thread writes workgroup memory of %arg2 at 0, 8192 long}}
      memref.copy %a, %s : memref<64x32xf32> to memref<64x32xf32, 3>
    }
    gpu.return
  }
  // What reads the shared memory that it writes is done by every thread.
  // expected-remark @+1 {{%arg0 and %arg1 may overlap}}
  gpu.func @structured(%a: memref<64x32xf32>, %b: memref<32x16xf32>) workgroup(%s: memref<64x16xf32, 3>)
      private(%p: memref<64x16xf32, #gpu.address_space<private>>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    // expected-remark @+4 {{thread reads global memory of %arg0 at 0, 8192 long}}
    // expected-remark @+3 {{thread reads global memory of %arg1 at 0, 2048 long}}
    // expected-remark @+2 {{thread reads workgroup memory of %arg2 at 0, 4096 long}}
    // expected-remark @+1 {{thread writes workgroup memory of %arg2 at 0, 4096 long}}
    linalg.matmul ins(%a, %b : memref<64x32xf32>, memref<32x16xf32>) outs(%s : memref<64x16xf32, 3>)
    // expected-remark @+2 {{thread reads global memory of %arg0 at 0, 8192 long}}
    // expected-remark @+1 {{thread reads global memory of %arg1 at 0, 2048 long}}
    linalg.matmul ins(%a, %b : memref<64x32xf32>, memref<32x16xf32>) outs(%p : memref<64x16xf32, #gpu.address_space<private>>)
    // expected-remark @+2 {{thread reads workgroup memory of %arg2 at 0, 4096 long}}
    // expected-remark @+1 {{thread writes workgroup memory of %arg2 at 0, 4096 long}}
    linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
        ins(%s : memref<64x16xf32, 3>) outs(%s : memref<64x16xf32, 3>) {
    ^bb0(%in: f32, %out: f32):
      %sum = arith.addf %in, %in : f32
      linalg.yield %sum : f32
    }
    gpu.return
  }
  gpu.func @sizes(%a: memref<?x?xf32>, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %A = memref.alloc(%n) : memref<?x32xf32, 3>
    %tile = memref.subview %a[%n, 0] [%n, 32] [1, 1] : memref<?x?xf32> to memref<?x32xf32, strided<[?, 1], offset: ?>>
    // expected-remark @+2 {{block reads global memory of %arg0 at %arg0[%arg1, 0], 32 long, %arg1 times 1 apart along 0}}
    // expected-remark @+1 {{block writes workgroup memory of %alloc at 0, 128 long, %arg1 times 128 apart}}
    memref.copy %tile, %A : memref<?x32xf32, strided<[?, 1], offset: ?>> to memref<?x32xf32, 3>
    %none = memref.subview %A[0, 0] [0, 32] [1, 1] : memref<?x32xf32, 3> to memref<0x32xf32, strided<[32, 1]>, 3>
    memref.copy %none, %none : memref<0x32xf32, strided<[32, 1]>, 3> to memref<0x32xf32, strided<[32, 1]>, 3>
    gpu.return
  }
  gpu.func @rings(%a: memref<8x8xf16>) kernel {
    %ring = workgroup.ring : !workgroup.ring<3 slots of memref<8x8xf16, 3>, memref<8x8xf16, 3>>
    %put:2 = workgroup.put %ring : !workgroup.ring<3 slots of memref<8x8xf16, 3>, memref<8x8xf16, 3>> -> memref<8x8xf16, 3>, memref<8x8xf16, 3>
    // expected-remark @+2 {{block reads async global memory of %arg0 at 0, 128 long}}
    // expected-remark @+1 {{block writes async workgroup memory of %1#0 at 0, 128 long}}
    workgroup.copy %a to %put#0 : memref<8x8xf16> to memref<8x8xf16, 3>
    workgroup.commit %ring : !workgroup.ring<3 slots of memref<8x8xf16, 3>, memref<8x8xf16, 3>>
    %got:2 = workgroup.get %ring : !workgroup.ring<3 slots of memref<8x8xf16, 3>, memref<8x8xf16, 3>> -> memref<8x8xf16, 3>, memref<8x8xf16, 3>
    %c0 = arith.constant 0 : index
    // expected-remark @+1 {{thread reads workgroup memory of %2#1 at 0, 2 long}}
    %v = memref.load %got#1[%c0, %c0] : memref<8x8xf16, 3>
    workgroup.release %ring : !workgroup.ring<3 slots of memref<8x8xf16, 3>, memref<8x8xf16, 3>>
    gpu.return
  }
}

gpu.module @warps {
  gpu.func @matrices(%d: memref<?x?xf16>) workgroup(%s: memref<64x40xf16, 3>) kernel {
    %x = gpu.thread_id x
    %c16 = arith.constant 16 : index
    %c0 = arith.constant 0 : index
    // expected-remark @+1 {{thread reads workgroup memory of %arg1 at 80*%thread_id_x + 32, 16 long; 0 <= %thread_id_x < 64}}
    %rows = nvgpu.ldmatrix %s[%x, %c16] {numTiles = 4 : i32, transpose = false} : memref<64x40xf16, 3> -> vector<4x2xf16>
    // expected-remark @+1 {{warp reads workgroup memory of %arg1 at 1280, 32 long, 16 times 80 apart}}
    %m = gpu.subgroup_mma_load_matrix %s[%c16, %c0] {leadDimension = 40 : index} : memref<64x40xf16, 3> -> !gpu.mma_matrix<16x16xf16, "COp">
    // expected-remark @+1 {{warp writes workgroup memory of %arg1 at 32, 32 long, 16 times 80 apart}}
    gpu.subgroup_mma_store_matrix %m, %s[%c0, %c16] {leadDimension = 40 : index} : !gpu.mma_matrix<16x16xf16, "COp">, memref<64x40xf16, 3>
    // expected-remark @+1 {{warp writes global memory of %arg0 somewhere}}
    gpu.subgroup_mma_store_matrix %m, %d[%c0, %c16] {leadDimension = 40 : index} : !gpu.mma_matrix<16x16xf16, "COp">, memref<?x?xf16>
    gpu.return
  }
}

!group = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>
!map = !nvgpu.tensormap.descriptor<tensor = memref<64x64xf16, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>
gpu.module @asynchronous {
  gpu.func @cp_async(%a: memref<64x32xf32>, %n: index) workgroup(%s: memref<64x32xf32, 3>) kernel {
    %x = gpu.thread_id x
    %c0 = arith.constant 0 : index
    // expected-remark @+2 {{thread reads async global memory of %arg0 at 128*%thread_id_x, 16 long; 0 <= %thread_id_x < 64}}
    // expected-remark @+1 {{thread writes async workgroup memory of %arg2 at 128*%thread_id_x, 16 long; 0 <= %thread_id_x < 64}}
    %token = nvgpu.device_async_copy %a[%x, %c0], %s[%x, %c0], 4 : memref<64x32xf32> to memref<64x32xf32, 3>
    // expected-remark @+2 {{thread reads async global memory of %arg0 at 128*%thread_id_x, 16 long}}
    // expected-remark @+1 {{thread writes async workgroup memory of %arg2 at 128*%thread_id_x, 16 long; 0 <= %thread_id_x < 64}}
    %part = nvgpu.device_async_copy %a[%x, %c0], %s[%x, %c0], 4, %n : memref<64x32xf32> to memref<64x32xf32, 3>
    %group = nvgpu.device_async_create_group %token, %part
    nvgpu.device_async_wait %group {numGroups = 0 : i32}
    gpu.return
  }
  gpu.func @cp_async_of_pointers(%a: !llvm.ptr<1>, %s: !llvm.ptr<3>) kernel {
    // expected-remark @+2 {{thread reads async global memory of %arg0 at 0, 16 long}}
    // expected-remark @+1 {{thread writes async workgroup memory of %arg1 at 0, 16 long}}
    nvvm.cp.async.shared.global %s, %a, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 0
    gpu.return
  }
  gpu.func @tma(%map: !map, %parity: i1) workgroup(%s: memref<64x64xf16, 3>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %bars = nvgpu.mbarrier.create -> !group
    // expected-remark @+1 {{thread writes workgroup memory of %0 at 8, 8 long}}
    nvgpu.mbarrier.init %bars[%c1], %c1 : !group
    // expected-remark @+1 {{thread updates workgroup memory of %0 at 8, 8 long}}
    nvgpu.mbarrier.arrive.expect_tx %bars[%c1], %c1 : !group
    // expected-remark @+3 {{thread reads async global memory of %arg0 at %arg0[}}
    // expected-remark @+2 {{thread writes async workgroup memory of %arg2 at 0, 8192 long}}
    // expected-remark @+1 {{thread updates workgroup memory of %0 at 8, 8 long}}
    nvgpu.tma.async.load %map[%c0, %c0], %bars[%c1] to %s : !map, !group -> memref<64x64xf16, 3>
    // expected-remark @+1 {{thread updates workgroup memory of %0 at 8, 8 long}}
    nvgpu.mbarrier.try_wait.parity %bars[%c1], %parity, %c1 : !group
    // expected-remark @+2 {{thread reads async workgroup memory of %arg2 at 0, 8192 long}}
    // expected-remark @+1 {{thread writes async global memory of %arg0 at %arg0[}}
    nvgpu.tma.async.store %s to %map[%c0, %c0] : memref<64x64xf16, 3> -> !map
    gpu.return
  }
}
