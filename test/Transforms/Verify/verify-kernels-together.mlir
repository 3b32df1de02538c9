// RUN: mlir-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(workgroup-verify-kernels)' -o /dev/null
// RUN: mlir-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(convert-scf-to-cf,workgroup-verify-kernels)' -o /dev/null

// Barriers that all threads of the block reach, although operands of branches
// before them differ.

gpu.module @kernels {
  // Where branches meet again, in operations or between blocks.
  gpu.func @behind(%n: index, %x: f32, %out: memref<64xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %thread = gpu.thread_id x
    %some = arith.cmpi ult, %thread, %n : index
    scf.if %some {
      memref.store %x, %out[%thread] : memref<64xf32>
    }
    gpu.barrier
    gpu.return
  }

  gpu.func @behind_loop(%x: f32, %out: memref<64xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %thread = gpu.thread_id x
    scf.for %i = %c0 to %thread step %c1 {
      memref.store %x, %out[%thread] : memref<64xf32>
    }
    gpu.barrier
    gpu.return
  }

  // By arithmetic.
  gpu.func @all() kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c64 = arith.constant 64 : index
    %thread = gpu.thread_id x
    %each = arith.cmpi ult, %thread, %c64 : index
    scf.if %each {
      gpu.barrier
    }
    gpu.return
  }
}

// -----

// Not so before they meet.
gpu.module @kernels {
  gpu.func @before(%n: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %thread = gpu.thread_id x // expected-note {{because this value may differ between them}}
    %some = arith.cmpi ult, %thread, %n : index
    cf.cond_br %some, ^work, ^exit // expected-note {{threads of one block part here}}
  ^work:
    gpu.barrier // expected-error {{barrier in divergent control flow: 'gpu.barrier'}}
    cf.br ^exit
  ^exit:
    gpu.return
  }
}

// What is called elsewhere, or in the kernel, does not matter.
func.func private @host()

func.func @calls_host() {
  call @host() : () -> ()
  return
}

gpu.module @with_calls {
  func.func @device() {
    return
  }

  gpu.func @always() kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c33 = arith.constant 33 : index
    %c2 = arith.constant 2 : index
    %t = gpu.thread_id x
    %half = arith.divui %t, %c2 : index
    %below = arith.cmpi ult, %half, %c33 : index
    func.call @device() : () -> ()
    scf.if %below {
      gpu.barrier
    }
    gpu.return
  }
}
