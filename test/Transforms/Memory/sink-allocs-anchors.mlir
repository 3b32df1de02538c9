// RUN: mlir-opt %s --pass-pipeline='builtin.module(func.func(workgroup-sink-allocs))' --remarks-filter='workgroup.*' --remark-format=emitRemark --verify-diagnostics -o %t
// RUN: FileCheck %s --input-file=%t

// On a function the pass cannot change a kernel outside of it: the buffer stays as
// it is, with its dealloc, until the pass runs on the module.
module attributes {gpu.container_module} {
  // CHECK-LABEL: func.func @host
  // CHECK:         %[[BUFFER:.+]] = memref.alloc() : memref<64xf32, 3>
  // CHECK:         gpu.launch_func
  // CHECK-SAME:      args(%[[BUFFER]] : memref<64xf32, 3>)
  // CHECK:         memref.dealloc %[[BUFFER]]
  func.func @host() {
    %c1 = arith.constant 1 : index
    // expected-remark @+1 {{[Missed] NotSunk | Category:workgroup-sink-allocs | Function=host | Reason="its kernel is outside of the operation that the pass runs on"}}
    %buffer = memref.alloc() : memref<64xf32, 3>
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%buffer : memref<64xf32, 3>)
    memref.dealloc %buffer : memref<64xf32, 3>
    return
  }
  // CHECK:       gpu.func @kernel(%{{.+}}: memref<64xf32, 3>) kernel
  gpu.module @kernels {
    gpu.func @kernel(%buffer: memref<64xf32, 3>) kernel {
      gpu.return
    }
  }

  // A launch in another function calls this one, which cannot be seen from here.
  // CHECK-LABEL: func.func private @helper
  // CHECK:         memref.alloca() : memref<32xf32, 3>
  func.func private @helper(%i: index) -> f32 {
    // expected-remark @+1 {{Function=helper | Reason="the function may be called by a kernel outside of the operation that the pass runs on"}}
    %buffer = memref.alloca() : memref<32xf32, 3>
    %value = memref.load %buffer[%i] : memref<32xf32, 3>
    return %value : f32
  }
  func.func @calls_helper(%out: memref<64xf32>) {
    %c1 = arith.constant 1 : index
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
               threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
      %value = func.call @helper(%tx) : (index) -> f32
      memref.store %value, %out[%tx] : memref<64xf32>
      gpu.terminator
    }
    return
  }
}
