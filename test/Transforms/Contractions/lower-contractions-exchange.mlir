// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-contractions{assume-alignment=16},canonicalize,cse)' | FileCheck %s
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-contractions,canonicalize,cse)' | FileCheck %s --check-prefix=UNALIGNED

// Lanes exchange halves of what they have of a result of 16 bits, so that each stores 8 bytes.

// UNALIGNED-NOT: gpu.shuffle

#wg = #gpu.address_space<workgroup>
#own = #gpu.address_space<private>
#ij = affine_map<(i, j) -> (i, j)>

gpu.module @kernels {
  // Two runs of two columns, eight apart, of each row: of the first the odd lane needs what the even one has, of the
  // second the even one what the odd one has.
  // CHECK-LABEL: gpu.func @stored
  // CHECK:         %[[LOW:.+]] = arith.truncf %{{.+}} : vector<2xf32> to vector<2xf16>
  // CHECK:         %[[HIGH:.+]] = arith.truncf %{{.+}} : vector<2xf32> to vector<2xf16>
  // CHECK:         %[[PARITY:.+]] = arith.remui %{{.+}}, %c2 : index
  // CHECK-NEXT:    %[[ODD:.+]] = arith.cmpi eq, %[[PARITY]], %c1
  // CHECK:         %[[LOW_BITS:.+]] = vector.bitcast %[[LOW]] : vector<2xf16> to vector<1xi32>
  // CHECK:         %[[LOW_WORD:.+]] = vector.extract %[[LOW_BITS]][0]
  // CHECK:         %[[HIGH_BITS:.+]] = vector.bitcast %[[HIGH]] : vector<2xf16> to vector<1xi32>
  // CHECK:         %[[HIGH_WORD:.+]] = vector.extract %[[HIGH_BITS]][0]
  // CHECK:         %[[SENT:.+]] = arith.select %[[ODD]], %[[LOW_WORD]], %[[HIGH_WORD]] : i32
  // CHECK:         %[[GOT:.+]], %{{.+}} = gpu.shuffle {{.*}}xor %[[SENT]], %c1_i32, %c32_i32 : i32
  // CHECK-DAG:     %[[FIRST:.+]] = arith.select %[[ODD]], %[[GOT]], %[[LOW_WORD]] : i32
  // CHECK-DAG:     %[[SECOND:.+]] = arith.select %[[ODD]], %[[HIGH_WORD]], %[[GOT]] : i32
  // CHECK:         %[[WORDS:.+]] = vector.from_elements %[[FIRST]], %[[SECOND]] : vector<2xi32>
  // CHECK:         %[[ROW:.+]] = vector.bitcast %[[WORDS]] : vector<2xi32> to vector<4xf16>
  // CHECK:         %[[SHIFT:.+]] = arith.muli %[[PARITY]], %c6
  // CHECK:         %[[COLUMN:.+]] = arith.addi %{{.+}}, %[[SHIFT]]
  // CHECK:         vector.store %[[ROW]], %{{.+}}[%{{.+}}, %[[COLUMN]]] {alignment = 8 : i64} : memref<64x32xf16>, vector<4xf16>
  // CHECK-COUNT-7: vector.store {{.+}} {alignment = 8 : i64} : memref<64x32xf16>, vector<4xf16>
  // CHECK-NOT:     vector.store
  gpu.func @stored(%c: memref<64x32xf16>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %zero = arith.constant 0.0 : f32
    %x = memref.alloc() : memref<64x32xf16, #wg>
    %y = memref.alloc() : memref<32x32xf16, #wg>
    %sum = memref.alloca() : memref<64x32xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sum : memref<64x32xf32, #own>)
    linalg.matmul ins(%x, %y : memref<64x32xf16, #wg>, memref<32x32xf16, #wg>) outs(%sum : memref<64x32xf32, #own>)
    linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%sum : memref<64x32xf32, #own>) outs(%c : memref<64x32xf16>) {
    ^bb0(%p: f32, %o: f16):
      %0 = arith.truncf %p : f32 to f16
      linalg.yield %0 : f16
    }
    gpu.return
  }

  // What is added may be what other lanes write.
  // CHECK-LABEL: gpu.func @residual
  // CHECK-NOT:     gpu.shuffle
  // CHECK:         vector.store {{.+}} : memref<64x32xf16>, vector<2xf16>
  gpu.func @residual(%other: memref<64x32xf16>, %c: memref<64x32xf16>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %zero = arith.constant 0.0 : f32
    %x = memref.alloc() : memref<64x32xf16, #wg>
    %y = memref.alloc() : memref<32x32xf16, #wg>
    %sum = memref.alloca() : memref<64x32xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sum : memref<64x32xf32, #own>)
    linalg.matmul ins(%x, %y : memref<64x32xf16, #wg>, memref<32x32xf16, #wg>) outs(%sum : memref<64x32xf32, #own>)
    linalg.generic {indexing_maps = [#ij, #ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%sum, %other : memref<64x32xf32, #own>, memref<64x32xf16>) outs(%c : memref<64x32xf16>) {
    ^bb0(%p: f32, %q: f16, %o: f16):
      %0 = arith.truncf %p : f32 to f16
      %1 = arith.addf %0, %q : f16
      linalg.yield %1 : f16
    }
    gpu.return
  }

  // So may what sums begin with.
  // CHECK-LABEL: gpu.func @added
  // CHECK-NOT:     gpu.shuffle
  // CHECK:         vector.store {{.+}} : memref<64x32xf16>, vector<2xf16>
  gpu.func @added(%c: memref<64x32xf16>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %x = memref.alloc() : memref<64x32xf16, #wg>
    %y = memref.alloc() : memref<32x32xf16, #wg>
    %sum = memref.alloca() : memref<64x32xf16, #own>
    memref.copy %c, %sum : memref<64x32xf16> to memref<64x32xf16, #own>
    linalg.matmul ins(%x, %y : memref<64x32xf16, #wg>, memref<32x32xf16, #wg>) outs(%sum : memref<64x32xf16, #own>)
    memref.copy %sum, %c : memref<64x32xf16, #own> to memref<64x32xf16>
    gpu.return
  }

  // Rows of 68 bytes have no eight that are aligned.
  // CHECK-LABEL: gpu.func @rows
  // CHECK-NOT:     gpu.shuffle
  // CHECK:         vector.store {{.+}} {alignment = 4 : i64}
  gpu.func @rows(%all: memref<64x34xf16>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %zero = arith.constant 0.0 : f32
    %c = memref.subview %all[0, 0] [64, 32] [1, 1] : memref<64x34xf16> to memref<64x32xf16, strided<[34, 1]>>
    %x = memref.alloc() : memref<64x32xf16, #wg>
    %y = memref.alloc() : memref<32x32xf16, #wg>
    %sum = memref.alloca() : memref<64x32xf32, #own>
    linalg.fill ins(%zero : f32) outs(%sum : memref<64x32xf32, #own>)
    linalg.matmul ins(%x, %y : memref<64x32xf16, #wg>, memref<32x32xf16, #wg>) outs(%sum : memref<64x32xf32, #own>)
    linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%sum : memref<64x32xf32, #own>) outs(%c : memref<64x32xf16, strided<[34, 1]>>) {
    ^bb0(%p: f32, %o: f16):
      %0 = arith.truncf %p : f32 to f16
      linalg.yield %0 : f16
    }
    gpu.return
  }
}
