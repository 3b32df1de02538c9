// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-form-kernels)' --mlir-print-local-scope -o %t.once
// RUN: FileCheck %s < %t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-form-kernels)' --mlir-print-local-scope | diff %t.once -
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-form-kernels,canonicalize,cse)' --mlir-print-local-scope -o %t.clean
// RUN: mlir-opt %t.clean --pass-pipeline='builtin.module(workgroup-form-kernels)' --mlir-print-local-scope | diff %t.clean -

// Operations on tensors become functions, in destination-passing style; a second run changes
// nothing, neither does one behind a clean-up. Which operations go together, and why others do
// not, is in form-kernels-remarks.mlir.

#id = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>

// The kernel takes the slice and makes the zeros; the result is put into its last argument.
// CHECK-LABEL: func.func private @bias_0_contraction(
// CHECK-SAME:    %arg0: tensor<20x32xf32>, %arg1: tensor<32x8xf32>, %arg2: tensor<8xf32>, %arg3: tensor<16x8xf32>) -> tensor<16x8xf32> {
// CHECK:         %[[SLICE:.+]] = tensor.extract_slice %arg0[2, 0] [16, 32] [1, 1]
// CHECK:         %[[ZERO:.+]] = linalg.fill
// CHECK:         %[[SUM:.+]] = linalg.generic {{.+}} ins(%[[SLICE]], %arg1 : {{.+}}) outs(%[[ZERO]] :
// CHECK:         %[[ALL:.+]] = linalg.generic {{.+}} ins(%[[SUM]], %arg2 : {{.+}}) outs(%arg3 :
// CHECK:         return %[[ALL]]
// CHECK-LABEL: func.func @bias(
// CHECK-SAME:    %arg0: tensor<20x32xf32> {bufferization.writable = false}, %arg1: tensor<32x8xf32> {bufferization.writable = false}, %arg2: tensor<8xf32> {bufferization.writable = false})
// CHECK-NEXT:    %[[E:.+]] = tensor.empty() : tensor<16x8xf32>
// CHECK-NEXT:    %[[R:.+]] = call @bias_0_contraction(%arg0, %arg1, %arg2, %[[E]])
// CHECK-NEXT:    return %[[R]]
func.func @bias(%x: tensor<20x32xf32>, %w: tensor<32x8xf32>, %v: tensor<8xf32>) -> tensor<16x8xf32> {
  %cst = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x8xf32>
  %s = tensor.extract_slice %x[2, 0] [16, 32] [1, 1] : tensor<20x32xf32> to tensor<16x32xf32>
  %z = linalg.fill ins(%cst : f32) outs(%e : tensor<16x8xf32>) -> tensor<16x8xf32>
  %0 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%s, %w : tensor<16x32xf32>, tensor<32x8xf32>) outs(%z : tensor<16x8xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %1 = arith.mulf %p, %q : f32
    %2 = arith.addf %o, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<16x8xf32>
  %3 = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%0, %v : tensor<16x8xf32>, tensor<8xf32>) outs(%e : tensor<16x8xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %4 = arith.addf %p, %q : f32
    linalg.yield %4 : f32
  } -> tensor<16x8xf32>
  return %3 : tensor<16x8xf32>
}

// An update of an argument needs no other tensor; what callers say of it stays.
// CHECK-LABEL: func.func private @update_0_elementwise(%arg0: tensor<?xf32>, %arg1: tensor<?xf32>) -> tensor<?xf32> {
// CHECK:         linalg.generic {{.+}} ins(%arg0 : tensor<?xf32>) outs(%arg1 : tensor<?xf32>)
// CHECK-LABEL: func.func @update(
// CHECK-SAME:    %arg0: tensor<?xf32> {bufferization.writable = false}, %arg1: tensor<?xf32> {bufferization.writable = true})
// CHECK-NEXT:    %[[R:.+]] = call @update_0_elementwise(%arg0, %arg1)
// CHECK-NEXT:    return %[[R]]
func.func @update(%x: tensor<?xf32>, %y: tensor<?xf32> {bufferization.writable = true}) -> tensor<?xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%y : tensor<?xf32>) {
  ^bb0(%p: f32, %o: f32):
    %4 = arith.addf %p, %o : f32
    linalg.yield %4 : f32
  } -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// What it updates, and reads besides, is passed twice: bufferization copies it for the update.
// CHECK-LABEL: func.func private @update_of_read_0_contraction(%arg0: tensor<8x8xf32>, %arg1: tensor<8x8xf32>) -> tensor<8x8xf32> {
// CHECK:         linalg.matmul ins(%arg0, %arg0 : {{.+}}) outs(%arg1 :
// CHECK-LABEL: func.func @update_of_read(
// CHECK:         call @update_of_read_0_contraction(%arg0, %arg0)
func.func @update_of_read(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = linalg.matmul ins(%x, %x : tensor<8x8xf32>, tensor<8x8xf32>) outs(%x : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// A part that is updated is no part of an argument.
// CHECK-LABEL: func.func private @update_of_slice_0_reduction(%arg0: tensor<64x8xf32>, %arg1: tensor<64xf32>) -> tensor<64xf32> {
// CHECK-NEXT:    linalg.reduce {{.+}} outs(%arg1 :
// CHECK-LABEL: func.func @update_of_slice(
// CHECK:         %[[S:.+]] = tensor.extract_slice %arg1
// CHECK:         call @update_of_slice_0_reduction(%arg0, %[[S]])
func.func @update_of_slice(%x: tensor<64x8xf32>, %s: tensor<96xf32>) -> tensor<64xf32> {
  %e = tensor.extract_slice %s[32] [64] [1] : tensor<96xf32> to tensor<64xf32>
  %0 = linalg.reduce { arith.addf } ins(%x : tensor<64x8xf32>) outs(%e : tensor<64xf32>) dimensions = [1]
  return %0 : tensor<64xf32>
}

// Two results of one kernel, that of the root last.
// CHECK-LABEL: func.func private @several_0_reduction(
// CHECK-SAME:    %arg0: tensor<4x8xf32>, %arg1: tensor<4x8xf32>, %arg2: tensor<4xf32>) -> (tensor<4x8xf32>, tensor<4xf32>) {
// CHECK:         %[[Z:.+]] = linalg.fill {{.+}} outs(%arg2 :
// CHECK:         %[[EXP:.+]] = linalg.exp ins(%arg0 : {{.+}}) outs(%arg1 :
// CHECK:         %[[SUM:.+]] = linalg.reduce {{.+}} ins(%[[EXP]] : {{.+}}) outs(%[[Z]] :
// CHECK:         return %[[EXP]], %[[SUM]]
// CHECK-LABEL: func.func @several(
// CHECK:         %[[R:.+]]:2 = call @several_0_reduction
// CHECK:         return %[[R]]#0, %[[R]]#1
func.func @several(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>) {
  %cst = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %f = tensor.empty() : tensor<4xf32>
  %z = linalg.fill ins(%cst : f32) outs(%f : tensor<4xf32>) -> tensor<4xf32>
  %0 = linalg.exp ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = linalg.reduce { arith.addf } ins(%0 : tensor<4x8xf32>) outs(%z : tensor<4xf32>) dimensions = [1]
  return %0, %1 : tensor<4x8xf32>, tensor<4xf32>
}

// In loops and branches, wherever they are.
// CHECK-LABEL: func.func private @nested_0_elementwise(
// CHECK:         linalg.exp
// CHECK-LABEL: func.func private @nested_1_elementwise(
// CHECK:         linalg.negf
// CHECK-LABEL: func.func private @nested_2_elementwise(
// CHECK:         linalg.sqrt
// CHECK-LABEL: func.func @nested(
// CHECK:         scf.for {{.+}} iter_args(%[[T:.+]] = %arg0)
// CHECK:           %[[IF:.+]] = scf.if
// CHECK:             func.call @nested_0_elementwise(%[[T]], %{{.+}})
// CHECK:           } else {
// CHECK:             func.call @nested_1_elementwise(%[[T]], %{{.+}})
// CHECK:           %[[V:.+]] = func.call @nested_2_elementwise(%[[IF]], %{{.+}})
// CHECK-NEXT:      scf.yield %[[V]]
func.func @nested(%x: tensor<8xf32>, %n: index, %ok: i1) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %x) -> tensor<8xf32> {
    %e = tensor.empty() : tensor<8xf32>
    %u = scf.if %ok -> tensor<8xf32> {
      %0 = linalg.exp ins(%t : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
      scf.yield %0 : tensor<8xf32>
    } else {
      %0 = linalg.negf ins(%t : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
      scf.yield %0 : tensor<8xf32>
    }
    %v = linalg.sqrt ins(%u : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %v : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// A fill that the host needs is a kernel.
// CHECK-LABEL: func.func private @fill_only_0_fill(%arg0: tensor<?xf32>) -> tensor<?xf32> {
// CHECK:         linalg.fill {{.+}} outs(%arg0 :
// CHECK-LABEL: func.func @fill_only(
// CHECK:         call @fill_only_0_fill(%{{.+}})
func.func @fill_only(%n: index) -> tensor<?xf32> {
  %cst = arith.constant 1.0 : f32
  %e = tensor.empty(%n) : tensor<?xf32>
  %z = linalg.fill ins(%cst : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %z : tensor<?xf32>
}

// Each of two kernels makes the ones that it needs.
// CHECK-LABEL: func.func private @two_users_1_elementwise(%arg0: tensor<8xf32>, %arg1: tensor<8xf32>)
// CHECK:         %[[ONES:.+]] = linalg.fill
// CHECK:         linalg.sub ins(%arg0, %[[ONES]] : {{.+}}) outs(%arg1 :
// CHECK-LABEL: func.func private @two_users_0_elementwise(%arg0: tensor<8xf32>, %arg1: tensor<8xf32>)
// CHECK:         %[[ONES:.+]] = linalg.fill
// CHECK:         linalg.add ins(%arg0, %[[ONES]] : {{.+}}) outs(%arg1 :
// CHECK-LABEL: func.func @two_users(
// CHECK-NOT:     linalg
// CHECK:         call @two_users_0_elementwise
// CHECK:         call @two_users_1_elementwise
func.func @two_users(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %cst = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %z = linalg.fill ins(%cst : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %0 = linalg.add ins(%a, %z : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %1 = tensor.insert_slice %0 into %0[0][8][1] : tensor<8xf32> into tensor<8xf32>
  %2 = linalg.sub ins(%1, %z : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %0, %2 : tensor<8xf32>, tensor<8xf32>
}

// Nobody outside calls it: bufferization sees all callers.
// CHECK-LABEL: func.func private @not_public_0_elementwise(
// CHECK-LABEL: func.func private @not_public(%arg0: tensor<8xf32>)
// CHECK:         call @not_public_0_elementwise
func.func private @not_public(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %0 = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// No operation on tensors, nothing changes.
// CHECK-LABEL: func.func @nothing(%arg0: tensor<8xf32> {bufferization.writable = false}) -> tensor<8xf32> {
// CHECK-NEXT:    call @not_public(%arg0)
func.func @nothing(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @not_public(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// A kernel as it should be.
// CHECK-LABEL: func.func private @kernel_like(%arg0: tensor<8xf32>, %arg1: tensor<8xf32>) -> tensor<8xf32> {
// CHECK-NEXT:    linalg.exp
func.func private @kernel_like(%x: tensor<8xf32>, %o: tensor<8xf32>) -> tensor<8xf32> {
  %0 = linalg.exp ins(%x : tensor<8xf32>) outs(%o : tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// What does something else besides is none.
// CHECK-LABEL: func.func private @kernel_and_more_0_elementwise(
// CHECK:         linalg.exp
// CHECK-LABEL: func.func private @kernel_and_more(
// CHECK:         call @kernel_and_more_0_elementwise
func.func private @kernel_and_more(%x: tensor<8xf32>, %o: tensor<8xf32>, %m: memref<f32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %0 = linalg.exp ins(%x : tensor<8xf32>) outs(%o : tensor<8xf32>) -> tensor<8xf32>
  %1 = tensor.extract %0[%c0] : tensor<8xf32>
  memref.store %1, %m[] : memref<f32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func.func private @without_results_0_elementwise(
// CHECK:         linalg.exp
// CHECK-LABEL: func.func private @without_results(
// CHECK:         call @without_results_0_elementwise
func.func private @without_results(%x: tensor<8xf32>, %m: memref<f32>) {
  %c0 = arith.constant 0 : index
  %e = tensor.empty() : tensor<8xf32>
  %0 = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %1 = tensor.extract %0[%c0] : tensor<8xf32>
  memref.store %1, %m[] : memref<f32>
  return
}

// Another has the name.
// CHECK-LABEL: func.func private @name_taken_0_elementwise_0(
// CHECK:         linalg.exp ins(%arg0 : tensor<4x?xf32>)
// CHECK-LABEL: func.func @name_taken(
// CHECK:         call @name_taken_0_elementwise_0(
func.func @name_taken(%x: tensor<4x?xf32>, %n: index) -> tensor<4x?xf32> {
  %e = tensor.empty(%n) : tensor<4x?xf32>
  %0 = linalg.exp ins(%x : tensor<4x?xf32>) outs(%e : tensor<4x?xf32>) -> tensor<4x?xf32>
  return %0 : tensor<4x?xf32>
}

// Where there are no elements there is nothing to do.
// CHECK-LABEL: func.func @no_elements(
// CHECK-NEXT:    %[[E:.+]] = tensor.empty
// CHECK-NEXT:    return %[[E]]
func.func @no_elements(%x: tensor<0x?xf32>, %n: index) -> tensor<0x?xf32> {
  %e = tensor.empty(%n) : tensor<0x?xf32>
  %0 = linalg.exp ins(%x : tensor<0x?xf32>) outs(%e : tensor<0x?xf32>) -> tensor<0x?xf32>
  return %0 : tensor<0x?xf32>
}

func.func private @name_taken_0_elementwise()

// Kernels are left alone.
// CHECK-LABEL: gpu.module @device
// CHECK-NEXT:    func.func @inside(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>)
// CHECK-NEXT:      linalg.exp
gpu.module @device {
  func.func @inside(%a: tensor<4xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
    %0 = linalg.exp ins(%a : tensor<4xf32>) outs(%o : tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
