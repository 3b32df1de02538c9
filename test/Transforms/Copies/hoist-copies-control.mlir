// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-hoist-copies)' -o %t.once
// RUN: FileCheck %s --input-file=%t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-hoist-copies)' | diff %t.once -

// Copies in branches, and in loops that may have no iteration.

#wg = #gpu.address_space<workgroup>

gpu.module @kernels {
  // A branch that does nothing but copy goes along, through two loops.
  // CHECK-LABEL: gpu.func @branch
  // CHECK-SAME: %[[A:[a-z0-9]+]]: memref<64xf32>, %[[OUT:[a-z0-9]+]]: memref<64xf32> {llvm.noalias}, %[[N:[a-z0-9]+]]: index, %[[C:[a-z0-9]+]]: i1
  // CHECK: %[[INNER:.*]] = arith.cmpi slt, %c0{{.*}}, %[[N]]
  // CHECK: %[[OUTER:.*]] = arith.cmpi slt, %c0{{.*}}, %[[N]]
  // CHECK: scf.if %[[OUTER]] {
  // CHECK: scf.if %[[INNER]] {
  // CHECK: scf.if %[[C]] {
  // CHECK: memref.copy %[[A]]
  // CHECK: scf.for
  // CHECK: scf.for
  // CHECK-NOT: memref.copy
  // CHECK: gpu.return
  gpu.func @branch(%a: memref<64xf32>, %out: memref<64xf32> {llvm.noalias}, %n: index, %c: i1)
      workgroup(%w: memref<64xf32, #wg>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      scf.for %j = %c0 to %n step %c1 {
        scf.if %c {
          memref.copy %a, %w : memref<64xf32> to memref<64xf32, #wg>
        }
        %v = memref.load %w[%j] : memref<64xf32, #wg>
        memref.store %v, %out[%i] : memref<64xf32>
      }
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @affine
  // CHECK: memref.copy
  // CHECK: affine.for
  // CHECK-NOT: memref.copy
  // CHECK: gpu.return
  gpu.func @affine(%a: memref<64xf32>, %out: memref<64xf32> {llvm.noalias}) kernel {
    affine.for %i = 0 to 10 {
      %w = memref.alloc() : memref<64xf32, #wg>
      memref.copy %a, %w : memref<64xf32> to memref<64xf32, #wg>
      %v = affine.load %w[%i] : memref<64xf32, #wg>
      affine.store %v, %out[%i] : memref<64xf32>
    }
    gpu.return
  }

  // The largest of the lower bounds, the smallest of the upper ones.
  // CHECK-LABEL: gpu.func @affine_bounds
  // CHECK-SAME: %[[M:[a-z0-9]+]]: index, %[[N:[a-z0-9]+]]: index
  // CHECK: %[[FROM:.*]] = affine.max #{{.*}}()[%[[M]]]
  // CHECK: %[[TO:.*]] = affine.min #{{.*}}()[%[[N]]]
  // CHECK: %[[SOME:.*]] = arith.cmpi slt, %[[FROM]], %[[TO]]
  // CHECK: scf.if %[[SOME]] {
  // CHECK: memref.copy
  // CHECK: affine.for
  // CHECK-NOT: memref.copy
  // CHECK: gpu.return
  gpu.func @affine_bounds(%m: index, %n: index, %a: memref<64xf32>, %out: memref<64xf32> {llvm.noalias})
      workgroup(%w: memref<64xf32, #wg>) kernel {
    affine.for %i = max affine_map<()[s0] -> (s0, 1)>()[%m] to min affine_map<()[s0] -> (s0 + 1, 64)>()[%n] {
      memref.copy %a, %w : memref<64xf32> to memref<64xf32, #wg>
      %v = affine.load %w[%i] : memref<64xf32, #wg>
      affine.store %v, %out[%i] : memref<64xf32>
    }
    gpu.return
  }

  // What may trap is done in any case if the loop has an iteration.
  // CHECK-LABEL: gpu.func @trap
  // CHECK: arith.divui
  // CHECK: memref.copy
  // CHECK: scf.for
  // CHECK-NOT: memref.copy
  // CHECK: gpu.return
  gpu.func @trap(%a: memref<640xf32>, %out: memref<64xf32> {llvm.noalias}, %n: index, %d: index)
      workgroup(%w: memref<64xf32, #wg>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    scf.for %i = %c0 to %c4 step %c1 {
      %q = arith.divui %n, %d : index
      %s = memref.subview %a[%q] [64] [1] : memref<640xf32> to memref<64xf32, strided<[1], offset: ?>>
      memref.copy %s, %w : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32, #wg>
      %v = memref.load %w[%i] : memref<64xf32, #wg>
      memref.store %v, %out[%i] : memref<64xf32>
    }
    gpu.return
  }
}
