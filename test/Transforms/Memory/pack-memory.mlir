// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-pack-memory)' -o %t.once
// RUN: FileCheck %s --input-file=%t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-pack-memory)' -o %t.twice
// RUN: diff %t.once %t.twice
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-hoist-allocs{insert-barriers=true},workgroup-lower-dynamic-memory,workgroup-verify-kernels)' -o /dev/null
// RUN: mlir-opt %s -o %t.parsed
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-pack-memory{reuse=never})' -o %t.never
// RUN: diff %t.parsed %t.never
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-pack-memory{insert-barriers=false})' | FileCheck %s --check-prefix=BARE

// What insertion of barriers would find later.
// BARE-LABEL: gpu.func @disjoint(
// BARE:         memref.view
// BARE-NOT:     gpu.barrier
// BARE:         gpu.return

gpu.module @sharing {
  // Lives that do not meet share bytes; a barrier keeps them apart.
  // CHECK-LABEL: gpu.func @disjoint(
  // CHECK-SAME:    workgroup(%[[ARENA:[a-z0-9]+]] : memref<256xi8, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}) kernel
  // CHECK:         %[[C0:.+]] = arith.constant 0 : index
  // CHECK-NEXT:    %[[A:.+]] = memref.view %[[ARENA]][%[[C0]]][] : memref<256xi8, #gpu.address_space<workgroup>> to memref<64xf32, #gpu.address_space<workgroup>>
  // CHECK-NEXT:    %[[B:.+]] = memref.view %[[ARENA]][%[[C0]]][] : memref<256xi8, #gpu.address_space<workgroup>> to memref<64xf32, #gpu.address_space<workgroup>>
  // CHECK-NEXT:    memref.store %{{.+}}, %[[A]]
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.store %{{.+}}, %[[B]]
  // CHECK-NEXT:    gpu.return
  gpu.func @disjoint(%i: index, %v: f32)
      workgroup(%a: memref<64xf32, #gpu.address_space<workgroup>>,
                %b: memref<64xf32, #gpu.address_space<workgroup>>) kernel {
    memref.store %v, %a[%i] : memref<64xf32, #gpu.address_space<workgroup>>
    memref.store %v, %b[%i] : memref<64xf32, #gpu.address_space<workgroup>>
    gpu.return
  }

  // Lives that meet leave the kernel as it is, down to its spelling.
  // CHECK-LABEL: gpu.func @overlapping(
  // CHECK-SAME:    workgroup(%[[A:.+]] : memref<64xf32, 3>, %[[B:.+]] : memref<64xf32, 3>) kernel {
  // CHECK-NEXT:    memref.store %{{.+}}, %[[A]]
  // CHECK-NEXT:    memref.store %{{.+}}, %[[B]]
  // CHECK-NEXT:    memref.load %[[A]]
  // CHECK-NEXT:    memref.store
  // CHECK-NEXT:    gpu.return
  gpu.func @overlapping(%i: index, %v: f32, %out: memref<64xf32>)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    memref.store %v, %a[%i] : memref<64xf32, 3>
    memref.store %v, %b[%i] : memref<64xf32, 3>
    %x = memref.load %a[%i] : memref<64xf32, 3>
    memref.store %x, %out[%i] : memref<64xf32>
    gpu.return
  }

  // A kernel without buffers, and one with a single buffer.
  // CHECK-LABEL: gpu.func @none() kernel {
  // CHECK-NEXT:    gpu.return
  gpu.func @none() kernel {
    gpu.return
  }
  // CHECK-LABEL: gpu.func @single(
  // CHECK-SAME:    workgroup(%{{.+}} : memref<64xf32, 3>) kernel {
  // CHECK-NEXT:    memref.store
  gpu.func @single(%i: index, %v: f32) workgroup(%a: memref<64xf32, 3>) kernel {
    memref.store %v, %a[%i] : memref<64xf32, 3>
    gpu.return
  }

  // Three take turns in the bytes of the largest, with a barrier for each iteration.
  // CHECK-LABEL: gpu.func @three(
  // CHECK-SAME:    workgroup(%{{.+}} : memref<512xi8, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}) kernel
  // CHECK:         memref.store
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.store
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.store
  // CHECK-NEXT:    gpu.return
  gpu.func @three(%i: index, %v: f32)
      workgroup(%a: memref<64xf32, 3>, %b: memref<128xf32, 3>, %c: memref<32xf32, 3>) kernel {
    memref.store %v, %a[%i] : memref<64xf32, 3>
    memref.store %v, %b[%i] : memref<128xf32, 3>
    memref.store %v, %c[%i] : memref<32xf32, 3>
    gpu.return
  }

  // The barrier that stands already is enough, however it is spelled; before the
  // second buffer's life, or right after the first one's.
  // CHECK-LABEL: gpu.func @separated(
  // CHECK-SAME:    workgroup(%{{.+}} : memref<256xi8, #gpu.address_space<workgroup>>
  // CHECK:         memref.store
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    scf.if
  // CHECK-NEXT:      memref.store
  // CHECK-NEXT:    }
  // CHECK-NEXT:    nvvm.barrier
  // CHECK-NEXT:    memref.store
  // CHECK-NEXT:    gpu.return
  gpu.func @separated(%i: index, %v: f32, %c: i1)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>, %d: memref<64xf32, 3>) kernel {
    memref.store %v, %a[%i] : memref<64xf32, 3>
    gpu.barrier
    scf.if %c {
      memref.store %v, %b[%i] : memref<64xf32, 3>
    }
    nvvm.barrier
    memref.store %v, %d[%i] : memref<64xf32, 3>
    gpu.return
  }

  // Blocks of one thread have nobody to wait for.
  // CHECK-LABEL: gpu.func @single_thread(
  // CHECK-SAME:    workgroup(%{{.+}} : memref<256xi8
  // CHECK-NOT:     gpu.barrier
  // CHECK:         gpu.return
  gpu.func @single_thread(%i: index, %v: f32)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel
      attributes {known_block_size = array<i32: 1, 1, 1>} {
    memref.store %v, %a[%i] : memref<64xf32, 3>
    memref.store %v, %b[%i] : memref<64xf32, 3>
    gpu.return
  }

  // Other barriers do not separate: one of a part of the block, and those inside
  // of a reduction, which its lowering may do without.
  // CHECK-LABEL: gpu.func @other_barriers(
  // CHECK:         memref.store
  // CHECK-NEXT:    nvvm.barrier id
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.store
  // CHECK:         gpu.all_reduce
  // CHECK:         gpu.barrier
  // CHECK-NEXT:    memref.store
  gpu.func @other_barriers(%i: index, %v: f32, %id: i32, %number: i32)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>, %c: memref<64xf32, 3>) kernel {
    memref.store %v, %a[%i] : memref<64xf32, 3>
    nvvm.barrier id = %id number_of_threads = %number
    memref.store %v, %b[%i] : memref<64xf32, 3>
    %sum = gpu.all_reduce add %v uniform {} : (f32) -> f32
    memref.store %sum, %c[%i] : memref<64xf32, 3>
    gpu.return
  }
}

gpu.module @types {
  // The larger alignment is that of the arena and of the place in it.
  // CHECK-LABEL: gpu.func @alignment(
  // CHECK-SAME:    workgroup(%[[ARENA:.+]] : memref<160xi8, #gpu.address_space<workgroup>> {llvm.align = 128 : i64}) kernel
  // CHECK-DAG:     %[[C0:.+]] = arith.constant 0 : index
  // CHECK-DAG:     %[[C128:.+]] = arith.constant 128 : index
  // CHECK:         memref.view %[[ARENA]][%[[C128]]][] : {{.+}} to memref<8xf32, #gpu.address_space<workgroup>>
  // CHECK:         memref.view %[[ARENA]][%[[C0]]][] : {{.+}} to memref<32xf32, #gpu.address_space<workgroup>>
  // CHECK:         memref.view %[[ARENA]][%[[C128]]][] : {{.+}} to memref<4xf32, #gpu.address_space<workgroup>>
  gpu.func @alignment(%i: index, %v: f32)
      workgroup(%a: memref<8xf32, 3>, %b: memref<32xf32, 3> {llvm.align = 128 : i64},
                %c: memref<4xf32, 3> {llvm.align = 64 : i64}) kernel {
    memref.store %v, %b[%i] : memref<32xf32, 3>
    memref.store %v, %a[%i] : memref<8xf32, 3>
    memref.store %v, %b[%i] : memref<32xf32, 3>
    memref.store %v, %c[%i] : memref<4xf32, 3>
    memref.store %v, %b[%i] : memref<32xf32, 3>
    gpu.return
  }

  // Every spelling of workgroup memory; what insists on the old one gets a cast.
  // CHECK-LABEL: gpu.func @spellings(
  // CHECK-SAME:    workgroup(%{{.+}} : memref<256xi8, #gpu.address_space<workgroup>>
  // CHECK:         %[[SELECTED:.+]] = arith.select %{{.+}}, %{{.+}}, %{{.+}} : memref<64xf32, 3>
  // CHECK:         memref.store %{{.+}}, %[[SELECTED]]
  // CHECK:         gpu.barrier
  // CHECK:         memref.store %{{.+}} : memref<64xf32, #gpu.address_space<workgroup>>
  // CHECK:         gpu.barrier
  // CHECK:         memref.store %{{.+}} : memref<16xf32, strided<[1], offset: 8>, #gpu.address_space<workgroup>>
  // CHECK-NOT:     #nvvm.memory_space
  gpu.func @spellings(%i: index, %v: f32, %q: i1)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, #gpu.address_space<workgroup>>,
                %c: memref<64xf32, #nvvm.memory_space<shared>>) kernel {
    %selected = arith.select %q, %a, %a : memref<64xf32, 3>
    memref.store %v, %selected[%i] : memref<64xf32, 3>
    memref.store %v, %b[%i] : memref<64xf32, #gpu.address_space<workgroup>>
    %part = memref.subview %c[8] [16] [1] : memref<64xf32, #nvvm.memory_space<shared>> to memref<16xf32, strided<[1], offset: 8>, #nvvm.memory_space<shared>>
    memref.store %v, %part[%i] : memref<16xf32, strided<[1], offset: 8>, #nvvm.memory_space<shared>>
    gpu.return
  }

  // Bytes are those of elements in LLVM: 24 bits take four, one bit takes one, a
  // vector of three takes four; an empty allocation takes one element.
  // CHECK-LABEL: gpu.func @elements(
  // CHECK-SAME:    workgroup(%{{.+}} : memref<128xi8, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}) kernel
  // CHECK-DAG:     memref.view {{.+}} to memref<8xi24, #gpu.address_space<workgroup>>
  // CHECK-DAG:     memref.view {{.+}} to memref<64xi1, #gpu.address_space<workgroup>>
  // CHECK-DAG:     memref.view {{.+}} to memref<f64, #gpu.address_space<workgroup>>
  // CHECK-DAG:     memref.view {{.+}} to memref<4xindex, #gpu.address_space<workgroup>>
  // CHECK-DAG:     memref.view {{.+}} to memref<8xcomplex<f32>, #gpu.address_space<workgroup>>
  // CHECK-DAG:     memref.view {{.+}} to memref<8xvector<3xf32>, #gpu.address_space<workgroup>>
  // CHECK-DAG:     memref.view {{.+}} to memref<3xi4, #gpu.address_space<workgroup>>
  // CHECK-DAG:     memref.view {{.+}} to memref<1xf32, #gpu.address_space<workgroup>>
  // CHECK:         gpu.return
  gpu.func @elements(%i: index, %v: f32)
      workgroup(%a: memref<8xi24, 3>, %b: memref<64xi1, 3>, %c: memref<f64, 3>,
                %d: memref<4xindex, 3>, %e: memref<8xcomplex<f32>, 3>,
                %f: memref<8xvector<3xf32>, 3>, %g: memref<3xi4, 3>) kernel {
    %0 = memref.load %a[%i] : memref<8xi24, 3>
    %1 = memref.load %b[%i] : memref<64xi1, 3>
    %2 = memref.load %c[] : memref<f64, 3>
    %3 = memref.load %d[%i] : memref<4xindex, 3>
    %5 = memref.load %f[%i] : memref<8xvector<3xf32>, 3>
    %6 = memref.load %g[%i] : memref<3xi4, 3>
    %h = memref.alloc() : memref<0xf32, 3>
    %7 = memref.load %e[%i] : memref<8xcomplex<f32>, 3>
    %4 = memref.load %h[%i] : memref<0xf32, 3>
    gpu.return
  }

  // A permutation without gaps is a view of its elements in their order.
  // CHECK-LABEL: gpu.func @permuted(
  // CHECK-SAME:    workgroup(%[[ARENA:[a-z0-9]+]] : memref<256xi8, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}) kernel
  // CHECK:         %[[FLAT:.+]] = memref.view %[[ARENA]]{{.+}} to memref<64xf32, #gpu.address_space<workgroup>>
  // CHECK-NEXT:    %[[A:.+]] = memref.reinterpret_cast %[[FLAT]] to offset: [0], sizes: [8, 8], strides: [1, 8] : memref<64xf32, #gpu.address_space<workgroup>> to memref<8x8xf32, strided<[1, 8]>, #gpu.address_space<workgroup>>
  // CHECK:         memref.store %{{.+}}, %[[A]]
  gpu.func @permuted(%i: index, %v: f32)
      workgroup(%a: memref<8x8xf32, strided<[1, 8]>, 3>, %b: memref<64xf32, 3>) kernel {
    memref.store %v, %a[%i, %i] : memref<8x8xf32, strided<[1, 8]>, 3>
    memref.store %v, %b[%i] : memref<64xf32, 3>
    gpu.return
  }
}

gpu.module @allocations {
  // Allocations take part before they are hoisted: the bytes that they span, in
  // their alignment, by the type that their uses have. Deallocations go.
  // CHECK-LABEL: gpu.func @allocations(
  // CHECK-SAME:    workgroup(%[[ARENA:[a-z0-9]+]] : memref<304xi8, #gpu.address_space<workgroup>> {llvm.align = 128 : i64}) kernel
  // CHECK-NOT:     memref.alloc
  // CHECK:         %[[C0:.+]] = arith.constant 0 : index
  // CHECK:         %[[A:.+]] = memref.view %[[ARENA]][%[[C0]]][] : memref<304xi8, #gpu.address_space<workgroup>> to memref<64xf32, #gpu.address_space<workgroup>>
  // CHECK-NEXT:    memref.store %{{.+}}, %[[A]]
  // CHECK-NEXT:    %[[FLAT:.+]] = memref.view %[[ARENA]][%[[C0]]][] : {{.+}} to memref<76xf32, #gpu.address_space<workgroup>>
  // CHECK-NEXT:    %[[B:.+]] = memref.reinterpret_cast %[[FLAT]] to offset: [0], sizes: [4, 16], strides: [20, 1]
  // CHECK-NEXT:    gpu.barrier
  // CHECK-NEXT:    memref.store %{{.+}}, %[[B]]
  // CHECK:         %[[SIZE:.+]] = affine.min
  // CHECK-NEXT:    %[[MOST:.+]] = memref.view %[[ARENA]][%[[C0]]][] : {{.+}} to memref<28xf32, #gpu.address_space<workgroup>>
  // CHECK-NEXT:    memref.reinterpret_cast %[[MOST]] to offset: [0], sizes: [%[[SIZE]], 4], strides: [4, 1]
  // CHECK:         gpu.barrier
  // CHECK-NEXT:    memref.store
  // CHECK-NOT:     memref.dealloc
  // CHECK:         gpu.return
  gpu.func @allocations(%i: index, %v: f32) kernel {
    %a = memref.alloc() {alignment = 128 : i64} : memref<64xf32, 3>
    memref.store %v, %a[%i] : memref<64xf32, 3>
    memref.dealloc %a : memref<64xf32, 3>
    %b = memref.alloca() : memref<4x16xf32, strided<[20, 1]>, 3>
    memref.store %v, %b[%i, %i] : memref<4x16xf32, strided<[20, 1]>, 3>
    %size = affine.min affine_map<(d0) -> (d0, 7)>(%i)
    %c = memref.alloc(%size) : memref<?x4xf32, #gpu.address_space<workgroup>>
    memref.store %v, %c[%i, %i] : memref<?x4xf32, #gpu.address_space<workgroup>>
    memref.dealloc %c : memref<?x4xf32, #gpu.address_space<workgroup>>
    gpu.return
  }

  // Memory of a thread is none of this pass.
  // CHECK-LABEL: gpu.func @private(
  // CHECK:         memref.alloca() : memref<64xf32>
  // CHECK:         memref.alloca() : memref<64xf32, #gpu.address_space<private>>
  // CHECK-NOT:     memref.view
  // CHECK:         gpu.return
  gpu.func @private(%i: index, %v: f32) kernel {
    %a = memref.alloca() : memref<64xf32>
    memref.store %v, %a[%i] : memref<64xf32>
    %b = memref.alloca() : memref<64xf32, #gpu.address_space<private>>
    memref.store %v, %b[%i] : memref<64xf32, #gpu.address_space<private>>
    gpu.return
  }
}
