// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-memory,workgroup-allocate-device-memory{strict},func.func(gpu-async-region),workgroup-to-nvvm,gpu-module-to-binary{format=isa},convert-scf-to-cf,gpu-to-llvm{use-bare-pointers-for-kernels=1},finalize-memref-to-llvm,convert-to-llvm,reconcile-unrealized-casts)' | FileCheck %s

// What upstream's runner is given: memory of the device by its runtime, nothing
// registered, and one copy in each direction.
// CHECK-LABEL: llvm.func @main
// CHECK:         llvm.call @mgpuMemAlloc
// CHECK-COUNT-1: llvm.call @mgpuMemcpy
// CHECK:         gpu.launch_func
// CHECK-COUNT-1: llvm.call @mgpuMemcpy
// CHECK:         llvm.call @mgpuMemFree
// CHECK-NOT:     mgpuMemHostRegister
func.func @main(%a: memref<64xf32>) attributes {llvm.emit_c_interface} {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%i, %j, %k) in (%tx = %c64, %ty = %c1, %tz = %c1) {
    %f = memref.load %a[%i] : memref<64xf32>
    %g = arith.addf %f, %f : f32
    memref.store %g, %a[%i] : memref<64xf32>
    gpu.terminator
  }
  return
}
