// RUN: mlir-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(workgroup-verify-sync)' -o /dev/null

// Where a block meets other than at a gpu.barrier.

// All threads of the block add up: who does not come is waited for.
gpu.module @m {
  gpu.func @sum_of_some(%in: memref<128xi32> {llvm.noalias}, %out: memref<128xi32> {llvm.noalias}) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c48 = arith.constant 48 : index
    %t = gpu.thread_id x
    %x = memref.load %in[%t] : memref<128xi32>
    %some = arith.cmpi ult, %t, %c48 : index
    scf.if %some {
      // expected-error @+2 {{barrier in divergent control flow: 'gpu.all_reduce' is not reached by all threads of the block together}}
      // expected-note @+1 {{thread (0, 0, 0) gets here, thread (48, 0, 0) does not}}
      %s = gpu.all_reduce add %x uniform {} : (i32) -> (i32)
      memref.store %s, %out[%t] : memref<128xi32>
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @sum_of_all(%in: memref<128xi32> {llvm.noalias}, %out: memref<128xi32> {llvm.noalias}, %n: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c48 = arith.constant 48 : index
    %t = gpu.thread_id x
    %x = memref.load %in[%t] : memref<128xi32>
    %all = arith.cmpi ult, %n, %c48 : index
    scf.if %all {
      %s = gpu.all_reduce add %x uniform {} : (i32) -> (i32)
      memref.store %s, %out[%t] : memref<128xi32>
    }
    gpu.return
  }
}

// -----

// Half of the threads wait at barrier 0, half at barrier 1, both of them for all.
gpu.module @m {
  gpu.func @two_numbers() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c64 = arith.constant 64 : index
    %t = gpu.thread_id x
    %half = arith.divui %t, %c64 : index
    %number = arith.index_cast %half : index to i32
    // expected-error @+1 {{barrier in divergent control flow: 'nvvm.barrier' has a number that may differ between threads of the block, or is not reached by all of them; give it one number where all pass}}
    nvvm.barrier id = %number
    gpu.return
  }
}

// -----

// One number, that is not known: it is not followed what this orders.
!S = memref<128xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @kernel(%f: f32, %number: i32, %out: memref<128xf32> {llvm.noalias}) workgroup(%S: !S) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    // expected-note @+1 {{the other access}}
    memref.store %f, %S[%t] : !S
    nvvm.barrier id = %number
    // expected-warning @+1 {{possible data race on}}
    %x = memref.load %S[%u] : !S
    memref.store %x, %out[%t] : memref<128xf32>
    gpu.return
  }
}

// -----

// Barriers of the block have numbers, too.
!S = memref<128xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @known_number(%f: f32, %out: memref<128xf32> {llvm.noalias}) workgroup(%S: !S) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c127 = arith.constant 127 : index
    %three = arith.constant 3 : i32
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    memref.store %f, %S[%t] : !S
    nvvm.barrier id = %three
    %x = memref.load %S[%u] : !S
    memref.store %x, %out[%t] : memref<128xf32>
    gpu.return
  }
}

// -----

// What stays a call may hold the barrier.
!S = memref<128xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  func.func @meet(%p: i1) {
    cf.cond_br %p, ^a, ^b
  ^a:
    gpu.barrier
    cf.br ^c
  ^b:
    gpu.barrier
    cf.br ^c
  ^c:
    return
  }
  gpu.func @call(%f: f32, %p: i1, %out: memref<128xf32> {llvm.noalias}) workgroup(%S: !S) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    // expected-note @+1 {{the other access}}
    memref.store %f, %S[%t] : !S
    // expected-warning @+2 {{possible data race on}}
    // expected-note @+1 {{the other access}}
    func.call @meet(%p) : (i1) -> ()
    // expected-warning @+1 {{possible data race on}}
    %x = memref.load %S[%u] : !S
    memref.store %x, %out[%t] : memref<128xf32>
    gpu.return
  }
}

// -----

// Cases of a boolean are 0 and 1, however they are written.
!S = memref<1xindex, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @boolean_cases() workgroup(%S: !S) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %t = gpu.thread_id x
    %p = arith.cmpi ult, %t, %c64 : index
    cf.switch %p : i1, [
      default: ^end,
      1: ^one
    ]
  ^one:
    // expected-error @+2 {{cannot synchronize 'memref.store' and 'memref.store'}}
    // expected-note @+1 {{the other access}}
    memref.store %t, %S[%c0] : !S
    cf.br ^end
  ^end:
    gpu.return
  }
}

// -----

// Of one tile, the lanes 0 to 7 give the rows; the other addresses are not used.
!S = memref<64x8xf16, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @rows_of_a_tile(%f: vector<8xf16>, %out: memref<64x1x2xf16> {llvm.noalias}) workgroup(%S: !S) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c8 = arith.constant 8 : index
    %t = gpu.thread_id x
    %lane = arith.remui %t, %c32 : index
    %isSecond = arith.cmpi uge, %t, %c32 : index
    %isWriter = arith.cmpi uge, %lane, %c8 : index
    %both = arith.andi %isSecond, %isWriter : i1
    scf.if %both {
      vector.store %f, %S[%lane, %c0] : !S, vector<8xf16>
    }
    %x = nvgpu.ldmatrix %S[%lane, %c0] {numTiles = 1 : i32, transpose = false} : !S -> vector<1x2xf16>
    vector.store %x, %out[%t, %c0, %c0] : memref<64x1x2xf16>, vector<1x2xf16>
    gpu.return
  }
}

// -----

!S = memref<64x8xf16, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @rows_of_two_tiles(%f: vector<8xf16>, %out: memref<64x2x2xf16> {llvm.noalias}) workgroup(%S: !S) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c8 = arith.constant 8 : index
    %t = gpu.thread_id x
    %lane = arith.remui %t, %c32 : index
    %isSecond = arith.cmpi uge, %t, %c32 : index
    %isWriter = arith.cmpi uge, %lane, %c8 : index
    %both = arith.andi %isSecond, %isWriter : i1
    scf.if %both {
      // expected-note @+1 {{the other access}}
      vector.store %f, %S[%lane, %c0] : !S, vector<8xf16>
    }
    // expected-error @+1 {{data race on}}
    %x = nvgpu.ldmatrix %S[%lane, %c0] {numTiles = 2 : i32, transpose = false} : !S -> vector<2x2xf16>
    vector.store %x, %out[%t, %c0, %c0] : memref<64x2x2xf16>, vector<2x2xf16>
    gpu.return
  }
}

// -----

// How many elements are read is not known: perhaps none.
!S = memref<64xf32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @some_elements(%f: f32, %n: index, %in: memref<64xf32>) workgroup(%S: !S) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c63 = arith.constant 63 : index
    %t = gpu.thread_id x
    %u = arith.subi %c63, %t : index
    // expected-note @+1 {{the other access}}
    memref.store %f, %in[%t] : memref<64xf32>
    // expected-warning @+1 {{possible data race on}}
    %copy = nvgpu.device_async_copy %in[%u], %S[%t], 1, %n : memref<64xf32> to !S
    %group = nvgpu.device_async_create_group %copy
    nvgpu.device_async_wait %group {numGroups = 0 : i32}
    gpu.return
  }
}

// -----

// A number that is the same for all is the same in a branch of some.
!S = memref<32xi32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @same(%n: i32) workgroup(%S: !S) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c32 = arith.constant 32 : index
    %c40 = arith.constant 40 : index
    %c1 = arith.constant 1 : i32
    %t = gpu.thread_id x
    %sum = arith.addi %n, %c1 : i32
    %some = arith.cmpi ult, %t, %c40 : index
    scf.if %some {
      %i = arith.remui %t, %c32 : index
      memref.store %sum, %S[%i] : !S
    }
    gpu.return
  }
}

// -----

// Threads may be in different iterations of a loop.
!S = memref<1xi32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @iterations(%n: i32) workgroup(%S: !S) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c40 = arith.constant 40 : index
    %t = gpu.thread_id x
    scf.for %i = %c0 to %c40 step %c1 {
      %k = arith.index_cast %i : index to i32
      %sum = arith.addi %n, %k : i32
      %some = arith.cmpi ult, %t, %c40 : index
      scf.if %some {
        // expected-error @+2 {{cannot synchronize 'memref.store' and 'memref.store'}}
        // expected-note @+1 {{the other access}}
        memref.store %sum, %S[%c0] : !S
      }
    }
    gpu.return
  }
}

// -----

// Both warps of a part of the block get to one of its barrier's places: that may be a meeting, which is not followed.
!S = memref<64xi32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @two_places(%out: memref<64xi32> {llvm.noalias}, %x: i32) workgroup(%S: !S) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c32 = arith.constant 32 : index
    %c63 = arith.constant 63 : index
    %c64 = arith.constant 64 : index
    %one = arith.constant 1 : i32
    %all = arith.constant 64 : i32
    %t = gpu.thread_id x
    %isPart = arith.cmpi ult, %t, %c64 : index
    scf.if %isPart {
      // expected-note @+1 {{the other access}}
      memref.store %x, %S[%t] : !S
      %isFirst = arith.cmpi ult, %t, %c32 : index
      scf.if %isFirst {
        nvvm.barrier id = %one number_of_threads = %all
      } else {
        nvvm.barrier id = %one number_of_threads = %all
      }
      %u = arith.subi %c63, %t : index
      // expected-warning @+1 {{go different paths are not followed}}
      %y = memref.load %S[%u] : !S
      memref.store %y, %out[%t] : memref<64xi32>
    }
    gpu.return
  }
}

// -----

// Of those who are waited for, half do not come.
!S = memref<64xi32, #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @half(%x: i32) workgroup(%S: !S) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %one = arith.constant 1 : i32
    %all = arith.constant 64 : i32
    %t = gpu.thread_id x
    %isPart = arith.cmpi ult, %t, %c64 : index
    scf.if %isPart {
      memref.store %x, %S[%t] : !S
      %isFirst = arith.cmpi ult, %t, %c32 : index
      scf.if %isFirst {
        // expected-error @+2 {{barrier in divergent control flow}}
        // expected-note @+1 {{gets here}}
        nvvm.barrier id = %one number_of_threads = %all
      }
    }
    gpu.return
  }
}

// -----

// In a function that is called there is a place for the barrier that is missing; between what threads do at once there is none.
!S = memref<128xi32, #gpu.address_space<workgroup>>
gpu.module @m {
  func.func private @write_and_read(%S: !S, %t: index, %x: i32) -> i32 {
    %c127 = arith.constant 127 : index
    %u = arith.subi %c127, %t : index
    // expected-note @+1 {{the other access}}
    memref.store %x, %S[%t] : !S
    // expected-error @+1 {{data race on workgroup memory}}
    %y = memref.load %S[%u] : !S
    return %y : i32
  }
  func.func private @write(%S: !S, %x: i32) {
    %c0 = arith.constant 0 : index
    // expected-error @+2 {{cannot synchronize 'memref.store' and 'memref.store'}}
    // expected-note @+1 {{the other access}}
    memref.store %x, %S[%c0] : !S
    return
  }
  gpu.func @calls(%out: memref<128xi32> {llvm.noalias}) workgroup(%S: !S, %R: !S) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %x = arith.index_cast %t : index to i32
    %y = func.call @write_and_read(%S, %t, %x) : (!S, index, i32) -> i32
    func.call @write(%R, %x) : (!S, i32) -> ()
    memref.store %y, %out[%t] : memref<128xi32>
    gpu.return
  }
}
