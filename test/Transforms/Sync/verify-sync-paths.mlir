// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-verify-sync)' --verify-diagnostics -o /dev/null

// Paths with a barrier and without: whether one without is taken is not always known, or depends on
// another iteration than it seems.

// The copy of iteration i is waited for in iteration i + 1: whether there is a barrier in that iteration counts.
!ring = memref<64x128xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @b1(%in: memref<40x128xf32>, %out: memref<40x128xf32> {llvm.noalias}) workgroup(%S: !ring) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c32 = arith.constant 32 : index
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    scf.for %i = %c0 to %c32 step %c1 {
      %next = arith.addi %i, %c1 : index
      // expected-note @+1 {{the other access}}
      %tok = nvgpu.device_async_copy %in[%i, %t], %S[%next, %t], 1 : memref<40x128xf32> to !ring
      nvvm.cp.async.commit.group
      nvvm.cp.async.wait.group 1
      %par = arith.remui %i, %c2 : index
      %odd = arith.cmpi eq, %par, %c1 : index
      scf.if %odd {
        gpu.barrier
      }
      %even = arith.cmpi eq, %par, %c0 : index
      scf.if %even {
        // expected-warning @+1 {{possible data race on workgroup memory}}
        %v = memref.load %S[%i, %u] : !ring
        memref.store %v, %out[%i, %t] : memref<40x128xf32>
      }
    }
    gpu.return
  }
}

// -----

// The same, read behind the loop.
!buf = memref<64x128xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @b4(%in: memref<40x128xf32>, %out: memref<40x128xf32> {llvm.noalias}) workgroup(%S: !buf) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c7 = arith.constant 7 : index
    %c8 = arith.constant 8 : index
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    scf.for %i = %c0 to %c8 step %c1 {
      // expected-note @+1 {{the other access}}
      %tok = nvgpu.device_async_copy %in[%i, %t], %S[%i, %t], 1 : memref<40x128xf32> to !buf
      nvvm.cp.async.commit.group
      nvvm.cp.async.wait.group 1
      %is = arith.cmpi eq, %i, %c7 : index
      %no = arith.constant 6 : index
      %is6 = arith.cmpi eq, %i, %no : index
      scf.if %is6 { gpu.barrier }
    }
    %six = arith.constant 6 : index
    // expected-warning @+1 {{possible data race on workgroup memory}}
    %v = memref.load %S[%six, %u] : !buf
    memref.store %v, %out[%c0, %t] : memref<40x128xf32>
    nvvm.cp.async.wait.group 0
    gpu.return
  }
}

// -----

// What holds behind a loop does not hold in it: no iteration has the barrier.
gpu.module @m {
  gpu.func @a2(%c: i1, %n: index, %out: memref<128xf32> {llvm.noalias}) workgroup(%S: memref<128xf32, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c127 = arith.constant 127 : index
    %x = arith.constant 1.0 : f32
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    // expected-note @+1 {{the other access}}
    memref.store %x, %S[%t] : memref<128xf32, #gpu.address_space<workgroup>>
    cf.cond_br %c, ^pre, ^join
  ^pre:
    cf.br ^header(%c0 : index)
  ^header(%i: index):
    %more = arith.cmpi slt, %i, %c4 : index
    cf.cond_br %more, ^body, ^after
  ^body:
    %d = arith.cmpi eq, %i, %c4 : index
    cf.cond_br %d, ^bar, ^latch
  ^bar:
    gpu.barrier
    cf.br ^latch
  ^latch:
    %j = arith.addi %i, %c1 : index
    cf.br ^header(%j : index)
  ^after:
    // expected-warning @+1 {{possible data race on workgroup memory}}
    %v = memref.load %S[%u] : memref<128xf32, #gpu.address_space<workgroup>>
      memref.store %v, %out[%t] : memref<128xf32>
    cf.br ^join
  ^join:
    gpu.return
  }
}

// -----

// Behind the loop it is the last iteration that counts, not that of the store.
gpu.module @m {
  gpu.func @dowhile(%n: index, %out: memref<128xf32> {llvm.noalias}) workgroup(%S: memref<128xf32, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c127 = arith.constant 127 : index
    %x = arith.constant 1.0 : f32
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    cf.br ^header(%c0 : index)
  ^header(%i: index):
    %w = arith.cmpi eq, %i, %c2 : index
    scf.if %w {
      // expected-note @+1 {{the other access}}
      memref.store %x, %S[%t] : memref<128xf32, #gpu.address_space<workgroup>>
    }
    %j = arith.addi %i, %c1 : index
    %more = arith.cmpi slt, %j, %c4 : index
    cf.cond_br %more, ^header(%j : index), ^exit
  ^exit:
    %d = arith.cmpi eq, %i, %c2 : index
    cf.cond_br %d, ^bar, ^after
  ^bar:
    gpu.barrier
    cf.br ^after
  ^after:
    // expected-warning @+1 {{possible data race on workgroup memory}}
    %v = memref.load %S[%u] : memref<128xf32, #gpu.address_space<workgroup>>
    memref.store %v, %out[%t] : memref<128xf32>
    gpu.return
  }
}

// -----

// Whether the barrier is reached is decided before the loop in front of it.
gpu.module @m {
  gpu.func @a1(%c: i1, %n: index, %out: memref<128xf32> {llvm.noalias}) workgroup(%S: memref<128xf32, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c127 = arith.constant 127 : index
    %x = arith.constant 1.0 : f32
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    // expected-note @+1 {{the other access}}
    memref.store %x, %S[%t] : memref<128xf32, #gpu.address_space<workgroup>>
    cf.cond_br %c, ^pre, ^join
  ^pre:
    cf.br ^header(%c0 : index)
  ^header(%i: index):
    %more = arith.cmpi slt, %i, %n : index
    cf.cond_br %more, ^body, ^bar
  ^body:
    %j = arith.addi %i, %c1 : index
    cf.br ^header(%j : index)
  ^bar:
    gpu.barrier
    cf.br ^join
  ^join:
    %neg = arith.cmpi sle, %n, %c0 : index
    scf.if %neg {
      // expected-error @+1 {{data race on workgroup memory}}
      %v = memref.load %S[%u] : memref<128xf32, #gpu.address_space<workgroup>>
      memref.store %v, %out[%t] : memref<128xf32>
    }
    gpu.return
  }
}

// -----

// An unsigned induction variable may be negative if it is taken for signed.
gpu.module @m {
  gpu.func @uns(%out: memref<128xf32> {llvm.noalias}, %n: i8) workgroup(%S: memref<256xf32, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : i8
    %c1 = arith.constant 1 : i8
    %x = arith.constant 1.0 : f32
    %t = gpu.thread_id x
    %z = arith.constant 0 : index
    %c128 = arith.constant 128 : index
    %c127 = arith.constant 127 : index
    scf.for unsigned %i = %c0 to %n step %c1 : i8 {
      %k = arith.index_cast %i : i8 to index
      %p = arith.addi %k, %c128 : index
      %isneg = arith.cmpi slt, %k, %z : index
      %first = arith.cmpi eq, %t, %z : index
      %both = arith.andi %isneg, %first : i1
      scf.if %both {
        // expected-note @+1 {{the other access}}
        memref.store %x, %S[%p] : memref<256xf32, #gpu.address_space<workgroup>>
      }
      %last = arith.cmpi eq, %t, %c127 : index
      %both2 = arith.andi %isneg, %last : i1
      scf.if %both2 {
        // expected-warning @+1 {{possible data race on workgroup memory}}
        %v = memref.load %S[%p] : memref<256xf32, #gpu.address_space<workgroup>>
        memref.store %v, %out[%t] : memref<128xf32>
      }
    }
    gpu.return
  }
}

// -----

// Only some lanes of a warp take the outer branch, but that is another warp.
gpu.module @m {
  gpu.func @present(%out: memref<128xf32> {llvm.noalias}) workgroup(%S: memref<128xf32, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c48 = arith.constant 48 : index
    %c32 = arith.constant 32 : index
    %c1 = arith.constant 1 : index
    %all = arith.constant -1 : i32
    %x = arith.constant 1.0 : f32
    %t = gpu.thread_id x
    %u = arith.xori %t, %c1 : index
    %lt = arith.cmpi ult, %t, %c48 : index
    scf.if %lt {
      %w = arith.cmpi ult, %t, %c32 : index
      scf.if %w {
        // expected-note @+1 {{the other access}}
        memref.store %x, %S[%t] : memref<128xf32, #gpu.address_space<workgroup>>
        nvvm.bar.warp.sync %all : i32
        // expected-warning @+1 {{possible data race on workgroup memory}}
        %v = memref.load %S[%u] : memref<128xf32, #gpu.address_space<workgroup>>
        memref.store %v, %out[%t] : memref<128xf32>
      }
    }
    gpu.return
  }
}

// -----

// The copy is done in the first iteration, and so is the barrier behind the wait for it: that is not followed.
!ring = memref<128xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @b3(%in: memref<40x128xf32>, %out: memref<40x128xf32> {llvm.noalias}) workgroup(%S: !ring) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    // expected-note @+1 {{the other access}}
    %tok = nvgpu.device_async_copy %in[%c0, %t], %S[%t], 1 : memref<40x128xf32> to !ring
    nvvm.cp.async.commit.group
    scf.for %i = %c0 to %c8 step %c1 {
      nvvm.cp.async.wait.group 0
      %first = arith.cmpi eq, %i, %c0 : index
      scf.if %first {
        gpu.barrier
      }
      // expected-warning @+1 {{possible data race on workgroup memory}}
      %v = memref.load %S[%u] : !ring
      memref.store %v, %out[%i, %t] : memref<40x128xf32>
    }
    gpu.return
  }
}

// -----

// Each lane meets one of two barriers of the warp, which may meet there.
gpu.module @m {
  gpu.func @two_barriers(%x: f32, %out: memref<128xf32> {llvm.noalias}) workgroup(%S: memref<128xf32, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %all = arith.constant -1 : i32
    %t = gpu.thread_id x
    %lane = arith.remui %t, %c32 : index
    %low = arith.cmpi ult, %lane, %c16 : index
    %high = arith.cmpi uge, %lane, %c16 : index
    %u = arith.xori %t, %c1 : index
    // expected-note @+1 {{the other access}}
    memref.store %x, %S[%t] : memref<128xf32, #gpu.address_space<workgroup>>
    scf.if %low {
      nvvm.bar.warp.sync %all : i32
    }
    scf.if %high {
      nvvm.bar.warp.sync %all : i32
    }
    // expected-warning @+1 {{possible data race on workgroup memory}}
    %y = memref.load %S[%u] : memref<128xf32, #gpu.address_space<workgroup>>
    memref.store %y, %out[%t] : memref<128xf32>
    gpu.return
  }
}

// -----

// Barriers of a part are not followed where the block goes on.
gpu.module @m {
  gpu.func @behind_part(%x: f32, %out: memref<128xf32> {llvm.noalias}) workgroup(%S: memref<128xf32, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c63 = arith.constant 63 : index
    %c64 = arith.constant 64 : index
    %i1 = arith.constant 1 : i32
    %i64 = arith.constant 64 : i32
    %t = gpu.thread_id x
    %u = arith.subi %c63, %t : index
    %is_low = arith.cmpi ult, %t, %c64 : index
    scf.if %is_low {
      // expected-note @+1 {{the other access}}
      memref.store %x, %S[%t] : memref<128xf32, #gpu.address_space<workgroup>>
      nvvm.barrier id = %i1 number_of_threads = %i64
    }
    scf.if %is_low {
      // expected-warning @+1 {{possible data race on workgroup memory}}
      %y = memref.load %S[%u] : memref<128xf32, #gpu.address_space<workgroup>>
      memref.store %y, %out[%t] : memref<128xf32>
    }
    gpu.return
  }
}

// -----

// Of one iteration, only the first is wrong, and in that there is a barrier. What is read in the third
// iteration is of the second one, and in neither of them there is one.
gpu.module @m {
  gpu.func @carried(%in: memref<64xf32>, %out: memref<64xf32> {llvm.noalias}) workgroup(%S: memref<8x64xf32, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c6 = arith.constant 6 : index
    %c7 = arith.constant 7 : index
    %c63 = arith.constant 63 : index
    %t = gpu.thread_id x
    %u = arith.subi %c63, %t : index
    %x = memref.load %in[%t] : memref<64xf32>
    scf.for %i = %c0 to %c6 step %c1 {
      // expected-note @+1 {{the other access: 'memref.store' writes in thread (63, 0, 0), in the iteration before}}
      memref.store %x, %S[%i, %t] : memref<8x64xf32, #gpu.address_space<workgroup>>
      %first = arith.cmpi eq, %i, %c0 : index
      %third = arith.cmpi eq, %i, %c2 : index
      scf.if %first {
        gpu.barrier
      }
      %other = arith.select %third, %c1, %c7 : index
      %row = arith.select %first, %c0, %other : index
      // expected-error @+1 {{data race on workgroup memory}}
      %v = memref.load %S[%row, %u] : memref<8x64xf32, #gpu.address_space<workgroup>>
      memref.store %v, %out[%t] : memref<64xf32>
    }
    gpu.return
  }
}

// -----

// Two more than what is below another number may be below zero.
gpu.module @m {
  gpu.func @wrapping_counter(%f: f32, %n: i32, %out: memref<128xf32> {llvm.noalias}) workgroup(%S: memref<3x128xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %three = arith.constant 3 : i32
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %end = scf.while (%i = %zero) : (i32) -> i32 {
      %more = arith.cmpi slt, %i, %n : i32
      scf.condition(%more) %i : i32
    } do {
    ^bb0(%i: i32):
      %slot = arith.remsi %i, %three : i32
      %row = arith.index_cast %slot : i32 to index
      // expected-warning @+1 {{possible data race on workgroup memory}}
      memref.store %f, %S[%row, %t] : memref<3x128xf32, 3>
      gpu.barrier
      // expected-note @+1 {{the other access}}
      %v = memref.load %S[%row, %u] : memref<3x128xf32, 3>
      memref.store %v, %out[%t] : memref<128xf32>
      %next = arith.addi %i, %two : i32
      scf.yield %next : i32
    }
    gpu.return
  }
}

// -----

// The branch that is taken in the second iteration is not that of the first iteration, in which the one in it
// would be: nobody gets to the barrier.
gpu.module @m {
  gpu.func @arm_of_other_iteration(%x: f32, %out: memref<128xf32> {llvm.noalias}) workgroup(%S: memref<128xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    scf.for %i = %c0 to %c2 step %c1 {
      %is_first = arith.cmpi eq, %i, %c0 : index
      %is_second = arith.cmpi eq, %i, %c1 : index
      scf.if %is_first {
        // expected-note @+1 {{the other access}}
        memref.store %x, %S[%t] : memref<128xf32, 3>
      }
      scf.if %is_second {
        scf.if %is_first {
          gpu.barrier
        }
      }
      scf.if %is_second {
        // expected-warning @+1 {{possible data race on workgroup memory}}
        %v = memref.load %S[%u] : memref<128xf32, 3>
        memref.store %v, %out[%t] : memref<128xf32>
      }
    }
    gpu.return
  }
}
