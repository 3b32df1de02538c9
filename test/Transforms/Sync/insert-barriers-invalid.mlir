// RUN: mlir-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(workgroup-insert-barriers)' -o /dev/null
// RUN: not mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-insert-barriers{strict})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=STRICT

// STRICT-NOT: warning:
// STRICT:     error: possible data race on workgroup memory %arg2
// STRICT-NOT: warning:

// Not all threads take the branch, and those that do are of several warps.
gpu.module @m {
  gpu.func @branch(%f: f32) workgroup(%S: memref<128xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c99 = arith.constant 99 : index
    %c100 = arith.constant 100 : index
    %t = gpu.thread_id x
    %u = arith.subi %c99, %t : index
    %c = arith.cmpi ult, %t, %c100 : index
    scf.if %c {
      // expected-note @+1 {{the other access: 'memref.store' writes in thread (}}
      memref.store %f, %S[%t] : memref<128xf32, 3>
      // expected-error @+1 {{cannot synchronize 'memref.store' and 'memref.load' on workgroup memory %arg1: thread (}}
      %v = memref.load %S[%u] : memref<128xf32, 3>
    }
    gpu.return
  }
}

// -----

// Between the two regions of a branch nothing can stand, although other threads take them.
gpu.module @m {
  gpu.func @regions(%f: f32) workgroup(%S: memref<128xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c64 = arith.constant 64 : index
    %t = gpu.thread_id x
    %u = arith.subi %t, %c64 : index
    %c = arith.cmpi ult, %t, %c64 : index
    scf.if %c {
      // expected-note @+1 {{the other access: 'memref.store' writes in thread (}}
      memref.store %f, %S[%t] : memref<128xf32, 3>
    } else {
      // expected-error @+1 {{cannot synchronize 'memref.store' and 'memref.load' on workgroup memory %arg1: thread (}}
      %v = memref.load %S[%u] : memref<128xf32, 3>
    }
    gpu.return
  }
}

// -----

// Iterations of a loop that threads leave at different times.
gpu.module @m {
  gpu.func @iterations() workgroup(%S: memref<128xindex, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %t = gpu.thread_id x
    scf.for %i = %c0 to %t step %c1 {
      // expected-error @+2 {{cannot synchronize 'memref.store' and 'memref.store' on workgroup memory %arg0: thread (}}
      // expected-note @+1 {{the other access: 'memref.store' writes in thread (}}
      memref.store %t, %S[%i] : memref<128xindex, 3>
    }
    gpu.return
  }
}

// -----

// Lanes of one warp.
gpu.module @m {
  gpu.func @lanes(%f: f32) workgroup(%S: memref<128xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %t = gpu.thread_id x
    %u = arith.xori %t, %c1 : index
    %c = arith.cmpi ult, %t, %c16 : index
    scf.if %c {
      // expected-note @+1 {{the other access: 'memref.store' writes in thread (}}
      memref.store %f, %S[%t] : memref<128xf32, 3>
      // expected-error @+1 {{and there is no place between for a barrier of the warp; split what is around them, so that a barrier of the warp fits between}}
      %v = memref.load %S[%u] : memref<128xf32, 3>
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @branch() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c16 = arith.constant 16 : index
    %t = gpu.thread_id x
    %c = arith.cmpi ult, %t, %c16 : index
    scf.if %c {
      // expected-error @+2 {{barrier in divergent control flow: 'gpu.barrier' is not reached by all threads of the block together; move it to where all of them pass}}
      // expected-note-re @+1 {{thread ({{[0-9]+}}, 0, 0) gets here, thread ({{[0-9]+}}, 0, 0) does not}}
      gpu.barrier
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @loop() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %t = gpu.thread_id x
    scf.for %i = %c0 to %t step %c1 {
      // expected-error @+2 {{barrier in divergent control flow: 'gpu.barrier'}}
      // expected-note @+1 {{gets here}}
      gpu.barrier
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @blocks() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c16 = arith.constant 16 : index
    %t = gpu.thread_id x
    %c = arith.cmpi ult, %t, %c16 : index
    cf.cond_br %c, ^some, ^all
  ^some:
    // expected-error @+2 {{barrier in divergent control flow: 'gpu.barrier'}}
    // expected-note @+1 {{gets here}}
    gpu.barrier
    cf.br ^all
  ^all:
    gpu.barrier
    gpu.return
  }
}

// -----

// All threads read the one value, each its own of the other: of that nothing is known.
gpu.module @m {
  gpu.func @loaded(%one: memref<1xi1> {llvm.noalias}, %own: memref<128xi1> {llvm.noalias}) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %t = gpu.thread_id x
    %a = memref.load %one[%c0] : memref<1xi1>
    scf.if %a {
      gpu.barrier
    }
    %b = memref.load %own[%t] : memref<128xi1>
    scf.if %b {
      // expected-error @+1 {{barrier in divergent control flow: 'gpu.barrier'}}
      gpu.barrier
    }
    gpu.return
  }
}

// -----

// A barrier is put where it may be needed; between two threads of one store it cannot be.
gpu.module @m {
  gpu.func @indirect(%f: f32, %G: memref<128xindex> {llvm.noalias}) workgroup(%S: memref<128xindex, 3>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %t = gpu.thread_id x
    %i = memref.load %G[%t] : memref<128xindex>
    // expected-warning @+2 {{possible data race on workgroup memory %arg2: different threads may touch the same bytes, and no barrier of the warp is between; nothing is known of the result of 'memref.load' that it depends on}}
    // expected-note @+1 {{the other access: 'memref.store' writes}}
    memref.store %t, %S[%i] : memref<128xindex, 3>
    %v = memref.load %S[%t] : memref<128xindex, 3>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @two_entries(%f: f32, %c: i1, %d: i1) workgroup(%S: memref<128xf32, 3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    cf.cond_br %c, ^a, ^b
  ^a:
    // expected-error @+1 {{cannot synchronize accesses around branches that are no nest of loops}}
    memref.store %f, %S[%t] : memref<128xf32, 3>
    cf.br ^b
  ^b:
    %v = memref.load %S[%u] : memref<128xf32, 3>
    cf.cond_br %d, ^a, ^exit
  ^exit:
    gpu.return
  }
}
