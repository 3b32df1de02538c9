// RUN: mlir-opt %s --pass-pipeline='builtin.module(func.func(workgroup-stage-operands{assume-distinct-arguments}))' --mlir-print-local-scope -o %t.once
// RUN: FileCheck %s < %t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(func.func(workgroup-stage-operands{assume-distinct-arguments}))' --mlir-print-local-scope | diff %t.once -

// A loop that changes a result, element by element, before it goes on adding to it, has the
// private buffer all along.

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#across = affine_map<(i, j) -> (j, i)>

// CHECK-LABEL: func.func @scaled(
// CHECK:         %[[ACC:.+]] = memref.alloca() : memref<32x32xf32, #gpu.address_space<private>>
// CHECK:         linalg.fill ins(%{{.+}}) outs(%[[ACC]] :
// CHECK:         scf.for
// CHECK:           linalg.generic {{.+}} ins(%arg2 : {{.+}}) outs(%[[ACC]] :
// CHECK:           %[[A:.+]] = memref.alloc() {{.*}}: memref<32x16xf32, #gpu.address_space<workgroup>>
// CHECK:           %[[B:.+]] = memref.alloc() {{.*}}: memref<16x32xf32, #gpu.address_space<workgroup>>
// CHECK:           scf.for
// CHECK:             memref.copy %{{.+}}, %[[A]]
// CHECK:             memref.copy %{{.+}}, %[[B]]
// CHECK:             linalg.matmul ins(%[[A]], %[[B]] : {{.+}}) outs(%[[ACC]] :
// CHECK:         linalg.generic {{.+}} ins(%[[ACC]] : {{.+}}) outs(%{{.+}} : memref<32x32xf32>)
func.func @scaled(%a: memref<32x64xf32>, %b: memref<64x32xf32>, %f: memref<32xf32>, %c: memref<32x32xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.forall (%t) in (1) {
    %acc = memref.alloc() : memref<32x32xf32>
    linalg.fill ins(%zero : f32) outs(%acc : memref<32x32xf32>)
    scf.for %j = %c0 to %n step %c1 {
      linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]} ins(%f : memref<32xf32>) outs(%acc : memref<32x32xf32>) {
      ^bb0(%p: f32, %o: f32):
        %0 = arith.mulf %o, %p : f32
        linalg.yield %0 : f32
      }
      scf.for %k = %c0 to %c64 step %c16 {
        %x = memref.subview %a[0, %k] [32, 16] [1, 1] : memref<32x64xf32> to memref<32x16xf32, strided<[64, 1], offset: ?>>
        %y = memref.subview %b[%k, 0] [16, 32] [1, 1] : memref<64x32xf32> to memref<16x32xf32, strided<[32, 1], offset: ?>>
        linalg.matmul ins(%x, %y : memref<32x16xf32, strided<[64, 1], offset: ?>>, memref<16x32xf32, strided<[32, 1], offset: ?>>) outs(%acc : memref<32x32xf32>)
      }
    }
    linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%acc : memref<32x32xf32>) outs(%c : memref<32x32xf32>) {
    ^bb0(%p: f32, %o: f32):
      %0 = arith.addf %p, %p : f32
      linalg.yield %0 : f32
    }
  } {mapping = [#gpu.block<x>]}
  return
}

// What reads the result in another order finds it in memory after each sum.
// CHECK-LABEL: func.func @read(
// CHECK:         scf.for
// CHECK:           %[[ACC:.+]] = memref.alloca()
// CHECK:           memref.copy %{{.+}}, %[[ACC]]
// CHECK:           linalg.matmul {{.+}} outs(%[[ACC]] :
// CHECK:           memref.copy %[[ACC]],
func.func @read(%a: memref<32x16xf32>, %b: memref<16x32xf32>, %c: memref<32x32xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.forall (%t) in (1) {
    %acc = memref.alloc() : memref<32x32xf32>
    linalg.fill ins(%zero : f32) outs(%acc : memref<32x32xf32>)
    scf.for %j = %c0 to %n step %c1 {
      linalg.generic {indexing_maps = [#across, #id], iterator_types = ["parallel", "parallel"]} ins(%acc : memref<32x32xf32>) outs(%c : memref<32x32xf32>) {
      ^bb0(%p: f32, %o: f32):
        linalg.yield %p : f32
      }
      linalg.matmul ins(%a, %b : memref<32x16xf32>, memref<16x32xf32>) outs(%acc : memref<32x32xf32>)
    }
  } {mapping = [#gpu.block<x>]}
  return
}
