// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-sink-allocs)' --remarks-filter='workgroup.*' --remark-format=emitRemark --split-input-file --verify-diagnostics -o /dev/null

// A remark says which buffer went into a kernel.
func.func @sunk(%out: memref<64xf32>) {
  %c1 = arith.constant 1 : index
  // expected-remark @+1 {{[Passed] SunkIntoKernel | Category:workgroup-sink-allocs | Function=sunk | Remark="workgroup buffer moved from the host into the kernel"}}
  %buffer = memref.alloc() : memref<64xf32, 3>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %value = memref.load %buffer[%tx] : memref<64xf32, 3>
    memref.store %value, %out[%tx] : memref<64xf32>
    gpu.terminator
  }
  return
}

// -----

// Shared by two launches, the buffer becomes one in each: what the first one leaves
// in it does not reach the second.
func.func @two_launches(%out: memref<64xf32>) {
  %c1 = arith.constant 1 : index
  // expected-warning @+2 {{buffer used by 2 launches does not keep its contents between them}}
  // expected-remark @+1 {{SunkIntoKernel}}
  %buffer = memref.alloc() : memref<64xf32, 3>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %value = memref.load %out[%tx] : memref<64xf32>
    memref.store %value, %buffer[%tx] : memref<64xf32, 3>
    gpu.terminator
  }
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %value = memref.load %buffer[%tx] : memref<64xf32, 3>
    memref.store %value, %out[%tx] : memref<64xf32>
    gpu.terminator
  }
  return
}

// -----

// Two kernels that are outlined already are two launches too.
module attributes {gpu.container_module} {
  func.func @two_kernels(%out: memref<64xf32>) {
    %c1 = arith.constant 1 : index
    // expected-warning @+1 {{buffer used by 2 launches does not keep its contents between them}}
    %buffer = memref.alloc() : memref<64xf32, 3>
    gpu.launch_func @kernels::@write blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%buffer : memref<64xf32, 3>, %out : memref<64xf32>)
    gpu.launch_func @kernels::@read blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%buffer : memref<64xf32, 3>, %out : memref<64xf32>)
    return
  }
  gpu.module @kernels {
    // expected-remark @+1 {{[Passed] SunkIntoKernel | Category:workgroup-sink-allocs | Function=write | Argument=0, Remark="buffer of the host made a buffer of the kernel"}}
    gpu.func @write(%buffer: memref<64xf32, 3>, %out: memref<64xf32>) kernel {
      %c0 = arith.constant 0 : index
      %value = memref.load %out[%c0] : memref<64xf32>
      memref.store %value, %buffer[%c0] : memref<64xf32, 3>
      gpu.return
    }
    // expected-remark @+1 {{Function=read | Argument=0}}
    gpu.func @read(%buffer: memref<64xf32, 3>, %out: memref<64xf32>) kernel {
      %c0 = arith.constant 0 : index
      %value = memref.load %buffer[%c0] : memref<64xf32, 3>
      memref.store %value, %out[%c0] : memref<64xf32>
      gpu.return
    }
  }
}

// -----

// Values of the host that a kernel needs for its buffers are passed to it.
module attributes {gpu.container_module} {
  func.func @sized(%n: index) {
    %c1 = arith.constant 1 : index
    %buffer = memref.alloc(%n) : memref<?xf32, 3>
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%buffer : memref<?xf32, 3>)
    return
  }
  gpu.module @kernels {
    // expected-remark @+2 {{SunkIntoKernel}}
    // expected-remark @+1 {{[Passed] PassedToKernel | Category:workgroup-sink-allocs | Function=kernel | Arguments=1, Remark="sizes and places of buffers made arguments of the kernel"}}
    gpu.func @kernel(%buffer: memref<?xf32, 3>) kernel {
      gpu.return
    }
  }
}

// -----

// A buffer that no kernel uses goes without a word, and so does a second run.
func.func @unused() {
  %buffer = memref.alloc() : memref<64xf32, 3>
  memref.dealloc %buffer : memref<64xf32, 3>
  return
}
