// RUN: mlir-opt %s | mlir-opt | FileCheck %s
// RUN: mlir-opt %s --mlir-print-op-generic | mlir-opt | FileCheck %s

#rows = #workgroup.tile<64x64 by 64, chunk 8, xor 0, 7, 0>
#boxes = #workgroup.tile<64x128 by 64, chunk 8, xor 0, 7, 0>
#half = #workgroup.tile<64x32 by 32, chunk 8, xor 1, 3, 0>
#narrow = #workgroup.tile<16x32 by 32, chunk 16, xor 2, 1, 0>
#W = #gpu.address_space<workgroup>
!D = vector<2x2xf32>

// The sum goes along the rows of the first tile, and across those of the second one.
// CHECK-LABEL: func @product
// CHECK-SAME:    %[[A:.+]]: memref<4096xf16, {{.*}}>, %[[B:.+]]: memref<8192xf16, {{.*}}>, %[[ROW:.+]]: index, %[[COLUMN:.+]]: index, %[[D:.+]]: vector<2x2xf32>
// CHECK:         workgroup.group_product %[[A]][%[[ROW]]] in <64x64 by 64, chunk 8, xor 0, 7, 0>, %[[B]][%[[COLUMN]]] in <64x128 by 64, chunk 8, xor 0, 7, 0> to %[[D]], %[[D]]
// CHECK-SAME:      : memref<4096xf16, #gpu.address_space<workgroup>>, memref<8192xf16, #gpu.address_space<workgroup>> to vector<2x2xf32>, vector<2x2xf32>
func.func @product(%a: memref<4096xf16, #W>, %b: memref<8192xf16, #W>, %row: index, %column: index, %d: !D) -> !D {
  %r:2 = workgroup.group_product %a[%row] in #rows, %b[%column] in #boxes to %d, %d
      : memref<4096xf16, #W>, memref<8192xf16, #W> to !D, !D
  return %r#1 : !D
}

// CHECK-LABEL: func @transposed
// CHECK:         workgroup.group_product {{.*}} {transpose_lhs, transpose_rhs}
func.func @transposed(%a: memref<8192xbf16, #W>, %b: memref<4096xbf16, #W>, %c0: index, %d: !D) -> !D {
  %r = workgroup.group_product %a[%c0] in #boxes, %b[%c0] in #rows to %d {transpose_lhs, transpose_rhs}
      : memref<8192xbf16, #W>, memref<4096xbf16, #W> to !D
  return %r : !D
}

// Rows of 64 and of 32 bytes, of elements of both sizes.
// CHECK-LABEL: func @rows
// CHECK-COUNT-2: workgroup.group_product
func.func @rows(%a: memref<2048xf16, #W>, %b: memref<2048xf8E4M3FN, 3>, %c: memref<512xf8E5M2, 3>, %c0: index, %d: !D) -> !D {
  %r = workgroup.group_product %a[%c0] in #half, %a[%c0] in #half to %d {transpose_rhs}
      : memref<2048xf16, #W>, memref<2048xf16, #W> to !D
  %s:2 = workgroup.group_product %b[%c0] in #workgroup.tile<64x32 by 32, chunk 16, xor 2, 1, 0>, %c[%c0] in #narrow to %r, %r {transpose_rhs}
      : memref<2048xf8E4M3FN, 3>, memref<512xf8E5M2, 3> to !D, !D
  return %s#0 : !D
}

// CHECK-LABEL: func @copy
// CHECK:         workgroup.copy %{{.+}} to %{{.+}} in <64x128 by 64, chunk 8, xor 0, 7, 0> : memref<64x128xf16, strided<[512, 1]>> to memref<8192xf16, #gpu.address_space<workgroup>>
func.func @copy(%x: memref<64x128xf16, strided<[512, 1]>>, %t: memref<8192xf16, #W>) {
  workgroup.copy %x to %t in #boxes : memref<64x128xf16, strided<[512, 1]>> to memref<8192xf16, #W>
  return
}

// A product goes on while the loop gets to the next one, and its slot waits for it.
// CHECK-LABEL: func @under_way
// CHECK:         workgroup.group_product {{.*}} {pending = 1 : i64}
// CHECK:         workgroup.release %{{.+}} {lag = 1 : i64}
// CHECK:         %[[DONE:.+]]:2 = workgroup.await_products %{{.+}}#0, %{{.+}}#1 : vector<2x2xf32>, vector<2x2xf32>
// CHECK:         return %[[DONE]]#1
func.func @under_way(%n: index, %c0: index, %c1: index, %d: !D) -> !D {
  %ring = workgroup.ring : !workgroup.ring<3 slots of memref<4096xf16, #W>, memref<8192xf16, #W>>
  %sums:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %d, %y = %d) -> (!D, !D) {
    %p:2 = workgroup.put %ring : !workgroup.ring<3 slots of memref<4096xf16, #W>, memref<8192xf16, #W>> -> memref<4096xf16, #W>, memref<8192xf16, #W>
    workgroup.commit %ring : !workgroup.ring<3 slots of memref<4096xf16, #W>, memref<8192xf16, #W>>
    %t:2 = workgroup.get %ring : !workgroup.ring<3 slots of memref<4096xf16, #W>, memref<8192xf16, #W>> -> memref<4096xf16, #W>, memref<8192xf16, #W>
    %r:2 = workgroup.group_product %t#0[%c0] in #rows, %t#1[%c0] in #boxes to %x, %y {pending = 1 : i64}
        : memref<4096xf16, #W>, memref<8192xf16, #W> to !D, !D
    workgroup.release %ring {lag = 1 : i64} : !workgroup.ring<3 slots of memref<4096xf16, #W>, memref<8192xf16, #W>>
    scf.yield %r#0, %r#1 : !D, !D
  }
  %done:2 = workgroup.await_products %sums#0, %sums#1 : !D, !D
  return %done#1 : !D
}

// CHECK-LABEL: func @warps
// CHECK:         workgroup.specialize {consumers = 256 : i64, producers = 128 : i64, registers = array<i64: 232, 40>} consumer {
// CHECK:           workgroup.release
// CHECK:         } producer {
// CHECK:           workgroup.put
func.func @warps(%n: index, %c0: index, %c1: index) {
  %ring = workgroup.ring : !workgroup.ring<2 slots of memref<64xf32, #W>>
  workgroup.specialize {consumers = 256 : i64, producers = 128 : i64, registers = array<i64: 232, 40>} consumer {
    scf.for %i = %c0 to %n step %c1 {
      %t = workgroup.get %ring : !workgroup.ring<2 slots of memref<64xf32, #W>> -> memref<64xf32, #W>
      workgroup.release %ring {lag = 1 : i64} : !workgroup.ring<2 slots of memref<64xf32, #W>>
    }
  } producer {
    scf.for %i = %c0 to %n step %c1 {
      %p = workgroup.put %ring : !workgroup.ring<2 slots of memref<64xf32, #W>> -> memref<64xf32, #W>
      workgroup.commit %ring : !workgroup.ring<2 slots of memref<64xf32, #W>>
    }
  }
  return
}

// Integers, of which the second ones have no sign, with sums of integers.
// CHECK-LABEL: func @integers
// CHECK:         workgroup.group_product {{.*}} {pending = 1 : i64, transpose_rhs, unsigned_rhs} : {{.*}} to vector<2x2xi32>
func.func @integers(%a: memref<2048xi8, #W>, %b: memref<512xi8, #W>, %c0: index, %d: vector<2x2xi32>) -> vector<2x2xi32> {
  %r = workgroup.group_product %a[%c0] in #workgroup.tile<64x32 by 32, chunk 16, xor 2, 1, 0>, %b[%c0] in #narrow to %d {pending = 1 : i64, transpose_rhs, unsigned_rhs}
      : memref<2048xi8, #W>, memref<512xi8, #W> to vector<2x2xi32>
  %s = workgroup.await_products %r : vector<2x2xi32>
  return %s : vector<2x2xi32>
}
