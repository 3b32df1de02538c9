// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-normalize-linalg,canonicalize,cse)' --mlir-print-local-scope | FileCheck %s

// Two loops in one dimension become two dimensions of a tensor that is seen as one.
// CHECK-LABEL: func.func @blocks
// CHECK:       %[[R:.+]] = linalg.generic {indexing_maps = [{{.+}}, affine_map<(d0, d1, d2, d3) -> (d0, d2, d1, d3)>]
// CHECK-SAME:  outs(%{{.+}} : tensor<3x2x8x2xf32>)
// CHECK:       tensor.collapse_shape %[[R]] {{\[}}[0, 1], [2, 3]] : tensor<3x2x8x2xf32> into tensor<6x16xf32>
// CHECK-NOT:   tensor.insert_slice
func.func @blocks(%x: tensor<3x8x2x2xf32>) -> tensor<6x16xf32> {
  %e = tensor.empty() : tensor<6x16xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k, l) -> (i, j, k, l)>, affine_map<(i, j, k, l) -> (i * 2 + k, j * 2 + l)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<3x8x2x2xf32>) outs(%e : tensor<6x16xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<6x16xf32>
  return %r : tensor<6x16xf32>
}

// -----

// What is known to be all of a dynamic dimension is not put into anything.
// CHECK-LABEL: func.func @dynamic
// CHECK-NOT:   tensor.insert_slice
// CHECK:       tensor.collapse_shape
// CHECK-NOT:   tensor.insert_slice
func.func @dynamic(%x: tensor<?x4xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %size = arith.muli %n, %c4 : index
  %e = tensor.empty(%size) : tensor<?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i * 4 + j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x4xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

// Every other element, from the second one on: a part, which is put into what there was.
// CHECK-LABEL: func.func @part
// CHECK-SAME:  %[[Y:[^:]+]]: tensor<20xf32>
// CHECK:       %[[R:.+]] = linalg.generic
// CHECK:       tensor.insert_slice %[[R]] into %[[Y]][1] [8] [2]
func.func @part(%x: tensor<8xf32>, %y: tensor<20xf32>) -> tensor<20xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i * 2 + 1)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%y : tensor<20xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.negf %a : f32
    linalg.yield %0 : f32
  } -> tensor<20xf32>
  return %r : tensor<20xf32>
}

// -----

// The elements of a row and their sum.
// CHECK-LABEL: func.func @row
// CHECK-DAG:   linalg.generic {{.+}} iterator_types = ["parallel", "parallel"]
// CHECK-DAG:   linalg.generic {{.+}} iterator_types = ["parallel", "reduction"]
func.func @row(%x: tensor<4x50xf32>, %w: tensor<4xf32>, %p0: tensor<4x50xf32>, %s0: tensor<4xf32>) -> (tensor<4x50xf32>, tensor<4xf32>) {
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                         iterator_types = ["parallel", "reduction"]}
      ins(%x, %w : tensor<4x50xf32>, tensor<4xf32>) outs(%p0, %s0 : tensor<4x50xf32>, tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %p: f32, %s: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %s, %0 : f32
    linalg.yield %0, %1 : f32, f32
  } -> (tensor<4x50xf32>, tensor<4xf32>)
  return %r#0, %r#1 : tensor<4x50xf32>, tensor<4xf32>
}

// -----

// The function goes into the body, and away.
// CHECK-NOT:   @twice
// CHECK-LABEL: func.func @calls
// CHECK:       linalg.generic
// CHECK-NOT:   call
// CHECK:       arith.addi
// CHECK-NOT:   @twice
func.func private @twice(%i: index) -> index {
  %0 = arith.addi %i, %i : index
  return %0 : index
}
func.func @calls() -> tensor<64xindex> {
  %r = tensor.generate {
  ^bb0(%i: index):
    %v = func.call @twice(%i) : (index) -> index
    tensor.yield %v : index
  } : tensor<64xindex>
  return %r : tensor<64xindex>
}
