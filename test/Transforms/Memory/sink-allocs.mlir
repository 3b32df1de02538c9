// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-sink-allocs)' | FileCheck %s
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-sink-allocs)' -o %t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-sink-allocs)' -o %t.twice
// RUN: diff %t.once %t.twice
// RUN: mlir-opt %s --pass-pipeline='builtin.module(func.func(workgroup-sink-allocs))' -o %t.functions
// RUN: diff %t.once %t.functions

// The buffer moves with its alignment, in front of all that the kernel does; the
// dealloc of the host goes.
// CHECK-LABEL: func.func @alloc_and_dealloc
// CHECK-NOT:     memref.alloc
// CHECK:         gpu.launch
// CHECK:           %[[BUFFER:.+]] = memref.alloc() {alignment = 128 : i64} : memref<64xf32, #gpu.address_space<workgroup>>
// CHECK:           gpu.thread_id
// CHECK:           memref.load %[[BUFFER]]
// CHECK:           gpu.terminator
// CHECK-NOT:     memref.dealloc
// CHECK:         return
func.func @alloc_and_dealloc(%out: memref<64xf32>) {
  %c1 = arith.constant 1 : index
  %buffer = memref.alloc() {alignment = 128 : i64} : memref<64xf32, #gpu.address_space<workgroup>>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %i = gpu.thread_id x
    %value = memref.load %buffer[%i] : memref<64xf32, #gpu.address_space<workgroup>>
    memref.store %value, %out[%i] : memref<64xf32>
    gpu.terminator
  }
  memref.dealloc %buffer : memref<64xf32, #gpu.address_space<workgroup>>
  return
}

// Every spelling of workgroup memory; memory of the host stays on the host.
// CHECK-LABEL: func.func @spellings
// CHECK-NOT:     memref.alloca
// CHECK:         %[[HOST:.+]] = memref.alloc() : memref<64xf32>
// CHECK-NOT:     memref.alloc
// CHECK:         gpu.launch
// CHECK-DAG:       memref.alloca() : memref<64xf32, 3>
// CHECK-DAG:       memref.alloc() : memref<64xf32, #nvvm.memory_space<shared>>
// CHECK:           memref.store %{{.+}}, %[[HOST]]
// CHECK:         memref.dealloc %[[HOST]]
func.func @spellings(%i: index) {
  %c1 = arith.constant 1 : index
  %a = memref.alloca() : memref<64xf32, 3>
  %b = memref.alloc() : memref<64xf32, #nvvm.memory_space<shared>>
  %host = memref.alloc() : memref<64xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %x = memref.load %a[%i] : memref<64xf32, 3>
    %y = memref.load %b[%i] : memref<64xf32, #nvvm.memory_space<shared>>
    %sum = arith.addf %x, %y : f32
    memref.store %sum, %host[%i] : memref<64xf32>
    gpu.terminator
  }
  memref.dealloc %host : memref<64xf32>
  return
}

// What promotion leaves: bytes, a view of them, a tile of that; sizes and places
// that the host computes are values from outside the kernel.
// CHECK-LABEL: func.func @chain_of_views
// CHECK-SAME:    (%{{.+}}: memref<64xf32>, %[[N:.+]]: index)
// CHECK-NOT:     memref<{{.+}}3>
// CHECK:         scf.for %[[I:.+]] =
// CHECK:           gpu.launch
// CHECK:             %[[BYTES:.+]] = memref.alloc(%[[N]]) : memref<?xi8, 3>
// CHECK:             %[[TILE:.+]] = memref.view %[[BYTES]][%{{.+}}][] : memref<?xi8, 3> to memref<8x16xf32, 3>
// CHECK:             %[[ROW:.+]] = memref.subview %[[TILE]][%[[I]], 0] [1, 16] [1, 1]
// CHECK:             %[[ALIGNED:.+]] = memref.assume_alignment %[[ROW]], 16
// CHECK:             %[[GENERIC:.+]] = memref.memory_space_cast %[[ALIGNED]]
// CHECK:             memref.load %[[GENERIC]]
// CHECK:             gpu.terminator
// CHECK-NOT:     memref<{{.+}}3>
// CHECK:         return
func.func @chain_of_views(%out: memref<64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bytes = memref.alloc(%n) : memref<?xi8, 3>
  %tile = memref.view %bytes[%c0][] : memref<?xi8, 3> to memref<8x16xf32, 3>
  scf.for %i = %c0 to %n step %c1 {
    %row = memref.subview %tile[%i, 0] [1, 16] [1, 1] : memref<8x16xf32, 3> to memref<16xf32, strided<[1], offset: ?>, 3>
    %aligned = memref.assume_alignment %row, 16 : memref<16xf32, strided<[1], offset: ?>, 3>
    %generic = memref.memory_space_cast %aligned : memref<16xf32, strided<[1], offset: ?>, 3> to memref<16xf32, strided<[1], offset: ?>>
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
               threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
      %value = memref.load %generic[%tx] : memref<16xf32, strided<[1], offset: ?>>
      memref.store %value, %out[%tx] : memref<64xf32>
      gpu.terminator
    }
  }
  memref.dealloc %bytes : memref<?xi8, 3>
  return
}

// Each kernel gets the views that it uses, and no other: the second one's place is
// not yet known where the first one starts.
// CHECK-LABEL: func.func @views_of_their_own
// CHECK:         gpu.launch
// CHECK:           %[[FIRST:.+]] = memref.alloc() : memref<64xf32, 3>
// CHECK-NOT:       memref.subview
// CHECK:           memref.load %[[FIRST]]
// CHECK:           gpu.terminator
// CHECK:         %[[PLACE:.+]] = arith.addi
// CHECK:         gpu.launch
// CHECK:           %[[SECOND:.+]] = memref.alloc() : memref<64xf32, 3>
// CHECK:           %[[PART:.+]] = memref.subview %[[SECOND]][%[[PLACE]]] [4] [1]
// CHECK:           memref.load %[[PART]]
func.func @views_of_their_own(%out: memref<64xf32>, %n: index) {
  %c1 = arith.constant 1 : index
  %buffer = memref.alloc() : memref<64xf32, 3>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %value = memref.load %buffer[%tx] : memref<64xf32, 3>
    memref.store %value, %out[%tx] : memref<64xf32>
    gpu.terminator
  }
  %place = arith.addi %n, %c1 : index
  %part = memref.subview %buffer[%place] [4] [1] : memref<64xf32, 3> to memref<4xf32, strided<[1], offset: ?>, 3>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %value = memref.load %part[%tx] : memref<4xf32, strided<[1], offset: ?>, 3>
    memref.store %value, %out[%tx] : memref<64xf32>
    gpu.terminator
  }
  return
}

// Its extents are no memory: the host keeps asking for them.
// CHECK-LABEL: func.func @extents
// CHECK-SAME:    (%{{.+}}: memref<64xf32>, %[[N:.+]]: index)
// CHECK:         %[[C16:.+]] = arith.constant 16 : index
// CHECK-NOT:     memref.dim
// CHECK:         gpu.launch
// CHECK-SAME:      threads(%{{.+}}) in (%{{.+}} = %[[N]], %{{.+}} = %[[C16]], %{{.+}} = %{{.+}})
func.func @extents(%out: memref<64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %buffer = memref.alloc(%n) : memref<?x16xf32, 3>
  %opaque = memref.cast %buffer : memref<?x16xf32, 3> to memref<?x?xf32, 3>
  %rows = memref.dim %buffer, %c0 : memref<?x16xf32, 3>
  %columns = memref.dim %opaque, %c1 : memref<?x?xf32, 3>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %rows, %sy = %columns, %sz = %c1) {
    %value = memref.load %opaque[%tx, %ty] : memref<?x?xf32, 3>
    memref.store %value, %out[%tx] : memref<64xf32>
    gpu.terminator
  }
  return
}

// The same where an extent does not follow from that of the allocation.
// CHECK-LABEL: func.func @extents_of_view
// CHECK-NOT:     memref<{{.+}}3>
// CHECK:         gpu.launch
// CHECK:           memref.alloc() : memref<64xf32, 3>
// CHECK:           gpu.terminator
// CHECK-NOT:     memref<{{.+}}3>
// CHECK:         return
func.func @extents_of_view(%out: memref<64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %buffer = memref.alloc() : memref<64xf32, 3>
  %part = memref.reinterpret_cast %buffer to offset: [0], sizes: [%n], strides: [1] : memref<64xf32, 3> to memref<?xf32, 3>
  %x = memref.dim %part, %c0 : memref<?xf32, 3>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %x, %sy = %c1, %sz = %c1) {
    %value = memref.load %part[%tx] : memref<?xf32, 3>
    memref.store %value, %out[%tx] : memref<64xf32>
    gpu.terminator
  }
  return
}

// An extent may be that of a view whose size is an extent.
// CHECK-LABEL: func.func @extents_of_extents
// CHECK-SAME:    (%{{.+}}: memref<64xf32>, %[[N:.+]]: index)
// CHECK-NOT:     memref.dim
// CHECK:         gpu.launch
// CHECK-SAME:      threads(%{{.+}}) in (%{{.+}} = %[[N]], %{{.+}} = %{{.+}}, %{{.+}} = %{{.+}})
// CHECK:           %[[BUFFER:.+]] = memref.alloc(%[[N]]) : memref<?xf32, 3>
// CHECK:           memref.subview %[[BUFFER]][0] [%[[N]]] [1]
func.func @extents_of_extents(%out: memref<64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %buffer = memref.alloc(%n) : memref<?xf32, 3>
  %x = memref.dim %buffer, %c0 : memref<?xf32, 3>
  %part = memref.subview %buffer[0] [%x] [1] : memref<?xf32, 3> to memref<?xf32, strided<[1]>, 3>
  %y = memref.dim %part, %c0 : memref<?xf32, strided<[1]>, 3>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %y, %sy = %c1, %sz = %c1) {
    %value = memref.load %part[%tx] : memref<?xf32, strided<[1]>, 3>
    memref.store %value, %out[%tx] : memref<64xf32>
    gpu.terminator
  }
  return
}

// Without a use in a kernel there is nothing to keep.
// CHECK-LABEL: func.func @dead
// CHECK-NEXT:    return
func.func @dead() {
  %a = memref.alloc() : memref<64xf32, 3>
  %b = memref.alloca() : memref<64xf32, 3>
  %part = memref.subview %b[8] [4] [1] : memref<64xf32, 3> to memref<4xf32, strided<[1], offset: 8>, 3>
  memref.dealloc %a : memref<64xf32, 3>
  return
}

// What a kernel allocates, or a function that it calls, is in its place already.
// CHECK-LABEL: func.func @of_the_kernel
// CHECK:         memref.alloc() : memref<64xf32, 3>
// CHECK:         memref.dealloc
func.func @of_the_kernel(%out: memref<64xf32>) {
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %buffer = memref.alloc() : memref<64xf32, 3>
    %value = memref.load %buffer[%tx] : memref<64xf32, 3>
    memref.store %value, %out[%tx] : memref<64xf32>
    memref.dealloc %buffer : memref<64xf32, 3>
    gpu.terminator
  }
  return
}

// A global is a buffer of each block too; outlining then takes it along.
// CHECK-LABEL: func.func @global
// CHECK-NOT:     memref.get_global
// CHECK:         gpu.launch
// CHECK:           %[[TABLE:.+]] = memref.get_global @table : memref<64xf32, 3>
// CHECK:           %[[PART:.+]] = memref.subview %[[TABLE]][8]
// CHECK:           memref.store %{{.+}}, %[[PART]]
memref.global "private" @table : memref<64xf32, 3> = uninitialized {alignment = 16 : i64}
func.func @global() {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %table = memref.get_global @table : memref<64xf32, 3>
  %part = memref.subview %table[8] [8] [1] : memref<64xf32, 3> to memref<8xf32, strided<[1], offset: 8>, 3>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    memref.store %zero, %part[%tx] : memref<8xf32, strided<[1], offset: 8>, 3>
    gpu.terminator
  }
  return
}
