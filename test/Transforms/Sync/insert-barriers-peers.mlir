// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-insert-barriers)' | FileCheck %s
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-insert-barriers,workgroup-verify-sync)' -o /dev/null
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-verify-sync)' -o /dev/null 2>&1 | FileCheck %s --check-prefix=RACE

// Kernels for which other compilers delete, forget or waste a barrier, without
// one (docs/measurements/peers.md). All but @p5 race as they stand.
// RACE-COUNT-12: data race on

// The barriers that MLIR 22.1's gpu-eliminate-barriers deletes.
gpu.module @mlir {
  // CHECK-LABEL: gpu.func @reinterpret_cast(
  // CHECK-NOT:     gpu.barrier
  // CHECK:         memref.store {{.+}} : memref<128xf32, 3>
  // CHECK:         gpu.barrier
  // CHECK-NOT:     gpu.barrier
  // CHECK:         memref.load
  // CHECK-NOT:     gpu.barrier
  // CHECK:         gpu.return
  gpu.func @reinterpret_cast(%out: memref<128xf32>, %x: f32) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c127 = arith.constant 127 : index
    %c0 = arith.constant 0 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %A = memref.alloc() : memref<128xf32, 3>
    %v = memref.reinterpret_cast %A to offset: [0], sizes: [1, 128], strides: [128, 1]
        : memref<128xf32, 3> to memref<1x128xf32, 3>
    memref.store %x, %A[%t] : memref<128xf32, 3>
    %r = memref.load %v[%c0, %u] : memref<1x128xf32, 3>
    memref.store %r, %out[%t] : memref<128xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @select(
  // CHECK-NOT:     gpu.barrier
  // CHECK:         memref.store {{.+}} : memref<128xf32, 3>
  // CHECK:         gpu.barrier
  // CHECK-NOT:     gpu.barrier
  // CHECK:         memref.load
  // CHECK-NOT:     gpu.barrier
  // CHECK:         gpu.return
  gpu.func @select(%out: memref<128xf32>, %x: f32, %c: i1) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %A = memref.alloc() : memref<128xf32, 3>
    %B = memref.alloc() : memref<128xf32, 3>
    %v = arith.select %c, %A, %B : memref<128xf32, 3>
    memref.store %x, %A[%t] : memref<128xf32, 3>
    %r = memref.load %v[%u] : memref<128xf32, 3>
    memref.store %r, %out[%t] : memref<128xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @memory_space_cast(
  // CHECK-NOT:     gpu.barrier
  // CHECK:         memref.store {{.+}} : memref<128xf32, 3>
  // CHECK:         gpu.barrier
  // CHECK-NOT:     gpu.barrier
  // CHECK:         memref.load
  // CHECK-NOT:     gpu.barrier
  // CHECK:         gpu.return
  gpu.func @memory_space_cast(%out: memref<128xf32>, %x: f32) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %A = memref.alloc() : memref<128xf32, 3>
    %v = memref.memory_space_cast %A : memref<128xf32, 3> to memref<128xf32>
    memref.store %x, %A[%t] : memref<128xf32, 3>
    %r = memref.load %v[%u] : memref<128xf32>
    memref.store %r, %out[%t] : memref<128xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @extract_strided_metadata(
  // CHECK-NOT:     gpu.barrier
  // CHECK:         memref.store {{.+}} : memref<128xf32, 3>
  // CHECK:         gpu.barrier
  // CHECK-NOT:     gpu.barrier
  // CHECK:         memref.load
  // CHECK-NOT:     gpu.barrier
  // CHECK:         gpu.return
  gpu.func @extract_strided_metadata(%out: memref<128xf32>, %x: f32) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    %A = memref.alloc() : memref<128xf32, 3>
    %v, %offset, %size, %stride = memref.extract_strided_metadata %A
        : memref<128xf32, 3> -> memref<f32, 3>, index, index, index
    memref.store %x, %A[%t] : memref<128xf32, 3>
    %r = memref.load %v[] : memref<f32, 3>
    memref.store %r, %out[%t] : memref<128xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @assume_alignment(
  // CHECK-NOT:     gpu.barrier
  // CHECK:         memref.store {{.+}} : memref<128xf32, 3>
  // CHECK:         gpu.barrier
  // CHECK-NOT:     gpu.barrier
  // CHECK:         memref.load
  // CHECK-NOT:     gpu.barrier
  // CHECK:         gpu.return
  gpu.func @assume_alignment(%out: memref<128xf32>, %x: f32) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %A = memref.alloc() : memref<128xf32, 3>
    %v = memref.assume_alignment %A, 16 : memref<128xf32, 3>
    memref.store %x, %A[%t] : memref<128xf32, 3>
    %r = memref.load %v[%u] : memref<128xf32, 3>
    memref.store %r, %out[%t] : memref<128xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @if_result(
  // CHECK-NOT:     gpu.barrier
  // CHECK:         memref.store {{.+}} : memref<128xf32, 3>
  // CHECK:         gpu.barrier
  // CHECK-NOT:     gpu.barrier
  // CHECK:         memref.load
  // CHECK-NOT:     gpu.barrier
  // CHECK:         gpu.return
  gpu.func @if_result(%out: memref<128xf32>, %x: f32, %c: i1) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %A = memref.alloc() : memref<128xf32, 3>
    %B = memref.alloc() : memref<128xf32, 3>
    %v = scf.if %c -> memref<128xf32, 3> {
      scf.yield %A : memref<128xf32, 3>
    } else {
      scf.yield %B : memref<128xf32, 3>
    }
    memref.store %x, %A[%t] : memref<128xf32, 3>
    %r = memref.load %v[%u] : memref<128xf32, 3>
    memref.store %r, %out[%t] : memref<128xf32>
    gpu.return
  }

  // The barrier stands at the call, where both threads' accesses are known.
  // CHECK-LABEL: func.func @device_helper(
  // CHECK-NOT:     gpu.barrier
  // CHECK:         return
  func.func @device_helper(%A: memref<128xf32, 3>, %u: index) -> f32 {
    %r = memref.load %A[%u] : memref<128xf32, 3>
    return %r : f32
  }

  // CHECK-LABEL: gpu.func @calls_device_helper(
  // CHECK-NOT:     gpu.barrier
  // CHECK:         memref.store {{.+}} : memref<128xf32, 3>
  // CHECK:         gpu.barrier
  // CHECK-NOT:     gpu.barrier
  // CHECK-NEXT:    func.call @device_helper
  // CHECK-NOT:     gpu.barrier
  // CHECK:         gpu.return
  gpu.func @calls_device_helper(%out: memref<128xf32>, %x: f32) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %A = memref.alloc() : memref<128xf32, 3>
    memref.store %x, %A[%t] : memref<128xf32, 3>
    %r = func.call @device_helper(%A, %u) : (memref<128xf32, 3>, index) -> f32
    memref.store %r, %out[%t] : memref<128xf32>
    gpu.return
  }
}

// The probes for TileLang 0.1.15, under the names of that page. Thread t + 1 is
// meant modulo 128.
gpu.module @tilelang {
  // Two threads write each element: the only hazard is of two writes.
  // CHECK-LABEL: gpu.func @p1(
  // CHECK-NOT:     gpu.barrier
  // CHECK:         memref.store
  // CHECK:         gpu.barrier
  // CHECK-NOT:     gpu.barrier
  // CHECK:         memref.store
  // CHECK-NOT:     gpu.barrier
  // CHECK:         gpu.return
  gpu.func @p1(%x: f32, %y: f32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c1 = arith.constant 1 : index
    %c128 = arith.constant 128 : index
    %t = gpu.thread_id x
    %t1 = arith.addi %t, %c1 : index
    %u = arith.remui %t1, %c128 : index
    %A = memref.alloc() : memref<128xf32, 3>
    memref.store %x, %A[%t] : memref<128xf32, 3>
    memref.store %y, %A[%u] : memref<128xf32, 3>
    gpu.return
  }

  // The barrier for B is of no use for A in the blocks that do not take the branch.
  // CHECK-LABEL: gpu.func @p2(
  // CHECK-NOT:     gpu.barrier
  // CHECK:         scf.if
  // CHECK:           memref.store
  // CHECK:           gpu.barrier
  // CHECK-NOT:       gpu.barrier
  // CHECK:           memref.load
  // CHECK-NOT:       gpu.barrier
  // CHECK:         }
  // CHECK:         gpu.barrier
  // CHECK-NOT:     gpu.barrier
  // CHECK:         memref.load
  // CHECK-NOT:     gpu.barrier
  // CHECK:         gpu.return
  gpu.func @p2(%outA: memref<128xf32>, %outB: memref<128xf32>, %x: f32) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c1 = arith.constant 1 : index
    %c128 = arith.constant 128 : index
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %t1 = arith.addi %t, %c1 : index
    %u = arith.remui %t1, %c128 : index
    %A = memref.alloc() : memref<128xf32, 3>
    %B = memref.alloc() : memref<128xf32, 3>
    memref.store %x, %A[%t] : memref<128xf32, 3>
    %first = arith.cmpi ult, %b, %c1 : index
    scf.if %first {
      memref.store %x, %B[%t] : memref<128xf32, 3>
      %r = memref.load %B[%u] : memref<128xf32, 3>
      memref.store %r, %outB[%t] : memref<128xf32>
    }
    %q = memref.load %A[%u] : memref<128xf32, 3>
    memref.store %q, %outA[%t] : memref<128xf32>
    gpu.return
  }

  // A slot is read two iterations after it was written.
  // CHECK-LABEL: gpu.func @p3(
  // CHECK-NOT:     gpu.barrier
  // CHECK:         scf.for
  // CHECK:           gpu.barrier
  // CHECK-NOT:       gpu.barrier
  // CHECK:           scf.yield
  // CHECK-NOT:     gpu.barrier
  // CHECK:         gpu.return
  gpu.func @p3(%out: memref<128xf32>, %x: f32, %n: index) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c128 = arith.constant 128 : index
    %t = gpu.thread_id x
    %t1 = arith.addi %t, %c1 : index
    %u = arith.remui %t1, %c128 : index
    %A = memref.alloc() : memref<4x128xf32, 3>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> f32 {
      %ahead = arith.addi %i, %c2 : index
      %fill = arith.remui %ahead, %c4 : index
      %use = arith.remui %i, %c4 : index
      memref.store %x, %A[%fill, %t] : memref<4x128xf32, 3>
      %r = memref.load %A[%use, %u] : memref<4x128xf32, 3>
      %next = arith.addf %s, %r : f32
      scf.yield %next : f32
    }
    memref.store %sum, %out[%t] : memref<128xf32>
    gpu.return
  }

  // The same thread writes and reads: element (t + 128) / 16 - 8 is t / 16.
  // CHECK-LABEL: gpu.func @p5(
  // CHECK-NOT:     gpu.barrier
  // CHECK:         gpu.return
  gpu.func @p5(%out: memref<128xf32>, %x: f32) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c128 = arith.constant 128 : index
    %t = gpu.thread_id x
    %row = arith.divui %t, %c16 : index
    %column = arith.remui %t, %c16 : index
    %shifted = arith.addi %t, %c128 : index
    %quotient = arith.divui %shifted, %c16 : index
    %same = arith.subi %quotient, %c8 : index
    %A = memref.alloc() : memref<8x16xf32, 3>
    memref.store %x, %A[%row, %column] : memref<8x16xf32, 3>
    %r = memref.load %A[%same, %column] : memref<8x16xf32, 3>
    memref.store %r, %out[%t] : memref<128xf32>
    gpu.return
  }

  // The loop may have no iteration. Each iteration has a row of its own: one barrier in it.
  // CHECK-LABEL: gpu.func @p6(
  // CHECK-NOT:     gpu.barrier
  // CHECK:         scf.for
  // CHECK:           memref.store
  // CHECK:           gpu.barrier
  // CHECK-NOT:       gpu.barrier
  // CHECK:           memref.load
  // CHECK-NOT:       gpu.barrier
  // CHECK:           scf.yield
  // CHECK:         gpu.barrier
  // CHECK-NOT:     gpu.barrier
  // CHECK:         memref.load
  // CHECK-NOT:     gpu.barrier
  // CHECK:         gpu.return
  gpu.func @p6(%outA: memref<128xf32>, %outB: memref<128xf32>, %x: f32, %n: index) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c128 = arith.constant 128 : index
    %t = gpu.thread_id x
    %t1 = arith.addi %t, %c1 : index
    %u = arith.remui %t1, %c128 : index
    %A = memref.alloc() : memref<128xf32, 3>
    %B = memref.alloc() : memref<16x128xf32, 3>
    memref.store %x, %A[%t] : memref<128xf32, 3>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> f32 {
      memref.store %x, %B[%i, %t] : memref<16x128xf32, 3>
      %r = memref.load %B[%i, %u] : memref<16x128xf32, 3>
      %next = arith.addf %s, %r : f32
      scf.yield %next : f32
    }
    memref.store %sum, %outB[%t] : memref<128xf32>
    %q = memref.load %A[%u] : memref<128xf32, 3>
    memref.store %q, %outA[%t] : memref<128xf32>
    gpu.return
  }
}

// The plainest loop with one buffer: one barrier for what this iteration reads, one
// before the next iteration overwrites it. Wave 3.9.1 counts the first for both.
gpu.module @wave {
  // CHECK-LABEL: gpu.func @loop(
  // CHECK-NOT:     gpu.barrier
  // CHECK:         scf.for
  // CHECK-COUNT-2:   gpu.barrier
  // CHECK-NOT:       gpu.barrier
  // CHECK:           scf.yield
  // CHECK-NOT:     gpu.barrier
  // CHECK:         gpu.return
  gpu.func @loop(%out: memref<128xf32>, %x: f32, %n: index) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %A = memref.alloc() : memref<128xf32, 3>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> f32 {
      memref.store %s, %A[%t] : memref<128xf32, 3>
      %r = memref.load %A[%u] : memref<128xf32, 3>
      %next = arith.addf %s, %r : f32
      scf.yield %next : f32
    }
    memref.store %sum, %out[%t] : memref<128xf32>
    gpu.return
  }
}
