// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-prepare-bufferization)' -o %t.once
// RUN: FileCheck %s --input-file=%t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-prepare-bufferization)' -o %t.twice
// RUN: diff %t.once %t.twice

!T = tensor<8xf32>

// One tensor twice.
// CHECK-LABEL: func.func @twice(
// CHECK:         %[[X:.*]] = linalg.add
// CHECK-NEXT:    %[[COPY:.*]] = bufferization.alloc_tensor() copy(%[[X]])
// CHECK-NEXT:    scf.yield %[[X]], %[[COPY]]
func.func @twice(%a: !T, %b: !T, %n: index) -> (!T, !T) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%h = %a, %o = %b) -> (!T, !T) {
    %e = tensor.empty() : !T
    %x = linalg.add ins(%h, %o : !T, !T) outs(%e : !T) -> !T
    scf.yield %x, %x : !T, !T
  }
  return %r#0, %r#1 : !T, !T
}

// And a view of it, of a size that is not known.
// CHECK-LABEL: func.func @view(
// CHECK:         %[[X:.*]] = linalg.exp
// CHECK-NEXT:    %[[VIEW:.*]] = tensor.collapse_shape %[[X]]
// CHECK-NEXT:    %[[COPY:.*]] = bufferization.alloc_tensor() copy(%[[VIEW]])
// CHECK-NEXT:    scf.yield %[[X]], %[[COPY]]
func.func @view(%a: tensor<?x2xf32>, %b: tensor<?xf32>, %n: index, %m: index) -> (tensor<?x2xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%h = %a, %o = %b) -> (tensor<?x2xf32>, tensor<?xf32>) {
    %e = tensor.empty(%m) : tensor<?x2xf32>
    %x = linalg.exp ins(%h : tensor<?x2xf32>) outs(%e : tensor<?x2xf32>) -> tensor<?x2xf32>
    %v = tensor.collapse_shape %x [[0, 1]] : tensor<?x2xf32> into tensor<?xf32>
    scf.yield %x, %v : tensor<?x2xf32>, tensor<?xf32>
  }
  return %r#0, %r#1 : tensor<?x2xf32>, tensor<?xf32>
}

// What is yielded twice from a branch.
// CHECK-LABEL: func.func @branch(
// CHECK:         %[[IF:.*]]:2 = scf.if
// CHECK:         %[[COPY:.*]] = bufferization.alloc_tensor() copy(%[[IF]]#1)
// CHECK-NEXT:    scf.yield %[[IF]]#0, %[[COPY]]
func.func @branch(%a: !T, %b: !T, %p: i1, %n: index) -> (!T, !T) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%h = %a, %o = %b) -> (!T, !T) {
    %i:2 = scf.if %p -> (!T, !T) {
      %e = tensor.empty() : !T
      %x = linalg.exp ins(%h : !T) outs(%e : !T) -> !T
      scf.yield %x, %x : !T, !T
    } else {
      scf.yield %h, %o : !T, !T
    }
    scf.yield %i#0, %i#1 : !T, !T
  }
  return %r#0, %r#1 : !T, !T
}

// Each has its own, or is changed where it is: nothing to do. What is read when
// it is yielded is not overwritten.
// CHECK-LABEL: func.func @own(
// CHECK-NOT:     bufferization.alloc_tensor
// CHECK:         return
func.func @own(%a: !T, %b: !T, %c: !T, %d: !T, %n: index, %z: f32) -> (!T, !T, !T, !T) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:4 = scf.for %k = %c0 to %n step %c1 iter_args(%h = %a, %o = %b, %p = %c, %q = %d) -> (!T, !T, !T, !T) {
    %e = tensor.empty() : !T
    %x = linalg.add ins(%h, %o : !T, !T) outs(%e : !T) -> !T
    %y = tensor.insert %z into %x[%k] : !T
    %i = tensor.insert %z into %p[%k] : !T
    scf.yield %x, %y, %i, %q : !T, !T, !T, !T
  }
  return %r#0, %r#1, %r#2, %r#3 : !T, !T, !T, !T
}

// The body of a while loop yields something else than what it was given: of
// outside, of another argument, or overwritten outside.
// CHECK-LABEL: func.func @while(
// CHECK:         ^bb0(%{{.*}}: index, %[[H:.*]]: tensor<8xf32>, %[[O:.*]]: tensor<8xf32>, %[[P:.*]]: tensor<8xf32>):
// CHECK-DAG:       %[[B:.*]] = bufferization.alloc_tensor() copy(%arg1)
// CHECK-DAG:       %[[HH:.*]] = bufferization.alloc_tensor() copy(%[[H]])
// CHECK-DAG:       %[[F:.*]] = linalg.fill
// CHECK-DAG:       %[[FF:.*]] = bufferization.alloc_tensor() copy(%[[F]])
// CHECK:           scf.yield %{{.*}}, %[[B]], %[[HH]], %[[FF]]
func.func @while(%a: !T, %b: !T, %n: index, %z: f32) -> (!T, !T, !T) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : !T
  %r:4 = scf.while (%k = %c0, %h = %a, %o = %a, %p = %a) : (index, !T, !T, !T) -> (index, !T, !T, !T) {
    %c = arith.cmpi slt, %k, %n : index
    scf.condition(%c) %k, %h, %o, %p : index, !T, !T, !T
  } do {
  ^bb0(%k: index, %h: !T, %o: !T, %p: !T):
    %k1 = arith.addi %k, %c1 : index
    %f = linalg.fill ins(%z : f32) outs(%e : !T) -> !T
    scf.yield %k1, %b, %h, %f : index, !T, !T, !T
  }
  return %r#1, %r#2, %r#3 : !T, !T, !T
}

// It is given fewer than it yields.
// CHECK-LABEL: func.func @while_fewer(
// CHECK:         ^bb0(%{{.*}}: index, %[[H:.*]]: tensor<8xf32>):
// CHECK:           %[[COPY:.*]] = bufferization.alloc_tensor() copy(%[[H]])
// CHECK-NEXT:      scf.yield %{{.*}}, %[[H]], %[[COPY]]
func.func @while_fewer(%a: !T, %b: !T, %n: index, %z: f32) -> !T {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.while (%k = %c0, %h = %a, %o = %b) : (index, !T, !T) -> (index, !T) {
    %c = arith.cmpi slt, %k, %n : index
    %e = tensor.empty() : !T
    %x = linalg.add ins(%h, %o : !T, !T) outs(%e : !T) -> !T
    scf.condition(%c) %k, %x : index, !T
  } do {
  ^bb0(%k: index, %h: !T):
    %k1 = arith.addi %k, %c1 : index
    scf.yield %k1, %h, %h : index, !T, !T
  }
  return %r#1 : !T
}

// CHECK-LABEL: func.func @while_own(
// CHECK-NOT:     bufferization.alloc_tensor
// CHECK:         return
func.func @while_own(%a: !T, %b: !T, %n: index, %z: f32) -> (!T, !T) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:3 = scf.while (%k = %c0, %h = %a, %o = %b) : (index, !T, !T) -> (index, !T, !T) {
    %c = arith.cmpi slt, %k, %n : index
    scf.condition(%c) %k, %h, %o : index, !T, !T
  } do {
  ^bb0(%k: index, %h: !T, %o: !T):
    %k1 = arith.addi %k, %c1 : index
    %i = tensor.insert %z into %h[%k] : !T
    %e = tensor.empty() : !T
    %x = linalg.exp ins(%o : !T) outs(%e : !T) -> !T
    scf.yield %k1, %i, %x : index, !T, !T
  }
  return %r#1, %r#2 : !T, !T
}

// Of functions, what callers may change.
// CHECK-LABEL: func.func private @called(
// CHECK:         %[[X:.*]] = linalg.exp
// CHECK:         %[[COPY:.*]] = bufferization.alloc_tensor() copy(%[[X]])
// CHECK-NEXT:    return %[[X]], %[[COPY]]
func.func private @called(%a: !T) -> (!T, !T) {
  %e = tensor.empty() : !T
  %x = linalg.exp ins(%a : !T) outs(%e : !T) -> !T
  return %x, %x : !T, !T
}
// CHECK-LABEL: func.func @caller(
// CHECK-NOT:     bufferization.alloc_tensor
// CHECK:         return
func.func @caller(%a: !T) -> (!T, !T, !T) {
  %r:2 = call @called(%a) : (!T) -> (!T, !T)
  return %r#0, %r#1, %r#1 : !T, !T, !T
}

// A function that returns what it is given,
// CHECK-LABEL: func.func private @same(
// CHECK-NOT:     bufferization.alloc_tensor
// CHECK:         return
func.func private @same(%a: !T) -> !T {
  return %a : !T
}
// CHECK-LABEL: func.func private @chain(
// CHECK:         %[[X:.*]] = linalg.exp
// CHECK:         %[[Y:.*]] = call @same(%[[X]])
// CHECK:         %[[COPY:.*]] = bufferization.alloc_tensor() copy(%[[X]])
// CHECK-NEXT:    return %[[Y]], %[[COPY]]
func.func private @chain(%a: !T) -> (!T, !T) {
  %e = tensor.empty() : !T
  %x = linalg.exp ins(%a : !T) outs(%e : !T) -> !T
  %y = func.call @same(%x) : (!T) -> !T
  return %y, %x : !T, !T
}
// and one that does not.
// CHECK-LABEL: func.func private @new(
func.func private @new(%a: !T) -> !T {
  %e = tensor.empty() : !T
  %x = linalg.exp ins(%a : !T) outs(%e : !T) -> !T
  return %x : !T
}
// CHECK-LABEL: func.func @calls(
// CHECK-NOT:     bufferization.alloc_tensor
// CHECK:         scf.yield
// CHECK:         call @chain
func.func @calls(%a: !T, %b: !T, %n: index) -> (!T, !T, !T) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%h = %a, %o = %b) -> (!T, !T) {
    %x = func.call @new(%h) : (!T) -> !T
    %y = func.call @new(%x) : (!T) -> !T
    scf.yield %x, %y : !T, !T
  }
  %s:2 = func.call @chain(%r#0) : (!T) -> (!T, !T)
  return %r#1, %s#0, %s#1 : !T, !T, !T
}

// Nobody is to change a constant.
// CHECK-LABEL: func.func private @table(
// CHECK:         %[[TABLE:.*]] = arith.constant
// CHECK:         %[[COPY:.*]] = bufferization.alloc_tensor() copy(%[[TABLE]])
// CHECK-NEXT:    return %[[COPY]]
func.func private @table() -> !T {
  %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : !T
  return %c : !T
}
func.func @changed(%i: index, %z: f32) -> !T {
  %t = call @table() : () -> !T
  %r = tensor.insert %z into %t[%i] : !T
  return %r : !T
}

// A tensor is made where it is inserted,
// CHECK-LABEL: func.func @inserted(
// CHECK-SAME:    %[[A:.*]]: tensor<8xf32>, %[[B:.*]]: tensor<4xf32>
// CHECK-NEXT:    %[[PART:.*]] = tensor.extract_slice %[[A]][2] [4] [1]
// CHECK:         linalg.exp ins(%[[B]] : tensor<4xf32>) outs(%[[PART]] : tensor<4xf32>)
func.func @inserted(%a: !T, %b: tensor<4xf32>) -> !T {
  %e = tensor.empty() : tensor<4xf32>
  %x = linalg.exp ins(%b : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %r = tensor.insert_slice %x into %a[2] [4] [1] : tensor<4xf32> into !T
  return %r : !T
}

// but not in what is not there yet.
// CHECK-LABEL: func.func @inserted_into_branch(
// CHECK:         scf.if
// CHECK-NEXT:      %[[E:.*]] = tensor.empty() : tensor<4xf32>
// CHECK-NEXT:      linalg.exp ins(%{{.*}}) outs(%[[E]] : tensor<4xf32>)
func.func @inserted_into_branch(%a: !T, %b: tensor<4xf32>, %p: i1) -> !T {
  %r:2 = scf.if %p -> (tensor<4xf32>, !T) {
    %e = tensor.empty() : tensor<4xf32>
    %x = linalg.exp ins(%b : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %x, %a : tensor<4xf32>, !T
  } else {
    scf.yield %b, %a : tensor<4xf32>, !T
  }
  %i = tensor.insert_slice %r#0 into %r#1[2] [4] [1] : tensor<4xf32> into !T
  return %i : !T
}

// Two sums that start from one fill have one each.
#row = affine_map<(i, j) -> (i)>
#all = affine_map<(i, j) -> (i, j)>
// CHECK-LABEL: func.func @fills
// CHECK-COUNT-2: linalg.fill
// CHECK: linalg.generic
func.func @fills(%x: tensor<4x8xf32>, %zero: f32) -> (tensor<4xf32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %a = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %0 = arith.addf %p, %o : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  %b = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %0 = arith.mulf %p, %p : f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}
