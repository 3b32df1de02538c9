// RUN: mlir-opt %s --pass-pipeline='builtin.module(func.func(workgroup-tile-kernel{block=1}))' | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// A sum makes the numbers that it adds up: no row of them is kept. What tells how
// many there are is a tensor that is not read.
// CHECK-LABEL: func.func private @sum(
// CHECK:         %[[LENGTH:.*]] = tensor.empty() : tensor<131072xf32>
// CHECK:         scf.forall
// CHECK:           linalg.yield %{{.*}} : f32
// CHECK:           linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]}
// CHECK-SAME:        ins(%[[LENGTH]] : tensor<131072xf32>)
// CHECK:           ^bb0(%{{.*}}: f32, %[[SUM:.*]]: f32):
// CHECK:             %[[J:.*]] = linalg.index 1 : index
// CHECK:             %[[X:.*]] = arith.sitofp
// CHECK:             arith.addf %[[X]], %[[SUM]]
// CHECK-NOT:       linalg.generic
// CHECK:           scf.forall.in_parallel
func.func private @sum(%out: tensor<128xf32>) -> tensor<128xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x131072xf32>
  %d = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<128x131072xf32>) {
  ^bb0(%o: f32):
    %j = linalg.index 1 : index
    %n = arith.index_cast %j : index to i32
    %x = arith.sitofp %n : i32 to f32
    linalg.yield %x : f32
  } -> tensor<128x131072xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%out : tensor<128xf32>) {
  ^bb0(%o: f32):
    linalg.yield %zero : f32
  } -> tensor<128xf32>
  %r = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%d : tensor<128x131072xf32>) outs(%z : tensor<128xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<128xf32>
  return %r : tensor<128xf32>
}

// Where something else is read along the sum, that tells. Both readers make the
// numbers for themselves.
// CHECK-LABEL: func.func private @scaled(
// CHECK-NOT:     tensor.empty() : tensor<64xi32>
// CHECK:         linalg.generic {{.*}} ["parallel", "reduction"]} ins(%{{.*}} : tensor<1x64xi32>)
// CHECK:           linalg.index 1
// CHECK:         linalg.generic {{.*}} ["parallel", "parallel"]} ins(%{{.*}}, %{{.*}} : tensor<1x64xi32>, tensor<1xi32>)
// CHECK:           linalg.index 1
func.func private @scaled(%a: tensor<8x64xi32>, %out: tensor<8x64xi32>) -> tensor<8x64xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<8x64xi32>
  %d = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<8x64xi32>) {
  ^bb0(%o: i32):
    %j = linalg.index 1 : index
    %n = arith.index_cast %j : index to i32
    linalg.yield %n : i32
  } -> tensor<8x64xi32>
  %f = tensor.empty() : tensor<8xi32>
  %z = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%f : tensor<8xi32>) {
  ^bb0(%o: i32):
    linalg.yield %zero : i32
  } -> tensor<8xi32>
  %s = linalg.generic {indexing_maps = [#id, #id, #row], iterator_types = ["parallel", "reduction"]} ins(%a, %d : tensor<8x64xi32>, tensor<8x64xi32>) outs(%z : tensor<8xi32>) {
  ^bb0(%x: i32, %y: i32, %o: i32):
    %p = arith.xori %x, %y : i32
    %q = arith.addi %p, %o : i32
    linalg.yield %q : i32
  } -> tensor<8xi32>
  %r = linalg.generic {indexing_maps = [#id, #id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%a, %d, %s : tensor<8x64xi32>, tensor<8x64xi32>, tensor<8xi32>) outs(%out : tensor<8x64xi32>) {
  ^bb0(%x: i32, %y: i32, %w: i32, %o: i32):
    %p = arith.addi %x, %y : i32
    %q = arith.addi %p, %w : i32
    linalg.yield %q : i32
  } -> tensor<8x64xi32>
  return %r : tensor<8x64xi32>
}
