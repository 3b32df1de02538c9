// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-copies{strategy=sync insert-barriers=false})' | FileCheck %s

// Copies of memory onto itself, by whatever names, are erased.
// CHECK-LABEL: gpu.module @identical
gpu.module @identical {
  // CHECK-LABEL: gpu.func @slices
  // CHECK-NOT: memref.store
  // CHECK: gpu.return
  gpu.func @slices(%a: memref<128xf32>, %i: index) kernel {
    %c8 = arith.constant 8 : index
    %x = memref.subview %a[%i] [64] [1] : memref<128xf32> to memref<64xf32, strided<[1], offset: ?>>
    %y = memref.subview %a[%i] [64] [1] : memref<128xf32> to memref<64xf32, strided<[1], offset: ?>>
    memref.copy %x, %y : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
    linalg.copy ins(%x : memref<64xf32, strided<[1], offset: ?>>) outs(%y : memref<64xf32, strided<[1], offset: ?>>)
    %p = memref.subview %a[%c8] [64] [1] : memref<128xf32> to memref<64xf32, strided<[1], offset: ?>>
    %q = memref.subview %a[8] [64] [1] : memref<128xf32> to memref<64xf32, strided<[1], offset: 8>>
    memref.copy %p, %q : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: 8>>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @views
  // CHECK-NOT: memref.store
  // CHECK: gpu.return
  gpu.func @views(%a: memref<8x16xf32>, %i: index) kernel {
    %cast = memref.cast %a : memref<8x16xf32> to memref<?x?xf32>
    memref.copy %cast, %a : memref<?x?xf32> to memref<8x16xf32>
    %aligned = memref.assume_alignment %a, 16 : memref<8x16xf32>
    memref.copy %a, %aligned : memref<8x16xf32> to memref<8x16xf32>
    %respelled = memref.memory_space_cast %a : memref<8x16xf32> to memref<8x16xf32, 1>
    memref.copy %respelled, %a : memref<8x16xf32, 1> to memref<8x16xf32>
    // Slices of slices add up, ...
    %j = affine.apply affine_map<(d0) -> (d0 * 2)>(%i)
    %outer = memref.subview %a[%i, 0] [4, 8] [1, 1] : memref<8x16xf32> to memref<4x8xf32, strided<[16, 1], offset: ?>>
    %inner = memref.subview %outer[%i, 2] [1, 4] [1, 1] : memref<4x8xf32, strided<[16, 1], offset: ?>> to memref<4xf32, strided<[1], offset: ?>>
    %once = memref.subview %a[%j, 2] [1, 4] [1, 1] : memref<8x16xf32> to memref<4xf32, strided<[1], offset: ?>>
    memref.copy %inner, %once : memref<4xf32, strided<[1], offset: ?>> to memref<4xf32, strided<[1], offset: ?>>
    // ... and transposing twice is nothing.
    %t = memref.transpose %a (r, c) -> (c, r) : memref<8x16xf32> to memref<16x8xf32, strided<[1, 16]>>
    %tt = memref.transpose %t (r, c) -> (c, r) : memref<16x8xf32, strided<[1, 16]>> to memref<8x16xf32>
    memref.copy %tt, %a : memref<8x16xf32> to memref<8x16xf32>
    gpu.return
  }

  // Bytes that begin where nobody knows are the same on both sides.
  // CHECK-LABEL: gpu.func @bytes
  // CHECK-NOT: vector.store
  // CHECK: gpu.return
  gpu.func @bytes(%i: index) workgroup(%a: memref<512xi8, #gpu.address_space<workgroup>>) kernel {
    %c4 = arith.constant 4 : index
    %next = arith.addi %i, %c4 : index
    %x = memref.view %a[%i][] : memref<512xi8, #gpu.address_space<workgroup>> to memref<64xf32, #gpu.address_space<workgroup>>
    %part = memref.subview %x[1] [63] [1] : memref<64xf32, #gpu.address_space<workgroup>> to memref<63xf32, strided<[1], offset: 1>, #gpu.address_space<workgroup>>
    %y = memref.view %a[%next][] : memref<512xi8, #gpu.address_space<workgroup>> to memref<63xf32, #gpu.address_space<workgroup>>
    memref.copy %part, %y : memref<63xf32, strided<[1], offset: 1>, #gpu.address_space<workgroup>> to memref<63xf32, #gpu.address_space<workgroup>>
    gpu.return
  }

  // A cast, of the whole or of a part, says how far apart rows are, and what it
  // is of has them so far apart, too.
  // CHECK-LABEL: gpu.func @cast_strides
  // CHECK-NOT: memref.store
  // CHECK: gpu.return
  gpu.func @cast_strides(%a: memref<64x4xf32, strided<[?, 1]>>) kernel {
    %whole = memref.cast %a : memref<64x4xf32, strided<[?, 1]>> to memref<64x4xf32, strided<[8, 1]>>
    %x = memref.subview %whole[1, 0] [1, 4] [1, 1] : memref<64x4xf32, strided<[8, 1]>> to memref<4xf32, strided<[1], offset: 8>>
    %y = memref.reinterpret_cast %a to offset: [8], sizes: [4], strides: [1] : memref<64x4xf32, strided<[?, 1]>> to memref<4xf32, strided<[1], offset: 8>>
    memref.copy %x, %y : memref<4xf32, strided<[1], offset: 8>> to memref<4xf32, strided<[1], offset: 8>>
    %part = memref.subview %a[8, 0] [2, 4] [1, 1] : memref<64x4xf32, strided<[?, 1]>> to memref<2x4xf32, strided<[?, 1], offset: ?>>
    %p = memref.cast %part : memref<2x4xf32, strided<[?, 1], offset: ?>> to memref<2x4xf32, strided<[8, 1], offset: ?>>
    %q = memref.reinterpret_cast %a to offset: [64], sizes: [2, 4], strides: [8, 1] : memref<64x4xf32, strided<[?, 1]>> to memref<2x4xf32, strided<[8, 1], offset: 64>>
    memref.copy %p, %q : memref<2x4xf32, strided<[8, 1], offset: ?>> to memref<2x4xf32, strided<[8, 1], offset: 64>>
    gpu.return
  }

  // Strides and offsets that nobody knows are the same on both sides.
  // CHECK-LABEL: gpu.func @dynamic
  // CHECK-NOT: memref.store
  // CHECK: gpu.return
  gpu.func @dynamic(%a: memref<?x?xf32, strided<[?, ?], offset: ?>>, %b: memref<?xf32>, %i: index, %n: index) kernel {
    %x = memref.subview %a[%i, %i] [%n, 8] [2, 1] : memref<?x?xf32, strided<[?, ?], offset: ?>> to memref<?x8xf32, strided<[?, ?], offset: ?>>
    %y = memref.subview %a[%i, %i] [%n, 8] [2, 1] : memref<?x?xf32, strided<[?, ?], offset: ?>> to memref<?x8xf32, strided<[?, ?], offset: ?>>
    memref.copy %x, %y : memref<?x8xf32, strided<[?, ?], offset: ?>> to memref<?x8xf32, strided<[?, ?], offset: ?>>
    %steps = memref.subview %b[0] [32] [%n] : memref<?xf32> to memref<32xf32, strided<[?]>>
    %p = memref.subview %steps[%i] [8] [1] : memref<32xf32, strided<[?]>> to memref<8xf32, strided<[?], offset: ?>>
    %q = memref.subview %steps[%i] [8] [1] : memref<32xf32, strided<[?]>> to memref<8xf32, strided<[?], offset: ?>>
    memref.copy %p, %q : memref<8xf32, strided<[?], offset: ?>> to memref<8xf32, strided<[?], offset: ?>>
    gpu.return
  }
}

// Parts of one memory that are known to be apart are copied.
// CHECK-LABEL: gpu.module @disjoint
gpu.module @disjoint {
  // CHECK-LABEL: gpu.func @of_slices
  // CHECK-COUNT-5: memref.store
  // CHECK-NOT: memref.store
  // CHECK: gpu.return
  gpu.func @of_slices(%a: memref<128xf32>, %i: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %half = memref.subview %a[0] [64] [1] : memref<128xf32> to memref<64xf32, strided<[1]>>
    %x = memref.subview %half[0] [32] [1] : memref<64xf32, strided<[1]>> to memref<32xf32, strided<[1]>>
    %y = memref.subview %a[32] [32] [1] : memref<128xf32> to memref<32xf32, strided<[1], offset: 32>>
    memref.copy %x, %y : memref<32xf32, strided<[1]>> to memref<32xf32, strided<[1], offset: 32>>
    %even = memref.subview %a[0] [32] [2] : memref<128xf32> to memref<32xf32, strided<[2]>>
    %odd = memref.subview %a[1] [32] [2] : memref<128xf32> to memref<32xf32, strided<[2], offset: 1>>
    memref.copy %even, %odd : memref<32xf32, strided<[2]>> to memref<32xf32, strided<[2], offset: 1>>
    // Whatever the offset is.
    %evens = memref.subview %a[%i] [32] [2] : memref<128xf32> to memref<32xf32, strided<[2], offset: ?>>
    %k = affine.apply affine_map<(d0) -> (d0 + 3)>(%i)
    %odds = memref.subview %a[%k] [32] [2] : memref<128xf32> to memref<32xf32, strided<[2], offset: ?>>
    memref.copy %evens, %odds : memref<32xf32, strided<[2], offset: ?>> to memref<32xf32, strided<[2], offset: ?>>
    %c32 = arith.constant 32 : index
    %next = arith.addi %i, %c32 : index
    %p = memref.subview %half[%i] [32] [1] : memref<64xf32, strided<[1]>> to memref<32xf32, strided<[1], offset: ?>>
    %q = memref.subview %a[%next] [32] [1] : memref<128xf32> to memref<32xf32, strided<[1], offset: ?>>
    memref.copy %p, %q : memref<32xf32, strided<[1], offset: ?>> to memref<32xf32, strided<[1], offset: ?>>
    // In steps of as many as there are, at another place in each.
    %rows = memref.expand_shape %a [[0, 1]] output_shape [8, 16] : memref<128xf32> into memref<8x16xf32>
    %left = memref.subview %rows[0, 0] [8, 4] [1, 1] : memref<8x16xf32> to memref<8x4xf32, strided<[16, 1]>>
    %wide = memref.reinterpret_cast %a to offset: [4], sizes: [8, 4], strides: [16, 1] : memref<128xf32> to memref<8x4xf32, strided<[16, 1], offset: 4>>
    memref.copy %left, %wide : memref<8x4xf32, strided<[16, 1]>> to memref<8x4xf32, strided<[16, 1], offset: 4>>
    gpu.return
  }

  // Rows of a number that nobody knows, columns that never meet.
  // CHECK-LABEL: gpu.func @columns
  // CHECK: memref.store
  gpu.func @columns(%a: memref<?x64xf32>, %i: index, %n: index) kernel {
    %x = memref.subview %a[%i, 0] [%n, 32] [1, 1] : memref<?x64xf32> to memref<?x32xf32, strided<[64, 1], offset: ?>>
    %part = memref.subview %a[0, 16] [%n, 48] [1, 1] : memref<?x64xf32> to memref<?x48xf32, strided<[64, 1], offset: 16>>
    %y = memref.subview %part[0, 16] [%n, 32] [1, 1] : memref<?x48xf32, strided<[64, 1], offset: 16>> to memref<?x32xf32, strided<[64, 1], offset: 32>>
    memref.copy %x, %y : memref<?x32xf32, strided<[64, 1], offset: ?>> to memref<?x32xf32, strided<[64, 1], offset: 32>>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @arena
  // CHECK: vector.store
  gpu.func @arena() workgroup(%a: memref<512xi8, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 16, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c256 = arith.constant 256 : index
    %x = memref.view %a[%c0][] : memref<512xi8, #gpu.address_space<workgroup>> to memref<64xf32, #gpu.address_space<workgroup>>
    %y = memref.view %a[%c256][] : memref<512xi8, #gpu.address_space<workgroup>> to memref<64xf32, #gpu.address_space<workgroup>>
    memref.copy %x, %y : memref<64xf32, #gpu.address_space<workgroup>> to memref<64xf32, #gpu.address_space<workgroup>>
    gpu.return
  }

  // Two buffers, two halves of one buffer, that a loop swaps stay two.
  // CHECK-LABEL: gpu.func @swapped
  // CHECK-COUNT-2: memref.store
  gpu.func @swapped(%a: memref<128xf32>, %b: memref<128xf32>, %n: index) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%u = %a, %v = %b) -> (memref<128xf32>, memref<128xf32>) {
      memref.copy %u, %v : memref<128xf32> to memref<128xf32>
      scf.yield %v, %u : memref<128xf32>, memref<128xf32>
    }
    %x = memref.subview %a[0] [64] [1] : memref<128xf32> to memref<64xf32, strided<[1]>>
    %y = memref.subview %a[64] [64] [1] : memref<128xf32> to memref<64xf32, strided<[1], offset: 64>>
    %p = memref.cast %x : memref<64xf32, strided<[1]>> to memref<64xf32, strided<[1], offset: ?>>
    %q = memref.cast %y : memref<64xf32, strided<[1], offset: 64>> to memref<64xf32, strided<[1], offset: ?>>
    %s:2 = scf.for %i = %c0 to %n step %c1 iter_args(%u = %p, %v = %q) -> (memref<64xf32, strided<[1], offset: ?>>, memref<64xf32, strided<[1], offset: ?>>) {
      memref.copy %u, %v : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32, strided<[1], offset: ?>>
      scf.yield %v, %u : memref<64xf32, strided<[1], offset: ?>>, memref<64xf32, strided<[1], offset: ?>>
    }
    gpu.return
  }

  // Other memory than the arguments', by whichever of two names.
  // CHECK-LABEL: gpu.func @selected
  // CHECK-COUNT-2: memref.store
  gpu.func @selected(%a: memref<64xf32>, %b: memref<64xf32>, %c: memref<64xf32>, %p: i1)
      workgroup(%w: memref<64xf32, 3>, %x: memref<64xf32, 3>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %s = arith.select %p, %a, %b : memref<64xf32>
    memref.copy %s, %c : memref<64xf32> to memref<64xf32>
    %from = arith.select %p, %a, %b : memref<64xf32>
    %to = arith.select %p, %b, %a : memref<64xf32>
    memref.copy %from, %to : memref<64xf32> to memref<64xf32>
    gpu.return
  }

  // The launch's dynamic memory holds none of the kernel's buffers.
  // CHECK-LABEL: gpu.func @dynamic_memory
  // CHECK: vector.store
  gpu.func @dynamic_memory() workgroup(%w: memref<64xi8, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %a = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %x = memref.subview %a[0] [64] [1] : memref<?xi8, #gpu.address_space<workgroup>> to memref<64xi8, strided<[1]>, #gpu.address_space<workgroup>>
    memref.copy %x, %w : memref<64xi8, strided<[1]>, #gpu.address_space<workgroup>> to memref<64xi8, #gpu.address_space<workgroup>>
    gpu.return
  }
}
