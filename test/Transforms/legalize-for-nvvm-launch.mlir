// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-legalize-for-nvvm)' --split-input-file | FileCheck %s

// On a whole module, before outlining.

// The host's vectors are the host's.
// CHECK-LABEL: func.func @host
// CHECK:         vector.multi_reduction
func.func @host(%a: vector<2x4xf32>) -> vector<2xf32> {
  %zero = arith.constant dense<0.0> : vector<2xf32>
  %sums = vector.multi_reduction <add>, %a, %zero [1] : vector<2x4xf32> to vector<2xf32>
  return %sums : vector<2xf32>
}

// -----

// A launch is prepared like what outlining makes of it.
// CHECK-LABEL: func.func @in_launch
// CHECK:         gpu.launch
// CHECK-NOT:     linalg.fill
// CHECK-NOT:     gpu.subgroup_size
// CHECK:         scf.for
// CHECK:         gpu.terminator
func.func @in_launch(%a: memref<64xf32>, %sizes: memref<index>, %zero: f32) {
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    linalg.fill ins(%zero : f32) outs(%a : memref<64xf32>)
    %size = gpu.subgroup_size : index
    memref.store %size, %sizes[] : memref<index>
    gpu.terminator
  }
  return
}
