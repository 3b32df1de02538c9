// RUN: %pipeline compile %s | FileCheck %s
// CHECK: .shared .align 16 .b8 __wg_reverse_kernel_0[1024]
// CHECK: bar.sync

// The program of the thread "Allocating workgroup memory for use by
// mlir-cuda-runner": an alloca of memory space 3 in a gpu.launch. Each block
// reverses its 256 numbers by way of it.

func.func @reverse(%data: memref<1024xf32>) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c256 = arith.constant 256 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c4, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c256, %sy = %c1, %sz = %c1) {
    %tile = memref.alloca() : memref<256xf32, 3>
    %i = affine.apply affine_map<(b, t) -> (b * 256 + t)>(%bx, %tx)
    %u = affine.apply affine_map<(t) -> (255 - t)>(%tx)
    %x = memref.load %data[%i] : memref<1024xf32>
    memref.store %x, %tile[%tx] : memref<256xf32, 3>
    %y = memref.load %tile[%u] : memref<256xf32, 3>
    memref.store %y, %data[%i] : memref<1024xf32>
    gpu.terminator
  }
  return
}
