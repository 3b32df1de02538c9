// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-pack-memory)' --split-input-file --verify-diagnostics

// More than a block of the chip can have: a note for each buffer.
gpu.module @sm_90 [#nvvm.target<chip = "sm_90">] {
  // expected-error @+1 {{workgroup memory of kernel 'kernel' is 307200 bytes, exceeding the limit of 232448 bytes; make its tiles smaller}}
  gpu.func @kernel(%i: index, %v: f32)
      // expected-note @+1 {{a buffer of 204800 bytes, aligned to 16, is here}}
      workgroup(%a: memref<51200xf32, 3>,
                // expected-note @+1 {{a buffer of 102400 bytes, aligned to 16, is here}}
                %b: memref<25600xf32, 3>) kernel {
    memref.store %v, %a[%i] : memref<51200xf32, 3>
    memref.store %v, %b[%i] : memref<25600xf32, 3>
    memref.store %v, %a[%i] : memref<51200xf32, 3>
    gpu.return
  }
}

// -----

// 170 KiB on sm_80, the chip where nothing names one; 160 KiB fit, and so do 163
// to the byte. One buffer by itself may be too large.
gpu.module @sm_80 {
  // expected-error @+1 {{workgroup memory of kernel 'too_large' is 174080 bytes, exceeding the limit of 166912 bytes}}
  gpu.func @too_large(%i: index, %v: f32)
      // expected-note @+1 {{a buffer of 174080 bytes}}
      workgroup(%a: memref<43520xf32, 3>) kernel {
    memref.store %v, %a[%i] : memref<43520xf32, 3>
    gpu.return
  }
  gpu.func @fits(%i: index, %v: f32) workgroup(%a: memref<40960xf32, 3>) kernel {
    memref.store %v, %a[%i] : memref<40960xf32, 3>
    gpu.return
  }
  gpu.func @fits_exactly(%i: index, %v: f32) workgroup(%a: memref<41728xf32, 3>) kernel {
    memref.store %v, %a[%i] : memref<41728xf32, 3>
    gpu.return
  }
  // expected-error @+1 {{workgroup memory of kernel 'one_more' is 166916 bytes, exceeding the limit of 166912 bytes}}
  gpu.func @one_more(%i: index, %v: f32)
      // expected-note @+1 {{a buffer of 166916 bytes}}
      workgroup(%a: memref<41729xf32, 3>) kernel {
    memref.store %v, %a[%i] : memref<41729xf32, 3>
    gpu.return
  }
}

// -----

// What comes to less by sharing is no error, what still does not fit is: the least
// that was found counts.
gpu.module @shared {
  gpu.func @fits(%i: index, %v: f32)
      workgroup(%a: memref<40960xf32, 3>, %b: memref<40960xf32, 3>) kernel {
    memref.store %v, %a[%i] : memref<40960xf32, 3>
    memref.store %v, %b[%i] : memref<40960xf32, 3>
    gpu.return
  }
  // expected-error @+1 {{workgroup memory of kernel 'too_large' is 172032 bytes, exceeding the limit of 166912 bytes}}
  gpu.func @too_large(%i: index, %v: f32)
      // expected-note @+1 {{a buffer of 163840 bytes}}
      workgroup(%a: memref<40960xf32, 3>,
                // expected-note @+1 {{a buffer of 163840 bytes}}
                %b: memref<40960xf32, 3>,
                // expected-note @+1 {{a buffer of 8192 bytes}}
                %c: memref<2048xf32, 3>) kernel {
    memref.store %v, %c[%i] : memref<2048xf32, 3>
    memref.store %v, %a[%i] : memref<40960xf32, 3>
    memref.store %v, %b[%i] : memref<40960xf32, 3>
    memref.store %v, %c[%i] : memref<2048xf32, 3>
    gpu.return
  }
}

// -----

// Static memory that cannot be packed does not become dynamic.
gpu.module @kept {
  memref.global @table : memref<16384xf32, 3> = uninitialized {alignment = 16 : i64}
  // expected-error @+1 {{workgroup memory of kernel 'kernel' is 65536 bytes, exceeding the limit of 49152 bytes}}
  gpu.func @kernel(%i: index, %v: f32) kernel {
    // expected-note @+1 {{a buffer of 65536 bytes}}
    %table = memref.get_global @table : memref<16384xf32, 3>
    memref.store %v, %table[%i] : memref<16384xf32, 3>
    gpu.return
  }
}

// -----

// Sizes whose sum is no number any more.
gpu.module @overflow {
  // expected-error @+1 {{workgroup memory of kernel 'kernel' is 4611686018427387904 bytes, exceeding the limit of 166912 bytes}}
  gpu.func @kernel(%i: index, %v: i8)
      // expected-note @+1 {{a buffer of 4611686018427387904 bytes}}
      workgroup(%a: memref<4611686018427387904xi8, 3>, %b: memref<4611686018427387904xi8, 3>,
                %c: memref<4611686018427387904xi8, 3>, %d: memref<4611686018427387904xi8, 3>,
                %e: memref<16xi8, 3>) kernel {
    memref.store %v, %a[%i] : memref<4611686018427387904xi8, 3>
    memref.store %v, %b[%i] : memref<4611686018427387904xi8, 3>
    memref.store %v, %c[%i] : memref<4611686018427387904xi8, 3>
    memref.store %v, %d[%i] : memref<4611686018427387904xi8, 3>
    memref.store %v, %e[%i] : memref<16xi8, 3>
    memref.store %v, %a[%i] : memref<4611686018427387904xi8, 3>
    gpu.return
  }
}

// -----

gpu.module @unknown_chip [#nvvm.target<chip = "sm_33">] {
  // expected-error @+1 {{'gpu.func' op cannot be compiled for unknown chip 'sm_33'; supported are sm_75, sm_80}}
  gpu.func @kernel(%i: index, %v: f32) workgroup(%a: memref<64xf32, 3>) kernel {
    memref.store %v, %a[%i] : memref<64xf32, 3>
    gpu.return
  }
}

// -----

// Dynamic memory of a size that only the host knows would have to make room, but
// another kernel takes the same.
gpu.module @two_kernels {
  func.func @function(%i: index, %v: i8) {
    // expected-error @+1 {{'gpu.dynamic_shared_memory' op takes dynamic workgroup memory in a function that several kernels call, which cannot make room for the 65536 bytes of other buffers of kernel 'first'; take it in the kernel, and pass it on}}
    %window = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    memref.store %v, %window[%i] : memref<?xi8, #gpu.address_space<workgroup>>
    return
  }
  gpu.func @first(%i: index, %v: i8) workgroup(%a: memref<65536xi8, 3>) kernel {
    func.call @function(%i, %v) : (index, i8) -> ()
    memref.store %v, %a[%i] : memref<65536xi8, 3>
    gpu.return
  }
  gpu.func @second(%i: index, %v: i8) kernel {
    func.call @function(%i, %v) : (index, i8) -> ()
    gpu.return
  }
}

// -----

// Or it is lowered already.
module attributes {gpu.container_module} {
  gpu.module @lowered {
    memref.global @window : memref<0xi8, #gpu.address_space<workgroup>> {alignment = 1024 : i64}
    gpu.func @kernel(%i: index, %v: i8) workgroup(%a: memref<65536xi8, 3>) kernel {
      // expected-error @+1 {{'memref.get_global' op is dynamic workgroup memory of a size that differs between launches, which cannot make room for the 65536 bytes of other buffers; run workgroup-pack-memory before workgroup-lower-dynamic-memory, or launch with a constant size}}
      %start = memref.get_global @window : memref<0xi8, #gpu.address_space<workgroup>>
      %window = memref.reinterpret_cast %start to offset: [0], sizes: [%i], strides: [1] : memref<0xi8, #gpu.address_space<workgroup>> to memref<?xi8, #gpu.address_space<workgroup>>
      memref.store %v, %window[%i] : memref<?xi8, #gpu.address_space<workgroup>>
      memref.store %v, %a[%i] : memref<65536xi8, 3>
      gpu.return
    }
  }
  func.func @host(%i: index, %v: i8, %bytes: i32) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @lowered::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      dynamic_shared_memory_size %bytes args(%i : index, %v : i8)
    return
  }
}

// -----

// Dynamic memory of a launch is aligned to what its window will be.
func.func @launch(%i: index, %v: i8) {
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{'gpu.launch' op has a workgroup buffer aligned to 2048 bytes that does not fit into static memory, where dynamic memory is aligned to 1024; run gpu-kernel-outlining before}}
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %a = memref.alloc() {alignment = 2048 : i64} : memref<65536xi8, 3>
    memref.store %v, %a[%i] : memref<65536xi8, 3>
    gpu.terminator
  }
  return
}
