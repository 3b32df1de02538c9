// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-memory)' | FileCheck %s

// What no kernel calls need not be right, nor keep barriers out of what one does.
// CHECK-LABEL: gpu.module @library
// CHECK-NOT:     func.func private @unused
// CHECK:         func.func private @exchange
// CHECK:           gpu.barrier
// CHECK-LABEL:   gpu.func @k
!S = memref<128xf32, #gpu.address_space<workgroup>>
gpu.module @library {
  func.func private @unused(%S: !S, %t: index, %u: index, %out: memref<128xf32>, %p: i1) {
    scf.if %p {
      gpu.barrier
      func.call @exchange(%S, %t, %u, %out) : (!S, index, index, memref<128xf32>) -> ()
    }
    return
  }
  func.func private @exchange(%S: !S, %t: index, %u: index, %out: memref<128xf32>) {
    %x = arith.constant 1.0 : f32
    memref.store %x, %S[%t] : !S
    %y = memref.load %S[%u] : !S
    memref.store %y, %out[%t] : memref<128xf32>
    return
  }
  gpu.func @k(%out: memref<128xf32> {llvm.noalias}) workgroup(%S: !S) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    func.call @exchange(%S, %t, %u, %out) : (!S, index, index, memref<128xf32>) -> ()
    gpu.return
  }
}

// -----

// A host function that nobody in sight calls has kernels all the same.
// CHECK-LABEL: func.func private @main(
// CHECK:         gpu.launch_func @main_kernel::@main_kernel
// CHECK:       gpu.module @main_kernel
func.func private @main(%a: memref<32xf32>) {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %v = memref.load %a[%tx] : memref<32xf32>
    %w = arith.addf %v, %v : f32
    memref.store %w, %a[%tx] : memref<32xf32>
    gpu.terminator
  }
  return
}
