// Mbarriers by which warps hand slots to each other, wrong: who races with whom, and
// who waits for ever.

// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-verify-sync)' --verify-diagnostics -o /dev/null

// Nobody waits until the slot is full.
#wg = #gpu.address_space<workgroup>
gpu.module @kernels {
  gpu.func @ring(%map: !nvgpu.tensormap.descriptor<tensor = memref<8x32xf32, #wg>, swizzle = none, l2promo = none, oob = zero, interleave = none>, %sums: memref<2x32xf32> {llvm.noalias}, %n: index)
      workgroup(%w: memref<3x8x32xf32, #wg>)
      kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %tx = gpu.thread_id x
    %bx = gpu.block_id x
    %zero = arith.constant 0.0 : f32
    %odd = arith.constant true
    %even = arith.constant false
    %all = arith.constant -1 : i32
    %bytes = arith.constant 1024 : index
    %ticks = arith.constant 10000000 : index
    %full_count = arith.constant 1 : index
    %empty_count = arith.constant 1 : index
    %lane = arith.remui %tx, %c32 : index
    %warp = arith.divui %tx, %c32 : index
    %leads = arith.cmpi eq, %lane, %c0 : index
    %first = arith.cmpi eq, %tx, %c0 : index
    %full = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
    %empty = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
    scf.if %first {
      scf.for %j = %c0 to %c3 step %c1 {
        nvgpu.mbarrier.init %full[%j], %full_count : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        nvgpu.mbarrier.init %empty[%j], %empty_count : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
      }
      nvvm.fence.mbarrier.init
    }
    gpu.barrier
    %start = arith.muli %bx, %n : index
    %is_producer = arith.cmpi eq, %warp, %c1 : index
    scf.if %is_producer {
      %chosen = arith.andi %is_producer, %leads : i1
      scf.if %chosen {
      scf.for %kp = %c0 to %n step %c1 {
        %slotp = arith.remui %kp, %c3 : index
        %roundp = arith.divui %kp, %c3 : index
        %bitp = arith.remui %roundp, %c2 : index
        %parp = arith.index_cast %bitp : index to i1
        %phasep = arith.xori %parp, %odd : i1
        // expected-note @below {{this does not wait there: the parity is that of a phase that is over}}
        // expected-warning @below {{possible data race on workgroup memory: 'nvgpu.mbarrier.try_wait.parity' may miss the phase that it waits for, as the next one may end before}}
        nvgpu.mbarrier.try_wait.parity %empty[%slotp], %phasep, %ticks : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        // expected-warning @below {{possible data race on workgroup memory: more threads may arrive by 'nvgpu.mbarrier.arrive.expect_tx' than a phase of the mbarrier counts, which ends before others have arrived}}
        nvgpu.mbarrier.arrive.expect_tx %full[%slotp], %bytes : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        %tile = memref.subview %w[%slotp, 0, 0] [1, 8, 32] [1, 1, 1] : memref<3x8x32xf32, #wg> to memref<8x32xf32, strided<[32, 1], offset: ?>, #wg>
        %number = arith.addi %start, %kp : index
        %row = arith.muli %number, %c8 : index
        // expected-error @below {{data race on workgroup memory %arg3: thread (32, 0, 0) writes what thread (32, 0, 0) writes in iteration 3 of its loops, counted from 0, and no wait for an mbarrier orders them}}
        // expected-note @below {{the other access: 'nvgpu.tma.async.load' in iteration 0 of its loops, counted from 0}}
        // expected-error @below {{data race on workgroup memory %arg3: thread (32, 0, 0) writes what thread (0, 0, 0) reads in iteration 0 of its loops, counted from 0, and no wait for an mbarrier orders them}}
        // expected-warning @below {{possible data race on workgroup memory: 'nvgpu.tma.async.load' brings bytes that are not announced for a phase of its mbarrier, which may end before they are there}}
        nvgpu.tma.async.load %map[%c0, %row], %full[%slotp] to %tile
            : !nvgpu.tensormap.descriptor<tensor = memref<8x32xf32, #wg>, swizzle = none, l2promo = none, oob = zero, interleave = none>, !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3> -> memref<8x32xf32, strided<[32, 1], offset: ?>, #wg>
      }
      }
    } else {
      %from = arith.muli %warp, %c8 : index
      %to = arith.addi %from, %c8 : index
      %before = arith.addf %zero, %zero : f32
      %rc:1 = scf.for %kc = %c0 to %n step %c1 iter_args(%sum = %before) -> (f32) {
        %slotc = arith.remui %kc, %c3 : index
        %roundc = arith.divui %kc, %c3 : index
        %bitc = arith.remui %roundc, %c2 : index
        %parc = arith.index_cast %bitc : index to i1
        %phasec = arith.xori %parc, %even : i1
        %new = scf.for %i = %from to %to step %c1 iter_args(%part = %sum) -> f32 {
          // expected-note @below {{the other access: 'memref.load' in iteration 0 of its loops, counted from 0}}
          %x = memref.load %w[%slotc, %i, %lane] : memref<3x8x32xf32, #wg>
          %more = arith.addf %part, %x : f32
          scf.yield %more : f32
        }
        nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
        nvvm.bar.warp.sync %all : i32
        scf.if %leads {
          // expected-warning @below {{possible data race on workgroup memory: more threads may arrive by 'nvgpu.mbarrier.arrive' than a phase of the mbarrier counts, which ends before others have arrived}}
          %tokenc = nvgpu.mbarrier.arrive %empty[%slotc] : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3> -> !nvgpu.mbarrier.token
        }
        scf.yield %new : f32
      }
      memref.store %rc#0, %sums[%bx, %tx] : memref<2x32xf32>
    }
    gpu.return
  }
}

// -----

// The slot is filled again while it is read.
#wg = #gpu.address_space<workgroup>
gpu.module @kernels {
  gpu.func @ring(%map: !nvgpu.tensormap.descriptor<tensor = memref<8x32xf32, #wg>, swizzle = none, l2promo = none, oob = zero, interleave = none>, %sums: memref<2x32xf32> {llvm.noalias}, %n: index)
      workgroup(%w: memref<3x8x32xf32, #wg>)
      kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %tx = gpu.thread_id x
    %bx = gpu.block_id x
    %zero = arith.constant 0.0 : f32
    %odd = arith.constant true
    %even = arith.constant false
    %all = arith.constant -1 : i32
    %bytes = arith.constant 1024 : index
    %ticks = arith.constant 10000000 : index
    %full_count = arith.constant 1 : index
    %empty_count = arith.constant 1 : index
    %lane = arith.remui %tx, %c32 : index
    %warp = arith.divui %tx, %c32 : index
    %leads = arith.cmpi eq, %lane, %c0 : index
    %first = arith.cmpi eq, %tx, %c0 : index
    %full = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
    %empty = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
    scf.if %first {
      scf.for %j = %c0 to %c3 step %c1 {
        nvgpu.mbarrier.init %full[%j], %full_count : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        nvgpu.mbarrier.init %empty[%j], %empty_count : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
      }
      nvvm.fence.mbarrier.init
    }
    gpu.barrier
    %start = arith.muli %bx, %n : index
    %is_producer = arith.cmpi eq, %warp, %c1 : index
    scf.if %is_producer {
      %chosen = arith.andi %is_producer, %leads : i1
      scf.if %chosen {
      scf.for %kp = %c0 to %n step %c1 {
        %slotp = arith.remui %kp, %c3 : index
        %roundp = arith.divui %kp, %c3 : index
        %bitp = arith.remui %roundp, %c2 : index
        %parp = arith.index_cast %bitp : index to i1
        %phasep = arith.xori %parp, %odd : i1
        // expected-warning @below {{possible data race on workgroup memory: more threads may arrive by 'nvgpu.mbarrier.arrive.expect_tx' than a phase of the mbarrier counts, which ends before others have arrived}}
        nvgpu.mbarrier.arrive.expect_tx %full[%slotp], %bytes : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        %tile = memref.subview %w[%slotp, 0, 0] [1, 8, 32] [1, 1, 1] : memref<3x8x32xf32, #wg> to memref<8x32xf32, strided<[32, 1], offset: ?>, #wg>
        %number = arith.addi %start, %kp : index
        %row = arith.muli %number, %c8 : index
        // expected-error @below {{data race on workgroup memory %arg3: thread (32, 0, 0) writes what thread (32, 0, 0) writes in iteration 3 of its loops, counted from 0, and no wait for an mbarrier orders them}}
        // expected-note @below {{the other access: 'nvgpu.tma.async.load' in iteration 0 of its loops, counted from 0}}
        // expected-error @below {{data race on workgroup memory %arg3: thread (32, 0, 0) writes what thread (0, 0, 0) reads in iteration 3 of its loops, counted from 0, and no wait for an mbarrier orders them}}
        // expected-warning @below {{possible data race on workgroup memory: 'nvgpu.tma.async.load' brings bytes that are not announced for a phase of its mbarrier, which may end before they are there}}
        nvgpu.tma.async.load %map[%c0, %row], %full[%slotp] to %tile
            : !nvgpu.tensormap.descriptor<tensor = memref<8x32xf32, #wg>, swizzle = none, l2promo = none, oob = zero, interleave = none>, !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3> -> memref<8x32xf32, strided<[32, 1], offset: ?>, #wg>
      }
      }
    } else {
      %from = arith.muli %warp, %c8 : index
      %to = arith.addi %from, %c8 : index
      %before = arith.addf %zero, %zero : f32
      %rc:1 = scf.for %kc = %c0 to %n step %c1 iter_args(%sum = %before) -> (f32) {
        %slotc = arith.remui %kc, %c3 : index
        %roundc = arith.divui %kc, %c3 : index
        %bitc = arith.remui %roundc, %c2 : index
        %parc = arith.index_cast %bitc : index to i1
        %phasec = arith.xori %parc, %even : i1
        // expected-warning @below {{possible data race on workgroup memory: 'nvgpu.mbarrier.try_wait.parity' may miss the phase that it waits for, as the next one may end before}}
        nvgpu.mbarrier.try_wait.parity %full[%slotc], %phasec, %ticks : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        %new = scf.for %i = %from to %to step %c1 iter_args(%part = %sum) -> f32 {
          // expected-note @below {{the other access: 'memref.load' in iteration 0 of its loops, counted from 0}}
          %x = memref.load %w[%slotc, %i, %lane] : memref<3x8x32xf32, #wg>
          %more = arith.addf %part, %x : f32
          scf.yield %more : f32
        }
        nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
        nvvm.bar.warp.sync %all : i32
        scf.if %leads {
          // expected-warning @below {{possible data race on workgroup memory: more threads may arrive by 'nvgpu.mbarrier.arrive' than a phase of the mbarrier counts, which ends before others have arrived}}
          %tokenc = nvgpu.mbarrier.arrive %empty[%slotc] : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3> -> !nvgpu.mbarrier.token
        }
        scf.yield %new : f32
      }
      memref.store %rc#0, %sums[%bx, %tx] : memref<2x32xf32>
    }
    gpu.return
  }
}

// -----

// The first wait is for a phase that is over already.
#wg = #gpu.address_space<workgroup>
gpu.module @kernels {
  gpu.func @ring(%map: !nvgpu.tensormap.descriptor<tensor = memref<8x32xf32, #wg>, swizzle = none, l2promo = none, oob = zero, interleave = none>, %sums: memref<2x32xf32> {llvm.noalias}, %n: index)
      workgroup(%w: memref<3x8x32xf32, #wg>)
      kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %tx = gpu.thread_id x
    %bx = gpu.block_id x
    %zero = arith.constant 0.0 : f32
    %odd = arith.constant true
    %even = arith.constant true
    %all = arith.constant -1 : i32
    %bytes = arith.constant 1024 : index
    %ticks = arith.constant 10000000 : index
    %full_count = arith.constant 1 : index
    %empty_count = arith.constant 1 : index
    %lane = arith.remui %tx, %c32 : index
    %warp = arith.divui %tx, %c32 : index
    %leads = arith.cmpi eq, %lane, %c0 : index
    %first = arith.cmpi eq, %tx, %c0 : index
    %full = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
    %empty = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
    scf.if %first {
      scf.for %j = %c0 to %c3 step %c1 {
        nvgpu.mbarrier.init %full[%j], %full_count : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        nvgpu.mbarrier.init %empty[%j], %empty_count : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
      }
      nvvm.fence.mbarrier.init
    }
    gpu.barrier
    %start = arith.muli %bx, %n : index
    %is_producer = arith.cmpi eq, %warp, %c1 : index
    scf.if %is_producer {
      %chosen = arith.andi %is_producer, %leads : i1
      scf.if %chosen {
      scf.for %kp = %c0 to %n step %c1 {
        %slotp = arith.remui %kp, %c3 : index
        %roundp = arith.divui %kp, %c3 : index
        %bitp = arith.remui %roundp, %c2 : index
        %parp = arith.index_cast %bitp : index to i1
        %phasep = arith.xori %parp, %odd : i1
        // expected-note @below {{this does not wait there: the parity is that of a phase that is over}}
        // expected-warning @below {{possible data race on workgroup memory: 'nvgpu.mbarrier.try_wait.parity' may miss the phase that it waits for, as the next one may end before}}
        nvgpu.mbarrier.try_wait.parity %empty[%slotp], %phasep, %ticks : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        // expected-warning @below {{possible data race on workgroup memory: more threads may arrive by 'nvgpu.mbarrier.arrive.expect_tx' than a phase of the mbarrier counts, which ends before others have arrived}}
        nvgpu.mbarrier.arrive.expect_tx %full[%slotp], %bytes : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        %tile = memref.subview %w[%slotp, 0, 0] [1, 8, 32] [1, 1, 1] : memref<3x8x32xf32, #wg> to memref<8x32xf32, strided<[32, 1], offset: ?>, #wg>
        %number = arith.addi %start, %kp : index
        %row = arith.muli %number, %c8 : index
        // expected-warning @below {{possible data race on workgroup memory %arg3: different threads may touch the same bytes, and no barrier is between; it is not known when the asynchronous operation is done}}
        // expected-note @below {{the other access: 'nvgpu.tma.async.load' writes}}
        // expected-error @below {{data race on workgroup memory %arg3: thread (32, 0, 0) writes what thread (0, 0, 0) reads in iteration 0 of its loops, counted from 0, and no wait for an mbarrier orders them}}
        // expected-warning @below {{possible data race on workgroup memory: 'nvgpu.tma.async.load' brings bytes that are not announced for a phase of its mbarrier, which may end before they are there}}
        nvgpu.tma.async.load %map[%c0, %row], %full[%slotp] to %tile
            : !nvgpu.tensormap.descriptor<tensor = memref<8x32xf32, #wg>, swizzle = none, l2promo = none, oob = zero, interleave = none>, !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3> -> memref<8x32xf32, strided<[32, 1], offset: ?>, #wg>
      }
      }
    } else {
      %from = arith.muli %warp, %c8 : index
      %to = arith.addi %from, %c8 : index
      %before = arith.addf %zero, %zero : f32
      %rc:1 = scf.for %kc = %c0 to %n step %c1 iter_args(%sum = %before) -> (f32) {
        %slotc = arith.remui %kc, %c3 : index
        %roundc = arith.divui %kc, %c3 : index
        %bitc = arith.remui %roundc, %c2 : index
        %parc = arith.index_cast %bitc : index to i1
        %phasec = arith.xori %parc, %even : i1
        // expected-note @below {{this does not wait there: the parity is that of a phase that is over}}
        // expected-warning @below {{possible data race on workgroup memory: 'nvgpu.mbarrier.try_wait.parity' may miss the phase that it waits for, as the next one may end before}}
        nvgpu.mbarrier.try_wait.parity %full[%slotc], %phasec, %ticks : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        %new = scf.for %i = %from to %to step %c1 iter_args(%part = %sum) -> f32 {
          // expected-note @below {{the other access: 'memref.load' in iteration 0 of its loops, counted from 0}}
          %x = memref.load %w[%slotc, %i, %lane] : memref<3x8x32xf32, #wg>
          %more = arith.addf %part, %x : f32
          scf.yield %more : f32
        }
        nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
        nvvm.bar.warp.sync %all : i32
        scf.if %leads {
          // expected-warning @below {{possible data race on workgroup memory: more threads may arrive by 'nvgpu.mbarrier.arrive' than a phase of the mbarrier counts, which ends before others have arrived}}
          %tokenc = nvgpu.mbarrier.arrive %empty[%slotc] : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3> -> !nvgpu.mbarrier.token
        }
        scf.yield %new : f32
      }
      memref.store %rc#0, %sums[%bx, %tx] : memref<2x32xf32>
    }
    gpu.return
  }
}

// -----

// The first slots are waited for as if somebody had read them.
#wg = #gpu.address_space<workgroup>
gpu.module @kernels {
  gpu.func @ring(%map: !nvgpu.tensormap.descriptor<tensor = memref<8x32xf32, #wg>, swizzle = none, l2promo = none, oob = zero, interleave = none>, %sums: memref<2x32xf32> {llvm.noalias}, %n: index)
      workgroup(%w: memref<3x8x32xf32, #wg>)
      kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %tx = gpu.thread_id x
    %bx = gpu.block_id x
    %zero = arith.constant 0.0 : f32
    %odd = arith.constant false
    %even = arith.constant false
    %all = arith.constant -1 : i32
    %bytes = arith.constant 1024 : index
    %ticks = arith.constant 10000000 : index
    %full_count = arith.constant 1 : index
    %empty_count = arith.constant 1 : index
    %lane = arith.remui %tx, %c32 : index
    %warp = arith.divui %tx, %c32 : index
    %leads = arith.cmpi eq, %lane, %c0 : index
    %first = arith.cmpi eq, %tx, %c0 : index
    %full = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
    %empty = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
    scf.if %first {
      scf.for %j = %c0 to %c3 step %c1 {
        nvgpu.mbarrier.init %full[%j], %full_count : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        nvgpu.mbarrier.init %empty[%j], %empty_count : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
      }
      nvvm.fence.mbarrier.init
    }
    gpu.barrier
    %start = arith.muli %bx, %n : index
    %is_producer = arith.cmpi eq, %warp, %c1 : index
    scf.if %is_producer {
      %chosen = arith.andi %is_producer, %leads : i1
      scf.if %chosen {
      scf.for %kp = %c0 to %n step %c1 {
        %slotp = arith.remui %kp, %c3 : index
        %roundp = arith.divui %kp, %c3 : index
        %bitp = arith.remui %roundp, %c2 : index
        %parp = arith.index_cast %bitp : index to i1
        %phasep = arith.xori %parp, %odd : i1
        // expected-error @below {{deadlock: 'nvgpu.mbarrier.try_wait.parity' waits for ever: phase 0 of the mbarrier, counted from 0, misses 1 arrival}}
        nvgpu.mbarrier.try_wait.parity %empty[%slotp], %phasep, %ticks : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        nvgpu.mbarrier.arrive.expect_tx %full[%slotp], %bytes : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        %tile = memref.subview %w[%slotp, 0, 0] [1, 8, 32] [1, 1, 1] : memref<3x8x32xf32, #wg> to memref<8x32xf32, strided<[32, 1], offset: ?>, #wg>
        %number = arith.addi %start, %kp : index
        %row = arith.muli %number, %c8 : index
        // expected-warning @below {{possible data race on workgroup memory %arg3: different threads may touch the same bytes, and no barrier is between; it is not known when the asynchronous operation is done}}
        // expected-note @below {{the other access: 'nvgpu.tma.async.load' writes}}
        // expected-warning @below {{possible data race on workgroup memory %arg3: different threads may touch the same bytes, and no barrier is between; no proxy fence (nvvm.fence.proxy) tells TMA of the other access}}
        nvgpu.tma.async.load %map[%c0, %row], %full[%slotp] to %tile
            : !nvgpu.tensormap.descriptor<tensor = memref<8x32xf32, #wg>, swizzle = none, l2promo = none, oob = zero, interleave = none>, !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3> -> memref<8x32xf32, strided<[32, 1], offset: ?>, #wg>
      }
      }
    } else {
      %from = arith.muli %warp, %c8 : index
      %to = arith.addi %from, %c8 : index
      %before = arith.addf %zero, %zero : f32
      %rc:1 = scf.for %kc = %c0 to %n step %c1 iter_args(%sum = %before) -> (f32) {
        %slotc = arith.remui %kc, %c3 : index
        %roundc = arith.divui %kc, %c3 : index
        %bitc = arith.remui %roundc, %c2 : index
        %parc = arith.index_cast %bitc : index to i1
        %phasec = arith.xori %parc, %even : i1
        // expected-error @below {{deadlock: 'nvgpu.mbarrier.try_wait.parity' waits for ever: phase 0 of the mbarrier, counted from 0, misses 1 arrival}}
        nvgpu.mbarrier.try_wait.parity %full[%slotc], %phasec, %ticks : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        %new = scf.for %i = %from to %to step %c1 iter_args(%part = %sum) -> f32 {
          // expected-note @below {{the other access: 'memref.load' reads}}
          %x = memref.load %w[%slotc, %i, %lane] : memref<3x8x32xf32, #wg>
          %more = arith.addf %part, %x : f32
          scf.yield %more : f32
        }
        nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
        nvvm.bar.warp.sync %all : i32
        scf.if %leads {
          %tokenc = nvgpu.mbarrier.arrive %empty[%slotc] : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3> -> !nvgpu.mbarrier.token
        }
        scf.yield %new : f32
      }
      memref.store %rc#0, %sums[%bx, %tx] : memref<2x32xf32>
    }
    gpu.return
  }
}

// -----

// More bytes are announced than come.
#wg = #gpu.address_space<workgroup>
gpu.module @kernels {
  gpu.func @ring(%map: !nvgpu.tensormap.descriptor<tensor = memref<8x32xf32, #wg>, swizzle = none, l2promo = none, oob = zero, interleave = none>, %sums: memref<2x32xf32> {llvm.noalias}, %n: index)
      workgroup(%w: memref<3x8x32xf32, #wg>)
      kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %tx = gpu.thread_id x
    %bx = gpu.block_id x
    %zero = arith.constant 0.0 : f32
    %odd = arith.constant true
    %even = arith.constant false
    %all = arith.constant -1 : i32
    %bytes = arith.constant 1040 : index
    %ticks = arith.constant 10000000 : index
    %full_count = arith.constant 1 : index
    %empty_count = arith.constant 1 : index
    %lane = arith.remui %tx, %c32 : index
    %warp = arith.divui %tx, %c32 : index
    %leads = arith.cmpi eq, %lane, %c0 : index
    %first = arith.cmpi eq, %tx, %c0 : index
    %full = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
    %empty = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
    scf.if %first {
      scf.for %j = %c0 to %c3 step %c1 {
        nvgpu.mbarrier.init %full[%j], %full_count : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        nvgpu.mbarrier.init %empty[%j], %empty_count : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
      }
      nvvm.fence.mbarrier.init
    }
    gpu.barrier
    %start = arith.muli %bx, %n : index
    %is_producer = arith.cmpi eq, %warp, %c1 : index
    scf.if %is_producer {
      %chosen = arith.andi %is_producer, %leads : i1
      scf.if %chosen {
      scf.for %kp = %c0 to %n step %c1 {
        %slotp = arith.remui %kp, %c3 : index
        %roundp = arith.divui %kp, %c3 : index
        %bitp = arith.remui %roundp, %c2 : index
        %parp = arith.index_cast %bitp : index to i1
        %phasep = arith.xori %parp, %odd : i1
        // expected-error @below {{deadlock: 'nvgpu.mbarrier.try_wait.parity' waits for ever: phase 0 of the mbarrier, counted from 0, misses 1 arrival}}
        nvgpu.mbarrier.try_wait.parity %empty[%slotp], %phasep, %ticks : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        nvgpu.mbarrier.arrive.expect_tx %full[%slotp], %bytes : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        %tile = memref.subview %w[%slotp, 0, 0] [1, 8, 32] [1, 1, 1] : memref<3x8x32xf32, #wg> to memref<8x32xf32, strided<[32, 1], offset: ?>, #wg>
        %number = arith.addi %start, %kp : index
        %row = arith.muli %number, %c8 : index
        // expected-warning @below {{possible data race on workgroup memory %arg3: different threads may touch the same bytes, and no barrier is between; it is not known when the asynchronous operation is done}}
        // expected-note @below {{the other access: 'nvgpu.tma.async.load' writes}}
        // expected-warning @below {{possible data race on workgroup memory %arg3: different threads may touch the same bytes, and no barrier is between; no proxy fence (nvvm.fence.proxy) tells TMA of the other access}}
        nvgpu.tma.async.load %map[%c0, %row], %full[%slotp] to %tile
            : !nvgpu.tensormap.descriptor<tensor = memref<8x32xf32, #wg>, swizzle = none, l2promo = none, oob = zero, interleave = none>, !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3> -> memref<8x32xf32, strided<[32, 1], offset: ?>, #wg>
      }
      }
    } else {
      %from = arith.muli %warp, %c8 : index
      %to = arith.addi %from, %c8 : index
      %before = arith.addf %zero, %zero : f32
      %rc:1 = scf.for %kc = %c0 to %n step %c1 iter_args(%sum = %before) -> (f32) {
        %slotc = arith.remui %kc, %c3 : index
        %roundc = arith.divui %kc, %c3 : index
        %bitc = arith.remui %roundc, %c2 : index
        %parc = arith.index_cast %bitc : index to i1
        %phasec = arith.xori %parc, %even : i1
        // expected-error @below {{deadlock: 'nvgpu.mbarrier.try_wait.parity' waits for ever: phase 0 of the mbarrier, counted from 0, misses 16 bytes}}
        nvgpu.mbarrier.try_wait.parity %full[%slotc], %phasec, %ticks : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        %new = scf.for %i = %from to %to step %c1 iter_args(%part = %sum) -> f32 {
          // expected-note @below {{the other access: 'memref.load' reads}}
          %x = memref.load %w[%slotc, %i, %lane] : memref<3x8x32xf32, #wg>
          %more = arith.addf %part, %x : f32
          scf.yield %more : f32
        }
        nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
        nvvm.bar.warp.sync %all : i32
        scf.if %leads {
          %tokenc = nvgpu.mbarrier.arrive %empty[%slotc] : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3> -> !nvgpu.mbarrier.token
        }
        scf.yield %new : f32
      }
      memref.store %rc#0, %sums[%bx, %tx] : memref<2x32xf32>
    }
    gpu.return
  }
}

// -----

// Fewer bytes are announced than come.
#wg = #gpu.address_space<workgroup>
gpu.module @kernels {
  gpu.func @ring(%map: !nvgpu.tensormap.descriptor<tensor = memref<8x32xf32, #wg>, swizzle = none, l2promo = none, oob = zero, interleave = none>, %sums: memref<2x32xf32> {llvm.noalias}, %n: index)
      workgroup(%w: memref<3x8x32xf32, #wg>)
      kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %tx = gpu.thread_id x
    %bx = gpu.block_id x
    %zero = arith.constant 0.0 : f32
    %odd = arith.constant true
    %even = arith.constant false
    %all = arith.constant -1 : i32
    %bytes = arith.constant 1008 : index
    %ticks = arith.constant 10000000 : index
    %full_count = arith.constant 1 : index
    %empty_count = arith.constant 1 : index
    %lane = arith.remui %tx, %c32 : index
    %warp = arith.divui %tx, %c32 : index
    %leads = arith.cmpi eq, %lane, %c0 : index
    %first = arith.cmpi eq, %tx, %c0 : index
    %full = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
    %empty = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
    scf.if %first {
      scf.for %j = %c0 to %c3 step %c1 {
        nvgpu.mbarrier.init %full[%j], %full_count : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        nvgpu.mbarrier.init %empty[%j], %empty_count : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
      }
      nvvm.fence.mbarrier.init
    }
    gpu.barrier
    %start = arith.muli %bx, %n : index
    %is_producer = arith.cmpi eq, %warp, %c1 : index
    scf.if %is_producer {
      %chosen = arith.andi %is_producer, %leads : i1
      scf.if %chosen {
      scf.for %kp = %c0 to %n step %c1 {
        %slotp = arith.remui %kp, %c3 : index
        %roundp = arith.divui %kp, %c3 : index
        %bitp = arith.remui %roundp, %c2 : index
        %parp = arith.index_cast %bitp : index to i1
        %phasep = arith.xori %parp, %odd : i1
        // expected-note @below {{this does not wait there: the parity is that of a phase that is over}}
        nvgpu.mbarrier.try_wait.parity %empty[%slotp], %phasep, %ticks : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        nvgpu.mbarrier.arrive.expect_tx %full[%slotp], %bytes : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        %tile = memref.subview %w[%slotp, 0, 0] [1, 8, 32] [1, 1, 1] : memref<3x8x32xf32, #wg> to memref<8x32xf32, strided<[32, 1], offset: ?>, #wg>
        %number = arith.addi %start, %kp : index
        %row = arith.muli %number, %c8 : index
        // expected-error @below {{data race on workgroup memory %arg3: thread (32, 0, 0) writes what thread (32, 0, 0) writes in iteration 3 of its loops, counted from 0, and no wait for an mbarrier orders them}}
        // expected-note @below {{the other access: 'nvgpu.tma.async.load' in iteration 0 of its loops, counted from 0}}
        // expected-error @below {{data race on workgroup memory %arg3: thread (32, 0, 0) writes what thread (0, 0, 0) reads in iteration 0 of its loops, counted from 0, and no wait for an mbarrier orders them}}
        // expected-warning @below {{possible data race on workgroup memory: 'nvgpu.tma.async.load' brings bytes that are not announced for a phase of its mbarrier, which may end before they are there}}
        nvgpu.tma.async.load %map[%c0, %row], %full[%slotp] to %tile
            : !nvgpu.tensormap.descriptor<tensor = memref<8x32xf32, #wg>, swizzle = none, l2promo = none, oob = zero, interleave = none>, !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3> -> memref<8x32xf32, strided<[32, 1], offset: ?>, #wg>
      }
      }
    } else {
      %from = arith.muli %warp, %c8 : index
      %to = arith.addi %from, %c8 : index
      %before = arith.addf %zero, %zero : f32
      %rc:1 = scf.for %kc = %c0 to %n step %c1 iter_args(%sum = %before) -> (f32) {
        %slotc = arith.remui %kc, %c3 : index
        %roundc = arith.divui %kc, %c3 : index
        %bitc = arith.remui %roundc, %c2 : index
        %parc = arith.index_cast %bitc : index to i1
        %phasec = arith.xori %parc, %even : i1
        nvgpu.mbarrier.try_wait.parity %full[%slotc], %phasec, %ticks : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        %new = scf.for %i = %from to %to step %c1 iter_args(%part = %sum) -> f32 {
          // expected-note @below {{the other access: 'memref.load' in iteration 0 of its loops, counted from 0}}
          %x = memref.load %w[%slotc, %i, %lane] : memref<3x8x32xf32, #wg>
          %more = arith.addf %part, %x : f32
          scf.yield %more : f32
        }
        nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
        nvvm.bar.warp.sync %all : i32
        scf.if %leads {
          %tokenc = nvgpu.mbarrier.arrive %empty[%slotc] : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3> -> !nvgpu.mbarrier.token
        }
        scf.yield %new : f32
      }
      memref.store %rc#0, %sums[%bx, %tx] : memref<2x32xf32>
    }
    gpu.return
  }
}

// -----

// More arrivals are counted than there are.
#wg = #gpu.address_space<workgroup>
gpu.module @kernels {
  gpu.func @ring(%map: !nvgpu.tensormap.descriptor<tensor = memref<8x32xf32, #wg>, swizzle = none, l2promo = none, oob = zero, interleave = none>, %sums: memref<2x32xf32> {llvm.noalias}, %n: index)
      workgroup(%w: memref<3x8x32xf32, #wg>)
      kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %tx = gpu.thread_id x
    %bx = gpu.block_id x
    %zero = arith.constant 0.0 : f32
    %odd = arith.constant true
    %even = arith.constant false
    %all = arith.constant -1 : i32
    %bytes = arith.constant 1024 : index
    %ticks = arith.constant 10000000 : index
    %full_count = arith.constant 1 : index
    %empty_count = arith.constant 2 : index
    %lane = arith.remui %tx, %c32 : index
    %warp = arith.divui %tx, %c32 : index
    %leads = arith.cmpi eq, %lane, %c0 : index
    %first = arith.cmpi eq, %tx, %c0 : index
    %full = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
    %empty = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
    scf.if %first {
      scf.for %j = %c0 to %c3 step %c1 {
        nvgpu.mbarrier.init %full[%j], %full_count : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        nvgpu.mbarrier.init %empty[%j], %empty_count : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
      }
      nvvm.fence.mbarrier.init
    }
    gpu.barrier
    %start = arith.muli %bx, %n : index
    %is_producer = arith.cmpi eq, %warp, %c1 : index
    scf.if %is_producer {
      %chosen = arith.andi %is_producer, %leads : i1
      scf.if %chosen {
      scf.for %kp = %c0 to %n step %c1 {
        %slotp = arith.remui %kp, %c3 : index
        %roundp = arith.divui %kp, %c3 : index
        %bitp = arith.remui %roundp, %c2 : index
        %parp = arith.index_cast %bitp : index to i1
        %phasep = arith.xori %parp, %odd : i1
        // expected-error @below {{deadlock: 'nvgpu.mbarrier.try_wait.parity' waits for ever: phase 0 of the mbarrier, counted from 0, misses 1 arrival}}
        nvgpu.mbarrier.try_wait.parity %empty[%slotp], %phasep, %ticks : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        nvgpu.mbarrier.arrive.expect_tx %full[%slotp], %bytes : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        %tile = memref.subview %w[%slotp, 0, 0] [1, 8, 32] [1, 1, 1] : memref<3x8x32xf32, #wg> to memref<8x32xf32, strided<[32, 1], offset: ?>, #wg>
        %number = arith.addi %start, %kp : index
        %row = arith.muli %number, %c8 : index
        // expected-warning @below {{possible data race on workgroup memory %arg3: different threads may touch the same bytes, and no barrier is between; it is not known when the asynchronous operation is done}}
        // expected-note @below {{the other access: 'nvgpu.tma.async.load' writes}}
        // expected-warning @below {{possible data race on workgroup memory %arg3: different threads may touch the same bytes, and no barrier is between; no proxy fence (nvvm.fence.proxy) tells TMA of the other access}}
        nvgpu.tma.async.load %map[%c0, %row], %full[%slotp] to %tile
            : !nvgpu.tensormap.descriptor<tensor = memref<8x32xf32, #wg>, swizzle = none, l2promo = none, oob = zero, interleave = none>, !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3> -> memref<8x32xf32, strided<[32, 1], offset: ?>, #wg>
      }
      }
    } else {
      %from = arith.muli %warp, %c8 : index
      %to = arith.addi %from, %c8 : index
      %before = arith.addf %zero, %zero : f32
      %rc:1 = scf.for %kc = %c0 to %n step %c1 iter_args(%sum = %before) -> (f32) {
        %slotc = arith.remui %kc, %c3 : index
        %roundc = arith.divui %kc, %c3 : index
        %bitc = arith.remui %roundc, %c2 : index
        %parc = arith.index_cast %bitc : index to i1
        %phasec = arith.xori %parc, %even : i1
        // expected-error @below {{deadlock: 'nvgpu.mbarrier.try_wait.parity' waits for ever: phase 1 of the mbarrier, counted from 0, misses 1 arrival}}
        nvgpu.mbarrier.try_wait.parity %full[%slotc], %phasec, %ticks : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        %new = scf.for %i = %from to %to step %c1 iter_args(%part = %sum) -> f32 {
          // expected-note @below {{the other access: 'memref.load' reads}}
          %x = memref.load %w[%slotc, %i, %lane] : memref<3x8x32xf32, #wg>
          %more = arith.addf %part, %x : f32
          scf.yield %more : f32
        }
        nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
        nvvm.bar.warp.sync %all : i32
        scf.if %leads {
          %tokenc = nvgpu.mbarrier.arrive %empty[%slotc] : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3> -> !nvgpu.mbarrier.token
        }
        scf.yield %new : f32
      }
      memref.store %rc#0, %sums[%bx, %tx] : memref<2x32xf32>
    }
    gpu.return
  }
}

// -----

// All lanes arrive where one is counted.
#wg = #gpu.address_space<workgroup>
gpu.module @kernels {
  gpu.func @ring(%map: !nvgpu.tensormap.descriptor<tensor = memref<8x32xf32, #wg>, swizzle = none, l2promo = none, oob = zero, interleave = none>, %sums: memref<2x32xf32> {llvm.noalias}, %n: index)
      workgroup(%w: memref<3x8x32xf32, #wg>)
      kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %tx = gpu.thread_id x
    %bx = gpu.block_id x
    %zero = arith.constant 0.0 : f32
    %odd = arith.constant true
    %even = arith.constant false
    %all = arith.constant -1 : i32
    %bytes = arith.constant 1024 : index
    %ticks = arith.constant 10000000 : index
    %full_count = arith.constant 1 : index
    %empty_count = arith.constant 1 : index
    %lane = arith.remui %tx, %c32 : index
    %warp = arith.divui %tx, %c32 : index
    %leads = arith.cmpi eq, %lane, %c0 : index
    %first = arith.cmpi eq, %tx, %c0 : index
    %full = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
    %empty = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
    scf.if %first {
      scf.for %j = %c0 to %c3 step %c1 {
        nvgpu.mbarrier.init %full[%j], %full_count : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        nvgpu.mbarrier.init %empty[%j], %empty_count : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
      }
      nvvm.fence.mbarrier.init
    }
    gpu.barrier
    %start = arith.muli %bx, %n : index
    %is_producer = arith.cmpi eq, %warp, %c1 : index
    scf.if %is_producer {
      %chosen = arith.andi %is_producer, %leads : i1
      scf.if %chosen {
      scf.for %kp = %c0 to %n step %c1 {
        %slotp = arith.remui %kp, %c3 : index
        %roundp = arith.divui %kp, %c3 : index
        %bitp = arith.remui %roundp, %c2 : index
        %parp = arith.index_cast %bitp : index to i1
        %phasep = arith.xori %parp, %odd : i1
        // expected-warning @below {{possible data race on workgroup memory: 'nvgpu.mbarrier.try_wait.parity' may miss the phase that it waits for, as the next one may end before}}
        nvgpu.mbarrier.try_wait.parity %empty[%slotp], %phasep, %ticks : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        nvgpu.mbarrier.arrive.expect_tx %full[%slotp], %bytes : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        %tile = memref.subview %w[%slotp, 0, 0] [1, 8, 32] [1, 1, 1] : memref<3x8x32xf32, #wg> to memref<8x32xf32, strided<[32, 1], offset: ?>, #wg>
        %number = arith.addi %start, %kp : index
        %row = arith.muli %number, %c8 : index
        // expected-warning @below {{possible data race on workgroup memory %arg3: different threads may touch the same bytes, and no barrier is between; it is not known when the asynchronous operation is done}}
        // expected-note @below {{the other access: 'nvgpu.tma.async.load' writes}}
        // expected-warning @below {{possible data race on workgroup memory %arg3: different threads may touch the same bytes, and no barrier is between; no proxy fence (nvvm.fence.proxy) tells TMA of the other access}}
        // expected-warning @below {{possible data race on workgroup memory: 'nvgpu.tma.async.load' brings bytes that are not announced for a phase of its mbarrier, which may end before they are there}}
        nvgpu.tma.async.load %map[%c0, %row], %full[%slotp] to %tile
            : !nvgpu.tensormap.descriptor<tensor = memref<8x32xf32, #wg>, swizzle = none, l2promo = none, oob = zero, interleave = none>, !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3> -> memref<8x32xf32, strided<[32, 1], offset: ?>, #wg>
      }
      }
    } else {
      %from = arith.muli %warp, %c8 : index
      %to = arith.addi %from, %c8 : index
      %before = arith.addf %zero, %zero : f32
      %rc:1 = scf.for %kc = %c0 to %n step %c1 iter_args(%sum = %before) -> (f32) {
        %slotc = arith.remui %kc, %c3 : index
        %roundc = arith.divui %kc, %c3 : index
        %bitc = arith.remui %roundc, %c2 : index
        %parc = arith.index_cast %bitc : index to i1
        %phasec = arith.xori %parc, %even : i1
        // expected-warning @below {{possible data race on workgroup memory: 'nvgpu.mbarrier.try_wait.parity' may miss the phase that it waits for, as the next one may end before}}
        nvgpu.mbarrier.try_wait.parity %full[%slotc], %phasec, %ticks : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        %new = scf.for %i = %from to %to step %c1 iter_args(%part = %sum) -> f32 {
          // expected-note @below {{the other access: 'memref.load' reads}}
          %x = memref.load %w[%slotc, %i, %lane] : memref<3x8x32xf32, #wg>
          %more = arith.addf %part, %x : f32
          scf.yield %more : f32
        }
        nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
        // expected-warning @below {{possible data race on workgroup memory: more threads may arrive by 'nvgpu.mbarrier.arrive' than a phase of the mbarrier counts, which ends before others have arrived}}
        %tokenc = nvgpu.mbarrier.arrive %empty[%slotc] : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3> -> !nvgpu.mbarrier.token
        scf.yield %new : f32
      }
      memref.store %rc#0, %sums[%bx, %tx] : memref<2x32xf32>
    }
    gpu.return
  }
}

// -----

// A lane lets go for others that still read.
#wg = #gpu.address_space<workgroup>
gpu.module @kernels {
  gpu.func @ring(%map: !nvgpu.tensormap.descriptor<tensor = memref<8x32xf32, #wg>, swizzle = none, l2promo = none, oob = zero, interleave = none>, %sums: memref<2x32xf32> {llvm.noalias}, %n: index)
      workgroup(%w: memref<3x8x32xf32, #wg>)
      kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %tx = gpu.thread_id x
    %bx = gpu.block_id x
    %zero = arith.constant 0.0 : f32
    %odd = arith.constant true
    %even = arith.constant false
    %all = arith.constant -1 : i32
    %bytes = arith.constant 1024 : index
    %ticks = arith.constant 10000000 : index
    %full_count = arith.constant 1 : index
    %empty_count = arith.constant 1 : index
    %lane = arith.remui %tx, %c32 : index
    %warp = arith.divui %tx, %c32 : index
    %leads = arith.cmpi eq, %lane, %c0 : index
    %first = arith.cmpi eq, %tx, %c0 : index
    %full = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
    %empty = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
    scf.if %first {
      scf.for %j = %c0 to %c3 step %c1 {
        nvgpu.mbarrier.init %full[%j], %full_count : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        nvgpu.mbarrier.init %empty[%j], %empty_count : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
      }
      nvvm.fence.mbarrier.init
    }
    gpu.barrier
    %start = arith.muli %bx, %n : index
    %is_producer = arith.cmpi eq, %warp, %c1 : index
    scf.if %is_producer {
      %chosen = arith.andi %is_producer, %leads : i1
      scf.if %chosen {
      scf.for %kp = %c0 to %n step %c1 {
        %slotp = arith.remui %kp, %c3 : index
        %roundp = arith.divui %kp, %c3 : index
        %bitp = arith.remui %roundp, %c2 : index
        %parp = arith.index_cast %bitp : index to i1
        %phasep = arith.xori %parp, %odd : i1
        nvgpu.mbarrier.try_wait.parity %empty[%slotp], %phasep, %ticks : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        nvgpu.mbarrier.arrive.expect_tx %full[%slotp], %bytes : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        %tile = memref.subview %w[%slotp, 0, 0] [1, 8, 32] [1, 1, 1] : memref<3x8x32xf32, #wg> to memref<8x32xf32, strided<[32, 1], offset: ?>, #wg>
        %number = arith.addi %start, %kp : index
        %row = arith.muli %number, %c8 : index
        // expected-warning @below {{possible data race on workgroup memory %arg3: different threads may touch the same bytes, and no barrier is between; it is not known when the asynchronous operation is done}}
        // expected-note @below {{the other access: 'nvgpu.tma.async.load' writes}}
        // expected-error @below {{data race on workgroup memory %arg3: thread (32, 0, 0) writes what thread (1, 0, 0) reads in iteration 3 of its loops, counted from 0, and no wait for an mbarrier orders them}}
        nvgpu.tma.async.load %map[%c0, %row], %full[%slotp] to %tile
            : !nvgpu.tensormap.descriptor<tensor = memref<8x32xf32, #wg>, swizzle = none, l2promo = none, oob = zero, interleave = none>, !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3> -> memref<8x32xf32, strided<[32, 1], offset: ?>, #wg>
      }
      }
    } else {
      %from = arith.muli %warp, %c8 : index
      %to = arith.addi %from, %c8 : index
      %before = arith.addf %zero, %zero : f32
      %rc:1 = scf.for %kc = %c0 to %n step %c1 iter_args(%sum = %before) -> (f32) {
        %slotc = arith.remui %kc, %c3 : index
        %roundc = arith.divui %kc, %c3 : index
        %bitc = arith.remui %roundc, %c2 : index
        %parc = arith.index_cast %bitc : index to i1
        %phasec = arith.xori %parc, %even : i1
        // expected-warning @below {{possible data race on workgroup memory: 'nvgpu.mbarrier.try_wait.parity' may miss the phase that it waits for, as the next one may end before}}
        nvgpu.mbarrier.try_wait.parity %full[%slotc], %phasec, %ticks : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        %new = scf.for %i = %from to %to step %c1 iter_args(%part = %sum) -> f32 {
          // expected-note @below {{the other access: 'memref.load' in iteration 0 of its loops, counted from 0}}
          %x = memref.load %w[%slotc, %i, %lane] : memref<3x8x32xf32, #wg>
          %more = arith.addf %part, %x : f32
          scf.yield %more : f32
        }
        nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
        scf.if %leads {
          %tokenc = nvgpu.mbarrier.arrive %empty[%slotc] : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3> -> !nvgpu.mbarrier.token
        }
        scf.yield %new : f32
      }
      memref.store %rc#0, %sums[%bx, %tx] : memref<2x32xf32>
    }
    gpu.return
  }
}

// -----

// TMA is not told of what threads have read.
#wg = #gpu.address_space<workgroup>
gpu.module @kernels {
  gpu.func @ring(%map: !nvgpu.tensormap.descriptor<tensor = memref<8x32xf32, #wg>, swizzle = none, l2promo = none, oob = zero, interleave = none>, %sums: memref<2x32xf32> {llvm.noalias}, %n: index)
      workgroup(%w: memref<3x8x32xf32, #wg>)
      kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %tx = gpu.thread_id x
    %bx = gpu.block_id x
    %zero = arith.constant 0.0 : f32
    %odd = arith.constant true
    %even = arith.constant false
    %all = arith.constant -1 : i32
    %bytes = arith.constant 1024 : index
    %ticks = arith.constant 10000000 : index
    %full_count = arith.constant 1 : index
    %empty_count = arith.constant 1 : index
    %lane = arith.remui %tx, %c32 : index
    %warp = arith.divui %tx, %c32 : index
    %leads = arith.cmpi eq, %lane, %c0 : index
    %first = arith.cmpi eq, %tx, %c0 : index
    %full = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
    %empty = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
    scf.if %first {
      scf.for %j = %c0 to %c3 step %c1 {
        nvgpu.mbarrier.init %full[%j], %full_count : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        nvgpu.mbarrier.init %empty[%j], %empty_count : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
      }
      nvvm.fence.mbarrier.init
    }
    gpu.barrier
    %start = arith.muli %bx, %n : index
    %is_producer = arith.cmpi eq, %warp, %c1 : index
    scf.if %is_producer {
      %chosen = arith.andi %is_producer, %leads : i1
      scf.if %chosen {
      scf.for %kp = %c0 to %n step %c1 {
        %slotp = arith.remui %kp, %c3 : index
        %roundp = arith.divui %kp, %c3 : index
        %bitp = arith.remui %roundp, %c2 : index
        %parp = arith.index_cast %bitp : index to i1
        %phasep = arith.xori %parp, %odd : i1
        nvgpu.mbarrier.try_wait.parity %empty[%slotp], %phasep, %ticks : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        nvgpu.mbarrier.arrive.expect_tx %full[%slotp], %bytes : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        %tile = memref.subview %w[%slotp, 0, 0] [1, 8, 32] [1, 1, 1] : memref<3x8x32xf32, #wg> to memref<8x32xf32, strided<[32, 1], offset: ?>, #wg>
        %number = arith.addi %start, %kp : index
        %row = arith.muli %number, %c8 : index
        // expected-warning @below {{possible data race on workgroup memory %arg3: different threads may touch the same bytes, and no barrier is between; no proxy fence (nvvm.fence.proxy) tells TMA of the other access}}
        nvgpu.tma.async.load %map[%c0, %row], %full[%slotp] to %tile
            : !nvgpu.tensormap.descriptor<tensor = memref<8x32xf32, #wg>, swizzle = none, l2promo = none, oob = zero, interleave = none>, !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3> -> memref<8x32xf32, strided<[32, 1], offset: ?>, #wg>
      }
      }
    } else {
      %from = arith.muli %warp, %c8 : index
      %to = arith.addi %from, %c8 : index
      %before = arith.addf %zero, %zero : f32
      %rc:1 = scf.for %kc = %c0 to %n step %c1 iter_args(%sum = %before) -> (f32) {
        %slotc = arith.remui %kc, %c3 : index
        %roundc = arith.divui %kc, %c3 : index
        %bitc = arith.remui %roundc, %c2 : index
        %parc = arith.index_cast %bitc : index to i1
        %phasec = arith.xori %parc, %even : i1
        nvgpu.mbarrier.try_wait.parity %full[%slotc], %phasec, %ticks : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        %new = scf.for %i = %from to %to step %c1 iter_args(%part = %sum) -> f32 {
          // expected-note @below {{the other access: 'memref.load' reads}}
          %x = memref.load %w[%slotc, %i, %lane] : memref<3x8x32xf32, #wg>
          %more = arith.addf %part, %x : f32
          scf.yield %more : f32
        }
        nvvm.bar.warp.sync %all : i32
        scf.if %leads {
          %tokenc = nvgpu.mbarrier.arrive %empty[%slotc] : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3> -> !nvgpu.mbarrier.token
        }
        scf.yield %new : f32
      }
      memref.store %rc#0, %sums[%bx, %tx] : memref<2x32xf32>
    }
    gpu.return
  }
}

// -----

// The consumer never lets go.
#wg = #gpu.address_space<workgroup>
gpu.module @kernels {
  gpu.func @ring(%map: !nvgpu.tensormap.descriptor<tensor = memref<8x32xf32, #wg>, swizzle = none, l2promo = none, oob = zero, interleave = none>, %sums: memref<2x32xf32> {llvm.noalias}, %n: index)
      workgroup(%w: memref<3x8x32xf32, #wg>)
      kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %tx = gpu.thread_id x
    %bx = gpu.block_id x
    %zero = arith.constant 0.0 : f32
    %odd = arith.constant true
    %even = arith.constant false
    %all = arith.constant -1 : i32
    %bytes = arith.constant 1024 : index
    %ticks = arith.constant 10000000 : index
    %full_count = arith.constant 1 : index
    %empty_count = arith.constant 1 : index
    %lane = arith.remui %tx, %c32 : index
    %warp = arith.divui %tx, %c32 : index
    %leads = arith.cmpi eq, %lane, %c0 : index
    %first = arith.cmpi eq, %tx, %c0 : index
    %full = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
    %empty = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
    scf.if %first {
      scf.for %j = %c0 to %c3 step %c1 {
        nvgpu.mbarrier.init %full[%j], %full_count : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        nvgpu.mbarrier.init %empty[%j], %empty_count : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
      }
      nvvm.fence.mbarrier.init
    }
    gpu.barrier
    %start = arith.muli %bx, %n : index
    %is_producer = arith.cmpi eq, %warp, %c1 : index
    scf.if %is_producer {
      %chosen = arith.andi %is_producer, %leads : i1
      scf.if %chosen {
      scf.for %kp = %c0 to %n step %c1 {
        %slotp = arith.remui %kp, %c3 : index
        %roundp = arith.divui %kp, %c3 : index
        %bitp = arith.remui %roundp, %c2 : index
        %parp = arith.index_cast %bitp : index to i1
        %phasep = arith.xori %parp, %odd : i1
        // expected-error @below {{deadlock: 'nvgpu.mbarrier.try_wait.parity' waits for ever: phase 0 of the mbarrier, counted from 0, misses 1 arrival}}
        nvgpu.mbarrier.try_wait.parity %empty[%slotp], %phasep, %ticks : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        nvgpu.mbarrier.arrive.expect_tx %full[%slotp], %bytes : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        %tile = memref.subview %w[%slotp, 0, 0] [1, 8, 32] [1, 1, 1] : memref<3x8x32xf32, #wg> to memref<8x32xf32, strided<[32, 1], offset: ?>, #wg>
        %number = arith.addi %start, %kp : index
        %row = arith.muli %number, %c8 : index
        // expected-warning @below {{possible data race on workgroup memory %arg3: different threads may touch the same bytes, and no barrier is between; it is not known when the asynchronous operation is done}}
        // expected-note @below {{the other access: 'nvgpu.tma.async.load' writes}}
        // expected-warning @below {{possible data race on workgroup memory %arg3: different threads may touch the same bytes, and no barrier is between; no proxy fence (nvvm.fence.proxy) tells TMA of the other access}}
        nvgpu.tma.async.load %map[%c0, %row], %full[%slotp] to %tile
            : !nvgpu.tensormap.descriptor<tensor = memref<8x32xf32, #wg>, swizzle = none, l2promo = none, oob = zero, interleave = none>, !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3> -> memref<8x32xf32, strided<[32, 1], offset: ?>, #wg>
      }
      }
    } else {
      %from = arith.muli %warp, %c8 : index
      %to = arith.addi %from, %c8 : index
      %before = arith.addf %zero, %zero : f32
      %rc:1 = scf.for %kc = %c0 to %n step %c1 iter_args(%sum = %before) -> (f32) {
        %slotc = arith.remui %kc, %c3 : index
        %roundc = arith.divui %kc, %c3 : index
        %bitc = arith.remui %roundc, %c2 : index
        %parc = arith.index_cast %bitc : index to i1
        %phasec = arith.xori %parc, %even : i1
        // expected-error @below {{deadlock: 'nvgpu.mbarrier.try_wait.parity' waits for ever: phase 1 of the mbarrier, counted from 0, misses 1 arrival}}
        nvgpu.mbarrier.try_wait.parity %full[%slotc], %phasec, %ticks : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        %new = scf.for %i = %from to %to step %c1 iter_args(%part = %sum) -> f32 {
          // expected-note @below {{the other access: 'memref.load' reads}}
          %x = memref.load %w[%slotc, %i, %lane] : memref<3x8x32xf32, #wg>
          %more = arith.addf %part, %x : f32
          scf.yield %more : f32
        }
        nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
        nvvm.bar.warp.sync %all : i32
        scf.yield %new : f32
      }
      memref.store %rc#0, %sums[%bx, %tx] : memref<2x32xf32>
    }
    gpu.return
  }
}

// -----

// The loops may have different numbers of iterations.
#wg = #gpu.address_space<workgroup>
gpu.module @kernels {
  gpu.func @ring(%map: !nvgpu.tensormap.descriptor<tensor = memref<8x32xf32, #wg>, swizzle = none, l2promo = none, oob = zero, interleave = none>, %sums: memref<2x32xf32> {llvm.noalias}, %n: index, %m: index)
      workgroup(%w: memref<3x8x32xf32, #wg>)
      kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %tx = gpu.thread_id x
    %bx = gpu.block_id x
    %zero = arith.constant 0.0 : f32
    %odd = arith.constant true
    %even = arith.constant false
    %all = arith.constant -1 : i32
    %bytes = arith.constant 1024 : index
    %ticks = arith.constant 10000000 : index
    %full_count = arith.constant 1 : index
    %empty_count = arith.constant 1 : index
    %lane = arith.remui %tx, %c32 : index
    %warp = arith.divui %tx, %c32 : index
    %leads = arith.cmpi eq, %lane, %c0 : index
    %first = arith.cmpi eq, %tx, %c0 : index
    %full = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
    %empty = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
    scf.if %first {
      scf.for %j = %c0 to %c3 step %c1 {
        nvgpu.mbarrier.init %full[%j], %full_count : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        nvgpu.mbarrier.init %empty[%j], %empty_count : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
      }
      nvvm.fence.mbarrier.init
    }
    gpu.barrier
    %start = arith.muli %bx, %n : index
    %is_producer = arith.cmpi eq, %warp, %c1 : index
    scf.if %is_producer {
      %chosen = arith.andi %is_producer, %leads : i1
      scf.if %chosen {
      scf.for %kp = %c0 to %m step %c1 {
        %slotp = arith.remui %kp, %c3 : index
        %roundp = arith.divui %kp, %c3 : index
        %bitp = arith.remui %roundp, %c2 : index
        %parp = arith.index_cast %bitp : index to i1
        %phasep = arith.xori %parp, %odd : i1
        // expected-warning @below {{possible deadlock: 'nvgpu.mbarrier.try_wait.parity' may wait for ever: the loops that wait for each other are not known to have the same number of iterations}}
        nvgpu.mbarrier.try_wait.parity %empty[%slotp], %phasep, %ticks : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        nvgpu.mbarrier.arrive.expect_tx %full[%slotp], %bytes : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        %tile = memref.subview %w[%slotp, 0, 0] [1, 8, 32] [1, 1, 1] : memref<3x8x32xf32, #wg> to memref<8x32xf32, strided<[32, 1], offset: ?>, #wg>
        %number = arith.addi %start, %kp : index
        %row = arith.muli %number, %c8 : index
        nvgpu.tma.async.load %map[%c0, %row], %full[%slotp] to %tile
            : !nvgpu.tensormap.descriptor<tensor = memref<8x32xf32, #wg>, swizzle = none, l2promo = none, oob = zero, interleave = none>, !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3> -> memref<8x32xf32, strided<[32, 1], offset: ?>, #wg>
      }
      }
    } else {
      %from = arith.muli %warp, %c8 : index
      %to = arith.addi %from, %c8 : index
      %before = arith.addf %zero, %zero : f32
      %rc:1 = scf.for %kc = %c0 to %n step %c1 iter_args(%sum = %before) -> (f32) {
        %slotc = arith.remui %kc, %c3 : index
        %roundc = arith.divui %kc, %c3 : index
        %bitc = arith.remui %roundc, %c2 : index
        %parc = arith.index_cast %bitc : index to i1
        %phasec = arith.xori %parc, %even : i1
        nvgpu.mbarrier.try_wait.parity %full[%slotc], %phasec, %ticks : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        %new = scf.for %i = %from to %to step %c1 iter_args(%part = %sum) -> f32 {
          %x = memref.load %w[%slotc, %i, %lane] : memref<3x8x32xf32, #wg>
          %more = arith.addf %part, %x : f32
          scf.yield %more : f32
        }
        nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
        nvvm.bar.warp.sync %all : i32
        scf.if %leads {
          %tokenc = nvgpu.mbarrier.arrive %empty[%slotc] : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3> -> !nvgpu.mbarrier.token
        }
        scf.yield %new : f32
      }
      memref.store %rc#0, %sums[%bx, %tx] : memref<2x32xf32>
    }
    gpu.return
  }
}

// -----

// TMA is not told that the mbarriers are ready.
#wg = #gpu.address_space<workgroup>

gpu.module @protocols {
  // One thread has TMA fill three slots, two warps read them, and one lane of each
  // lets go.
  gpu.func @tma(%map: !nvgpu.tensormap.descriptor<tensor = memref<8x32xf32, #wg>, swizzle = none, l2promo = none, oob = zero, interleave = none>, %sums: memref<2x64xf32> {llvm.noalias}, %n: index)
      workgroup(%w: memref<3x8x32xf32, #wg>)
      kernel
      attributes {known_block_size = array<i32: 96, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %tx = gpu.thread_id x
    %bx = gpu.block_id x
    %zero = arith.constant 0.0 : f32
    %odd = arith.constant true
    %even = arith.constant false
    %all = arith.constant -1 : i32
    %bytes = arith.constant 1024 : index
    %ticks = arith.constant 10000000 : index
    %full_count = arith.constant 1 : index
    %empty_count = arith.constant 2 : index
    %lane = arith.remui %tx, %c32 : index
    %warp = arith.divui %tx, %c32 : index
    %leads = arith.cmpi eq, %lane, %c0 : index
    %first = arith.cmpi eq, %tx, %c0 : index
    %full = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
    %empty = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
    scf.if %first {
      scf.for %j = %c0 to %c3 step %c1 {
        nvgpu.mbarrier.init %full[%j], %full_count : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        nvgpu.mbarrier.init %empty[%j], %empty_count : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
      }
    }
    gpu.barrier
    %start = arith.muli %bx, %n : index
    %is_producer = arith.cmpi eq, %warp, %c2 : index
    scf.if %is_producer {
      %chosen = arith.andi %is_producer, %leads : i1
      scf.if %chosen {
      scf.for %kp = %c0 to %n step %c1 {
        %slotp = arith.remui %kp, %c3 : index
        %roundp = arith.divui %kp, %c3 : index
        %bitp = arith.remui %roundp, %c2 : index
        %parp = arith.index_cast %bitp : index to i1
        %phasep = arith.xori %parp, %odd : i1
        nvgpu.mbarrier.try_wait.parity %empty[%slotp], %phasep, %ticks : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        nvgpu.mbarrier.arrive.expect_tx %full[%slotp], %bytes : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        %tile = memref.subview %w[%slotp, 0, 0] [1, 8, 32] [1, 1, 1] : memref<3x8x32xf32, #wg> to memref<8x32xf32, strided<[32, 1], offset: ?>, #wg>
        %number = arith.addi %start, %kp : index
        %row = arith.muli %number, %c8 : index
        // expected-warning @below {{possible data race on workgroup memory %arg3: different threads may touch the same bytes, and no barrier is between; it is not known when the asynchronous operation is done}}
        // expected-note @below {{the other access: 'nvgpu.tma.async.load' writes}}
        // expected-warning @below {{possible data race on workgroup memory %arg3: different threads may touch the same bytes, and no barrier is between; no proxy fence (nvvm.fence.proxy) tells TMA of the other access}}
        // expected-warning @below {{possible data race on workgroup memory: the mbarrier of 'nvgpu.tma.async.load' is made ready, and no fence (nvvm.fence.mbarrier.init) tells TMA of it}}
        nvgpu.tma.async.load %map[%c0, %row], %full[%slotp] to %tile
            : !nvgpu.tensormap.descriptor<tensor = memref<8x32xf32, #wg>, swizzle = none, l2promo = none, oob = zero, interleave = none>, !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3> -> memref<8x32xf32, strided<[32, 1], offset: ?>, #wg>
      }
      }
    } else {
      %from = arith.muli %warp, %c4 : index
      %to = arith.addi %from, %c4 : index
      %before = arith.addf %zero, %zero : f32
      %rc:1 = scf.for %kc = %c0 to %n step %c1 iter_args(%sum = %before) -> (f32) {
        %slotc = arith.remui %kc, %c3 : index
        %roundc = arith.divui %kc, %c3 : index
        %bitc = arith.remui %roundc, %c2 : index
        %parc = arith.index_cast %bitc : index to i1
        %phasec = arith.xori %parc, %even : i1
        nvgpu.mbarrier.try_wait.parity %full[%slotc], %phasec, %ticks : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        %new = scf.for %i = %from to %to step %c1 iter_args(%part = %sum) -> f32 {
          // expected-note @below {{the other access: 'memref.load' reads}}
          %x = memref.load %w[%slotc, %i, %lane] : memref<3x8x32xf32, #wg>
          %more = arith.addf %part, %x : f32
          scf.yield %more : f32
        }
        nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
        nvvm.bar.warp.sync %all : i32
        scf.if %leads {
          %tokenc = nvgpu.mbarrier.arrive %empty[%slotc] : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3> -> !nvgpu.mbarrier.token
        }
        scf.yield %new : f32
      }
      memref.store %rc#0, %sums[%bx, %tx] : memref<2x64xf32>
    }
    gpu.return
  }

  // Slot and parity are handed on, through a loop around.
  gpu.func @rounds(%map: !nvgpu.tensormap.descriptor<tensor = memref<8x32xf32, #wg>, swizzle = none, l2promo = none, oob = zero, interleave = none>, %sums: memref<2x64xf32> {llvm.noalias}, %n: index, %rounds: index)
      workgroup(%w: memref<3x8x32xf32, #wg>)
      kernel
      attributes {known_block_size = array<i32: 96, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %tx = gpu.thread_id x
    %bx = gpu.block_id x
    %zero = arith.constant 0.0 : f32
    %odd = arith.constant true
    %even = arith.constant false
    %all = arith.constant -1 : i32
    %bytes = arith.constant 1024 : index
    %ticks = arith.constant 10000000 : index
    %full_count = arith.constant 1 : index
    %empty_count = arith.constant 2 : index
    %lane = arith.remui %tx, %c32 : index
    %warp = arith.divui %tx, %c32 : index
    %leads = arith.cmpi eq, %lane, %c0 : index
    %first = arith.cmpi eq, %tx, %c0 : index
    %full = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
    %empty = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
    scf.if %first {
      scf.for %j = %c0 to %c3 step %c1 {
        nvgpu.mbarrier.init %full[%j], %full_count : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        nvgpu.mbarrier.init %empty[%j], %empty_count : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
      }
      nvvm.fence.mbarrier.init
    }
    gpu.barrier
    %start = arith.muli %bx, %n : index
    %is_producer = arith.cmpi eq, %warp, %c2 : index
    scf.if %is_producer {
      %chosen = arith.andi %is_producer, %leads : i1
      scf.if %chosen {
      %op:2 = scf.for %round = %c0 to %rounds step %c1
          iter_args(%sp = %c0, %php = %odd) -> (index, i1) {
      %rp:2 = scf.for %kp = %c0 to %n step %c1 iter_args(%slotp = %sp, %phasep = %php) -> (index, i1) {
        nvgpu.mbarrier.try_wait.parity %empty[%slotp], %phasep, %ticks : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        nvgpu.mbarrier.arrive.expect_tx %full[%slotp], %bytes : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        %tile = memref.subview %w[%slotp, 0, 0] [1, 8, 32] [1, 1, 1] : memref<3x8x32xf32, #wg> to memref<8x32xf32, strided<[32, 1], offset: ?>, #wg>
        %number = arith.addi %start, %kp : index
        %row = arith.muli %number, %c8 : index
        nvgpu.tma.async.load %map[%c0, %row], %full[%slotp] to %tile
            : !nvgpu.tensormap.descriptor<tensor = memref<8x32xf32, #wg>, swizzle = none, l2promo = none, oob = zero, interleave = none>, !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3> -> memref<8x32xf32, strided<[32, 1], offset: ?>, #wg>
        %slotp1 = arith.addi %slotp, %c1 : index
        %slotplast = arith.cmpi eq, %slotp1, %c3 : index
        %slotpn = arith.select %slotplast, %c0, %slotp1 : index
        %phasepn = arith.xori %phasep, %slotplast : i1
        scf.yield %slotpn, %phasepn : index, i1
      }
        scf.yield %rp#0, %rp#1 : index, i1
      }
      }
    } else {
      %from = arith.muli %warp, %c4 : index
      %to = arith.addi %from, %c4 : index
      %before = arith.addf %zero, %zero : f32
      %oc:3 = scf.for %round = %c0 to %rounds step %c1
          iter_args(%sc = %c0, %phc = %even, %so = %before) -> (index, i1, f32) {
      %rc:3 = scf.for %kc = %c0 to %n step %c1 iter_args(%slotc = %sc, %phasec = %phc, %sum = %so) -> (index, i1, f32) {
        nvgpu.mbarrier.try_wait.parity %full[%slotc], %phasec, %ticks : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        %new = scf.for %i = %from to %to step %c1 iter_args(%part = %sum) -> f32 {
          %x = memref.load %w[%slotc, %i, %lane] : memref<3x8x32xf32, #wg>
          %more = arith.addf %part, %x : f32
          scf.yield %more : f32
        }
        nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
        nvvm.bar.warp.sync %all : i32
        scf.if %leads {
          %tokenc = nvgpu.mbarrier.arrive %empty[%slotc] : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3> -> !nvgpu.mbarrier.token
        }
        %slotc1 = arith.addi %slotc, %c1 : index
        %slotclast = arith.cmpi eq, %slotc1, %c3 : index
        %slotcn = arith.select %slotclast, %c0, %slotc1 : index
        %phasecn = arith.xori %phasec, %slotclast : i1
        scf.yield %slotcn, %phasecn, %new : index, i1, f32
      }
        scf.yield %rc#0, %rc#1, %rc#2 : index, i1, f32
      }
      memref.store %oc#2, %sums[%bx, %tx] : memref<2x64xf32>
    }
    gpu.return
  }

  // Lanes store, and all of them arrive.
  gpu.func @stores(%in: memref<?x32xf32> {llvm.noalias}, %sums: memref<2x64xf32> {llvm.noalias}, %n: index)
      workgroup(%w: memref<2x8x32xf32, #wg>)
      kernel
      attributes {known_block_size = array<i32: 96, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %tx = gpu.thread_id x
    %bx = gpu.block_id x
    %zero = arith.constant 0.0 : f32
    %odd = arith.constant true
    %even = arith.constant false
    %all = arith.constant -1 : i32
    %bytes = arith.constant 1024 : index
    %ticks = arith.constant 10000000 : index
    %full_count = arith.constant 32 : index
    %empty_count = arith.constant 64 : index
    %lane = arith.remui %tx, %c32 : index
    %warp = arith.divui %tx, %c32 : index
    %leads = arith.cmpi eq, %lane, %c0 : index
    %first = arith.cmpi eq, %tx, %c0 : index
    %full = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 2>
    %empty = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 2>
    scf.if %first {
      scf.for %j = %c0 to %c2 step %c1 {
        nvgpu.mbarrier.init %full[%j], %full_count : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 2>
        nvgpu.mbarrier.init %empty[%j], %empty_count : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 2>
      }
      nvvm.fence.mbarrier.init
    }
    gpu.barrier
    %start = arith.muli %bx, %n : index
    %is_producer = arith.cmpi eq, %warp, %c2 : index
    scf.if %is_producer {
            scf.for %kp = %c0 to %n step %c1 {
        %slotp = arith.remui %kp, %c2 : index
        %roundp = arith.divui %kp, %c2 : index
        %bitp = arith.remui %roundp, %c2 : index
        %parp = arith.index_cast %bitp : index to i1
        %phasep = arith.xori %parp, %odd : i1
        nvgpu.mbarrier.try_wait.parity %empty[%slotp], %phasep, %ticks : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 2>
        %number = arith.addi %start, %kp : index
        %row = arith.muli %number, %c8 : index
        scf.for %j = %c0 to %c8 step %c1 {
          %at = arith.addi %row, %j : index
          %x = memref.load %in[%at, %lane] : memref<?x32xf32>
          memref.store %x, %w[%slotp, %j, %lane] : memref<2x8x32xf32, #wg>
        }
        %tokenp = nvgpu.mbarrier.arrive %full[%slotp] : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 2> -> !nvgpu.mbarrier.token
      }
    } else {
      %from = arith.muli %warp, %c4 : index
      %to = arith.addi %from, %c4 : index
      %before = arith.addf %zero, %zero : f32
      %rc:1 = scf.for %kc = %c0 to %n step %c1 iter_args(%sum = %before) -> (f32) {
        %slotc = arith.remui %kc, %c2 : index
        %roundc = arith.divui %kc, %c2 : index
        %bitc = arith.remui %roundc, %c2 : index
        %parc = arith.index_cast %bitc : index to i1
        %phasec = arith.xori %parc, %even : i1
        nvgpu.mbarrier.try_wait.parity %full[%slotc], %phasec, %ticks : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 2>
        %new = scf.for %i = %from to %to step %c1 iter_args(%part = %sum) -> f32 {
          %x = memref.load %w[%slotc, %i, %lane] : memref<2x8x32xf32, #wg>
          %more = arith.addf %part, %x : f32
          scf.yield %more : f32
        }
        %tokenc = nvgpu.mbarrier.arrive %empty[%slotc] : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 2> -> !nvgpu.mbarrier.token
        scf.yield %new : f32
      }
      memref.store %rc#0, %sums[%bx, %tx] : memref<2x64xf32>
    }
    gpu.return
  }

  // Lanes copy, and wait for their own copies before one of them arrives.
  gpu.func @copies(%in: memref<?x32xf32> {llvm.noalias}, %sums: memref<2x32xf32> {llvm.noalias}, %n: index)
      workgroup(%w: memref<3x8x32xf32, #wg>)
      kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %tx = gpu.thread_id x
    %bx = gpu.block_id x
    %zero = arith.constant 0.0 : f32
    %odd = arith.constant true
    %even = arith.constant false
    %all = arith.constant -1 : i32
    %bytes = arith.constant 1024 : index
    %ticks = arith.constant 10000000 : index
    %full_count = arith.constant 1 : index
    %empty_count = arith.constant 1 : index
    %lane = arith.remui %tx, %c32 : index
    %warp = arith.divui %tx, %c32 : index
    %leads = arith.cmpi eq, %lane, %c0 : index
    %first = arith.cmpi eq, %tx, %c0 : index
    %full = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
    %empty = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
    scf.if %first {
      scf.for %j = %c0 to %c3 step %c1 {
        nvgpu.mbarrier.init %full[%j], %full_count : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        nvgpu.mbarrier.init %empty[%j], %empty_count : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
      }
      nvvm.fence.mbarrier.init
    }
    gpu.barrier
    %start = arith.muli %bx, %n : index
    %is_producer = arith.cmpi eq, %warp, %c1 : index
    scf.if %is_producer {
            scf.for %kp = %c0 to %n step %c1 {
        %slotp = arith.remui %kp, %c3 : index
        %roundp = arith.divui %kp, %c3 : index
        %bitp = arith.remui %roundp, %c2 : index
        %parp = arith.index_cast %bitp : index to i1
        %phasep = arith.xori %parp, %odd : i1
        nvgpu.mbarrier.try_wait.parity %empty[%slotp], %phasep, %ticks : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        %number = arith.addi %start, %kp : index
        %row = arith.muli %number, %c8 : index
        scf.for %j = %c0 to %c8 step %c1 {
          %at = arith.addi %row, %j : index
          %t = nvgpu.device_async_copy %in[%at, %lane], %w[%slotp, %j, %lane], 1 :
              memref<?x32xf32> to memref<3x8x32xf32, #wg>
        }
        nvvm.cp.async.commit.group
        nvvm.cp.async.wait.group 0
        nvvm.bar.warp.sync %all : i32
        scf.if %leads {
          %tokenp = nvgpu.mbarrier.arrive %full[%slotp] : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3> -> !nvgpu.mbarrier.token
        }
      }
    } else {
      %from = arith.muli %warp, %c8 : index
      %to = arith.addi %from, %c8 : index
      %before = arith.addf %zero, %zero : f32
      %rc:1 = scf.for %kc = %c0 to %n step %c1 iter_args(%sum = %before) -> (f32) {
        %slotc = arith.remui %kc, %c3 : index
        %roundc = arith.divui %kc, %c3 : index
        %bitc = arith.remui %roundc, %c2 : index
        %parc = arith.index_cast %bitc : index to i1
        %phasec = arith.xori %parc, %even : i1
        nvgpu.mbarrier.try_wait.parity %full[%slotc], %phasec, %ticks : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        %new = scf.for %i = %from to %to step %c1 iter_args(%part = %sum) -> f32 {
          %x = memref.load %w[%slotc, %i, %lane] : memref<3x8x32xf32, #wg>
          %more = arith.addf %part, %x : f32
          scf.yield %more : f32
        }
        nvvm.bar.warp.sync %all : i32
        scf.if %leads {
          %tokenc = nvgpu.mbarrier.arrive %empty[%slotc] : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3> -> !nvgpu.mbarrier.token
        }
        scf.yield %new : f32
      }
      memref.store %rc#0, %sums[%bx, %tx] : memref<2x32xf32>
    }
    gpu.return
  }
}

// -----

// Two threads make them ready.
#wg = #gpu.address_space<workgroup>

gpu.module @protocols {
  // One thread has TMA fill three slots, two warps read them, and one lane of each
  // lets go.
  gpu.func @tma(%map: !nvgpu.tensormap.descriptor<tensor = memref<8x32xf32, #wg>, swizzle = none, l2promo = none, oob = zero, interleave = none>, %sums: memref<2x64xf32> {llvm.noalias}, %n: index)
      workgroup(%w: memref<3x8x32xf32, #wg>)
      kernel
      attributes {known_block_size = array<i32: 96, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %tx = gpu.thread_id x
    %bx = gpu.block_id x
    %zero = arith.constant 0.0 : f32
    %odd = arith.constant true
    %even = arith.constant false
    %all = arith.constant -1 : i32
    %bytes = arith.constant 1024 : index
    %ticks = arith.constant 10000000 : index
    %full_count = arith.constant 1 : index
    %empty_count = arith.constant 2 : index
    %lane = arith.remui %tx, %c32 : index
    %warp = arith.divui %tx, %c32 : index
    %leads = arith.cmpi eq, %lane, %c0 : index
    %first = arith.cmpi ult, %tx, %c2 : index
    %full = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
    %empty = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
    scf.if %first {
      scf.for %j = %c0 to %c3 step %c1 {
        // expected-error @below {{cannot synchronize 'nvgpu.mbarrier.init' and 'nvgpu.mbarrier.init' on workgroup memory %4: thread (1, 0, 0) writes what thread (0, 0, 0) writes, and there is no place between for a barrier of the warp; let one thread do it, give each thread a place of its own, or make it atomic}}
        // expected-note @below {{the other access: 'nvgpu.mbarrier.init' writes in thread (0, 0, 0)}}
        // expected-warning @below {{possible data race on workgroup memory: the mbarrier of 'nvgpu.mbarrier.init' is not known to be made ready before, once, by one thread}}
        nvgpu.mbarrier.init %full[%j], %full_count : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        // expected-error @below {{cannot synchronize 'nvgpu.mbarrier.init' and 'nvgpu.mbarrier.init' on workgroup memory %5: thread (1, 0, 0) writes what thread (0, 0, 0) writes, and there is no place between for a barrier of the warp; let one thread do it, give each thread a place of its own, or make it atomic}}
        // expected-note @below {{the other access: 'nvgpu.mbarrier.init' writes in thread (0, 0, 0)}}
        // expected-warning @below {{possible data race on workgroup memory: the mbarrier of 'nvgpu.mbarrier.init' is not known to be made ready before, once, by one thread}}
        nvgpu.mbarrier.init %empty[%j], %empty_count : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
      }
      nvvm.fence.mbarrier.init
    }
    gpu.barrier
    %start = arith.muli %bx, %n : index
    %is_producer = arith.cmpi eq, %warp, %c2 : index
    scf.if %is_producer {
      %chosen = arith.andi %is_producer, %leads : i1
      scf.if %chosen {
      scf.for %kp = %c0 to %n step %c1 {
        %slotp = arith.remui %kp, %c3 : index
        %roundp = arith.divui %kp, %c3 : index
        %bitp = arith.remui %roundp, %c2 : index
        %parp = arith.index_cast %bitp : index to i1
        %phasep = arith.xori %parp, %odd : i1
        nvgpu.mbarrier.try_wait.parity %empty[%slotp], %phasep, %ticks : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        nvgpu.mbarrier.arrive.expect_tx %full[%slotp], %bytes : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        %tile = memref.subview %w[%slotp, 0, 0] [1, 8, 32] [1, 1, 1] : memref<3x8x32xf32, #wg> to memref<8x32xf32, strided<[32, 1], offset: ?>, #wg>
        %number = arith.addi %start, %kp : index
        %row = arith.muli %number, %c8 : index
        // expected-warning @below {{possible data race on workgroup memory %arg3: different threads may touch the same bytes, and no barrier is between; it is not known when the asynchronous operation is done}}
        // expected-note @below {{the other access: 'nvgpu.tma.async.load' writes}}
        // expected-warning @below {{possible data race on workgroup memory %arg3: different threads may touch the same bytes, and no barrier is between; no proxy fence (nvvm.fence.proxy) tells TMA of the other access}}
        nvgpu.tma.async.load %map[%c0, %row], %full[%slotp] to %tile
            : !nvgpu.tensormap.descriptor<tensor = memref<8x32xf32, #wg>, swizzle = none, l2promo = none, oob = zero, interleave = none>, !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3> -> memref<8x32xf32, strided<[32, 1], offset: ?>, #wg>
      }
      }
    } else {
      %from = arith.muli %warp, %c4 : index
      %to = arith.addi %from, %c4 : index
      %before = arith.addf %zero, %zero : f32
      %rc:1 = scf.for %kc = %c0 to %n step %c1 iter_args(%sum = %before) -> (f32) {
        %slotc = arith.remui %kc, %c3 : index
        %roundc = arith.divui %kc, %c3 : index
        %bitc = arith.remui %roundc, %c2 : index
        %parc = arith.index_cast %bitc : index to i1
        %phasec = arith.xori %parc, %even : i1
        nvgpu.mbarrier.try_wait.parity %full[%slotc], %phasec, %ticks : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        %new = scf.for %i = %from to %to step %c1 iter_args(%part = %sum) -> f32 {
          // expected-note @below {{the other access: 'memref.load' reads}}
          %x = memref.load %w[%slotc, %i, %lane] : memref<3x8x32xf32, #wg>
          %more = arith.addf %part, %x : f32
          scf.yield %more : f32
        }
        nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
        nvvm.bar.warp.sync %all : i32
        scf.if %leads {
          %tokenc = nvgpu.mbarrier.arrive %empty[%slotc] : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3> -> !nvgpu.mbarrier.token
        }
        scf.yield %new : f32
      }
      memref.store %rc#0, %sums[%bx, %tx] : memref<2x64xf32>
    }
    gpu.return
  }

  // Slot and parity are handed on, through a loop around.
  gpu.func @rounds(%map: !nvgpu.tensormap.descriptor<tensor = memref<8x32xf32, #wg>, swizzle = none, l2promo = none, oob = zero, interleave = none>, %sums: memref<2x64xf32> {llvm.noalias}, %n: index, %rounds: index)
      workgroup(%w: memref<3x8x32xf32, #wg>)
      kernel
      attributes {known_block_size = array<i32: 96, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %tx = gpu.thread_id x
    %bx = gpu.block_id x
    %zero = arith.constant 0.0 : f32
    %odd = arith.constant true
    %even = arith.constant false
    %all = arith.constant -1 : i32
    %bytes = arith.constant 1024 : index
    %ticks = arith.constant 10000000 : index
    %full_count = arith.constant 1 : index
    %empty_count = arith.constant 2 : index
    %lane = arith.remui %tx, %c32 : index
    %warp = arith.divui %tx, %c32 : index
    %leads = arith.cmpi eq, %lane, %c0 : index
    %first = arith.cmpi eq, %tx, %c0 : index
    %full = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
    %empty = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
    scf.if %first {
      scf.for %j = %c0 to %c3 step %c1 {
        nvgpu.mbarrier.init %full[%j], %full_count : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        nvgpu.mbarrier.init %empty[%j], %empty_count : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
      }
      nvvm.fence.mbarrier.init
    }
    gpu.barrier
    %start = arith.muli %bx, %n : index
    %is_producer = arith.cmpi eq, %warp, %c2 : index
    scf.if %is_producer {
      %chosen = arith.andi %is_producer, %leads : i1
      scf.if %chosen {
      %op:2 = scf.for %round = %c0 to %rounds step %c1
          iter_args(%sp = %c0, %php = %odd) -> (index, i1) {
      %rp:2 = scf.for %kp = %c0 to %n step %c1 iter_args(%slotp = %sp, %phasep = %php) -> (index, i1) {
        nvgpu.mbarrier.try_wait.parity %empty[%slotp], %phasep, %ticks : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        nvgpu.mbarrier.arrive.expect_tx %full[%slotp], %bytes : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        %tile = memref.subview %w[%slotp, 0, 0] [1, 8, 32] [1, 1, 1] : memref<3x8x32xf32, #wg> to memref<8x32xf32, strided<[32, 1], offset: ?>, #wg>
        %number = arith.addi %start, %kp : index
        %row = arith.muli %number, %c8 : index
        nvgpu.tma.async.load %map[%c0, %row], %full[%slotp] to %tile
            : !nvgpu.tensormap.descriptor<tensor = memref<8x32xf32, #wg>, swizzle = none, l2promo = none, oob = zero, interleave = none>, !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3> -> memref<8x32xf32, strided<[32, 1], offset: ?>, #wg>
        %slotp1 = arith.addi %slotp, %c1 : index
        %slotplast = arith.cmpi eq, %slotp1, %c3 : index
        %slotpn = arith.select %slotplast, %c0, %slotp1 : index
        %phasepn = arith.xori %phasep, %slotplast : i1
        scf.yield %slotpn, %phasepn : index, i1
      }
        scf.yield %rp#0, %rp#1 : index, i1
      }
      }
    } else {
      %from = arith.muli %warp, %c4 : index
      %to = arith.addi %from, %c4 : index
      %before = arith.addf %zero, %zero : f32
      %oc:3 = scf.for %round = %c0 to %rounds step %c1
          iter_args(%sc = %c0, %phc = %even, %so = %before) -> (index, i1, f32) {
      %rc:3 = scf.for %kc = %c0 to %n step %c1 iter_args(%slotc = %sc, %phasec = %phc, %sum = %so) -> (index, i1, f32) {
        nvgpu.mbarrier.try_wait.parity %full[%slotc], %phasec, %ticks : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        %new = scf.for %i = %from to %to step %c1 iter_args(%part = %sum) -> f32 {
          %x = memref.load %w[%slotc, %i, %lane] : memref<3x8x32xf32, #wg>
          %more = arith.addf %part, %x : f32
          scf.yield %more : f32
        }
        nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
        nvvm.bar.warp.sync %all : i32
        scf.if %leads {
          %tokenc = nvgpu.mbarrier.arrive %empty[%slotc] : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3> -> !nvgpu.mbarrier.token
        }
        %slotc1 = arith.addi %slotc, %c1 : index
        %slotclast = arith.cmpi eq, %slotc1, %c3 : index
        %slotcn = arith.select %slotclast, %c0, %slotc1 : index
        %phasecn = arith.xori %phasec, %slotclast : i1
        scf.yield %slotcn, %phasecn, %new : index, i1, f32
      }
        scf.yield %rc#0, %rc#1, %rc#2 : index, i1, f32
      }
      memref.store %oc#2, %sums[%bx, %tx] : memref<2x64xf32>
    }
    gpu.return
  }

  // Lanes store, and all of them arrive.
  gpu.func @stores(%in: memref<?x32xf32> {llvm.noalias}, %sums: memref<2x64xf32> {llvm.noalias}, %n: index)
      workgroup(%w: memref<2x8x32xf32, #wg>)
      kernel
      attributes {known_block_size = array<i32: 96, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %tx = gpu.thread_id x
    %bx = gpu.block_id x
    %zero = arith.constant 0.0 : f32
    %odd = arith.constant true
    %even = arith.constant false
    %all = arith.constant -1 : i32
    %bytes = arith.constant 1024 : index
    %ticks = arith.constant 10000000 : index
    %full_count = arith.constant 32 : index
    %empty_count = arith.constant 64 : index
    %lane = arith.remui %tx, %c32 : index
    %warp = arith.divui %tx, %c32 : index
    %leads = arith.cmpi eq, %lane, %c0 : index
    %first = arith.cmpi eq, %tx, %c0 : index
    %full = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 2>
    %empty = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 2>
    scf.if %first {
      scf.for %j = %c0 to %c2 step %c1 {
        nvgpu.mbarrier.init %full[%j], %full_count : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 2>
        nvgpu.mbarrier.init %empty[%j], %empty_count : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 2>
      }
      nvvm.fence.mbarrier.init
    }
    gpu.barrier
    %start = arith.muli %bx, %n : index
    %is_producer = arith.cmpi eq, %warp, %c2 : index
    scf.if %is_producer {
            scf.for %kp = %c0 to %n step %c1 {
        %slotp = arith.remui %kp, %c2 : index
        %roundp = arith.divui %kp, %c2 : index
        %bitp = arith.remui %roundp, %c2 : index
        %parp = arith.index_cast %bitp : index to i1
        %phasep = arith.xori %parp, %odd : i1
        nvgpu.mbarrier.try_wait.parity %empty[%slotp], %phasep, %ticks : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 2>
        %number = arith.addi %start, %kp : index
        %row = arith.muli %number, %c8 : index
        scf.for %j = %c0 to %c8 step %c1 {
          %at = arith.addi %row, %j : index
          %x = memref.load %in[%at, %lane] : memref<?x32xf32>
          memref.store %x, %w[%slotp, %j, %lane] : memref<2x8x32xf32, #wg>
        }
        %tokenp = nvgpu.mbarrier.arrive %full[%slotp] : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 2> -> !nvgpu.mbarrier.token
      }
    } else {
      %from = arith.muli %warp, %c4 : index
      %to = arith.addi %from, %c4 : index
      %before = arith.addf %zero, %zero : f32
      %rc:1 = scf.for %kc = %c0 to %n step %c1 iter_args(%sum = %before) -> (f32) {
        %slotc = arith.remui %kc, %c2 : index
        %roundc = arith.divui %kc, %c2 : index
        %bitc = arith.remui %roundc, %c2 : index
        %parc = arith.index_cast %bitc : index to i1
        %phasec = arith.xori %parc, %even : i1
        nvgpu.mbarrier.try_wait.parity %full[%slotc], %phasec, %ticks : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 2>
        %new = scf.for %i = %from to %to step %c1 iter_args(%part = %sum) -> f32 {
          %x = memref.load %w[%slotc, %i, %lane] : memref<2x8x32xf32, #wg>
          %more = arith.addf %part, %x : f32
          scf.yield %more : f32
        }
        %tokenc = nvgpu.mbarrier.arrive %empty[%slotc] : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 2> -> !nvgpu.mbarrier.token
        scf.yield %new : f32
      }
      memref.store %rc#0, %sums[%bx, %tx] : memref<2x64xf32>
    }
    gpu.return
  }

  // Lanes copy, and wait for their own copies before one of them arrives.
  gpu.func @copies(%in: memref<?x32xf32> {llvm.noalias}, %sums: memref<2x32xf32> {llvm.noalias}, %n: index)
      workgroup(%w: memref<3x8x32xf32, #wg>)
      kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %tx = gpu.thread_id x
    %bx = gpu.block_id x
    %zero = arith.constant 0.0 : f32
    %odd = arith.constant true
    %even = arith.constant false
    %all = arith.constant -1 : i32
    %bytes = arith.constant 1024 : index
    %ticks = arith.constant 10000000 : index
    %full_count = arith.constant 1 : index
    %empty_count = arith.constant 1 : index
    %lane = arith.remui %tx, %c32 : index
    %warp = arith.divui %tx, %c32 : index
    %leads = arith.cmpi eq, %lane, %c0 : index
    %first = arith.cmpi eq, %tx, %c0 : index
    %full = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
    %empty = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
    scf.if %first {
      scf.for %j = %c0 to %c3 step %c1 {
        nvgpu.mbarrier.init %full[%j], %full_count : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        nvgpu.mbarrier.init %empty[%j], %empty_count : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
      }
      nvvm.fence.mbarrier.init
    }
    gpu.barrier
    %start = arith.muli %bx, %n : index
    %is_producer = arith.cmpi eq, %warp, %c1 : index
    scf.if %is_producer {
            scf.for %kp = %c0 to %n step %c1 {
        %slotp = arith.remui %kp, %c3 : index
        %roundp = arith.divui %kp, %c3 : index
        %bitp = arith.remui %roundp, %c2 : index
        %parp = arith.index_cast %bitp : index to i1
        %phasep = arith.xori %parp, %odd : i1
        nvgpu.mbarrier.try_wait.parity %empty[%slotp], %phasep, %ticks : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        %number = arith.addi %start, %kp : index
        %row = arith.muli %number, %c8 : index
        scf.for %j = %c0 to %c8 step %c1 {
          %at = arith.addi %row, %j : index
          %t = nvgpu.device_async_copy %in[%at, %lane], %w[%slotp, %j, %lane], 1 :
              memref<?x32xf32> to memref<3x8x32xf32, #wg>
        }
        nvvm.cp.async.commit.group
        nvvm.cp.async.wait.group 0
        nvvm.bar.warp.sync %all : i32
        scf.if %leads {
          %tokenp = nvgpu.mbarrier.arrive %full[%slotp] : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3> -> !nvgpu.mbarrier.token
        }
      }
    } else {
      %from = arith.muli %warp, %c8 : index
      %to = arith.addi %from, %c8 : index
      %before = arith.addf %zero, %zero : f32
      %rc:1 = scf.for %kc = %c0 to %n step %c1 iter_args(%sum = %before) -> (f32) {
        %slotc = arith.remui %kc, %c3 : index
        %roundc = arith.divui %kc, %c3 : index
        %bitc = arith.remui %roundc, %c2 : index
        %parc = arith.index_cast %bitc : index to i1
        %phasec = arith.xori %parc, %even : i1
        nvgpu.mbarrier.try_wait.parity %full[%slotc], %phasec, %ticks : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3>
        %new = scf.for %i = %from to %to step %c1 iter_args(%part = %sum) -> f32 {
          %x = memref.load %w[%slotc, %i, %lane] : memref<3x8x32xf32, #wg>
          %more = arith.addf %part, %x : f32
          scf.yield %more : f32
        }
        nvvm.bar.warp.sync %all : i32
        scf.if %leads {
          %tokenc = nvgpu.mbarrier.arrive %empty[%slotc] : !nvgpu.mbarrier.group<memorySpace = #wg, num_barriers = 3> -> !nvgpu.mbarrier.token
        }
        scf.yield %new : f32
      }
      memref.store %rc#0, %sums[%bx, %tx] : memref<2x32xf32>
    }
    gpu.return
  }
}
