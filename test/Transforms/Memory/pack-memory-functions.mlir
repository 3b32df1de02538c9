// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-pack-memory)' -o %t.once
// RUN: FileCheck %s --input-file=%t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-pack-memory)' -o %t.twice
// RUN: diff %t.once %t.twice
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-hoist-allocs{insert-barriers=true},workgroup-verify-kernels)' -o /dev/null

// A global that functions of one kernel use is a part of its arena, which is a
// global then; it lives while the kernel is in a call that may get to it.
// CHECK-LABEL: gpu.module @one_kernel
// CHECK-NOT:     @table
// CHECK-LABEL:   func.func @inner(
// CHECK:           %[[ARENA:.+]] = memref.get_global @kernel_arena : memref<256xi8, #gpu.address_space<workgroup>>
// CHECK-NEXT:      %[[TABLE:.+]] = memref.view %[[ARENA]][%{{.+}}][] : {{.+}} to memref<32xf32, #gpu.address_space<workgroup>>
// CHECK-NEXT:      memref.store %{{.+}}, %[[TABLE]]
// CHECK:         memref.global "private" @kernel_arena : memref<256xi8, #gpu.address_space<workgroup>> = uninitialized {alignment = 64 : i64}
// CHECK-LABEL:   gpu.func @kernel(
// CHECK-SAME:      %{{.+}}: index, %{{.+}}: f32) kernel {
// CHECK:           %[[ARENA:.+]] = memref.get_global @kernel_arena
// CHECK-NEXT:      %[[A:.+]] = memref.view %[[ARENA]][%{{.+}}][] : {{.+}} to memref<64xf32, #gpu.address_space<workgroup>>
// CHECK-NEXT:      memref.store %{{.+}}, %[[A]]
// CHECK-NEXT:      gpu.barrier
// CHECK-NEXT:      func.call @outer
// CHECK-NEXT:      gpu.return
gpu.module @one_kernel {
  memref.global "private" @table : memref<32xf32, 3> = uninitialized {alignment = 64 : i64}
  func.func @outer(%i: index, %v: f32) {
    func.call @inner(%i, %v) : (index, f32) -> ()
    return
  }
  func.func @inner(%i: index, %v: f32) {
    %table = memref.get_global @table : memref<32xf32, 3>
    memref.store %v, %table[%i] : memref<32xf32, 3>
    return
  }
  gpu.func @kernel(%i: index, %v: f32) workgroup(%a: memref<64xf32, 3>) kernel {
    memref.store %v, %a[%i] : memref<64xf32, 3>
    func.call @outer(%i, %v) : (index, f32) -> ()
    gpu.return
  }
}

// Between two calls the global may hold values; in a loop of calls as well.
// CHECK-LABEL: gpu.module @calls_apart
// CHECK:         memref.global "private" @table : memref<64xf32, 3>
// CHECK:         gpu.func @between(
// CHECK-SAME:      workgroup(%{{.+}} : memref<64xf32, 3>)
// CHECK:         memref.global "private" @other : memref<64xf32, 3>
// CHECK:         gpu.func @loop(
// CHECK-NOT:     memref.view
// CHECK:         gpu.return
gpu.module @calls_apart {
  memref.global "private" @table : memref<64xf32, 3> = uninitialized
  func.func @function(%i: index, %v: f32) {
    %table = memref.get_global @table : memref<64xf32, 3>
    memref.store %v, %table[%i] : memref<64xf32, 3>
    return
  }
  gpu.func @between(%i: index, %v: f32) workgroup(%a: memref<64xf32, 3>) kernel {
    func.call @function(%i, %v) : (index, f32) -> ()
    memref.store %v, %a[%i] : memref<64xf32, 3>
    func.call @function(%i, %v) : (index, f32) -> ()
    gpu.return
  }
  memref.global "private" @other : memref<64xf32, 3> = uninitialized
  func.func @function2(%i: index, %v: f32) {
    %other = memref.get_global @other : memref<64xf32, 3>
    memref.store %v, %other[%i] : memref<64xf32, 3>
    return
  }
  gpu.func @loop(%i: index, %v: f32, %n: index) kernel {
    affine.for %j = 0 to %n {
      func.call @function2(%i, %v) : (index, f32) -> ()
      %a = memref.alloc() : memref<64xf32, 3>
      memref.store %v, %a[%i] : memref<64xf32, 3>
    }
    gpu.return
  }
}

// What two kernels get to belongs to neither: the function is one, the arenas two.
// CHECK-LABEL: gpu.module @two_kernels
// CHECK:         memref.global "private" @table : memref<64xf32, 3>
// CHECK:         memref.get_global @table : memref<64xf32, 3>
// CHECK-LABEL:   gpu.func @first(
// CHECK-SAME:      workgroup(%{{.+}} : memref<64xf32, 3>)
// CHECK-LABEL:   gpu.func @second(
// CHECK-SAME:      workgroup(%{{.+}} : memref<256xi8
gpu.module @two_kernels {
  memref.global "private" @table : memref<64xf32, 3> = uninitialized
  func.func @function(%i: index, %v: f32) {
    %table = memref.get_global @table : memref<64xf32, 3>
    memref.store %v, %table[%i] : memref<64xf32, 3>
    return
  }
  gpu.func @first(%i: index, %v: f32) workgroup(%a: memref<64xf32, 3>) kernel {
    memref.store %v, %a[%i] : memref<64xf32, 3>
    func.call @function(%i, %v) : (index, f32) -> ()
    gpu.return
  }
  gpu.func @second(%i: index, %v: f32)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    memref.store %v, %a[%i] : memref<64xf32, 3>
    memref.store %v, %b[%i] : memref<64xf32, 3>
    func.call @function(%i, %v) : (index, f32) -> ()
    gpu.return
  }
}

// A kernel that uses the global itself, twice; one that gets hold of it in a
// function that no kernel calls keeps it.
// CHECK-LABEL: gpu.module @in_kernel
// CHECK-NOT:     @table
// CHECK:         gpu.func @kernel(
// CHECK-SAME:      workgroup(%[[ARENA:.+]] : memref<256xi8, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}) kernel
// CHECK:           memref.view %[[ARENA]]
// CHECK:           memref.view %[[ARENA]]
// CHECK:           gpu.barrier
// CHECK:           memref.view %[[ARENA]]
// CHECK-NOT:       gpu.barrier
// CHECK:           gpu.return
// CHECK-LABEL: gpu.module @somewhere_else
// CHECK:         memref.global "private" @table : memref<64xf32, 3>
// CHECK:         gpu.func @kernel(
// CHECK-SAME:      workgroup(%{{.+}} : memref<64xf32, 3>)
gpu.module @in_kernel {
  memref.global "private" @table : memref<64xf32, 3> = uninitialized
  gpu.func @kernel(%i: index, %v: f32) workgroup(%a: memref<64xf32, 3>) kernel {
    memref.store %v, %a[%i] : memref<64xf32, 3>
    %table = memref.get_global @table : memref<64xf32, 3>
    memref.store %v, %table[%i] : memref<64xf32, 3>
    %again = memref.get_global @table : memref<64xf32, 3>
    memref.store %v, %again[%i] : memref<64xf32, 3>
    gpu.return
  }
}
gpu.module @somewhere_else {
  memref.global "private" @table : memref<64xf32, 3> = uninitialized
  func.func @function(%i: index, %v: f32) {
    %table = memref.get_global @table : memref<64xf32, 3>
    memref.store %v, %table[%i] : memref<64xf32, 3>
    return
  }
  gpu.func @kernel(%i: index, %v: f32) workgroup(%a: memref<64xf32, 3>) kernel {
    memref.store %v, %a[%i] : memref<64xf32, 3>
    %table = memref.get_global @table : memref<64xf32, 3>
    memref.store %v, %table[%i] : memref<64xf32, 3>
    gpu.return
  }
}

// Others than this module may know a public global; a constant is no buffer; one
// of another memory is none of this pass.
// CHECK-LABEL: gpu.module @other_globals
// CHECK:         memref.global @public : memref<64xf32, 3>
// CHECK:         memref.global "private" constant @constant : memref<4xf32, 3>
// CHECK:         memref.global "private" @elsewhere : memref<64xf32>
// CHECK:         gpu.func @kernel(
// CHECK-SAME:      workgroup(%{{.+}} : memref<64xf32, 3>)
gpu.module @other_globals {
  memref.global @public : memref<64xf32, 3> = uninitialized {alignment = 16 : i64}
  memref.global "private" constant @constant : memref<4xf32, 3> = dense<0.0> {alignment = 16 : i64}
  memref.global "private" @elsewhere : memref<64xf32> = uninitialized
  gpu.func @kernel(%i: index, %v: f32) workgroup(%a: memref<64xf32, 3>) kernel {
    memref.store %v, %a[%i] : memref<64xf32, 3>
    %0 = memref.get_global @public : memref<64xf32, 3>
    memref.store %v, %0[%i] : memref<64xf32, 3>
    %1 = memref.get_global @constant : memref<4xf32, 3>
    %2 = memref.load %1[%i] : memref<4xf32, 3>
    %3 = memref.get_global @elsewhere : memref<64xf32>
    memref.store %2, %3[%i] : memref<64xf32>
    gpu.return
  }
}

// Arguments: what functions do with them counts where they are called; what they
// were called stays.
// CHECK-LABEL: gpu.module @arguments
// CHECK:         func.func @fill(%{{.+}}: memref<64xf32, 3>
// CHECK:         gpu.func @kernel(
// CHECK-SAME:      workgroup(%{{.+}} : memref<256xi8
// CHECK:           func.call @fill(%{{.+}}, %{{.+}}, %{{.+}}) : (memref<64xf32, 3>, index, f32) -> ()
// CHECK-NEXT:      gpu.barrier
// CHECK-NEXT:      func.call @fill
gpu.module @arguments {
  func.func @fill(%a: memref<64xf32, 3>, %i: index, %v: f32) {
    memref.store %v, %a[%i] : memref<64xf32, 3>
    return
  }
  gpu.func @kernel(%i: index, %v: f32)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    func.call @fill(%a, %i, %v) : (memref<64xf32, 3>, index, f32) -> ()
    func.call @fill(%b, %i, %v) : (memref<64xf32, 3>, index, f32) -> ()
    gpu.return
  }
}

// An allocation of a function lives while the kernel is in a call that may get to
// it; a barrier separates the activations. One that barriers stand around needs none
// more.
// CHECK-LABEL: gpu.module @allocations
// CHECK:         func.func @function(
// CHECK:           memref.get_global @kernel_arena : memref<256xi8
// CHECK-NEXT:      memref.view
// CHECK-NEXT:      gpu.barrier
// CHECK-NEXT:      memref.store
// CHECK-NOT:       memref.dealloc
// CHECK:           return
// CHECK:         func.func @with_barrier(
// CHECK:           memref.view
// CHECK-NEXT:      gpu.barrier
// CHECK-NEXT:      memref.store
// CHECK:         gpu.func @kernel(
// CHECK-SAME:      %{{.+}}: index, %{{.+}}: f32) kernel
// CHECK:           memref.store
// CHECK-NEXT:      gpu.barrier
// CHECK-NEXT:      func.call @function
// CHECK-NEXT:      gpu.barrier
// CHECK-NEXT:      func.call @with_barrier
// CHECK-NEXT:      gpu.barrier
// CHECK-NEXT:      memref.store
gpu.module @allocations {
  func.func @function(%i: index, %v: f32) {
    %a = memref.alloc() : memref<64xf32, 3>
    memref.store %v, %a[%i] : memref<64xf32, 3>
    memref.dealloc %a : memref<64xf32, 3>
    return
  }
  func.func @with_barrier(%i: index, %v: f32) {
    %a = memref.alloc() : memref<64xf32, 3>
    gpu.barrier
    memref.store %v, %a[%i] : memref<64xf32, 3>
    return
  }
  gpu.func @kernel(%i: index, %v: f32)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    memref.store %v, %a[%i] : memref<64xf32, 3>
    func.call @function(%i, %v) : (index, f32) -> ()
    func.call @with_barrier(%i, %v) : (index, f32) -> ()
    memref.store %v, %b[%i] : memref<64xf32, 3>
    gpu.return
  }
}

// That of a function that two kernels call stays.
// CHECK-LABEL: gpu.module @shared_function
// CHECK:         func.func @shared(
// CHECK:           memref.alloc
// CHECK:         func.func @handed_on(
// CHECK-NOT:       memref.alloc
// CHECK:           return
gpu.module @shared_function {
  func.func @shared(%i: index, %v: f32) {
    %a = memref.alloc() : memref<64xf32, 3>
    memref.store %v, %a[%i] : memref<64xf32, 3>
    return
  }
  func.func @handed_on(%i: index, %v: f32, %c: i1) {
    %a = memref.alloc() : memref<64xf32, 3>
    cf.br ^next(%a : memref<64xf32, 3>)
  ^next(%b: memref<64xf32, 3>):
    memref.store %v, %b[%i] : memref<64xf32, 3>
    return
  }
  gpu.func @kernel(%i: index, %v: f32, %c: i1)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    memref.store %v, %a[%i] : memref<64xf32, 3>
    func.call @shared(%i, %v) : (index, f32) -> ()
    func.call @handed_on(%i, %v, %c) : (index, f32, i1) -> ()
    memref.store %v, %b[%i] : memref<64xf32, 3>
    gpu.return
  }
  gpu.func @other(%i: index, %v: f32) kernel {
    func.call @shared(%i, %v) : (index, f32) -> ()
    gpu.return
  }
}

// What functions do with a buffer, and what is done with a global wherever it is
// got, counts for the alignment.
// CHECK-LABEL: gpu.module @alignments
// CHECK:         memref.global "private" @kernel_arena : {{.+}} {alignment = 64 : i64}
gpu.module @alignments {
  memref.global "private" @table : memref<64xf32, 3> = uninitialized
  func.func @function(%i: index, %v: i32) -> i32 {
    %a = memref.alloc() : memref<64xi32, 3>
    memref.store %v, %a[%i] : memref<64xi32, 3>
    %x = memref.generic_atomic_rmw %a[%i] : memref<64xi32, 3> {
    ^bb0(%old: i32):
      %sum = arith.addi %old, %v : i32
      memref.atomic_yield %sum : i32
    }
    return %x : i32
  }
  func.func @wide(%a: memref<64xf32, 3>) -> f32 {
    %c0 = arith.constant 0 : index
    %x = vector.load %a[%c0] {alignment = 64 : i64} : memref<64xf32, 3>, vector<8xf32>
    %0 = vector.reduction <add>, %x : vector<8xf32> into f32
    return %0 : f32
  }
  gpu.func @kernel(%i: index, %j: i32, %v: f32, %out: memref<64xf32>) kernel {
    %c8 = arith.constant 8 : index
    %0 = memref.get_global @table : memref<64xf32, 3>
    memref.store %v, %0[%i] : memref<64xf32, 3>
    gpu.barrier
    %1 = memref.get_global @table : memref<64xf32, 3>
    %x = vector.load %1[%c8] {alignment = 32 : i64} : memref<64xf32, 3>, vector<8xf32>
    %y = func.call @wide(%1) : (memref<64xf32, 3>) -> f32
    vector.store %x, %out[%c8] : memref<64xf32>, vector<8xf32>
    memref.store %y, %out[%i] : memref<64xf32>
    %2 = func.call @function(%i, %j) : (index, i32) -> i32
    gpu.return
  }
}

// A function that something else than a call refers to may run at any time.
// CHECK-LABEL: gpu.module @by_address
// CHECK:         memref.global "private" @table : memref<64xf32, 3>
// CHECK:         gpu.func @kernel(
// CHECK-SAME:      workgroup(%{{.+}} : memref<64xf32, 3>)
gpu.module @by_address {
  memref.global "private" @table : memref<64xf32, 3> = uninitialized
  func.func @function(%i: index, %v: f32) {
    %table = memref.get_global @table : memref<64xf32, 3>
    memref.store %v, %table[%i] : memref<64xf32, 3>
    return
  }
  gpu.func @kernel(%i: index, %v: f32) workgroup(%b: memref<64xf32, 3>) kernel {
    func.call @function(%i, %v) : (index, f32) -> ()
    memref.store %v, %b[%i] : memref<64xf32, 3>
    %callee = func.constant @function : (index, f32) -> ()
    func.call_indirect %callee(%i, %v) : (index, f32) -> ()
    gpu.return
  }
}
