// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-sink-allocs)' --split-input-file | FileCheck %s
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-sink-allocs)' --split-input-file -o %t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-sink-allocs)' --split-input-file | diff %t.once -

// A size of the host becomes an argument of the outlined kernel, behind those that
// are there; attributes and buffers of the kernel stay with what they belong to.
module attributes {gpu.container_module} {
  // CHECK-LABEL: func.func @size
  // CHECK-SAME:    (%[[OUT:.+]]: memref<64xf32>, %[[N:.+]]: index)
  // CHECK-NOT:     memref.alloc
  // CHECK:         gpu.launch_func @kernels::@kernel
  // CHECK-SAME:      args(%[[OUT]] : memref<64xf32>, %[[N]] : index)
  // CHECK-NOT:     memref.dealloc
  func.func @size(%out: memref<64xf32>, %n: index) {
    %c1 = arith.constant 1 : index
    %buffer = memref.alloc(%n) {alignment = 64 : i64} : memref<?xf32, 3>
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%buffer : memref<?xf32, 3>, %out : memref<64xf32>)
    memref.dealloc %buffer : memref<?xf32, 3>
    return
  }
  gpu.module @kernels {
    // CHECK-LABEL: gpu.func @kernel
    // CHECK-SAME:    (%[[OUT:.+]]: memref<64xf32> {llvm.noalias}, %[[N:.+]]: index)
    // CHECK-SAME:    workgroup(%[[OLD:.+]] : memref<8xf32, 3> {llvm.align = 32 : i64})
    // CHECK-SAME:    private(%[[OWN:.+]] : memref<2xf32, #gpu.address_space<private>>)
    // CHECK-SAME:    known_block_size = array<i32: 1, 1, 1>
    // CHECK:         %[[BUFFER:.+]] = memref.alloc(%[[N]]) {alignment = 64 : i64} : memref<?xf32, 3>
    // CHECK:         memref.load %[[BUFFER]]
    // CHECK:         memref.load %[[OLD]]
    // CHECK:         memref.load %[[OWN]]
    // CHECK:         memref.store %{{.+}}, %[[OUT]]
    gpu.func @kernel(%buffer: memref<?xf32, 3>, %out: memref<64xf32> {llvm.noalias})
        workgroup(%old: memref<8xf32, 3> {llvm.align = 32 : i64})
        private(%own: memref<2xf32, #gpu.address_space<private>>) kernel
        attributes {known_block_size = array<i32: 1, 1, 1>} {
      %c0 = arith.constant 0 : index
      %x = memref.load %buffer[%c0] : memref<?xf32, 3>
      %y = memref.load %old[%c0] : memref<8xf32, 3>
      %z = memref.load %own[%c0] : memref<2xf32, #gpu.address_space<private>>
      %xy = arith.addf %x, %y : f32
      %sum = arith.addf %xy, %z : f32
      memref.store %sum, %out[%c0] : memref<64xf32>
      gpu.return
    }
  }
}

// -----

// Places of views, one after the other; what is the same constant at every launch
// stays one, what only one launch has as a constant does not.
module attributes {gpu.container_module} {
  // CHECK-LABEL: func.func @first
  // CHECK-SAME:    (%[[OUT:.+]]: memref<64xf32>, %[[I:.+]]: index)
  // CHECK:         %[[C8:.+]] = arith.constant 8 : index
  // CHECK:         gpu.launch_func @kernels::@kernel
  // CHECK-SAME:      args(%[[OUT]] : memref<64xf32>, %[[C8]] : index, %[[I]] : index)
  func.func @first(%out: memref<64xf32>, %i: index) {
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %bytes = memref.alloc() : memref<1024xi8, #gpu.address_space<workgroup>>
    %tile = memref.view %bytes[%c64][%c8] : memref<1024xi8, #gpu.address_space<workgroup>> to memref<?x16xf32, #gpu.address_space<workgroup>>
    %row = memref.subview %tile[%i, 0] [%c8, 16] [1, 1] : memref<?x16xf32, #gpu.address_space<workgroup>> to memref<?x16xf32, strided<[16, 1], offset: ?>, #gpu.address_space<workgroup>>
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%row : memref<?x16xf32, strided<[16, 1], offset: ?>, #gpu.address_space<workgroup>>, %out : memref<64xf32>)
    return
  }
  // CHECK-LABEL: func.func @second
  // CHECK-SAME:    (%[[OUT:.+]]: memref<64xf32>, %[[N:.+]]: index)
  // CHECK:         %[[C4:.+]] = arith.constant 4 : index
  // CHECK:         gpu.launch_func async [%{{.+}}] @kernels::@kernel clusters in
  // CHECK-SAME:      args(%[[OUT]] : memref<64xf32>, %[[N]] : index, %[[C4]] : index)
  func.func @second(%out: memref<64xf32>, %n: index) {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c64 = arith.constant 64 : index
    %bytes = memref.alloc() : memref<1024xi8, #gpu.address_space<workgroup>>
    %tile = memref.view %bytes[%c64][%n] : memref<1024xi8, #gpu.address_space<workgroup>> to memref<?x16xf32, #gpu.address_space<workgroup>>
    %row = memref.subview %tile[%c4, 0] [%n, 16] [1, 1] : memref<?x16xf32, #gpu.address_space<workgroup>> to memref<?x16xf32, strided<[16, 1], offset: ?>, #gpu.address_space<workgroup>>
    %ready = gpu.wait async
    %done = gpu.launch_func async [%ready] @kernels::@kernel clusters in (%c1, %c1, %c1) blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%row : memref<?x16xf32, strided<[16, 1], offset: ?>, #gpu.address_space<workgroup>>, %out : memref<64xf32>)
    gpu.wait [%done]
    return
  }
  gpu.module @kernels {
    // CHECK-LABEL: gpu.func @kernel
    // CHECK-SAME:    (%{{.+}}: memref<64xf32>, %[[SIZE:.+]]: index, %[[AT:.+]]: index) kernel
    // CHECK:         %[[BYTES:.+]] = memref.alloc() : memref<1024xi8, #gpu.address_space<workgroup>>
    // CHECK:         %[[C64:.+]] = arith.constant 64 : index
    // CHECK:         %[[TILE:.+]] = memref.view %[[BYTES]][%[[C64]]][%[[SIZE]]]
    // CHECK:         memref.subview %[[TILE]][%[[AT]], 0] [%[[SIZE]], 16] [1, 1]
    gpu.func @kernel(%row: memref<?x16xf32, strided<[16, 1], offset: ?>, #gpu.address_space<workgroup>>, %out: memref<64xf32>) kernel {
      %c0 = arith.constant 0 : index
      %x = memref.load %row[%c0, %c0] : memref<?x16xf32, strided<[16, 1], offset: ?>, #gpu.address_space<workgroup>>
      memref.store %x, %out[%c0] : memref<64xf32>
      gpu.return
    }
  }
}

// -----

// Values are one argument if they are one at every launch: here rows and columns
// are the same at the first launch only. Two operands that are views of one buffer
// stay so, though only one launch has a view for both.
module attributes {gpu.container_module} {
  // CHECK-LABEL: func.func @equal
  // CHECK-SAME:    (%[[N:.+]]: index)
  // CHECK:         gpu.launch_func @kernels::@kernel
  // CHECK-SAME:      args(%[[N]] : index, %[[N]] : index)
  func.func @equal(%n: index) {
    %c1 = arith.constant 1 : index
    %buffer = memref.alloc(%n, %n) : memref<?x?xf32, 3>
    %view = memref.cast %buffer : memref<?x?xf32, 3> to memref<*xf32, 3>
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%view : memref<*xf32, 3>, %view : memref<*xf32, 3>)
    return
  }
  // CHECK-LABEL: func.func @different
  // CHECK-SAME:    (%[[M:.+]]: index, %[[N:.+]]: index)
  // CHECK:         gpu.launch_func @kernels::@kernel
  // CHECK-SAME:      args(%[[M]] : index, %[[N]] : index)
  func.func @different(%m: index, %n: index) {
    %c1 = arith.constant 1 : index
    %buffer = memref.alloc(%m, %n) : memref<?x?xf32, 3>
    %a = memref.cast %buffer : memref<?x?xf32, 3> to memref<*xf32, 3>
    %b = memref.cast %buffer : memref<?x?xf32, 3> to memref<*xf32, 3>
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%a : memref<*xf32, 3>, %b : memref<*xf32, 3>)
    return
  }
  gpu.module @kernels {
    // CHECK-LABEL: gpu.func @kernel
    // CHECK-SAME:    (%[[ROWS:.+]]: index, %[[COLUMNS:.+]]: index) kernel
    // CHECK:         %[[BUFFER:.+]] = memref.alloc(%[[ROWS]], %[[COLUMNS]])
    // CHECK-NOT:     memref.alloc
    // CHECK:         %[[A:.+]] = memref.cast %[[BUFFER]]
    // CHECK:         %[[B:.+]] = memref.cast %[[BUFFER]]
    // CHECK:         memref.cast %[[A]]
    // CHECK:         memref.cast %[[B]]
    gpu.func @kernel(%a: memref<*xf32, 3>, %b: memref<*xf32, 3>) kernel {
      %x = memref.cast %a : memref<*xf32, 3> to memref<?x?xf32, 3>
      %y = memref.cast %b : memref<*xf32, 3> to memref<?x?xf32, 3>
      %c0 = arith.constant 0 : index
      %value = memref.load %x[%c0, %c0] : memref<?x?xf32, 3>
      memref.store %value, %y[%c0, %c0] : memref<?x?xf32, 3>
      gpu.return
    }
  }
}

// -----

// An extent that the host asks for is a value like any other, and no use of the
// buffer; the launch stands in a loop.
module attributes {gpu.container_module} {
  // CHECK-LABEL: func.func @extent
  // CHECK-SAME:    (%[[N:.+]]: index)
  // CHECK-NOT:     memref
  // CHECK:         scf.for %[[I:.+]] =
  // CHECK:           gpu.launch_func @kernels::@kernel
  // CHECK-SAME:        args(%[[N]] : index, %[[I]] : index)
  // CHECK-NOT:     memref
  // CHECK:         return
  func.func @extent(%n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %buffer = memref.alloc(%n) : memref<?xf32, 3>
    %extent = memref.dim %buffer, %c0 : memref<?xf32, 3>
    scf.for %i = %c0 to %n step %c1 {
      %part = memref.subview %buffer[%i] [%extent] [1] : memref<?xf32, 3> to memref<?xf32, strided<[1], offset: ?>, 3>
      gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%extent, %c1, %c1)
        args(%part : memref<?xf32, strided<[1], offset: ?>, 3>)
    }
    memref.dealloc %buffer : memref<?xf32, 3>
    return
  }
  gpu.module @kernels {
    gpu.func @kernel(%part: memref<?xf32, strided<[1], offset: ?>, 3>) kernel {
      gpu.return
    }
  }
}

// -----

// Two kernels of one module, launched with each other's buffers; and one that
// nothing launches, whose argument stays.
module attributes {gpu.container_module} {
  // CHECK-LABEL: func.func @crossed
  // CHECK:         gpu.launch_func @kernels::@first
  // CHECK-SAME:      args(%[[N:.+]] : index)
  // CHECK:         gpu.launch_func @kernels::@second
  // CHECK-SAME:      args(%[[N]] : index)
  func.func @crossed(%n: index) {
    %c1 = arith.constant 1 : index
    %a = memref.alloc(%n) : memref<?xf32, 3>
    %b = memref.alloc() : memref<16xf32, 3>
    gpu.launch_func @kernels::@first blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%a : memref<?xf32, 3>, %b : memref<16xf32, 3>)
    gpu.launch_func @kernels::@second blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%b : memref<16xf32, 3>, %a : memref<?xf32, 3>)
    return
  }
  gpu.module @kernels {
    // CHECK-LABEL: gpu.func @first(%{{.+}}: index) kernel
    // CHECK-DAG:     memref.alloc(%{{.+}}) : memref<?xf32, 3>
    // CHECK-DAG:     memref.alloc() : memref<16xf32, 3>
    gpu.func @first(%a: memref<?xf32, 3>, %b: memref<16xf32, 3>) kernel {
      gpu.return
    }
    // CHECK-LABEL: gpu.func @second(%{{.+}}: index) kernel
    // CHECK-DAG:     memref.alloc(%{{.+}}) : memref<?xf32, 3>
    // CHECK-DAG:     memref.alloc() : memref<16xf32, 3>
    gpu.func @second(%b: memref<16xf32, 3>, %a: memref<?xf32, 3>) kernel {
      gpu.return
    }
    // CHECK-LABEL: gpu.func @never_launched(%{{.+}}: memref<16xf32, 3>) kernel
    gpu.func @never_launched(%b: memref<16xf32, 3>) kernel {
      gpu.return
    }
  }
}
