// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-pack-memory)' --verify-diagnostics

// Dynamic memory that the kernel takes as a whole begins at a multiple of 1024, so
// that 20 bytes of static memory before it take 1024, too.
module attributes {gpu.container_module} {
  gpu.module @kernels {
    memref.global @table : memref<20xi8, 3> = uninitialized {alignment = 16 : i64}
    // expected-error @+1 {{workgroup memory of kernel 'kernel' is 167904 bytes, exceeding the limit of 166912 bytes}}
    gpu.func @kernel(%i: index, %v: i8)
        // expected-note @+1 {{a buffer of 166880 bytes}}
        workgroup(%a: memref<166880xi8, 3>) kernel {
      %window = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
      memref.store %v, %window[%i] : memref<?xi8, #gpu.address_space<workgroup>>
      // expected-note @+1 {{a buffer of 20 bytes}}
      %table = memref.get_global @table : memref<20xi8, 3>
      memref.store %v, %table[%i] : memref<20xi8, 3>
      memref.store %v, %a[%i] : memref<166880xi8, 3>
      gpu.return
    }
  }
  func.func @host(%i: index, %v: i8) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%i : index, %v : i8)
    return
  }
}
