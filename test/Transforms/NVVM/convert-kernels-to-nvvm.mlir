// RUN: mlir-opt %s --pass-pipeline='builtin.module(gpu.module(workgroup-convert-kernels-to-nvvm))' | FileCheck %s

// Upstream's conversion drops `llvm.byval`. What a kernel does not write is constant
// for the grid; of other functions nothing is.
gpu.module @kernels {
  // CHECK-LABEL: llvm.func @reads
  // CHECK-SAME:    (%{{[^:]+}}: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<16 x i64>, llvm.readonly, nvvm.grid_constant}, %{{[^:]+}}: !llvm.ptr, %{{[^:]+}}: i64)
  gpu.func @reads(%map: !llvm.ptr {llvm.byval = !llvm.array<16 x i64>, llvm.readonly, llvm.align = 64 : i64},
                  %out: memref<i64>, %i: i64) kernel {
    %v = llvm.load %map : !llvm.ptr -> i64
    memref.store %v, %out[] : memref<i64>
    gpu.return
  }

  // CHECK-LABEL: llvm.func @writes
  // CHECK-SAME:    (%{{[^:]+}}: i64, %{{[^:]+}}: !llvm.ptr {llvm.byval = !llvm.array<2 x f32>})
  gpu.func @writes(%i: i64, %pair: !llvm.ptr {llvm.byval = !llvm.array<2 x f32>}) kernel {
    llvm.store %i, %pair : i64, !llvm.ptr
    gpu.return
  }

  // CHECK-LABEL: llvm.func @device
  // CHECK-SAME:    (%{{[^:]+}}: !llvm.ptr {llvm.byval = !llvm.array<2 x f32>, llvm.readonly})
  gpu.func @device(%pair: !llvm.ptr {llvm.byval = !llvm.array<2 x f32>, llvm.readonly}) {
    gpu.return
  }
}
