// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-linalg-to-nvvm{assume-distinct-arguments=true assume-alignment=16},gpu-module-to-binary{format=isa})' | FileCheck %s
// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-linalg-to-nvvm{chip=sm_90a device-memory=true assume-distinct-arguments=true})' | FileCheck %s --check-prefix=DEVICE
// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-schedule-kernels{threads=64})' | FileCheck %s --check-prefix=THREADS

// From linalg to PTX in one word: a product of matrices with what is done to its
// result is one kernel.
// CHECK-LABEL: func.func @product
// CHECK-COUNT-1: gpu.launch_func
// CHECK-NOT:     linalg
// CHECK:       gpu.binary
// CHECK-SAME:    .visible .entry
// CHECK-SAME:    .shared
// CHECK-SAME:    fma.rn.f32
// DEVICE-LABEL: func.func @product
// DEVICE-COUNT-2: gpu.memcpy
// DEVICE:        gpu.launch_func
// DEVICE:        gpu.memcpy
// DEVICE:      chip = "sm_90a"
// THREADS:     gpu.launch
// THREADS-SAME:  threads
func.func @product(%a: tensor<128x64xf32>, %b: tensor<64x128xf32>, %bias: tensor<128xf32>) -> tensor<128x128xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<128x128xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%empty : tensor<128x128xf32>) -> tensor<128x128xf32>
  %c = linalg.matmul ins(%a, %b : tensor<128x64xf32>, tensor<64x128xf32>) outs(%filled : tensor<128x128xf32>) -> tensor<128x128xf32>
  %d = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%c, %bias : tensor<128x128xf32>, tensor<128xf32>) outs(%empty : tensor<128x128xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %s = arith.addf %x, %y : f32
      linalg.yield %s : f32
    } -> tensor<128x128xf32>
  return %d : tensor<128x128xf32>
}

// -----

// Of sizes that only the launch knows, on buffers.
// CHECK-LABEL: func.func @sum
// CHECK:         gpu.launch_func
// CHECK:       gpu.binary
// DEVICE-LABEL: func.func @sum
// DEVICE:        gpu.alloc (
func.func @sum(%x: memref<?x?xf32>, %y: memref<?xf32>) {
  linalg.reduce ins(%x : memref<?x?xf32>) outs(%y : memref<?xf32>) dimensions = [1]
    (%in: f32, %out: f32) {
      %s = arith.addf %in, %out : f32
      linalg.yield %s : f32
    }
  return
}

// -----

// A module that carries a schedule is scheduled by it, which is gone then.
// CHECK-LABEL: func.func @carried
// CHECK:         gpu.launch_func {{.*}} threads in (%c32
// CHECK-NOT:   transform
module attributes {transform.with_named_sequence} {
  func.func @carried(%x: memref<1024xf32>) {
    linalg.exp ins(%x : memref<1024xf32>) outs(%x : memref<1024xf32>)
    return
  }
  transform.named_sequence @__transform_main(%program: !transform.any_op {transform.consumed}) {
    %0 = transform.apply_registered_pass "workgroup-linalg-to-kernels" to %program : (!transform.any_op) -> !transform.any_op
    %1 = transform.structured.match ops{["func.func"]} attributes {sym_name = "carried_0_elementwise"} in %0 : (!transform.any_op) -> !transform.any_op
    %2 = transform.apply_registered_pass "workgroup-tile-kernel" with options = {"block" = [32]} to %1 : (!transform.any_op) -> !transform.any_op
    %3 = transform.apply_registered_pass "workgroup-bufferize" to %0 : (!transform.any_op) -> !transform.any_op
    %4 = transform.structured.match ops{["func.func"]} attributes {sym_name = "carried_0_elementwise"} in %3 : (!transform.any_op) -> !transform.any_op
    %5 = transform.apply_registered_pass "workgroup-place-buffers" to %4 : (!transform.any_op) -> !transform.any_op
    %6 = transform.apply_registered_pass "workgroup-map-to-threads" with options = {"threads" = 32} to %5 : (!transform.any_op) -> !transform.any_op
    %7 = transform.apply_registered_pass "workgroup-form-launches" with options = {"threads" = [32]} to %6 : (!transform.any_op) -> !transform.any_op
    %8 = transform.apply_registered_pass "inline" to %3 : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

// Kernels that are there stay as they are.
// CHECK-LABEL: func.func @given
// CHECK:         gpu.launch_func
// CHECK-COUNT-1: gpu.binary
func.func @given(%x: memref<32xf32>) {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%i, %j, %k) in (%tx = %c32, %ty = %c1, %tz = %c1) {
    %f = memref.load %x[%i] : memref<32xf32>
    %g = arith.addf %f, %f : f32
    memref.store %g, %x[%i] : memref<32xf32>
    gpu.terminator
  }
  return
}
