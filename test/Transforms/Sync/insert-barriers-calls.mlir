// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-insert-barriers,workgroup-verify-sync)' --verify-diagnostics -o %t.once
// RUN: FileCheck %s --input-file=%t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-insert-barriers)' -o %t.twice
// RUN: diff %t.once %t.twice
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-eliminate-barriers)' -o %t.least
// RUN: diff %t.once %t.least

// What is called is looked at where it is called. In it are the barriers that some kernel needs there, others stand beside the call.

!S = memref<128xf32, #gpu.address_space<workgroup>>

gpu.module @m {
  // CHECK-LABEL: func.func @read(
  // CHECK-NOT:     gpu.barrier
  // CHECK:         return
  func.func @read(%S: !S, %i: index) -> f32 {
    %x = memref.load %S[%i] : !S
    return %x : f32
  }
  // CHECK-LABEL: func.func @meet_and_read(
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NOT:     gpu.barrier
  // CHECK:         return
  func.func @meet_and_read(%S: !S, %i: index) -> f32 {
    gpu.barrier
    %x = memref.load %S[%i] : !S
    return %x : f32
  }
  // It orders what it does itself, also by a call.
  // CHECK-LABEL: func.func @write_and_read(
  // CHECK:         memref.store
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    call @read
  // CHECK-NEXT:    return
  func.func @write_and_read(%S: !S, %t: index, %i: index, %x: f32) -> f32 {
    memref.store %x, %S[%t] : !S
    %y = func.call @read(%S, %i) : (!S, index) -> f32
    return %y : f32
  }

  // CHECK-LABEL: gpu.func @before_call(
  // CHECK:         memref.store
  // CHECK-NEXT:    memref.store
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    func.call @read
  // The same thread, and other memory, before and after.
  // CHECK-NOT:     gpu.barrier
  // CHECK:         gpu.return
  gpu.func @before_call(%out: memref<128xf32>, %x: f32) workgroup(%S: !S, %R: !S) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    memref.store %x, %S[%t] : !S
    memref.store %x, %R[%t] : !S
    %y = func.call @read(%S, %u) : (!S, index) -> f32
    %z = func.call @read(%R, %t) : (!S, index) -> f32
    %sum = arith.addf %y, %z : f32
    memref.store %sum, %out[%t] : memref<128xf32>
    gpu.return
  }

  // The barrier that it starts with orders what its caller has done.
  // CHECK-LABEL: gpu.func @barrier_in_call(
  // CHECK:         memref.store
  // CHECK-NEXT:    func.call @meet_and_read
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.store
  // CHECK-NOT:     gpu.barrier
  // CHECK:         gpu.return
  gpu.func @barrier_in_call(%x: f32) workgroup(%S: !S) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    memref.store %x, %S[%t] : !S
    %y = func.call @meet_and_read(%S, %u) : (!S, index) -> f32
    memref.store %y, %S[%t] : !S
    gpu.return
  }

  // The store of the next iteration comes in the call. What happens between two calls is between them.
  // CHECK-LABEL: gpu.func @loop(
  // CHECK:         scf.for
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NEXT:      func.call @write_and_read
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NEXT:      func.call @write_and_read
  // CHECK-NEXT:    }
  gpu.func @loop(%x: f32, %n: index) workgroup(%S: !S) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    scf.for %i = %c0 to %n step %c1 {
      %y = func.call @write_and_read(%S, %t, %u, %x) : (!S, index, index, f32) -> f32
      %z = func.call @write_and_read(%S, %t, %u, %y) : (!S, index, index, f32) -> f32
    }
    gpu.return
  }

  // A warp is enough.
  // CHECK-LABEL: gpu.func @warp(
  // CHECK-NOT:     gpu.barrier
  // CHECK:         nvvm.bar.warp.sync
  // CHECK-NEXT:    func.call @read
  // CHECK-NOT:     gpu.barrier
  // CHECK:         gpu.return
  gpu.func @warp(%out: memref<128xf32>, %x: f32) workgroup(%S: !S) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c1 = arith.constant 1 : index
    %t = gpu.thread_id x
    %u = arith.xori %t, %c1 : index
    memref.store %x, %S[%t] : !S
    %y = func.call @read(%S, %u) : (!S, index) -> f32
    memref.store %y, %out[%t] : memref<128xf32>
    gpu.return
  }

  // What threads pass to a function may differ: here the iterations' stores do. All
  // are of one warp.
  // CHECK-LABEL: func.func @in_iterations(
  // CHECK:         scf.for
  // CHECK:           nvvm.bar.warp.sync
  // CHECK:           memref.store
  func.func @in_iterations(%x: f32, %t: index, %S: !S) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    scf.for %i = %c0 to %c4 step %c1 {
      %is = arith.cmpi eq, %t, %i : index
      scf.if %is {
        memref.store %x, %S[%c0] : !S
      }
    }
    return
  }
  // CHECK-LABEL: gpu.func @of_threads(
  // CHECK-NOT:     gpu.barrier
  // CHECK:         gpu.return
  gpu.func @of_threads() workgroup(%S: !S) kernel attributes {known_block_size = array<i32: 4, 1, 1>} {
    %t = gpu.thread_id x
    %i = arith.index_cast %t : index to i32
    %x = arith.sitofp %i : i32 to f32
    func.call @in_iterations(%x, %t, %S) : (f32, index, !S) -> ()
    gpu.return
  }

  // By itself it might get one buffer twice; the kernel that calls it passes two.
  // CHECK-LABEL: func.func @read_and_write(
  // CHECK-NEXT:    memref.load
  // CHECK-NEXT:    memref.store
  // CHECK-NEXT:    return
  func.func @read_and_write(%S: !S, %R: !S, %i: index) {
    %x = memref.load %S[%i] : !S
    memref.store %x, %R[%i] : !S
    return
  }
  // Of the three stores only the last two are ever of one buffer, and so is it by a call of a call.
  // CHECK-LABEL: func.func @write_all(
  // CHECK:         memref.store
  // CHECK-NEXT:    memref.store
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.store
  // CHECK-NEXT:    return
  func.func @write_all(%x: f32, %S: !S, %R: !S, %T: !S, %i: index, %k: index) {
    memref.store %x, %S[%i] : !S
    memref.store %x, %R[%k] : !S
    memref.store %x, %T[%i] : !S
    return
  }
  // CHECK-LABEL: func.func @write_twice(
  // CHECK-NEXT:    call @write_all
  // CHECK-NEXT:    return
  func.func @write_twice(%x: f32, %S: !S, %R: !S, %i: index, %k: index) {
    func.call @write_all(%x, %S, %R, %R, %i, %k) : (f32, !S, !S, !S, index, index) -> ()
    return
  }
  // CHECK-LABEL: gpu.func @of_two(
  // CHECK-NOT:     gpu.barrier
  // CHECK:         gpu.return
  gpu.func @of_two(%x: f32) workgroup(%S: !S, %R: !S, %T: !S) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    func.call @read_and_write(%S, %R, %t) : (!S, !S, index) -> ()
    func.call @write_twice(%x, %R, %T, %t, %u) : (f32, !S, !S, index, index) -> ()
    gpu.return
  }

  // Two calls may be in the way of each other, and so may two iterations: neither is a reason for a barrier in the function.
  // CHECK-LABEL: func.func @read_then_write(
  // CHECK-NEXT:    memref.load
  // CHECK-NEXT:    memref.store
  // CHECK-NEXT:    return
  func.func @read_then_write(%S: !S, %i: index, %k: index) {
    %x = memref.load %S[%i] : !S
    memref.store %x, %S[%k] : !S
    return
  }
  // CHECK-LABEL: gpu.func @in_two_calls(
  // CHECK:         scf.for
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NEXT:      func.call @read_then_write
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NEXT:      func.call @read_then_write
  // CHECK-NEXT:    }
  gpu.func @in_two_calls(%n: index) workgroup(%S: !S) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    scf.for %i = %c0 to %n step %c1 {
      func.call @read_then_write(%S, %t, %t) : (!S, index, index) -> ()
      func.call @read_then_write(%S, %u, %u) : (!S, index, index) -> ()
    }
    gpu.return
  }

  // Of what it calls twice, the first store and the second load are of one buffer: which call it is counts, and one barrier is enough.
  func.func @put(%x: f32, %S: !S, %i: index) {
    memref.store %x, %S[%i] : !S
    return
  }
  // CHECK-LABEL: func.func @put_and_read_twice(
  // CHECK-COUNT-1: gpu.barrier
  // CHECK-NOT:     gpu.barrier
  // CHECK:         return
  func.func @put_and_read_twice(%x: f32, %i: index, %k: index, %P: !S, %Q: !S, %R: !S, %T: !S) {
    func.call @put(%x, %P, %i) : (f32, !S, index) -> ()
    %y = func.call @read(%Q, %k) : (!S, index) -> f32
    func.call @put(%y, %R, %i) : (f32, !S, index) -> ()
    %z = func.call @read(%T, %k) : (!S, index) -> f32
    return
  }
  // CHECK-LABEL: gpu.func @of_four(
  // CHECK-NOT:     gpu.barrier
  // CHECK:         gpu.return
  gpu.func @of_four(%x: f32) workgroup(%P: !S, %Q: !S, %R: !S) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    func.call @put_and_read_twice(%x, %t, %u, %P, %Q, %R, %P) : (f32, index, index, !S, !S, !S, !S) -> ()
    gpu.return
  }

  // Nothing is known of what has no body: it may do anything to what it is given.
  func.func private @unknown(%S: !S)
  // CHECK-LABEL: gpu.func @external(
  // CHECK:         memref.store
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    func.call @unknown
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.load
  // CHECK-NOT:     gpu.barrier
  // CHECK:         gpu.return
  gpu.func @external(%x: f32) workgroup(%S: !S) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    memref.store %x, %S[%t] : !S
    // expected-warning @+2 {{possible data race on}}
    // expected-note @+1 {{the other access}}
    func.call @unknown(%S) : (!S) -> ()
    %y = memref.load %S[%t] : !S
    memref.store %y, %S[%t] : !S
    gpu.return
  }
  // Two calls deeper.
  // CHECK-LABEL: func.func @put_there(
  // CHECK-NOT:     gpu.barrier
  // CHECK:         return
  func.func @put_there(%x: f32, %S: !S, %i: index) {
    func.call @put(%x, %S, %i) : (f32, !S, index) -> ()
    return
  }
  // CHECK-LABEL: func.func @put_there_and_read(
  // CHECK:         call @put_there
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    call @read
  func.func @put_there_and_read(%x: f32, %S: !S, %i: index, %k: index) -> f32 {
    func.call @put_there(%x, %S, %i) : (f32, !S, index) -> ()
    %y = func.call @read(%S, %k) : (!S, index) -> f32
    return %y : f32
  }
  // CHECK-LABEL: gpu.func @of_depth_three(
  // CHECK-NOT:     gpu.barrier
  // CHECK:         gpu.return
  gpu.func @of_depth_three(%out: memref<128xf32> {llvm.noalias}, %x: f32) workgroup(%S: !S) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %y = func.call @put_there_and_read(%x, %S, %t, %u) : (f32, !S, index, index) -> f32
    memref.store %y, %out[%t] : memref<128xf32>
    gpu.return
  }

  // What is called is known only when it runs.
  func.func @nothing(%S: !S) { return }
  // CHECK-LABEL: gpu.func @indirect(
  // CHECK:         func.call_indirect
  gpu.func @indirect() workgroup(%S: !S) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %function = func.constant @nothing : (!S) -> ()
    // expected-warning @+2 {{possible data race on}}
    // expected-note @+1 {{the other access}}
    func.call_indirect %function(%S) : (!S) -> ()
    gpu.return
  }
}
