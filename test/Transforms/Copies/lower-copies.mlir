// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-copies{strategy=sync})' | FileCheck %s
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-copies{strategy=sync})' -o %t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-lower-copies{strategy=sync})' -o %t.twice
// RUN: diff %t.once %t.twice

// Copies through registers, shared out among the threads of a block or done by each.

gpu.module @threads {
  // 256 elements, 64 threads: thread t takes t, t + 64, ... All loads precede the
  // first store, so that they are in flight together.
  // CHECK-LABEL: gpu.func @straight_line
  // CHECK-SAME:    (%[[IN:[a-z0-9]+]]: memref<256xf32>, %[[OUT:[a-z0-9]+]]: memref<256xf32>)
  // CHECK:         %[[T:.+]] = gpu.thread_id x
  // CHECK:         %[[C64:.+]] = arith.constant 64 : index
  // CHECK:         %[[I1:.+]] = arith.addi %[[T]], %[[C64]]
  // CHECK:         %[[C128:.+]] = arith.constant 128 : index
  // CHECK:         %[[I2:.+]] = arith.addi %[[T]], %[[C128]]
  // CHECK:         %[[C192:.+]] = arith.constant 192 : index
  // CHECK:         %[[I3:.+]] = arith.addi %[[T]], %[[C192]]
  // CHECK-DAG:     %[[V0:.+]] = memref.load %[[IN]][%[[T]]]
  // CHECK-DAG:     %[[V1:.+]] = memref.load %[[IN]][%[[I1]]]
  // CHECK-DAG:     %[[V2:.+]] = memref.load %[[IN]][%[[I2]]]
  // CHECK-DAG:     %[[V3:.+]] = memref.load %[[IN]][%[[I3]]]
  // CHECK-DAG:     memref.store %[[V0]], %[[OUT]][%[[T]]]
  // CHECK-DAG:     memref.store %[[V1]], %[[OUT]][%[[I1]]]
  // CHECK-DAG:     memref.store %[[V2]], %[[OUT]][%[[I2]]]
  // CHECK-DAG:     memref.store %[[V3]], %[[OUT]][%[[I3]]]
  // CHECK-NOT:     memref.copy
  // CHECK-NOT:     scf.
  gpu.func @straight_line(%in: memref<256xf32>, %out: memref<256xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    memref.copy %in, %out : memref<256xf32> to memref<256xf32>
    gpu.return
  }

  // The last 36 of 100 elements are for the first 36 of 64 threads.
  // CHECK-LABEL: gpu.func @predicated
  // CHECK:         memref.load
  // CHECK:         memref.store
  // CHECK:         %[[C36:.+]] = arith.constant 36 : index
  // CHECK:         %[[LAST:.+]] = arith.cmpi ult, %[[T:.+]], %[[C36]] : index
  // CHECK:         scf.if %[[LAST]] {
  // CHECK:           %[[C64:.+]] = arith.constant 64 : index
  // CHECK:           %[[I:.+]] = arith.addi %[[T]], %[[C64]]
  // CHECK:           %[[V:.+]] = memref.load %{{.+}}[%[[I]]]
  // CHECK:           memref.store %[[V]], %{{.+}}[%[[I]]]
  // CHECK:         }
  gpu.func @predicated(%in: memref<100xf32>, %out: memref<100xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    memref.copy %in, %out : memref<100xf32> to memref<100xf32>
    gpu.return
  }

  // Too many accesses for straight-line code: eight at a time, all loads before
  // the first store.
  // CHECK-LABEL: gpu.func @loop
  // CHECK:         %[[T:.+]] = gpu.thread_id x
  // CHECK-DAG:     %[[END:.+]] = arith.constant 4096 : index
  // CHECK-DAG:     %[[STEP:.+]] = arith.constant 512 : index
  // CHECK:         scf.for %[[I:.+]] = %[[T]] to %[[END]] step %[[STEP]] {
  // CHECK:           %[[V:.+]] = memref.load %{{.+}}[%[[I]]]
  // CHECK-COUNT-7:   memref.load
  // CHECK:           memref.store %[[V]], %{{.+}}[%[[I]]]
  // CHECK-COUNT-7:   memref.store
  // CHECK-NEXT:    }
  // CHECK-NOT:     memref.load
  gpu.func @loop(%in: memref<4096xf32>, %out: memref<4096xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    memref.copy %in, %out : memref<4096xf32> to memref<4096xf32>
    gpu.return
  }

  // What is left behind such a loop.
  // CHECK-LABEL: gpu.func @loop_and_rest
  // CHECK:         %[[T:.+]] = gpu.thread_id x
  // CHECK-DAG:     %[[END:.+]] = arith.constant 1024 : index
  // CHECK-DAG:     %[[STEP:.+]] = arith.constant 512 : index
  // CHECK:         scf.for %{{.+}} = %[[T]] to %[[END]] step %[[STEP]] {
  // CHECK-COUNT-8:   memref.load
  // CHECK-COUNT-8:   memref.store
  // CHECK-NEXT:    }
  // CHECK:         %[[NEXT:.+]] = arith.addi %[[T]], %{{.+}}
  // CHECK:         %[[V:.+]] = memref.load %{{.+}}[%[[NEXT]]]
  // CHECK:         memref.store %[[V]], %{{.+}}[%[[NEXT]]]
  // CHECK:         %[[REST:.+]] = arith.constant 36 : index
  // CHECK:         %[[HAS:.+]] = arith.cmpi ult, %[[T]], %[[REST]]
  // CHECK:         scf.if %[[HAS]]
  // CHECK:           memref.load
  // CHECK:           memref.store
  // CHECK:         }
  gpu.func @loop_and_rest(%in: memref<1124xf32>, %out: memref<1124xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    memref.copy %in, %out : memref<1124xf32> to memref<1124xf32>
    gpu.return
  }

  // A size that only the launch knows.
  // CHECK-LABEL: gpu.func @unknown_block_size
  // CHECK-DAG:     gpu.block_dim x
  // CHECK-DAG:     gpu.block_dim y
  // CHECK-DAG:     gpu.block_dim z
  // CHECK-DAG:     gpu.thread_id x
  // CHECK-DAG:     gpu.thread_id y
  // CHECK-DAG:     gpu.thread_id z
  // CHECK:         scf.for %[[I:.+]] = %{{.+}} to %{{.+}} step %{{.+}} {
  // CHECK:           memref.load %{{.+}}[%[[I]]]
  gpu.func @unknown_block_size(%in: memref<256xf32>, %out: memref<256xf32>) kernel {
    memref.copy %in, %out : memref<256xf32> to memref<256xf32>
    gpu.return
  }

  // Threads count along x first: x + 8 * (y + 4 * z).
  // CHECK-LABEL: gpu.func @three_dimensions
  // CHECK:         %[[Z:.+]] = gpu.thread_id z
  // CHECK:         %[[C4:.+]] = arith.constant 4 : index
  // CHECK:         %[[Z4:.+]] = arith.muli %[[Z]], %[[C4]]
  // CHECK:         %[[YZ:.+]] = arith.addi %[[Z4]], %[[Y:.+]] overflow
  // CHECK:         %[[C8:.+]] = arith.constant 8 : index
  // CHECK:         %[[YZ8:.+]] = arith.muli %[[YZ]], %[[C8]]
  // CHECK:         %[[T:.+]] = arith.addi %[[YZ8]], %[[X:.+]] overflow
  // CHECK:         memref.load %{{.+}}[%[[T]]]
  gpu.func @three_dimensions(%in: memref<64xf32>, %out: memref<64xf32>) kernel
      attributes {known_block_size = array<i32: 8, 4, 2>} {
    memref.copy %in, %out : memref<64xf32> to memref<64xf32>
    gpu.return
  }

  // One thread of a block of one does it all, as does each thread that comes here
  // without the others.
  // CHECK-LABEL: gpu.func @one_thread
  // CHECK-NOT:     gpu.thread_id
  // CHECK:         scf.for %[[I:.+]] = %{{.+}} to %{{.+}} step %{{.+}} {
  // CHECK:           scf.for %[[J:.+]] = %{{.+}} to %{{.+}} step %{{.+}} {
  // CHECK:             %[[V:.+]] = memref.load %{{.+}}[%[[I]], %[[J]]]
  // CHECK:             memref.store %[[V]], %{{.+}}[%[[I]], %[[J]]]
  // CHECK-NOT:     gpu.barrier
  // CHECK:         gpu.return
  gpu.func @one_thread(%in: memref<8x16xf32, strided<[20, 1]>>, %out: memref<8x16xf32>) kernel
      attributes {known_block_size = array<i32: 1, 1, 1>} {
    memref.copy %in, %out : memref<8x16xf32, strided<[20, 1]>> to memref<8x16xf32>
    gpu.return
  }
  // CHECK-LABEL: gpu.func @per_thread
  // CHECK:         scf.if
  // CHECK:           %[[C0:.+]] = arith.constant 0 : index
  // CHECK:           scf.for %[[I:.+]] = %[[C0]] to
  // CHECK:             %[[V:.+]] = memref.load %{{.+}}[%[[I]]]
  // CHECK:             memref.store %[[V]], %{{.+}}[%[[I]]]
  // CHECK-NOT:     gpu.barrier
  // CHECK:         gpu.return
  gpu.func @per_thread(%in: memref<64xf32>, %out: memref<64xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %x = gpu.thread_id x
    %c8 = arith.constant 8 : index
    %some = arith.cmpi ult, %x, %c8 : index
    scf.if %some {
      memref.copy %in, %out : memref<64xf32> to memref<64xf32>
    }
    gpu.return
  }
}

gpu.module @shapes {
  // A scalar is for the first thread.
  // CHECK-LABEL: gpu.func @rank_0
  // CHECK:         %[[T:.+]] = gpu.thread_id x
  // CHECK:         %[[C1:.+]] = arith.constant 1 : index
  // CHECK:         %[[FIRST:.+]] = arith.cmpi ult, %[[T]], %[[C1]] : index
  // CHECK:         scf.if %[[FIRST]] {
  // CHECK:           %[[V:.+]] = memref.load %{{.+}}[] : memref<f32>
  // CHECK:           memref.store %[[V]], %{{.+}}[] : memref<f32>
  gpu.func @rank_0(%in: memref<f32>, %out: memref<f32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    memref.copy %in, %out : memref<f32> to memref<f32>
    gpu.return
  }

  // The last index runs fastest.
  // CHECK-LABEL: gpu.func @rank_3
  // CHECK:         %[[T:.+]] = gpu.thread_id x
  // CHECK:         %[[K:.+]] = arith.remui %[[T]], %[[C4:.+]] : index
  // CHECK:         %[[T4:.+]] = arith.divui %[[T]], %[[C4B:.+]] : index
  // CHECK:         %[[J:.+]] = arith.remui %[[T4]], %[[C8:.+]] : index
  // CHECK:         %[[I:.+]] = arith.divui %[[T4]], %[[C8B:.+]] : index
  // CHECK:         %[[V:.+]] = memref.load %{{.+}}[%[[I]], %[[J]], %[[K]]]
  // CHECK:         memref.store %[[V]], %{{.+}}[%[[I]], %[[J]], %[[K]]]
  gpu.func @rank_3(%in: memref<2x8x4xf32, strided<[100, 10, 1]>>, %out: memref<2x8x4xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    memref.copy %in, %out : memref<2x8x4xf32, strided<[100, 10, 1]>> to memref<2x8x4xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @rank_5
  // CHECK:         memref.load %{{.+}}[%{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}]
  // CHECK:         memref.store %{{.+}}, %{{.+}}[%{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}]
  gpu.func @rank_5(%in: memref<2x2x2x2x4xf32, strided<[999, 200, 50, 10, 1]>>, %out: memref<2x2x2x2x4xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    memref.copy %in, %out : memref<2x2x2x2x4xf32, strided<[999, 200, 50, 10, 1]>> to memref<2x2x2x2x4xf32>
    gpu.return
  }

  // Dimensions that both sides hold contiguously are one; the first stays alone.
  // CHECK-LABEL: gpu.func @merged
  // CHECK-DAG:     memref.collapse_shape %{{.+}} {{.}}[0], [1, 2]] : memref<4x4x4xf32, strided<[20, 4, 1]>> into memref<4x16xf32, strided<[20, 1]>>
  // CHECK-DAG:     memref.collapse_shape %{{.+}} {{.}}[0], [1, 2]] : memref<4x4x4xf32> into memref<4x16xf32>
  // CHECK:         memref.load %{{.+}}[%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}] : memref<4x16xf32
  gpu.func @merged(%in: memref<4x4x4xf32, strided<[20, 4, 1]>>, %out: memref<4x4x4xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    memref.copy %in, %out : memref<4x4x4xf32, strided<[20, 4, 1]>> to memref<4x4x4xf32>
    gpu.return
  }

  // A dimension of one element costs no arithmetic, static or a constant in SSA.
  // CHECK-LABEL: gpu.func @unit_dimensions
  // CHECK-NOT:     arith.remui
  // CHECK:         memref.load %{{.+}}[%[[T:[a-z0-9_]+]]] : memref<64xf32, strided<[1]>>
  // CHECK:         memref.store %{{.+}}, %{{.+}}[%[[T]]] : memref<64xf32, strided<[1]>>
  gpu.func @unit_dimensions(%in: memref<?x64x1xf32>, %out: memref<1x64x1xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c1 = arith.constant 1 : index
    %row = memref.subview %in[0, 0, 0] [%c1, 64, 1] [1, 1, 1] : memref<?x64x1xf32> to memref<?x64x1xf32, strided<[64, 1, 1]>>
    memref.copy %row, %out : memref<?x64x1xf32, strided<[64, 1, 1]>> to memref<1x64x1xf32>
    gpu.return
  }
  // CHECK-LABEL: gpu.func @one_element
  // CHECK:         memref.load %{{.+}}[] : memref<f32, strided<[], offset: ?>>
  gpu.func @one_element(%in: memref<1x1xf32, strided<[?, ?], offset: ?>>, %out: memref<1x1xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    memref.copy %in, %out : memref<1x1xf32, strided<[?, ?], offset: ?>> to memref<1x1xf32>
    gpu.return
  }

  // No element, no code.
  // CHECK-LABEL: gpu.func @empty
  // CHECK-NEXT:    gpu.return
  gpu.func @empty(%in: memref<4x0xf32>, %out: memref<4x0xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    memref.copy %in, %out : memref<4x0xf32> to memref<4x0xf32>
    gpu.return
  }

  // Extents that the kernel computes.
  // CHECK-LABEL: gpu.func @dynamic
  // CHECK-SAME:    (%{{.+}}: memref<64x64xf32>, %{{.+}}: memref<64x64xf32>, %[[M:.+]]: index, %[[N:.+]]: index)
  // CHECK:         %[[TOTAL:.+]] = arith.muli %[[M]], %[[N]]
  // CHECK:         scf.for %[[T:.+]] = %{{.+}} to %[[TOTAL]] step %{{.+}} {
  // CHECK:           %[[J:.+]] = arith.remui %[[T]], %[[N]] : index
  // CHECK:           %[[I:.+]] = arith.divui %[[T]], %[[N]] : index
  // CHECK:           memref.load %{{.+}}[%[[I]], %[[J]]]
  // CHECK:           memref.store %{{.+}}, %{{.+}}[%[[I]], %[[J]]]
  gpu.func @dynamic(%in: memref<64x64xf32>, %out: memref<64x64xf32>, %m: index, %n: index) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %from = memref.subview %in[0, 0] [%m, %n] [1, 1] : memref<64x64xf32> to memref<?x?xf32, strided<[64, 1]>>
    %to = memref.subview %out[0, 0] [%m, %n] [1, 1] : memref<64x64xf32> to memref<?x?xf32, strided<[64, 1]>>
    memref.copy %from, %to : memref<?x?xf32, strided<[64, 1]>> to memref<?x?xf32, strided<[64, 1]>>
    gpu.return
  }

  // What one side knows of the extents holds for the other; a constant in SSA is
  // one without the canonicalizer. 16 x 16 for 64 threads: four accesses each.
  // CHECK-LABEL: gpu.func @known_extents
  // CHECK:         memref.cast %{{.+}} : memref<?x?xf32, strided<[64, 1]>> to memref<16x16xf32, strided<[64, 1]>>
  // CHECK:         memref.cast %{{.+}} : memref<?x16xf32, strided<[16, 1]>, #gpu.address_space<workgroup>> to memref<16x16xf32, strided<[16, 1]>, #gpu.address_space<workgroup>>
  // CHECK-COUNT-4: memref.load %{{.+}} : memref<16x16xf32, strided<[64, 1]>>
  // CHECK-NOT:     memref.load
  // CHECK-COUNT-4: memref.store
  // CHECK-NOT:     memref.store
  // CHECK-NOT:     scf.
  gpu.func @known_extents(%in: memref<64x64xf32>, %n: index)
      workgroup(%tile: memref<32x16xf32, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c16 = arith.constant 16 : index
    %from = memref.subview %in[0, 0] [%c16, %n] [1, 1] : memref<64x64xf32> to memref<?x?xf32, strided<[64, 1]>>
    %to = memref.subview %tile[0, 0] [%n, 16] [1, 1] : memref<32x16xf32, #gpu.address_space<workgroup>> to memref<?x16xf32, strided<[16, 1]>, #gpu.address_space<workgroup>>
    memref.copy %from, %to : memref<?x?xf32, strided<[64, 1]>> to memref<?x16xf32, strided<[16, 1]>, #gpu.address_space<workgroup>>
    gpu.return
  }

  // Neighbouring threads access neighbouring elements of global memory, whichever
  // side it is on: rows of the source here, ...
  // CHECK-LABEL: gpu.func @transposed_target
  // CHECK-SAME:    (%[[IN:.+]]: memref<8x16xf32>)
  // CHECK:         memref.transpose
  // CHECK-NOT:     memref.transpose
  // CHECK:         %[[J:.+]] = arith.remui %{{.+}}, %{{.+}} : index
  // CHECK:         memref.load %[[IN]][%{{.+}}, %[[J]]]
  gpu.func @transposed_target(%in: memref<8x16xf32>)
      workgroup(%tile: memref<16x8xf32, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %to = memref.transpose %tile (i, j) -> (j, i) : memref<16x8xf32, #gpu.address_space<workgroup>> to memref<8x16xf32, strided<[1, 8]>, #gpu.address_space<workgroup>>
    memref.copy %in, %to : memref<8x16xf32> to memref<8x16xf32, strided<[1, 8]>, #gpu.address_space<workgroup>>
    gpu.return
  }
  // ... of the target there, ...
  // CHECK-LABEL: gpu.func @transposed_source
  // CHECK-SAME:    (%[[OUT:.+]]: memref<8x16xf32>)
  // CHECK:         memref.transpose
  // CHECK-NOT:     memref.transpose
  // CHECK:         %[[J:.+]] = arith.remui %{{.+}}, %{{.+}} : index
  // CHECK:         memref.store %{{.+}}, %[[OUT]][%{{.+}}, %[[J]]]
  gpu.func @transposed_source(%out: memref<8x16xf32>)
      workgroup(%tile: memref<16x8xf32, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %from = memref.transpose %tile (i, j) -> (j, i) : memref<16x8xf32, #gpu.address_space<workgroup>> to memref<8x16xf32, strided<[1, 8]>, #gpu.address_space<workgroup>>
    memref.copy %from, %out : memref<8x16xf32, strided<[1, 8]>, #gpu.address_space<workgroup>> to memref<8x16xf32>
    gpu.return
  }
  // ... and columns where they are contiguous.
  // CHECK-LABEL: gpu.func @columns
  // CHECK-DAG:     %[[IN:.+]] = memref.transpose %{{.+}} (d0, d1) -> (d1, d0) : memref<16x8xf32, strided<[1, 32]>> to memref<8x16xf32, strided<[32, 1]>>
  // CHECK-DAG:     %[[TILE:.+]] = memref.transpose %{{.+}} (d0, d1) -> (d1, d0) : memref<16x8xf32, #gpu.address_space<workgroup>>
  // CHECK:         memref.load %[[IN]][%[[J:[a-z0-9_]+]], %[[I:[a-z0-9_]+]]]
  // CHECK:         memref.store %{{.+}}, %[[TILE]][%[[J]], %[[I]]]
  gpu.func @columns(%in: memref<16x8xf32, strided<[1, 32]>>)
      workgroup(%tile: memref<16x8xf32, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    memref.copy %in, %tile : memref<16x8xf32, strided<[1, 32]>> to memref<16x8xf32, #gpu.address_space<workgroup>>
    gpu.return
  }
}

gpu.module @operands {
  // A copy onto itself does nothing.
  // CHECK-LABEL: gpu.func @onto_itself
  // CHECK-NEXT:    gpu.return
  gpu.func @onto_itself(%a: memref<64xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    memref.copy %a, %a : memref<64xf32> to memref<64xf32>
    gpu.return
  }

  // Slices of one buffer, apart from each other.
  // CHECK-LABEL: gpu.func @disjoint
  // CHECK:         %[[V:.+]] = memref.load
  // CHECK-NEXT:    memref.store %[[V]]
  gpu.func @disjoint(%a: memref<128xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %from = memref.subview %a[0] [64] [1] : memref<128xf32> to memref<64xf32, strided<[1]>>
    %to = memref.subview %a[64] [64] [1] : memref<128xf32> to memref<64xf32, strided<[1], offset: 64>>
    memref.copy %from, %to : memref<64xf32, strided<[1]>> to memref<64xf32, strided<[1], offset: 64>>
    gpu.return
  }

  // Operands of a rank that the kernel knows after all.
  // CHECK-LABEL: gpu.func @unranked
  // CHECK-SAME:    (%[[IN:.+]]: memref<64xf32>, %[[OUT:.+]]: memref<64xf32>)
  // CHECK:         %[[V:.+]] = memref.load %[[IN]]
  // CHECK:         memref.store %[[V]], %[[OUT]]
  gpu.func @unranked(%in: memref<64xf32>, %out: memref<64xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %from = memref.cast %in : memref<64xf32> to memref<*xf32>
    %to = memref.cast %out : memref<64xf32> to memref<*xf32>
    memref.copy %from, %to : memref<*xf32> to memref<*xf32>
    gpu.return
  }

  // Strides in a map are strides.
  // CHECK-LABEL: gpu.func @layout_map
  // CHECK:         memref.load %{{.+}} : memref<8x16xf32, #{{.+}}>
  gpu.func @layout_map(%in: memref<8x16xf32, affine_map<(i, j) -> (i * 40 + j + 3)>>, %out: memref<8x16xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    memref.copy %in, %out : memref<8x16xf32, affine_map<(i, j) -> (i * 40 + j + 3)>> to memref<8x16xf32>
    gpu.return
  }
}

// Attributions of a launch cannot be aligned for 16-byte accesses, allocations can;
// private ones stay.
// CHECK-LABEL: func.func @in_launch
// CHECK:         gpu.launch
// CHECK-NOT:       workgroup(
// CHECK-SAME:      private(%{{.+}} : memref<4xf32, #gpu.address_space<private>>)
// CHECK:           %[[BUFFER:.+]] = memref.alloc() {alignment = 16 : i64} : memref<256xf32, #gpu.address_space<workgroup>>
// CHECK:           %[[V:.+]] = vector.load %{{.+}} {alignment = 16 : i64} : memref<256xf32>, vector<4xf32>
// CHECK:           vector.store %[[V]], %[[BUFFER]][%{{.+}}] {alignment = 16 : i64}
func.func @in_launch() {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %in = memref.alloc() : memref<256xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1)
             workgroup(%buffer : memref<256xf32, #gpu.address_space<workgroup>>)
             private(%p : memref<4xf32, #gpu.address_space<private>>) {
    memref.copy %in, %buffer : memref<256xf32> to memref<256xf32, #gpu.address_space<workgroup>>
    gpu.terminator
  }
  return
}
