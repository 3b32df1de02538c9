// RUN: mlir-opt %s --pass-pipeline='builtin.module(gpu.module(workgroup-legalize-for-nvvm))' -o %t.once
// RUN: FileCheck %s --input-file=%t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(gpu.module(workgroup-legalize-for-nvvm))' | diff %t.once -

// Thread 0 elects itself where it starts tensor copies. It stays the thread that starts them: what it has done
// before, as here to an mbarrier, comes before, without a barrier.

!D = !llvm.ptr<7>
!B = !llvm.ptr<3>
gpu.module @m {
  // CHECK-LABEL: gpu.func @elected
  // CHECK:         %[[X:.+]] = gpu.thread_id x
  // CHECK:         %[[FIRST:.+]] = arith.cmpi eq, %[[X]], %{{.+}} : index
  // CHECK:         scf.if %[[FIRST]] {
  // CHECK-NEXT:      nvvm.mbarrier.init
  // CHECK:         scf.if %[[FIRST]] {
  // CHECK:           %[[ELECTED:.+]] = nvvm.elect.sync %{{.+}} -> i1
  // CHECK-NEXT:      scf.if %[[ELECTED]] {
  // CHECK-NEXT:        nvvm.cp.async.bulk.tensor.shared.cluster.global
  gpu.func @elected(%map: !llvm.ptr, %tile: !D, %barrier: !B, %row: i32) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %x = gpu.thread_id x
    %is = arith.cmpi eq, %x, %c0 : index
    %one = arith.constant 1 : i32
    scf.if %is {
      nvvm.mbarrier.init %barrier, %one : !B, i32
    }
    scf.if %is {
      nvvm.cp.async.bulk.tensor.shared.cluster.global %tile, %map, %barrier, box[%row] : !D, !llvm.ptr
    }
    gpu.return
  }

  // Another thread, and one of each row of threads.
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
}
