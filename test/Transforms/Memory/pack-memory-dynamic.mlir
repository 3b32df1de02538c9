// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-pack-memory)' -o %t.once
// RUN: FileCheck %s --input-file=%t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-pack-memory)' -o %t.twice
// RUN: diff %t.once %t.twice
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-hoist-allocs,workgroup-lower-dynamic-memory,workgroup-verify-kernels)' -o /dev/null
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-pack-memory{dynamic=always})' -o %t.always
// RUN: FileCheck %s --input-file=%t.always --check-prefix=ALWAYS
// RUN: mlir-opt %t.always --pass-pipeline='builtin.module(workgroup-pack-memory{dynamic=always})' -o %t.twice
// RUN: diff %t.always %t.twice

module attributes {gpu.container_module} {

// What static memory cannot hold lies behind an extern symbol, and launches ask
// for it: those that ask for nothing, for less, for more, and for what they say
// when they run.
// CHECK-LABEL: gpu.module @large
// CHECK-NEXT:    memref.global @dynamic_workgroup_memory : memref<0xi8, #gpu.address_space<workgroup>> {alignment = 64 : i64}
// CHECK-LABEL:   gpu.func @kernel(
// CHECK-SAME:      %{{.+}}: index, %{{.+}}: f32) kernel {
// CHECK-DAG:       %[[C0:.+]] = arith.constant 0 : index
// CHECK-DAG:       %[[C32768:.+]] = arith.constant 32768 : index
// CHECK:           %[[SYMBOL:.+]] = memref.get_global @dynamic_workgroup_memory
// CHECK-NEXT:      %[[ARENA:.+]] = memref.reinterpret_cast %[[SYMBOL]] to offset: [0], sizes: [65536], strides: [1] : memref<0xi8, #gpu.address_space<workgroup>> to memref<65536xi8, #gpu.address_space<workgroup>>
// CHECK-DAG:       memref.view %[[ARENA]][%[[C0]]][]
// CHECK-DAG:       memref.view %[[ARENA]][%[[C32768]]][]
// CHECK-LABEL: func.func @launches(
// CHECK-SAME:    %[[BYTES:[a-z0-9]+]]: i32)
// CHECK:         gpu.launch_func @large::@kernel {{.*}} dynamic_shared_memory_size %c65536_i32{{[_0-9]*}} args
// CHECK:         gpu.launch_func @large::@kernel {{.*}} dynamic_shared_memory_size %c65536_i32{{[_0-9]*}} args
// CHECK:         gpu.launch_func @large::@kernel {{.*}} dynamic_shared_memory_size %c100000_i32{{[_0-9]*}} args
// CHECK:         %[[MOST:.+]] = arith.maxui %[[BYTES]], %c65536_i32{{[_0-9]*}} : i32
// CHECK:         gpu.launch_func @large::@kernel {{.*}} dynamic_shared_memory_size %[[MOST]] args
// CHECK:         gpu.launch_func async [%{{.+}}] @large::@kernel clusters in {{.*}} dynamic_shared_memory_size %c65536_i32{{[_0-9]*}} args
gpu.module @large {
  gpu.func @kernel(%i: index, %v: f32)
      workgroup(%a: memref<8192xf32, 3> {llvm.align = 64 : i64}, %b: memref<8192xf32, 3>) kernel {
    memref.store %v, %a[%i] : memref<8192xf32, 3>
    memref.store %v, %b[%i] : memref<8192xf32, 3>
    memref.store %v, %a[%i] : memref<8192xf32, 3>
    gpu.return
  }
}
func.func @launches(%i: index, %v: f32, %bytes: i32) {
  %c1 = arith.constant 1 : index
  gpu.launch_func @large::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    args(%i : index, %v : f32)
  %less = arith.constant 1000 : i32
  gpu.launch_func @large::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    dynamic_shared_memory_size %less args(%i : index, %v : f32)
  %more = arith.constant 100000 : i32
  gpu.launch_func @large::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    dynamic_shared_memory_size %more args(%i : index, %v : f32)
  gpu.launch_func @large::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    dynamic_shared_memory_size %bytes args(%i : index, %v : f32)
  %token = gpu.wait async
  scf.for %j = %c1 to %i step %c1 {
    %next = gpu.launch_func async [%token] @large::@kernel clusters in (%c1, %c1, %c1)
      blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%i : index, %v : f32)
  }
  return
}

// To the byte what is allowed without asking stays static, unless it is told not to.
// CHECK-LABEL: gpu.module @limit
// CHECK-NOT:     memref.global
// CHECK:         gpu.func @kernel(
// CHECK-SAME:      workgroup(%{{.+}} : memref<6144xf32, 3>, %{{.+}} : memref<6144xf32, 3>)
// CHECK-LABEL: gpu.module @over
// CHECK:         memref.reinterpret_cast {{.+}} sizes: [49156]
// ALWAYS-LABEL: gpu.module @limit
// ALWAYS:        memref.global @dynamic_workgroup_memory
// ALWAYS:        memref.reinterpret_cast {{.+}} sizes: [49152]
gpu.module @limit {
  gpu.func @kernel(%i: index, %v: f32)
      workgroup(%a: memref<6144xf32, 3>, %b: memref<6144xf32, 3>) kernel {
    memref.store %v, %a[%i] : memref<6144xf32, 3>
    memref.store %v, %b[%i] : memref<6144xf32, 3>
    memref.store %v, %a[%i] : memref<6144xf32, 3>
    gpu.return
  }
}
gpu.module @over {
  gpu.func @kernel(%i: index, %v: f32)
      workgroup(%a: memref<6144xf32, 3>, %b: memref<6145xf32, 3>) kernel {
    memref.store %v, %a[%i] : memref<6144xf32, 3>
    memref.store %v, %b[%i] : memref<6145xf32, 3>
    memref.store %v, %a[%i] : memref<6144xf32, 3>
    gpu.return
  }
}

// What fits by sharing need not be dynamic.
// CHECK-LABEL: gpu.module @shared
// CHECK-NOT:     memref.global
// CHECK:         workgroup(%{{.+}} : memref<32768xi8
gpu.module @shared {
  gpu.func @kernel(%i: index, %v: f32)
      workgroup(%a: memref<8192xf32, 3>, %b: memref<8192xf32, 3>) kernel {
    memref.store %v, %a[%i] : memref<8192xf32, 3>
    memref.store %v, %b[%i] : memref<8192xf32, 3>
    gpu.return
  }
}

// Dynamic memory that the program takes itself keeps its place and its size; the
// arena comes after it.
// CHECK-LABEL: gpu.module @window
// CHECK:         memref.global @dynamic_workgroup_memory : {{.+}} {alignment = 1024 : i64}
// CHECK:         gpu.func @kernel(
// CHECK:           %[[C1008:.+]] = arith.constant 1008 : index
// CHECK:           %[[ARENA:.+]] = memref.reinterpret_cast {{.+}} sizes: [66544]
// CHECK-NEXT:      %[[A:.+]] = memref.view %[[ARENA]][%[[C1008]]][] : memref<66544xi8, #gpu.address_space<workgroup>> to memref<65536xi8, #gpu.address_space<workgroup>>
// CHECK:           %[[WINDOW:.+]] = gpu.dynamic_shared_memory
// CHECK-DAG:       %[[C0:.+]] = arith.constant 0 : index
// CHECK-DAG:       %[[C1000:.+]] = arith.constant 1000 : index
// CHECK:           %[[OWN:.+]] = memref.view %[[WINDOW]][%[[C0]]][%[[C1000]]]
// CHECK:           memref.dim %[[OWN]]
// CHECK:           memref.store %{{.+}}, %[[OWN]]
// CHECK:           memref.store %{{.+}}, %[[A]]
// CHECK-LABEL: func.func @window_launch(
// CHECK:         %[[BYTES:.+]] = arith.constant 66544 : i32
// CHECK:         gpu.launch_func @window::@kernel {{.*}} dynamic_shared_memory_size %[[BYTES]] args
gpu.module @window {
  gpu.func @kernel(%v: i8) workgroup(%a: memref<65536xi8, 3>) kernel {
    %c0 = arith.constant 0 : index
    %window = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %size = memref.dim %window, %c0 : memref<?xi8, #gpu.address_space<workgroup>>
    memref.store %v, %window[%size] : memref<?xi8, #gpu.address_space<workgroup>>
    memref.store %v, %a[%size] : memref<65536xi8, 3>
    gpu.return
  }
}
func.func @window_launch(%v: i8) {
  %c1 = arith.constant 1 : index
  %bytes = arith.constant 1000 : i32
  gpu.launch_func @window::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    dynamic_shared_memory_size %bytes args(%v : i8)
  return
}

// Where launches differ it moves behind the arena, and loses nothing.
// CHECK-LABEL: gpu.module @shifted
// CHECK:         gpu.func @kernel(
// CHECK:           %[[ARENA:.+]] = memref.reinterpret_cast {{.+}} sizes: [65552]
// CHECK-NEXT:      %[[A:.+]] = memref.view %[[ARENA]][%{{.+}}][] : {{.+}} to memref<65552xi8, #gpu.address_space<workgroup>>
// CHECK:           %[[WINDOW:.+]] = gpu.dynamic_shared_memory
// CHECK-DAG:       %[[SHIFT:.+]] = arith.constant 66560 : index
// CHECK-DAG:       %[[ALL:.+]] = memref.dim %[[WINDOW]]
// CHECK:           %[[SIZE:.+]] = arith.subi %[[ALL]], %[[SHIFT]]
// CHECK:           %[[REST:.+]] = memref.view %[[WINDOW]][%[[SHIFT]]][%[[SIZE]]]
// CHECK:           memref.store %{{.+}}, %[[REST]]
// CHECK:           memref.store %{{.+}}, %[[A]]
// CHECK-LABEL: func.func @shifted_launches(
// CHECK-SAME:    %[[ASKED:[a-z0-9]+]]: i32
// CHECK:         %[[SUM:.+]] = arith.addi %[[ASKED]], %{{.+}} : i32
// CHECK:         gpu.launch_func @shifted::@kernel {{.*}} dynamic_shared_memory_size %[[SUM]] args
// CHECK:         gpu.launch_func @shifted::@kernel {{.*}} dynamic_shared_memory_size %c67560_i32{{[_0-9]*}} args
// CHECK:         gpu.launch_func @shifted::@kernel {{.*}} dynamic_shared_memory_size %c66560_i32{{[_0-9]*}} args
gpu.module @shifted {
  gpu.func @kernel(%i: index, %v: i8) workgroup(%a: memref<65552xi8, 3>) kernel {
    %window = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    memref.store %v, %window[%i] : memref<?xi8, #gpu.address_space<workgroup>>
    memref.store %v, %a[%i] : memref<65552xi8, 3>
    gpu.return
  }
}
func.func @shifted_launches(%asked: i32, %i: index, %v: i8) {
  %c1 = arith.constant 1 : index
  gpu.launch_func @shifted::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    dynamic_shared_memory_size %asked args(%i : index, %v : i8)
  %bytes = arith.constant 1000 : i32
  gpu.launch_func @shifted::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    dynamic_shared_memory_size %bytes args(%i : index, %v : i8)
  gpu.launch_func @shifted::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    args(%i : index, %v : i8)
  return
}

// Allocations of which the launch knows the size: each launch asks for its own,
// rounded up, after what has a constant size.
// CHECK-LABEL: gpu.module @runtime
// CHECK:         gpu.func @kernel(%[[N:[a-z0-9]+]]: index,
// CHECK-SAME:      workgroup(%{{.+}} : memref<64xf32, 3>)
// CHECK:           %[[START:.+]] = arith.constant 0 : index
// CHECK:           %[[WINDOW:.+]] = memref.reinterpret_cast %{{.+}} to offset: [0], sizes: [%{{.+}}], strides: [1]
// CHECK-NEXT:      %[[A:.+]] = memref.view %[[WINDOW]][%[[START]]][%[[N]]] : {{.+}} to memref<?xf32, #gpu.address_space<workgroup>>
// CHECK-NEXT:      memref.view %[[WINDOW]][%{{.+}}][%{{.+}}] : {{.+}} to memref<4x?xf16, #gpu.address_space<workgroup>>
// CHECK-NOT:       memref.alloc
// CHECK-NOT:       memref.dealloc
// CHECK:           memref.store %{{.+}}, %[[A]]
// CHECK-LABEL: func.func @runtime_launches(
// CHECK-SAME:    %[[N:[a-z0-9]+]]: index, %[[M:[a-z0-9]+]]: index
// CHECK:         %[[C4:.+]] = arith.constant 4 : index
// CHECK:         arith.muli %[[C4]], %[[N]]
// CHECK:         arith.ceildivui
// CHECK:         arith.index_castui %{{.+}} : index to i32
// CHECK:         arith.addi %{{.+}} : i32
// CHECK:         gpu.launch_func @runtime::@kernel {{.*}} dynamic_shared_memory_size %{{[0-9]+}} args
// CHECK:         arith.muli %{{.+}}, %[[M]]
// CHECK:         arith.addi %{{.+}} : i32
// CHECK:         gpu.launch_func @runtime::@kernel {{.*}} dynamic_shared_memory_size %{{[0-9]+}} args
gpu.module @runtime {
  gpu.func @kernel(%n: index, %v: f32, %w: f16) workgroup(%b: memref<64xf32, 3>) kernel {
    %a = memref.alloc(%n) : memref<?xf32, 3>
    memref.store %v, %a[%n] : memref<?xf32, 3>
    memref.dealloc %a : memref<?xf32, 3>
    %twice = arith.addi %n, %n : index
    %c = memref.alloc(%twice) : memref<4x?xf16, 3>
    memref.store %w, %c[%n, %n] : memref<4x?xf16, 3>
    memref.store %v, %b[%n] : memref<64xf32, 3>
    gpu.return
  }
}
func.func @runtime_launches(%n: index, %m: index, %v: f32, %w: f16) {
  %c1 = arith.constant 1 : index
  gpu.launch_func @runtime::@kernel blocks in (%c1, %c1, %c1) threads in (%m, %c1, %c1)
    args(%n : index, %v : f32, %w : f16)
  gpu.launch_func @runtime::@kernel blocks in (%c1, %c1, %c1) threads in (%n, %c1, %c1)
    args(%m : index, %v : f32, %w : f16)
  return
}
}
