// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-contractions)' --remarks-filter-missed='workgroup.*' --remark-format=emitRemark --verify-diagnostics --mlir-print-local-scope -o %t
// RUN: FileCheck %s --input-file=%t

// What changes a result before each sum is done on registers, through the loop.

#W = #gpu.address_space<workgroup>
#P = #gpu.address_space<private>
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#across = affine_map<(i, j) -> (j, i)>

// CHECK-LABEL: func.func @scaled(
// CHECK:         %[[F:.+]] = memref.alloc() : memref<32xf32, #gpu.address_space<workgroup>>
// CHECK:         %[[SUMS:.+]] = scf.for {{.+}} iter_args(%[[A:[a-z0-9]+]] = %{{[^,]+}}, {{.+}}) -> (vector<4xf32>
// CHECK:           %[[FACTOR:.+]] = memref.load %[[F]]
// CHECK:           %[[WIDE:.+]] = vector.broadcast %[[FACTOR]] : f32 to vector<4xf32>
// CHECK:           %[[SCALED:.+]] = arith.mulf %[[A]], %[[WIDE]] : vector<4xf32>
// CHECK:           vector.fma {{.+}}, %[[SCALED]]
// CHECK:           scf.yield
// CHECK-NOT:     linalg.
// CHECK:         return
func.func @scaled(%c: memref<32x32xf32>, %n: index) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %a = memref.alloc() : memref<32x16xf32, #W>
    %b = memref.alloc() : memref<16x32xf32, #W>
    %f = memref.alloc() : memref<32xf32, #W>
    %acc = memref.alloca() : memref<32x32xf32, #P>
    linalg.fill ins(%zero : f32) outs(%acc : memref<32x32xf32, #P>)
    scf.for %i = %c0 to %n step %c1 {
      linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]} ins(%f : memref<32xf32, #W>) outs(%acc : memref<32x32xf32, #P>) {
      ^bb0(%p: f32, %o: f32):
        %0 = arith.mulf %o, %p : f32
        linalg.yield %0 : f32
      }
      linalg.matmul ins(%a, %b : memref<32x16xf32, #W>, memref<16x32xf32, #W>) outs(%acc : memref<32x32xf32, #P>)
    }
    memref.copy %acc, %c : memref<32x32xf32, #P> to memref<32x32xf32>
    gpu.terminator
  }
  return
}

// Of a part of the buffer: rows that are not there have no factor.
// CHECK-LABEL: func.func @ragged(
// CHECK:         scf.for
// CHECK:           scf.if
// CHECK:             arith.mulf
// CHECK:           } else {
// CHECK:           vector.fma
// CHECK-NOT:     linalg.
// CHECK:         return
func.func @ragged(%c: memref<32x32xf32>, %m: index, %n: index) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %a = memref.alloc() : memref<32x16xf32, #W>
    %b = memref.alloc() : memref<16x32xf32, #W>
    %f = memref.alloc() : memref<32xf32, #W>
    %g = memref.subview %f[0] [%m] [1] : memref<32xf32, #W> to memref<?xf32, strided<[1]>, #W>
    %acc = memref.alloca() : memref<32x32xf32, #P>
    %part = memref.subview %acc[0, 0] [%m, 32] [1, 1] : memref<32x32xf32, #P> to memref<?x32xf32, strided<[32, 1]>, #P>
    linalg.fill ins(%zero : f32) outs(%acc : memref<32x32xf32, #P>)
    scf.for %i = %c0 to %n step %c1 {
      linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]} ins(%g : memref<?xf32, strided<[1]>, #W>) outs(%part : memref<?x32xf32, strided<[32, 1]>, #P>) {
      ^bb0(%p: f32, %o: f32):
        %0 = arith.mulf %o, %p : f32
        linalg.yield %0 : f32
      }
      linalg.matmul ins(%a, %b : memref<32x16xf32, #W>, memref<16x32xf32, #W>) outs(%acc : memref<32x32xf32, #P>)
    }
    memref.copy %acc, %c : memref<32x32xf32, #P> to memref<32x32xf32>
    gpu.terminator
  }
  return
}

// Behind the sum, and of other elements than those that are changed.
// CHECK-LABEL: func.func @others(
// CHECK:         linalg.matmul
// CHECK:         linalg.matmul
func.func @others(%c: memref<32x32xf32>, %n: index) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %a = memref.alloc() : memref<32x16xf32, #W>
    %b = memref.alloc() : memref<16x32xf32, #W>
    %f = memref.alloc() : memref<32xf32, #W>
    %acc = memref.alloca() : memref<32x32xf32, #P>
    %other = memref.alloca() : memref<32x32xf32, #P>
    linalg.fill ins(%zero : f32) outs(%acc : memref<32x32xf32, #P>)
    linalg.fill ins(%zero : f32) outs(%other : memref<32x32xf32, #P>)
    scf.for %i = %c0 to %n step %c1 {
      // expected-remark @+1 {{linalg.generic changes, behind the sum, its accumulator}}
      linalg.matmul ins(%a, %b : memref<32x16xf32, #W>, memref<16x32xf32, #W>) outs(%acc : memref<32x32xf32, #P>)
      linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]} ins(%f : memref<32xf32, #W>) outs(%acc : memref<32x32xf32, #P>) {
      ^bb0(%p: f32, %o: f32):
        %0 = arith.mulf %o, %p : f32
        linalg.yield %0 : f32
      }
      linalg.generic {indexing_maps = [#across, #id], iterator_types = ["parallel", "parallel"]} ins(%other : memref<32x32xf32, #P>) outs(%other : memref<32x32xf32, #P>) {
      ^bb0(%p: f32, %o: f32):
        %0 = arith.mulf %o, %p : f32
        linalg.yield %0 : f32
      }
      // expected-remark @+1 {{linalg.generic stands in another block and uses its accumulator}}
      linalg.matmul ins(%a, %b : memref<32x16xf32, #W>, memref<16x32xf32, #W>) outs(%other : memref<32x32xf32, #P>)
    }
    memref.copy %acc, %c : memref<32x32xf32, #P> to memref<32x32xf32>
    memref.copy %other, %c : memref<32x32xf32, #P> to memref<32x32xf32>
    gpu.terminator
  }
  return
}
