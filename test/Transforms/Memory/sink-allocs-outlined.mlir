// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-sink-allocs)' --split-input-file | FileCheck %s
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-sink-allocs)' --split-input-file -o %t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-sink-allocs)' --split-input-file -o %t.twice
// RUN: diff %t.once %t.twice

// After outlining, buffers are operands of launches: operand and argument go, and
// the kernel allocates. The order of the others stays, and so do attributions.
module attributes {gpu.container_module} {
  // CHECK-LABEL: func.func @host
  // CHECK-SAME:    (%[[OUT:.+]]: memref<64xf32>, %[[I:.+]]: index)
  // CHECK-NOT:     memref.alloc
  // CHECK:         gpu.launch_func @kernels::@kernel
  // CHECK-SAME:      args(%[[OUT]] : memref<64xf32>, %[[I]] : index)
  // CHECK-NOT:     memref.dealloc
  func.func @host(%out: memref<64xf32>, %i: index) {
    %c1 = arith.constant 1 : index
    %a = memref.alloc() {alignment = 64 : i64} : memref<64xf32, 3>
    %b = memref.alloca() : memref<32xf32, #gpu.address_space<workgroup>>
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%a : memref<64xf32, 3>, %out : memref<64xf32>, %b : memref<32xf32, #gpu.address_space<workgroup>>, %i : index)
    memref.dealloc %a : memref<64xf32, 3>
    return
  }
  gpu.module @kernels {
    // CHECK-LABEL: gpu.func @kernel
    // CHECK-SAME:    (%[[OUT:.+]]: memref<64xf32> {llvm.noalias}, %[[I:.+]]: index)
    // CHECK-SAME:    workgroup(%[[OLD:.+]] : memref<8xf32, 3>)
    // CHECK-DAG:     %[[A:.+]] = memref.alloc() {alignment = 64 : i64} : memref<64xf32, 3>
    // CHECK-DAG:     %[[B:.+]] = memref.alloca() : memref<32xf32, #gpu.address_space<workgroup>>
    // CHECK:         memref.load %[[A]][%[[I]]]
    // CHECK:         memref.load %[[B]][%[[I]]]
    // CHECK:         memref.load %[[OLD]][%[[I]]]
    gpu.func @kernel(%a: memref<64xf32, 3>, %out: memref<64xf32> {llvm.noalias}, %b: memref<32xf32, #gpu.address_space<workgroup>>, %i: index)
        workgroup(%old: memref<8xf32, 3>) kernel {
      %x = memref.load %a[%i] : memref<64xf32, 3>
      %y = memref.load %b[%i] : memref<32xf32, #gpu.address_space<workgroup>>
      %z = memref.load %old[%i] : memref<8xf32, 3>
      %xy = arith.addf %x, %y : f32
      %sum = arith.addf %xy, %z : f32
      memref.store %sum, %out[%i] : memref<64xf32>
      gpu.return
    }
  }
}

// -----

// Two views of one buffer stay views of one buffer, rebuilt from constants.
module attributes {gpu.container_module} {
  // CHECK-LABEL: func.func @views
  // CHECK:         gpu.launch_func @kernels::@kernel
  // CHECK-SAME:      args(%{{[a-z0-9]+}} : memref<64xf32>)
  func.func @views(%out: memref<64xf32>) {
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %bytes = memref.alloc() : memref<512xi8, 3>
    %low = memref.view %bytes[%c1][] : memref<512xi8, 3> to memref<16xf32, 3>
    %high = memref.view %bytes[%c64][] : memref<512xi8, 3> to memref<16xf32, 3>
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%low : memref<16xf32, 3>, %high : memref<16xf32, 3>, %out : memref<64xf32>)
    return
  }
  gpu.module @kernels {
    // CHECK-LABEL: gpu.func @kernel
    // CHECK:         %[[BYTES:.+]] = memref.alloc() : memref<512xi8, 3>
    // CHECK-NOT:     memref.alloc
    // CHECK:         %[[LOW:.+]] = memref.view %[[BYTES]]
    // CHECK:         %[[HIGH:.+]] = memref.view %[[BYTES]]
    // CHECK:         memref.load %[[LOW]]
    // CHECK:         memref.load %[[HIGH]]
    gpu.func @kernel(%low: memref<16xf32, 3>, %high: memref<16xf32, 3>, %out: memref<64xf32>) kernel {
      %c0 = arith.constant 0 : index
      %x = memref.load %low[%c0] : memref<16xf32, 3>
      %y = memref.load %high[%c0] : memref<16xf32, 3>
      %sum = arith.addf %x, %y : f32
      memref.store %sum, %out[%c0] : memref<64xf32>
      gpu.return
    }
  }
}

// -----

// All launches of a kernel change with it, wherever their operands stand: one of
// them waits for another.
module attributes {gpu.container_module} {
  // CHECK-LABEL: func.func @first_launch
  // CHECK-SAME:    (%[[OUT:.+]]: memref<64xf32>)
  // CHECK:         gpu.launch_func @kernels::@kernel
  // CHECK-SAME:      args(%[[OUT]] : memref<64xf32>)
  func.func @first_launch(%out: memref<64xf32>) {
    %c1 = arith.constant 1 : index
    %buffer = memref.alloc() : memref<64xf32, 3>
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%out : memref<64xf32>, %buffer : memref<64xf32, 3>)
    return
  }
  // CHECK-LABEL: func.func @second_launch
  // CHECK-SAME:    (%[[OUT:.+]]: memref<64xf32>)
  // CHECK:         gpu.launch_func async [%{{.+}}] @kernels::@kernel
  // CHECK-SAME:      args(%[[OUT]] : memref<64xf32>)
  func.func @second_launch(%out: memref<64xf32>) {
    %c1 = arith.constant 1 : index
    %buffer = memref.alloc() : memref<64xf32, 3>
    %ready = gpu.wait async
    %done = gpu.launch_func async [%ready] @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%out : memref<64xf32>, %buffer : memref<64xf32, 3>)
    gpu.wait [%done]
    return
  }
  gpu.module @kernels {
    // CHECK-LABEL: gpu.func @kernel
    // CHECK-SAME:    (%{{[a-z0-9]+}}: memref<64xf32>) kernel
    // CHECK:         memref.alloc() : memref<64xf32, 3>
    gpu.func @kernel(%out: memref<64xf32>, %buffer: memref<64xf32, 3>) kernel {
      %c0 = arith.constant 0 : index
      %x = memref.load %buffer[%c0] : memref<64xf32, 3>
      memref.store %x, %out[%c0] : memref<64xf32>
      gpu.return
    }
  }
}
