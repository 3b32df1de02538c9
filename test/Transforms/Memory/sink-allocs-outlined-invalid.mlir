// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-sink-allocs)' --split-input-file --verify-diagnostics

// The launches of an outlined kernel have to agree on how it can make its buffers.
// What differs is named: the alignment, ...
module attributes {gpu.container_module} {
  func.func @host() {
    %c1 = arith.constant 1 : index
    // expected-error @+1 {{in workgroup memory cannot move into kernel 'kernel': launches of the kernel pass different buffers: 'alignment' of their memref.alloc differs}}
    %a = memref.alloc() : memref<64xf32, 3>
    %b = memref.alloc() {alignment = 128 : i64} : memref<64xf32, 3>
    // expected-note @+1 {{passed here; run workgroup-sink-allocs before gpu-kernel-outlining}}
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<64xf32, 3>)
    // expected-note @+1 {{another launch is here}}
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%b : memref<64xf32, 3>)
    return
  }
  gpu.module @kernels {
    gpu.func @kernel(%buffer: memref<64xf32, 3>) kernel {
      gpu.return
    }
  }
}

// -----

// ... the op, ...
module attributes {gpu.container_module} {
  func.func @host() {
    %c1 = arith.constant 1 : index
    // expected-error @+1 {{one is made by memref.alloc, one by memref.alloca}}
    %a = memref.alloc() : memref<64xf32, 3>
    %b = memref.alloca() : memref<64xf32, 3>
    // expected-note @+1 {{passed here}}
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<64xf32, 3>)
    // expected-note @+1 {{another launch is here}}
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%b : memref<64xf32, 3>)
    return
  }
  gpu.module @kernels {
    gpu.func @kernel(%buffer: memref<64xf32, 3>) kernel {
      gpu.return
    }
  }
}

// -----

// ... the type of what a view is of, ...
module attributes {gpu.container_module} {
  func.func @host() {
    %c1 = arith.constant 1 : index
    // expected-error @+1 {{one is of type memref<64xf32, 3>, one of memref<32xf32, 3>}}
    %a = memref.alloc() : memref<64xf32, 3>
    %b = memref.alloc() : memref<32xf32, 3>
    %x = memref.cast %a : memref<64xf32, 3> to memref<?xf32, 3>
    %y = memref.cast %b : memref<32xf32, 3> to memref<?xf32, 3>
    // expected-note @+1 {{passed here}}
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<?xf32, 3>)
    // expected-note @+1 {{another launch is here}}
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%y : memref<?xf32, 3>)
    return
  }
  gpu.module @kernels {
    gpu.func @kernel(%buffer: memref<?xf32, 3>) kernel {
      gpu.return
    }
  }
}

// -----

// ... a number that one view has in its type, and another one as a value, ...
module attributes {gpu.container_module} {
  func.func @host(%n: index) {
    %c1 = arith.constant 1 : index
    // expected-error @+1 {{one is of type memref<16xf32, strided<[1], offset: ?>, 3>, one of memref<16xf32, strided<[1], offset: 8>, 3>}}
    %a = memref.alloc() : memref<64xf32, 3>
    %x = memref.subview %a[%n] [16] [1] : memref<64xf32, 3> to memref<16xf32, strided<[1], offset: ?>, 3>
    %s = memref.subview %a[8] [16] [1] : memref<64xf32, 3> to memref<16xf32, strided<[1], offset: 8>, 3>
    %y = memref.cast %s : memref<16xf32, strided<[1], offset: 8>, 3> to memref<16xf32, strided<[1], offset: ?>, 3>
    %z = memref.cast %x : memref<16xf32, strided<[1], offset: ?>, 3> to memref<16xf32, strided<[1], offset: ?>, 3>
    // expected-note @+1 {{passed here}}
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%z : memref<16xf32, strided<[1], offset: ?>, 3>)
    // expected-note @+1 {{another launch is here}}
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%y : memref<16xf32, strided<[1], offset: ?>, 3>)
    return
  }
  gpu.module @kernels {
    gpu.func @kernel(%buffer: memref<16xf32, strided<[1], offset: ?>, 3>) kernel {
      gpu.return
    }
  }
}

// -----

// ... where the buffer comes from, ...
module attributes {gpu.container_module} {
  func.func @host(%given: memref<64xf32, 3>) {
    %c1 = arith.constant 1 : index
    // expected-error @+1 {{launches of the kernel pass different buffers: one of them is no allocation next to its launch}}
    %own = memref.alloc() : memref<64xf32, 3>
    // expected-note @+1 {{another launch is here}}
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%given : memref<64xf32, 3>)
    // expected-note @+1 {{passed here}}
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%own : memref<64xf32, 3>)
    return
  }
  gpu.module @kernels {
    gpu.func @kernel(%buffer: memref<64xf32, 3>) kernel {
      gpu.return
    }
  }
}

// -----

// ... which operands are one buffer: the kernel cannot have both, ...
module attributes {gpu.container_module} {
  func.func @host() {
    %c1 = arith.constant 1 : index
    // expected-error @+1 {{launches of the kernel pass different buffers: operands 0 and 1 are one buffer at only some of them}}
    %a = memref.alloc() : memref<64xf32, 3>
    %b = memref.alloc() : memref<64xf32, 3>
    // expected-note @+1 {{passed here}}
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<64xf32, 3>, %a : memref<64xf32, 3>)
    // expected-note @+1 {{another launch is here}}
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<64xf32, 3>, %b : memref<64xf32, 3>)
    return
  }
  gpu.module @kernels {
    gpu.func @kernel(%x: memref<64xf32, 3>, %y: memref<64xf32, 3>) kernel {
      gpu.return
    }
  }
}

// -----

// ... and which global.
module attributes {gpu.container_module} {
  memref.global "private" @first : memref<64xf32, 3> = uninitialized
  memref.global "private" @second : memref<64xf32, 3> = uninitialized
  func.func @host() {
    %c1 = arith.constant 1 : index
    // expected-error @+1 {{'memref.get_global' op in workgroup memory cannot move into kernel 'kernel': launches of the kernel pass different buffers: they are different globals}}
    %a = memref.get_global @first : memref<64xf32, 3>
    %b = memref.get_global @second : memref<64xf32, 3>
    // expected-note @+1 {{passed here}}
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<64xf32, 3>)
    // expected-note @+1 {{another launch is here}}
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%b : memref<64xf32, 3>)
    return
  }
  gpu.module @kernels {
    gpu.func @kernel(%buffer: memref<64xf32, 3>) kernel {
      gpu.return
    }
  }
}

// -----

// Nothing fills memory of a block before the kernel runs.
module attributes {gpu.container_module} {
  memref.global "private" constant @table : memref<2xf32, 3> = dense<1.0>
  func.func @host() {
    %c1 = arith.constant 1 : index
    // expected-error @+1 {{cannot move into kernel 'kernel': its global has an initial value, which memory of this kind cannot have}}
    %a = memref.get_global @table : memref<2xf32, 3>
    // expected-note @+1 {{passed here}}
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<2xf32, 3>)
    return
  }
  gpu.module @kernels {
    gpu.func @kernel(%buffer: memref<2xf32, 3>) kernel {
      gpu.return
    }
  }
}

// -----

// Whose buffer is it? Outlining would have made the kernel's from the host's; somebody
// else may have given two buffers one name.
module attributes {gpu.container_module} {
  memref.global "private" @table : memref<64xf32, 3> = uninitialized
  func.func @host() {
    %c1 = arith.constant 1 : index
    // expected-error @+1 {{'memref.get_global' op in workgroup memory cannot move into kernel 'kernel': the kernel uses a global of the same name in its own module, and it cannot be told whether that is the same buffer}}
    %table = memref.get_global @table : memref<64xf32, 3>
    // expected-note @+1 {{passed here; run workgroup-sink-allocs before gpu-kernel-outlining}}
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%table : memref<64xf32, 3>)
    return
  }
  gpu.module @kernels {
    memref.global "private" @table : memref<64xf32, 3> = uninitialized
    gpu.func @kernel(%table: memref<64xf32, 3>) kernel {
      %c0 = arith.constant 0 : index
      %own = memref.get_global @table : memref<64xf32, 3>
      %x = memref.load %own[%c0] : memref<64xf32, 3>
      memref.store %x, %table[%c0] : memref<64xf32, 3>
      gpu.return
    }
  }
}
