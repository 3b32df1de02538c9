// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-eliminate-barriers)' | FileCheck %s

// Barriers stay where arithmetic only looks as if threads kept to their own places.

// The same constant in every thread, and a constant: all read place 31.
// CHECK-LABEL: @constants
// CHECK: memref.store
// CHECK-NEXT: gpu.barrier
gpu.module @m {
  gpu.func @constants(%out: memref<128xindex> {llvm.noalias}) workgroup(%S: memref<256xindex, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    %c255 = arith.constant 255 : index
    %c31 = arith.constant 31 : index
    %wide = arith.maxsi %t, %c255 : index
    %low = arith.andi %wide, %c31 : index
    memref.store %t, %S[%t] : memref<256xindex, #gpu.address_space<workgroup>>
    gpu.barrier
    %x = memref.load %S[%low] : memref<256xindex, #gpu.address_space<workgroup>>
    memref.store %x, %out[%t] : memref<128xindex>
    gpu.return
  }
}

// -----

// A vector of a view that goes backwards.
// CHECK-LABEL: @backwards
// CHECK: memref.store
// CHECK: gpu.barrier
gpu.module @m {
  gpu.func @backwards(%out: memref<4xf32> {llvm.noalias}, %in: memref<128xf32> {llvm.noalias}) workgroup(%S: memref<128xf32, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c124 = arith.constant 124 : index
    %zero = arith.constant 0.0 : f32
    %back = memref.reinterpret_cast %S to offset: [127], sizes: [128], strides: [-1]
        : memref<128xf32, #gpu.address_space<workgroup>> to memref<128xf32, strided<[-1], offset: 127>, #gpu.address_space<workgroup>>
    %v = memref.load %in[%t] : memref<128xf32>
    %writes = arith.cmpi eq, %t, %c32 : index
    scf.if %writes {
      memref.store %v, %S[%c124] : memref<128xf32, #gpu.address_space<workgroup>>
    }
    gpu.barrier
    %reads = arith.cmpi eq, %t, %c0 : index
    scf.if %reads {
      %x = vector.transfer_read %back[%c0], %zero {in_bounds = [true]}
          : memref<128xf32, strided<[-1], offset: 127>, #gpu.address_space<workgroup>>, vector<4xf32>
      vector.transfer_write %x, %out[%c0] {in_bounds = [true]} : vector<4xf32>, memref<4xf32>
    }
    gpu.return
  }
}

// -----

// 8 << 60 is negative: thread 8 stores what thread 0 loads.
// CHECK-LABEL: @shift
// CHECK: memref.store
// CHECK: gpu.barrier
gpu.module @m {
  gpu.func @shift(%out: memref<128xindex> {llvm.noalias}) workgroup(%S: memref<1xindex, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %c60 = arith.constant 60 : i64
    %zero = arith.constant 0 : i64
    %wide = arith.index_cast %t : index to i64
    %high = arith.shli %wide, %c60 : i64
    %isNegative = arith.cmpi slt, %high, %zero : i64
    %isEight = arith.cmpi eq, %t, %c8 : index
    %both = arith.andi %isNegative, %isEight : i1
    scf.if %both {
      memref.store %t, %S[%c0] : memref<1xindex, #gpu.address_space<workgroup>>
    }
    gpu.barrier
    %x = memref.load %S[%c0] : memref<1xindex, #gpu.address_space<workgroup>>
    memref.store %x, %out[%t] : memref<128xindex>
    gpu.return
  }
}
