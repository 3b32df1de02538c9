// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-copies)' | FileCheck %s

// Copies of the host are the host's business.
// CHECK-LABEL: func.func @on_host
// CHECK:         memref.copy
// CHECK:         linalg.copy
func.func @on_host(%in: memref<64xf32>, %out: memref<64xf32>) {
  memref.copy %in, %out : memref<64xf32> to memref<64xf32>
  linalg.copy ins(%in : memref<64xf32>) outs(%out : memref<64xf32>)
  return
}

// A function that a launch calls runs on the device, and this one on the host as
// well: it must not ask for threads or wait for them.
// CHECK-LABEL: func.func @of_both
// CHECK-NOT:     gpu.
// CHECK:         return
memref.global @a : memref<64xf32> = uninitialized
memref.global @b : memref<64xf32> = uninitialized
func.func @of_both() {
  %a = memref.get_global @a : memref<64xf32>
  %b = memref.get_global @b : memref<64xf32>
  memref.copy %a, %b : memref<64xf32> to memref<64xf32>
  return
}
func.func @calls() {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  func.call @of_both() : () -> ()
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    func.call @of_both() : () -> ()
    gpu.terminator
  }
  return
}
