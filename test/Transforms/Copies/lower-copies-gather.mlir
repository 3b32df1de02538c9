// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-copies)' -o %t.once
// RUN: FileCheck %s --input-file=%t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-lower-copies)' | diff %t.once -
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-hoist-allocs,workgroup-verify-kernels)' -o /dev/null
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-copies{chip=sm_75})' | FileCheck %s --check-prefix=OLD

#wg = #gpu.address_space<workgroup>
#strided = affine_map<(y, c) -> (y * 2, c)>
#padded = affine_map<(y, c) -> (y - 1, c)>
#columns = affine_map<(c, x)[dx] -> (c, x + dx)>

gpu.module @gathers {
  // Rows of the tile are in the image as they are: 16 bytes at a time, and all of them are there.
  // CHECK-LABEL: gpu.func @whole
  // CHECK-NOT:     arith.select
  // CHECK:         nvgpu.device_async_copy %{{.+}}[%{{.+}}, %{{.+}}], %{{.+}}[%{{.+}}, %{{.+}}], 8 {bypassL1} : memref<32x64xf16>
  // CHECK:         nvgpu.device_async_wait
  // CHECK-NEXT:    gpu.barrier
  // OLD-LABEL:   gpu.func @whole
  // OLD:           vector.load {{.+}} : memref<32x64xf16>, vector<8xf16>
  // OLD-NOT:       nvgpu
  gpu.func @whole(%image: memref<32x64xf16> {llvm.align = 16}, %out: memref<f16>)
      workgroup(%tile: memref<16x64xf16, #wg>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    workgroup.gather %image by #strided to %tile : memref<32x64xf16> to memref<16x64xf16, #wg>
    %x = memref.load %tile[%c0, %c0] : memref<16x64xf16, #wg>
    memref.store %x, %out[] : memref<f16>
    gpu.return
  }

  // A row before the image: zeros, read from nowhere.
  // CHECK-LABEL: gpu.func @padded
  // CHECK:         %[[IS_IN:.+]] = arith.cmpi ult
  // CHECK:         %[[COUNT:.+]] = arith.select %[[IS_IN]]
  // CHECK:         %[[ROW:.+]] = arith.maxsi
  // CHECK:         nvgpu.device_async_copy %{{.+}}[%[[ROW]], %{{.+}}], {{.+}}, 8, %[[COUNT]] {bypassL1}
  // OLD-LABEL:   gpu.func @padded
  // OLD:           scf.if
  // OLD:             vector.load {{.+}} : memref<32x64xf16>, vector<8xf16>
  gpu.func @padded(%image: memref<32x64xf16> {llvm.align = 16}, %out: memref<f16>)
      workgroup(%tile: memref<16x64xf16, #wg>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    workgroup.gather %image by #padded to %tile : memref<32x64xf16> to memref<16x64xf16, #wg>
    %x = memref.load %tile[%c0, %c0] : memref<16x64xf16, #wg>
    memref.store %x, %out[] : memref<f16>
    gpu.return
  }

  // Runs that begin anywhere: by elements; two of a word have no cp.async.
  // CHECK-LABEL: gpu.func @anywhere
  // CHECK-NOT:     nvgpu
  // CHECK:         memref.load {{.+}} : memref<4x64xf16>
  // CHECK:         gpu.return
  gpu.func @anywhere(%image: memref<4x64xf16> {llvm.align = 16}, %dx: index, %out: memref<f16>)
      workgroup(%tile: memref<4x32xf16, #wg>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    workgroup.gather %image by #columns [%dx] within [%dx, %dx] to %tile : memref<4x64xf16> to memref<4x32xf16, #wg>
    %x = memref.load %tile[%c0, %c0] : memref<4x32xf16, #wg>
    memref.store %x, %out[] : memref<f16>
    gpu.return
  }
}
