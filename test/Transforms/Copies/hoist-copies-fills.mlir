// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-hoist-copies{assume-distinct-arguments=true})' | FileCheck %s
// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-hoist-copies{assume-distinct-arguments=true max-bytes=0 chip=sm_80})' | FileCheck %s --check-prefix=CHIP

#wg = #gpu.address_space<workgroup>

// What was filled is not copied, but filled; of both fills of the tile one is
// left, and none of what is overwritten in the end.

// CHECK-LABEL: gpu.func @promoted
// CHECK-SAME:    %[[C:.+]]: memref<64x64xf32>, %{{.+}}) workgroup(%[[T:.+]] : memref<64x64xf32, #gpu.address_space<workgroup>>)
// CHECK:         linalg.fill ins(%{{.+}}) outs(%[[T]] :
// CHECK-NOT:     linalg.fill
// CHECK-NOT:     memref.copy %[[C]]
// CHECK:         memref.load
// CHECK:         memref.copy %[[T]], %[[C]]
// CHIP-LABEL:  gpu.func @promoted
gpu.module @kernels {
  gpu.func @promoted(%c: memref<64x64xf32>, %d: memref<64xf32>) workgroup(%t: memref<64x64xf32, #wg>) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%c : memref<64x64xf32>)
    linalg.fill ins(%zero : f32) outs(%t : memref<64x64xf32, #wg>)
    memref.copy %c, %t : memref<64x64xf32> to memref<64x64xf32, #wg>
    %v = memref.load %d[%c0] : memref<64xf32>
    memref.store %v, %t[%c0, %c0] : memref<64x64xf32, #wg>
    memref.copy %t, %c : memref<64x64xf32, #wg> to memref<64x64xf32>
    gpu.return
  }
}

// -----

#wg = #gpu.address_space<workgroup>

// Somebody reads what was filled, or it is written before it is copied: all stays.

// CHECK-LABEL: gpu.func @read_or_written
// CHECK:         linalg.fill
// CHECK:         memref.load
// CHECK:         memref.copy
// CHECK:         linalg.fill
// CHECK:         memref.store
// CHECK:         memref.copy
gpu.module @kernels {
  gpu.func @read_or_written(%c: memref<64xf32>, %d: memref<64xf32>, %e: memref<64xf32>) workgroup(%t: memref<64xf32, #wg>) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%c : memref<64xf32>)
    %v = memref.load %c[%c0] : memref<64xf32>
    memref.copy %e, %c : memref<64xf32> to memref<64xf32>
    linalg.fill ins(%zero : f32) outs(%d : memref<64xf32>)
    memref.store %v, %d[%c0] : memref<64xf32>
    memref.copy %d, %t : memref<64xf32> to memref<64xf32, #wg>
    gpu.return
  }
}

// -----

#wg = #gpu.address_space<workgroup>

// A buffer of 64 KiB lives longer than static memory allows, but not than that of the chip.

// CHECK-LABEL: gpu.func @large
// CHECK:         scf.for
// CHECK:           memref.copy
// CHIP-LABEL:  gpu.func @large
// CHIP:          scf.if
// CHIP-NEXT:       memref.copy
// CHIP:          scf.for
// CHIP-NOT:        memref.copy
gpu.module @kernels {
  gpu.func @large(%a: memref<128x128xf32>, %n: index) workgroup(%t: memref<128x128xf32, #wg>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      memref.copy %a, %t : memref<128x128xf32> to memref<128x128xf32, #wg>
      %v = memref.load %t[%i, %i] : memref<128x128xf32, #wg>
    }
    gpu.return
  }
}
