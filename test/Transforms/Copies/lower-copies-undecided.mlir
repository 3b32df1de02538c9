// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-copies{insert-barriers=false})' --remarks-filter='workgroup.*' --remark-format=emitRemark --verify-diagnostics | FileCheck %s

// The condition is loaded from memory that the kernel writes. Where barriers are
// somebody else's to place, each thread does all of the copy: as the op says.
gpu.module @kernels {
  // CHECK-LABEL: gpu.func @undecided
  // CHECK: scf.if
  // CHECK-NOT: thread_id
  // CHECK-NOT: barrier
  // CHECK: scf.for %[[I:.*]] = %c0{{.*}} to %c64{{.*}} step %c1
  // CHECK: memref.load %{{.*}}[%[[I]]]
  // CHECK: memref.store %{{.*}}[%[[I]]] : memref<64xf32, 3>
  // CHECK-NOT: barrier
  // CHECK: gpu.return
  gpu.func @undecided(%a: memref<64xf32>, %f: memref<1xi1>) workgroup(%w: memref<64xf32, 3>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c = memref.load %f[%c0] : memref<1xi1>
    memref.store %c, %f[%c0] : memref<1xi1>
    scf.if %c {
      // expected-remark @+3 {{[Missed] CopyPerThread | Category:workgroup-lower-copies | Function=undecided | Reason="not known to be executed by all threads together with the same operands", Remark="copy lowered per thread"}}
      // expected-remark @+2 {{LoweredCopy}}
      // expected-remark @+1 {{NarrowCopy}}
      memref.copy %a, %w : memref<64xf32> to memref<64xf32, 3>
    }
    gpu.return
  }
}
