// RUN: mlir-opt %s --pass-pipeline='builtin.module(gpu.module(workgroup-legalize-for-nvvm))' | FileCheck %s

// Exponentials that may be approximated are one instruction; others are left to
// libdevice.

// CHECK-LABEL: gpu.func @exponentials
// CHECK-DAG:     %[[SCALE:.+]] = arith.constant 1.44269502 : f32
// CHECK:         %[[E:.+]] = arith.mulf %{{.+}}, %[[SCALE]] : f32
// CHECK:         llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"(%[[E]]) : (f32) -> f32
// CHECK:         llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"(%arg1) : (f32) -> f32
// CHECK:         math.exp %arg1 : f32
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
// CHECK:         math.exp %{{.+}} fastmath<afn> : f64
gpu.module @kernels {
  gpu.func @exponentials(%out: memref<8xf32>, %x: f32, %v: vector<2xf32>, %w: f64, %wide: memref<1xf64>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %0 = math.exp %x fastmath<afn> : f32
    memref.store %0, %out[%c0] : memref<8xf32>
    %1 = math.exp2 %x fastmath<afn> : f32
    memref.store %1, %out[%c1] : memref<8xf32>
    %2 = math.exp %x : f32
    memref.store %2, %out[%c2] : memref<8xf32>
    %3 = math.exp %v fastmath<afn> : vector<2xf32>
    vector.store %3, %out[%c4] : memref<8xf32>, vector<2xf32>
    %4 = math.exp %w fastmath<afn> : f64
    memref.store %4, %wide[%c0] : memref<1xf64>
    gpu.return
  }
}
