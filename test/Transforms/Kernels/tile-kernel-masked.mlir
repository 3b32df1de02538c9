// RUN: mlir-opt %s --pass-pipeline='builtin.module(func.func(workgroup-tile-kernel{block=16 stream=32 skip-masked=true}))' --mlir-print-local-scope -o %t.once
// RUN: FileCheck %s < %t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(func.func(workgroup-tile-kernel{block=16 stream=32 skip-masked=true}))' --mlir-print-local-scope | diff %t.once -
// RUN: mlir-opt %s --pass-pipeline='builtin.module(func.func(workgroup-tile-kernel{block=16 stream=32}))' --mlir-print-local-scope | FileCheck %s --check-prefix=EXACT

// The loop over columns ends behind the last that a row of the block sees, and starts, of a
// window, at the step that has the first.

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// CHECK-LABEL: func.func private @causal(
// CHECK:         scf.forall (%[[I:.+]]) =
// CHECK:           %[[END:.+]] = affine.min affine_map<()[s0] -> (96, s0 + 16)>()[%[[I]]]
// CHECK:           scf.for %{{.+}} = %c0 to %[[END]] step
// EXACT-LABEL: func.func private @causal(
// EXACT:         scf.for %{{.+}} = %c0 to %c96 step
func.func private @causal(%x: tensor<48x40xf32>, %v: tensor<40x96xf32>, %w: tensor<96x64xf32>, %o: tensor<48x64xf32>) -> tensor<48x64xf32> {
  %cst = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %c20 = arith.constant 20 : index
  %e = tensor.empty() : tensor<48x96xf32>
  %g = tensor.empty() : tensor<48xf32>
  %z = linalg.fill ins(%cst : f32) outs(%e : tensor<48x96xf32>) -> tensor<48x96xf32>
  %y = linalg.fill ins(%cst : f32) outs(%o : tensor<48x64xf32>) -> tensor<48x64xf32>
  %t = linalg.fill ins(%cst : f32) outs(%g : tensor<48xf32>) -> tensor<48xf32>
  %u = linalg.fill ins(%least : f32) outs(%g : tensor<48xf32>) -> tensor<48xf32>
  %0 = linalg.matmul ins(%x, %v : tensor<48x40xf32>, tensor<40x96xf32>) outs(%z : tensor<48x96xf32>) -> tensor<48x96xf32>
  %m = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<48x96xf32>) outs(%e : tensor<48x96xf32>) {
  ^bb0(%p: f32, %r: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c = arith.cmpi sgt, %j, %i : index
    %s = arith.select %c, %least, %p : f32
    linalg.yield %s : f32
  } -> tensor<48x96xf32>
  %1 = linalg.reduce { arith.maximumf } ins(%m : tensor<48x96xf32>) outs(%u : tensor<48xf32>) dimensions = [1]
  %2 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%m, %1 : tensor<48x96xf32>, tensor<48xf32>) outs(%e : tensor<48x96xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32):
    %6 = arith.subf %p, %q : f32
    %7 = math.exp %6 : f32
    linalg.yield %7 : f32
  } -> tensor<48x96xf32>
  %3 = linalg.reduce { arith.addf } ins(%2 : tensor<48x96xf32>) outs(%t : tensor<48xf32>) dimensions = [1]
  %4 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%2, %3 : tensor<48x96xf32>, tensor<48xf32>) outs(%e : tensor<48x96xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32):
    %6 = arith.divf %p, %q : f32
    linalg.yield %6 : f32
  } -> tensor<48x96xf32>
  %5 = linalg.matmul ins(%4, %w : tensor<48x96xf32>, tensor<96x64xf32>) outs(%y : tensor<48x64xf32>) -> tensor<48x64xf32>
  return %5 : tensor<48x64xf32>
}

// What is compared in 32 bits is the same where it has room there.

// CHECK-LABEL: func.func private @narrow(
// CHECK:         scf.forall (%[[I:.+]]) =
// CHECK-NOT:       arith.select
// CHECK:           %[[END:.+]] = affine.min affine_map<()[s0] -> (96, s0 + 16)>()[%[[I]]]
// CHECK-NOT:       arith.select
// CHECK:           scf.for %{{.+}} = %c0 to %[[END]] step
func.func private @narrow(%x: tensor<48x40xf32>, %v: tensor<40x96xf32>, %w: tensor<96x64xf32>, %o: tensor<48x64xf32>) -> tensor<48x64xf32> {
  %cst = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %c20 = arith.constant 20 : index
  %e = tensor.empty() : tensor<48x96xf32>
  %g = tensor.empty() : tensor<48xf32>
  %z = linalg.fill ins(%cst : f32) outs(%e : tensor<48x96xf32>) -> tensor<48x96xf32>
  %y = linalg.fill ins(%cst : f32) outs(%o : tensor<48x64xf32>) -> tensor<48x64xf32>
  %t = linalg.fill ins(%cst : f32) outs(%g : tensor<48xf32>) -> tensor<48xf32>
  %u = linalg.fill ins(%least : f32) outs(%g : tensor<48xf32>) -> tensor<48xf32>
  %0 = linalg.matmul ins(%x, %v : tensor<48x40xf32>, tensor<40x96xf32>) outs(%z : tensor<48x96xf32>) -> tensor<48x96xf32>
  %m = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<48x96xf32>) outs(%e : tensor<48x96xf32>) {
  ^bb0(%p: f32, %r: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %i32 = arith.index_cast %i : index to i32
    %j32 = arith.index_cast %j : index to i32
    %c = arith.cmpi slt, %i32, %j32 : i32
    %s = arith.select %c, %least, %p : f32
    linalg.yield %s : f32
  } -> tensor<48x96xf32>
  %1 = linalg.reduce { arith.maximumf } ins(%m : tensor<48x96xf32>) outs(%u : tensor<48xf32>) dimensions = [1]
  %2 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%m, %1 : tensor<48x96xf32>, tensor<48xf32>) outs(%e : tensor<48x96xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32):
    %6 = arith.subf %p, %q : f32
    %7 = math.exp %6 : f32
    linalg.yield %7 : f32
  } -> tensor<48x96xf32>
  %3 = linalg.reduce { arith.addf } ins(%2 : tensor<48x96xf32>) outs(%t : tensor<48xf32>) dimensions = [1]
  %4 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%2, %3 : tensor<48x96xf32>, tensor<48xf32>) outs(%e : tensor<48x96xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32):
    %6 = arith.divf %p, %q : f32
    linalg.yield %6 : f32
  } -> tensor<48x96xf32>
  %5 = linalg.matmul ins(%4, %w : tensor<48x96xf32>, tensor<96x64xf32>) outs(%y : tensor<48x64xf32>) -> tensor<48x64xf32>
  return %5 : tensor<48x64xf32>
}

// Of more columns than 2^31, those beyond would be less than all rows.

// CHECK-LABEL: func.func private @narrow_dynamic(
// CHECK:         scf.forall (%[[I:.+]]) =
// CHECK-DAG:       %[[END:.+]] = affine.min affine_map<()[s0, s1] -> (s{{[01]}}, s{{[01]}} + 16)>()
// CHECK-DAG:       %[[LAST:.+]] = affine.apply affine_map<()[s0] -> (s0 - 1)>()
// CHECK:           %[[ROOM:.+]] = arith.cmpi sle, %[[LAST]], %c2147483647
// CHECK:           %[[ALL:.+]] = arith.select %[[ROOM]], %[[END]], %{{.+}} : index
// CHECK:           scf.for %{{.+}} = %{{.+}} to %[[ALL]] step
func.func private @narrow_dynamic(%x: tensor<48x40xf32>, %v: tensor<40x?xf32>, %w: tensor<?x64xf32>, %o: tensor<48x64xf32>) -> tensor<48x64xf32> {
  %cst = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %c20 = arith.constant 20 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %v, %c1 : tensor<40x?xf32>
  %e = tensor.empty(%n) : tensor<48x?xf32>
  %g = tensor.empty() : tensor<48xf32>
  %z = linalg.fill ins(%cst : f32) outs(%e : tensor<48x?xf32>) -> tensor<48x?xf32>
  %y = linalg.fill ins(%cst : f32) outs(%o : tensor<48x64xf32>) -> tensor<48x64xf32>
  %t = linalg.fill ins(%cst : f32) outs(%g : tensor<48xf32>) -> tensor<48xf32>
  %u = linalg.fill ins(%least : f32) outs(%g : tensor<48xf32>) -> tensor<48xf32>
  %0 = linalg.matmul ins(%x, %v : tensor<48x40xf32>, tensor<40x?xf32>) outs(%z : tensor<48x?xf32>) -> tensor<48x?xf32>
  %m = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<48x?xf32>) outs(%e : tensor<48x?xf32>) {
  ^bb0(%p: f32, %r: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %i32 = arith.index_cast %i : index to i32
    %j32 = arith.index_cast %j : index to i32
    %c = arith.cmpi slt, %i32, %j32 : i32
    %s = arith.select %c, %least, %p : f32
    linalg.yield %s : f32
  } -> tensor<48x?xf32>
  %1 = linalg.reduce { arith.maximumf } ins(%m : tensor<48x?xf32>) outs(%u : tensor<48xf32>) dimensions = [1]
  %2 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%m, %1 : tensor<48x?xf32>, tensor<48xf32>) outs(%e : tensor<48x?xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32):
    %6 = arith.subf %p, %q : f32
    %7 = math.exp %6 : f32
    linalg.yield %7 : f32
  } -> tensor<48x?xf32>
  %3 = linalg.reduce { arith.addf } ins(%2 : tensor<48x?xf32>) outs(%t : tensor<48xf32>) dimensions = [1]
  %4 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%2, %3 : tensor<48x?xf32>, tensor<48xf32>) outs(%e : tensor<48x?xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32):
    %6 = arith.divf %p, %q : f32
    linalg.yield %6 : f32
  } -> tensor<48x?xf32>
  %5 = linalg.matmul ins(%4, %w : tensor<48x?xf32>, tensor<?x64xf32>) outs(%y : tensor<48x64xf32>) -> tensor<48x64xf32>
  return %5 : tensor<48x64xf32>
}

// Sums that wrap on the way do no harm where the last one has room; what is extended has to.

// CHECK-LABEL: func.func private @wrapping(
// CHECK:         scf.forall (%[[I:.+]]) =
// CHECK:           %[[FAR:.+]] = affine.apply affine_map<()[s0] -> (s0 + 2147483635)>()[%[[I]]]
// CHECK:           arith.cmpi sle, %[[FAR]], %c2147483647
// CHECK:           arith.select
func.func private @wrapping(%x: tensor<48x40xf32>, %v: tensor<40x96xf32>, %w: tensor<96x64xf32>, %o: tensor<48x64xf32>) -> tensor<48x64xf32> {
  %cst = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %c20 = arith.constant 20 : index
  %e = tensor.empty() : tensor<48x96xf32>
  %g = tensor.empty() : tensor<48xf32>
  %z = linalg.fill ins(%cst : f32) outs(%e : tensor<48x96xf32>) -> tensor<48x96xf32>
  %y = linalg.fill ins(%cst : f32) outs(%o : tensor<48x64xf32>) -> tensor<48x64xf32>
  %t = linalg.fill ins(%cst : f32) outs(%g : tensor<48xf32>) -> tensor<48xf32>
  %u = linalg.fill ins(%least : f32) outs(%g : tensor<48xf32>) -> tensor<48xf32>
  %0 = linalg.matmul ins(%x, %v : tensor<48x40xf32>, tensor<40x96xf32>) outs(%z : tensor<48x96xf32>) -> tensor<48x96xf32>
  %m = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<48x96xf32>) outs(%e : tensor<48x96xf32>) {
  ^bb0(%p: f32, %r: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %i32 = arith.index_cast %i : index to i32
    %j32 = arith.index_cast %j : index to i32
    %far = arith.constant 2147483620 : i32
    %last = arith.addi %i32, %far : i32
    %less = arith.constant 2147483600 : i32
    %end = arith.subi %last, %less : i32
    %wide = arith.extsi %last : i32 to i64
    %wide_j = arith.extsi %j32 : i32 to i64
    %d = arith.cmpi sgt, %j32, %end : i32
    %b = arith.cmpi sgt, %wide_j, %wide : i64
    %c = arith.ori %d, %b : i1
    %s = arith.select %c, %least, %p : f32
    linalg.yield %s : f32
  } -> tensor<48x96xf32>
  %1 = linalg.reduce { arith.maximumf } ins(%m : tensor<48x96xf32>) outs(%u : tensor<48xf32>) dimensions = [1]
  %2 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%m, %1 : tensor<48x96xf32>, tensor<48xf32>) outs(%e : tensor<48x96xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32):
    %6 = arith.subf %p, %q : f32
    %7 = math.exp %6 : f32
    linalg.yield %7 : f32
  } -> tensor<48x96xf32>
  %3 = linalg.reduce { arith.addf } ins(%2 : tensor<48x96xf32>) outs(%t : tensor<48xf32>) dimensions = [1]
  %4 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%2, %3 : tensor<48x96xf32>, tensor<48xf32>) outs(%e : tensor<48x96xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32):
    %6 = arith.divf %p, %q : f32
    linalg.yield %6 : f32
  } -> tensor<48x96xf32>
  %5 = linalg.matmul ins(%4, %w : tensor<48x96xf32>, tensor<96x64xf32>) outs(%y : tensor<48x64xf32>) -> tensor<48x64xf32>
  return %5 : tensor<48x64xf32>
}

// CHECK-LABEL: func.func private @window(
// CHECK:         scf.forall (%[[I:.+]]) =
// CHECK-DAG:       %[[FIRST:.+]] = affine.max affine_map<()[s0] -> (0, ((s0 - 20) floordiv 32) * 32)>()[%[[I]]]
// CHECK-DAG:       %[[END:.+]] = affine.min affine_map<()[s0] -> (96, s0 + 16)>()[%[[I]]]
// CHECK:           scf.for %{{.+}} = %[[FIRST]] to %[[END]] step
// EXACT-LABEL: func.func private @window(
// EXACT:         scf.for %{{.+}} = %c0 to %c96 step
func.func private @window(%x: tensor<48x40xf32>, %v: tensor<40x96xf32>, %w: tensor<96x64xf32>, %o: tensor<48x64xf32>) -> tensor<48x64xf32> {
  %cst = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %c20 = arith.constant 20 : index
  %e = tensor.empty() : tensor<48x96xf32>
  %g = tensor.empty() : tensor<48xf32>
  %z = linalg.fill ins(%cst : f32) outs(%e : tensor<48x96xf32>) -> tensor<48x96xf32>
  %y = linalg.fill ins(%cst : f32) outs(%o : tensor<48x64xf32>) -> tensor<48x64xf32>
  %t = linalg.fill ins(%cst : f32) outs(%g : tensor<48xf32>) -> tensor<48xf32>
  %u = linalg.fill ins(%least : f32) outs(%g : tensor<48xf32>) -> tensor<48xf32>
  %0 = linalg.matmul ins(%x, %v : tensor<48x40xf32>, tensor<40x96xf32>) outs(%z : tensor<48x96xf32>) -> tensor<48x96xf32>
  %m = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<48x96xf32>) outs(%e : tensor<48x96xf32>) {
  ^bb0(%p: f32, %r: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %f = arith.addi %j, %c20 : index
    %a = arith.cmpi sge, %f, %i : index
    %b = arith.cmpi sle, %j, %i : index
    %c = arith.andi %a, %b : i1
    %s = arith.select %c, %p, %least : f32
    linalg.yield %s : f32
  } -> tensor<48x96xf32>
  %1 = linalg.reduce { arith.maximumf } ins(%m : tensor<48x96xf32>) outs(%u : tensor<48xf32>) dimensions = [1]
  %2 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%m, %1 : tensor<48x96xf32>, tensor<48xf32>) outs(%e : tensor<48x96xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32):
    %6 = arith.subf %p, %q : f32
    %7 = math.exp %6 : f32
    linalg.yield %7 : f32
  } -> tensor<48x96xf32>
  %3 = linalg.reduce { arith.addf } ins(%2 : tensor<48x96xf32>) outs(%t : tensor<48xf32>) dimensions = [1]
  %4 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%2, %3 : tensor<48x96xf32>, tensor<48xf32>) outs(%e : tensor<48x96xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32):
    %6 = arith.divf %p, %q : f32
    linalg.yield %6 : f32
  } -> tensor<48x96xf32>
  %5 = linalg.matmul ins(%4, %w : tensor<48x96xf32>, tensor<96x64xf32>) outs(%y : tensor<48x64xf32>) -> tensor<48x64xf32>
  return %5 : tensor<48x64xf32>
}

// A large number is no infinity: rows of which all is hidden have the mean of the values.

// CHECK-LABEL: func.func private @finite(
// CHECK:         scf.for %{{.+}} = %c0 to %c96 step
func.func private @finite(%x: tensor<48x40xf32>, %v: tensor<40x96xf32>, %w: tensor<96x64xf32>, %o: tensor<48x64xf32>) -> tensor<48x64xf32> {
  %cst = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %c20 = arith.constant 20 : index
  %e = tensor.empty() : tensor<48x96xf32>
  %g = tensor.empty() : tensor<48xf32>
  %z = linalg.fill ins(%cst : f32) outs(%e : tensor<48x96xf32>) -> tensor<48x96xf32>
  %y = linalg.fill ins(%cst : f32) outs(%o : tensor<48x64xf32>) -> tensor<48x64xf32>
  %t = linalg.fill ins(%cst : f32) outs(%g : tensor<48xf32>) -> tensor<48xf32>
  %u = linalg.fill ins(%least : f32) outs(%g : tensor<48xf32>) -> tensor<48xf32>
  %0 = linalg.matmul ins(%x, %v : tensor<48x40xf32>, tensor<40x96xf32>) outs(%z : tensor<48x96xf32>) -> tensor<48x96xf32>
  %m = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<48x96xf32>) outs(%e : tensor<48x96xf32>) {
  ^bb0(%p: f32, %r: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %big = arith.constant -1.0e9 : f32
    %c = arith.cmpi sgt, %j, %i : index
    %s = arith.select %c, %big, %p : f32
    linalg.yield %s : f32
  } -> tensor<48x96xf32>
  %1 = linalg.reduce { arith.maximumf } ins(%m : tensor<48x96xf32>) outs(%u : tensor<48xf32>) dimensions = [1]
  %2 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%m, %1 : tensor<48x96xf32>, tensor<48xf32>) outs(%e : tensor<48x96xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32):
    %6 = arith.subf %p, %q : f32
    %7 = math.exp %6 : f32
    linalg.yield %7 : f32
  } -> tensor<48x96xf32>
  %3 = linalg.reduce { arith.addf } ins(%2 : tensor<48x96xf32>) outs(%t : tensor<48xf32>) dimensions = [1]
  %4 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%2, %3 : tensor<48x96xf32>, tensor<48xf32>) outs(%e : tensor<48x96xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32):
    %6 = arith.divf %p, %q : f32
    linalg.yield %6 : f32
  } -> tensor<48x96xf32>
  %5 = linalg.matmul ins(%4, %w : tensor<48x96xf32>, tensor<96x64xf32>) outs(%y : tensor<48x64xf32>) -> tensor<48x64xf32>
  return %5 : tensor<48x64xf32>
}

// What is hidden is no half-plane.

// CHECK-LABEL: func.func private @other(
// CHECK:         scf.for %{{.+}} = %c0 to %c96 step
func.func private @other(%x: tensor<48x40xf32>, %v: tensor<40x96xf32>, %w: tensor<96x64xf32>, %o: tensor<48x64xf32>) -> tensor<48x64xf32> {
  %cst = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %c20 = arith.constant 20 : index
  %e = tensor.empty() : tensor<48x96xf32>
  %g = tensor.empty() : tensor<48xf32>
  %z = linalg.fill ins(%cst : f32) outs(%e : tensor<48x96xf32>) -> tensor<48x96xf32>
  %y = linalg.fill ins(%cst : f32) outs(%o : tensor<48x64xf32>) -> tensor<48x64xf32>
  %t = linalg.fill ins(%cst : f32) outs(%g : tensor<48xf32>) -> tensor<48xf32>
  %u = linalg.fill ins(%least : f32) outs(%g : tensor<48xf32>) -> tensor<48xf32>
  %0 = linalg.matmul ins(%x, %v : tensor<48x40xf32>, tensor<40x96xf32>) outs(%z : tensor<48x96xf32>) -> tensor<48x96xf32>
  %m = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<48x96xf32>) outs(%e : tensor<48x96xf32>) {
  ^bb0(%p: f32, %r: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %d = arith.muli %j, %i : index
    %c = arith.cmpi sgt, %d, %c20 : index
    %s = arith.select %c, %least, %p : f32
    linalg.yield %s : f32
  } -> tensor<48x96xf32>
  %1 = linalg.reduce { arith.maximumf } ins(%m : tensor<48x96xf32>) outs(%u : tensor<48xf32>) dimensions = [1]
  %2 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%m, %1 : tensor<48x96xf32>, tensor<48xf32>) outs(%e : tensor<48x96xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32):
    %6 = arith.subf %p, %q : f32
    %7 = math.exp %6 : f32
    linalg.yield %7 : f32
  } -> tensor<48x96xf32>
  %3 = linalg.reduce { arith.addf } ins(%2 : tensor<48x96xf32>) outs(%t : tensor<48xf32>) dimensions = [1]
  %4 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%2, %3 : tensor<48x96xf32>, tensor<48xf32>) outs(%e : tensor<48x96xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32):
    %6 = arith.divf %p, %q : f32
    linalg.yield %6 : f32
  } -> tensor<48x96xf32>
  %5 = linalg.matmul ins(%4, %w : tensor<48x96xf32>, tensor<96x64xf32>) outs(%y : tensor<48x64xf32>) -> tensor<48x64xf32>
  return %5 : tensor<48x64xf32>
}

// Both have to hold for a score to be hidden.

// CHECK-LABEL: func.func private @either(
// CHECK:         scf.for %{{.+}} = %c0 to %c96 step
func.func private @either(%x: tensor<48x40xf32>, %v: tensor<40x96xf32>, %w: tensor<96x64xf32>, %o: tensor<48x64xf32>) -> tensor<48x64xf32> {
  %cst = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %c20 = arith.constant 20 : index
  %e = tensor.empty() : tensor<48x96xf32>
  %g = tensor.empty() : tensor<48xf32>
  %z = linalg.fill ins(%cst : f32) outs(%e : tensor<48x96xf32>) -> tensor<48x96xf32>
  %y = linalg.fill ins(%cst : f32) outs(%o : tensor<48x64xf32>) -> tensor<48x64xf32>
  %t = linalg.fill ins(%cst : f32) outs(%g : tensor<48xf32>) -> tensor<48xf32>
  %u = linalg.fill ins(%least : f32) outs(%g : tensor<48xf32>) -> tensor<48xf32>
  %0 = linalg.matmul ins(%x, %v : tensor<48x40xf32>, tensor<40x96xf32>) outs(%z : tensor<48x96xf32>) -> tensor<48x96xf32>
  %m = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<48x96xf32>) outs(%e : tensor<48x96xf32>) {
  ^bb0(%p: f32, %r: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %a = arith.cmpi sgt, %j, %i : index
    %b = arith.cmpi slt, %j, %c20 : index
    %c = arith.andi %a, %b : i1
    %s = arith.select %c, %least, %p : f32
    linalg.yield %s : f32
  } -> tensor<48x96xf32>
  %1 = linalg.reduce { arith.maximumf } ins(%m : tensor<48x96xf32>) outs(%u : tensor<48xf32>) dimensions = [1]
  %2 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%m, %1 : tensor<48x96xf32>, tensor<48xf32>) outs(%e : tensor<48x96xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32):
    %6 = arith.subf %p, %q : f32
    %7 = math.exp %6 : f32
    linalg.yield %7 : f32
  } -> tensor<48x96xf32>
  %3 = linalg.reduce { arith.addf } ins(%2 : tensor<48x96xf32>) outs(%t : tensor<48xf32>) dimensions = [1]
  %4 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%2, %3 : tensor<48x96xf32>, tensor<48xf32>) outs(%e : tensor<48x96xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32):
    %6 = arith.divf %p, %q : f32
    linalg.yield %6 : f32
  } -> tensor<48x96xf32>
  %5 = linalg.matmul ins(%4, %w : tensor<48x96xf32>, tensor<96x64xf32>) outs(%y : tensor<48x64xf32>) -> tensor<48x64xf32>
  return %5 : tensor<48x64xf32>
}
