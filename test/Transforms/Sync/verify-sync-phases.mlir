// What TMA copies is waited for by phases of mbarriers: one for each slot of a
// ring, or one for each copy, in loops, branches and straight on.

// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-verify-sync{strict=true})' --verify-diagnostics -o /dev/null
// RUN: mlir-opt %s --pass-pipeline='builtin.module(lower-affine,convert-scf-to-cf,workgroup-verify-sync{strict=true})' --verify-diagnostics -o /dev/null
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-insert-barriers)' -o %t.once
// RUN: mlir-opt %s | diff %t.once -

!bar = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
!bars = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 3>
!map = !nvgpu.tensormap.descriptor<tensor = memref<128xf32, #gpu.address_space<workgroup>>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!tile = memref<128xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>

gpu.module @phases {
  // Two iterations ahead of the reader, in three slots. The barrier is for the slot
  // that was read an iteration ago: what has arrived needs none.
  gpu.func @ring(%map: !map, %out: memref<?x128xf32> {llvm.noalias}, %n: index)
      workgroup(%S: memref<3x128xf32, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %bytes = arith.constant 512 : index
    %ticks = arith.constant 10000000 : index
    %even = arith.constant false
    %t = gpu.thread_id x
    %bars = nvgpu.mbarrier.create -> !bars
    %elected = arith.cmpi eq, %t, %c0 : index
    scf.if %elected {
      nvgpu.mbarrier.init %bars[%c0], %c1 : !bars
      nvgpu.mbarrier.init %bars[%c1], %c1 : !bars
      nvgpu.mbarrier.init %bars[%c2], %c1 : !bars
      nvvm.fence.mbarrier.init
    }
    gpu.barrier
    %has0 = arith.cmpi sgt, %n, %c0 : index
    scf.if %has0 {
      scf.if %elected {
        %S0 = memref.subview %S[0, 0] [1, 128] [1, 1] : memref<3x128xf32, #gpu.address_space<workgroup>> to memref<128xf32, strided<[1]>, #gpu.address_space<workgroup>>
        nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %bytes : !bars
        nvgpu.tma.async.load %map[%c0], %bars[%c0] to %S0 : !map, !bars -> memref<128xf32, strided<[1]>, #gpu.address_space<workgroup>>
      }
    }
    %has1 = arith.cmpi sgt, %n, %c1 : index
    scf.if %has1 {
      scf.if %elected {
        %S1 = memref.subview %S[1, 0] [1, 128] [1, 1] : memref<3x128xf32, #gpu.address_space<workgroup>> to memref<128xf32, strided<[1], offset: 128>, #gpu.address_space<workgroup>>
        nvgpu.mbarrier.arrive.expect_tx %bars[%c1], %bytes : !bars
        nvgpu.tma.async.load %map[%c1], %bars[%c1] to %S1 : !map, !bars -> memref<128xf32, strided<[1], offset: 128>, #gpu.address_space<workgroup>>
      }
    }
    %end:3 = scf.for %i = %c0 to %n step %c1 iter_args(%to = %c2, %from = %c0, %phase = %even) -> (index, index, i1) {
      nvgpu.mbarrier.try_wait.parity %bars[%from], %phase, %ticks : !bars
      nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
      gpu.barrier
      %later = arith.addi %i, %c2 : index
      %has = arith.cmpi slt, %later, %n : index
      scf.if %has {
        scf.if %elected {
          %T = memref.subview %S[%to, 0] [1, 128] [1, 1] : memref<3x128xf32, #gpu.address_space<workgroup>> to !tile
          nvgpu.mbarrier.arrive.expect_tx %bars[%to], %bytes : !bars
          nvgpu.tma.async.load %map[%later], %bars[%to] to %T : !map, !bars -> !tile
        }
      }
      %x = memref.load %S[%from, %t] : memref<3x128xf32, #gpu.address_space<workgroup>>
      memref.store %x, %out[%i, %t] : memref<?x128xf32>
      %to1 = arith.addi %to, %c1 : index
      %to2 = arith.remui %to1, %c3 : index
      %from1 = arith.addi %from, %c1 : index
      %is_last = arith.cmpi eq, %from, %c2 : index
      %from2 = arith.select %is_last, %c0, %from1 : index
      %phase2 = arith.xori %phase, %is_last : i1
      scf.yield %to2, %from2, %phase2 : index, index, i1
    }
    gpu.return
  }

  // The iteration says which mbarrier and which phase.
  gpu.func @counted(%map: !map, %out: memref<?x128xf32> {llvm.noalias}, %n: index)
      workgroup(%S: memref<3x128xf32, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %bytes = arith.constant 512 : index
    %ticks = arith.constant 10000000 : index
    %t = gpu.thread_id x
    %bars = nvgpu.mbarrier.create -> !bars
    %elected = arith.cmpi eq, %t, %c0 : index
    scf.if %elected {
      nvgpu.mbarrier.init %bars[%c0], %c1 : !bars
      nvgpu.mbarrier.init %bars[%c1], %c1 : !bars
      nvgpu.mbarrier.init %bars[%c2], %c1 : !bars
      nvvm.fence.mbarrier.init
    }
    gpu.barrier
    %has0 = arith.cmpi sgt, %n, %c0 : index
    scf.if %has0 {
      scf.if %elected {
        %S0 = memref.subview %S[0, 0] [1, 128] [1, 1] : memref<3x128xf32, #gpu.address_space<workgroup>> to memref<128xf32, strided<[1]>, #gpu.address_space<workgroup>>
        nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %bytes : !bars
        nvgpu.tma.async.load %map[%c0], %bars[%c0] to %S0 : !map, !bars -> memref<128xf32, strided<[1]>, #gpu.address_space<workgroup>>
      }
    }
    %has1 = arith.cmpi sgt, %n, %c1 : index
    scf.if %has1 {
      scf.if %elected {
        %S1 = memref.subview %S[1, 0] [1, 128] [1, 1] : memref<3x128xf32, #gpu.address_space<workgroup>> to memref<128xf32, strided<[1], offset: 128>, #gpu.address_space<workgroup>>
        nvgpu.mbarrier.arrive.expect_tx %bars[%c1], %bytes : !bars
        nvgpu.tma.async.load %map[%c1], %bars[%c1] to %S1 : !map, !bars -> memref<128xf32, strided<[1], offset: 128>, #gpu.address_space<workgroup>>
      }
    }
    %end = scf.for %i = %c0 to %n step %c1 iter_args(%to = %c2) -> index {
      %from = arith.remui %i, %c3 : index
      %round = arith.divui %i, %c3 : index
      %odd = arith.remui %round, %c2 : index
      %phase = arith.cmpi ne, %odd, %c0 : index
      nvgpu.mbarrier.try_wait.parity %bars[%from], %phase, %ticks : !bars
      nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
      gpu.barrier
      %later = arith.addi %i, %c2 : index
      %has = arith.cmpi slt, %later, %n : index
      scf.if %has {
        scf.if %elected {
          %T = memref.subview %S[%to, 0] [1, 128] [1, 1] : memref<3x128xf32, #gpu.address_space<workgroup>> to !tile
          nvgpu.mbarrier.arrive.expect_tx %bars[%to], %bytes : !bars
          nvgpu.tma.async.load %map[%later], %bars[%to] to %T : !map, !bars -> !tile
        }
      }
      %x = memref.load %S[%from, %t] : memref<3x128xf32, #gpu.address_space<workgroup>>
      memref.store %x, %out[%i, %t] : memref<?x128xf32>
      %to1 = arith.addi %to, %c1 : index
      %to2 = arith.remui %to1, %c3 : index
      scf.yield %to2 : index
    }
    gpu.return
  }

  // What goes before the ring is in loops, too.
  gpu.func @in_loops(%map: !map, %out: memref<?x128xf32> {llvm.noalias}, %n: index)
      workgroup(%S: memref<3x128xf32, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %bytes = arith.constant 512 : index
    %ticks = arith.constant 10000000 : index
    %t = gpu.thread_id x
    %bars = nvgpu.mbarrier.create -> !bars
    %elected = arith.cmpi eq, %t, %c0 : index
    scf.if %elected {
      scf.for %j = %c0 to %c3 step %c1 {
        nvgpu.mbarrier.init %bars[%j], %c1 : !bars
      }
      nvvm.fence.mbarrier.init
    }
    gpu.barrier
    affine.for %j = 0 to 2 {
      %has_j = arith.cmpi sgt, %n, %j : index
      scf.if %has_j {
        scf.if %elected {
          %S0 = memref.subview %S[%j, 0] [1, 128] [1, 1] : memref<3x128xf32, #gpu.address_space<workgroup>> to !tile
          nvgpu.mbarrier.arrive.expect_tx %bars[%j], %bytes : !bars
          nvgpu.tma.async.load %map[%j], %bars[%j] to %S0 : !map, !bars -> !tile
        }
      }
    }
    %end = scf.for %i = %c0 to %n step %c1 iter_args(%to = %c2) -> index {
      %from = arith.remui %i, %c3 : index
      %round = arith.divui %i, %c3 : index
      %odd = arith.remui %round, %c2 : index
      %phase = arith.cmpi ne, %odd, %c0 : index
      nvgpu.mbarrier.try_wait.parity %bars[%from], %phase, %ticks : !bars
      nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
      gpu.barrier
      %later = arith.addi %i, %c2 : index
      %has = arith.cmpi slt, %later, %n : index
      scf.if %has {
        scf.if %elected {
          %T = memref.subview %S[%to, 0] [1, 128] [1, 1] : memref<3x128xf32, #gpu.address_space<workgroup>> to !tile
          nvgpu.mbarrier.arrive.expect_tx %bars[%to], %bytes : !bars
          nvgpu.tma.async.load %map[%later], %bars[%to] to %T : !map, !bars -> !tile
        }
      }
      %x = memref.load %S[%from, %t] : memref<3x128xf32, #gpu.address_space<workgroup>>
      memref.store %x, %out[%i, %t] : memref<?x128xf32>
      %to1 = arith.addi %to, %c1 : index
      %to2 = arith.remui %to1, %c3 : index
      scf.yield %to2 : index
    }
    gpu.return
  }

  // Each iteration waits for its own copy; the phase goes on through both loops.
  gpu.func @own_iteration(%map: !map, %out: memref<?x128xf32> {llvm.noalias}, %n: index)
      workgroup(%S: memref<128xf32, #gpu.address_space<workgroup>>)
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
    %outer = scf.for %o = %c0 to %n step %c1 iter_args(%begin = %even) -> (i1) {
      %inner = scf.for %i = %c0 to %n step %c1 iter_args(%phase = %begin) -> (i1) {
        scf.if %elected {
          nvgpu.mbarrier.arrive.expect_tx %bar[%c0], %bytes : !bar
          nvgpu.tma.async.load %map[%i], %bar[%c0] to %S : !map, !bar -> memref<128xf32, #gpu.address_space<workgroup>>
        }
        nvgpu.mbarrier.try_wait.parity %bar[%c0], %phase, %ticks : !bar
        %x = memref.load %S[%u] : memref<128xf32, #gpu.address_space<workgroup>>
        memref.store %x, %out[%i, %t] : memref<?x128xf32>
        nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
        gpu.barrier
        %next = arith.xori %phase, %one : i1
        scf.yield %next : i1
      }
      scf.yield %inner : i1
    }
    gpu.return
  }

  // Only some iterations copy: the others leave the phase as it is.
  gpu.func @some_iterations(%map: !map, %out: memref<?x128xf32> {llvm.noalias}, %n: index, %m: index)
      workgroup(%S: memref<128xf32, #gpu.address_space<workgroup>>)
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
    %end = scf.for %i = %c0 to %n step %c1 iter_args(%phase = %even) -> (i1) {
      %rest = arith.remui %i, %m : index
      %copies = arith.cmpi eq, %rest, %c0 : index
      %next = scf.if %copies -> (i1) {
        scf.if %elected {
          nvgpu.mbarrier.arrive.expect_tx %bar[%c0], %bytes : !bar
          nvgpu.tma.async.load %map[%i], %bar[%c0] to %S : !map, !bar -> memref<128xf32, #gpu.address_space<workgroup>>
        }
        nvgpu.mbarrier.try_wait.parity %bar[%c0], %phase, %ticks : !bar
        %flipped = arith.xori %phase, %one : i1
        scf.yield %flipped : i1
      } else {
        scf.yield %phase : i1
      }
      %x = memref.load %S[%u] : memref<128xf32, #gpu.address_space<workgroup>>
      memref.store %x, %out[%i, %t] : memref<?x128xf32>
      nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
      gpu.barrier
      scf.yield %next : i1
    }
    gpu.return
  }

  // Two copies for one phase, and one for another one.
  gpu.func @straight(%map: !map, %out: memref<128xf32> {llvm.noalias})
      workgroup(%A: memref<128xf32, #gpu.address_space<workgroup>>,
                %B: memref<128xf32, #gpu.address_space<workgroup>>,
                %C: memref<128xf32, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c127 = arith.constant 127 : index
    %bytes = arith.constant 512 : index
    %twice = arith.constant 1024 : index
    %ticks = arith.constant 10000000 : index
    %even = arith.constant false
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %bars = nvgpu.mbarrier.create -> !bars
    %elected = arith.cmpi eq, %t, %c0 : index
    scf.if %elected {
      nvgpu.mbarrier.init %bars[%c0], %c1 : !bars
      nvgpu.mbarrier.init %bars[%c1], %c1 : !bars
      nvgpu.mbarrier.init %bars[%c2], %c1 : !bars
      nvvm.fence.mbarrier.init
    }
    gpu.barrier
    scf.if %elected {
      nvgpu.mbarrier.arrive.expect_tx %bars[%c0], %twice : !bars
      nvgpu.tma.async.load %map[%c0], %bars[%c0] to %A : !map, !bars -> memref<128xf32, #gpu.address_space<workgroup>>
      nvgpu.tma.async.load %map[%c1], %bars[%c0] to %B : !map, !bars -> memref<128xf32, #gpu.address_space<workgroup>>
      nvgpu.mbarrier.arrive.expect_tx %bars[%c2], %bytes : !bars
      nvgpu.tma.async.load %map[%c2], %bars[%c2] to %C : !map, !bars -> memref<128xf32, #gpu.address_space<workgroup>>
    }
    nvgpu.mbarrier.try_wait.parity %bars[%c0], %even, %ticks : !bars
    %x = memref.load %A[%u] : memref<128xf32, #gpu.address_space<workgroup>>
    %y = memref.load %B[%u] : memref<128xf32, #gpu.address_space<workgroup>>
    nvgpu.mbarrier.try_wait.parity %bars[%c2], %even, %ticks : !bars
    %z = memref.load %C[%u] : memref<128xf32, #gpu.address_space<workgroup>>
    %xy = arith.addf %x, %y : f32
    %xyz = arith.addf %xy, %z : f32
    memref.store %xyz, %out[%t] : memref<128xf32>
    gpu.return
  }

  // A number that is 1 less it in the next iteration, and the low bit of the iteration.
  gpu.func @flipped(%map: !map, %out: memref<?x128xf32> {llvm.noalias}, %n: index)
      workgroup(%S: memref<128xf32, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c127 = arith.constant 127 : index
    %bytes = arith.constant 512 : index
    %ticks = arith.constant 10000000 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %bar = nvgpu.mbarrier.create -> !bar
    %elected = arith.cmpi eq, %t, %c0 : index
    scf.if %elected {
      nvgpu.mbarrier.init %bar[%c0], %c1 : !bar
      nvvm.fence.mbarrier.init
    }
    gpu.barrier
    %i0 = arith.constant 0 : i32
    %i1 = arith.constant 1 : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%p = %i0) -> (i32) {
        %phase = arith.cmpi ne, %p, %i0 : i32
        scf.if %elected {
          nvgpu.mbarrier.arrive.expect_tx %bar[%c0], %bytes : !bar
          nvgpu.tma.async.load %map[%i], %bar[%c0] to %S : !map, !bar -> memref<128xf32, #gpu.address_space<workgroup>>
        }
        nvgpu.mbarrier.try_wait.parity %bar[%c0], %phase, %ticks : !bar
        %x = memref.load %S[%u] : memref<128xf32, #gpu.address_space<workgroup>>
        memref.store %x, %out[%i, %t] : memref<?x128xf32>
        nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
        gpu.barrier
      %np = arith.subi %i1, %p : i32
      scf.yield %np : i32
    }
    gpu.return
  }

  
  gpu.func @by_bits(%map: !map, %out: memref<?x128xf32> {llvm.noalias}, %n: index)
      workgroup(%S: memref<128xf32, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c127 = arith.constant 127 : index
    %bytes = arith.constant 512 : index
    %ticks = arith.constant 10000000 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %bar = nvgpu.mbarrier.create -> !bar
    %elected = arith.cmpi eq, %t, %c0 : index
    scf.if %elected {
      nvgpu.mbarrier.init %bar[%c0], %c1 : !bar
      nvvm.fence.mbarrier.init
    }
    gpu.barrier
    scf.for %i = %c0 to %n step %c1 {
        %bit = arith.andi %i, %c1 : index
        %phase = arith.cmpi ne, %bit, %c0 : index
        scf.if %elected {
          nvgpu.mbarrier.arrive.expect_tx %bar[%c0], %bytes : !bar
          nvgpu.tma.async.load %map[%i], %bar[%c0] to %S : !map, !bar -> memref<128xf32, #gpu.address_space<workgroup>>
        }
        nvgpu.mbarrier.try_wait.parity %bar[%c0], %phase, %ticks : !bar
        %x = memref.load %S[%u] : memref<128xf32, #gpu.address_space<workgroup>>
        memref.store %x, %out[%i, %t] : memref<?x128xf32>
        nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
        gpu.barrier
    }
    gpu.return
  }

  }
