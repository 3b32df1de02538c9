// RUN: mlir-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(workgroup-verify-sync)' -o /dev/null
// RUN: not mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-insert-barriers)' -o /dev/null 2>&1 | FileCheck %s --check-prefix=INSERT
// RUN: not mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-verify-sync{strict})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=STRICT

// STRICT:     error: possible data race on
// STRICT-NOT: warning:

gpu.module @races {
  gpu.func @read(%f: f32) workgroup(%S: memref<128xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    // expected-note @+1 {{the other access: 'memref.store' writes in thread (0, 0, 0)}}
    memref.store %f, %S[%t] : memref<128xf32, 3>
    // expected-error @+1 {{data race on workgroup memory %arg1: thread (127, 0, 0) reads what thread (0, 0, 0) writes, and no barrier is between}}
    %v = memref.load %S[%u] : memref<128xf32, 3>
    gpu.return
  }
  gpu.func @next_iteration(%f: f32, %n: index) workgroup(%S: memref<128xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    scf.for %i = %c0 to %n step %c1 {
      // expected-error @+1 {{data race on workgroup memory %arg2}}
      memref.store %f, %S[%t] : memref<128xf32, 3>
      gpu.barrier
      // expected-note @+1 {{in the iteration before}}
      %v = memref.load %S[%u] : memref<128xf32, 3>
    }
    gpu.return
  }
  // The barrier stands in one iteration only: it does not order what that iteration does
  // after it.
  gpu.func @barrier_in_first_iteration(%f: f32) workgroup(%S: memref<128xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    scf.for %i = %c0 to %c3 step %c1 {
      %is_first = arith.cmpi eq, %i, %c0 : index
      scf.if %is_first {
        gpu.barrier
        // expected-note @+1 {{the other access}}
        memref.store %f, %S[%t] : memref<128xf32, 3>
      }
    }
    // expected-warning @+1 {{possible data race on workgroup memory %arg1}}
    %v = memref.load %S[%u] : memref<128xf32, 3>
    gpu.return
  }
  gpu.func @one_warp(%f: f32) workgroup(%S: memref<128xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c1 = arith.constant 1 : index
    %t = gpu.thread_id x
    %u = arith.xori %t, %c1 : index
    // expected-note @+1 {{the other access}}
    memref.store %f, %S[%t] : memref<128xf32, 3>
    // expected-error @+1 {{and no barrier of the warp is between}}
    %v = memref.load %S[%u] : memref<128xf32, 3>
    gpu.return
  }
}

// -----

gpu.module @unfixable {
  // INSERT: error: cannot synchronize
  gpu.func @store() workgroup(%S: memref<128xindex, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c64 = arith.constant 64 : index
    %t = gpu.thread_id x
    %i = arith.remui %t, %c64 : index
    // expected-error @+2 {{cannot synchronize 'memref.store' and 'memref.store' on workgroup memory %arg0: thread}}
    // expected-note @+1 {{the other access}}
    memref.store %t, %S[%i] : memref<128xindex, 3>
    gpu.return
  }
}

// -----

gpu.module @divergent {
  // INSERT: error: barrier in divergent control flow
  gpu.func @barrier(%f: f32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c16 = arith.constant 16 : index
    %t = gpu.thread_id x
    %c = arith.cmpi slt, %t, %c16 : index
    scf.if %c {
      // expected-error @+2 {{barrier in divergent control flow: 'gpu.barrier' is not reached by all threads of the block together}}
      // expected-note @+1 {{thread (0, 0, 0) gets here, thread (16, 0, 0) does not}}
      gpu.barrier
    }
    gpu.return
  }
}

// -----

gpu.module @possible {
  gpu.func @index(%f: f32, %G: memref<128xindex> {llvm.noalias}) workgroup(%S: memref<128xindex, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    %i = memref.load %G[%t] : memref<128xindex>
    // expected-warning @+2 {{possible data race on workgroup memory %arg2: different threads may touch the same bytes, and no barrier is between; nothing is known of the result of 'memref.load' that it depends on}}
    // expected-note @+1 {{the other access}}
    memref.store %t, %S[%i] : memref<128xindex, 3>
    gpu.return
  }
  gpu.func @copy(%G: memref<128xf32> {llvm.noalias}) workgroup(%S: memref<128xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    // expected-note @+1 {{the other access}}
    %token = nvgpu.device_async_copy %G[%t], %S[%t], 1 : memref<128xf32> to memref<128xf32, 3>
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 1
    gpu.barrier
    // expected-error @+1 {{cannot synchronize 'nvgpu.device_async_copy' and 'memref.load' on workgroup memory %arg1: thread (0, 0, 0) reads what thread (0, 0, 0) writes, and nothing waits for the copy}}
    %v = memref.load %S[%t] : memref<128xf32, 3>
    gpu.return
  }
}

// -----

// Nothing is wrong here.
gpu.module @right {
  gpu.func @waited(%G: memref<128xf32> {llvm.noalias}) workgroup(%S: memref<128xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %token = nvgpu.device_async_copy %G[%t], %S[%t], 1 : memref<128xf32> to memref<128xf32, 3>
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 0
    %own = memref.load %S[%t] : memref<128xf32, 3>
    gpu.barrier
    %v = memref.load %S[%u] : memref<128xf32, 3>
    gpu.return
  }
  gpu.func @atomics(%f: f32) workgroup(%S: memref<1xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %a = memref.atomic_rmw addf %f, %S[%c0] : (f32, memref<1xf32, 3>) -> f32
    %b = memref.atomic_rmw addf %f, %S[%c0] : (f32, memref<1xf32, 3>) -> f32
    gpu.return
  }
  // Quotient and remainder by a size that only the launch knows.
  gpu.func @delinearized(%f: f32, %n: index, %G: memref<?x?xf32> {llvm.noalias}) kernel {
    %c1 = arith.constant 1 : index
    %d = memref.dim %G, %c1 : memref<?x?xf32>
    %t = gpu.thread_id x
    %q:2 = affine.delinearize_index %t into (%d) : index, index
    memref.store %f, %G[%q#0, %q#1] : memref<?x?xf32>
    %v = memref.load %G[%q#0, %q#1] : memref<?x?xf32>
    gpu.return
  }
}

// -----

// 001-R1: distributed the same way, fill and matmul need no barrier.
#map_m = affine_map<(d0) -> (d0 * 4)>
gpu.module @distributed {
  gpu.func @same(%f: f32, %A: memref<16x8xf32, strided<[8, 1]>> {llvm.noalias}, %B: memref<8x16xf32> {llvm.noalias}, %C: memref<16x16xf32> {llvm.noalias}) kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    %c0 = arith.constant 0 : index
    %t = gpu.thread_id x
    %q:2 = affine.delinearize_index %t into (4, 4) : index, index
    %m = affine.apply #map_m(%q#0)
    %n = affine.apply #map_m(%q#1)
    %tile = memref.subview %C[%m, %n] [4, 4] [1, 1] : memref<16x16xf32> to memref<4x4xf32, strided<[16, 1], offset: ?>>
    linalg.fill ins(%f : f32) outs(%tile : memref<4x4xf32, strided<[16, 1], offset: ?>>)
    %a = memref.subview %A[%m, 0] [4, 8] [1, 1] : memref<16x8xf32, strided<[8, 1]>> to memref<4x8xf32, strided<[8, 1], offset: ?>>
    %b = memref.subview %B[0, %n] [8, 4] [1, 1] : memref<8x16xf32> to memref<8x4xf32, strided<[16, 1], offset: ?>>
    linalg.matmul ins(%a, %b : memref<4x8xf32, strided<[8, 1], offset: ?>>, memref<8x4xf32, strided<[16, 1], offset: ?>>) outs(%tile : memref<4x4xf32, strided<[16, 1], offset: ?>>)
    gpu.return
  }
  gpu.func @other(%f: f32, %A: memref<16x8xf32, strided<[8, 1]>> {llvm.noalias}, %B: memref<8x16xf32> {llvm.noalias}, %C: memref<16x16xf32> {llvm.noalias}) kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    %t = gpu.thread_id x
    %q:2 = affine.delinearize_index %t into (4, 4) : index, index
    %m = affine.apply #map_m(%q#0)
    %n = affine.apply #map_m(%q#1)
    %filled = memref.subview %C[%n, %m] [4, 4] [1, 1] : memref<16x16xf32> to memref<4x4xf32, strided<[16, 1], offset: ?>>
    // expected-note @+1 {{the other access: 'linalg.fill' writes}}
    linalg.fill ins(%f : f32) outs(%filled : memref<4x4xf32, strided<[16, 1], offset: ?>>)
    %tile = memref.subview %C[%m, %n] [4, 4] [1, 1] : memref<16x16xf32> to memref<4x4xf32, strided<[16, 1], offset: ?>>
    %a = memref.subview %A[%m, 0] [4, 8] [1, 1] : memref<16x8xf32, strided<[8, 1]>> to memref<4x8xf32, strided<[8, 1], offset: ?>>
    %b = memref.subview %B[0, %n] [8, 4] [1, 1] : memref<8x16xf32> to memref<8x4xf32, strided<[16, 1], offset: ?>>
    // expected-error @+1 {{data race on global memory %arg3}}
    linalg.matmul ins(%a, %b : memref<4x8xf32, strided<[8, 1], offset: ?>>, memref<8x4xf32, strided<[16, 1], offset: ?>>) outs(%tile : memref<4x4xf32, strided<[16, 1], offset: ?>>)
    gpu.return
  }
}

// -----

// All threads write the same: a constant at any time, a value that they agree on at
// the same time. Else it matters who comes last.
gpu.module @same {
  gpu.func @value(%f: f32, %n: index) workgroup(%S: memref<128xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %zero = arith.constant 0.0 : f32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    memref.store %f, %S[%c1] : memref<128xf32, 3>
    scf.for %i = %c0 to %n step %c1 {
      memref.store %zero, %S[%c0] : memref<128xf32, 3>
    }
    gpu.return
  }
  gpu.func @iteration(%n: index) workgroup(%S: memref<128xindex, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      // expected-error @+2 {{data race on workgroup memory %arg1}}
      // expected-note @+1 {{in the iteration before}}
      memref.store %i, %S[%c0] : memref<128xindex, 3>
    }
    gpu.return
  }
  // Which elements of a vector are in the same place is another matter.
  gpu.func @vector(%v: vector<4xf32>) workgroup(%S: memref<256xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    // expected-error @+2 {{cannot synchronize 'vector.store' and 'vector.store'}}
    // expected-note @+1 {{the other access}}
    vector.store %v, %S[%t] : memref<256xf32, 3>, vector<4xf32>
    gpu.return
  }
}

// -----

// Of a block of unknown size it is not certain that it has the threads that race.
gpu.module @unknown {
  gpu.func @size() workgroup(%S: memref<1024xindex, 3>) kernel {
    %t = gpu.thread_id x
    %c64 = arith.constant 64 : index
    %i = arith.remui %t, %c64 : index
    // expected-warning @+2 {{possible data race on workgroup memory %arg0: different threads may touch the same bytes, and no barrier is between; it takes a block of 65 x 1 x 1 threads or more, and known_block_size does not tell}}
    // expected-note @+1 {{the other access}}
    memref.store %t, %S[%i] : memref<1024xindex, 3>
    gpu.return
  }
}

// -----

// A barrier of the warp that some of its lanes miss; whole warps may.
gpu.module @lanes {
  gpu.func @loop() kernel attributes {known_block_size = array<i32: 48, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %all = arith.constant -1 : i32
    %t = gpu.thread_id x
    %iterations = arith.remui %t, %c3 : index
    scf.for %i = %c0 to %iterations step %c1 {
      // expected-error @+2 {{barrier in divergent control flow: 'nvvm.bar.warp.sync' is not reached by all threads of the warp together}}
      // expected-note @+1 {{thread (1, 0, 0) gets here, thread (0, 0, 0) does not}}
      nvvm.bar.warp.sync %all : i32
    }
    gpu.return
  }
  gpu.func @whole() kernel attributes {known_block_size = array<i32: 96, 1, 1>} {
    %c32 = arith.constant 32 : index
    %c48 = arith.constant 48 : index
    %all = arith.constant -1 : i32
    %t = gpu.thread_id x
    %low = arith.cmpi ult, %t, %c32 : index
    scf.if %low {
      nvvm.bar.warp.sync %all : i32
    }
    %middle = arith.cmpi ult, %t, %c48 : index
    scf.if %middle {
      // expected-error @+2 {{barrier in divergent control flow}}
      // expected-note @+1 {{thread (32, 0, 0) gets here, thread (48, 0, 0) does not}}
      nvvm.bar.warp.sync %all : i32
    }
    gpu.return
  }
}

// -----

// What is not one of two slots, and what may get negative.
gpu.module @carried {
  gpu.func @same_slot(%f: f32, %n: index) workgroup(%S: memref<2x128xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %end = scf.for %i = %c0 to %n step %c1 iter_args(%s = %c1) -> (index) {
      %other = arith.subi %c1, %s : index
      // expected-error @+1 {{data race on workgroup memory}}
      memref.store %f, %S[%s, %t] : memref<2x128xf32, 3>
      gpu.barrier
      // expected-note @+1 {{in the iteration before}}
      %x = memref.load %S[%other, %u] : memref<2x128xf32, 3>
      %next = arith.subi %c1, %s : index
      scf.yield %next : index
    }
    gpu.return
  }
  gpu.func @negative(%n: index) workgroup(%S: memref<128xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %t = gpu.thread_id x
    %last = scf.while (%half = %c64) : (index) -> index {
      gpu.barrier
      %more = arith.cmpi ugt, %half, %c0 : index
      scf.condition(%more) %half : index
    } do {
    ^bb0(%half: index):
      %few = arith.cmpi ult, %t, %half : index
      scf.if %few {
        %other = arith.addi %t, %half : index
        %x = memref.load %S[%t] : memref<128xf32, 3>
        // expected-note @+1 {{the other access}}
        %y = memref.load %S[%other] : memref<128xf32, 3>
        %sum = arith.addf %x, %y : f32
        // expected-warning @+1 {{possible data race on}}
        memref.store %sum, %S[%t] : memref<128xf32, 3>
      }
      %next = arith.shrsi %half, %n : index
      %less = arith.subi %next, %c1 : index
      scf.yield %less : index
    }
    gpu.return
  }
}

// -----

// What the block does together is not done by one of its threads.
gpu.module @together {
  gpu.func @copies(%G: memref<64xf32>, %H: memref<64xf32>) workgroup(%S: memref<64xf32, 3>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    // expected-note-re @+1 {{{{^}}the other access: 'linalg.copy' writes{{$}}}}
    linalg.copy ins(%G : memref<64xf32>) outs(%S : memref<64xf32, 3>)
    // expected-error @+1 {{the block reads what the block writes, and no barrier is between}}
    linalg.copy ins(%S : memref<64xf32, 3>) outs(%H : memref<64xf32>)
    gpu.return
  }
}
