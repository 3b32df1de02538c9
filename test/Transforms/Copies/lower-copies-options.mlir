// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-copies{strategy=sync})' | FileCheck %s --check-prefix=DEFAULT
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-copies{strategy=sync vector-bits=64})' | FileCheck %s --check-prefix=NARROW
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-copies{strategy=sync vector-bits=8})' | FileCheck %s --check-prefix=SCALAR
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-copies{strategy=sync unroll-limit=0})' | FileCheck %s --check-prefix=LOOP
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-copies{strategy=sync insert-barriers=false})' | FileCheck %s --check-prefix=BARE
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-copies{strategy=sync assume-alignment=16})' | FileCheck %s --check-prefix=ASSUME

// DEFAULT:         vector.load {{.*}} vector<4xf32>
// DEFAULT-NOT:     scf.for
// DEFAULT:         gpu.barrier
// DEFAULT:         memref.load
// NARROW:          vector.load {{.*}} {alignment = 8 : i64} {{.*}} vector<2xf32>
// SCALAR-NOT:      vector.
// SCALAR:          memref.load
// LOOP:            scf.for
// LOOP:              vector.load
// LOOP:            gpu.barrier
// LOOP:            scf.for
// BARE-NOT:        gpu.barrier
// BARE:            gpu.return
// ASSUME:          vector.load {{.*}} vector<4xf32>
// ASSUME:          gpu.barrier
// ASSUME:          vector.load {{.*}} {alignment = 16 : i64}
gpu.module @kernels {
  gpu.func @kernel(%in: memref<256xf32> {llvm.align = 16}, %out: memref<256xf32>)
      workgroup(%buffer: memref<256xf32, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    memref.copy %in, %buffer : memref<256xf32> to memref<256xf32, #gpu.address_space<workgroup>>
    memref.copy %buffer, %out : memref<256xf32, #gpu.address_space<workgroup>> to memref<256xf32>
    gpu.return
  }
}

// What no machine has is refused.
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-copies{vector-bits=256})' 2>&1 | FileCheck %s --check-prefix=WIDE
// WIDE: error: vector-bits must be a power of two from 8 to 128, not 256
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-copies{vector-bits=96})' 2>&1 | FileCheck %s --check-prefix=ODD
// ODD: error: vector-bits must be a power of two from 8 to 128, not 96
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-copies{assume-alignment=12})' 2>&1 | FileCheck %s --check-prefix=ALIGNMENT
// ALIGNMENT: error: assume-alignment must be a power of two, not 12
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-copies{assume-alignment=0})' 2>&1 | FileCheck %s --check-prefix=ZERO
// ZERO: error: assume-alignment must be a power of two, not 0
// RUN: not mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-copies{unroll-limit=-1})' 2>&1 | FileCheck %s --check-prefix=UNROLL
// UNROLL: error: unroll-limit must not be negative
