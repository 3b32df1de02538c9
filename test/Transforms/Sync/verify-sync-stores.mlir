// RUN: mlir-opt %s --verify-diagnostics --pass-pipeline='builtin.module(workgroup-verify-sync)' -o /dev/null

// Stores by TMA: they are of groups, and what they have read is waited for. 128 threads.

!map = !nvgpu.tensormap.descriptor<tensor = memref<128xf32, #gpu.address_space<workgroup>>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!halves = !nvgpu.tensormap.descriptor<tensor = memref<16x64xf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = none, oob = zero, interleave = none>
!slot = memref<16x64xf16, #gpu.address_space<workgroup>>
!S = memref<2x128xf32, #gpu.address_space<workgroup>>
!tile = memref<128xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>

gpu.module @m {
  // One thread stores what all have written, and waits until it is read.
  gpu.func @once(%map: !map, %x: f32, %n: index) workgroup(%S: !S) kernel
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
      nvgpu.tma.async.store %T to %map[%c0] : !tile -> !map
      nvvm.cp.async.bulk.commit.group
      nvvm.cp.async.bulk.wait_group 0 {read}
    }
    gpu.barrier
    memref.store %x, %S[%c0, %t] : !S
    gpu.return
  }

  // The same, waited for by all: the others have nothing to wait for.
  gpu.func @wait_of_all(%map: !map, %x: f32, %n: index) workgroup(%S: !S) kernel
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
      nvgpu.tma.async.store %T to %map[%c0] : !tile -> !map
    }
    nvvm.cp.async.bulk.commit.group
    nvvm.cp.async.bulk.wait_group 0 {read}
    gpu.barrier
    memref.store %x, %S[%c0, %t] : !S
    gpu.return
  }

  // Two slots: before an iteration begins to write, the store of the iteration before the last has been read.
  gpu.func @ring(%map: !map, %x: f32, %n: index) workgroup(%S: !S) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c127 = arith.constant 127 : index
    %c128 = arith.constant 128 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %elected = arith.cmpi eq, %t, %c0 : index
    scf.for %i = %c0 to %n step %c1 {
      %slot = arith.remui %i, %c2 : index
      memref.store %x, %S[%slot, %t] : !S
      nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
      nvvm.cp.async.bulk.wait_group 0 {read}
      gpu.barrier
      %at = arith.muli %i, %c128 : index
      scf.if %elected {
        %T = memref.subview %S[%slot, 0] [1, 128] [1, 1] : !S to !tile
        // Each iteration stores a part of its own.
        nvgpu.tma.async.store %T to %map[%at] : !tile -> !map
      }
      nvvm.cp.async.bulk.commit.group
    }
    gpu.return
  }

  // What was stored is read when all of it is done.
  gpu.func @whole(%map: !map, %x: f32, %n: index) workgroup(%S: !S) kernel
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
      nvgpu.tma.async.store %T to %map[%c0] : !tile -> !map
      nvvm.cp.async.bulk.commit.group
      nvvm.cp.async.bulk.wait_group 0
    }
    gpu.barrier
    memref.store %x, %S[%c0, %t] : !S
    gpu.return
  }

  // Warps that go their own way store from slots of their own, again and again: each waits for what
  // its own first lane has begun.
  gpu.func @of_warps(%map: !halves, %pair: vector<2xf16>, %n: index) workgroup(%S: memref<8192xi8, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 160, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %c2048 = arith.constant 2048 : index
    %all = arith.constant -1 : i32
    %t = gpu.thread_id x
    %warp = arith.divui %t, %c32 : index
    %lane = arith.remui %t, %c32 : index
    %leads = arith.cmpi eq, %lane, %c0 : index
    %row = arith.divui %lane, %c4 : index
    %quad = arith.remui %lane, %c4 : index
    %column = arith.muli %quad, %c2 : index
    %shift = arith.muli %warp, %c2048 : index
    %isIn = arith.cmpi ult, %t, %c128 : index
    scf.if %isIn {
      scf.for %i = %c0 to %n step %c1 {
        nvvm.cp.async.bulk.wait_group 0 {read}
        nvvm.bar.warp.sync %all : i32
        %slot = memref.view %S[%shift][] : memref<8192xi8, #gpu.address_space<workgroup>> to !slot
        vector.store %pair, %slot[%row, %column] : !slot, vector<2xf16>
        nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
        nvvm.bar.warp.sync %all : i32
        scf.if %leads {
          %x = arith.muli %i, %c64 : index
          %y = arith.muli %warp, %c16 : index
          nvgpu.tma.async.store %slot to %map[%x, %y] : !slot -> !halves
        }
        nvvm.cp.async.bulk.commit.group
      }
      nvvm.cp.async.bulk.wait_group 0
    }
    gpu.return
  }
}
