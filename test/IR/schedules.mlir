// RUN: mlir-opt %s | mlir-opt | FileCheck %s

// CHECK-LABEL: func @round_trip
// CHECK:         linalg.matmul {workgroup.schedule = #workgroup.schedule<simt thread 8x4>}
func.func @round_trip(%a: memref<64x16xf32>, %b: memref<16x64xf32>, %c: memref<64x64xf32>) {
  linalg.matmul {workgroup.schedule = #workgroup.schedule< simt  thread 8x4 >}
    ins(%a, %b : memref<64x16xf32>, memref<16x64xf32>) outs(%c : memref<64x64xf32>)
  return
}

// It may stand where any attribute may.
// CHECK-LABEL: func private @other
// CHECK-SAME:    some.attribute = #workgroup.schedule<simt thread 1x240>
func.func private @other() attributes {some.attribute = #workgroup.schedule<simt thread 1x240>}
