// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-verify-kernels)' --split-input-file --verify-diagnostics
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-verify-kernels{max-bytes=300000})' --split-input-file -o /dev/null

// Static and dynamic memory together have to fit into what a block of the chip can
// have: by what a launch asks for, the one that asks for the most.
module attributes {gpu.container_module} {
  gpu.module @kernels {
    // expected-error @+1 {{workgroup memory of kernel 'too_much' is 166928 bytes, 166000 of them dynamic, exceeding the limit of 166912 bytes; make its tiles smaller}}
    gpu.func @too_much()
        // expected-note @+1 {{a buffer of 928 bytes, aligned to 16, is here}}
        workgroup(%a: memref<928xi8, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}) kernel {
      %c0 = arith.constant 0 : index
      %x = memref.load %a[%c0] : memref<928xi8, #gpu.address_space<workgroup>>
      gpu.return
    }
    gpu.func @fits()
        workgroup(%a: memref<912xi8, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}) kernel {
      %c0 = arith.constant 0 : index
      %x = memref.load %a[%c0] : memref<912xi8, #gpu.address_space<workgroup>>
      gpu.return
    }
    // expected-error @+1 {{workgroup memory of kernel 'dynamic_alone' is 166913 bytes, 166913 of them dynamic, exceeding the limit of 166912 bytes}}
    gpu.func @dynamic_alone() kernel {
      gpu.return
    }
    // What the launch asks for is only known when it runs.
    gpu.func @unknown()
        workgroup(%a: memref<928xi8, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}) kernel {
      %c0 = arith.constant 0 : index
      %x = memref.load %a[%c0] : memref<928xi8, #gpu.address_space<workgroup>>
      gpu.return
    }
  }
  func.func @host(%bytes: i32) {
    %c1 = arith.constant 1 : index
    %some = arith.constant 1000 : i32
    %most = arith.constant 166000 : i32
    %over = arith.constant 166913 : i32
    gpu.launch_func @kernels::@too_much blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      dynamic_shared_memory_size %some
    gpu.launch_func @kernels::@too_much blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      dynamic_shared_memory_size %most
    gpu.launch_func @kernels::@fits blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      dynamic_shared_memory_size %most
    gpu.launch_func @kernels::@dynamic_alone blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      dynamic_shared_memory_size %over
    gpu.launch_func @kernels::@unknown blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      dynamic_shared_memory_size %bytes
    return
  }
}

// -----

// By what the kernel is known to need, without a launch: the window that it takes,
// from where static memory ends. The chip is that of the target.
gpu.module @sm_90 [#nvvm.target<chip = "sm_90">] {
  memref.global @dynamic : memref<0xi8, #gpu.address_space<workgroup>> {alignment = 16 : i64}
  // expected-error @+1 {{workgroup memory of kernel 'too_much' is 232464 bytes, 232448 of them dynamic, exceeding the limit of 232448 bytes}}
  gpu.func @too_much(%i: index, %v: i8)
      // expected-note @+1 {{a buffer of 1 bytes, aligned to 16, is here}}
      workgroup(%a: memref<1xi8, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}) kernel {
    %start = memref.get_global @dynamic : memref<0xi8, #gpu.address_space<workgroup>>
    %window = memref.reinterpret_cast %start to offset: [0], sizes: [232448], strides: [1] : memref<0xi8, #gpu.address_space<workgroup>> to memref<232448xi8, #gpu.address_space<workgroup>>
    memref.store %v, %window[%i] : memref<232448xi8, #gpu.address_space<workgroup>>
    memref.store %v, %a[%i] : memref<1xi8, #gpu.address_space<workgroup>>
    gpu.return
  }
  gpu.func @fits(%i: index, %v: i8) kernel {
    %start = memref.get_global @dynamic : memref<0xi8, #gpu.address_space<workgroup>>
    %window = memref.reinterpret_cast %start to offset: [0], sizes: [232448], strides: [1] : memref<0xi8, #gpu.address_space<workgroup>> to memref<232448xi8, #gpu.address_space<workgroup>>
    memref.store %v, %window[%i] : memref<232448xi8, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// -----

// A launch that is not outlined.
func.func @launch() {
  %c1 = arith.constant 1 : index
  %bytes = arith.constant 200000 : i32
  // expected-error @+1 {{workgroup memory of kernel 'launch' is 200000 bytes, 200000 of them dynamic, exceeding the limit of 166912 bytes}}
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1)
             dynamic_shared_memory_size %bytes {
    gpu.terminator
  }
  return
}
