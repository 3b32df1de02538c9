// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-copies{strategy=tma})' -o %t.once
// RUN: FileCheck %s --input-file=%t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-lower-copies{strategy=tma})' | diff %t.once -
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-copies{strategy=tma},workgroup-hoist-allocs,workgroup-verify-kernels)' -o /dev/null

// A kernel that is outlined already gets the map as another argument, and every
// launch passes its own. Copies of one box share it. Copies that TMA cannot do go
// by cp.async beside it; then the block has to meet.
#wg = #gpu.address_space<workgroup>
module attributes {gpu.container_module} {
  // CHECK-LABEL: func.func @main
  // CHECK-SAME:    (%[[A:.+]]: memref<128x128xf32>
  // CHECK:         %[[B:.+]] = memref.alloc()
  // CHECK:         %[[FIRST:.+]] = memref.cast %[[A]] : memref<128x128xf32> to memref<*xf32>
  // CHECK:         %[[MAP:.+]] = nvgpu.tma.create.descriptor %[[FIRST]]
  // CHECK-NEXT:    gpu.launch_func @kernels::@kernel {{.+}} args(%[[A]] : memref<128x128xf32>, %{{.+}} : memref<64xf32>, %[[MAP]] : !nvgpu.tensormap.descriptor<
  // CHECK:         %[[SECOND:.+]] = memref.cast %[[B]] : memref<128x128xf32> to memref<*xf32>
  // CHECK:         %[[OTHER:.+]] = nvgpu.tma.create.descriptor %[[SECOND]]
  // CHECK-NEXT:    gpu.launch_func @kernels::@kernel {{.+}} args(%[[B]] : memref<128x128xf32>, %{{.+}} : memref<64xf32>, %[[OTHER]] : !nvgpu.tensormap.descriptor<
  func.func @main(%a: memref<128x128xf32> {llvm.align = 16}, %out: memref<64xf32>) {
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %b = memref.alloc() : memref<128x128xf32>
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%a : memref<128x128xf32>, %out : memref<64xf32>)
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%b : memref<128x128xf32>, %out : memref<64xf32>)
    return
  }
  gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
    // CHECK-LABEL: gpu.func @kernel
    // CHECK-SAME:    (%{{.+}}: memref<128x128xf32> {llvm.noalias}, %[[OUT:.+]]: memref<64xf32>, %[[MAP:.+]]: !nvgpu.tensormap.descriptor<tensor = memref<32x32xf32, {{[^)]+}}>)
    // CHECK-SAME:    workgroup(%[[FIRST:.+]] : memref<32x32xf32, #gpu.address_space<workgroup>> {llvm.align = 128 : i64}, %[[SECOND:.+]] : memref<32x32xf32, #gpu.address_space<workgroup>> {llvm.align = 128 : i64}, %[[THIRD:.+]] : memref<64xf32, #gpu.address_space<workgroup>>
    // CHECK:         nvgpu.tma.async.load %[[MAP]]{{.+}} to %[[FIRST]]
    // CHECK:         nvgpu.tma.async.load %[[MAP]]{{.+}} to %[[SECOND]]
    // CHECK:         nvgpu.device_async_copy %[[OUT]]
    // CHECK:         nvgpu.device_async_wait
    // CHECK:         nvgpu.mbarrier.try_wait.parity
    // CHECK-NEXT:    gpu.barrier
    gpu.func @kernel(%a: memref<128x128xf32> {llvm.noalias}, %out: memref<64xf32>)
        workgroup(%first: memref<32x32xf32, #wg>, %second: memref<32x32xf32, #wg>, %third: memref<64xf32, #wg>)
        kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %x = gpu.thread_id x
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %s = memref.subview %a[%c64, 0] [32, 32] [1, 1] : memref<128x128xf32> to memref<32x32xf32, strided<[128, 1], offset: ?>>
      %t = memref.subview %a[0, %c64] [32, 32] [1, 1] : memref<128x128xf32> to memref<32x32xf32, strided<[128, 1], offset: ?>>
      memref.copy %s, %first : memref<32x32xf32, strided<[128, 1], offset: ?>> to memref<32x32xf32, #wg>
      memref.copy %t, %second : memref<32x32xf32, strided<[128, 1], offset: ?>> to memref<32x32xf32, #wg>
      memref.copy %out, %third : memref<64xf32> to memref<64xf32, #wg>
      %v = memref.load %second[%c0, %c0] : memref<32x32xf32, #wg>
      %w = memref.load %third[%x] : memref<64xf32, #wg>
      %sum = arith.addf %v, %w : f32
      memref.store %sum, %out[%x] : memref<64xf32>
      gpu.return
    }
  }
}
