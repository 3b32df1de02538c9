// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-pack-memory)' -o %t.once
// RUN: FileCheck %s --input-file=%t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-pack-memory)' -o %t.twice
// RUN: diff %t.once %t.twice

// A buffer with an element for each thread of a block: what bounds the size of a
// block in general is no bound for memory; each launch asks for what it needs.
module attributes {gpu.container_module} {
  // CHECK:         gpu.func @kernel(
  // CHECK:           %[[N:.+]] = gpu.block_dim x
  // CHECK:           memref.view %{{.+}}[%{{.+}}][%{{.+}}] : {{.+}} to memref<?xf32, #gpu.address_space<workgroup>>
  // CHECK-NOT:       memref.alloc
  gpu.module @kernels {
    gpu.func @kernel(%i: index, %v: f32) kernel {
      %n = gpu.block_dim x
      %a = memref.alloc(%n) : memref<?xf32, 3>
      memref.store %v, %a[%i] : memref<?xf32, 3>
      gpu.return
    }
  }
  // CHECK-LABEL: func.func @host(
  // CHECK-SAME:    %{{.+}}: index, %{{.+}}: f32, %[[N:[a-z0-9]+]]: index)
  // CHECK:         arith.muli %{{.+}}, %[[N]]
  // CHECK:         %[[BYTES:.+]] = arith.addi %{{.+}} : i32
  // CHECK:         gpu.launch_func {{.*}} dynamic_shared_memory_size %[[BYTES]] args
  func.func @host(%i: index, %v: f32, %n: index) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%n, %c1, %c1)
      args(%i : index, %v : f32)
    return
  }
}
