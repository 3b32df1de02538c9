// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-verify-kernels)' --split-input-file --verify-diagnostics

// Memory spaces that arguments, buffers and casts cannot have.

gpu.module @arguments {
  gpu.func @constant(
      // expected-error @+1 {{argument 0 of kernel 'constant' is in constant memory (4), which no launch can pass; leave the memory space out, which is global memory, or make it a constant memref.global that the kernel takes by memref.get_global}}
      %x: memref<64xf32, 4>,
      // expected-error @+1 {{argument 1 of kernel 'constant' is in memory of one thread (#gpu.address_space<private>), which no launch can pass}}
      %y: memref<64xf32, #gpu.address_space<private>>,
      // expected-error @+1 {{argument 2 of kernel 'constant' is in memory space 7, which is workgroup memory of a cluster; only pointers can be in it, take them by nvvm.mapa}}
      %z: memref<64xf32, 7>,
      // expected-error @+1 {{argument 3 of kernel 'constant' is in memory space "shared", which kernels on NVIDIA GPUs do not have; there are #gpu.address_space<global> (or 1), <workgroup> (3) and <private> (5), and 4 for constants}}
      %w: memref<?xf32, "shared">,
      // expected-error @+1 {{argument 4 of kernel 'constant' is in memory space 2, which}}
      %u: memref<*xf32, 2>,
      // expected-error @+1 {{argument 5 of kernel 'constant' is in memory space 3, which no launch can pass}}
      %p: !llvm.ptr<3>,
      %global: memref<64xf32, 1>, %named: memref<64xf32, #gpu.address_space<global>>) kernel {
    gpu.return
  }

  // What a kernel passes on may be any memory that there is.
  func.func private @callee(%c: memref<64xf32, 4>, %p: memref<64xf32, 5>, %w: memref<64xf32, 3>)
}

// -----

// Host code may have whatever it likes, as long as no kernel uses it.
func.func @host(%x: memref<64xf32, "dram">,
    // expected-error @+1 {{memory that a launch uses is in memory space "vmem", which}}
    %y: memref<64xf32, "vmem">) {
  %c1 = arith.constant 1 : index
  %v = memref.load %x[%c1] : memref<64xf32, "dram">
  // expected-note @+1 {{the launch}}
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    memref.store %v, %y[%tx] : memref<64xf32, "vmem">
    memref.store %v, %y[%ty] : memref<64xf32, "vmem">
    gpu.terminator
  }
  return
}

// -----

gpu.module @values {
  // expected-error @+1 {{is a variable in constant memory, which nobody could give its values; make it constant, with an initial value, or leave the memory space out}}
  memref.global "private" @variable : memref<4xf32, 4> = uninitialized
  // expected-error @+1 {{takes more constant memory than the 65536 bytes that there are}}
  memref.global "private" constant @large : memref<16385xf32, 4> = dense<1.0>
  memref.global "private" constant @fits : memref<16384xf32, 4> = dense<1.0>
  // expected-error @+1 {{is in memory of one thread, which has no variables}}
  memref.global "private" @own : memref<4xf32, 5> = dense<1.0>
  // expected-error @+1 {{is a variable in memory space 7, where kernels on NVIDIA GPUs have none}}
  llvm.mlir.global external @pointer() {addr_space = 7 : i32} : f32

  gpu.func @values(%x: memref<4xf32>, %i: index) kernel {
    %f = arith.constant 1.0 : f32
    // expected-error @+1 {{allocates constant memory, which has values from the start}}
    %a = memref.alloc() : memref<4xf32, 4>
    // expected-error @+1 {{allocates global memory on the stack of a thread}}
    %b = memref.alloca() : memref<4xf32, 1>
    // expected-error @+1 {{'memref.alloca' op is in memory space 9, which}}
    %c = memref.alloca() : memref<4xf32, 9>
    %view = memref.subview %c[0] [2] [1] : memref<4xf32, 9> to memref<2xf32, strided<[1]>, 9>
    // expected-error @+1 {{casts to memory space 3 what is in other memory; copy the contents}}
    %d = memref.memory_space_cast %x : memref<4xf32> to memref<4xf32, 3>
    // expected-error @+1 {{makes constant memory of other memory}}
    %e = memref.memory_space_cast %x : memref<4xf32> to memref<4xf32, 4>
    %g = memref.memory_space_cast %x : memref<4xf32> to memref<4xf32, 1>
    %table = memref.get_global @fits : memref<16384xf32, 4>
    %v = memref.load %table[%i] : memref<16384xf32, 4>
    // expected-error @+1 {{writes constant memory, which has the same values for all time; write to global memory}}
    memref.store %v, %table[%i] : memref<16384xf32, 4>
    %any = memref.memory_space_cast %table : memref<16384xf32, 4> to memref<16384xf32>
    // expected-error @+1 {{writes constant memory}}
    %old = memref.atomic_rmw addf %f, %any[%i] : (f32, memref<16384xf32>) -> f32
    gpu.return
  }
}
