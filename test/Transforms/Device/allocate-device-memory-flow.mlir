// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-allocate-device-memory{strict assume-distinct-arguments})' | FileCheck %s
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-allocate-device-memory{assume-distinct-arguments})' -o %t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-allocate-device-memory{assume-distinct-arguments})' -o %t.twice
// RUN: diff %t.once %t.twice

module attributes {gpu.container_module} {

gpu.module @kernels {
  gpu.func @read(%a: memref<4xf32>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %a[%i] : memref<4xf32>
    gpu.printf "%f\n", %x : f32
    gpu.return
  }
  gpu.func @write(%a: memref<4xf32>) kernel {
    %i = gpu.thread_id x
    %x = arith.constant 1.0 : f32
    memref.store %x, %a[%i] : memref<4xf32>
    gpu.return
  }
  gpu.func @step(%a: memref<4xf32>, %b: memref<4xf32>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %a[%i] : memref<4xf32>
    memref.store %x, %b[%i] : memref<4xf32>
    gpu.return
  }
}

// Neither side needs the other in the loop: no copy in it.
// CHECK-LABEL: func.func @hoisted(
// CHECK:         gpu.memcpy %[[D:.*]], %[[A:.*]] :
// CHECK:         scf.for
// CHECK-NOT:       gpu.memcpy
// CHECK:           gpu.launch_func
// CHECK-NOT:       gpu.memcpy
// CHECK:         }
// CHECK:         gpu.memcpy %[[A]], %[[D]]
func.func @hoisted(%a: memref<4xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    gpu.launch_func @kernels::@write blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<4xf32>)
  }
  return
}

// The host reads what each iteration has written: one copy in the loop.
// CHECK-LABEL: func.func @read_in_loop(
// CHECK:         gpu.memcpy %[[D:.*]], %[[A:.*]] :
// CHECK:         scf.for
// CHECK-NEXT:      gpu.launch_func
// CHECK-NEXT:      gpu.memcpy %[[A]], %[[D]]
// CHECK-NEXT:      memref.load %[[A]]
// CHECK-NOT:     gpu.memcpy
// CHECK:         return
func.func @read_in_loop(%a: memref<4xf32>, %n: index, %x: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%t = %x) -> f32 {
    gpu.launch_func @kernels::@write blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<4xf32>)
    %y = memref.load %a[%c0] : memref<4xf32>
    %z = arith.addf %t, %y : f32
    scf.yield %z : f32
  }
  return %s : f32
}

// Written by the host on one way, by a launch on the other: both have to meet.
// CHECK-LABEL: func.func @branches(
// CHECK:         gpu.memcpy %[[D:.*]], %[[A:.*]] :
// CHECK:         gpu.launch_func {{.*}}@write
// CHECK-NEXT:    scf.if
// CHECK-NEXT:      gpu.memcpy %[[A]], %[[D]]
// CHECK-NEXT:      memref.store %{{.*}}, %[[A]]
// CHECK-NEXT:      gpu.memcpy %[[D]], %[[A]]
// CHECK-NOT:     gpu.memcpy
// CHECK:         gpu.launch_func {{.*}}@step
// CHECK:         gpu.memcpy %[[A]], %[[D]]
func.func @branches(%a: memref<4xf32>, %c: i1, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  gpu.launch_func @kernels::@write blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<4xf32>)
  scf.if %c {
    memref.store %x, %a[%c0] : memref<4xf32>
  }
  gpu.launch_func @kernels::@step blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<4xf32>, %a : memref<4xf32>)
  return
}

// Copied only where the launch is, on one of two ways.
// CHECK-LABEL: func.func @one_way(
// CHECK:         scf.for
// CHECK-NEXT:      memref.store
// CHECK-NEXT:      scf.if
// CHECK-NEXT:        gpu.memcpy
// CHECK-NEXT:        gpu.launch_func {{.*}}@read
// CHECK-NOT:     gpu.memcpy
// CHECK:         return
func.func @one_way(%a: memref<4xf32>, %c: i1, %x: f32, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    memref.store %x, %a[%c0] : memref<4xf32>
    scf.if %c {
      gpu.launch_func @kernels::@read blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<4xf32>)
    }
  }
  return
}

// What the condition reads is copied behind the launch, not before the condition,
// which is computed once more.
// CHECK-LABEL: func.func @while(
// CHECK:         gpu.memcpy %[[D:.*]], %[[A:.*]] :
// CHECK:         scf.while
// CHECK-NOT:       gpu.memcpy
// CHECK:           memref.load %[[A]]
// CHECK:         do
// CHECK-NEXT:      gpu.launch_func {{.*}} args(%[[D]]
// CHECK-NEXT:      gpu.memcpy %[[A]], %[[D]]
// CHECK-NEXT:      scf.yield
// CHECK-NOT:     gpu.memcpy
// CHECK:         return
func.func @while(%a: memref<4xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.while : () -> () {
    %y = memref.load %a[%c0] : memref<4xf32>
    %go = arith.cmpf olt, %y, %x : f32
    scf.condition(%go)
  } do {
    gpu.launch_func @kernels::@write blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<4xf32>)
    scf.yield
  }
  return
}

// Two buffers that a loop swaps are memory of the device; the result is copied
// to where it belongs.
// CHECK-LABEL: func.func @swapped(
// CHECK-SAME:      %[[A:.*]]: memref<4xf32>, %{{.*}}: index)
// CHECK-DAG:     %[[T:.*]] = gpu.alloc () : memref<4xf32>
// CHECK-DAG:     %[[D:.*]] = gpu.alloc () : memref<4xf32>
// CHECK:         gpu.memcpy %[[D]], %[[A]]
// CHECK:         %[[R:.*]]:2 = scf.for {{.*}} iter_args(%{{.*}} = %[[D]], %{{.*}} = %[[T]])
// CHECK-NOT:       gpu.memcpy
// CHECK:           scf.yield
// CHECK:         gpu.memcpy %[[A]], %[[R]]#0
// CHECK-DAG:     gpu.dealloc %[[T]]
// CHECK-DAG:     gpu.dealloc %[[D]]
// CHECK:         return
func.func @swapped(%a: memref<4xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = memref.alloc() : memref<4xf32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %t) -> (memref<4xf32>, memref<4xf32>) {
    gpu.launch_func @kernels::@step blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<4xf32>, %y : memref<4xf32>)
    scf.yield %y, %x : memref<4xf32>, memref<4xf32>
  }
  memref.copy %r#0, %a : memref<4xf32> to memref<4xf32>
  return
}

// What the host does with one of several buffers of the device it does with a
// copy; a result is a new buffer of the host.
// CHECK-LABEL: func.func @selected(
// CHECK:         %[[S:.*]] = arith.select
// CHECK:         gpu.launch_func {{.*}} args(%[[S]]
// CHECK:         %[[H:.*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT:    gpu.memcpy %[[H]], %[[S]]
// CHECK-NEXT:    memref.store %{{.*}}, %[[H]]
// CHECK-NEXT:    gpu.memcpy %[[S]], %[[H]]
// CHECK-NEXT:    memref.dealloc %[[H]]
// CHECK:         %[[O:.*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT:    gpu.memcpy %[[O]], %[[S]]
// CHECK:         return %[[O]]
func.func @selected(%c: i1, %x: f32) -> memref<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<4xf32>
  %b = memref.alloc() : memref<4xf32>
  %s = arith.select %c, %a, %b : memref<4xf32>
  gpu.launch_func @kernels::@write blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%s : memref<4xf32>)
  memref.store %x, %s[%c0] : memref<4xf32>
  return %s : memref<4xf32>
}

// A buffer of each iteration is allocated and freed in it.
// CHECK-LABEL: func.func @in_loop(
// CHECK:         scf.for
// CHECK-NEXT:      %[[D:.*]] = gpu.alloc
// CHECK-NEXT:      gpu.launch_func
// CHECK-NEXT:      gpu.dealloc %[[D]]
func.func @in_loop(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.alloc() : memref<4xf32>
    gpu.launch_func @kernels::@write blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<4xf32>)
    memref.dealloc %a : memref<4xf32>
  }
  return
}

}
