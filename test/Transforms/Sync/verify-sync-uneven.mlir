// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-verify-sync)' --verify-diagnostics -o /dev/null

// Lanes wait at barriers of their warp for each other, wherever these stand: each has to get to as many.

gpu.module @kernels {
  gpu.func @some_lanes() kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %all = arith.constant -1 : i32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %c0 : index
    %second = arith.cmpi eq, %t, %c1 : index
    scf.if %first {
      // expected-error @+2 {{barrier in divergent control flow: 'nvvm.bar.warp.sync' is not reached by all threads of the warp together; move it to where all of them pass}}
      // expected-note @+1 {{thread (0, 0, 0) gets here, thread (1, 0, 0) does not}}
      nvvm.bar.warp.sync %all : i32
    }
    scf.if %second {
      // expected-error @+2 {{barrier in divergent control flow}}
      // expected-note @+1 {{thread (1, 0, 0) gets here, thread (0, 0, 0) does not}}
      nvvm.bar.warp.sync %all : i32
    }
    gpu.return
  }

  gpu.func @each_lane_one() kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %all = arith.constant -1 : i32
    %c16 = arith.constant 16 : index
    %t = gpu.thread_id x
    %low = arith.cmpi ult, %t, %c16 : index
    scf.if %low {
      nvvm.bar.warp.sync %all : i32
    }
    %high = arith.cmpi uge, %t, %c16 : index
    scf.if %high {
      nvvm.bar.warp.sync %all : i32
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @unknown_block() kernel {
    %all = arith.constant -1 : i32
    %c1 = arith.constant 1 : index
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %second = arith.cmpi eq, %t, %c1 : index
    scf.if %second {
      // expected-warning @+1 {{barrier in divergent control flow: 'nvvm.bar.warp.sync' is not known to be reached by all threads of the warp together; move it to where all of them pass}}
      nvvm.bar.warp.sync %all : i32
    }
    %odd = arith.cmpi eq, %b, %c1 : index
    scf.if %odd {
      nvvm.bar.warp.sync %all : i32
    }
    gpu.return
  }
}
