// RUN: mlir-opt %s --pass-pipeline='builtin.module(gpu.module(workgroup-legalize-for-nvvm))' -o %t.once
// RUN: FileCheck %s --input-file=%t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(gpu.module(workgroup-legalize-for-nvvm))' | diff %t.once -

// The first warp elects who starts tensor copies, where thread 0 does what any other would do.

!D = !llvm.ptr<7>
!B = !llvm.ptr<3>
gpu.module @m {
  // CHECK-LABEL: gpu.func @elected
  // CHECK:         %[[X:.+]] = gpu.thread_id x
  // CHECK:         %[[WARP:.+]] = arith.cmpi ult, %[[X]], %{{.+}} : index
  // CHECK:         scf.if %[[WARP]] {
  // CHECK-NEXT:      %[[ELECTED:.+]] = nvvm.elect.sync -> i1
  // CHECK-NEXT:      scf.if %[[ELECTED]] {
  // CHECK-NEXT:        nvvm.cp.async.bulk.tensor.shared.cluster.global
  gpu.func @elected(%map: !llvm.ptr, %tile: !D, %barrier: !B, %row: i32) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %x = gpu.thread_id x
    %is = arith.cmpi eq, %x, %c0 : index
    scf.if %is {
      nvvm.cp.async.bulk.tensor.shared.cluster.global %tile, %map, %barrier, box[%row] : !D, !llvm.ptr
    }
    gpu.return
  }

  // Another thread, one whose copy goes elsewhere, in a block that is not of warps, or in a branch that not
  // all threads take.
  // CHECK-NOT: elect.sync
  gpu.func @second(%map: !llvm.ptr, %tile: !D, %barrier: !B, %row: i32) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c1 = arith.constant 1 : index
    %x = gpu.thread_id x
    %is = arith.cmpi eq, %x, %c1 : index
    scf.if %is {
      nvvm.cp.async.bulk.tensor.shared.cluster.global %tile, %map, %barrier, box[%row] : !D, !llvm.ptr
    }
    gpu.return
  }
  gpu.func @own_row(%map: !llvm.ptr, %tile: !D, %barrier: !B) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %x = gpu.thread_id x
    %row = arith.index_cast %x : index to i32
    %is = arith.cmpi eq, %x, %c0 : index
    scf.if %is {
      nvvm.cp.async.bulk.tensor.shared.cluster.global %tile, %map, %barrier, box[%row] : !D, !llvm.ptr
    }
    gpu.return
  }
  gpu.func @two_dimensions(%map: !llvm.ptr, %tile: !D, %barrier: !B, %row: i32) kernel
      attributes {known_block_size = array<i32: 32, 4, 1>} {
    %c0 = arith.constant 0 : index
    %x = gpu.thread_id x
    %is = arith.cmpi eq, %x, %c0 : index
    scf.if %is {
      nvvm.cp.async.bulk.tensor.shared.cluster.global %tile, %map, %barrier, box[%row] : !D, !llvm.ptr
    }
    gpu.return
  }
  gpu.func @nested(%map: !llvm.ptr, %tile: !D, %barrier: !B, %row: i32) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %x = gpu.thread_id x
    %few = arith.cmpi ult, %x, %c16 : index
    scf.if %few {
      %is = arith.cmpi eq, %x, %c0 : index
      scf.if %is {
        nvvm.cp.async.bulk.tensor.shared.cluster.global %tile, %map, %barrier, box[%row] : !D, !llvm.ptr
      }
    }
    gpu.return
  }
}
