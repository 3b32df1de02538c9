// RUN: mlir-opt %s --pass-pipeline='builtin.module(func.func(workgroup-stage-operands{assume-distinct-arguments}))' --mlir-print-local-scope -o %t.once
// RUN: FileCheck %s < %t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(func.func(workgroup-stage-operands{assume-distinct-arguments}))' --mlir-print-local-scope | diff %t.once -

// What a block keeps of one contraction for another one is stored in whole tiles, and read from
// where it is. A second run changes nothing.

#id = affine_map<(i, j) -> (i, j)>

// Of 10 rows of 40, there is room for 16 of 64, and 16 more that keep neighbours apart. The second
// contraction has 48 sums, of which 8 are zeros.
// CHECK-LABEL: func.func private @chain(
// CHECK:         scf.forall
// CHECK:           %[[KEPT:.+]] = memref.alloc() : memref<16x80xf32>
// CHECK:           %[[ROWS:.+]] = memref.subview %[[KEPT]][0, 0] [10, 40] [1, 1]
// CHECK:           %[[SUM:.+]] = memref.alloca() : memref<16x64xf32, #gpu.address_space<private>>
// CHECK:           linalg.fill ins(%{{.+}} : f32) outs(%[[SUM]] :
// CHECK:           %[[TILE:.+]] = memref.subview %[[KEPT]][0, 0] [16, 64] [1, 1]
// CHECK:           scf.for
// CHECK:             linalg.matmul {{.+}} outs(%[[SUM]] :
// CHECK:           memref.copy %[[SUM]], %[[TILE]]
// CHECK-NEXT:      linalg.exp ins(%[[ROWS]] : {{.+}}) outs(%[[ROWS]] :
// CHECK:           %[[REST:.+]] = memref.subview %[[KEPT]][0, 40] [16, 8] [1, 1]
// CHECK:           linalg.fill ins(%{{.+}} : f32) outs(%[[REST]] :
// CHECK:           scf.for %[[K:.+]] =
// CHECK:             %[[LHS:.+]] = memref.subview %[[KEPT]][0, %[[K]]] [16, 16] [1, 1]
// CHECK:             memref.copy
// CHECK:             linalg.matmul ins(%[[LHS]], %{{.+}} : {{.+}}) outs(%{{.+}} : memref<16x32xf32, #gpu.address_space<private>>)
// CHECK:           memref.copy
func.func private @chain(%a: memref<10x32xf32>, %b: memref<32x40xf32>, %c: memref<40x32xf32>, %d: memref<10x32xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c40 = arith.constant 40 : index
  scf.forall (%i) in (1) {
    %rows = memref.alloc() : memref<10x40xf32>
    linalg.fill ins(%zero : f32) outs(%rows : memref<10x40xf32>)
    scf.for %k = %c0 to %c32 step %c16 {
      %0 = memref.subview %a[0, %k] [10, 16] [1, 1] : memref<10x32xf32> to memref<10x16xf32, strided<[32, 1], offset: ?>>
      %1 = memref.subview %b[%k, 0] [16, 40] [1, 1] : memref<32x40xf32> to memref<16x40xf32, strided<[40, 1], offset: ?>>
      linalg.matmul ins(%0, %1 : memref<10x16xf32, strided<[32, 1], offset: ?>>, memref<16x40xf32, strided<[40, 1], offset: ?>>) outs(%rows : memref<10x40xf32>)
    }
    linalg.exp ins(%rows : memref<10x40xf32>) outs(%rows : memref<10x40xf32>)
    linalg.fill ins(%zero : f32) outs(%d : memref<10x32xf32>)
    scf.for %k = %c0 to %c40 step %c16 {
      %n = affine.min affine_map<(d0) -> (-d0 + 40, 16)>(%k)
      %0 = memref.subview %rows[0, %k] [10, %n] [1, 1] : memref<10x40xf32> to memref<10x?xf32, strided<[40, 1], offset: ?>>
      %1 = memref.subview %c[%k, 0] [%n, 32] [1, 1] : memref<40x32xf32> to memref<?x32xf32, strided<[32, 1], offset: ?>>
      linalg.matmul ins(%0, %1 : memref<10x?xf32, strided<[40, 1], offset: ?>>, memref<?x32xf32, strided<[32, 1], offset: ?>>) outs(%d : memref<10x32xf32>)
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// Nobody has written the rows past the tenth: they are copied.
// CHECK-LABEL: func.func private @unwritten(
// CHECK:         %[[KEPT:.+]] = memref.alloc() : memref<10x16xf32>
// CHECK:         linalg.exp ins(%arg0 : {{.+}}) outs(%[[KEPT]] :
// CHECK:         %[[LHS:.+]] = memref.alloc() {alignment = 16 : i64} : memref<16x16xf32, #gpu.address_space<workgroup>>
// CHECK:         memref.copy %[[KEPT]],
// CHECK:         linalg.matmul ins(%[[LHS]],
func.func private @unwritten(%a: memref<10x16xf32>, %c: memref<16x32xf32>, %d: memref<10x32xf32>) {
  %zero = arith.constant 0.0 : f32
  scf.forall (%i) in (1) {
    %rows = memref.alloc() : memref<10x16xf32>
    linalg.exp ins(%a : memref<10x16xf32>) outs(%rows : memref<10x16xf32>)
    linalg.fill ins(%zero : f32) outs(%d : memref<10x32xf32>)
    linalg.matmul ins(%rows, %c : memref<10x16xf32>, memref<16x32xf32>) outs(%d : memref<10x32xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}
