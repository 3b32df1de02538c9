// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-sink-allocs)' --split-input-file --verify-diagnostics

// Host code that reads or writes the memory: nothing there can reach it.
func.func @load(%i: index) -> f32 {
  // expected-error @+1 {{'memref.alloc' op in workgroup memory is accessed by host code}}
  %buffer = memref.alloc() : memref<64xf32, #gpu.address_space<workgroup>>
  // expected-note @+1 {{used here; only kernels can reach workgroup memory, so give the host a buffer in the default memory space}}
  %value = memref.load %buffer[%i] : memref<64xf32, #gpu.address_space<workgroup>>
  return %value : f32
}

// -----

// Through a view as well; the kernel that uses the buffer too does not help.
func.func @fill_of_view(%zero: f32, %out: memref<64xf32>) {
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{'memref.alloca' op in workgroup memory is accessed by host code}}
  %buffer = memref.alloca() : memref<64xf32, 3>
  %part = memref.subview %buffer[0] [16] [1] : memref<64xf32, 3> to memref<16xf32, strided<[1]>, 3>
  // expected-note @+1 {{used here}}
  linalg.fill ins(%zero : f32) outs(%part : memref<16xf32, strided<[1]>, 3>)
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %value = memref.load %buffer[%tx] : memref<64xf32, 3>
    memref.store %value, %out[%tx] : memref<64xf32>
    gpu.terminator
  }
  return
}

// -----

// A copy on the host. The first of several uses is the one that the note shows.
func.func @copy(%in: memref<64xf32>, %i: index, %x: f32) {
  // expected-error @+1 {{in workgroup memory is accessed by host code}}
  %buffer = memref.alloc() : memref<64xf32, #nvvm.memory_space<shared>>
  // expected-note @+1 {{used here}}
  memref.copy %in, %buffer : memref<64xf32> to memref<64xf32, #nvvm.memory_space<shared>>
  memref.store %x, %buffer[%i] : memref<64xf32, #nvvm.memory_space<shared>>
  return
}

// -----

// Host code that passes the memory on: to a function, ...
func.func private @callee(memref<64xf32, 3>)
func.func @call() {
  // expected-error @+1 {{in workgroup memory is accessed by host code}}
  %buffer = memref.alloc() : memref<64xf32, 3>
  // expected-note @+1 {{used here}}
  func.call @callee(%buffer) : (memref<64xf32, 3>) -> ()
  return
}

// -----

// ... to its caller, ...
func.func @return() -> memref<64xf32, 3> {
  // expected-error @+1 {{in workgroup memory is accessed by host code}}
  %buffer = memref.alloc() : memref<64xf32, 3>
  // expected-note @+1 {{used here}}
  return %buffer : memref<64xf32, 3>
}

// -----

// ... out of a branch, so that the kernel would see one of two buffers.
func.func @chosen(%c: i1, %out: memref<64xf32>) {
  %c1 = arith.constant 1 : index
  %buffer = scf.if %c -> memref<64xf32, 3> {
    // expected-error @+1 {{in workgroup memory is accessed by host code}}
    %a = memref.alloc() : memref<64xf32, 3>
    // expected-note @+1 {{used here}}
    scf.yield %a : memref<64xf32, 3>
  } else {
    %b = memref.alloc() : memref<64xf32, 3>
    scf.yield %b : memref<64xf32, 3>
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

// An outlined kernel cannot see what the host computes.
module attributes {gpu.container_module} {
  func.func @host(%n: index) {
    %c1 = arith.constant 1 : index
    // expected-error @+1 {{in workgroup memory cannot move into kernel 'kernel': its size or a view of it depends on values of the host}}
    %buffer = memref.alloc(%n) : memref<?xf32, 3>
    // expected-note @+1 {{passed here; run workgroup-sink-allocs before gpu-kernel-outlining}}
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%buffer : memref<?xf32, 3>)
    return
  }
  gpu.module @kernels {
    gpu.func @kernel(%buffer: memref<?xf32, 3>) kernel {
      gpu.return
    }
  }
}

// -----

module attributes {gpu.container_module} {
  func.func @host(%n: index) {
    %c1 = arith.constant 1 : index
    // expected-error @+1 {{its size or a view of it depends on values of the host}}
    %buffer = memref.alloc() : memref<64xf32, 3>
    %part = memref.subview %buffer[%n] [16] [1] : memref<64xf32, 3> to memref<16xf32, strided<[1], offset: ?>, 3>
    // expected-note @+1 {{passed here}}
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%part : memref<16xf32, strided<[1], offset: ?>, 3>)
    return
  }
  gpu.module @kernels {
    gpu.func @kernel(%part: memref<16xf32, strided<[1], offset: ?>, 3>) kernel {
      gpu.return
    }
  }
}

// -----

// Launches of one kernel that pass buffers of different alignment.
module attributes {gpu.container_module} {
  func.func @host() {
    %c1 = arith.constant 1 : index
    // expected-error @+1 {{in workgroup memory cannot move into kernel 'kernel': launches of the kernel pass different buffers}}
    %a = memref.alloc() : memref<64xf32, 3>
    %b = memref.alloc() {alignment = 128 : i64} : memref<64xf32, 3>
    // expected-note @+1 {{passed here}}
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%a : memref<64xf32, 3>)
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%b : memref<64xf32, 3>)
    return
  }
  gpu.module @kernels {
    gpu.func @kernel(%buffer: memref<64xf32, 3>) kernel {
      gpu.return
    }
  }
}

// -----

// One launch passes a buffer of its own, another one what it was given.
module attributes {gpu.container_module} {
  func.func @host(%given: memref<64xf32, 3>) {
    %c1 = arith.constant 1 : index
    // expected-error @+1 {{launches of the kernel pass different buffers}}
    %own = memref.alloc() : memref<64xf32, 3>
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%given : memref<64xf32, 3>)
    // expected-note @+1 {{passed here}}
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%own : memref<64xf32, 3>)
    return
  }
  gpu.module @kernels {
    gpu.func @kernel(%buffer: memref<64xf32, 3>) kernel {
      gpu.return
    }
  }
}

// -----

// One launch passes the same buffer twice, another one two buffers: the kernel
// cannot have both.
module attributes {gpu.container_module} {
  func.func @host() {
    %c1 = arith.constant 1 : index
    // expected-error @+1 {{in workgroup memory cannot move into kernel 'kernel': launches of the kernel pass different buffers}}
    %a = memref.alloc() : memref<64xf32, 3>
    %b = memref.alloc() : memref<64xf32, 3>
    // expected-note @+1 {{passed here}}
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%a : memref<64xf32, 3>, %a : memref<64xf32, 3>)
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%a : memref<64xf32, 3>, %b : memref<64xf32, 3>)
    return
  }
  gpu.module @kernels {
    gpu.func @kernel(%x: memref<64xf32, 3>, %y: memref<64xf32, 3>) kernel {
      gpu.return
    }
  }
}

// -----

// A global of the host, for a kernel that is outlined already.
module attributes {gpu.container_module} {
  memref.global "private" @table : memref<64xf32, 3> = uninitialized {alignment = 16 : i64}
  gpu.module @kernels {
    gpu.func @kernel(%a: memref<64xf32, 3>) kernel {
      gpu.return
    }
  }
  func.func @host() {
    %c1 = arith.constant 1 : index
    // expected-error @+1 {{'memref.get_global' op in workgroup memory cannot move into kernel 'kernel': it is a global of the host, which the kernel's module does not have}}
    %table = memref.get_global @table : memref<64xf32, 3>
    // expected-note @+1 {{passed here; run workgroup-sink-allocs before gpu-kernel-outlining}}
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%table : memref<64xf32, 3>)
    return
  }
}
