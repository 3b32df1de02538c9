// Phases that are not what they seem.

// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-verify-sync)' --verify-diagnostics -o /dev/null

// A loop of blocks waits for the same phase in each iteration.
!bar = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
!map = !nvgpu.tensormap.descriptor<tensor = memref<128xf32, #gpu.address_space<workgroup>>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!S = memref<128xf32, #gpu.address_space<workgroup>>
!S2 = memref<64x128xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @k(%map: !map, %out: memref<?x128xf32> {llvm.noalias}, %n: index)
      workgroup(%S: !S, %SS: !S2)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c127 = arith.constant 127 : index
    %bytes = arith.constant 512 : index
    %ticks = arith.constant 10000000 : index
    %even = arith.constant false
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %bar = nvgpu.mbarrier.create -> !bar
    %elected = arith.cmpi eq, %t, %c0 : index
    scf.if %elected {
      nvgpu.mbarrier.init %bar[%c0], %c1 : !bar
      nvvm.fence.mbarrier.init
    }
    gpu.barrier
    cf.br ^h(%c0 : index)
  ^h(%i: index):
    %more = arith.cmpi slt, %i, %n : index
    cf.cond_br %more, ^b, ^e
  ^b:
      scf.if %elected {
        nvgpu.mbarrier.arrive.expect_tx %bar[%c0], %bytes : !bar
        // expected-note @+3 {{the other access: 'nvgpu.tma.async.load' writes in thread (0, 0, 0)}}
        // expected-note @+2 {{the other access: 'nvgpu.tma.async.load' writes}}
        // expected-warning @+1 {{possible data race on}}
        nvgpu.tma.async.load %map[%c0], %bar[%c0] to %S : !map, !bar -> !S
      }
      // expected-note @+1 {{this does not wait in iteration 1 of its loop, counted from 0: the parity is that of a phase that is over}}
      nvgpu.mbarrier.try_wait.parity %bar[%c0], %even, %ticks : !bar
      // expected-error @+1 {{cannot synchronize 'nvgpu.tma.async.load' and 'memref.load' on}}
      %x = memref.load %S[%u] : !S
      memref.store %x, %out[%i, %t] : memref<?x128xf32>
      nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
      gpu.barrier
      %j = arith.addi %i, %c1 : index
      cf.br ^h(%j : index)
  ^e:
    gpu.return
  }
}

// -----

// A loop of blocks around starts with the first phase again.
!bar = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
!map = !nvgpu.tensormap.descriptor<tensor = memref<128xf32, #gpu.address_space<workgroup>>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!S = memref<128xf32, #gpu.address_space<workgroup>>
!S2 = memref<64x128xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @k(%map: !map, %out: memref<?x128xf32> {llvm.noalias}, %n: index)
      workgroup(%S: !S, %SS: !S2)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c127 = arith.constant 127 : index
    %bytes = arith.constant 512 : index
    %ticks = arith.constant 10000000 : index
    %even = arith.constant false
    %one = arith.constant true
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %bar = nvgpu.mbarrier.create -> !bar
    %elected = arith.cmpi eq, %t, %c0 : index
    scf.if %elected {
      nvgpu.mbarrier.init %bar[%c0], %c1 : !bar
      nvvm.fence.mbarrier.init
    }
    gpu.barrier
    cf.br ^h(%c0 : index)
  ^h(%i: index):
    %more = arith.cmpi slt, %i, %n : index
    cf.cond_br %more, ^b, ^e
  ^b:
    %end = scf.for %k = %c0 to %n step %c1 iter_args(%phase = %even) -> (i1) {
      scf.if %elected {
        nvgpu.mbarrier.arrive.expect_tx %bar[%c0], %bytes : !bar
        // expected-note @+2 {{the other access}}
        // expected-warning @+1 {{possible data race on}}
        nvgpu.tma.async.load %map[%c0], %bar[%c0] to %S : !map, !bar -> !S
      }
      nvgpu.mbarrier.try_wait.parity %bar[%c0], %phase, %ticks : !bar
      %x = memref.load %S[%u] : !S
      memref.store %x, %out[%i, %t] : memref<?x128xf32>
      nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
      gpu.barrier
      %next = arith.xori %phase, %one : i1
      scf.yield %next : i1
    }
      %j = arith.addi %i, %c1 : index
      cf.br ^h(%j : index)
  ^e:
    gpu.return
  }
}

// -----

// There is one mbarrier, however often the function is called.
!bar = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
!map = !nvgpu.tensormap.descriptor<tensor = memref<128xf32, #gpu.address_space<workgroup>>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!S = memref<128xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  func.func private @copy(%map: !map, %S: !S, %at: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %bytes = arith.constant 512 : index
    %ticks = arith.constant 10000000 : index
    %even = arith.constant false
    %t = gpu.thread_id x
    %bar = nvgpu.mbarrier.create -> !bar
    %elected = arith.cmpi eq, %t, %c0 : index
    // expected-note @+2 {{the other access}}
    // expected-warning @+1 {{possible data race on}}
    scf.if %elected { nvgpu.mbarrier.init %bar[%c0], %c1 : !bar }
    gpu.barrier
    scf.if %elected {
      nvgpu.mbarrier.arrive.expect_tx %bar[%c0], %bytes : !bar
      // expected-note @+2 {{the other access}}
      // expected-warning @+1 {{possible data race on}}
      nvgpu.tma.async.load %map[%at], %bar[%c0] to %S : !map, !bar -> !S
    }
    nvgpu.mbarrier.try_wait.parity %bar[%c0], %even, %ticks : !bar
    return
  }
  gpu.func @k(%map: !map, %out: memref<?x128xf32> {llvm.noalias}, %n: index)
      workgroup(%A: !S, %B: !S)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    // expected-note @+2 {{the other access}}
    // expected-warning @+1 {{possible data race on}}
    func.call @copy(%map, %A, %c0) : (!map, !S, index) -> ()
    // expected-note @+2 {{the other access}}
    // expected-warning @+1 {{possible data race on}}
    func.call @copy(%map, %B, %c127) : (!map, !S, index) -> ()
    // expected-warning @+1 {{possible data race on}}
    %x = memref.load %A[%u] : !S
    // expected-warning @+1 {{possible data race on}}
    %y = memref.load %B[%u] : !S
    %z = arith.addf %x, %y : f32
    memref.store %z, %out[%c0, %t] : memref<?x128xf32>
    gpu.return
  }
}

// -----

// TMA writes dense rows, also where the tile has others.
!bar = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
!map = !nvgpu.tensormap.descriptor<tensor = memref<128xf32, #gpu.address_space<workgroup>>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!S = memref<128xf32, #gpu.address_space<workgroup>>
!S2 = memref<64x128xf32, #gpu.address_space<workgroup>>
!map2 = !nvgpu.tensormap.descriptor<tensor = memref<8x64xf32, #gpu.address_space<workgroup>>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!half = memref<8x64xf32, strided<[128, 1]>, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @k(%map: !map, %out: memref<?x128xf32> {llvm.noalias}, %n: index, %m2: !map2)
      workgroup(%S: !S, %SS: !S2)
      kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %ticks = arith.constant 10000000 : index
    %even = arith.constant false
    %t = gpu.thread_id x
    %bar = nvgpu.mbarrier.create -> !bar
    %elected = arith.cmpi eq, %t, %c0 : index
    scf.if %elected {
      nvgpu.mbarrier.init %bar[%c0], %c1 : !bar
      nvvm.fence.mbarrier.init
    }
    gpu.barrier
    %by = arith.constant 2048 : index
    %f = arith.constant 1.0 : f32
    %D = memref.subview %SS[0, 0] [8, 64] [1, 1] : !S2 to !half
    scf.if %elected {
      nvgpu.mbarrier.arrive.expect_tx %bar[%c0], %by : !bar
      // expected-note @+1 {{the other access}}
      nvgpu.tma.async.load %m2[%c0, %c0], %bar[%c0] to %D : !map2, !bar -> !half
    }
    %right = arith.addi %t, %c64 : index
    // expected-warning @+1 {{possible data race on}}
    memref.store %f, %SS[%c0, %right] : !S2
    nvgpu.mbarrier.try_wait.parity %bar[%c0], %even, %ticks : !bar
    gpu.return
  }
}

// -----

// The parity stays that of the first round: in the second one nobody waits.
!bars = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 2>
!map = !nvgpu.tensormap.descriptor<tensor = memref<128xf32, #gpu.address_space<workgroup>>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!tile = memref<128xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>
!S = memref<2x128xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @k(%map: !map, %out: memref<?x128xf32> {llvm.noalias}, %n: index)
      workgroup(%S: !S) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %bytes = arith.constant 512 : index
    %ticks = arith.constant 10000000 : index
    %even = arith.constant false
    %t = gpu.thread_id x
    %bars = nvgpu.mbarrier.create -> !bars
    %elected = arith.cmpi eq, %t, %c0 : index
    scf.if %elected {
      nvgpu.mbarrier.init %bars[%c0], %c1 : !bars
      nvgpu.mbarrier.init %bars[%c1], %c1 : !bars
      nvvm.fence.mbarrier.init
    }
    gpu.barrier
    scf.for %i = %c0 to %n step %c1 {
      %slot = arith.remui %i, %c2 : index
      nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
      gpu.barrier
      scf.if %elected {
        %T = memref.subview %S[%slot, 0] [1, 128] [1, 1] : !S to !tile
        // expected-warning @+1 {{more threads may arrive by 'nvgpu.mbarrier.arrive.expect_tx' than a phase of the mbarrier counts}}
        nvgpu.mbarrier.arrive.expect_tx %bars[%slot], %bytes : !bars
        // expected-note @+3 {{the other access: 'nvgpu.tma.async.load' writes in thread (0, 0, 0)}}
        // expected-warning @+2 {{possible data race on}}
        // expected-note @+1 {{the other access}}
        nvgpu.tma.async.load %map[%i], %bars[%slot] to %T : !map, !bars -> !tile
      }
      // expected-warning @+2 {{may miss the phase that it waits for}}
      // expected-note @+1 {{this does not wait in iteration 2 of its loop, counted from 0: the parity is that of a phase that is over}}
      nvgpu.mbarrier.try_wait.parity %bars[%slot], %even, %ticks : !bars
      // expected-error @+1 {{cannot synchronize 'nvgpu.tma.async.load' and 'memref.load' on workgroup memory %arg3}}
      %x = memref.load %S[%slot, %t] : !S
      memref.store %x, %out[%i, %t] : memref<?x128xf32>
    }
    gpu.return
  }
}
