// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-allocate-device-memory{strict})' | FileCheck %s
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-allocate-device-memory)' -o %t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-allocate-device-memory)' -o %t.twice
// RUN: diff %t.once %t.twice

module attributes {gpu.container_module} {

gpu.module @kernels {
  gpu.func @square(%a: memref<?xf32>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %a[%i] : memref<?xf32>
    %y = arith.mulf %x, %x : f32
    memref.store %y, %a[%i] : memref<?xf32>
    gpu.return
  }
  gpu.func @copy(%a: memref<?xf32>, %b: memref<?xf32>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %a[%i] : memref<?xf32>
    memref.store %x, %b[%i] : memref<?xf32>
    gpu.return
  }
}

// Uploaded once for two launches, downloaded once, freed where it is not needed
// any more.
// CHECK-LABEL: func.func @square_twice(
// CHECK-SAME:      %[[N:.*]]: index, %[[X:.*]]: f32)
// CHECK:         %[[A:.*]] = memref.alloc(%[[N]])
// CHECK-NEXT:    linalg.fill ins(%[[X]] : f32) outs(%[[A]]
// CHECK-NEXT:    %[[D:.*]] = gpu.alloc (%[[N]]) : memref<?xf32>
// CHECK-NEXT:    gpu.memcpy %[[D]], %[[A]]
// CHECK-NEXT:    gpu.launch_func {{.*}} args(%[[D]]
// CHECK-NEXT:    gpu.launch_func {{.*}} args(%[[D]]
// CHECK-NEXT:    gpu.memcpy %[[A]], %[[D]]
// CHECK-NEXT:    gpu.dealloc %[[D]]
// CHECK-NEXT:    memref.load %[[A]]
// CHECK-NOT:     gpu.
// CHECK:         return
func.func @square_twice(%n: index, %x: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc(%n) : memref<?xf32>
  linalg.fill ins(%x : f32) outs(%a : memref<?xf32>)
  gpu.launch_func @kernels::@square blocks in (%c1, %c1, %c1) threads in (%n, %c1, %c1) args(%a : memref<?xf32>)
  gpu.launch_func @kernels::@square blocks in (%c1, %c1, %c1) threads in (%n, %c1, %c1) args(%a : memref<?xf32>)
  %y = memref.load %a[%c0] : memref<?xf32>
  memref.dealloc %a : memref<?xf32>
  return %y : f32
}

// What the host does not touch is on the device only, and is freed there: where
// the program says it, else behind its last use.
// CHECK-LABEL: func.func @untouched(
// CHECK-NOT:     memref.alloc
// CHECK-DAG:     %[[A:.*]] = gpu.alloc (
// CHECK-DAG:     %[[B:.*]] = gpu.alloc (
// CHECK-NOT:     gpu.memcpy
// CHECK:         gpu.launch_func {{.*}} args(%[[A]] : memref<?xf32>, %[[B]] :
// CHECK-NEXT:    gpu.dealloc %[[A]]
// CHECK-NEXT:    gpu.launch_func {{.*}} args(%[[B]] :
// CHECK-NEXT:    gpu.dealloc %[[B]]
// CHECK-NEXT:    return
func.func @untouched(%n: index) {
  %c1 = arith.constant 1 : index
  %a = memref.alloc(%n) : memref<?xf32>
  %b = memref.alloca(%n) : memref<?xf32>
  gpu.launch_func @kernels::@copy blocks in (%c1, %c1, %c1) threads in (%n, %c1, %c1) args(%a : memref<?xf32>, %b : memref<?xf32>)
  memref.dealloc %a : memref<?xf32>
  gpu.launch_func @kernels::@square blocks in (%c1, %c1, %c1) threads in (%n, %c1, %c1) args(%b : memref<?xf32>)
  return
}

// An argument that is only read comes in once, and does not go out; one that is
// written does, also with what the kernel leaves of it.
// CHECK-LABEL: func.func @arguments(
// CHECK-SAME:      %[[N:.*]]: index, %[[A:.*]]: memref<?xf32> {{.*}}, %[[B:.*]]: memref<?xf32>
// CHECK-DAG:     gpu.memcpy %[[DA:.*]], %[[A]]
// CHECK-DAG:     gpu.memcpy %[[DB:.*]], %[[B]]
// CHECK:         gpu.launch_func {{.*}} args(%[[DA]] : memref<?xf32>, %[[DB]] :
// CHECK:         gpu.dealloc %[[DA]]
// CHECK-NOT:     gpu.memcpy %[[A]]
// CHECK:         gpu.memcpy %[[B]], %[[DB]]
// CHECK:         return
func.func @arguments(%n: index, %a: memref<?xf32> {llvm.noalias}, %b: memref<?xf32>) {
  %c1 = arith.constant 1 : index
  gpu.launch_func @kernels::@copy blocks in (%c1, %c1, %c1) threads in (%n, %c1, %c1) args(%a : memref<?xf32>, %b : memref<?xf32>)
  return
}

// A buffer that is returned is the host's; so is what was copied.
// CHECK-LABEL: func.func @returned(
// CHECK-SAME:      %[[N:.*]]: index, %[[IN:.*]]: memref<?xf32>)
// CHECK:         %[[A:.*]] = gpu.alloc
// CHECK:         gpu.memcpy %[[A]], %[[IN]]
// CHECK:         gpu.launch_func {{.*}} args(%[[A]] : memref<?xf32>, %[[DB:.*]] :
// CHECK:         gpu.memcpy %[[B:.*]], %[[DB]]
// CHECK:         return %[[B]]
func.func @returned(%n: index, %in: memref<?xf32>) -> memref<?xf32> {
  %c1 = arith.constant 1 : index
  %a = memref.alloc(%n) : memref<?xf32>
  %b = memref.alloc(%n) : memref<?xf32>
  memref.copy %in, %a : memref<?xf32> to memref<?xf32>
  gpu.launch_func @kernels::@copy blocks in (%c1, %c1, %c1) threads in (%n, %c1, %c1) args(%a : memref<?xf32>, %b : memref<?xf32>)
  return %b : memref<?xf32>
}

// A call may read and write; printing reads.
// CHECK-LABEL: func.func @calls(
// CHECK:         gpu.launch_func
// CHECK-NEXT:    gpu.memcpy %[[A:.*]], %[[D:.*]] :
// CHECK-NEXT:    call @unknown(%[[A]])
// CHECK-NEXT:    gpu.memcpy %[[D]], %[[A]]
// CHECK-NEXT:    gpu.launch_func
// CHECK:         gpu.memcpy %[[A]], %[[D]]
// CHECK-NEXT:    call @printMemrefF32
// CHECK-NOT:     gpu.memcpy
// CHECK:         gpu.launch_func
// CHECK-NOT:     gpu.memcpy
// CHECK:         return
func.func private @unknown(memref<?xf32>)
func.func private @printMemrefF32(memref<*xf32>)
func.func @calls(%n: index) {
  %c1 = arith.constant 1 : index
  %a = memref.alloc(%n) : memref<?xf32>
  gpu.launch_func @kernels::@square blocks in (%c1, %c1, %c1) threads in (%n, %c1, %c1) args(%a : memref<?xf32>)
  func.call @unknown(%a) : (memref<?xf32>) -> ()
  gpu.launch_func @kernels::@square blocks in (%c1, %c1, %c1) threads in (%n, %c1, %c1) args(%a : memref<?xf32>)
  %u = memref.cast %a : memref<?xf32> to memref<*xf32>
  func.call @printMemrefF32(%u) : (memref<*xf32>) -> ()
  gpu.launch_func @kernels::@square blocks in (%c1, %c1, %c1) threads in (%n, %c1, %c1) args(%a : memref<?xf32>)
  memref.dealloc %a : memref<?xf32>
  return
}

// What a kernel is not known to do, it may do.
// CHECK-LABEL: func.func @unknown_kernel(
// CHECK:         gpu.memcpy %[[D:.*]], %[[A:.*]] :
// CHECK-NEXT:    gpu.launch_func {{.*}}@elsewhere{{.*}} args(%[[D]]
// CHECK-NEXT:    gpu.memcpy %[[A]], %[[D]]
gpu.module @others {
  llvm.func @elsewhere(!llvm.ptr) attributes {gpu.kernel, nvvm.kernel}
}
func.func @unknown_kernel(%a: memref<4xf32>) {
  %c1 = arith.constant 1 : index
  gpu.launch_func @others::@elsewhere blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<4xf32>)
  return
}

// No launch, no change.
// CHECK-LABEL: func.func @host_only(
// CHECK-NOT:     gpu
// CHECK:         return
func.func @host_only(%a: memref<4xf32>, %x: f32) {
  linalg.fill ins(%x : f32) outs(%a : memref<4xf32>)
  return
}

}
