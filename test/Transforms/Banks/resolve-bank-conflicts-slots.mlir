// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-resolve-bank-conflicts)' -o %t.once
// RUN: FileCheck %s < %t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-resolve-bank-conflicts)' -o %t.twice
// RUN: diff %t.once %t.twice

// Tiles in the slots of an arena of bytes: each has its own rows.

gpu.module @kernels {
  // 16 rows of 132 bytes are 2112 bytes; the place of a slot follows.
  // CHECK-LABEL: gpu.func @padded
  // CHECK:         %[[ARENA:.+]] = memref.alloc() {alignment = 16 : i64} : memref<6336xi8, 3>
  // CHECK:         %[[BYTES:.+]] = arith.constant 2112 : index
  // CHECK:         %[[SHIFT:.+]] = arith.muli %{{.+}}, %[[BYTES]]
  // CHECK:         %[[ANY:.+]] = memref.view %[[ARENA]][%[[SHIFT]]][] : memref<6336xi8, 3> to memref<16x33xf32, 3>
  // CHECK:         memref.load %[[ANY]][%{{.+}}, %{{.+}}] : memref<16x33xf32, 3>
  // CHECK:         %[[LAST:.+]] = arith.constant 4224 : index
  // CHECK:         memref.view %[[ARENA]][%[[LAST]]][] : memref<6336xi8, 3> to memref<16x33xf32, 3>
  // CHECK-NOT:     memref<16x32xf32
  gpu.func @padded(%slot: index, %v: f32)
      kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    %x = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c2048 = arith.constant 2048 : index
    %c4096 = arith.constant 4096 : index
    %arena = memref.alloc() {alignment = 16 : i64} : memref<6144xi8, 3>
    %shift = arith.muli %slot, %c2048 : index
    %any = memref.view %arena[%shift][] : memref<6144xi8, 3> to memref<16x32xf32, 3>
    %0 = memref.load %any[%x, %c0] : memref<16x32xf32, 3>
    %last = memref.view %arena[%c4096][] : memref<6144xi8, 3> to memref<16x32xf32, 3>
    %row = memref.subview %last[%x, 0] [1, 32] [1, 1] : memref<16x32xf32, 3> to memref<32xf32, strided<[1], offset: ?>, 3>
    memref.store %0, %row[%c0] : memref<32xf32, strided<[1], offset: ?>, 3>
    memref.dealloc %arena : memref<6144xi8, 3>
    gpu.return
  }

  // A swizzle takes no room.
  // CHECK-LABEL: gpu.func @swizzled
  // CHECK:         memref.alloc() : memref<3072xi8, 3>
  // CHECK:         %[[VIEW:.+]] = memref.view
  // CHECK:         %[[CHUNK:.+]] = arith.muli
  // CHECK:         vector.store %{{.+}}, %[[VIEW]][%{{.+}}, %[[CHUNK]]] : memref<16x32xf16, 3>, vector<8xf16>
  gpu.func @swizzled(%slot: index, %v: vector<8xf16>)
      kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    %x = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1024 = arith.constant 1024 : index
    %arena = memref.alloc() : memref<3072xi8, 3>
    %shift = affine.apply affine_map<(slot) -> (slot * 1024)>(%slot)
    %any = memref.view %arena[%shift][] : memref<3072xi8, 3> to memref<16x32xf16, 3>
    vector.store %v, %any[%x, %c0] : memref<16x32xf16, 3>, vector<8xf16>
    gpu.return
  }

  // Rows of 33 times 132 bytes are padded by 16, and matrices stay at multiples
  // of 32 bytes.
  // CHECK-LABEL: gpu.func @matrices
  // CHECK:         memref.alloc() : memref<9536xi8, 3>
  // CHECK:         arith.constant 4768 : index
  gpu.func @matrices(%slot: index)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c4224 = arith.constant 4224 : index
    %arena = memref.alloc() : memref<8448xi8, 3>
    %shift = arith.muli %c4224, %slot : index
    %tile = memref.view %arena[%shift][] : memref<8448xi8, 3> to memref<33x32xf32, 3>
    %0 = gpu.subgroup_mma_load_matrix %tile[%c0, %c0] {leadDimension = 32 : index} : memref<33x32xf32, 3> -> !gpu.mma_matrix<16x16xf32, "COp">
    gpu.return
  }

  // Not slots: of two types, overlapping, at places that are not known, or counted
  // downwards.
  // CHECK-LABEL: gpu.func @others
  // CHECK-COUNT-4: memref.view %{{.+}} to memref<16x32xf32, 3>
  // CHECK-COUNT-2: memref.view %{{.+}} to memref<32x32xf16, 3>
  gpu.func @others(%shift: index, %slot: index, %v: f32, %w: f16)
      kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    %x = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1024 = arith.constant 1024 : index
    %c2048 = arith.constant 2048 : index
    %any = memref.alloc() : memref<4096xi8, 3>
    %0 = memref.view %any[%shift][] : memref<4096xi8, 3> to memref<16x32xf32, 3>
    memref.store %v, %0[%x, %c0] : memref<16x32xf32, 3>
    %downwards = memref.alloc() : memref<4096xi8, 3>
    %cminus = arith.constant -2048 : index
    %down = arith.muli %slot, %cminus : index
    %6 = memref.view %downwards[%down][] : memref<4096xi8, 3> to memref<16x32xf32, 3>
    memref.store %v, %6[%x, %c0] : memref<16x32xf32, 3>
    %overlapping = memref.alloc() : memref<4096xi8, 3>
    %half = arith.muli %slot, %c1024 : index
    %1 = memref.view %overlapping[%half][] : memref<4096xi8, 3> to memref<16x32xf32, 3>
    memref.store %v, %1[%x, %c0] : memref<16x32xf32, 3>
    %mixed = memref.alloc() : memref<4096xi8, 3>
    %2 = memref.view %mixed[%c0][] : memref<4096xi8, 3> to memref<16x32xf32, 3>
    memref.store %v, %2[%x, %c0] : memref<16x32xf32, 3>
    %3 = memref.view %mixed[%c2048][] : memref<4096xi8, 3> to memref<32x32xf16, 3>
    memref.store %w, %3[%x, %c0] : memref<32x32xf16, 3>
    %bytes = memref.alloc() : memref<2048xi8, 3>
    %4 = memref.view %bytes[%c0][] : memref<2048xi8, 3> to memref<32x32xf16, 3>
    memref.store %w, %4[%x, %c0] : memref<32x32xf16, 3>
    %5 = memref.load %bytes[%x] : memref<2048xi8, 3>
    gpu.return
  }
}
