// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-sink-allocs)' --split-input-file | FileCheck %s
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-sink-allocs)' --split-input-file -o %t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-sink-allocs)' --split-input-file | diff %t.once -

// A global of the host that outlined kernels are passed: their module gets one of
// its own, which the kernels share, and the host keeps none.
module attributes {gpu.container_module} {
  // CHECK-NOT:   memref.global
  // CHECK:       func.func @host(%[[N:.+]]: index)
  // CHECK-NOT:     memref.get_global
  // CHECK:         gpu.launch_func @kernels::@whole
  // CHECK-NOT:     args(
  // CHECK:         gpu.launch_func @kernels::@part
  // CHECK-SAME:      args(%[[N]] : index)
  memref.global "private" @table : memref<64xf32, 3> = uninitialized {alignment = 128 : i64}
  func.func @host(%n: index) {
    %c1 = arith.constant 1 : index
    %table = memref.get_global @table : memref<64xf32, 3>
    gpu.launch_func @kernels::@whole blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%table : memref<64xf32, 3>)
    %again = memref.get_global @table : memref<64xf32, 3>
    %view = memref.subview %again[%n] [8] [1] : memref<64xf32, 3> to memref<8xf32, strided<[1], offset: ?>, 3>
    gpu.launch_func @kernels::@part blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%view : memref<8xf32, strided<[1], offset: ?>, 3>)
    return
  }
  // CHECK:       gpu.module @kernels
  // CHECK:         memref.global "private" @table : memref<64xf32, 3> = uninitialized {alignment = 128 : i64}
  // CHECK-NOT:     memref.global
  gpu.module @kernels {
    // CHECK-LABEL: gpu.func @whole() kernel
    // CHECK:         memref.get_global @table : memref<64xf32, 3>
    gpu.func @whole(%table: memref<64xf32, 3>) kernel {
      gpu.return
    }
    // CHECK-LABEL: gpu.func @part
    // CHECK-SAME:    (%[[AT:.+]]: index) kernel
    // CHECK:         %[[TABLE:.+]] = memref.get_global @table : memref<64xf32, 3>
    // CHECK:         memref.subview %[[TABLE]][%[[AT]]] [8] [1]
    gpu.func @part(%view: memref<8xf32, strided<[1], offset: ?>, 3>) kernel {
      gpu.return
    }
  }
}

// -----

// The copy that outlining has made is the one to use. A variable of another type
// that has the name is not.
module attributes {gpu.container_module} {
  // CHECK:       memref.global @table : memref<64xf32, #gpu.address_space<workgroup>>
  memref.global @table : memref<64xf32, #gpu.address_space<workgroup>> = uninitialized
  func.func @host() {
    %c1 = arith.constant 1 : index
    %table = memref.get_global @table : memref<64xf32, #gpu.address_space<workgroup>>
    gpu.launch_func @copied::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%table : memref<64xf32, #gpu.address_space<workgroup>>)
    gpu.launch_func @taken::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%table : memref<64xf32, #gpu.address_space<workgroup>>)
    return
  }
  // CHECK:       gpu.module @copied
  // CHECK-NEXT:    memref.global "private" @table : memref<64xf32, #gpu.address_space<workgroup>> = uninitialized
  // CHECK-NOT:     memref.global
  // CHECK:         memref.get_global @table
  gpu.module @copied {
    memref.global "private" @table : memref<64xf32, #gpu.address_space<workgroup>> = uninitialized
    gpu.func @kernel(%table: memref<64xf32, #gpu.address_space<workgroup>>) kernel {
      gpu.return
    }
  }
  // CHECK:       gpu.module @taken
  // CHECK:         memref.global "private" @[[COPY:table_[0-9]+]] : memref<64xf32, #gpu.address_space<workgroup>> = uninitialized
  // CHECK:         memref.global "private" @table : memref<32xf32, #gpu.address_space<workgroup>> = uninitialized
  // CHECK:         memref.get_global @[[COPY]] : memref<64xf32, #gpu.address_space<workgroup>>
  // CHECK:         memref.get_global @table : memref<32xf32, #gpu.address_space<workgroup>>
  gpu.module @taken {
    memref.global "private" @table : memref<32xf32, #gpu.address_space<workgroup>> = uninitialized
    gpu.func @kernel(%table: memref<64xf32, #gpu.address_space<workgroup>>) kernel {
      %own = memref.get_global @table : memref<32xf32, #gpu.address_space<workgroup>>
      gpu.return
    }
  }
}

// -----

// All launches pass the same one, from wherever they get it.
module attributes {gpu.container_module} {
  memref.global "private" @table : memref<64xf32, 3> = uninitialized
  func.func @first() {
    %c1 = arith.constant 1 : index
    %a = memref.get_global @table : memref<64xf32, 3>
    %b = memref.get_global @table : memref<64xf32, 3>
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<64xf32, 3>, %b : memref<64xf32, 3>)
    return
  }
  func.func @second() {
    %c1 = arith.constant 1 : index
    %a = memref.get_global @table : memref<64xf32, 3>
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<64xf32, 3>, %a : memref<64xf32, 3>)
    return
  }
  // CHECK:       gpu.module @kernels
  // CHECK:         memref.global "private" @table
  // CHECK-NOT:     memref.global
  // CHECK:         gpu.func @kernel() kernel
  gpu.module @kernels {
    gpu.func @kernel(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
      gpu.return
    }
  }
}

// -----

// What is only declared stays so: the size of dynamic memory is the launch's.
module attributes {gpu.container_module} {
  memref.global @dynamic : memref<0xi8, #gpu.address_space<workgroup>> {alignment = 16 : i64}
  func.func @host() {
    %c1 = arith.constant 1 : index
    %a = memref.get_global @dynamic : memref<0xi8, #gpu.address_space<workgroup>>
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<0xi8, #gpu.address_space<workgroup>>)
    return
  }
  // CHECK:       gpu.module @kernels
  // CHECK:         memref.global @dynamic : memref<0xi8, #gpu.address_space<workgroup>> {alignment = 16 : i64}
  // CHECK:         gpu.func @kernel() kernel
  // CHECK:           memref.get_global @dynamic
  gpu.module @kernels {
    gpu.func @kernel(%a: memref<0xi8, #gpu.address_space<workgroup>>) kernel {
      gpu.return
    }
  }
}
