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

// A shape in memory may be another one by the time that the kernel runs.
func.func @reshape(%shape: memref<2xindex>, %i: index) {
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{in workgroup memory is accessed by host code}}
  %buffer = memref.alloc() : memref<64xf32, 3>
  // expected-note @+1 {{used here}}
  %view = memref.reshape %buffer(%shape) : (memref<64xf32, 3>, memref<2xindex>) -> memref<?x?xf32, 3>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %value = memref.load %view[%tx, %tx] : memref<?x?xf32, 3>
    memref.store %value, %view[%tx, %tx] : memref<?x?xf32, 3>
    gpu.terminator
  }
  return
}

// -----

// Buffers that a loop of the host swaps: which one a launch gets is not known.
func.func @swapped(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{in workgroup memory is accessed by host code}}
  %a = memref.alloc() : memref<64xf32, 3>
  %b = memref.alloc() : memref<64xf32, 3>
  // expected-note @+1 {{used here}}
  %last:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b) -> (memref<64xf32, 3>, memref<64xf32, 3>) {
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
               threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
      %value = memref.load %x[%tx] : memref<64xf32, 3>
      memref.store %value, %y[%tx] : memref<64xf32, 3>
      gpu.terminator
    }
    scf.yield %y, %x : memref<64xf32, 3>, memref<64xf32, 3>
  }
  return
}

// -----

// The host and a kernel do not share it.
func.func @used_by_host(%x: f32, %i: index) {
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{'memref.alloca' op in private memory is accessed by host code}}
  %a = memref.alloca() : memref<4xf32, #gpu.address_space<private>>
  // expected-note @+1 {{used here; only kernels can reach private memory, so give the host a buffer in the default memory space}}
  memref.store %x, %a[%i] : memref<4xf32, #gpu.address_space<private>>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %y = memref.load %a[%tx] : memref<4xf32, #gpu.address_space<private>>
    memref.store %y, %a[%tx] : memref<4xf32, #gpu.address_space<private>>
    gpu.terminator
  }
  return
}

// -----

// A stack has no room for what is not known.
func.func @dynamic(%n: index) {
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{'memref.alloc' op in private memory has a size that is not constant, which the stack of a thread cannot provide; allocate as much as it can need}}
  %a = memref.alloc(%n) : memref<?xf32, #gpu.address_space<private>>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %y = memref.load %a[%tx] : memref<?xf32, #gpu.address_space<private>>
    memref.store %y, %a[%tx] : memref<?xf32, #gpu.address_space<private>>
    gpu.terminator
  }
  return
}
