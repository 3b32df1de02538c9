// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-allocate-device-memory)' -o %t.mlir
// RUN: mlir-opt %s -o %t.same
// RUN: diff %t.mlir %t.same
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-allocate-device-memory)' --remarks-filter='workgroup.*' --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s

// Programs in which nothing changes; the remarks are those of buffers that kernels
// are launched with where they are.

module attributes {gpu.container_module} {

gpu.module @kernels {
  gpu.func @copy(%a: memref<4xf32>, %b: memref<4xf32>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %a[%i] : memref<4xf32>
    memref.store %x, %b[%i] : memref<4xf32>
    gpu.return
  }
  gpu.func @write(%a: memref<4xf32>) kernel {
    %i = gpu.thread_id x
    %x = arith.constant 1.0 : f32
    memref.store %x, %a[%i] : memref<4xf32>
    gpu.return
  }
  gpu.func @global(%a: memref<4xf32, 1>) kernel {
    gpu.return
  }
}

// Memory of the device, allocated here, passed from elsewhere, or of a space.
// CHECK-NOT: Function=on_device
func.func @on_device(%s: memref<4xf32, 1>) {
  %c1 = arith.constant 1 : index
  %a = gpu.alloc () : memref<4xf32>
  %b = gpu.alloc () : memref<4xf32>
  gpu.launch_func @kernels::@copy blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<4xf32>, %b : memref<4xf32>)
  gpu.launch_func @kernels::@global blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%s : memref<4xf32, 1>)
  func.call @given(%a) : (memref<4xf32>) -> ()
  gpu.dealloc %a : memref<4xf32>
  gpu.dealloc %b : memref<4xf32>
  return
}
func.func private @given(%a: memref<4xf32>) {
  %c1 = arith.constant 1 : index
  gpu.launch_func @kernels::@write blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<4xf32>)
  return
}

// CHECK: LeftOnHost | Category:workgroup-allocate-device-memory | Function=registered | Reason="it is registered, so that kernels reach it where it is"
func.func @registered() {
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<4xf32>
  %u = memref.cast %a : memref<4xf32> to memref<*xf32>
  gpu.host_register %u : memref<*xf32>
  gpu.launch_func @kernels::@write blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<4xf32>)
  return
}

// CHECK: Function=shared
// CHECK-SAME: its rank is not known
// CHECK-NOT: Function=shared
func.func @shared(%u: memref<*xf32>) {
  %c1 = arith.constant 1 : index
  %a = gpu.alloc host_shared () : memref<4xf32>
  %b = memref.cast %u : memref<*xf32> to memref<4xf32>
  gpu.launch_func @kernels::@write blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%b : memref<4xf32>)
  return
}

// CHECK-COUNT-2: Function=overlap | Reason="it may overlap another buffer of launches that write; mark arguments llvm.noalias, or set assume-distinct-arguments"
func.func @overlap(%a: memref<4xf32>, %b: memref<4xf32>) {
  %c1 = arith.constant 1 : index
  gpu.launch_func @kernels::@copy blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<4xf32>, %b : memref<4xf32>)
  return
}

// CHECK: Function=asynchronous | Reason="a launch of it is asynchronous; allocate first, and run gpu-async-region then"
func.func @asynchronous(%a: memref<4xf32>) {
  %c1 = arith.constant 1 : index
  %t = gpu.wait async
  %u = gpu.launch_func async [%t] @kernels::@write blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<4xf32>)
  gpu.wait [%u]
  return
}

// CHECK: Function=unstructured | Reason="the function has branches between blocks; run lift-cf-to-scf first"
func.func @unstructured(%a: memref<4xf32>, %c: i1) {
  %c1 = arith.constant 1 : index
  cf.cond_br %c, ^launch, ^end
^launch:
  gpu.launch_func @kernels::@write blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<4xf32>)
  cf.br ^end
^end:
  return
}

// CHECK: Function=parallel | Reason="launches of it are in 'scf.parallel', whose regions are not known to be executed in order"
func.func @parallel(%a: memref<4xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    gpu.launch_func @kernels::@write blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<4xf32>)
  }
  return
}

// One buffer that stays keeps those that it meets.
// CHECK: Function=meets | Reason="it meets another buffer in one value, and that one stays"
// CHECK: Function=meets | Reason="it is registered
func.func @meets(%c: i1) {
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<4xf32>
  %b = memref.alloc() : memref<4xf32>
  %u = memref.cast %b : memref<4xf32> to memref<*xf32>
  gpu.host_register %u : memref<*xf32>
  %s = arith.select %c, %a, %b : memref<4xf32>
  gpu.launch_func @kernels::@write blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%s : memref<4xf32>)
  return
}

// CHECK: Function=gaps | Reason="its rows may lie apart, and a view of it is made from its strides"
func.func @gaps(%a: memref<?xf32, strided<[?]>>) {
  %c1 = arith.constant 1 : index
  %r = memref.reinterpret_cast %a to offset: [0], sizes: [4], strides: [1] : memref<?xf32, strided<[?]>> to memref<4xf32>
  gpu.launch_func @kernels::@write blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%r : memref<4xf32>)
  return
}

// CHECK: Function=address
// CHECK-SAME: its address is taken
func.func @address(%a: memref<4xf32>) -> index {
  %c1 = arith.constant 1 : index
  gpu.launch_func @kernels::@write blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<4xf32>)
  %p = memref.extract_aligned_pointer_as_index %a : memref<4xf32> -> index
  return %p : index
}

// Copies of one buffer for two operands would be two.
// CHECK-COUNT-2: Function=twice | Reason="the host writes to one of two values that may be it"
func.func @twice(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<4xf32>
  %b = memref.alloc() : memref<4xf32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b) -> (memref<4xf32>, memref<4xf32>) {
    gpu.launch_func @kernels::@write blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<4xf32>)
    scf.yield %y, %x : memref<4xf32>, memref<4xf32>
  }
  linalg.exp ins(%r#0 : memref<4xf32>) outs(%r#1 : memref<4xf32>)
  return
}

}
