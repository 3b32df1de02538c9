// RUN: mlir-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(workgroup-form-launches)' -o /dev/null
// RUN: mlir-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(workgroup-verify-kernels)' -o /dev/null
// RUN: mlir-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(workgroup-memory)' -o /dev/null

// Kernels cannot launch kernels: refused at the inner launch, however it is reached.
func.func @main(%x: memref<8xf32>) {
  %c1 = arith.constant 1 : index
  // expected-note @+1 {{the kernel around it}}
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    // expected-error @+1 {{'gpu.launch' op is executed by the threads of a kernel, and kernels cannot launch kernels; launch it from the host, or make a loop over threads of it}}
    gpu.launch blocks(%cx, %cy, %cz) in (%hx = %c1, %hy = %c1, %hz = %c1) threads(%ux, %uy, %uz) in (%rx = %c1, %ry = %c1, %rz = %c1) {
      %v = memref.load %x[%ux] : memref<8xf32>
      memref.store %v, %x[%ux] : memref<8xf32>
      gpu.terminator
    }
    gpu.terminator
  }
  return
}

// -----

// In control flow, three deep: the first is told of.
func.func @deep(%x: memref<8xf32>, %c: i1) {
  %c1 = arith.constant 1 : index
  %v = arith.constant 1.0 : f32
  // expected-note @+1 {{the kernel around it}}
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    scf.if %c {
      // expected-error @+1 {{kernels cannot launch kernels}}
      gpu.launch blocks(%cx, %cy, %cz) in (%hx = %c1, %hy = %c1, %hz = %c1) threads(%ux, %uy, %uz) in (%rx = %c1, %ry = %c1, %rz = %c1) {
        gpu.launch blocks(%dx, %dy, %dz) in (%ix = %c1, %iy = %c1, %iz = %c1) threads(%wx, %wy, %wz) in (%qx = %c1, %qy = %c1, %qz = %c1) {
          memref.store %v, %x[%ux] : memref<8xf32>
          gpu.terminator
        }
        gpu.terminator
      }
    }
    gpu.terminator
  }
  return
}

// -----

func.func @inner(%x: memref<8xf32>) {
  %c1 = arith.constant 1 : index
  %v = arith.constant 1.0 : f32
  // expected-error @+1 {{'gpu.launch' op is executed by the threads of a kernel}}
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    memref.store %v, %x[%tx] : memref<8xf32>
    gpu.terminator
  }
  return
}
func.func @middle(%x: memref<8xf32>) {
  func.call @inner(%x) : (memref<8xf32>) -> ()
  return
}
func.func @by_calls(%x: memref<8xf32>) {
  %c1 = arith.constant 1 : index
  // expected-note @+1 {{the kernel around it}}
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    func.call @middle(%x) : (memref<8xf32>) -> ()
    gpu.terminator
  }
  return
}

// -----

// Outlined.
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @inner(%x: memref<8xf32>) kernel {
      gpu.return
    }
  }
  gpu.module @others {
    // expected-note @+1 {{the kernel around it}}
    gpu.func @outer(%x: memref<8xf32>) kernel {
      %c1 = arith.constant 1 : index
      // expected-error @+1 {{'gpu.launch' op is executed by the threads of a kernel}}
      gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
        gpu.terminator
      }
      gpu.return
    }
  }
  func.func @half(%x: memref<8xf32>) {
    %c1 = arith.constant 1 : index
    // expected-note @+1 {{the kernel around it}}
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
      // expected-error @+1 {{'gpu.launch_func' op is executed by the threads of a kernel}}
      gpu.launch_func @kernels::@inner blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<8xf32>)
      gpu.terminator
    }
    return
  }
}
