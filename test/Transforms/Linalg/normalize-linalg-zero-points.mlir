// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-normalize-linalg)' --mlir-print-local-scope -o %t.once
// RUN: FileCheck %s < %t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-normalize-linalg)' --mlir-print-local-scope | diff %t.once -
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-normalize-linalg)' --remarks-filter='workgroup.*' --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// Zero points come out of sums of products of 8 bits.

// REMARK: TookOutZeroPoints {{.+}} Function=matmul | Remark="zero points are subtracted from sums, not from their terms"
// CHECK-LABEL: func.func @matmul(
// CHECK:         %[[ROWS:.+]] = linalg.generic {{.+}} iterator_types = ["parallel", "reduction"]} ins(%arg0 : tensor<32x64xi8>) outs(%{{.+}} : tensor<32xi32>)
// CHECK:         %[[COLUMNS:.+]] = linalg.generic {{.+}} iterator_types = ["parallel", "reduction"]} ins(%arg1 : tensor<64x48xi8>) outs(%{{.+}} : tensor<48xi32>)
// CHECK:         %[[C:.+]] = linalg.generic {{.+}} iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0, %arg1 : tensor<32x64xi8>, tensor<64x48xi8>) outs(%arg4 : tensor<32x48xi32>)
// CHECK-NEXT:    ^bb0(%[[V:.+]]: i8, %[[W:.+]]: i8, %[[O:.+]]: i32):
// CHECK-NEXT:      %[[L:.+]] = arith.extsi %[[V]] : i8 to i32
// CHECK-NEXT:      %[[M:.+]] = arith.extsi %[[W]] : i8 to i32
// CHECK-NEXT:      %[[P:.+]] = arith.muli %[[L]], %[[M]] : i32
// CHECK-NEXT:      arith.addi %[[O]], %[[P]] : i32
// CHECK:         linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>]
// CHECK-SAME:      ins(%[[C]], %[[ROWS]], %[[COLUMNS]] :
// CHECK-NEXT:    ^bb0(%[[SUM:.+]]: i32, %[[ROW:.+]]: i32, %[[COLUMN:.+]]: i32, %{{.+}}: i32):
// CHECK-DAG:       %[[Y:.+]] = arith.muli %arg2, %[[COLUMN]] : i32
// CHECK-DAG:       %[[N:.+]] = arith.muli %arg2, %c64_i32 : i32
// CHECK:           %[[R:.+]] = arith.subi %[[ROW]], %[[N]] : i32
// CHECK-NEXT:      %[[X:.+]] = arith.muli %arg3, %[[R]] : i32
// CHECK-NEXT:      %[[D:.+]] = arith.subi %[[SUM]], %[[X]] : i32
// CHECK-NEXT:      %[[S:.+]] = arith.subi %[[D]], %[[Y]] : i32
// CHECK-NEXT:      linalg.yield %[[S]] : i32
func.func @matmul(%a: tensor<32x64xi8>, %b: tensor<64x48xi8>, %za: i32, %zb: i32, %c: tensor<32x48xi32>) -> tensor<32x48xi32> {
  %0 = linalg.quantized_matmul ins(%a, %b, %za, %zb : tensor<32x64xi8>, tensor<64x48xi8>, i32, i32) outs(%c : tensor<32x48xi32>) -> tensor<32x48xi32>
  return %0 : tensor<32x48xi32>
}

// Of a zero that is 0 there is nothing to subtract; the length of the sums is
// known to the launch alone, and not needed then.
// REMARK: TookOutZeroPoints {{.+}} Function=one_zero
// CHECK-LABEL: func.func @one_zero(
// CHECK:         %[[ROWS:.+]] = linalg.generic {{.+}} iterator_types = ["parallel", "reduction"]} ins(%arg0 : tensor<?x?xi8>)
// CHECK:         %[[C:.+]] = linalg.generic {{.+}} ins(%arg0, %arg1 : tensor<?x?xi8>, tensor<?x?xi8>)
// CHECK:         linalg.generic {{.+}} ins(%[[C]], %[[ROWS]] : tensor<?x?xi32>, tensor<?xi32>)
// CHECK-NEXT:    ^bb0(%[[SUM:.+]]: i32, %[[ROW:.+]]: i32, %{{.+}}: i32):
// CHECK-NEXT:      %[[X:.+]] = arith.muli %arg2, %[[ROW]] : i32
// CHECK-NEXT:      %[[S:.+]] = arith.subi %[[SUM]], %[[X]] : i32
// CHECK-NEXT:      linalg.yield %[[S]] : i32
func.func @one_zero(%a: tensor<?x?xi8>, %b: tensor<?x?xi8>, %zb: i32, %c: tensor<?x?xi32>) -> tensor<?x?xi32> {
  %za = arith.constant 0 : i32
  %0 = linalg.quantized_matmul ins(%a, %b, %za, %zb : tensor<?x?xi8>, tensor<?x?xi8>, i32, i32) outs(%c : tensor<?x?xi32>) -> tensor<?x?xi32>
  return %0 : tensor<?x?xi32>
}

// A convolution sums up windows of its image, which a tensor of their size tells.
// REMARK: TookOutZeroPoints {{.+}} Function=conv
// CHECK-LABEL: func.func @conv(
// CHECK:         %[[W:.+]] = tensor.empty() : tensor<3x3x32xi8>
// CHECK:         linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 * 2 + d3, d2 * 2 + d4, d5)>, affine_map<(d0, d1, d2, d3, d4, d5) -> (d3, d4, d5)>, affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2)>]
// CHECK-SAME:      ins(%arg0, %[[W]] :
// CHECK:         linalg.generic {{.+}} ins(%arg1 : tensor<3x3x32x64xi8>) outs(%{{.+}} : tensor<64xi32>)
// CHECK:         linalg.generic {{.+}} ins(%arg0, %arg1 : tensor<2x9x9x32xi8>, tensor<3x3x32x64xi8>)
func.func @conv(%a: tensor<2x9x9x32xi8>, %b: tensor<3x3x32x64xi8>, %za: i32, %zb: i32, %c: tensor<2x4x4x64xi32>) -> tensor<2x4x4x64xi32> {
  %0 = linalg.conv_2d_nhwc_hwcf_q {strides = dense<2> : tensor<2xi64>} ins(%a, %b, %za, %zb : tensor<2x9x9x32xi8>, tensor<3x3x32x64xi8>, i32, i32) outs(%c : tensor<2x4x4x64xi32>) -> tensor<2x4x4x64xi32>
  return %0 : tensor<2x4x4x64xi32>
}

// Not where elements are read a few times, of a zero for each row, of 16 bits,
// or without a zero.
// CHECK-LABEL: func.func @narrow(
// CHECK:         arith.subi
// CHECK-LABEL: func.func @zeros_of_rows(
// CHECK-NOT:     ins(%arg0, %arg1 :
// CHECK-LABEL: func.func @wide(
// CHECK-NOT:     ins(%arg0, %arg1 :
// CHECK-LABEL: func.func @without(
// CHECK:         linalg.generic {{.+}} ins(%arg0, %arg1 :
// CHECK-NOT:     linalg.generic
// REMARK-NOT: TookOutZeroPoints {{.+}} Function={{narrow|zeros_of_rows|wide|without|third|vectors|no_sum}}
func.func @narrow(%a: tensor<8x64xi8>, %b: tensor<64x48xi8>, %za: i32, %zb: i32, %c: tensor<8x48xi32>) -> tensor<8x48xi32> {
  %0 = linalg.quantized_matmul ins(%a, %b, %za, %zb : tensor<8x64xi8>, tensor<64x48xi8>, i32, i32) outs(%c : tensor<8x48xi32>) -> tensor<8x48xi32>
  return %0 : tensor<8x48xi32>
}
#rows = affine_map<(i, j, k) -> (i, k)>
#columns = affine_map<(i, j, k) -> (k, j)>
#zeros = affine_map<(i, j, k) -> (i)>
#result = affine_map<(i, j, k) -> (i, j)>
func.func @zeros_of_rows(%a: tensor<32x64xi8>, %b: tensor<64x48xi8>, %z: tensor<32xi32>, %c: tensor<32x48xi32>) -> tensor<32x48xi32> {
  %0 = linalg.generic {indexing_maps = [#rows, #columns, #zeros, #result], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b, %z : tensor<32x64xi8>, tensor<64x48xi8>, tensor<32xi32>) outs(%c : tensor<32x48xi32>) {
  ^bb0(%x: i8, %y: i8, %zero: i32, %o: i32):
    %1 = arith.extsi %x : i8 to i32
    %2 = arith.subi %1, %zero : i32
    %3 = arith.extsi %y : i8 to i32
    %4 = arith.muli %2, %3 : i32
    %5 = arith.addi %4, %o : i32
    linalg.yield %5 : i32
  } -> tensor<32x48xi32>
  return %0 : tensor<32x48xi32>
}
func.func @wide(%a: tensor<32x64xi16>, %b: tensor<64x48xi16>, %za: i32, %zb: i32, %c: tensor<32x48xi32>) -> tensor<32x48xi32> {
  %0 = linalg.quantized_matmul ins(%a, %b, %za, %zb : tensor<32x64xi16>, tensor<64x48xi16>, i32, i32) outs(%c : tensor<32x48xi32>) -> tensor<32x48xi32>
  return %0 : tensor<32x48xi32>
}
func.func @without(%a: tensor<32x64xi8>, %b: tensor<64x48xi8>, %c: tensor<32x48xi32>) -> tensor<32x48xi32> {
  %z = arith.constant 0 : i32
  %0 = linalg.quantized_matmul ins(%a, %b, %z, %z : tensor<32x64xi8>, tensor<64x48xi8>, i32, i32) outs(%c : tensor<32x48xi32>) -> tensor<32x48xi32>
  return %0 : tensor<32x48xi32>
}

// An operand that all results share, a third operand that tells how long the
// sums are, vectors of elements, and no sum at all.
// CHECK-LABEL: func.func @shared(
// CHECK:         linalg.generic {{.+}} iterator_types = ["reduction"]} ins(%arg0 : tensor<64xi8>) outs(%{{.+}} : tensor<i32>)
// CHECK:         linalg.generic {{.+}} ins(%arg0, %arg1 : tensor<64xi8>, tensor<64x48xi8>)
// CHECK-LABEL: func.func @third(
// CHECK:         linalg.generic {{.+}} ins(%arg0, %arg1, %arg2, %arg3 :
// CHECK-LABEL: func.func @vectors(
// CHECK-NOT:     ins(%arg0, %arg1 :
// CHECK-LABEL: func.func @no_sum(
// CHECK:         arith.subi
func.func @shared(%a: tensor<64xi8>, %b: tensor<64x48xi8>, %z: i32, %c: tensor<32x48xi32>) -> tensor<32x48xi32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k)>, #columns, affine_map<(i, j, k) -> ()>, #result], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b, %z : tensor<64xi8>, tensor<64x48xi8>, i32) outs(%c : tensor<32x48xi32>) {
  ^bb0(%x: i8, %y: i8, %zero: i32, %o: i32):
    %1 = arith.extsi %x : i8 to i32
    %2 = arith.extsi %y : i8 to i32
    %3 = arith.subi %2, %zero : i32
    %4 = arith.muli %1, %3 : i32
    %5 = arith.addi %4, %o : i32
    linalg.yield %5 : i32
  } -> tensor<32x48xi32>
  return %0 : tensor<32x48xi32>
}
func.func @third(%a: tensor<40xi8>, %b: tensor<56xi8>, %w: tensor<9xi8>, %z: i32, %c: tensor<32x48xi32>) -> tensor<32x48xi32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i + k)>, affine_map<(i, j, k) -> (j + k)>, affine_map<(i, j, k) -> (k)>, affine_map<(i, j, k) -> ()>, #result], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b, %w, %z : tensor<40xi8>, tensor<56xi8>, tensor<9xi8>, i32) outs(%c : tensor<32x48xi32>) {
  ^bb0(%x: i8, %y: i8, %unused: i8, %zero: i32, %o: i32):
    %1 = arith.extsi %x : i8 to i32
    %2 = arith.extsi %y : i8 to i32
    %3 = arith.subi %2, %zero : i32
    %4 = arith.muli %1, %3 : i32
    %5 = arith.addi %4, %o : i32
    linalg.yield %5 : i32
  } -> tensor<32x48xi32>
  return %0 : tensor<32x48xi32>
}
!in = vector<4xi8>
!sum = vector<4xi32>
func.func @vectors(%a: tensor<32x64x!in>, %b: tensor<64x48x!in>, %z: !sum, %c: tensor<32x48x!sum>) -> tensor<32x48x!sum> {
  %0 = linalg.generic {indexing_maps = [#rows, #columns, #result], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<32x64x!in>, tensor<64x48x!in>) outs(%c : tensor<32x48x!sum>) {
  ^bb0(%x: !in, %y: !in, %o: !sum):
    %1 = arith.extsi %x : !in to !sum
    %2 = arith.subi %1, %z : !sum
    %3 = arith.extsi %y : !in to !sum
    %4 = arith.muli %2, %3 : !sum
    %5 = arith.addi %4, %o : !sum
    linalg.yield %5 : !sum
  } -> tensor<32x48x!sum>
  return %0 : tensor<32x48x!sum>
}
func.func @no_sum(%a: tensor<63xi8>, %b: tensor<48xi8>, %z: i32, %c: tensor<32x48xi32>) -> tensor<32x48xi32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (2 * i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> ()>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b, %z : tensor<63xi8>, tensor<48xi8>, i32) outs(%c : tensor<32x48xi32>) {
  ^bb0(%x: i8, %y: i8, %zero: i32, %o: i32):
    %1 = arith.extsi %x : i8 to i32
    %2 = arith.extsi %y : i8 to i32
    %3 = arith.subi %2, %zero : i32
    %4 = arith.muli %1, %3 : i32
    %5 = arith.addi %4, %o : i32
    linalg.yield %5 : i32
  } -> tensor<32x48xi32>
  return %0 : tensor<32x48xi32>
}
