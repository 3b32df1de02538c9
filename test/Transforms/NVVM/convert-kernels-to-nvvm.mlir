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

// What few kernels have: functions that LLVM has, and instructions that it has
// no intrinsic for.
gpu.module @rare {
  // CHECK-LABEL: llvm.func @functions
  // CHECK-NOT:     math.
  // CHECK:         llvm.intr.ctpop
  gpu.func @functions(%out: memref<i32>, %i: i32) kernel {
    %v = math.ctpop %i : i32
    memref.store %v, %out[] : memref<i32>
    gpu.return
  }

  // CHECK-LABEL: llvm.func @assembly
  // CHECK-NOT:     nvvm.inline_ptx
  // CHECK:         llvm.inline_asm {{.+}} "ex2.approx.ftz.f32 $0, $1;"
  gpu.func @assembly(%x: f32, %out: memref<f32>) kernel {
    %0 = nvvm.inline_ptx "ex2.approx.ftz.f32 {$w0}, {$r0};" ro (%x : f32) -> f32
    memref.store %0, %out[] : memref<f32>
    gpu.return
  }
}
