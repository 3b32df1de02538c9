// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-insert-barriers{warn=false})' | FileCheck %s
// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-insert-barriers)' 2>&1 >/dev/null | FileCheck %s --check-prefix=SAID

// Who has the lock would wait at a barrier for those that wait for the lock.
// Before the lock, nobody waits.
// CHECK-LABEL: gpu.func @lock(
// CHECK:         memref.store
// CHECK-NEXT:    gpu.barrier
// CHECK-NEXT:    memref.load
// CHECK:         scf.while
// CHECK-NOT:     gpu.barrier
// CHECK:         gpu.return
// SAID:          :[[#WAIT:]]:{{[0-9]+}}: note: no barrier is put, as threads may wait for others here, which it would hold up
gpu.module @m {
  gpu.func @lock(%f: f32, %out: memref<64xf32>)
      workgroup(%lock: memref<1xi32, 3>, %sum: memref<1xf32, 3>, %S: memref<64xf32, 3>)
      kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c63 = arith.constant 63 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %t = gpu.thread_id x
    %u = arith.subi %c63, %t : index
    memref.store %f, %S[%t] : memref<64xf32, 3>
    %v = memref.load %S[%u] : memref<64xf32, 3>
    scf.while : () -> () {
      %held = memref.atomic_rmw assign %one, %lock[%c0] : (i32, memref<1xi32, 3>) -> i32
      %again = arith.cmpi ne, %held, %zero : i32
      scf.condition(%again)
    } do {
      scf.yield
    }
    nvvm.memory.barrier <cta>
    %old = memref.load %sum[%c0] : memref<1xf32, 3>
    %new = arith.addf %old, %v : f32
    memref.store %new, %sum[%c0] : memref<1xf32, 3>
    nvvm.memory.barrier <cta>
    %mine = memref.atomic_rmw assign %zero, %lock[%c0] : (i32, memref<1xi32, 3>) -> i32
    gpu.return
  }
}

// -----

// The same by branches: blocks that go round until they see a flag.
// CHECK-LABEL: gpu.func @flag(
// CHECK-NOT:     gpu.barrier
// CHECK:         gpu.return
// SAID:          note: no barrier is put
gpu.module @m {
  gpu.func @flag(%f: f32, %flag: !llvm.ptr<1>) workgroup(%S: memref<64xf32, 3>)
      kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c63 = arith.constant 63 : index
    %zero = arith.constant 0 : i32
    %t = gpu.thread_id x
    %u = arith.subi %c63, %t : index
    cf.br ^spin
  ^spin:
    %seen = llvm.load volatile %flag : !llvm.ptr<1> -> i32
    %again = arith.cmpi eq, %seen, %zero : i32
    cf.cond_br %again, ^spin, ^on
  ^on:
    memref.store %f, %S[%t] : memref<64xf32, 3>
    %v = memref.load %S[%u] : memref<64xf32, 3>
    gpu.return
  }
}

// -----

// Atomic accesses in a loop that counts are waited for by nobody.
// CHECK-LABEL: gpu.func @counted(
// CHECK:         scf.for
// CHECK:         memref.store
// CHECK-NEXT:    gpu.barrier
// CHECK-NEXT:    memref.load
gpu.module @m {
  gpu.func @counted(%f: f32, %count: memref<1xi32, 1>, %n: index) workgroup(%S: memref<64xf32, 3>)
      kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c63 = arith.constant 63 : index
    %one = arith.constant 1 : i32
    %t = gpu.thread_id x
    %u = arith.subi %c63, %t : index
    scf.for %i = %c0 to %n step %c1 {
      %old = memref.atomic_rmw addi %one, %count[%c0] : (i32, memref<1xi32, 1>) -> i32
    }
    memref.store %f, %S[%t] : memref<64xf32, 3>
    %v = memref.load %S[%u] : memref<64xf32, 3>
    gpu.return
  }
}

// -----

// One warp waits for a phase that the other ones end: each in a branch of its
// own, so that a barrier between the branches would hold up both.
// CHECK-LABEL: gpu.func @specialised(
// CHECK:         nvgpu.mbarrier.try_wait.parity
// CHECK-NOT:     gpu.barrier
// CHECK:         gpu.return
!bars = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @specialised(%f: f32) workgroup(%S: memref<64xf32, 3>)
      kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %ticks = arith.constant 10000 : index
    %parity = arith.constant false
    %t = gpu.thread_id x
    %bars = nvgpu.mbarrier.create -> !bars
    %is_first = arith.cmpi eq, %t, %c0 : index
    scf.if %is_first {
      nvgpu.mbarrier.init %bars[%c0], %c32 : !bars
    }
    gpu.barrier
    %is_reader = arith.cmpi ult, %t, %c32 : index
    scf.if %is_reader {
      nvgpu.mbarrier.try_wait.parity %bars[%c0], %parity, %ticks : !bars
      %u = arith.addi %t, %c32 : index
      %v = memref.load %S[%u] : memref<64xf32, 3>
    }
    %is_writer = arith.cmpi uge, %t, %c32 : index
    scf.if %is_writer {
      memref.store %f, %S[%t] : memref<64xf32, 3>
      %token = nvgpu.mbarrier.arrive %bars[%c0] : !bars -> !nvgpu.mbarrier.token
    }
    gpu.return
  }
}

// -----

// All threads wait for the same phase: what ends it came before, in each.
// CHECK-LABEL: gpu.func @together(
// CHECK:         nvgpu.mbarrier.try_wait.parity
// CHECK:         memref.store
// CHECK-NEXT:    gpu.barrier
// CHECK-NEXT:    memref.load
!bars = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
gpu.module @m {
  gpu.func @together(%f: f32) workgroup(%S: memref<64xf32, 3>)
      kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c63 = arith.constant 63 : index
    %c64 = arith.constant 64 : index
    %ticks = arith.constant 10000 : index
    %parity = arith.constant false
    %t = gpu.thread_id x
    %bars = nvgpu.mbarrier.create -> !bars
    %is_first = arith.cmpi eq, %t, %c0 : index
    scf.if %is_first {
      nvgpu.mbarrier.init %bars[%c0], %c64 : !bars
    }
    gpu.barrier
    %token = nvgpu.mbarrier.arrive %bars[%c0] : !bars -> !nvgpu.mbarrier.token
    nvgpu.mbarrier.try_wait.parity %bars[%c0], %parity, %ticks : !bars
    %u = arith.subi %c63, %t : index
    memref.store %f, %S[%t] : memref<64xf32, 3>
    %v = memref.load %S[%u] : memref<64xf32, 3>
    gpu.return
  }
}

// -----

// A barrier of some threads, and one of all behind it.
// CHECK-LABEL: gpu.func @some(
// CHECK:         nvvm.barrier id
// CHECK-NOT:     gpu.barrier
// CHECK:         gpu.return
gpu.module @m {
  gpu.func @some(%f: f32) workgroup(%S: memref<64xf32, 3>)
      kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c63 = arith.constant 63 : index
    %id = arith.constant 1 : i32
    %threads = arith.constant 64 : i32
    %t = gpu.thread_id x
    %u = arith.subi %c63, %t : index
    nvvm.barrier id = %id number_of_threads = %threads
    memref.store %f, %S[%t] : memref<64xf32, 3>
    %v = memref.load %S[%u] : memref<64xf32, 3>
    gpu.return
  }
}

// -----

// What atomic accesses return goes round with the counter of a loop, but only
// the counter ends it: for that no thread waits.
// CHECK-LABEL: gpu.func @summed(
// CHECK:         scf.while
// CHECK:           memref.store
// CHECK:           gpu.barrier
// CHECK-NEXT:      memref.load
gpu.module @m {
  gpu.func @summed(%f: f32, %out: memref<64xf32>, %count: memref<1xi32, 1>, %n: i32)
      workgroup(%S: memref<64xf32, 3>)
      kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c63 = arith.constant 63 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %t = gpu.thread_id x
    %u = arith.subi %c63, %t : index
    %last:2 = scf.while (%i = %zero, %sum = %zero) : (i32, i32) -> (i32, i32) {
      %more = arith.cmpi ult, %i, %n : i32
      scf.condition(%more) %i, %sum : i32, i32
    } do {
    ^bb0(%i: i32, %sum: i32):
      memref.store %f, %S[%t] : memref<64xf32, 3>
      %old = memref.atomic_rmw addi %one, %count[%c0] : (i32, memref<1xi32, 1>) -> i32
      %v = memref.load %S[%u] : memref<64xf32, 3>
      memref.store %v, %out[%t] : memref<64xf32>
      %is_odd = arith.trunci %old : i32 to i1
      %added = scf.if %is_odd -> i32 {
        %more_sum = arith.addi %sum, %old : i32
        scf.yield %more_sum : i32
      } else {
        scf.yield %sum : i32
      }
      %next = arith.addi %i, %one : i32
      scf.yield %next, %added : i32, i32
    }
    gpu.return
  }
}

// -----

// What was seen takes its path through a branch, and the loop goes by branches.
// CHECK-LABEL: gpu.func @indirect(
// CHECK-NOT:     gpu.barrier
// CHECK:         gpu.return
gpu.module @m {
  gpu.func @indirect(%f: f32, %flag: memref<1xi32, 1>) workgroup(%S: memref<64xf32, 3>)
      kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c63 = arith.constant 63 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %true = arith.constant true
    %false = arith.constant false
    %t = gpu.thread_id x
    %u = arith.subi %c63, %t : index
    cf.br ^test(%true : i1)
  ^test(%again: i1):
    cf.cond_br %again, ^spin, ^on
  ^spin:
    %seen = memref.atomic_rmw ori %zero, %flag[%c0] : (i32, memref<1xi32, 1>) -> i32
    %is_set = arith.cmpi ne, %seen, %zero : i32
    %next = scf.if %is_set -> i1 {
      scf.yield %false : i1
    } else {
      scf.yield %true : i1
    }
    cf.br ^test(%next : i1)
  ^on:
    memref.store %f, %S[%t] : memref<64xf32, 3>
    %v = memref.load %S[%u] : memref<64xf32, 3>
    gpu.return
  }
}

// -----

// A wait of NVVM's loops by itself.
// CHECK-LABEL: gpu.func @nvvmwait(
// CHECK:         memref.store
// CHECK-NOT:     gpu.barrier
// CHECK:         gpu.return
gpu.module @m {
  gpu.func @nvvmwait(%flag: memref<1xi32>, %out: memref<?xf32> {llvm.noalias}, %p: !llvm.ptr<3>) workgroup(%S: memref<128xf32, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c127 = arith.constant 127 : index
    %i0 = arith.constant 0 : i32
    %i1 = arith.constant 1 : i32
    %f = arith.constant 1.0 : f32
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %is0 = arith.cmpi eq, %t, %c0 : index
    %is32 = arith.cmpi eq, %t, %c32 : index
    scf.if %is32 { nvvm.mbarrier.try_wait.parity %p, %i0, %i1 : !llvm.ptr<3>, i32, i32 }
    memref.store %f, %S[%t] : memref<128xf32, #gpu.address_space<workgroup>>
    %x = memref.load %S[%u] : memref<128xf32, #gpu.address_space<workgroup>>
    memref.store %x, %out[%t] : memref<?xf32>
    scf.if %is0 { %st = nvvm.mbarrier.arrive %p : !llvm.ptr<3> -> i64 }
    gpu.return
  }
}

// -----

// Some warps wait for the cluster.
// CHECK-LABEL: gpu.func @cluster(
// CHECK:         memref.store
// CHECK-NOT:     gpu.barrier
// CHECK:         gpu.return
gpu.module @m {
  gpu.func @cluster(%flag: memref<1xi32>, %out: memref<?xf32> {llvm.noalias}, %p: !llvm.ptr<3>) workgroup(%S: memref<128xf32, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c32 = arith.constant 32 : index
    %c127 = arith.constant 127 : index
    %f = arith.constant 1.0 : f32
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %w0 = arith.cmpi ult, %t, %c32 : index
    %notw0 = arith.cmpi uge, %t, %c32 : index
    scf.if %notw0 { nvvm.cluster.arrive
 nvvm.cluster.wait }
    memref.store %f, %S[%t] : memref<128xf32, #gpu.address_space<workgroup>>
    %x = memref.load %S[%u] : memref<128xf32, #gpu.address_space<workgroup>>
    memref.store %x, %out[%t] : memref<?xf32>
    scf.if %w0 { nvvm.cluster.arrive
 nvvm.cluster.wait }
    gpu.return
  }
}

// -----

// Assembly may do anything.
// CHECK-LABEL: gpu.func @asm(
// CHECK:         memref.store
// CHECK-NOT:     gpu.barrier
// CHECK:         gpu.return
gpu.module @m {
  gpu.func @asm(%flag: memref<1xi32>, %out: memref<?xf32> {llvm.noalias}, %p: !llvm.ptr<3>) workgroup(%S: memref<128xf32, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c127 = arith.constant 127 : index
    %i1 = arith.constant 1 : i32
    %f = arith.constant 1.0 : f32
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %is0 = arith.cmpi eq, %t, %c0 : index
    %is32 = arith.cmpi eq, %t, %c32 : index
    scf.if %is32 { llvm.inline_asm has_side_effects "L: ld.volatile.global.u32 $0, [x]; @p bra L;", "" : () -> () }
    memref.store %f, %S[%t] : memref<128xf32, #gpu.address_space<workgroup>>
    %x = memref.load %S[%u] : memref<128xf32, #gpu.address_space<workgroup>>
    memref.store %x, %out[%t] : memref<?xf32>
    scf.if %is0 { %z = memref.atomic_rmw assign %i1, %flag[%c0] : (i32, memref<1xi32>) -> i32 }
    gpu.return
  }
}

// -----

// With a fence, plain reads see what others write.
// CHECK-LABEL: gpu.func @vecload(
// CHECK:         memref.store
// CHECK-NOT:     gpu.barrier
// CHECK:         gpu.return
gpu.module @m {
  gpu.func @vecload(%flag: memref<1xi32>, %out: memref<?xf32> {llvm.noalias}, %p: !llvm.ptr<3>) workgroup(%S: memref<128xf32, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c127 = arith.constant 127 : index
    %i0 = arith.constant 0 : i32
    %i1 = arith.constant 1 : i32
    %f = arith.constant 1.0 : f32
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %is0 = arith.cmpi eq, %t, %c0 : index
    %is32 = arith.cmpi eq, %t, %c32 : index
    scf.if %is32 { scf.while : () -> () {
        %o = memref.load %flag[%c0] : memref<1xi32>
        nvvm.memory.barrier #nvvm.mem_scope<gpu>
        %g = arith.cmpi eq, %o, %i0 : i32
        scf.condition(%g)
      } do { scf.yield } }
    memref.store %f, %S[%t] : memref<128xf32, #gpu.address_space<workgroup>>
    %x = memref.load %S[%u] : memref<128xf32, #gpu.address_space<workgroup>>
    memref.store %x, %out[%t] : memref<?xf32>
    scf.if %is0 { memref.store %i1, %flag[%c0] : memref<1xi32>
 }
    gpu.return
  }
}
