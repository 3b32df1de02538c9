// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-print-uniformity)' --verify-diagnostics=only-expected -o /dev/null

// What the threads of a warp agree on, and those of a block do not.

gpu.module @ids {
  // Warps take threads along x first: along y the id is one per warp if rows are
  // whole warps.
  gpu.func @rows_of_warps() kernel attributes {known_block_size = array<i32: 64, 4, 2>} {
    // expected-remark @+1 {{results of the thread}}
    %x = gpu.thread_id x
    // expected-remark @+1 {{results of the warp}}
    %y = gpu.thread_id y
    // expected-remark @+1 {{results of the warp}}
    %z = gpu.thread_id z
    // expected-remark @+1 {{results of the warp}}
    %warp = gpu.subgroup_id : index
    // expected-remark @+1 {{results of the thread}}
    %lane = gpu.lane_id
    gpu.return
  }
  gpu.func @planes_of_warps() kernel attributes {known_block_size = array<i32: 8, 4, 2>} {
    // expected-remark @+1 {{results of the thread}}
    %y = gpu.thread_id y
    // expected-remark @+1 {{results of the warp}}
    %z = gpu.thread_id z
    gpu.return
  }
  gpu.func @rows_that_are_no_warps() kernel attributes {known_block_size = array<i32: 48, 4, 1>} {
    %c32 = arith.constant 32 : index
    %x = gpu.thread_id x
    // expected-remark @+1 {{results of the thread}}
    %y = gpu.thread_id y
    // expected-remark @+1 {{results of the thread}}
    %part = arith.divui %x, %c32 : index
    gpu.return
  }
  gpu.func @unknown() kernel {
    %c32 = arith.constant 32 : index
    %x = gpu.thread_id x
    // expected-remark @+1 {{results of the thread}}
    %y = gpu.thread_id y
    // expected-remark @+1 {{results of the warp}}
    %warp = gpu.subgroup_id : index
    // expected-remark @+1 {{results of the thread}}
    %part = arith.divui %x, %c32 : index
    gpu.return
  }

  // The number of the warp, computed from the id.
  gpu.func @quotients() kernel attributes {known_block_size = array<i32: 96, 1, 1>} {
    %c32 = arith.constant 32 : index
    %c48 = arith.constant 48 : index
    %x = gpu.thread_id x
    // expected-remark @+1 {{results of the warp}}
    %quotient = arith.divui %x, %c32 : index
    // expected-remark @+1 {{results of the warp}}
    %floor = affine.apply affine_map<(d0) -> (d0 floordiv 64)>(%x)
    %i = arith.index_cast %x : index to i32
    %c5 = arith.constant 5 : i32
    // expected-remark @+1 {{results of the warp}}
    %shifted = arith.shrui %i, %c5 : i32
    // expected-remark @+1 {{results of the warp}}
    %scaled = arith.muli %shifted, %c5 : i32
    // expected-remark @+1 {{results of the thread}}
    %third = arith.divui %x, %c48 : index
    %c4 = arith.constant 4 : i32
    // expected-remark @+1 {{results of the thread}}
    %half = arith.shrui %i, %c4 : i32
    // expected-remark @+1 {{results of the thread}}
    %more = affine.apply affine_map<(d0) -> ((d0 + 1) floordiv 32)>(%x)
    %byte = arith.trunci %i : i32 to i8
    %five = arith.constant 5 : i8
    // expected-remark @+1 {{results of the thread}}
    %wrapped = arith.shrsi %byte, %five : i8
    gpu.return
  }
}

// A launch, whose ids are arguments.
func.func @launch() {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c2, %sz = %c1) {
    // expected-remark @+1 {{results of the warp}}
    %0 = arith.addi %ty, %bx : index
    // expected-remark @+1 {{results of the warp}}
    %1 = arith.divui %tx, %c32 : index
    // expected-remark @+1 {{results of the thread}}
    %2 = arith.addi %tx, %ty : index
    gpu.terminator
  }
  return
}

gpu.module @exchange {
  // What one lane has, or all of them together.
  gpu.func @exchanged(%n: i32) kernel {
    %c3 = arith.constant 3 : i32
    %c8 = arith.constant 8 : i32
    %c32 = arith.constant 32 : i32
    %lane = gpu.lane_id
    %own = arith.index_cast %lane : index to i32
    // expected-remark @+1 {{results of the warp, warp}}
    %0, %1 = gpu.shuffle idx %own, %c3, %c32 : i32
    // expected-remark @+1 {{results of the thread, thread}}
    %2, %3 = gpu.shuffle idx %own, %own, %c32 : i32
    // expected-remark @+1 {{results of the thread, thread}}
    %4, %5 = gpu.shuffle idx %own, %c3, %c8 : i32
    // expected-remark @+1 {{results of the thread, thread}}
    %6, %7 = gpu.shuffle xor %own, %c3, %c32 : i32
    // expected-remark @+1 {{results of the warp}}
    %8 = gpu.subgroup_reduce add %own : (i32) -> i32
    // expected-remark @+1 {{results of the thread}}
    %9 = gpu.subgroup_reduce add %own cluster(size = 8) : (i32) -> i32
    gpu.return
  }

  // Warps that go their own ways are together inside.
  gpu.func @control(%n: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c32 = arith.constant 32 : index
    %x = gpu.thread_id x
    %warp = arith.divui %x, %c32 : index
    %few = arith.cmpi ult, %warp, %n : index
    // expected-remark @+1 {{executed by the block, results of the warp}}
    %selected = scf.if %few -> index {
      // expected-remark @+1 {{executed by the warp, results of the block}}
      %inside = arith.addi %n, %n : index
      scf.yield %inside : index
    } else {
      scf.yield %n : index
    }
    %some = arith.cmpi ult, %x, %n : index
    scf.if %some {
      // expected-remark @+1 {{executed by the thread}}
      gpu.barrier
    }
    gpu.return
  }
}
