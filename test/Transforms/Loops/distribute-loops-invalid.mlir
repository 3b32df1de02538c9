// RUN: mlir-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(workgroup-distribute-loops)' -o /dev/null

// Arguments of the launch say how many warps there are, but not of rows.
gpu.module @m {
  gpu.func @warps(%m: memref<64x64xf32>, %x: f32, %n: index) kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    // expected-error @+1 {{warps have no x, y and z unless the size of the block along x is known to be a multiple of 32; map the loop to #gpu.warp<linear_dim_0>}}
    scf.forall (%i) in (2) {
      memref.store %x, %m[%i, %i] : memref<64x64xf32>
    } {mapping = [#gpu.warp<x>]}
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @lanes(%m: memref<64x64xf32>, %x: f32, %n: index) kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    // expected-error @+1 {{lanes have no x, y and z; map the loop to #gpu.lane<linear_dim_0>}}
    scf.forall (%i) in (2) {
      memref.store %x, %m[%i, %i] : memref<64x64xf32>
    } {mapping = [#gpu.lane<x>]}
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @groups(%m: memref<64x64xf32>, %x: f32, %n: index) kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    // expected-error @+1 {{is mapped to #gpu.warpgroup<linear_dim_0>, which is no block, warp, lane or thread}}
    scf.forall (%i) in (2) {
      memref.store %x, %m[%i, %i] : memref<64x64xf32>
    } {mapping = [#gpu.warpgroup<linear_dim_0>]}
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @barrier(%m: memref<64x64xf32>, %x: f32, %n: index) kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    // expected-note @+1 {{the loop}}
    scf.forall (%i) in (%n) {
      memref.store %x, %m[%i, %i] : memref<64x64xf32>
      // expected-error @+1 {{barrier in a loop of which threads may execute different numbers of iterations; split the loop at the barrier}}
      gpu.barrier
    } {mapping = [#gpu.thread<x>]}
    gpu.return
  }
}

// -----

// Only one thread along y gets there.
gpu.module @m {
  gpu.func @one_row(%m: memref<64x64xf32>, %x: f32) kernel attributes {known_block_size = array<i32: 16, 2, 1>} {
    // expected-note @+1 {{the loop}}
    scf.forall (%i) in (16) {
      memref.store %x, %m[%i, %i] : memref<64x64xf32>
      // expected-error @+1 {{barrier in a loop of which threads may execute different numbers of iterations; split the loop at the barrier}}
      gpu.barrier
    } {mapping = [#gpu.thread<x>]}
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @sum(%m: memref<64x64xf32>, %x: f32, %n: index) kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    // expected-error @+1 {{has results, which processors would have to combine}}
    %sum = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%x) -> f32 {
      %v = memref.load %m[%i, %i] : memref<64x64xf32>
      scf.reduce(%v : f32) {
      ^bb0(%a: f32, %b: f32):
        %s = arith.addf %a, %b : f32
        scf.reduce.return %s : f32
      }
    } {mapping = [#gpu.loop_dim_map<processor = thread_x, map = (d0) -> (d0), bound = (d0) -> (d0)>]}
    gpu.return
  }
}

// -----

func.func @tensors(%t: tensor<64xf32>) -> tensor<64xf32> {
  // expected-error @+1 {{has results of tensors, which processors cannot put together; bufferize it}}
  %r = scf.forall (%i) in (64) shared_outs(%o = %t) -> tensor<64xf32> {
    %s = tensor.extract_slice %t[%i] [1] [1] : tensor<64xf32> to tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%i] [1] [1] : tensor<1xf32> into tensor<64xf32>
    }
  } {mapping = [#gpu.thread<x>]}
  return %r : tensor<64xf32>
}

// -----

gpu.module @m {
  gpu.func @twice(%m: memref<64x64xf32>, %x: f32) kernel attributes {known_block_size = array<i32: 16, 8, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    // expected-error @+1 {{has two dimensions that go to the same processors; give each its own}}
    scf.parallel (%i, %j) = (%c0, %c0) to (%c16, %c16) step (%c1, %c1) {
      memref.store %x, %m[%i, %j] : memref<64x64xf32>
    } {mapping = [#gpu.thread<x>, #gpu.thread<x>]}
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @linear_twice(%m: memref<64x64xf32>, %x: f32) kernel attributes {known_block_size = array<i32: 16, 8, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    // expected-error @+1 {{has two dimensions that go to the same processors; give each its own}}
    scf.parallel (%i, %j) = (%c0, %c0) to (%c16, %c16) step (%c1, %c1) {
      memref.store %x, %m[%i, %j] : memref<64x64xf32>
    } {mapping = [#gpu.thread<linear_dim_0>, #gpu.thread<linear_dim_0>]}
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @linear_and_x(%m: memref<64x64xf32>, %x: f32) kernel attributes {known_block_size = array<i32: 16, 8, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    // expected-error @+1 {{has two dimensions that go to the same processors; give each its own}}
    scf.parallel (%i, %j) = (%c0, %c0) to (%c16, %c16) step (%c1, %c1) {
      memref.store %x, %m[%i, %j] : memref<64x64xf32>
    } {mapping = [#gpu.thread<linear_dim_0>, #gpu.thread<x>]}
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @thread_and_lane(%m: memref<64x64xf32>, %x: f32) kernel attributes {known_block_size = array<i32: 16, 8, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    // expected-error @+1 {{has two dimensions that go to the same processors; give each its own}}
    scf.parallel (%i, %j) = (%c0, %c0) to (%c16, %c16) step (%c1, %c1) {
      memref.store %x, %m[%i, %j] : memref<64x64xf32>
    } {mapping = [#gpu.thread<x>, #gpu.lane<linear_dim_0>]}
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @nested(%m: memref<64x64xf32>, %x: f32) kernel attributes {known_block_size = array<i32: 16, 8, 1>} {
    // expected-note @+1 {{the loop around it}}
    scf.forall (%i) in (16) {
      // expected-error @+1 {{goes to processors of which each executes iterations of a loop around it; make them dimensions of one loop}}
      scf.forall (%j) in (8) {
        memref.store %x, %m[%i, %j] : memref<64x64xf32>
      } {mapping = [#gpu.thread<y>]}
    } {mapping = [#gpu.thread<x>]}
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @step(%m: memref<64x64xf32>, %x: f32) kernel attributes {known_block_size = array<i32: 16, 8, 1>} {
    // expected-error @+1 {{has a step of 0; it has to be at least 1}}
    scf.forall (%i, %j) = (0, 0) to (16, 8) step (1, 0) {
      memref.store %x, %m[%i, %j] : memref<64x64xf32>
    } {mapping = [#gpu.thread<x>, #gpu.thread<y>]}
    gpu.return
  }
}

// -----

// The bounds of the inner loop, which all threads execute, depend on the thread.
gpu.module @m {
  gpu.func @own_bounds(%m: memref<64x64xf32>, %x: f32) kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %t = gpu.thread_id x
    // expected-note @+1 {{the loop}}
    scf.parallel (%i) = (%c0) to (%t) step (%c1) {
      memref.store %x, %m[%i, %i] : memref<64x64xf32>
      // expected-error @+1 {{barrier in a loop of which threads may execute different numbers of iterations; split the loop at the barrier}}
      gpu.barrier
    } {mapping = [#gpu.loop_dim_map<processor = sequential, map = (d0) -> (d0), bound = (d0) -> (d0)>]}
    gpu.return
  }
}

// -----

gpu.module @m {
  func.func @meet() {
    gpu.barrier
    return
  }
  gpu.func @called(%m: memref<64x64xf32>, %x: f32, %n: index) kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    // expected-note @+1 {{the loop}}
    scf.forall (%i) in (%n) {
      // expected-error @+1 {{call of a function with a barrier in a loop of which threads may execute different numbers of iterations; split the loop at the barrier}}
      func.call @meet() : () -> ()
    } {mapping = [#gpu.thread<x>]}
    gpu.return
  }
}

// -----

// A function that a loop calls is in that loop.
gpu.module @m {
  func.func @row(%m: memref<16x8xf32>, %i: index, %x: f32) {
    // expected-error @+1 {{goes to processors of which each executes iterations of a loop around it; make them dimensions of one loop}}
    scf.forall (%j) in (8) {
      memref.store %x, %m[%i, %j] : memref<16x8xf32>
    } {mapping = [#gpu.thread<x>]}
    return
  }
  gpu.func @calls(%m: memref<16x8xf32>, %x: f32) kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    // expected-note @+1 {{the loop around it}}
    scf.forall (%i) in (16) {
      func.call @row(%m, %i, %x) : (memref<16x8xf32>, index, f32) -> ()
    } {mapping = [#gpu.thread<x>]}
    gpu.return
  }
}

// -----

// Threads 16 and up would lose their iterations.
gpu.module @m {
  gpu.func @half(%m: memref<64xf32>, %x: f32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c16 = arith.constant 16 : index
    %t = gpu.thread_id x
    %first = arith.cmpi ult, %t, %c16 : index
    // expected-note @+1 {{they part here}}
    scf.if %first {
      // expected-error @+1 {{is not reached by all processors that it goes to, so that iterations are lost; put the condition into the loop}}
      scf.forall (%i) in (64) {
        memref.store %x, %m[%i] : memref<64xf32>
      } {mapping = [#gpu.thread<linear_dim_0>]}
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @lanes_in_half(%m: memref<64xf32>, %x: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %lane = gpu.lane_id
    // expected-note @+1 {{they part here}}
    scf.for %k = %c0 to %lane step %c1 {
      // expected-error @+1 {{is not reached by all processors that it goes to}}
      scf.forall (%i) in (64) {
        memref.store %x, %m[%i] : memref<64xf32>
      } {mapping = [#gpu.lane<linear_dim_0>]}
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @blocks(%m: memref<64xf32>, %x: f32) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %b = gpu.block_id x
    %first = arith.cmpi eq, %b, %c0 : index
    // expected-note @+1 {{they part here}}
    scf.if %first {
      // expected-error @+1 {{is not reached by all processors that it goes to}}
      scf.forall (%i) in (64) {
        memref.store %x, %m[%i] : memref<64xf32>
      } {mapping = [#gpu.block<x>]}
    }
    gpu.return
  }
}

// -----

// Each thread executes one iteration, but not as many iterations in it.
gpu.module @m {
  gpu.func @iterations(%m: memref<64xf32>, %x: f32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.forall (%i) in (64) {
      // expected-note @+1 {{they part here}}
      scf.for %k = %c0 to %i step %c1 {
        // expected-error @+1 {{barrier that not all threads of the block get to; put it where they all are}}
        gpu.barrier
      }
    } {mapping = [#gpu.thread<linear_dim_0>]}
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @far(%m: memref<?xf32>, %x: f32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    // expected-error @+1 {{has indices that overflow 64 bits when processors share it; count from 0 in steps of 1, and compute the indices in the body}}
    scf.forall (%i) = (0) to (9223372036854775800) step (1) {
      memref.store %x, %m[%i] : memref<?xf32>
    } {mapping = [#gpu.thread<linear_dim_0>]}
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @wide(%m: memref<?xf32>, %x: f32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    // expected-error @+1 {{has indices that overflow 64 bits}}
    scf.forall (%i) = (-9223372036854775800) to (1000) step (1) {
      memref.store %x, %m[%i] : memref<?xf32>
    } {mapping = [#gpu.thread<linear_dim_0>]}
    gpu.return
  }
}
