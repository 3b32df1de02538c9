// RUN: mlir-opt %s --pass-pipeline="builtin.module(workgroup-stage-operands{assume-distinct-arguments})" | FileCheck %s
// RUN: mlir-opt %s --pass-pipeline="builtin.module(workgroup-stage-operands)" | FileCheck %s --check-prefix=ALIAS
// RUN: mlir-opt %s --pass-pipeline="builtin.module(workgroup-stage-operands{assume-distinct-arguments max-bytes=4096})" \
// RUN:   | FileCheck %s --check-prefix=SMALL

#id = affine_map<(i, j) -> (i, j)>
#t = affine_map<(i, j) -> (j, i)>
#row = affine_map<(i, j) -> (i)>

// A row that is reduced and read again is copied once; what may be written to is not, nor what is
// too large.
// CHECK-LABEL: func.func @rows
// CHECK: %[[X:.*]] = memref.subview %arg0
// CHECK: %[[W:.*]] = memref.alloc() {alignment = 16 : i64} : memref<1x1000xf32, #gpu.address_space<workgroup>>
// CHECK: memref.copy %[[X]], %[[W]]
// CHECK: linalg.generic {{.*}} ins(%[[W]] :
// CHECK: linalg.generic {{.*}} ins(%[[W]], %{{.*}} :
// ALIAS-LABEL: func.func @rows
// ALIAS-NOT: memref.copy
// ALIAS: return
// SMALL-LABEL: func.func @rows
// SMALL-NOT: memref.copy
// SMALL: return
func.func @rows(%x: memref<64x1000xf32>, %y: memref<64x1000xf32>) {
  scf.forall (%b) in (64) {
    %s = memref.subview %x[%b, 0] [1, 1000] [1, 1] : memref<64x1000xf32> to memref<1x1000xf32, strided<[1000, 1], offset: ?>>
    %t = memref.subview %y[%b, 0] [1, 1000] [1, 1] : memref<64x1000xf32> to memref<1x1000xf32, strided<[1000, 1], offset: ?>>
    %sum = memref.alloc() : memref<1xf32>
    linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
        ins(%s : memref<1x1000xf32, strided<[1000, 1], offset: ?>>) outs(%sum : memref<1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %0 = arith.maximumf %o, %a : f32
      linalg.yield %0 : f32
    }
    linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
        ins(%s, %sum : memref<1x1000xf32, strided<[1000, 1], offset: ?>>, memref<1xf32>)
        outs(%t : memref<1x1000xf32, strided<[1000, 1], offset: ?>>) {
    ^bb0(%a: f32, %m: f32, %o: f32):
      %0 = arith.subf %a, %m : f32
      linalg.yield %0 : f32
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// A ragged tile has the memory of a whole one.
// CHECK-LABEL: func.func @transpose
// CHECK: %[[S:.*]] = memref.subview %arg0
// CHECK: %[[W:.*]] = memref.alloc() {alignment = 16 : i64} : memref<32x32xf32, #gpu.address_space<workgroup>>
// CHECK: %[[P:.*]] = memref.subview %[[W]][0, 0] [32, %{{.*}}] [1, 1]
// CHECK: memref.copy %[[S]], %[[P]]
// CHECK: linalg.generic {{.*}} ins(%[[P]] :
func.func @transpose(%x: memref<64x?xf32>, %y: memref<?x64xf32>, %n: index) {
  scf.forall (%i, %j) = (0, 0) to (%n, 64) step (32, 32) {
    %m = affine.min affine_map<(i)[n] -> (n - i, 32)>(%i)[%n]
    %s = memref.subview %x[%j, %i] [32, %m] [1, 1] : memref<64x?xf32> to memref<32x?xf32, strided<[?, 1], offset: ?>>
    %t = memref.subview %y[%i, %j] [%m, 32] [1, 1] : memref<?x64xf32> to memref<?x32xf32, strided<[64, 1], offset: ?>>
    linalg.generic {indexing_maps = [#t, #id], iterator_types = ["parallel", "parallel"]}
        ins(%s : memref<32x?xf32, strided<[?, 1], offset: ?>>) outs(%t : memref<?x32xf32, strided<[64, 1], offset: ?>>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
    }
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// One that is read once in its order is not, nor one of unknown size.
// CHECK-LABEL: func.func @once
// CHECK-NOT: workgroup
// CHECK: return
func.func @once(%x: memref<64x?xf32>, %y: memref<64x?xf32>, %z: memref<?x64xf32>, %n: index) {
  scf.forall (%b) in (2) {
    %s = memref.subview %x[0, 0] [32, %n] [1, 1] : memref<64x?xf32> to memref<32x?xf32, strided<[?, 1]>>
    %t = memref.subview %y[0, 0] [32, %n] [1, 1] : memref<64x?xf32> to memref<32x?xf32, strided<[?, 1]>>
    linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%s : memref<32x?xf32, strided<[?, 1]>>) outs(%t : memref<32x?xf32, strided<[?, 1]>>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
    }
    %u = memref.subview %z[0, 0] [%n, 32] [1, 1] : memref<?x64xf32> to memref<?x32xf32, strided<[64, 1]>>
    linalg.generic {indexing_maps = [#t, #id], iterator_types = ["parallel", "parallel"]}
        ins(%u : memref<?x32xf32, strided<[64, 1]>>) outs(%t : memref<32x?xf32, strided<[?, 1]>>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}
