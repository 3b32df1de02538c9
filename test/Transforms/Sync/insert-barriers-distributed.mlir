// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-insert-barriers)' | FileCheck %s
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-eliminate-barriers)' | FileCheck %s --check-prefix=FEWER
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-insert-barriers,workgroup-verify-sync{strict})' -o /dev/null

// Tiles of fill and matmul distributed over 32 x 8 threads (thread "Synchronization
// after distribution"): those of the result are the same thread's, those of the
// operands are copied for all.
gpu.module @m {
  // One barrier before the copies, one behind both.
  // CHECK-LABEL: gpu.func @without(
  // CHECK-NOT:     gpu.barrier
  // CHECK:         linalg.fill
  // CHECK-NOT:     gpu.barrier
  // CHECK:         scf.for
  // CHECK-COUNT-2:   memref.subview
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NEXT:      memref.copy
  // CHECK-NEXT:      memref.copy
  // CHECK-NEXT:      gpu.barrier
  // CHECK-NEXT:      scf.for
  // CHECK-NOT:     barrier
  // CHECK:         linalg.matmul
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @without(%A: memref<1024x1024xf32> {llvm.noalias}, %B: memref<1024x1024xf32> {llvm.noalias}, %C: memref<1024x1024xf32> {llvm.noalias}, %f: f32)
      workgroup(%S: memref<32x32xf32, 3>, %T: memref<32x128xf32, 3>) kernel
      attributes {known_block_size = array<i32: 32, 8, 1>} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c128 = arith.constant 128 : index
    %c1024 = arith.constant 1024 : index
    %x = gpu.thread_id x
    %y = gpu.thread_id y
    %bx = gpu.block_id x
    %by = gpu.block_id y
    %m0 = affine.apply affine_map<()[s0] -> (s0 * 32)>()[%by]
    %n0 = affine.apply affine_map<()[s0] -> (s0 * 128)>()[%bx]
    %y4 = affine.apply affine_map<()[s0] -> (s0 * 4)>()[%y]
    %x4 = affine.apply affine_map<()[s0] -> (s0 * 4)>()[%x]
    scf.for %m = %m0 to %c1024 step %c1024 {
      scf.for %n = %n0 to %c1024 step %c1024 {
        %lhs = memref.subview %A[%m, 0] [32, 1024] [1, 1] : memref<1024x1024xf32> to memref<32x1024xf32, strided<[1024, 1], offset: ?>>
        %rhs = memref.subview %B[0, %n] [1024, 128] [1, 1] : memref<1024x1024xf32> to memref<1024x128xf32, strided<[1024, 1], offset: ?>>
        %res = memref.subview %C[%m, %n] [32, 128] [1, 1] : memref<1024x1024xf32> to memref<32x128xf32, strided<[1024, 1], offset: ?>>
        scf.for %i = %y4 to %c32 step %c32 {
          scf.for %j = %x4 to %c128 step %c128 {
            %t = memref.subview %res[%i, %j] [4, 4] [1, 1] : memref<32x128xf32, strided<[1024, 1], offset: ?>> to memref<4x4xf32, strided<[1024, 1], offset: ?>>
            linalg.fill ins(%f : f32) outs(%t : memref<4x4xf32, strided<[1024, 1], offset: ?>>)
          }
        }
        scf.for %k = %c0 to %c1024 step %c32 {
          %l = memref.subview %lhs[0, %k] [32, 32] [1, 1] : memref<32x1024xf32, strided<[1024, 1], offset: ?>> to memref<32x32xf32, strided<[1024, 1], offset: ?>>
          %r = memref.subview %rhs[%k, 0] [32, 128] [1, 1] : memref<1024x128xf32, strided<[1024, 1], offset: ?>> to memref<32x128xf32, strided<[1024, 1], offset: ?>>
          memref.copy %l, %S : memref<32x32xf32, strided<[1024, 1], offset: ?>> to memref<32x32xf32, 3>
          memref.copy %r, %T : memref<32x128xf32, strided<[1024, 1], offset: ?>> to memref<32x128xf32, 3>
          scf.for %i = %y4 to %c32 step %c32 {
            scf.for %j = %x4 to %c128 step %c128 {
              %a = memref.subview %S[%i, 0] [4, 32] [1, 1] : memref<32x32xf32, 3> to memref<4x32xf32, strided<[32, 1], offset: ?>, 3>
              %b = memref.subview %T[0, %j] [32, 4] [1, 1] : memref<32x128xf32, 3> to memref<32x4xf32, strided<[128, 1], offset: ?>, 3>
              %c = memref.subview %res[%i, %j] [4, 4] [1, 1] : memref<32x128xf32, strided<[1024, 1], offset: ?>> to memref<4x4xf32, strided<[1024, 1], offset: ?>>
              linalg.matmul ins(%a, %b : memref<4x32xf32, strided<[32, 1], offset: ?>, 3>, memref<32x4xf32, strided<[128, 1], offset: ?>, 3>) outs(%c : memref<4x4xf32, strided<[1024, 1], offset: ?>>)
            }
          }
        }
      }
    }
    gpu.return
  }
  // Of five barriers two are left.
  // FEWER-LABEL: gpu.func @with_five(
  // FEWER-NOT:     gpu.barrier
  // FEWER:         memref.copy
  // FEWER-NEXT:    memref.copy
  // FEWER-NEXT:    gpu.barrier
  // FEWER-NEXT:    scf.for
  // FEWER-NOT:     gpu.barrier
  // FEWER:         linalg.matmul
  // FEWER:         gpu.barrier
  // FEWER-NEXT:    }
  // FEWER-NOT:     barrier
  // FEWER:         gpu.return
  // Those that are there suffice.
  // CHECK-LABEL: gpu.func @with_five(
  // CHECK-COUNT-5: gpu.barrier
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @with_five(%A: memref<1024x1024xf32> {llvm.noalias}, %B: memref<1024x1024xf32> {llvm.noalias}, %C: memref<1024x1024xf32> {llvm.noalias}, %f: f32)
      workgroup(%S: memref<32x32xf32, 3>, %T: memref<32x128xf32, 3>) kernel
      attributes {known_block_size = array<i32: 32, 8, 1>} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c128 = arith.constant 128 : index
    %c1024 = arith.constant 1024 : index
    %x = gpu.thread_id x
    %y = gpu.thread_id y
    %bx = gpu.block_id x
    %by = gpu.block_id y
    %m0 = affine.apply affine_map<()[s0] -> (s0 * 32)>()[%by]
    %n0 = affine.apply affine_map<()[s0] -> (s0 * 128)>()[%bx]
    %y4 = affine.apply affine_map<()[s0] -> (s0 * 4)>()[%y]
    %x4 = affine.apply affine_map<()[s0] -> (s0 * 4)>()[%x]
    scf.for %m = %m0 to %c1024 step %c1024 {
      scf.for %n = %n0 to %c1024 step %c1024 {
        %lhs = memref.subview %A[%m, 0] [32, 1024] [1, 1] : memref<1024x1024xf32> to memref<32x1024xf32, strided<[1024, 1], offset: ?>>
        %rhs = memref.subview %B[0, %n] [1024, 128] [1, 1] : memref<1024x1024xf32> to memref<1024x128xf32, strided<[1024, 1], offset: ?>>
        %res = memref.subview %C[%m, %n] [32, 128] [1, 1] : memref<1024x1024xf32> to memref<32x128xf32, strided<[1024, 1], offset: ?>>
        scf.for %i = %y4 to %c32 step %c32 {
          scf.for %j = %x4 to %c128 step %c128 {
            %t = memref.subview %res[%i, %j] [4, 4] [1, 1] : memref<32x128xf32, strided<[1024, 1], offset: ?>> to memref<4x4xf32, strided<[1024, 1], offset: ?>>
            linalg.fill ins(%f : f32) outs(%t : memref<4x4xf32, strided<[1024, 1], offset: ?>>)
          }
        }
        scf.for %k = %c0 to %c1024 step %c32 {
          %l = memref.subview %lhs[0, %k] [32, 32] [1, 1] : memref<32x1024xf32, strided<[1024, 1], offset: ?>> to memref<32x32xf32, strided<[1024, 1], offset: ?>>
          %r = memref.subview %rhs[%k, 0] [32, 128] [1, 1] : memref<1024x128xf32, strided<[1024, 1], offset: ?>> to memref<32x128xf32, strided<[1024, 1], offset: ?>>
          memref.copy %l, %S : memref<32x32xf32, strided<[1024, 1], offset: ?>> to memref<32x32xf32, 3>
          gpu.barrier
          memref.copy %r, %T : memref<32x128xf32, strided<[1024, 1], offset: ?>> to memref<32x128xf32, 3>
          gpu.barrier
          scf.for %i = %y4 to %c32 step %c32 {
            scf.for %j = %x4 to %c128 step %c128 {
              %a = memref.subview %S[%i, 0] [4, 32] [1, 1] : memref<32x32xf32, 3> to memref<4x32xf32, strided<[32, 1], offset: ?>, 3>
              %b = memref.subview %T[0, %j] [32, 4] [1, 1] : memref<32x128xf32, 3> to memref<32x4xf32, strided<[128, 1], offset: ?>, 3>
              %c = memref.subview %res[%i, %j] [4, 4] [1, 1] : memref<32x128xf32, strided<[1024, 1], offset: ?>> to memref<4x4xf32, strided<[1024, 1], offset: ?>>
              linalg.matmul ins(%a, %b : memref<4x32xf32, strided<[32, 1], offset: ?>, 3>, memref<32x4xf32, strided<[128, 1], offset: ?>, 3>) outs(%c : memref<4x4xf32, strided<[1024, 1], offset: ?>>)
            }
          }
          gpu.barrier
        }
        gpu.barrier
      }
      gpu.barrier
    }
    gpu.return
  }
}
