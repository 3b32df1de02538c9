// Strides of tree reductions, 2^k in iteration k, are numbers in a given iteration: each of the few is looked at.

// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-verify-sync)' --verify-diagnostics -o /dev/null

gpu.module @kernels {
  gpu.func @falling(%x: memref<256xf32>) workgroup(%S: memref<256xf32, 3>) kernel attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c128 = arith.constant 128 : index
    %v = memref.load %x[%t] : memref<256xf32>
    memref.store %v, %S[%t] : memref<256xf32, 3>
    scf.for %k = %c0 to %c8 step %c1 {
      %s = arith.shrui %c128, %k : index
      %in = arith.cmpi ult, %t, %s : index
      gpu.barrier
      scf.if %in {
        %u = arith.addi %t, %s : index
        %a = memref.load %S[%t] : memref<256xf32, 3>
        %b = memref.load %S[%u] : memref<256xf32, 3>
        %r = arith.addf %a, %b : f32
        memref.store %r, %S[%t] : memref<256xf32, 3>
      }
    }
    gpu.return
  }

  // Where the thread is a multiple of 2^(k + 1) ...
  gpu.func @rising(%x: memref<256xf32>) workgroup(%S: memref<256xf32, 3>) kernel attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c8 = arith.constant 8 : index
    %v = memref.load %x[%t] : memref<256xf32>
    memref.store %v, %S[%t] : memref<256xf32, 3>
    scf.for %k = %c0 to %c8 step %c1 {
      %s = arith.shli %c1, %k : index
      %width = arith.shli %c2, %k : index
      %rest = arith.remui %t, %width : index
      %in = arith.cmpi eq, %rest, %c0 : index
      gpu.barrier
      scf.if %in {
        %u = arith.addi %t, %s : index
        %a = memref.load %S[%t] : memref<256xf32, 3>
        %b = memref.load %S[%u] : memref<256xf32, 3>
        %r = arith.addf %a, %b : f32
        memref.store %r, %S[%t] : memref<256xf32, 3>
      }
    }
    gpu.return
  }

  // ... or each takes a multiple of it.
  gpu.func @strided(%x: memref<256xf32>) workgroup(%S: memref<256xf32, 3>) kernel attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c8 = arith.constant 8 : index
    %c256 = arith.constant 256 : index
    %v = memref.load %x[%t] : memref<256xf32>
    memref.store %v, %S[%t] : memref<256xf32, 3>
    scf.for %k = %c0 to %c8 step %c1 {
      %s = arith.shli %c1, %k : index
      %width = arith.muli %s, %c2 : index
      %i = arith.muli %width, %t : index
      %in = arith.cmpi ult, %i, %c256 : index
      gpu.barrier
      scf.if %in {
        %u = arith.addi %i, %s : index
        %a = memref.load %S[%i] : memref<256xf32, 3>
        %b = memref.load %S[%u] : memref<256xf32, 3>
        %r = arith.addf %a, %b : f32
        memref.store %r, %S[%i] : memref<256xf32, 3>
      }
    }
    gpu.return
  }
}

// -----

// Without barriers it is known in which iterations threads meet.
gpu.module @kernels {
  gpu.func @unordered() workgroup(%S: memref<256xindex, 3>) kernel attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c128 = arith.constant 128 : index
    scf.for %k = %c0 to %c8 step %c1 {
      %s = arith.shrui %c128, %k : index
      %in = arith.cmpi ult, %t, %s : index
      scf.if %in {
        %u = arith.addi %t, %s : index
        // expected-error @below {{data race on workgroup memory %arg0: thread (0, 0, 0) reads what thread (64, 0, 0) writes}}
        %b = memref.load %S[%u] : memref<256xindex, 3>
        // expected-note @below {{the other access: 'memref.store' writes in thread (64, 0, 0), in the iteration before}}
        memref.store %t, %S[%t] : memref<256xindex, 3>
      }
    }
    gpu.return
  }

  // In iteration 7 a thread reads what another one writes in it.
  gpu.func @one_too_many() workgroup(%S: memref<512xindex, 3>) kernel attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    scf.for %k = %c0 to %c8 step %c1 {
      %s = arith.shli %c1, %k : index
      gpu.barrier
      %u = arith.addi %t, %s : index
      // expected-note @below {{the other access: 'memref.load' reads in thread}}
      %b = memref.load %S[%u] : memref<512xindex, 3>
      // expected-error @below {{data race on workgroup memory %arg0}}
      memref.store %t, %S[%t] : memref<512xindex, 3>
    }
    gpu.return
  }
}

// -----

// In a loop of blocks: what stands before the test is executed once more, with a stride of none.
gpu.module @kernels {
  gpu.func @blocks(%x: memref<256xf32>) workgroup(%S: memref<256xf32, 3>) kernel attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c128 = arith.constant 128 : index
    %v = memref.load %x[%t] : memref<256xf32>
    memref.store %v, %S[%t] : memref<256xf32, 3>
    cf.br ^test(%c0 : index)
  ^test(%k: index):
    %more = arith.cmpi slt, %k, %c8 : index
    cf.cond_br %more, ^body, ^end
  ^body:
    %s = arith.shrui %c128, %k : index
    %in = arith.cmpi ult, %t, %s : index
    gpu.barrier
    scf.if %in {
      %u = arith.addi %t, %s : index
      %a = memref.load %S[%t] : memref<256xf32, 3>
      %b = memref.load %S[%u] : memref<256xf32, 3>
      %r = arith.addf %a, %b : f32
      memref.store %r, %S[%t] : memref<256xf32, 3>
    }
    %next = arith.addi %k, %c1 : index
    cf.br ^test(%next : index)
  ^end:
    gpu.return
  }

  // Before the test, in the last iteration only, all get to the first element.
  gpu.func @before_test() workgroup(%S: memref<256xindex, 3>) kernel attributes {known_block_size = array<i32: 4, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %last = scf.while (%k = %c0) : (index) -> index {
      %bits = arith.shli %k, %c1 : index
      %place = arith.shrui %t, %bits : index
      gpu.barrier
      // expected-warning @below {{possible data race on workgroup memory}}
      // expected-note @below {{the other access}}
      memref.store %t, %S[%place] : memref<256xindex, 3>
      %more = arith.cmpi slt, %k, %c1 : index
      scf.condition(%more) %k : index
    } do {
    ^bb0(%k: index):
      %next = arith.addi %k, %c1 : index
      scf.yield %next : index
    }
    gpu.return
  }
}
