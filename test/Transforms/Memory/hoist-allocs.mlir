// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-hoist-allocs)' | FileCheck %s
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-hoist-allocs)' -o %t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-hoist-allocs)' -o %t.twice
// RUN: diff %t.once %t.twice

// An alloca spelled 3 in a launch becomes an attribution, and so does its use.
// CHECK-LABEL: func.func @alloca_in_launch
// CHECK:         workgroup(%[[BUFFER:.+]] : memref<64xf32, #gpu.address_space<workgroup>>)
// CHECK-NOT:     memref.alloca
// CHECK:         memref.store %{{.+}}, %[[BUFFER]][%{{.+}}] : memref<64xf32, #gpu.address_space<workgroup>>
func.func @alloca_in_launch(%out: memref<64xf32>) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %buffer = memref.alloca() : memref<64xf32, 3>
    %value = memref.load %out[%tx] : memref<64xf32>
    memref.store %value, %buffer[%tx] : memref<64xf32, 3>
    gpu.terminator
  }
  return
}

// A launch cannot say how its attributions are aligned: what asks for more than
// its element's alignment waits for outlining, with its dealloc.
// CHECK-LABEL: func.func @aligned_in_launch
// CHECK-NOT:     workgroup(
// CHECK:         memref.alloc() {alignment = 128 : i64} : memref<64xf32, #gpu.address_space<workgroup>>
// CHECK:         memref.dealloc
func.func @aligned_in_launch() {
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %buffer = memref.alloc() {alignment = 128 : i64} : memref<64xf32, #gpu.address_space<workgroup>>
    memref.dealloc %buffer : memref<64xf32, #gpu.address_space<workgroup>>
    gpu.terminator
  }
  return
}

gpu.module @kernels {
  // alloc and dealloc in a kernel; views follow the new spelling.
  // CHECK-LABEL: gpu.func @alloc_and_dealloc
  // CHECK-SAME:    workgroup(%[[BUFFER:.+]] : memref<64xf32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64})
  // CHECK-NOT:     memref.alloc
  // CHECK:         memref.subview %[[BUFFER]][8] [16] [1] : memref<64xf32, #gpu.address_space<workgroup>> to memref<16xf32, strided<[1], offset: 8>, #gpu.address_space<workgroup>>
  // CHECK-NOT:     memref.dealloc
  // CHECK-NOT:     #nvvm.memory_space
  gpu.func @alloc_and_dealloc(%out: memref<64xf32>, %i: index) kernel {
    %buffer = memref.alloc() : memref<64xf32, #nvvm.memory_space<shared>>
    %part = memref.subview %buffer[8] [16] [1] : memref<64xf32, #nvvm.memory_space<shared>> to memref<16xf32, strided<[1], offset: 8>, #nvvm.memory_space<shared>>
    %value = memref.load %part[%i] : memref<16xf32, strided<[1], offset: 8>, #nvvm.memory_space<shared>>
    memref.store %value, %out[%i] : memref<64xf32>
    memref.dealloc %buffer : memref<64xf32, #nvvm.memory_space<shared>>
    gpu.return
  }

  // The alignment that the op states is kept.
  // CHECK-LABEL: gpu.func @alignment
  // CHECK-SAME:    workgroup(%{{.+}} : memref<4xf32, #gpu.address_space<workgroup>> {llvm.align = 128 : i64})
  gpu.func @alignment() kernel {
    %buffer = memref.alloc() {alignment = 128 : i64} : memref<4xf32, 3>
    gpu.return
  }

  // Existing attributions keep their place, are aligned and respelled.
  // CHECK-LABEL: gpu.func @attributions
  // CHECK-SAME:    workgroup(%[[OLD:.+]] : memref<8xf32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64},
  // CHECK-SAME:              %[[NEW:.+]] : memref<4xf32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64})
  // CHECK-SAME:    private(%[[PRIVATE:.+]] : memref<2xf32, #gpu.address_space<private>>)
  // CHECK:         memref.load %[[OLD]]
  // CHECK:         memref.load %[[NEW]]
  // CHECK:         memref.store %{{.+}}, %[[PRIVATE]]
  gpu.func @attributions(%i: index)
      workgroup(%old: memref<8xf32, 3>) private(%p: memref<2xf32, #gpu.address_space<private>>) kernel {
    %new = memref.alloc() : memref<4xf32, 3>
    %a = memref.load %old[%i] : memref<8xf32, 3>
    %b = memref.load %new[%i] : memref<4xf32, 3>
    %sum = arith.addf %a, %b : f32
    memref.store %sum, %p[%i] : memref<2xf32, #gpu.address_space<private>>
    gpu.return
  }

  // A layout with gaps gets the bytes that it spans: 3 + 3 * 8 + 3 + 1.
  // CHECK-LABEL: gpu.func @strided
  // CHECK-SAME:    workgroup(%[[BUFFER:.+]] : memref<31xf32, #gpu.address_space<workgroup>>
  // CHECK:         memref.reinterpret_cast %[[BUFFER]] to offset: [3], sizes: [4, 4], strides: [8, 1]
  gpu.func @strided(%out: memref<64xf32>, %i: index) kernel {
    %buffer = memref.alloc() : memref<4x4xf32, strided<[8, 1], offset: 3>, 3>
    %value = memref.load %buffer[%i, %i] : memref<4x4xf32, strided<[8, 1], offset: 3>, 3>
    memref.store %value, %out[%i] : memref<64xf32>
    gpu.return
  }

  // An empty buffer gets an element, a scalar its own type.
  // CHECK-LABEL: gpu.func @small
  // CHECK-SAME:    workgroup(%{{.+}} : memref<1xf32, #gpu.address_space<workgroup>> {{.*}}, %{{.+}} : memref<f32, #gpu.address_space<workgroup>>
  gpu.func @small(%out: memref<64xf32>, %i: index) kernel {
    %empty = memref.alloc() : memref<0xf32, 3>
    %scalar = memref.alloc() : memref<f32, 3>
    %value = memref.load %scalar[] : memref<f32, 3>
    memref.store %value, %out[%i] : memref<64xf32>
    gpu.return
  }

  // A bounded size gets its bound, 7 * 16; a size that is a constant in SSA is one.
  // CHECK-LABEL: gpu.func @bounded
  // CHECK-SAME:    (%{{.+}}: memref<64xf32>, %[[I:.+]]: index) workgroup(%[[BUFFER:.+]] : memref<112xf32, #gpu.address_space<workgroup>>
  // CHECK:         %[[SIZE:.+]] = affine.min
  // CHECK:         memref.reinterpret_cast %[[BUFFER]] to offset: [0], sizes: [%[[SIZE]], %{{.+}}], strides: [16, 1]
  gpu.func @bounded(%out: memref<64xf32>, %i: index) kernel {
    %c16 = arith.constant 16 : index
    %size = affine.min affine_map<(d0) -> (d0, 7)>(%i)
    %buffer = memref.alloc(%size, %c16) : memref<?x?xf32, #gpu.address_space<workgroup>>
    %value = memref.load %buffer[%i, %i] : memref<?x?xf32, #gpu.address_space<workgroup>>
    memref.store %value, %out[%i] : memref<64xf32>
    gpu.return
  }

  // One buffer per op, however often the op runs; not in the way of control flow.
  // CHECK-LABEL: gpu.func @loop_and_branches
  // CHECK-SAME:    workgroup(%[[LOOP:.+]] : memref<8xf32, #gpu.address_space<workgroup>> {{.*}}, %[[THEN:.+]] : memref<16xf32, #gpu.address_space<workgroup>> {{.*}}, %[[ELSE:.+]] : memref<16xf32, #gpu.address_space<workgroup>>
  // CHECK-NOT:     memref.alloc
  // CHECK-NOT:     gpu.barrier
  // CHECK:         memref.load %[[LOOP]]
  // CHECK:         scf.if
  // CHECK-NEXT:      memref.load %[[THEN]]
  // CHECK:         } else {
  // CHECK-NEXT:      memref.load %[[ELSE]]
  gpu.func @loop_and_branches(%out: memref<64xf32>, %n: index, %c: i1) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      %buffer = memref.alloc() : memref<8xf32, 3>
      %value = memref.load %buffer[%i] : memref<8xf32, 3>
      memref.store %value, %out[%i] : memref<64xf32>
      memref.dealloc %buffer : memref<8xf32, 3>
    }
    %r = scf.if %c -> f32 {
      %buffer = memref.alloca() : memref<16xf32, 3>
      %value = memref.load %buffer[%n] : memref<16xf32, 3>
      scf.yield %value : f32
    } else {
      %buffer = memref.alloca() : memref<16xf32, 3>
      %value = memref.load %buffer[%n] : memref<16xf32, 3>
      scf.yield %value : f32
    }
    memref.store %r, %out[%n] : memref<64xf32>
    gpu.return
  }

  // Outside of a loop an allocation runs once, so its buffer may go anywhere; what
  // insists on the old spelling gets a cast, and the dealloc still goes.
  // CHECK-LABEL: gpu.func @yielded
  // CHECK-SAME:    workgroup(%[[A:.+]] : memref<64xf32, #gpu.address_space<workgroup>> {{.*}}, %[[B:.+]] : memref<64xf32, #gpu.address_space<workgroup>>
  // CHECK-DAG:     memref.memory_space_cast %[[A]]
  // CHECK-DAG:     memref.memory_space_cast %[[B]]
  // CHECK:         scf.if
  // CHECK-NOT:     memref.dealloc
  gpu.func @yielded(%out: memref<64xf32>, %i: index, %c: i1) kernel {
    %buffer = scf.if %c -> memref<64xf32, 3> {
      %a = memref.alloc() : memref<64xf32, 3>
      scf.yield %a : memref<64xf32, 3>
    } else {
      %b = memref.alloc() : memref<64xf32, 3>
      scf.yield %b : memref<64xf32, 3>
    }
    %value = memref.load %buffer[%i] : memref<64xf32, 3>
    memref.store %value, %out[%i] : memref<64xf32>
    memref.dealloc %buffer : memref<64xf32, 3>
    gpu.return
  }

  // A block that is not the entry: attributions dominate every block.
  // CHECK-LABEL: gpu.func @blocks
  // CHECK-SAME:    workgroup(%[[BUFFER:.+]] : memref<32xf32, #gpu.address_space<workgroup>>
  // CHECK:         memref.load %[[BUFFER]]
  gpu.func @blocks(%out: memref<64xf32>, %i: index, %c: i1) kernel {
    cf.cond_br %c, ^read, ^end
  ^read:
    %buffer = memref.alloc() : memref<32xf32, #gpu.address_space<workgroup>>
    %value = memref.load %buffer[%i] : memref<32xf32, #gpu.address_space<workgroup>>
    memref.store %value, %out[%i] : memref<64xf32>
    cf.br ^end
  ^end:
    gpu.return
  }

  // A function that kernels call: one global, whatever calls it.
  // CHECK:       memref.global "private" @helper_buffer : memref<32xf32, #gpu.address_space<workgroup>> = uninitialized {alignment = 16 : i64}
  // CHECK-LABEL: func.func @helper
  // CHECK-NOT:     memref.alloca
  // CHECK:         memref.get_global @helper_buffer
  func.func @helper(%i: index) -> f32 {
    %buffer = memref.alloca() : memref<32xf32, #gpu.address_space<workgroup>>
    %value = memref.load %buffer[%i] : memref<32xf32, #gpu.address_space<workgroup>>
    return %value : f32
  }
  gpu.func @calls(%out: memref<64xf32>, %i: index) kernel {
    %a = func.call @helper(%i) : (index) -> f32
    %b = func.call @helper(%i) : (index) -> f32
    %sum = arith.addf %a, %b : f32
    memref.store %sum, %out[%i] : memref<64xf32>
    gpu.return
  }

  // What a branch yields, or an inner loop swaps, dies with the iteration of the loop.
  // CHECK-LABEL: gpu.func @within_a_iteration
  // CHECK-SAME:    workgroup(%[[A:.+]]: memref<8xf32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}, %[[B:.+]]: memref<8xf32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64})
  // CHECK:         scf.for
  // CHECK:           scf.if
  // CHECK:           scf.for
  // CHECK-NOT:       memref.alloc
  // CHECK:         gpu.return
  gpu.func @within_a_iteration(%n: index, %c: i1, %out: memref<64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      %other = memref.alloc() : memref<8xf32, 3>
      %chosen = scf.if %c -> memref<8xf32, 3> {
        %own = memref.alloc() : memref<8xf32, 3>
        scf.yield %own : memref<8xf32, 3>
      } else {
        scf.yield %other : memref<8xf32, 3>
      }
      %last:2 = scf.for %j = %c0 to %n step %c1 iter_args(%a = %chosen, %b = %other) -> (memref<8xf32, 3>, memref<8xf32, 3>) {
        scf.yield %b, %a : memref<8xf32, 3>, memref<8xf32, 3>
      }
      %value = memref.load %last#0[%c0] : memref<8xf32, 3>
      memref.store %value, %out[%i] : memref<64xf32>
    }
    gpu.return
  }

  // Memory of a thread stays with the thread.
  // CHECK-LABEL: gpu.func @private_memory
  // CHECK-NOT:     workgroup(
  // CHECK:         memref.alloca() : memref<4xf32>
  // CHECK:         memref.alloca() : memref<4xf32, #gpu.address_space<private>>
  // CHECK:         memref.alloc() : memref<4xf32>
  // CHECK:         memref.dealloc
  gpu.func @private_memory() kernel {
    %a = memref.alloca() : memref<4xf32>
    %b = memref.alloca() : memref<4xf32, #gpu.address_space<private>>
    %c = memref.alloc() : memref<4xf32>
    memref.dealloc %c : memref<4xf32>
    gpu.return
  }
}

// A function on the host that a launch calls waits for outlining to copy it.
// CHECK-LABEL: func.func @awaits_outlining
// CHECK:         memref.alloca() : memref<32xf32, 3>
func.func @awaits_outlining(%i: index) -> f32 {
  %buffer = memref.alloca() : memref<32xf32, 3>
  %value = memref.load %buffer[%i] : memref<32xf32, 3>
  return %value : f32
}
func.func @launches(%out: memref<64xf32>) {
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %value = func.call @awaits_outlining(%tx) : (index) -> f32
    memref.store %value, %out[%tx] : memref<64xf32>
    gpu.terminator
  }
  return
}

// Globals that are there already are aligned and spelled like what is hoisted.
// CHECK-LABEL: gpu.module @globals
// CHECK:         memref.global "private" @narrow : memref<64xf32, #gpu.address_space<workgroup>> = uninitialized {alignment = 16 : i64}
// CHECK:         memref.global "private" @wide : memref<64xf32, #gpu.address_space<workgroup>> = uninitialized {alignment = 128 : i64}
// CHECK:         memref.global "private" @other : memref<64xf32> = uninitialized
// CHECK:         %[[NARROW:.+]] = memref.get_global @narrow : memref<64xf32, #gpu.address_space<workgroup>>
// CHECK:         memref.subview %[[NARROW]][8] [8] [1] : memref<64xf32, #gpu.address_space<workgroup>> to memref<8xf32, strided<[1], offset: 8>, #gpu.address_space<workgroup>>
gpu.module @globals {
  memref.global "private" @narrow : memref<64xf32, 3> = uninitialized
  memref.global "private" @wide : memref<64xf32, #nvvm.memory_space<shared>> = uninitialized {alignment = 128 : i64}
  memref.global "private" @other : memref<64xf32> = uninitialized
  gpu.func @kernel(%i: index, %zero: f32) kernel {
    %narrow = memref.get_global @narrow : memref<64xf32, 3>
    %part = memref.subview %narrow[8] [8] [1] : memref<64xf32, 3> to memref<8xf32, strided<[1], offset: 8>, 3>
    memref.store %zero, %part[%i] : memref<8xf32, strided<[1], offset: 8>, 3>
    %wide = memref.get_global @wide : memref<64xf32, #nvvm.memory_space<shared>>
    memref.store %zero, %wide[%i] : memref<64xf32, #nvvm.memory_space<shared>>
    gpu.return
  }
}
