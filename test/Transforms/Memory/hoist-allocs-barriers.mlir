// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-hoist-allocs{insert-barriers=true})' --remarks-filter-passed='workgroup.*' --remark-format=emitRemark --verify-diagnostics -o %t
// RUN: FileCheck %s --input-file=%t
// RUN: mlir-opt %t --pass-pipeline='builtin.module(workgroup-hoist-allocs{insert-barriers=true})' -o %t.twice
// RUN: diff %t %t.twice

// A loop that allocates fills the same buffer in each iteration: the threads that still
// read the last iteration's values are waited for, once an iteration.
// CHECK-LABEL: gpu.func @loop
// CHECK-SAME:    workgroup(%[[BUFFER:[a-z0-9]+]] :
// CHECK:         scf.for
// CHECK-NEXT:      gpu.barrier
// CHECK-NOT:       gpu.barrier
// CHECK:           memref.store %{{.+}}, %[[BUFFER]]
// CHECK:           gpu.barrier
// CHECK:           memref.load %[[BUFFER]]
// CHECK-NOT:     gpu.barrier
gpu.module @loops {
  gpu.func @loop(%a: memref<64xf32>, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %x = gpu.thread_id x
    scf.for %i = %c0 to %n step %c1 {
      // expected-remark @+2 {{[Passed] InsertedBarrier | Category:workgroup-hoist-allocs | Function=loop | Remark="barrier before the buffer is used again"}}
      // expected-remark @+1 {{Hoisted}}
      %buffer = memref.alloc() : memref<64xf32, 3>
      %value = memref.load %a[%x] : memref<64xf32>
      memref.store %value, %buffer[%x] : memref<64xf32, 3>
      gpu.barrier
      %other = memref.load %buffer[%i] : memref<64xf32, 3>
      memref.store %other, %a[%x] : memref<64xf32>
      memref.dealloc %buffer : memref<64xf32, 3>
    }
    gpu.return
  }
}


// Where a barrier stands already, before the allocation or after it, with nothing
// but arithmetic between, there is none to add; two allocations share theirs.
gpu.module @kernels {
  // CHECK-LABEL: gpu.func @before
  // CHECK:         scf.for
  // CHECK:           gpu.barrier
  // CHECK-NOT:       gpu.barrier
  // CHECK:         gpu.return
  gpu.func @before(%a: memref<64xf32>, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      gpu.barrier
      %next = arith.addi %i, %c1 : index
      // expected-remark @+1 {{Hoisted}}
      %buffer = memref.alloc() : memref<64xf32, 3>
      %value = memref.load %buffer[%next] : memref<64xf32, 3>
      memref.store %value, %a[%i] : memref<64xf32>
    }
    gpu.return
  }
  // CHECK-LABEL: gpu.func @after
  // CHECK:         scf.for
  // CHECK-NEXT:      nvvm.barrier
  // CHECK-NOT:       gpu.barrier
  // CHECK:         gpu.return
  gpu.func @after(%a: memref<64xf32>, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      // expected-remark @+1 {{Hoisted}}
      %buffer = memref.alloc() : memref<64xf32, 3>
      nvvm.barrier
      %value = memref.load %buffer[%i] : memref<64xf32, 3>
      memref.store %value, %a[%i] : memref<64xf32>
    }
    gpu.return
  }
  // CHECK-LABEL: gpu.func @shared
  // CHECK:         scf.for
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NOT:       gpu.barrier
  // CHECK:         gpu.return
  gpu.func @shared(%a: memref<64xf32>, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      // expected-remark @+2 {{InsertedBarrier}}
      // expected-remark @+1 {{Hoisted}}
      %first = memref.alloc() : memref<64xf32, 3>
      // expected-remark @+1 {{Hoisted}}
      %second = memref.alloc() : memref<64xf32, 3>
      %value = memref.load %first[%i] : memref<64xf32, 3>
      memref.store %value, %second[%i] : memref<64xf32, 3>
    }
    gpu.return
  }

  // One that only part of the block meets at does not count; nor does one with an
  // access between, which may be the first to fill the other's buffer.
  // CHECK-LABEL: gpu.func @not_enough
  // CHECK:         nvvm.barrier id
  // CHECK-NEXT:    gpu.barrier
  // CHECK:         memref.load
  // CHECK:         gpu.barrier
  // CHECK-NEXT:    memref.store
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NOT:     gpu.barrier
  // CHECK:         gpu.return
  gpu.func @not_enough(%a: memref<64xf32>, %n: index, %half: i32) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %x = gpu.thread_id x
    scf.for %i = %c0 to %n step %c1 {
      nvvm.barrier id = %half number_of_threads = %half
      // expected-remark @+2 {{InsertedBarrier}}
      // expected-remark @+1 {{Hoisted}}
      %buffer = memref.alloc() : memref<64xf32, 3>
      %value = memref.load %buffer[%x] : memref<64xf32, 3>
      gpu.barrier
      memref.store %value, %a[%x] : memref<64xf32>
      // expected-remark @+2 {{InsertedBarrier}}
      // expected-remark @+1 {{Hoisted}}
      %other = memref.alloc() : memref<64xf32, 3>
      memref.store %value, %other[%x] : memref<64xf32, 3>
    }
    gpu.return
  }

  // An allocation that runs once needs none, nor does a block of one thread.
  // CHECK-LABEL: gpu.func @once
  // CHECK-NOT:     gpu.barrier
  // CHECK:         gpu.return
  gpu.func @once(%a: memref<64xf32>, %i: index, %c: i1) kernel {
    %value = memref.load %a[%i] : memref<64xf32>
    scf.if %c {
      // expected-remark @+1 {{Hoisted}}
      %buffer = memref.alloc() : memref<64xf32, 3>
      memref.store %value, %buffer[%i] : memref<64xf32, 3>
    }
    gpu.return
  }
  // CHECK-LABEL: gpu.func @one_thread
  // CHECK-NOT:     gpu.barrier
  // CHECK:         gpu.return
  gpu.func @one_thread(%a: memref<64xf32>, %n: index) kernel
      attributes {known_block_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      // expected-remark @+1 {{Hoisted}}
      %buffer = memref.alloc() : memref<64xf32, 3>
      %value = memref.load %buffer[%i] : memref<64xf32, 3>
      memref.store %value, %a[%i] : memref<64xf32>
    }
    gpu.return
  }

  // A loop of blocks.
  // CHECK-LABEL: gpu.func @blocks
  // CHECK:       ^[[BODY:bb[0-9]+]]:
  // CHECK:         gpu.barrier
  // CHECK:         memref.load
  // CHECK:         cf.cond_br %{{.+}}, ^[[BODY]]
  gpu.func @blocks(%a: memref<64xf32>, %i: index, %c: i1) kernel {
    cf.br ^body
  ^body:
    // expected-remark @+2 {{InsertedBarrier}}
    // expected-remark @+1 {{Hoisted}}
    %buffer = memref.alloc() : memref<64xf32, 3>
    %value = memref.load %buffer[%i] : memref<64xf32, 3>
    memref.store %value, %a[%i] : memref<64xf32>
    cf.cond_br %c, ^body, ^exit
  ^exit:
    gpu.return
  }

  // A function may be called again, as here, for the same buffer.
  // CHECK-LABEL: func.func @helper
  // CHECK:         memref.get_global
  // CHECK:         gpu.barrier
  // CHECK:         memref.load
  func.func @helper(%i: index) -> f32 {
    // expected-remark @+2 {{InsertedBarrier}}
    // expected-remark @+1 {{Hoisted}}
    %buffer = memref.alloca() : memref<64xf32, 3>
    %value = memref.load %buffer[%i] : memref<64xf32, 3>
    return %value : f32
  }
  gpu.func @calls(%a: memref<64xf32>, %i: index) kernel {
    %x = func.call @helper(%i) : (index) -> f32
    %y = func.call @helper(%i) : (index) -> f32
    %sum = arith.addf %x, %y : f32
    memref.store %sum, %a[%i] : memref<64xf32>
    gpu.return
  }

  // Threads that go their own ways in each iteration are together before that.
  // CHECK-LABEL: gpu.func @divergent_branch
  // CHECK:         scf.for
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NEXT:      scf.if
  // CHECK-NOT:       gpu.barrier
  // CHECK:         gpu.return
  gpu.func @divergent_branch(%a: memref<64xf32>, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %lane = gpu.lane_id
    %first = arith.cmpi eq, %lane, %c0 : index
    scf.for %i = %c0 to %n step %c1 {
      scf.if %first {
        // expected-remark @+2 {{InsertedBarrier}}
        // expected-remark @+1 {{Hoisted}}
        %buffer = memref.alloc() : memref<64xf32, 3>
        %value = memref.load %a[%i] : memref<64xf32>
        memref.store %value, %buffer[%i] : memref<64xf32, 3>
      }
    }
    gpu.return
  }

  // Threads that iterate on their own are nowhere together, and need not be: each keeps to
  // bytes of its own.
  // CHECK-LABEL: gpu.func @divergent_loop
  // CHECK-SAME:    workgroup(%{{.+}} : memref<4x64xf32,
  // CHECK-NOT:     gpu.barrier
  // CHECK:         gpu.return
  gpu.func @divergent_loop(%a: memref<64xf32>, %n: index) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %x = gpu.thread_id x
    scf.for %j = %c0 to %n step %c1 {
      scf.for %i = %c0 to %x step %c1 {
        // expected-remark @+1 {{Hoisted}}
        %buffer = memref.alloc() : memref<4x64xf32, 3>
        %value = memref.load %a[%x] : memref<64xf32>
        %row = arith.remui %i, %c4 : index
        memref.store %value, %buffer[%row, %x] : memref<4x64xf32, 3>
        %other = memref.load %buffer[%row, %x] : memref<4x64xf32, 3>
        memref.store %other, %a[%x] : memref<64xf32>
      }
    }
    gpu.return
  }
}
