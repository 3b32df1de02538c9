// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-dynamic-memory)' | FileCheck %s
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-lower-dynamic-memory)' -o %t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-lower-dynamic-memory)' -o %t.twice
// RUN: diff %t.once %t.twice
// RUN: mlir-opt %s --pass-pipeline='builtin.module(gpu.module(workgroup-lower-dynamic-memory))' -o %t.nested
// RUN: diff %t.once %t.nested
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(canonicalize,cse,canonicalize)' | FileCheck %s --check-prefix=FOLDED

// One symbol of unknown size for all kernels of a module, public, so that it becomes
// an `.extern`, and aligned for any access.
// CHECK-LABEL: gpu.module @kernels
// CHECK:         memref.global @dynamic_workgroup_memory : memref<{{.+}}xi8, #gpu.address_space<workgroup>> {alignment = 1024 : i64}
// CHECK-NOT:     memref.global
gpu.module @kernels {
  // CHECK-LABEL: gpu.func @view
  // CHECK-NOT:     gpu.dynamic_shared_memory
  // CHECK:         %[[BYTES:.+]] = memref.get_global @dynamic_workgroup_memory
  // CHECK:         %[[SIZE:.+]] = nvvm.read.ptx.sreg.dynamic.smem.size : i32
  // CHECK:         %[[EXTENT:.+]] = arith.index_castui %[[SIZE]] : i32 to index
  // CHECK:         %[[START:.+]] = memref.reinterpret_cast %[[BYTES]] to offset: [0], sizes: [%[[EXTENT]]], strides: [1] : memref<0xi8, #gpu.address_space<workgroup>> to memref<?xi8, strided<[1]>, #gpu.address_space<workgroup>>
  // CHECK:         memref.cast %[[START]]
  gpu.func @view(%out: memref<64xf32>, %i: index) kernel {
    %c0 = arith.constant 0 : index
    %memory = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %view = memref.view %memory[%c0][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<64xf32, #gpu.address_space<workgroup>>
    %value = memref.load %view[%i] : memref<64xf32, #gpu.address_space<workgroup>>
    memref.store %value, %out[%i] : memref<64xf32>
    gpu.return
  }

  // Every op names the start of the memory. Parts of it at known places stay parts
  // of it, whatever the canonicalizer makes of the symbol's own size.
  // CHECK-LABEL:  gpu.func @parts
  // CHECK-COUNT-2:  memref.get_global @dynamic_workgroup_memory
  // FOLDED-LABEL: gpu.func @parts
  // FOLDED:         memref.subview %{{.+}}[0] [64] [1]
  // FOLDED:         memref.subview %{{.+}}[64] [64] [1]
  gpu.func @parts(%i: index) kernel {
    %first = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %low = memref.subview %first[0] [64] [1] : memref<?xi8, #gpu.address_space<workgroup>> to memref<64xi8, strided<[1]>, #gpu.address_space<workgroup>>
    %second = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %high = memref.subview %second[64] [64] [1] : memref<?xi8, #gpu.address_space<workgroup>> to memref<64xi8, strided<[1], offset: 64>, #gpu.address_space<workgroup>>
    %value = memref.load %low[%i] : memref<64xi8, strided<[1]>, #gpu.address_space<workgroup>>
    memref.store %value, %high[%i] : memref<64xi8, strided<[1], offset: 64>, #gpu.address_space<workgroup>>
    gpu.return
  }

  // Functions that kernels call see the same memory.
  // CHECK-LABEL: func.func @helper
  // CHECK:         memref.get_global @dynamic_workgroup_memory
  func.func @helper(%i: index) -> i8 {
    %memory = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %value = memref.load %memory[%i] : memref<?xi8, #gpu.address_space<workgroup>>
    return %value : i8
  }
}

// Each module has a symbol of its own, under a name that is free.
// CHECK-LABEL: gpu.module @others
// CHECK:         memref.global @[[OTHER:dynamic_workgroup_memory_[0-9]+]] : memref<{{.+}}xi8, #gpu.address_space<workgroup>>
// CHECK:         gpu.func @dynamic_workgroup_memory()
// CHECK:         memref.get_global @[[OTHER]]
gpu.module @others {
  gpu.func @dynamic_workgroup_memory() kernel {
    %memory = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// Where nothing asks for it there is none.
// CHECK-LABEL: gpu.module @without
// CHECK-NOT:     memref.global
// CHECK:         gpu.return
gpu.module @without {
  gpu.func @kernel() kernel {
    gpu.return
  }
}

// A launch waits for outlining: its function has no place for a symbol of a kernel.
// CHECK-LABEL: func.func @launch
// CHECK:         gpu.dynamic_shared_memory
func.func @launch(%out: memref<64xi8>) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : i32
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1)
             dynamic_shared_memory_size %c64 {
    %memory = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %value = memref.load %memory[%tx] : memref<?xi8, #gpu.address_space<workgroup>>
    memref.store %value, %out[%tx] : memref<64xi8>
    gpu.terminator
  }
  return
}
