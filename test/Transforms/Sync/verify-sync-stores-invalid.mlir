// RUN: mlir-opt %s --verify-diagnostics --split-input-file --pass-pipeline='builtin.module(workgroup-verify-sync)' -o /dev/null

// Stores by TMA, and what may be missing around them.

!map = !nvgpu.tensormap.descriptor<tensor = memref<128xf32, #gpu.address_space<workgroup>>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!S = memref<2x128xf32, #gpu.address_space<workgroup>>
!tile = memref<128xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>
gpu.module @m {
  // Nobody waits.
  gpu.func @no_wait(%map: !map, %x: f32) workgroup(%S: !S) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c127 = arith.constant 127 : index
    %c128 = arith.constant 128 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %elected = arith.cmpi eq, %t, %c0 : index
    memref.store %x, %S[%c0, %t] : !S
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    gpu.barrier
    scf.if %elected {
      %T = memref.subview %S[%c0, 0] [1, 128] [1, 1] : !S to !tile
      // expected-note @+1 {{the other access: 'nvgpu.tma.async.store' reads in thread (0, 0, 0)}}
      nvgpu.tma.async.store %T to %map[%c0] : !tile -> !map
      nvvm.cp.async.bulk.commit.group
    }
    gpu.barrier
    // expected-error @+1 {{cannot synchronize 'nvgpu.tma.async.store' and 'memref.store' on workgroup memory %arg2: thread (0, 0, 0) writes what thread (0, 0, 0) reads, and nothing waits for the copy}}
    memref.store %x, %S[%c0, %t] : !S
    gpu.return
  }
}

// -----

!map = !nvgpu.tensormap.descriptor<tensor = memref<128xf32, #gpu.address_space<workgroup>>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!S = memref<2x128xf32, #gpu.address_space<workgroup>>
!tile = memref<128xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>
gpu.module @m {
  // A group may be under way.
  gpu.func @one_left(%map: !map, %x: f32) workgroup(%S: !S) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c127 = arith.constant 127 : index
    %c128 = arith.constant 128 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %elected = arith.cmpi eq, %t, %c0 : index
    memref.store %x, %S[%c0, %t] : !S
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    gpu.barrier
    scf.if %elected {
      %T = memref.subview %S[%c0, 0] [1, 128] [1, 1] : !S to !tile
      // expected-note @+1 {{the other access: 'nvgpu.tma.async.store'}}
      nvgpu.tma.async.store %T to %map[%c0] : !tile -> !map
      nvvm.cp.async.bulk.commit.group
      nvvm.cp.async.bulk.wait_group 1 {read}
    }
    gpu.barrier
    // expected-error @+1 {{data race on workgroup memory %arg2: thread (0, 0, 0) writes what thread (0, 0, 0) reads, and no wait for an mbarrier orders them}}
    memref.store %x, %S[%c0, %t] : !S
    gpu.return
  }
}

// -----

!map = !nvgpu.tensormap.descriptor<tensor = memref<128xf32, #gpu.address_space<workgroup>>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!S = memref<2x128xf32, #gpu.address_space<workgroup>>
!tile = memref<128xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>
gpu.module @m {
  // The wait of copies by threads is another one.
  gpu.func @other_wait(%map: !map, %x: f32) workgroup(%S: !S) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c127 = arith.constant 127 : index
    %c128 = arith.constant 128 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %elected = arith.cmpi eq, %t, %c0 : index
    memref.store %x, %S[%c0, %t] : !S
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    gpu.barrier
    scf.if %elected {
      %T = memref.subview %S[%c0, 0] [1, 128] [1, 1] : !S to !tile
      // expected-note @+1 {{the other access: 'nvgpu.tma.async.store' reads in thread (0, 0, 0)}}
      nvgpu.tma.async.store %T to %map[%c0] : !tile -> !map
      nvvm.cp.async.bulk.commit.group
      nvvm.cp.async.wait.group 0
    }
    gpu.barrier
    // expected-error @+1 {{cannot synchronize 'nvgpu.tma.async.store' and 'memref.store' on workgroup memory %arg2: thread (0, 0, 0) writes what thread (0, 0, 0) reads, and nothing waits for the copy}}
    memref.store %x, %S[%c0, %t] : !S
    gpu.return
  }
}

// -----

!map = !nvgpu.tensormap.descriptor<tensor = memref<128xf32, #gpu.address_space<workgroup>>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!S = memref<2x128xf32, #gpu.address_space<workgroup>>
!tile = memref<128xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>
gpu.module @m {
  // The others do not know that it is done.
  gpu.func @no_barrier(%map: !map, %x: f32) workgroup(%S: !S) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c127 = arith.constant 127 : index
    %c128 = arith.constant 128 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %elected = arith.cmpi eq, %t, %c0 : index
    memref.store %x, %S[%c0, %t] : !S
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    gpu.barrier
    scf.if %elected {
      %T = memref.subview %S[%c0, 0] [1, 128] [1, 1] : !S to !tile
      // expected-note @+1 {{the other access: 'nvgpu.tma.async.store' reads}}
      nvgpu.tma.async.store %T to %map[%c0] : !tile -> !map
      nvvm.cp.async.bulk.commit.group
      nvvm.cp.async.bulk.wait_group 0 {read}
    }
    // expected-error @+1 {{data race on workgroup memory %arg2}}
    memref.store %x, %S[%c0, %t] : !S
    gpu.return
  }
}

// -----

!map = !nvgpu.tensormap.descriptor<tensor = memref<128xf32, #gpu.address_space<workgroup>>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!S = memref<2x128xf32, #gpu.address_space<workgroup>>
!tile = memref<128xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>
gpu.module @m {
  // The wait has to come before the barrier.
  gpu.func @late_wait(%map: !map, %x: f32) workgroup(%S: !S) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c127 = arith.constant 127 : index
    %c128 = arith.constant 128 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %elected = arith.cmpi eq, %t, %c0 : index
    memref.store %x, %S[%c0, %t] : !S
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    gpu.barrier
    scf.if %elected {
      %T = memref.subview %S[%c0, 0] [1, 128] [1, 1] : !S to !tile
      // expected-note @+1 {{the other access: 'nvgpu.tma.async.store' reads}}
      nvgpu.tma.async.store %T to %map[%c0] : !tile -> !map
    }
    nvvm.cp.async.bulk.commit.group
    gpu.barrier
    nvvm.cp.async.bulk.wait_group 0 {read}
    // expected-error @+1 {{data race on workgroup memory %arg2}}
    memref.store %x, %S[%c0, %t] : !S
    gpu.return
  }
}

// -----

!map = !nvgpu.tensormap.descriptor<tensor = memref<128xf32, #gpu.address_space<workgroup>>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!S = memref<2x128xf32, #gpu.address_space<workgroup>>
!tile = memref<128xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>
gpu.module @m {
  // TMA may not see what threads have written.
  gpu.func @no_fence(%map: !map, %x: f32) workgroup(%S: !S) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c127 = arith.constant 127 : index
    %c128 = arith.constant 128 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %elected = arith.cmpi eq, %t, %c0 : index
    // expected-note @+1 {{the other access: 'memref.store' writes}}
    memref.store %x, %S[%c0, %t] : !S
    gpu.barrier
    scf.if %elected {
      %T = memref.subview %S[%c0, 0] [1, 128] [1, 1] : !S to !tile
      // expected-warning @+1 {{no proxy fence (nvvm.fence.proxy) tells TMA of the other access}}
      nvgpu.tma.async.store %T to %map[%c0] : !tile -> !map
      nvvm.cp.async.bulk.commit.group
      nvvm.cp.async.bulk.wait_group 0 {read}
    }
    gpu.return
  }
}

// -----

!map = !nvgpu.tensormap.descriptor<tensor = memref<128xf32, #gpu.address_space<workgroup>>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!S = memref<2x128xf32, #gpu.address_space<workgroup>>
!tile = memref<128xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>
gpu.module @m {
  // Nor does the thread that stores know of the fences of others.
  gpu.func @late_fence(%map: !map, %x: f32) workgroup(%S: !S) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c127 = arith.constant 127 : index
    %c128 = arith.constant 128 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %elected = arith.cmpi eq, %t, %c0 : index
    // expected-note @+1 {{the other access: 'memref.store' writes}}
    memref.store %x, %S[%c0, %t] : !S
    gpu.barrier
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    scf.if %elected {
      %T = memref.subview %S[%c0, 0] [1, 128] [1, 1] : !S to !tile
      // expected-warning @+1 {{no barrier comes between the proxy fence (nvvm.fence.proxy) of the one thread and what the other one has TMA do}}
      nvgpu.tma.async.store %T to %map[%c0] : !tile -> !map
      nvvm.cp.async.bulk.commit.group
      nvvm.cp.async.bulk.wait_group 0 {read}
    }
    gpu.return
  }
}

// -----

!map = !nvgpu.tensormap.descriptor<tensor = memref<4x32xf32, #gpu.address_space<workgroup>>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!S = memref<4x32xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  // Tiles of four rows that are three rows apart: blocks store the same row.
  gpu.func @overlapping(%map: !map) workgroup(%S: !S) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 4, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c3 = arith.constant 3 : index
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %elected = arith.cmpi eq, %t, %c0 : index
    %row = arith.muli %b, %c3 : index
    scf.if %elected {
      // expected-warning @+2 {{possible data race on global memory}}
      // expected-note @+1 {{the other access}}
      nvgpu.tma.async.store %S to %map[%c0, %row] : !S -> !map
      nvvm.cp.async.bulk.commit.group
      nvvm.cp.async.bulk.wait_group 0
    }
    gpu.return
  }

  // Four rows apart they do not.
  gpu.func @tiles(%map: !map) workgroup(%S: !S) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 4, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %elected = arith.cmpi eq, %t, %c0 : index
    %row = arith.muli %b, %c4 : index
    scf.if %elected {
      nvgpu.tma.async.store %S to %map[%c0, %row] : !S -> !map
      nvvm.cp.async.bulk.commit.group
      nvvm.cp.async.bulk.wait_group 0
    }
    gpu.return
  }
}
