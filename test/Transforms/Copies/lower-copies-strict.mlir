// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-copies{strict=false strategy=sync})' --remarks-filter='workgroup.*' --remark-format=emitRemark --verify-diagnostics | FileCheck %s

// What cannot be lowered stays, and says why; other copies are lowered.
gpu.module @kernels {
  // CHECK-LABEL: gpu.func @unranked
  // CHECK: memref.copy %{{.*}} : memref<*xf32> to memref<64xf32>
  // CHECK: memref.store
  gpu.func @unranked(%in: memref<*xf32>, %x: memref<64xf32>, %out: memref<64xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    // expected-remark @+1 {{[Missed] NotLowered | Category:workgroup-lower-copies | Function=unranked | Reason="unranked operand 'memref<*xf32>'; cast it to a ranked type", Remark="copy left as it is"}}
    memref.copy %in, %out : memref<*xf32> to memref<64xf32>
    // expected-remark @+3 {{InsertedBarrier}}
    // expected-remark @+2 {{LoweredCopy}}
    // expected-remark @+1 {{NarrowCopy}}
    memref.copy %x, %out : memref<64xf32> to memref<64xf32>
    gpu.return
  }
  // CHECK-LABEL: gpu.func @overlap
  // CHECK: memref.copy
  gpu.func @overlap(%a: memref<8x8xf32>) kernel {
    %to = memref.transpose %a (i, j) -> (j, i) : memref<8x8xf32> to memref<8x8xf32, strided<[1, 8]>>
    // expected-remark @+1 {{NotLowered | Category:workgroup-lower-copies | Function=overlap | Reason="overlapping operands; copy through another buffer, or make the slices provably disjoint"}}
    memref.copy %a, %to : memref<8x8xf32> to memref<8x8xf32, strided<[1, 8]>>
    gpu.return
  }
  // CHECK-LABEL: gpu.func @undecided
  // CHECK: scf.if
  // CHECK-NEXT: memref.copy
  gpu.func @undecided(%a: memref<64xf32>, %f: memref<1xi1>) workgroup(%w: memref<64xf32, 3>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c = memref.load %f[%c0] : memref<1xi1>
    memref.store %c, %f[%c0] : memref<1xi1>
    scf.if %c {
      // expected-remark @+1 {{NotLowered | Category:workgroup-lower-copies | Function=undecided | Reason="not known to be executed by all threads together with the same operands"}}
      memref.copy %a, %w : memref<64xf32> to memref<64xf32, 3>
    }
    gpu.return
  }
}
