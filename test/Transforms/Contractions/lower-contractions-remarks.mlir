// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-contractions)' --remarks-filter='workgroup.*' --remark-format=emitRemark --verify-diagnostics -o %t
// RUN: FileCheck %s --input-file=%t

// Which contractions are shared out and which are left to each thread, and why.

// CHECK-COUNT-9: linalg.{{(batch_)?}}matmul
// CHECK-NOT:     {{(batch_)?}}matmul

#wg = #gpu.address_space<workgroup>
#own = #gpu.address_space<private>

gpu.module @kernels {
  gpu.func @shared(%c: memref<16x16xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %zero = arith.constant 0.0 : f32
    %x = memref.alloc() : memref<16x16xf32, #wg>
    %y = memref.alloc() : memref<16x16xf32, #wg>
    %sum = memref.alloca() : memref<16x16xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sum : memref<16x16xf32, #own>)
    // expected-remark @+1 {{[Passed] LoweredContraction | Category:workgroup-lower-contractions | Function=shared | Remark="contraction of tiles shared out to threads", Thread=2x4, Threads=32, Tile=16x16x16}}
    linalg.matmul ins(%x, %y : memref<16x16xf32, #wg>, memref<16x16xf32, #wg>) outs(%sum : memref<16x16xf32, #own>)
    memref.copy %sum, %c : memref<16x16xf32, #own> to memref<16x16xf32>
    gpu.return
  }
  gpu.func @not_filled(%c: memref<16x16xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %zero = arith.constant 0.0 : f32
    %x = memref.alloc() : memref<16x16xf32, #wg>
    %y = memref.alloc() : memref<16x16xf32, #wg>
    %sum = memref.alloca() : memref<16x16xf32, #own>
    // expected-remark @+1 {{[Missed] NotShared | Category:workgroup-lower-contractions | Function=not_filled | Reason="nothing fills its accumulator", Remark="contraction that each thread does all of"}}
    linalg.matmul ins(%x, %y : memref<16x16xf32, #wg>, memref<16x16xf32, #wg>) outs(%sum : memref<16x16xf32, #own>)
    memref.copy %sum, %c : memref<16x16xf32, #own> to memref<16x16xf32>
    gpu.return
  }
  gpu.func @filled_twice(%c: memref<16x16xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %zero = arith.constant 0.0 : f32
    %x = memref.alloc() : memref<16x16xf32, #wg>
    %y = memref.alloc() : memref<16x16xf32, #wg>
    %sum = memref.alloca() : memref<16x16xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sum : memref<16x16xf32, #own>)
    linalg.fill ins(%zero : f32) outs(%sum : memref<16x16xf32, #own>)
    // expected-remark @+1 {{linalg.fill once more fills its accumulator}}
    linalg.matmul ins(%x, %y : memref<16x16xf32, #wg>, memref<16x16xf32, #wg>) outs(%sum : memref<16x16xf32, #own>)
    memref.copy %sum, %c : memref<16x16xf32, #own> to memref<16x16xf32>
    gpu.return
  }
  gpu.func @loaded(%c: memref<16x16xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %zero = arith.constant 0.0 : f32
    %x = memref.alloc() : memref<16x16xf32, #wg>
    %y = memref.alloc() : memref<16x16xf32, #wg>
    %sum = memref.alloca() : memref<16x16xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sum : memref<16x16xf32, #own>)
    // expected-remark @+1 {{memref.load does more than element-wise work with its accumulator}}
    linalg.matmul ins(%x, %y : memref<16x16xf32, #wg>, memref<16x16xf32, #wg>) outs(%sum : memref<16x16xf32, #own>)
    %v = memref.load %sum[%c0, %c0] : memref<16x16xf32, #own>
    memref.store %v, %c[%c0, %c0] : memref<16x16xf32>

    gpu.return
  }
  gpu.func @read_in_loop(%c: memref<16x16xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %zero = arith.constant 0.0 : f32
    %x = memref.alloc() : memref<16x16xf32, #wg>
    %y = memref.alloc() : memref<16x16xf32, #wg>
    %sum = memref.alloca() : memref<16x16xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sum : memref<16x16xf32, #own>)
    scf.for %k = %c0 to %c4 step %c1 {
      // expected-remark @+1 {{memref.copy stands in another block and uses its accumulator}}
      linalg.matmul ins(%x, %y : memref<16x16xf32, #wg>, memref<16x16xf32, #wg>) outs(%sum : memref<16x16xf32, #own>)
      memref.copy %sum, %c : memref<16x16xf32, #own> to memref<16x16xf32>
    }
    gpu.return
  }
  gpu.func @filled_in_the_end(%c: memref<16x16xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %zero = arith.constant 0.0 : f32
    %x = memref.alloc() : memref<16x16xf32, #wg>
    %y = memref.alloc() : memref<16x16xf32, #wg>
    %sum = memref.alloca() : memref<16x16xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sum : memref<16x16xf32, #own>)
    // expected-remark @+1 {{linalg.fill writes again its accumulator}}
    linalg.matmul ins(%x, %y : memref<16x16xf32, #wg>, memref<16x16xf32, #wg>) outs(%sum : memref<16x16xf32, #own>)
    memref.copy %sum, %c : memref<16x16xf32, #own> to memref<16x16xf32>
    linalg.fill ins(%zero : f32) outs(%sum : memref<16x16xf32, #own>)

    gpu.return
  }
  gpu.func @divergent(%c: memref<16x16xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %zero = arith.constant 0.0 : f32
    %x = memref.alloc() : memref<16x16xf32, #wg>
    %y = memref.alloc() : memref<16x16xf32, #wg>
    %sum = memref.alloca() : memref<16x16xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sum : memref<16x16xf32, #own>)
    %id = gpu.thread_id x
    %some = arith.cmpi ult, %id, %c4 : index
    scf.if %some {
      // expected-remark @+1 {{it stands in scf.if, which is no loop over its sums}}
      linalg.matmul ins(%x, %y : memref<16x16xf32, #wg>, memref<16x16xf32, #wg>) outs(%sum : memref<16x16xf32, #own>)
    }
    memref.copy %sum, %c : memref<16x16xf32, #own> to memref<16x16xf32>
    gpu.return
  }
  gpu.func @differs(%c: memref<16x16xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %zero = arith.constant 0.0 : f32
    %x = memref.alloc() : memref<16x16xf32, #wg>
    %y = memref.alloc() : memref<16x16xf32, #wg>
    %sum = memref.alloca() : memref<16x16xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sum : memref<16x16xf32, #own>)
    %id = gpu.thread_id x
    scf.for %k = %c0 to %id step %c1 {
      // expected-remark @+1 {{not all threads of the block execute its linalg.matmul together}}
      linalg.matmul ins(%x, %y : memref<16x16xf32, #wg>, memref<16x16xf32, #wg>) outs(%sum : memref<16x16xf32, #own>)
    }
    memref.copy %sum, %c : memref<16x16xf32, #own> to memref<16x16xf32>
    gpu.return
  }
  gpu.func @other_output(%c: memref<16x16xf32>, %d: memref<32x16x16xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %zero = arith.constant 0.0 : f32
    %x = memref.alloc() : memref<16x16xf32, #wg>
    %y = memref.alloc() : memref<16x16xf32, #wg>
    %sum = memref.alloca() : memref<16x16xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sum : memref<16x16xf32, #own>)
    %id = gpu.thread_id x
    %at = memref.subview %d[%id, 0, 0] [1, 16, 16] [1, 1, 1] : memref<32x16x16xf32> to memref<16x16xf32, strided<[16, 1], offset: ?>>
    // expected-remark @+1 {{operands of its memref.copy differ between threads}}
    linalg.matmul ins(%x, %y : memref<16x16xf32, #wg>, memref<16x16xf32, #wg>) outs(%sum : memref<16x16xf32, #own>)
    memref.copy %sum, %at : memref<16x16xf32, #own> to memref<16x16xf32, strided<[16, 1], offset: ?>>
    gpu.return
  }
  gpu.func @batch(%c: memref<2x16x16xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %zero = arith.constant 0.0 : f32
    %x = memref.alloc() : memref<2x16x16xf32, #wg>
    %y = memref.alloc() : memref<2x16x16xf32, #wg>
    %sum = memref.alloca() : memref<2x16x16xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sum : memref<2x16x16xf32, #own>)
    // expected-remark @+1 {{its loop 0 of 2 iterations is one of both operands}}
    linalg.batch_matmul ins(%x, %y : memref<2x16x16xf32, #wg>, memref<2x16x16xf32, #wg>) outs(%sum : memref<2x16x16xf32, #own>)
    memref.copy %sum, %c : memref<2x16x16xf32, #own> to memref<2x16x16xf32>
    gpu.return
  }
}
