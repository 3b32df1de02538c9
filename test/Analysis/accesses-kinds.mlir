// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-print-accesses)' --verify-diagnostics -o /dev/null

// Each kind of operation that the table of effects knows, with all that it accesses:
// what is not said here would be an error.

!bar = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 2>
!map = !nvgpu.tensormap.descriptor<tensor = memref<16x32xf32, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!tile = !nvgpu.tensormap.descriptor<tensor = memref<64x64xf16, 3>, swizzle = swizzle_128b, l2promo = none, oob = zero, interleave = none>
!descriptor = !nvgpu.warpgroup.descriptor<tensor = memref<64x64xf16, 3>>
!ring = !workgroup.ring<2 slots of memref<4xf32, 3>>

gpu.module @no_access {
  // Makes memory, asks how large it is, fetches it to a cache, or describes it.
  gpu.func @storage(%a: memref<64xf32>) workgroup(%s: memref<64x64xf16, 3>) kernel {
    %c0 = arith.constant 0 : index
    %own = memref.alloca() : memref<4xf32>
    %tile = memref.alloc() : memref<64xf32, 3>
    %dynamic = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %size = memref.dim %a, %c0 : memref<64xf32>
    %mbarriers = nvgpu.mbarrier.create -> !bar
    %ring = workgroup.ring : !ring
    memref.prefetch %a[%c0], read, locality<3>, data : memref<64xf32>
    affine.prefetch %a[0], read, locality<3>, data : memref<64xf32>
    memref.dealloc %tile : memref<64xf32, 3>
    gpu.return
  }

  gpu.func @descriptors(%map: !tile) workgroup(%s: memref<64x64xf16, 3>) kernel {
    nvgpu.tma.prefetch.descriptor %map : !tile
    nvgpu.tma.fence.descriptor %map : !tile
    %0 = nvgpu.warpgroup.generate.descriptor %s, %map : memref<64x64xf16, 3>, !tile -> !descriptor
    gpu.return
  }

  // Changes registers, waits, or tells the host something.
  gpu.func @of_one_thread(%x: index, %holds: i1, %time: i32) kernel {
    %0 = nvgpu.warpgroup.mma.init.accumulator -> !nvgpu.warpgroup.accumulator<fragmented = vector<64x64xf32>>
    nvvm.setmaxregister increase 232
    nvvm.nanosleep %time
    gpu.printf "%d", %x : index
    cf.assert %holds, "holds"
    gpu.return
  }

  gpu.func @exchanges(%v: f32, %i: i32, %p: i1) kernel {
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %mask = arith.constant -1 : i32
    %0, %1 = gpu.shuffle xor %v, %c1, %c32 : f32
    %2 = gpu.subgroup_reduce add %v : (f32) -> f32
    %3 = gpu.all_reduce add %v {} : (f32) -> f32
    %4 = nvvm.shfl.sync bfly %mask, %v, %c1, %c32 : f32 -> f32
    %5 = nvvm.vote.sync ballot %mask, %p -> i32
    %6 = nvvm.match.sync any %mask, %i : i32 -> i32
    %7 = nvvm.redux.sync add %i, %mask : i32 -> i32
    %8 = nvvm.elect.sync -> i1
    gpu.return
  }

  gpu.func @barriers() kernel {
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %mask = arith.constant -1 : i32
    gpu.barrier
    nvvm.barrier0
    nvvm.barrier id = %c1 number_of_threads = %c32
    nvvm.barrier.arrive id = %c1 number_of_threads = %c32
    nvvm.bar.warp.sync %mask : i32
    nvvm.cluster.arrive
    nvvm.cluster.arrive.relaxed
    nvvm.cluster.wait
    gpu.return
  }

  gpu.func @fences() kernel {
    nvvm.memory.barrier <gpu>
    nvvm.fence.sc.cluster
    llvm.fence syncscope("block") release
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    nvvm.fence.mbarrier.init
    nvvm.wgmma.fence.aligned
    gpu.return
  }

  gpu.func @groups() kernel {
    %0 = nvgpu.device_async_create_group
    nvgpu.device_async_wait %0
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 0
    nvvm.cp.async.bulk.commit.group
    nvvm.cp.async.bulk.wait_group 0
    nvvm.wgmma.commit.group.sync.aligned
    nvvm.wgmma.wait.group.sync.aligned 0
    gpu.return
  }
}

gpu.module @mbarriers {
  gpu.func @by_group() kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %false = arith.constant false
    %bar = nvgpu.mbarrier.create -> !bar
    // expected-remark @+1 {{thread writes workgroup memory of %0 at 0, 8 long}}
    nvgpu.mbarrier.init %bar[%c0], %c64 : !bar
    // expected-remark @+1 {{thread updates workgroup memory of %0 at 0, 8 long}}
    %token = nvgpu.mbarrier.arrive %bar[%c0] : !bar -> !nvgpu.mbarrier.token
    // expected-remark @+1 {{thread updates workgroup memory of %0 at 0, 8 long}}
    nvgpu.mbarrier.arrive.expect_tx %bar[%c0], %c64 : !bar
    // expected-remark @+1 {{thread updates workgroup memory of %0 at 0, 8 long}}
    %passed = nvgpu.mbarrier.test.wait %bar[%c0], %token : !bar, !nvgpu.mbarrier.token
    // expected-remark @+1 {{thread updates workgroup memory of %0 at 0, 8 long}}
    nvgpu.mbarrier.try_wait.parity %bar[%c0], %false, %c64 : !bar
    gpu.return
  }

  gpu.func @by_pointer(%p: !llvm.ptr<3>, %count: i32) kernel {
    // expected-remark @+1 {{thread writes workgroup memory of %arg0 somewhere}}
    nvvm.mbarrier.init %p, %count : !llvm.ptr<3>, i32
    // expected-remark @+1 {{thread updates workgroup memory of %arg0 somewhere}}
    %0 = nvvm.mbarrier.arrive %p : !llvm.ptr<3> -> i64
    // expected-remark @+1 {{thread updates workgroup memory of %arg0 somewhere}}
    %1 = nvvm.mbarrier.arrive_drop %p : !llvm.ptr<3> -> i64
    // expected-remark @+1 {{thread updates workgroup memory of %arg0 somewhere}}
    nvvm.mbarrier.expect_tx %p, %count : !llvm.ptr<3>, i32
    // expected-remark @+1 {{thread updates workgroup memory of %arg0 somewhere}}
    nvvm.mbarrier.complete_tx %p, %count : !llvm.ptr<3>, i32
    // expected-remark @+1 {{thread updates workgroup memory of %arg0 somewhere}}
    nvvm.cp.async.mbarrier.arrive %p : !llvm.ptr<3>
    // expected-remark @+1 {{thread updates workgroup memory of %arg0 somewhere}}
    %2 = nvvm.mbarrier.test.wait %p, %0 : !llvm.ptr<3>, i64 -> i1
    // expected-remark @+1 {{thread writes workgroup memory of %arg0 somewhere}}
    nvvm.mbarrier.inval %p : !llvm.ptr<3>
    gpu.return
  }
}

gpu.module @accesses {
  gpu.func @synchronous(%a: memref<64xf32>) workgroup(%h: memref<16x16xf16, 3>) kernel {
    %c0 = arith.constant 0 : index
    // expected-remark @+1 {{thread reads global memory of %arg0 at 0, 4 long}}
    %v = memref.load %a[%c0] : memref<64xf32>
    // expected-remark @+1 {{thread updates global memory of %arg0 at 0, 4 long}}
    %old = memref.atomic_rmw addf %v, %a[%c0] : (f32, memref<64xf32>) -> f32
    // expected-remark @+1 {{thread reads workgroup memory of %arg1 at 0, 16 long}}
    %rows = nvgpu.ldmatrix %h[%c0, %c0] {numTiles = 1 : i32, transpose = false} : memref<16x16xf16, 3> -> vector<1x2xf16>
    gpu.return
  }

  gpu.func @copies(%a: memref<64xf32>) workgroup(%s: memref<64xf32, 3>) kernel {
    %c0 = arith.constant 0 : index
    // expected-remark @+2 {{thread reads async global memory of %arg0 at 0, 4 long}}
    // expected-remark @+1 {{thread writes async workgroup memory of %arg1 at 0, 4 long}}
    %0 = nvgpu.device_async_copy %a[%c0], %s[%c0], 1 : memref<64xf32> to memref<64xf32, 3>
    gpu.return
  }

  gpu.func @tiles(%map: !map) workgroup(%t: memref<16x32xf32, 3>) kernel {
    %c0 = arith.constant 0 : index
    %bar = nvgpu.mbarrier.create -> !bar
    // expected-remark @+3 {{thread reads async global memory of %arg0 at %arg0[0, 0], 32 long, 16 times 1 apart along 0}}
    // expected-remark @+2 {{thread writes async workgroup memory of %arg1 at 0, 2048 long}}
    // expected-remark @+1 {{thread updates workgroup memory of %0 at 0, 8 long}}
    nvgpu.tma.async.load %map[%c0, %c0], %bar[%c0] to %t : !map, !bar -> memref<16x32xf32, 3>
    // expected-remark @+2 {{thread reads async workgroup memory of %arg1 at 0, 2048 long}}
    // expected-remark @+1 {{thread writes async global memory of %arg0 at %arg0[0, 0], 32 long, 16 times 1 apart along 0}}
    nvgpu.tma.async.store %t to %map[%c0, %c0] : memref<16x32xf32, 3> -> !map
    gpu.return
  }

  // Whatever there is.
  gpu.func @assembly() kernel {
    // expected-remark @+2 {{thread reads any memory of anything somewhere}}
    // expected-remark @+1 {{thread writes any memory of anything somewhere}}
    llvm.inline_asm has_side_effects "", "" : () -> ()
    gpu.return
  }
}
