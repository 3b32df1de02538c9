// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-contractions{chip=sm_75})' --remarks-filter='workgroup.*' --remark-format=emitRemark --verify-diagnostics -o %t
// RUN: FileCheck %s --input-file=%t

// What tensor cores do, and why they do not do the rest.

// CHECK-COUNT-2: mma.sync
// CHECK-NOT:     mma.sync

#wg = #gpu.address_space<workgroup>
#own = #gpu.address_space<private>

gpu.module @kernels {
  gpu.func @f16(%c: memref<16x8xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %zero = arith.constant 0.0 : f32
    %x = memref.alloc() : memref<16x8xf16, #wg>
    %y = memref.alloc() : memref<8x8xf16, #wg>
    %sum = memref.alloca() : memref<16x8xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sum : memref<16x8xf32, #own>)
    // expected-remark @+1 {{Instruction=m16n8k8.f16.f16}}
    linalg.matmul ins(%x, %y : memref<16x8xf16, #wg>, memref<8x8xf16, #wg>) outs(%sum : memref<16x8xf32, #own>)
    memref.copy %sum, %c : memref<16x8xf32, #own> to memref<16x8xf32>
    gpu.return
  }
  gpu.func @i8(%c: memref<8x8xi32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %zero = arith.constant 0 : i32
    %x = memref.alloc() : memref<8x16xi8, #wg>
    %y = memref.alloc() : memref<16x8xi8, #wg>
    %sum = memref.alloca() : memref<8x8xi32, #own>
    linalg.fill ins(%zero : i32) outs(%sum : memref<8x8xi32, #own>)
    // expected-remark @+1 {{Instruction=m8n8k16.s8.s8}}
    linalg.matmul ins(%x, %y : memref<8x16xi8, #wg>, memref<16x8xi8, #wg>) outs(%sum : memref<8x8xi32, #own>)
    memref.copy %sum, %c : memref<8x8xi32, #own> to memref<8x8xi32>
    gpu.return
  }
  gpu.func @f32(%c: memref<16x16xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %zero = arith.constant 0.0 : f32
    %x = memref.alloc() : memref<16x16xf32, #wg>
    %y = memref.alloc() : memref<16x16xf32, #wg>
    %sum = memref.alloca() : memref<16x16xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sum : memref<16x16xf32, #own>)
    // expected-remark @+1 {{contraction of tiles shared out to threads}}
    linalg.matmul ins(%x, %y : memref<16x16xf32, #wg>, memref<16x16xf32, #wg>) outs(%sum : memref<16x16xf32, #own>)
    memref.copy %sum, %c : memref<16x16xf32, #own> to memref<16x16xf32>
    gpu.return
  }
  gpu.func @bf16(%c: memref<16x16xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %zero = arith.constant 0.0 : f32
    %x = memref.alloc() : memref<16x16xbf16, #wg>
    %y = memref.alloc() : memref<16x16xbf16, #wg>
    %sum = memref.alloca() : memref<16x16xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sum : memref<16x16xf32, #own>)
    // expected-remark @+2 {{Function=bf16 | Reason="the tensor cores of sm_75 have no products of bf16", Remark="contraction that tensor cores do not compute"}}
    // expected-remark @+1 {{contraction of tiles shared out to threads}}
    linalg.matmul ins(%x, %y : memref<16x16xbf16, #wg>, memref<16x16xbf16, #wg>) outs(%sum : memref<16x16xf32, #own>)
    memref.copy %sum, %c : memref<16x16xf32, #own> to memref<16x16xf32>
    gpu.return
  }
  gpu.func @f64(%c: memref<16x16xf64>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %zero = arith.constant 0.0 : f64
    %x = memref.alloc() : memref<16x16xf64, #wg>
    %y = memref.alloc() : memref<16x16xf64, #wg>
    %sum = memref.alloca() : memref<16x16xf64, #own>
    linalg.fill ins(%zero : f64) outs(%sum : memref<16x16xf64, #own>)
    // expected-remark @+2 {{Function=f64 | Reason="the tensor cores of sm_75 have no products of f64", Remark="contraction that tensor cores do not compute"}}
    // expected-remark @+1 {{contraction of tiles shared out to threads}}
    linalg.matmul ins(%x, %y : memref<16x16xf64, #wg>, memref<16x16xf64, #wg>) outs(%sum : memref<16x16xf64, #own>)
    memref.copy %sum, %c : memref<16x16xf64, #own> to memref<16x16xf64>
    gpu.return
  }
  gpu.func @i32(%c: memref<16x16xi32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %zero = arith.constant 0 : i32
    %x = memref.alloc() : memref<16x16xi32, #wg>
    %y = memref.alloc() : memref<16x16xi32, #wg>
    %sum = memref.alloca() : memref<16x16xi32, #own>
    linalg.fill ins(%zero : i32) outs(%sum : memref<16x16xi32, #own>)
    // expected-remark @+2 {{Function=i32 | Reason="tensor cores have no products of i32 and i32 with sums in i32", Remark="contraction that tensor cores do not compute"}}
    // expected-remark @+1 {{contraction of tiles shared out to threads}}
    linalg.matmul ins(%x, %y : memref<16x16xi32, #wg>, memref<16x16xi32, #wg>) outs(%sum : memref<16x16xi32, #own>)
    memref.copy %sum, %c : memref<16x16xi32, #own> to memref<16x16xi32>
    gpu.return
  }
  gpu.func @bf16_sums(%c: memref<16x16xbf16>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %zero = arith.constant 0.0 : bf16
    %x = memref.alloc() : memref<16x16xbf16, #wg>
    %y = memref.alloc() : memref<16x16xbf16, #wg>
    %sum = memref.alloca() : memref<16x16xbf16, #own>
    linalg.fill ins(%zero : bf16) outs(%sum : memref<16x16xbf16, #own>)
    // expected-remark @+2 {{Function=bf16_sums | Reason="tensor cores have no products of bf16 and bf16 with sums in bf16", Remark="contraction that tensor cores do not compute"}}
    // expected-remark @+1 {{contraction of tiles shared out to threads}}
    linalg.matmul ins(%x, %y : memref<16x16xbf16, #wg>, memref<16x16xbf16, #wg>) outs(%sum : memref<16x16xbf16, #own>)
    memref.copy %sum, %c : memref<16x16xbf16, #own> to memref<16x16xbf16>
    gpu.return
  }
  gpu.func @rows(%c: memref<8x16xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %zero = arith.constant 0.0 : f32
    %x = memref.alloc() : memref<8x16xf16, #wg>
    %y = memref.alloc() : memref<16x16xf16, #wg>
    %sum = memref.alloca() : memref<8x16xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sum : memref<8x16xf32, #own>)
    // expected-remark @+2 {{Function=rows | Reason="a tile of 8x16 elements does not consist of 16x8", Remark="contraction that tensor cores do not compute"}}
    // expected-remark @+1 {{contraction of tiles shared out to threads}}
    linalg.matmul ins(%x, %y : memref<8x16xf16, #wg>, memref<16x16xf16, #wg>) outs(%sum : memref<8x16xf32, #own>)
    memref.copy %sum, %c : memref<8x16xf32, #own> to memref<8x16xf32>
    gpu.return
  }
  gpu.func @columns(%c: memref<16x12xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %zero = arith.constant 0.0 : f32
    %x = memref.alloc() : memref<16x16xf16, #wg>
    %y = memref.alloc() : memref<16x12xf16, #wg>
    %sum = memref.alloca() : memref<16x12xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sum : memref<16x12xf32, #own>)
    // expected-remark @+2 {{Function=columns | Reason="a tile of 16x12 elements does not consist of 16x8", Remark="contraction that tensor cores do not compute"}}
    // expected-remark @+1 {{contraction of tiles shared out to threads}}
    linalg.matmul ins(%x, %y : memref<16x16xf16, #wg>, memref<16x12xf16, #wg>) outs(%sum : memref<16x12xf32, #own>)
    memref.copy %sum, %c : memref<16x12xf32, #own> to memref<16x12xf32>
    gpu.return
  }
  gpu.func @steps(%c: memref<16x16xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %zero = arith.constant 0.0 : f32
    %x = memref.alloc() : memref<16x4xf16, #wg>
    %y = memref.alloc() : memref<4x16xf16, #wg>
    %sum = memref.alloca() : memref<16x16xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sum : memref<16x16xf32, #own>)
    // expected-remark @+2 {{Function=steps | Reason="a tile of 4 steps of the sum does not consist of 8", Remark="contraction that tensor cores do not compute"}}
    // expected-remark @+1 {{contraction of tiles shared out to threads}}
    linalg.matmul ins(%x, %y : memref<16x4xf16, #wg>, memref<4x16xf16, #wg>) outs(%sum : memref<16x16xf32, #own>)
    memref.copy %sum, %c : memref<16x16xf32, #own> to memref<16x16xf32>
    gpu.return
  }
  gpu.func @warps(%c: memref<16x16xf32>) kernel attributes {known_block_size = array<i32: 48, 1, 1>} {
    %zero = arith.constant 0.0 : f32
    %x = memref.alloc() : memref<16x16xf16, #wg>
    %y = memref.alloc() : memref<16x16xf16, #wg>
    %sum = memref.alloca() : memref<16x16xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sum : memref<16x16xf32, #own>)
    // expected-remark @+2 {{Function=warps | Reason="a block of 48 threads does not consist of warps", Remark="contraction that tensor cores do not compute"}}
    // expected-remark @+1 {{contraction of tiles shared out to threads}}
    linalg.matmul ins(%x, %y : memref<16x16xf16, #wg>, memref<16x16xf16, #wg>) outs(%sum : memref<16x16xf32, #own>)
    memref.copy %sum, %c : memref<16x16xf32, #own> to memref<16x16xf32>
    gpu.return
  }
}
