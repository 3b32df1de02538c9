// RUN: mlir-opt %s --pass-pipeline='builtin.module(func.func(workgroup-sink-allocs{from-spaces=1:workgroup}))' --split-input-file --verify-diagnostics -o %t
// RUN: FileCheck %s --input-file=%t

// On a function, what only the function has to do with can change.
// CHECK-LABEL: func.func @of_its_own
// CHECK:         gpu.launch
// CHECK:           memref.alloc() : memref<64xf32, #gpu.address_space<workgroup>>
func.func @of_its_own(%out: memref<64xf32>) {
  %c1 = arith.constant 1 : index
  %buffer = memref.alloc() : memref<64xf32, 1>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %value = memref.load %buffer[%tx] : memref<64xf32, 1>
    memref.store %value, %out[%tx] : memref<64xf32>
    gpu.terminator
  }
  return
}

// -----

// What others share with it cannot: its signature, ...
// expected-error @+1 {{'func.func' op shares memory that from-spaces maps with code outside of the operation that the pass runs on; run it on the module around both}}
func.func @signature(%buffer: memref<64xf32, 1>) {
  return
}

// -----

// ... a global, ...
memref.global "private" @table : memref<8xf32, 1> = uninitialized
func.func @global() {
  // expected-error @+1 {{'memref.get_global' op shares memory that from-spaces maps with code outside}}
  %table = memref.get_global @table : memref<8xf32, 1>
  return
}

// -----

// ... and a kernel.
module attributes {gpu.container_module} {
  func.func @launches() {
    %c1 = arith.constant 1 : index
    %buffer = memref.alloc() : memref<8xf32, 1>
    // expected-error @+1 {{'gpu.launch_func' op shares memory that from-spaces maps with code outside}}
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%buffer : memref<8xf32, 1>)
    return
  }
  gpu.module @kernels {
    gpu.func @kernel(%buffer: memref<8xf32, 1>) kernel {
      gpu.return
    }
  }
}
