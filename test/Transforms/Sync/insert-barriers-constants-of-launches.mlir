// What upstream's outlining leaves: constants are arguments of the kernel, and every launch passes the same ones. One barrier is enough, between the loops.

// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-insert-barriers)' -o %t
// RUN: FileCheck %s < %t
// RUN: mlir-opt %t --pass-pipeline='builtin.module(workgroup-insert-barriers)' | diff %t -
// RUN: mlir-opt %t --pass-pipeline='builtin.module(workgroup-eliminate-barriers)' | diff %t -

// CHECK-LABEL: gpu.func @reversed
// CHECK-NOT:     gpu.barrier
// CHECK:         scf.for
// CHECK-NOT:     gpu.barrier
// CHECK:         }
// CHECK-NEXT:    gpu.barrier
// CHECK-NEXT:    scf.for
// CHECK-NOT:     gpu.barrier
// CHECK:         gpu.return
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @reversed(%x: memref<256xf32> {llvm.noalias}, %y: memref<256xf32> {llvm.noalias}, %from: index, %to: index, %step: index, %last: index)
        workgroup(%S: memref<256xf32, #gpu.address_space<workgroup>>) kernel {
      %t = gpu.thread_id x
      scf.for %i = %from to %to step %step {
        %k = arith.addi %i, %t : index
        %v = memref.load %x[%k] : memref<256xf32>
        memref.store %v, %S[%k] : memref<256xf32, #gpu.address_space<workgroup>>
      }
      scf.for %i = %from to %to step %step {
        %k = arith.addi %i, %t : index
        %r = arith.subi %last, %k : index
        %w = memref.load %S[%r] : memref<256xf32, #gpu.address_space<workgroup>>
        memref.store %w, %y[%k] : memref<256xf32>
      }
      gpu.return
    }

    // CHECK-LABEL: gpu.func @two_steps
    // CHECK-COUNT-2: gpu.barrier
    // CHECK-NOT:     gpu.barrier
    gpu.func @two_steps(%x: memref<256xf32> {llvm.noalias}, %y: memref<256xf32> {llvm.noalias}, %from: index, %to: index, %step: index, %last: index)
        workgroup(%S: memref<256xf32, #gpu.address_space<workgroup>>) kernel {
      %t = gpu.thread_id x
      scf.for %i = %from to %to step %step {
        %k = arith.addi %i, %t : index
        %v = memref.load %x[%k] : memref<256xf32>
        memref.store %v, %S[%k] : memref<256xf32, #gpu.address_space<workgroup>>
      }
      scf.for %i = %from to %to step %step {
        %k = arith.addi %i, %t : index
        %r = arith.subi %last, %k : index
        %w = memref.load %S[%r] : memref<256xf32, #gpu.address_space<workgroup>>
        memref.store %w, %y[%k] : memref<256xf32>
      }
      gpu.return
    }
  }

  func.func @main(%x: memref<256xf32>, %y: memref<256xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %c255 = arith.constant 255 : index
    %c256 = arith.constant 256 : index
    gpu.launch_func @kernels::@reversed blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%x : memref<256xf32>, %y : memref<256xf32>, %c0 : index, %c256 : index, %c64 : index, %c255 : index)
    gpu.launch_func @kernels::@two_steps blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%x : memref<256xf32>, %y : memref<256xf32>, %c0 : index, %c256 : index, %c64 : index, %c255 : index)
    gpu.launch_func @kernels::@two_steps blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%x : memref<256xf32>, %y : memref<256xf32>, %c0 : index, %c256 : index, %c32 : index, %c255 : index)
    return
  }
}
