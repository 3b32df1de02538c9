// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-normalize-linalg)' --mlir-print-local-scope -o %t.once
// RUN: FileCheck %s < %t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-normalize-linalg)' --mlir-print-local-scope | diff %t.once -

// Whatever is on tensors becomes linalg.generic. A second run changes nothing.

// Named operations become generics.
// CHECK-LABEL: func.func @named(
// CHECK-NOT:     linalg.matmul
// CHECK:         linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
// CHECK:           arith.mulf
// CHECK:           arith.addf
func.func @named(%a: tensor<?x64xf32>, %b: tensor<64x8xf32>, %c: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<?x64xf32>, tensor<64x8xf32>) outs(%c : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// Two reductions, and what they make of each element in between.
// CHECK-LABEL: func.func @softmax(
// CHECK-NOT:     linalg.softmax
// CHECK:         %[[MAX:.+]] = linalg.generic {{.+}} iterator_types = ["parallel", "reduction"]} ins(%arg0 :
// CHECK:           arith.maxnumf
// CHECK:         %[[EXP:.+]] = linalg.generic {{.+}} iterator_types = ["parallel", "parallel"]} ins(%arg0, %[[MAX]] :
// CHECK:           arith.subf
// CHECK-NEXT:      math.exp
// CHECK:         %[[SUM:.+]] = linalg.generic {{.+}} iterator_types = ["parallel", "reduction"]} ins(%[[EXP]] :
// CHECK:           arith.addf
// CHECK:         linalg.generic {{.+}} iterator_types = ["parallel", "parallel"]} ins(%[[EXP]], %[[SUM]] :
// CHECK:           arith.divf
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @softmax(%a: tensor<4x?xf32>, %o: tensor<4x?xf32>) -> tensor<4x?xf32> {
  %0 = linalg.softmax dimension(1) ins(%a : tensor<4x?xf32>) outs(%o : tensor<4x?xf32>) -> tensor<4x?xf32>
  return %0 : tensor<4x?xf32>
}

// A padding and a transposition: one operation that looks up what is inside.
// CHECK-LABEL: func.func @pack(
// CHECK-NOT:     linalg.pack
// CHECK:         linalg.generic {{.+}} outs(%{{.+}} : tensor<4x4x4x4xf32>)
// CHECK:           scf.if
// CHECK-NEXT:        tensor.extract %arg0
// CHECK:             scf.yield %arg1 : f32
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @pack(%a: tensor<13x15xf32>, %pad: f32, %d: tensor<4x4x4x4xf32>) -> tensor<4x4x4x4xf32> {
  %0 = linalg.pack %a padding_value(%pad : f32) inner_dims_pos = [0, 1] inner_tiles = [4, 4] into %d : tensor<13x15xf32> -> tensor<4x4x4x4xf32>
  return %0 : tensor<4x4x4x4xf32>
}

// A transposition, and a slice without what was padded.
// CHECK-LABEL: func.func @unpack(
// CHECK:         %[[T:.+]] = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d2, d1, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>]
// CHECK:         %[[C:.+]] = tensor.collapse_shape %[[T]]
// CHECK:         tensor.extract_slice %[[C]][0, 0] [13, 15] [1, 1]
func.func @unpack(%a: tensor<4x4x4x4xf32>, %d: tensor<13x15xf32>) -> tensor<13x15xf32> {
  %0 = linalg.unpack %a inner_dims_pos = [0, 1] inner_tiles = [4, 4] into %d : tensor<4x4x4x4xf32> -> tensor<13x15xf32>
  return %0 : tensor<13x15xf32>
}

// CHECK-LABEL: func.func @concat(
// CHECK-NOT:     tensor.concat
// CHECK:         %[[FIRST:.+]] = tensor.insert_slice %arg0 into
// CHECK:         tensor.insert_slice %arg1 into %[[FIRST]]
func.func @concat(%a: tensor<4x?xf32>, %b: tensor<4x5xf32>) -> tensor<4x?xf32> {
  %0 = tensor.concat dim(1) %a, %b : (tensor<4x?xf32>, tensor<4x5xf32>) -> tensor<4x?xf32>
  return %0 : tensor<4x?xf32>
}

// What is before the tensor, by a number that is not known, and behind it, is padding.
// CHECK-LABEL: func.func @pad(
// CHECK-DAG:     %[[C0:.+]] = arith.constant 0 : index
// CHECK-DAG:     %[[C1:.+]] = arith.constant 1 : index
// CHECK-DAG:     %[[C8:.+]] = arith.constant 8 : index
// CHECK:         %[[ROWS:.+]] = tensor.dim %arg0, %[[C0]]
// CHECK:         linalg.generic {{.+}} outs(%{{.+}} : tensor<?x11xf32>)
// CHECK:           %[[I:.+]] = arith.subi %{{.+}}, %arg1
// CHECK:           arith.cmpi sge, %[[I]], %[[C0]]
// CHECK:           arith.cmpi slt, %[[I]], %{{.+}}
// CHECK:           %[[J:.+]] = arith.subi %{{.+}}, %[[C1]]
// CHECK:           arith.cmpi sge, %[[J]], %[[C0]]
// CHECK:           arith.cmpi slt, %[[J]], %[[C8]]
// CHECK:           scf.if
// CHECK-NEXT:        tensor.extract %arg0[%[[I]], %[[J]]]
// CHECK:           } else {
// CHECK-NEXT:        scf.yield %arg2
func.func @pad(%a: tensor<?x8xf32>, %low: index, %x: f32) -> tensor<?x11xf32> {
  %0 = tensor.pad %a low[%low, 1] high[0, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %x : f32
  } : tensor<?x8xf32> to tensor<?x11xf32>
  return %0 : tensor<?x11xf32>
}

// CHECK-LABEL: func.func @generate(
// CHECK-NOT:     tensor.generate
// CHECK:         linalg.generic
// CHECK:           %[[I:.+]] = linalg.index 0
// CHECK:           %[[J:.+]] = linalg.index 1
// CHECK:           arith.addi %[[I]], %[[J]]
func.func @generate(%n: index) -> tensor<?x4xindex> {
  %0 = tensor.generate %n {
  ^bb0(%i: index, %j: index):
    %s = arith.addi %i, %j : index
    tensor.yield %s : index
  } : tensor<?x4xindex>
  return %0 : tensor<?x4xindex>
}

// CHECK-LABEL: func.func @splat(
// CHECK-NOT:     tensor.splat
// CHECK:         linalg.generic
// CHECK:           linalg.yield %arg1
func.func @splat(%n: index, %x: f32) -> tensor<?x4xf32> {
  %0 = tensor.splat %x[%n] : tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// Rows of the middle dimension, which is not kept.
// CHECK-LABEL: func.func @gather(
// CHECK-NOT:     tensor.gather
// CHECK:         linalg.generic
// CHECK-DAG:       %[[B:.+]] = linalg.index 0
// CHECK-DAG:       %[[I:.+]] = linalg.index 1
// CHECK-DAG:       %[[J:.+]] = linalg.index 2
// CHECK:           %[[AT:.+]] = tensor.extract %arg1[%[[B]], %{{.+}}] : tensor<7x1xi32>
// CHECK:           %[[K:.+]] = arith.index_cast %[[AT]]
// CHECK:           tensor.extract %arg0[%[[I]], %[[K]], %[[J]]]
func.func @gather(%s: tensor<9x6x5xf32>, %i: tensor<7x1xi32>) -> tensor<7x9x5xf32> {
  %0 = tensor.gather %s[%i] gather_dims([1]) : (tensor<9x6x5xf32>, tensor<7x1xi32>) -> tensor<7x9x5xf32>
  return %0 : tensor<7x9x5xf32>
}

// Kept as a dimension of one element, which is added behind.
// CHECK-LABEL: func.func @gather_units(
// CHECK-NOT:     tensor.gather
// CHECK:         linalg.generic {{.+}} outs(%{{.+}} : tensor<7x9x5xf32>)
// CHECK:           %[[AT:.+]] = tensor.extract %arg1
// CHECK-NEXT:      tensor.extract %arg0[%{{.+}}, %[[AT]], %{{.+}}]
// CHECK:         tensor.expand_shape {{.+}} into tensor<7x9x1x5xf32>
func.func @gather_units(%s: tensor<9x6x5xf32>, %i: tensor<7x1xindex>) -> tensor<7x9x1x5xf32> {
  %0 = tensor.gather %s[%i] gather_dims([1]) : (tensor<9x6x5xf32>, tensor<7x1xindex>) -> tensor<7x9x1x5xf32>
  return %0 : tensor<7x9x1x5xf32>
}

// One operation: who asks for the size of a result is no user.
// CHECK-LABEL: func.func @arithmetic(
// CHECK:         linalg.generic {{.+}} ins(%arg0, %arg1 :
// CHECK:           arith.addf
// CHECK-NEXT:      math.exp
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @arithmetic(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %0 = arith.addf %a, %b : tensor<?xf32>
  %1 = math.exp %0 : tensor<?xf32>
  return %1 : tensor<?xf32>
}

// CHECK-LABEL: func.func @units(
// CHECK:         %[[FLAT:.+]] = tensor.collapse_shape %arg0
// CHECK:         linalg.generic {{.+}} iterator_types = ["parallel"]} ins(%[[FLAT]] : tensor<?xf32>)
// CHECK:         tensor.expand_shape
func.func @units(%a: tensor<1x?x1xf32>, %o: tensor<1x?x1xf32>) -> tensor<1x?x1xf32> {
  %0 = linalg.exp ins(%a : tensor<1x?x1xf32>) outs(%o : tensor<1x?x1xf32>) -> tensor<1x?x1xf32>
  return %0 : tensor<1x?x1xf32>
}

// Nothing to compute: no loop over tiles would be in bounds.
// CHECK-LABEL: func.func @empty(
// CHECK-NEXT:    return %arg2
func.func @empty(%a: tensor<0x8xf32>, %b: tensor<0x8xf32>, %o: tensor<0x8xf32>) -> tensor<0x8xf32> {
  %0 = linalg.add ins(%a, %b : tensor<0x8xf32>, tensor<0x8xf32>) outs(%o : tensor<0x8xf32>) -> tensor<0x8xf32>
  return %0 : tensor<0x8xf32>
}

// CHECK-LABEL: func.func @empty_sum(
// CHECK-NEXT:    return %arg1
func.func @empty_sum(%a: tensor<8x0xf32>, %o: tensor<8xf32>) -> tensor<8xf32> {
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<8x0xf32>) outs(%o : tensor<8xf32>) dimensions = [1]
  return %0 : tensor<8xf32>
}

// A constant that is updated: as if somebody had filled it in.
// CHECK-LABEL: func.func @constant_init(
// CHECK-DAG:     %[[ONE:.+]] = arith.constant 1.000000e+00 : f32
// CHECK-DAG:     %[[E:.+]] = tensor.empty() : tensor<8xf32>
// CHECK:         %[[ONES:.+]] = linalg.generic {{.+}} outs(%[[E]] : tensor<8xf32>)
// CHECK:           linalg.yield %[[ONE]]
// CHECK:         linalg.generic {{.+}} ins(%arg0 : {{.+}}) outs(%[[ONES]] :
func.func @constant_init(%a: tensor<8x4xf32>) -> tensor<8xf32> {
  %c = arith.constant dense<1.0> : tensor<8xf32>
  %0 = linalg.reduce { arith.addf } ins(%a : tensor<8x4xf32>) outs(%c : tensor<8xf32>) dimensions = [1]
  return %0 : tensor<8xf32>
}

// A reshape between two element-wise operations goes behind both.
// CHECK-LABEL: func.func @reshape_between(
// CHECK:         %[[BOTH:.+]] = linalg.generic {{.+}} ins(%arg0 : tensor<4x?xf32>)
// CHECK:           math.exp
// CHECK-NEXT:      math.exp
// CHECK-NOT:     linalg.generic
// CHECK:         tensor.collapse_shape %[[BOTH]]
func.func @reshape_between(%a: tensor<4x?xf32>, %o: tensor<4x?xf32>, %p: tensor<?xf32>) -> tensor<?xf32> {
  %0 = linalg.exp ins(%a : tensor<4x?xf32>) outs(%o : tensor<4x?xf32>) -> tensor<4x?xf32>
  %1 = tensor.collapse_shape %0 [[0, 1]] : tensor<4x?xf32> into tensor<?xf32>
  %2 = linalg.exp ins(%1 : tensor<?xf32>) outs(%p : tensor<?xf32>) -> tensor<?xf32>
  return %2 : tensor<?xf32>
}

// Nothing on tensors, or in memory of the host: not even what stands there twice is touched.
// CHECK-LABEL: func.func @no_linalg(
// CHECK:         arith.addi
// CHECK-NEXT:    arith.addi
// CHECK-NEXT:    arith.addi
// CHECK-NEXT:    linalg.copy ins(%arg1 : memref<?xf32, 1>)
func.func @no_linalg(%n: index, %m: memref<?xf32, 1>) -> index {
  %c1 = arith.constant 1 : index
  %0 = arith.addi %n, %c1 : index
  %1 = arith.addi %n, %c1 : index
  %2 = arith.addi %0, %1 : index
  linalg.copy ins(%m : memref<?xf32, 1>) outs(%m : memref<?xf32, 1>)
  return %2 : index
}

// Kernels are left alone.
// CHECK-LABEL: func.func @inside(
// CHECK:           linalg.exp ins(
gpu.module @device {
  func.func @inside(%a: tensor<4xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
    %0 = linalg.exp ins(%a : tensor<4xf32>) outs(%o : tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// CHECK-LABEL: func.func @launch(
// CHECK:         gpu.launch
// CHECK:           linalg.exp ins(
func.func @launch(%a: tensor<4xf32>, %o: tensor<4xf32>, %m: memref<4xf32>) {
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%bx = %c1, %by = %c1, %bz = %c1) {
    %0 = linalg.exp ins(%a : tensor<4xf32>) outs(%o : tensor<4xf32>) -> tensor<4xf32>
    %c0 = arith.constant 0 : index
    %v = tensor.extract %0[%c0] : tensor<4xf32>
    memref.store %v, %m[%c0] : memref<4xf32>
    gpu.terminator
  }
  return
}

// A shape that only the run knows.
// CHECK-LABEL: func.func @reshape(
// CHECK-SAME:      %[[X:.+]]: tensor<4x6xf32>, %[[SIZES:.+]]: tensor<3xindex>
// CHECK:         %[[ROW:.+]] = tensor.collapse_shape %[[X]]
// CHECK-SAME:        tensor<4x6xf32> into tensor<24xf32>
// CHECK-NEXT:    %[[CAST:.+]] = tensor.cast %[[ROW]] : tensor<24xf32> to tensor<?xf32>
// CHECK:         %[[N:.+]] = tensor.extract %[[SIZES]]
// CHECK:         %[[M:.+]] = tensor.extract %[[SIZES]]
// CHECK:         %[[Y:.+]] = tensor.expand_shape %[[CAST]]
// CHECK-SAME:        output_shape [%[[N]], %[[M]], 2]
// CHECK-NEXT:    return %[[Y]]
func.func @reshape(%x: tensor<4x6xf32>, %sizes: tensor<3xindex>) -> tensor<?x?x2xf32> {
  %y = tensor.reshape %x(%sizes) : (tensor<4x6xf32>, tensor<3xindex>) -> tensor<?x?x2xf32>
  return %y : tensor<?x?x2xf32>
}

// What is as large as before, but not in its place, is more than its source.
// CHECK-LABEL: func.func @shift(
// CHECK:         %[[ALL:.+]] = linalg.generic
// CHECK:           tensor.extract %arg0
// CHECK:         return %[[ALL]]
func.func @shift(%a: tensor<8xf32>, %z: f32) -> tensor<8xf32> {
  %0 = tensor.pad %a low[1] high[-1] {
  ^bb0(%i: index):
    tensor.yield %z : f32
  } : tensor<8xf32> to tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Bits of another type, of sizes that are known on one side only.
// CHECK-LABEL: func.func @bits(
// CHECK-NOT:     tensor.bitcast
// CHECK:         linalg.generic
// CHECK:           arith.bitcast %{{.*}} : f32 to i32
// CHECK:         tensor.cast
func.func @bits(%a: tensor<?x4xf32>) -> tensor<?x?xi32> {
  %0 = tensor.bitcast %a : tensor<?x4xf32> to tensor<?x?xi32>
  return %0 : tensor<?x?xi32>
}
