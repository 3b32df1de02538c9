// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-copies{strategy=sync vector-bits=32})' | FileCheck %s
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-copies{strategy=sync vector-bits=32})' -o %t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-lower-copies{strategy=sync vector-bits=32})' -o %t.twice
// RUN: diff %t.once %t.twice

// Each copy here is one load and one store for each of 64 threads: what stands
// around them are the barriers.

gpu.module @surrounded {
  // Threads may still read what the copy overwrites, and write what it reads; then
  // they need all of it.
  // CHECK-LABEL: gpu.func @amid_accesses
  // CHECK:         memref.store %{{.+}}, %{{.+}} : memref<64xf32>
  // CHECK-NEXT:    gpu.barrier
  // CHECK:         %[[V:.+]] = memref.load
  // CHECK-NEXT:    memref.store %[[V]]
  // CHECK-NEXT:    gpu.barrier
  // CHECK:         memref.load
  // CHECK-NOT:     gpu.barrier
  // CHECK:         gpu.return
  gpu.func @amid_accesses(%a: memref<64xf32>, %b: memref<64xf32>, %x: f32, %i: index) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    memref.store %x, %a[%i] : memref<64xf32>
    memref.copy %a, %b : memref<64xf32> to memref<64xf32>
    %y = memref.load %b[%i] : memref<64xf32>
    memref.store %y, %a[%i] : memref<64xf32>
    gpu.return
  }

  // Nobody precedes the start of a kernel, nobody follows its end.
  // CHECK-LABEL: gpu.func @all_there_is
  // CHECK-NOT:     gpu.barrier
  // CHECK:         gpu.return
  gpu.func @all_there_is(%a: memref<64xf32>, %b: memref<64xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %part = memref.subview %a[0] [32] [1] : memref<64xf32> to memref<32xf32, strided<[1]>>
    memref.copy %a, %b : memref<64xf32> to memref<64xf32>
    %c1 = arith.constant 1 : index
    gpu.return
  }

  // What neither accesses memory nor orders accesses may stand between a barrier
  // and the copy.
  // CHECK-LABEL: gpu.func @beside_exchanges
  // CHECK:         gpu.barrier
  // CHECK-NEXT:    gpu.shuffle
  // CHECK-NEXT:    gpu.subgroup_reduce
  // CHECK-NEXT:    gpu.printf
  // CHECK-NEXT:    memref.prefetch
  // CHECK-NOT:     gpu.barrier
  // CHECK:         %[[V:.+]] = memref.load
  // CHECK-NEXT:    memref.store %[[V]]
  // CHECK-NEXT:    cf.assert
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.load
  // CHECK-NEXT:    gpu.return
  gpu.func @beside_exchanges(%a: memref<64xf32>, %b: memref<64xf32>, %x: f32, %i: index, %p: i1) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    memref.store %x, %a[%i] : memref<64xf32>
    gpu.barrier
    %0, %1 = gpu.shuffle xor %x, %c1, %c32 : f32
    %2 = gpu.subgroup_reduce add %x : (f32) -> f32
    gpu.printf "%f", %x : f32
    memref.prefetch %a[%i], read, locality<3>, data : memref<64xf32>
    memref.copy %a, %b : memref<64xf32> to memref<64xf32>
    cf.assert %p, "holds"
    gpu.barrier
    %y = memref.load %b[%i] : memref<64xf32>
    gpu.return
  }

  // What a thread has waited for since the barrier, others have not seen.
  // CHECK-LABEL: gpu.func @behind_wait
  // CHECK:         gpu.barrier
  // CHECK-NEXT:    nvvm.cp.async.wait.group 0
  // CHECK-NEXT:    gpu.barrier
  // CHECK:         gpu.return
  gpu.func @behind_wait(%a: memref<64xf32>, %b: memref<64xf32>, %x: f32, %i: index) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    memref.store %x, %a[%i] : memref<64xf32>
    gpu.barrier
    nvvm.cp.async.wait.group 0
    memref.copy %a, %b : memref<64xf32> to memref<64xf32>
    gpu.return
  }

  // In a loop the end of one iteration is the start of the next.
  // CHECK-LABEL: gpu.func @in_loop
  // CHECK:         scf.for
  // CHECK-NEXT:      gpu.barrier
  // CHECK:           memref.load
  // CHECK-NEXT:      memref.store
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NEXT:    }
  // CHECK-NEXT:    gpu.return
  gpu.func @in_loop(%a: memref<64xf32>, %b: memref<64xf32>, %n: index) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      memref.copy %a, %b : memref<64xf32> to memref<64xf32>
    }
    gpu.return
  }

  // A branch is no boundary of the kernel, the first one or the last.
  // CHECK-LABEL: gpu.func @in_branch
  // CHECK:         scf.if
  // CHECK-NEXT:      gpu.barrier
  // CHECK:           memref.store
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NEXT:    }
  gpu.func @in_branch(%a: memref<64xf32>, %b: memref<64xf32>, %c: i1) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    scf.if %c {
      memref.copy %a, %b : memref<64xf32> to memref<64xf32>
    }
    gpu.return
  }

  // Whoever calls the function has its own accesses before and after.
  // CHECK-LABEL: func.func @function
  // CHECK-NEXT:    gpu.barrier
  // CHECK:         gpu.barrier
  // CHECK-NEXT:    return
  func.func @function(%a: memref<64xf32, 1>, %b: memref<64xf32, 1>) {
    memref.copy %a, %b : memref<64xf32, 1> to memref<64xf32, 1>
    return
  }
  // A block ends the kernel only if no other follows it.
  // CHECK-LABEL: gpu.func @blocks
  // CHECK-NOT:     gpu.barrier
  // CHECK:         memref.store
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    cf.cond_br
  // CHECK:       ^[[NEXT:bb[0-9]+]]:
  // CHECK-NEXT:    gpu.barrier
  // CHECK:         memref.store
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    cf.br
  // CHECK-NOT:     gpu.barrier
  gpu.func @blocks(%a: memref<64xf32, 1>, %b: memref<64xf32, 1>, %c: i1) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    memref.copy %a, %b : memref<64xf32, 1> to memref<64xf32, 1>
    cf.cond_br %c, ^next, ^end
  ^next:
    memref.copy %b, %a : memref<64xf32, 1> to memref<64xf32, 1>
    cf.br ^end
  ^end:
    func.call @function(%a, %b) : (memref<64xf32, 1>, memref<64xf32, 1>) -> ()
    gpu.return
  }
}

gpu.module @present {
  // A barrier that stands there already serves, with arithmetic, views, allocations
  // and deallocations between.
  // CHECK-LABEL: gpu.func @barriers
  // CHECK:         memref.store
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NOT:     gpu.barrier
  // CHECK:         memref.store
  // CHECK-NOT:     gpu.barrier
  // CHECK:         nvvm.barrier
  // CHECK-NOT:     gpu.barrier
  // CHECK:         gpu.return
  gpu.func @barriers(%a: memref<64xf32>, %b: memref<128xf32>, %x: f32, %i: index) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    memref.store %x, %a[%i] : memref<64xf32>
    gpu.barrier
    %c64 = arith.constant 64 : index
    %w = memref.alloc() : memref<64xf32, #gpu.address_space<workgroup>>
    %part = memref.subview %b[%c64] [64] [1] : memref<128xf32> to memref<64xf32, strided<[1], offset: ?>>
    memref.copy %a, %part : memref<64xf32> to memref<64xf32, strided<[1], offset: ?>>
    memref.dealloc %w : memref<64xf32, #gpu.address_space<workgroup>>
    nvvm.barrier
    %y = memref.load %b[%i] : memref<128xf32>
    memref.store %y, %a[%i] : memref<64xf32>
    gpu.return
  }

  // One for part of the block does not, nor one with an access or a call between.
  // CHECK-LABEL: gpu.func @not_enough
  // CHECK:         nvvm.barrier id
  // CHECK-NEXT:    gpu.barrier
  // CHECK:         memref.store
  // CHECK-NEXT:    gpu.barrier
  // CHECK:         gpu.shuffle
  // CHECK-NEXT:    memref.load
  // CHECK-NEXT:    gpu.barrier
  // CHECK:         gpu.return
  gpu.func @not_enough(%a: memref<64xf32>, %b: memref<64xf32>, %i: index, %half: i32) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    nvvm.barrier id = %half number_of_threads = %half
    memref.copy %a, %b : memref<64xf32> to memref<64xf32>
    %s, %valid = gpu.shuffle xor %half, %half, %half : i32
    %y = memref.load %b[%i] : memref<64xf32>
    gpu.barrier
    memref.store %y, %a[%i] : memref<64xf32>
    gpu.return
  }
}

gpu.module @runs {
  // Copies that do not touch each other's memory share their barriers.
  // CHECK-LABEL: gpu.func @independent
  // CHECK:         gpu.barrier
  // CHECK-COUNT-3: memref.load
  // CHECK:         memref.store
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NOT:     gpu.barrier
  // CHECK:         gpu.return
  gpu.func @independent(%a: memref<64xf32>, %b: memref<64xf32>, %x: f32, %i: index)
      workgroup(%v: memref<64xf32, #gpu.address_space<workgroup>>, %w: memref<64xf32, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    memref.store %x, %a[%i] : memref<64xf32>
    %u = memref.alloc() : memref<64xf32, #gpu.address_space<workgroup>>
    memref.copy %a, %u : memref<64xf32> to memref<64xf32, #gpu.address_space<workgroup>>
    memref.copy %a, %v : memref<64xf32> to memref<64xf32, #gpu.address_space<workgroup>>
    %c0 = arith.constant 0 : index
    memref.copy %b, %w : memref<64xf32> to memref<64xf32, #gpu.address_space<workgroup>>
    %y = memref.load %v[%i] : memref<64xf32, #gpu.address_space<workgroup>>
    %z = memref.load %u[%i] : memref<64xf32, #gpu.address_space<workgroup>>
    %sum = arith.addf %y, %z : f32
    memref.store %sum, %w[%i] : memref<64xf32, #gpu.address_space<workgroup>>
    gpu.return
  }

  // A copy reads what the one before it wrote, overwrites what that one read, or
  // writes what that one wrote; the third waits for the first if not for the second.
  // CHECK-LABEL: gpu.func @dependent
  // CHECK:         memref.store %{{.+}}, %[[V:.+]][%{{.+}}] : memref<64xf32, #gpu.address_space<workgroup>>
  // CHECK-NEXT:    gpu.barrier
  // CHECK:         memref.load %[[V]]
  // CHECK:         memref.store
  // CHECK-NEXT:    gpu.barrier
  // CHECK:         memref.store %{{.+}}, %[[V]]
  // CHECK-NEXT:    gpu.barrier
  // CHECK:         memref.store %{{.+}}, %[[V]]
  // CHECK-NOT:     gpu.barrier
  // CHECK:         gpu.return
  gpu.func @dependent(%a: memref<64xf32>, %b: memref<64xf32>)
      workgroup(%v: memref<64xf32, #gpu.address_space<workgroup>>, %w: memref<64xf32, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    memref.copy %a, %v : memref<64xf32> to memref<64xf32, #gpu.address_space<workgroup>>
    memref.copy %v, %w : memref<64xf32, #gpu.address_space<workgroup>> to memref<64xf32, #gpu.address_space<workgroup>>
    memref.copy %a, %v : memref<64xf32> to memref<64xf32, #gpu.address_space<workgroup>>
    memref.copy %b, %v : memref<64xf32> to memref<64xf32, #gpu.address_space<workgroup>>
    gpu.return
  }

  // Arguments may be parts of one another. Different memories never are.
  // CHECK-LABEL: gpu.func @arguments
  // CHECK:         memref.store
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NOT:     gpu.barrier
  // CHECK:         gpu.return
  gpu.func @arguments(%a: memref<64xf32>, %b: memref<64xf32>, %c: memref<64xf32>, %d: memref<64xf32>)
      workgroup(%v: memref<64xf32, #gpu.address_space<workgroup>>, %w: memref<64xf32, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    memref.copy %a, %b : memref<64xf32> to memref<64xf32>
    memref.copy %c, %d : memref<64xf32> to memref<64xf32>
    memref.copy %v, %w : memref<64xf32, #gpu.address_space<workgroup>> to memref<64xf32, #gpu.address_space<workgroup>>
    gpu.return
  }

  // What a selection stands for may be the buffer that the copy before it filled.
  // CHECK-LABEL: gpu.func @selected
  // CHECK:         memref.store
  // CHECK-NEXT:    gpu.barrier
  // CHECK:         memref.store
  // CHECK-NOT:     gpu.barrier
  // CHECK:         gpu.return
  gpu.func @selected(%a: memref<64xf32>, %c: i1)
      workgroup(%u: memref<64xf32, #gpu.address_space<workgroup>>, %v: memref<64xf32, #gpu.address_space<workgroup>>, %w: memref<64xf32, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %chosen = arith.select %c, %u, %v : memref<64xf32, #gpu.address_space<workgroup>>
    memref.copy %a, %u : memref<64xf32> to memref<64xf32, #gpu.address_space<workgroup>>
    memref.copy %chosen, %w : memref<64xf32, #gpu.address_space<workgroup>> to memref<64xf32, #gpu.address_space<workgroup>>
    gpu.return
  }

  // So may what a loop carries.
  // CHECK-LABEL: gpu.func @carried
  // CHECK:         scf.for
  // CHECK-NEXT:      gpu.barrier
  // CHECK:           memref.store
  // CHECK-NEXT:      gpu.barrier
  // CHECK:           memref.store
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NEXT:      scf.yield
  gpu.func @carried(%a: memref<64xf32>, %n: index)
      workgroup(%u: memref<64xf32, #gpu.address_space<workgroup>>, %v: memref<64xf32, #gpu.address_space<workgroup>>, %w: memref<64xf32, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %u, %y = %v) -> (memref<64xf32, #gpu.address_space<workgroup>>, memref<64xf32, #gpu.address_space<workgroup>>) {
      memref.copy %a, %u : memref<64xf32> to memref<64xf32, #gpu.address_space<workgroup>>
      memref.copy %x, %w : memref<64xf32, #gpu.address_space<workgroup>> to memref<64xf32, #gpu.address_space<workgroup>>
      scf.yield %y, %x : memref<64xf32, #gpu.address_space<workgroup>>, memref<64xf32, #gpu.address_space<workgroup>>
    }
    gpu.return
  }

  // An access between ends the run.
  // CHECK-LABEL: gpu.func @interrupted
  // CHECK:         memref.store
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.load
  // CHECK-NEXT:    gpu.barrier
  // CHECK:         memref.store
  // CHECK-NEXT:    gpu.barrier
  // CHECK:         memref.store
  gpu.func @interrupted(%a: memref<64xf32>, %b: memref<64xf32>, %i: index)
      workgroup(%v: memref<64xf32, #gpu.address_space<workgroup>>, %w: memref<64xf32, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    memref.copy %a, %v : memref<64xf32> to memref<64xf32, #gpu.address_space<workgroup>>
    %y = memref.load %v[%i] : memref<64xf32, #gpu.address_space<workgroup>>
    memref.copy %b, %w : memref<64xf32> to memref<64xf32, #gpu.address_space<workgroup>>
    memref.store %y, %a[%i] : memref<64xf32>
    gpu.return
  }
}

gpu.module @none {
  // A copy that each thread does by itself needs no other thread, and divergent code
  // could not wait for one.
  // CHECK-LABEL: gpu.func @per_thread
  // CHECK-NOT:     gpu.barrier
  // CHECK:         gpu.return
  gpu.func @per_thread(%a: memref<64xf32>, %b: memref<64xf32>, %n: index) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %own = memref.alloca() : memref<64xf32>
    %c1 = arith.constant 1 : index
    %x = gpu.thread_id x
    scf.for %i = %x to %n step %c1 {
      memref.copy %a, %b : memref<64xf32> to memref<64xf32>
    }
    memref.copy %b, %own : memref<64xf32> to memref<64xf32>
    memref.copy %own, %a : memref<64xf32> to memref<64xf32>
    gpu.return
  }
  // CHECK-LABEL: gpu.func @one_thread
  // CHECK-NOT:     gpu.barrier
  // CHECK:         gpu.return
  gpu.func @one_thread(%a: memref<64xf32>, %b: memref<64xf32>) kernel
      attributes {known_block_size = array<i32: 1, 1, 1>} {
    memref.copy %a, %b : memref<64xf32> to memref<64xf32>
    memref.copy %b, %a : memref<64xf32> to memref<64xf32>
    gpu.return
  }
}

// The start and the end of a launch are those of its kernel.
// CHECK-LABEL: func.func @launch
// CHECK:         gpu.launch
// CHECK-NOT:       gpu.barrier
// CHECK:           memref.store
// CHECK-NEXT:      gpu.barrier
// CHECK:           memref.store
// CHECK-NOT:       gpu.barrier
// CHECK:           gpu.terminator
func.func @launch(%a: memref<64xf32>, %b: memref<64xf32>) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %w = memref.alloc() : memref<64xf32, #gpu.address_space<workgroup>>
    memref.copy %a, %w : memref<64xf32> to memref<64xf32, #gpu.address_space<workgroup>>
    memref.copy %w, %b : memref<64xf32, #gpu.address_space<workgroup>> to memref<64xf32>
    memref.dealloc %w : memref<64xf32, #gpu.address_space<workgroup>>
    gpu.terminator
  }
  return
}

// Memory may come back under another space by way of a branch.
// CHECK-LABEL: gpu.func @by_branch
// CHECK:         cf.br ^[[NEXT:.+]](
// CHECK:       ^[[NEXT]](
// CHECK:         memref.store {{.*}} : memref<256xf32, 3>
// CHECK:         gpu.barrier
// CHECK:         memref.store {{.*}} : memref<256xf32>
gpu.module @branches {
  gpu.func @by_branch(%in: memref<256xf32> {llvm.align = 16 : i64}, %out: memref<256xf32> {llvm.align = 16 : i64, llvm.noalias})
      workgroup(%w: memref<256xf32, 3> {llvm.align = 16 : i64}) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %g = memref.memory_space_cast %w : memref<256xf32, 3> to memref<256xf32>
    cf.br ^next(%g : memref<256xf32>)
  ^next(%m: memref<256xf32>):
    memref.copy %in, %w : memref<256xf32> to memref<256xf32, 3>
    memref.copy %m, %out : memref<256xf32> to memref<256xf32>
    gpu.return
  }
}
