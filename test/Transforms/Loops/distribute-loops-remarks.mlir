// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-distribute-loops{strategy=exact})' --remarks-filter='workgroup.*' --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=EXACT
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-distribute-loops{strategy=guarded})' --remarks-filter='workgroup.*' --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=GUARDED
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-distribute-loops)' --remarks-filter='workgroup.*' --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --allow-empty --check-prefix=CYCLIC

// What is taken for granted is told; of numbers that are known there is nothing to tell.

// EXACT: {{[0-9]+}}:5: remark: [Analysis] AssumedCount | Category:workgroup-distribute-loops | Function=k | Remark="it is taken that there are as many iterations as processors
// EXACT-NOT: remark
// GUARDED: {{[0-9]+}}:5: remark: [Analysis] AssumedCount | Category:workgroup-distribute-loops | Function=k | Remark="it is taken that there are no more iterations than processors
// GUARDED-NOT: remark
// CYCLIC-NOT: remark
gpu.module @m {
  gpu.func @k(%m: memref<64xf32>, %x: f32, %n: index) kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    scf.forall (%i) in (%n) {
      memref.store %x, %m[%i] : memref<64xf32>
    } {mapping = [#gpu.thread<x>]}
    scf.forall (%i) in (16) {
      memref.store %x, %m[%i] : memref<64xf32>
    } {mapping = [#gpu.thread<x>]}
    gpu.return
  }
}
