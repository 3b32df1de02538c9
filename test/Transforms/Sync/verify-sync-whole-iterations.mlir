// RUN: mlir-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(workgroup-verify-sync)' -o /dev/null

// Stored in both iterations of the inner loop in iteration 0 of the outer one, with a barrier between them, but
// none behind the second one, nor in iteration 1: that of iteration 0 is not taken for one of iteration 1.
gpu.module @m {
  gpu.func @far(%out: memref<4096xf32> {llvm.noalias}, %in: memref<64xindex> {llvm.noalias}, %n: index) workgroup(%S: memref<4096xf32, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %last = arith.constant 63 : index
    %u = arith.subi %last, %t : index
    %tf = arith.index_cast %t : index to i32
    %y = arith.sitofp %tf : i32 to f32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    scf.for %i = %c0 to %c3 step %c1 {
      %c = arith.cmpi eq, %i, %c0 : index
      %l = arith.cmpi eq, %i, %c2 : index
      // expected-warning @+1 {{possible data race on workgroup memory}}
      scf.if %l { %v1 = memref.load %S[%u] : memref<4096xf32, #gpu.address_space<workgroup>>
        memref.store %v1, %out[%t] : memref<4096xf32> }
      %r = scf.while (%j = %c0) : (index) -> index {
        // expected-note @+1 {{the other access}}
        scf.if %c { memref.store %y, %S[%t] : memref<4096xf32, #gpu.address_space<workgroup>> }
        %go = arith.cmpi slt, %j, %c1 : index
        scf.condition(%go) %j : index
      } do {
        ^bb0(%j: index):
        scf.if %c { gpu.barrier }
        %nj = arith.addi %j, %c1 : index
        scf.yield %nj : index
      }
    }
    gpu.return
  }
}

// -----

// A branch region that two branches share: neither access excludes the other.
gpu.module @m {
  gpu.func @shared_arm(%out: memref<4096xf32> {llvm.noalias}, %in: memref<64xindex> {llvm.noalias}, %n: index) workgroup(%S: memref<4096xf32, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %last = arith.constant 63 : index
    %u = arith.subi %last, %t : index
    %tf = arith.index_cast %t : index to i32
    %y = arith.sitofp %tf : i32 to f32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c = arith.cmpi sgt, %n, %c0 : index
    %d = arith.cmpi sgt, %n, %c1 : index
    cf.cond_br %c, ^a, ^b
    ^a:
    memref.store %y, %S[%t] : memref<4096xf32, #gpu.address_space<workgroup>>
    cf.cond_br %d, ^b, ^e
    ^b:
    // expected-warning @+1 {{the branches between these blocks are no nest of loops}}
    %v1 = memref.load %S[%u] : memref<4096xf32, #gpu.address_space<workgroup>>
    memref.store %v1, %out[%t] : memref<4096xf32>
    cf.br ^e
    ^e:
    gpu.return
  }
}

// -----

// The barrier that stands behind the fence is in iteration 0, in front of it; in iteration 1 it is not taken.
!map = !nvgpu.tensormap.descriptor<tensor = memref<128xf32, #gpu.address_space<workgroup>>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!S = memref<2x128xf32, #gpu.address_space<workgroup>>
!tile = memref<128xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @fence(%map: !map, %out: memref<128xf32>, %n: index) workgroup(%S: !S) kernel
  attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %x = arith.constant 1.0 : f32
    %t = gpu.thread_id x
    %elected = arith.cmpi eq, %t, %c0 : index
    scf.for %i = %c0 to %c2 step %c1 {
      %f = arith.cmpi eq, %i, %c0 : index
      %l = arith.cmpi eq, %i, %c1 : index
      nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
      // expected-note @+1 {{the other access}}
      scf.if %f { memref.store %x, %S[%c0, %t] : !S }
      scf.if %f { gpu.barrier }
      scf.if %l { scf.if %elected {
          %T = memref.subview %S[%c0, 0] [1, 128] [1, 1] : !S to !tile
          // expected-warning @+1 {{possible data race on workgroup memory}}
          nvgpu.tma.async.store %T to %map[%c0] : !tile -> !map
          nvvm.cp.async.bulk.commit.group
          nvvm.cp.async.bulk.wait_group 0
        } }
    }
    gpu.return
  }
}

// -----

// The loop is left between the copy and the wait for it.
gpu.module @m {
  gpu.func @wait(%out: memref<4096xf32> {llvm.noalias}, %in: memref<4096xf32> {llvm.noalias}, %n: index) workgroup(%S: memref<4096xf32, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %last = arith.constant 63 : index
    %u = arith.subi %last, %t : index
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %r = scf.while (%i = %c0) : (index) -> index {
      // expected-warning @+2 {{possible data race on workgroup memory}}
      // expected-note @+1 {{the other access}}
      %tok = nvgpu.device_async_copy %in[%t], %S[%t], 1 : memref<4096xf32> to memref<4096xf32, #gpu.address_space<workgroup>>
      nvvm.cp.async.commit.group
      %g = arith.cmpi slt, %i, %n : index
      scf.condition(%g) %i : index
    } do {
      ^bb0(%i: index):
      nvvm.cp.async.wait.group 0
      gpu.barrier
      %j = arith.addi %i, %c1 : index
      scf.yield %j : index
    }
    gpu.barrier
    %v1 = memref.load %S[%u] : memref<4096xf32, #gpu.address_space<workgroup>>
    memref.store %v1, %out[%t] : memref<4096xf32>
    gpu.return
  }
}

// -----

// The loop is left between the copy and what commits it.
gpu.module @m {
  gpu.func @commit(%out: memref<4096xf32> {llvm.noalias}, %in: memref<4096xf32> {llvm.noalias}, %n: index) workgroup(%S: memref<4096xf32, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %last = arith.constant 63 : index
    %u = arith.subi %last, %t : index
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %r = scf.while (%i = %c0) : (index) -> index {
      nvvm.cp.async.wait.group 0
      gpu.barrier
      // expected-warning @+2 {{possible data race on workgroup memory}}
      // expected-note @+1 {{the other access}}
      %tok = nvgpu.device_async_copy %in[%t], %S[%t], 1 : memref<4096xf32> to memref<4096xf32, #gpu.address_space<workgroup>>
      %g = arith.cmpi slt, %i, %n : index
      scf.condition(%g) %i : index
    } do {
      ^bb0(%i: index):
      nvvm.cp.async.commit.group
      %j = arith.addi %i, %c1 : index
      scf.yield %j : index
    }
    nvvm.cp.async.wait.group 0
    gpu.barrier
    %v1 = memref.load %S[%u] : memref<4096xf32, #gpu.address_space<workgroup>>
    memref.store %v1, %out[%t] : memref<4096xf32>
    gpu.return
  }
}

// -----

// What a loop of one iteration hands on is not what it was given: all threads store.
gpu.module @m {
  gpu.func @one_iteration(%out: memref<4096xf32> {llvm.noalias}, %in: memref<64xindex> {llvm.noalias}, %n: index) workgroup(%S: memref<4096xf32, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %last = arith.constant 63 : index
    %u = arith.subi %last, %t : index
    %tf = arith.index_cast %t : index to i32
    %y = arith.sitofp %tf : i32 to f32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %r = scf.for %i = %c0 to %c1 step %c1 iter_args(%a = %c0) -> (index) {
      %z = arith.addi %a, %c1 : index
      scf.yield %z : index
    }
    %g = arith.cmpi eq, %r, %c1 : index
    // expected-note @+1 {{the other access}}
    scf.if %g { memref.store %y, %S[%t] : memref<4096xf32, #gpu.address_space<workgroup>> }
    // expected-error @+1 {{data race on workgroup memory}}
    %v1 = memref.load %S[%u] : memref<4096xf32, #gpu.address_space<workgroup>>
    memref.store %v1, %out[%t] : memref<4096xf32>
    gpu.return
  }
}

// -----

// Counted modulo 3, the result of three iterations is 0.
gpu.module @m {
  gpu.func @remainder(%out: memref<4096xf32> {llvm.noalias}, %in: memref<64xindex> {llvm.noalias}, %n: index) workgroup(%S: memref<4096xf32, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %last = arith.constant 63 : index
    %u = arith.subi %last, %t : index
    %tf = arith.index_cast %t : index to i32
    %y = arith.sitofp %tf : i32 to f32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %c0) -> (index) {
      %d = arith.addi %a, %c1 : index
      %e = arith.cmpi eq, %d, %c3 : index
      %z = arith.select %e, %c0, %d : index
      scf.yield %z : index
    }
    %g = arith.cmpi eq, %r, %c0 : index
    // expected-note @+1 {{the other access}}
    scf.if %g { memref.store %y, %S[%t] : memref<4096xf32, #gpu.address_space<workgroup>> }
    // expected-error @+1 {{data race on workgroup memory}}
    %v1 = memref.load %S[%u] : memref<4096xf32, #gpu.address_space<workgroup>>
    memref.store %v1, %out[%t] : memref<4096xf32>
    gpu.return
  }
}

// -----

// A slot that an inner loop of one iteration moves on.
gpu.module @m {
  gpu.func @nested_ring(%out: memref<4096xf32> {llvm.noalias}, %in: memref<64xindex> {llvm.noalias}, %n: index) workgroup(%S: memref<4096xf32, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %last = arith.constant 63 : index
    %u = arith.subi %last, %t : index
    %tf = arith.index_cast %t : index to i32
    %y = arith.sitofp %tf : i32 to f32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c6 = arith.constant 6 : index
    %c64 = arith.constant 64 : index
    %r = scf.for %i = %c0 to %c6 step %c1 iter_args(%a = %c0) -> (index) {
      gpu.barrier
      %q = scf.for %j = %c0 to %c1 step %c1 iter_args(%b = %a) -> (index) {
        %g = arith.cmpi sge, %a, %c2 : index
        %m = arith.muli %b, %c64 : index
        %p = arith.addi %m, %t : index
        %s = arith.addi %m, %u : index
        // expected-note @+1 {{the other access}}
        scf.if %g { memref.store %y, %S[%p] : memref<4096xf32, #gpu.address_space<workgroup>> }
        // expected-error @+1 {{data race on workgroup memory}}
        %v1 = memref.load %S[%s] : memref<4096xf32, #gpu.address_space<workgroup>>
        memref.store %v1, %out[%t] : memref<4096xf32>
        %d = arith.addi %b, %c1 : index
        %z = arith.remui %d, %c3 : index
        scf.yield %z : index
      }
      scf.yield %q : index
    }
    gpu.return
  }
}
