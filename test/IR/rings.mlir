// RUN: mlir-opt %s | mlir-opt | FileCheck %s
// RUN: mlir-opt %s --mlir-print-op-generic | mlir-opt | FileCheck %s

!tile = memref<64x32xf16, #gpu.address_space<workgroup>>
!row = memref<32xf32, 3>
!ring = !workgroup.ring<3 slots of !tile, !row>

// An iteration that puts and gets.
// CHECK-LABEL: func @one_iteration
// CHECK:         %[[RING:.+]] = workgroup.ring : !workgroup.ring<3 slots of memref<64x32xf16, #gpu.address_space<workgroup>>, memref<32xf32, 3>>
// CHECK:         scf.for
// CHECK:           %[[PUT:.+]]:2 = workgroup.put %[[RING]] : !workgroup.ring<3 slots of memref<64x32xf16, #gpu.address_space<workgroup>>, memref<32xf32, 3>> -> memref<64x32xf16, #gpu.address_space<workgroup>>, memref<32xf32, 3>
// CHECK:           workgroup.copy %{{.+}} to %[[PUT]]#0 : memref<?x32xf16> to memref<64x32xf16, #gpu.address_space<workgroup>>
// CHECK:           workgroup.copy %{{.+}} to %[[PUT]]#1 : memref<32xf32> to memref<32xf32, 3>
// CHECK:           workgroup.commit %[[RING]]
// CHECK:           workgroup.get %[[RING]]
// CHECK:           workgroup.release %[[RING]]
func.func @one_iteration(%a: memref<?x32xf16>, %b: memref<32xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %ring = workgroup.ring : !ring
  scf.for %i = %c0 to %n step %c1 {
    %put:2 = workgroup.put %ring : !ring -> !tile, !row
    workgroup.copy %a to %put#0 : memref<?x32xf16> to !tile
    workgroup.copy %b to %put#1 : memref<32xf32> to !row
    workgroup.commit %ring : !ring
    %got:2 = workgroup.get %ring : !ring -> !tile, !row
    workgroup.release %ring : !ring
  }
  return
}

// Releases may lag behind: two slots are held, and one is filled.
// CHECK-LABEL: func @lag
func.func @lag(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %ring = workgroup.ring : !ring
  %first:2 = workgroup.put %ring : !ring -> !tile, !row
  workgroup.commit %ring : !ring
  %got:2 = workgroup.get %ring : !ring -> !tile, !row
  scf.for %i = %c0 to %n step %c1 {
    %put:2 = workgroup.put %ring : !ring -> !tile, !row
    workgroup.commit %ring : !ring
    %next:2 = workgroup.get %ring : !ring -> !tile, !row
    workgroup.release %ring : !ring
  }
  workgroup.release %ring : !ring
  return
}

// Both branches do the same.
// CHECK-LABEL: func @branches
func.func @branches(%condition: i1) {
  %ring = workgroup.ring : !ring
  scf.if %condition {
    %put:2 = workgroup.put %ring : !ring -> !tile, !row
    workgroup.commit %ring : !ring
  } else {
    %put:2 = workgroup.put %ring : !ring -> !tile, !row
    workgroup.commit %ring : !ring
  }
  %got:2 = workgroup.get %ring : !ring -> !tile, !row
  workgroup.release %ring : !ring
  return
}

// Layouts of tiles, and the affine map that one of them is.
// CHECK-LABEL: func @layouts
// CHECK-SAME:    memref<64x64xf16, #workgroup.tile<64x64 by 32, chunk 8, xor 1, 3, 0>, 3>
// CHECK-SAME:    memref<64x128xf16, #workgroup.tile<64x128 by 64, chunk 8, xor 0, 7, 0>, 3>
func.func @layouts(%a: memref<64x64xf16, #workgroup.tile<64x64 by 32, chunk 8, xor 1, 3, 0>, 3>,
                   %b: memref<64x128xf16, #workgroup.tile<64x128 by 64, chunk 8, xor 0, 7, 0>, 3>) {
  return
}

// A ring that nobody uses goes.
// CHECK-LABEL: func @unused
func.func @unused() {
  %ring = workgroup.ring : !ring
  return
}

// Threads that are to fill its slots.
// CHECK-LABEL: func @asks
// CHECK:         workgroup.ring {producers = 128 : i64} : !workgroup.ring<3 slots of
func.func @asks() {
  %ring = workgroup.ring {producers = 128 : i64} : !ring
  return
}
