// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-verify-sync{strict})' -o /dev/null
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-insert-barriers)' | FileCheck %s --check-prefix=INSERTED
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-eliminate-barriers)' | FileCheck %s --check-prefix=LEFT

// A branch region that no thread of the block takes needs no barrier, wherever its
// branch is.

gpu.module @kernels {
  // INSERTED-LABEL: gpu.func @nested(
  // INSERTED-COUNT-3: gpu.barrier
  // INSERTED-NOT:     gpu.barrier
  // LEFT-LABEL:     gpu.func @nested(
  // LEFT:             scf.if
  // LEFT-NEXT:          scf.if
  // LEFT-NOT:             gpu.barrier
  // LEFT:               } else {
  // LEFT-NEXT:            gpu.barrier
  // LEFT-NEXT:          }
  // LEFT-NEXT:        } else {
  // LEFT-NEXT:          gpu.barrier
  // LEFT-NEXT:        }
  // LEFT-NEXT:        memref.load
  gpu.func @nested(%f: f32, %uniform: i1) workgroup(%S: memref<64xf32, 3>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c63 = arith.constant 63 : index
    %t = gpu.thread_id x
    %u = arith.subi %c63, %t : index
    %never = arith.cmpi ugt, %t, %c63 : index
    memref.store %f, %S[%t] : memref<64xf32, 3>
    scf.if %uniform {
      scf.if %never {
        gpu.barrier
        memref.store %f, %S[%t] : memref<64xf32, 3>
      } else {
        gpu.barrier
      }
    } else {
      gpu.barrier
    }
    %v = memref.load %S[%u] : memref<64xf32, 3>
    gpu.return
  }

  // Without one in that branch region; and a branch between blocks.
  // INSERTED-LABEL: gpu.func @blocks(
  // INSERTED-COUNT-2: gpu.barrier
  // INSERTED-NOT:     gpu.barrier
  // LEFT-LABEL:     gpu.func @blocks(
  // LEFT-COUNT-2:     gpu.barrier
  gpu.func @blocks(%f: f32, %uniform: i1) workgroup(%S: memref<64xf32, 3>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c63 = arith.constant 63 : index
    %t = gpu.thread_id x
    %u = arith.subi %c63, %t : index
    %always = arith.cmpi ule, %t, %c63 : index
    memref.store %f, %S[%t] : memref<64xf32, 3>
    cf.cond_br %uniform, ^inner, ^other
  ^inner:
    cf.cond_br %always, ^taken, ^join
  ^taken:
    gpu.barrier
    cf.br ^join
  ^other:
    gpu.barrier
    cf.br ^join
  ^join:
    %v = memref.load %S[%u] : memref<64xf32, 3>
    gpu.return
  }
}
