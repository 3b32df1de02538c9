// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-contractions)' --split-input-file --verify-diagnostics
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-contractions{assume-alignment=3})' --split-input-file 2>&1 | FileCheck %s

// Blocks of unknown size, tiles beyond the registers, and alignments that are no power of two.

// CHECK: error: assume-alignment must be a power of two, not 3

#wg = #gpu.address_space<workgroup>
#own = #gpu.address_space<private>
gpu.module @kernels {
  gpu.func @block_size(%c: memref<32x32xf32>) kernel {
    %zero = arith.constant 0.0 : f32
    %x = memref.alloc() : memref<32x16xf32, #wg>
    %y = memref.alloc() : memref<16x32xf32, #wg>
    %sum = memref.alloca() : memref<32x32xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sum : memref<32x32xf32, #own>)
    // expected-error @+1 {{'linalg.matmul' op cannot be shared out to threads: how many a block has is not known; give the launch constant sizes, or the kernel known_block_size}}
    linalg.matmul ins(%x, %y : memref<32x16xf32, #wg>, memref<16x32xf32, #wg>) outs(%sum : memref<32x32xf32, #own>)
    memref.copy %sum, %c : memref<32x32xf32, #own> to memref<32x32xf32>
    gpu.return
  }
}

// -----

#wg = #gpu.address_space<workgroup>
#own = #gpu.address_space<private>
gpu.module @kernels {
  gpu.func @registers(%c: memref<128x128xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %zero = arith.constant 0.0 : f32
    %x = memref.alloc() : memref<128x16xf32, #wg>
    %y = memref.alloc() : memref<16x128xf32, #wg>
    %sum = memref.alloca() : memref<128x128xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sum : memref<128x128xf32, #own>)
    // expected-error @+1 {{'linalg.matmul' op cannot be shared out to threads: 32 threads have no registers for a tile of 128x128 elements; use more threads, or a smaller tile}}
    linalg.matmul ins(%x, %y : memref<128x16xf32, #wg>, memref<16x128xf32, #wg>) outs(%sum : memref<128x128xf32, #own>)
    memref.copy %sum, %c : memref<128x128xf32, #own> to memref<128x128xf32>
    gpu.return
  }
}
