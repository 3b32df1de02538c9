// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-verify-kernels)' --split-input-file --verify-diagnostics

// What is refused of workgroup memory: its alignment, dynamic next to static, its
// types and its size.

// B7: buffers whose alignment LLVM and PTX take for different things.
gpu.module @kernels {
  // expected-error @+1 {{'gpu.func' op has a workgroup buffer of type 'memref<64xf32, 3>' without a stated alignment, which LLVM takes to be 16 and PTX to be the element's; run workgroup-hoist-allocs, or set llvm.align}}
  gpu.func @attribution() workgroup(%a: memref<64xf32, 3>) kernel {
    gpu.return
  }
  memref.global "private" @table : memref<4xf32, #gpu.address_space<workgroup>> = uninitialized
  gpu.func @global() kernel {
    // expected-error @+1 {{'memref.get_global' op has a workgroup buffer of type 'memref<4xf32, #gpu.address_space<workgroup>>' without a stated alignment}}
    %table = memref.get_global @table : memref<4xf32, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// -----

// Accesses that promise more than there is: in the buffer, or at the place.
gpu.module @kernels {
  gpu.func @promises(%i: index)
      workgroup(%a: memref<64xf32, 3> {llvm.align = 8 : i64},
                %b: memref<64xf32, 3> {llvm.align = 16 : i64}) kernel {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    // expected-error @+1 {{'vector.load' op promises an alignment of 16 bytes, but its buffer is aligned to 8; raise the alignment of the buffer, or drop the promise}}
    %0 = vector.load %a[%i] {alignment = 16 : i64} : memref<64xf32, 3>, vector<4xf32>
    // expected-error @+1 {{'vector.store' op promises an alignment of 32 bytes, but its buffer is aligned to 16}}
    vector.store %0, %b[%c0] {alignment = 32 : i64} : memref<64xf32, 3>, vector<4xf32>
    // expected-error @+1 {{'vector.store' op promises an alignment of 16 bytes, but accesses byte 8 of its buffer; drop the promise}}
    vector.store %0, %b[%c2] {alignment = 16 : i64} : memref<64xf32, 3>, vector<4xf32>
    %part = memref.subview %b[6] [16] [1] : memref<64xf32, 3> to memref<16xf32, strided<[1], offset: 6>, 3>
    // expected-error @+1 {{'vector.store' op promises an alignment of 16 bytes, but accesses byte 40 of its buffer}}
    vector.store %0, %part[%c4] {alignment = 16 : i64} : memref<16xf32, strided<[1], offset: 6>, 3>, vector<4xf32>
    %mask = vector.create_mask %i : vector<4xi1>
    // expected-error @+1 {{'vector.maskedstore' op promises an alignment of 16 bytes, but its buffer is aligned to 8}}
    vector.maskedstore %a[%i], %mask, %0 {alignment = 16 : i64} : memref<64xf32, 3>, vector<4xi1>, vector<4xf32>
    gpu.return
  }
}

// -----

// A view may start anywhere in its bytes.
gpu.module @kernels {
  gpu.func @byte_shift() workgroup(%a: memref<256xi8, 3> {llvm.align = 16 : i64}) kernel {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %view = memref.view %a[%c4][] : memref<256xi8, 3> to memref<16xf32, 3>
    // expected-error @+1 {{'vector.load' op promises an alignment of 16 bytes, but}}
    %0 = vector.load %view[%c0] {alignment = 16 : i64} : memref<16xf32, 3>, vector<4xf32>
    gpu.return
  }
}

// -----

// Instructions that need alignment, and scalar accesses that promise it.
gpu.module @kernels {
  gpu.func @needs(%in: memref<128xf32>, %i: index)
      workgroup(%a: memref<256xf32, 3> {llvm.align = 4 : i64},
                %b: memref<256xf32, 3> {llvm.align = 16 : i64},
                %tile: memref<8x12xf16, 3> {llvm.align = 16 : i64}) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    // expected-error @+1 {{'memref.load' op promises an alignment of 16 bytes, but its buffer is aligned to 4}}
    %x = memref.load %a[%c1] {alignment = 16 : i64} : memref<256xf32, 3>
    // expected-error @+1 {{'nvgpu.device_async_copy' op needs an alignment of 16 bytes, but its buffer is aligned to 4; raise the alignment of the buffer}}
    %0 = nvgpu.device_async_copy %in[%i], %a[%i], 4 : memref<128xf32> to memref<256xf32, 3>
    // expected-error @+1 {{'nvgpu.device_async_copy' op needs an alignment of 16 bytes, but accesses byte 4 of its buffer; move it, or pad rows}}
    %1 = nvgpu.device_async_copy %in[%i], %b[%c1], 4 : memref<128xf32> to memref<256xf32, 3>
    // expected-error @+1 {{'nvgpu.ldmatrix' op needs an alignment of 16 bytes, but accesses byte 24 of its buffer}}
    %2 = nvgpu.ldmatrix %tile[%c1, %c0] {numTiles = 1 : i32, transpose = false} : memref<8x12xf16, 3> -> vector<1x2xf16>
    gpu.return
  }

  // Of the lanes that give an address: eight for one tile.
  gpu.func @rows() workgroup(%tile: memref<32x12xf16, 3> {llvm.align = 16 : i64}) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %lane = gpu.lane_id
    // expected-error @+1 {{'nvgpu.ldmatrix' op needs rows aligned to 16 bytes, but reads from byte 24 of its buffer in thread (1, 0, 0); pad the rows to a multiple of it}}
    %0 = nvgpu.ldmatrix %tile[%lane, %c0] {numTiles = 1 : i32, transpose = false} : memref<32x12xf16, 3> -> vector<1x2xf16>
    gpu.return
  }
}

// -----

// B8: dynamic memory starts where upstream puts static buffers too.
gpu.module @kernels {
  // expected-note @+1 {{a static buffer is here}}
  gpu.func @attribution_and_dynamic() workgroup(%a: memref<64xf32, 3> {llvm.align = 16 : i64}) kernel {
    // expected-error @+1 {{'gpu.dynamic_shared_memory' op overlaps the static workgroup buffers of its kernel; run workgroup-lower-dynamic-memory after gpu-kernel-outlining}}
    %bytes = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// -----

// In a launch.
func.func @launch_and_dynamic() {
  %c1 = arith.constant 1 : index
  %bytes = arith.constant 64 : i32
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1)
             dynamic_shared_memory_size %bytes
             // expected-note @+1 {{a static buffer is here}}
             workgroup(%a : memref<64xf32, #gpu.address_space<workgroup>>) {
    // expected-error @+1 {{'gpu.dynamic_shared_memory' op overlaps the static workgroup buffers of its kernel}}
    %0 = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    gpu.terminator
  }
  return
}

// -----

// Static buffers are globals as well.
gpu.module @kernels {
  memref.global "private" @table : memref<64xf32, 3> = uninitialized {alignment = 16 : i64}
  gpu.func @global_and_dynamic() kernel {
    // expected-note @+1 {{a static buffer is here}}
    %table = memref.get_global @table : memref<64xf32, 3>
    // expected-error @+1 {{'gpu.dynamic_shared_memory' op overlaps the static workgroup buffers of its kernel}}
    %bytes = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// -----

// So do buffers of the kernel when a function that it calls uses dynamic memory.
gpu.module @kernels {
  func.func private @called() {
    // expected-error @+1 {{'gpu.dynamic_shared_memory' op overlaps the static workgroup buffers of its kernel}}
    %bytes = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    return
  }
  // expected-note @+1 {{a static buffer is here}}
  gpu.func @calls() workgroup(%a: memref<64xf32, 3> {llvm.align = 16 : i64}) kernel {
    func.call @called() : () -> ()
    gpu.return
  }
}

// -----

// Attributions that upstream takes for something else than their type says.
gpu.module @kernels {
  // expected-error @+1 {{'gpu.func' op has workgroup attribution of type 'memref<4xf32, 1>', which is not a memref in workgroup memory; use #gpu.address_space<workgroup>}}
  gpu.func @other_space() workgroup(%a: memref<4xf32, 1> {llvm.align = 16 : i64}) kernel {
    gpu.return
  }
  // expected-error @+1 {{has workgroup attribution of type 'memref<4xf32, #nvvm.memory_space<shared>>', whose memory space the lowering does not know; run workgroup-hoist-allocs, which respells it}}
  gpu.func @other_spelling() workgroup(%a: memref<4xf32, #nvvm.memory_space<shared>> {llvm.align = 16 : i64}) kernel {
    gpu.return
  }
  // expected-error @+1 {{has workgroup attribution of type 'memref<?xf32, 3>', whose size is not static}}
  gpu.func @dynamic_size() workgroup(%a: memref<?xf32, 3>) kernel {
    gpu.return
  }
  // expected-error @+1 {{has workgroup attribution of type 'memref<0xf32, 3>', which is empty; give it at least one element}}
  gpu.func @empty() workgroup(%a: memref<0xf32, 3>) kernel {
    gpu.return
  }
  // expected-error @+1 {{has workgroup attribution of type 'memref<4x4xf32, strided<[8, 1]>, 3>', whose layout has gaps, for which too few bytes would be reserved; allocate it by memref.alloc and run workgroup-hoist-allocs}}
  gpu.func @gaps() workgroup(%a: memref<4x4xf32, strided<[8, 1]>, 3> {llvm.align = 16 : i64}) kernel {
    gpu.return
  }
  // expected-error @+1 {{has workgroup attribution of type 'memref<4611686018427387904x8xf32, 3>', which is larger than any memory; make its extents smaller}}
  gpu.func @overflow() workgroup(%a: memref<4611686018427387904x8xf32, 3> {llvm.align = 16 : i64}) kernel {
    gpu.return
  }
  // expected-error @+1 {{has workgroup attribution with llvm.align = 12, which is not a power of two up to 2^32}}
  gpu.func @alignment() workgroup(%a: memref<4xf32, 3> {llvm.align = 12 : i64}) kernel {
    gpu.return
  }
  // expected-error @+1 {{has workgroup attribution of type 'memref<4xtf32, 3>', whose element type has no form in LLVM}}
  gpu.func @no_form() workgroup(%a: memref<4xtf32, 3> {llvm.align = 16 : i64}) kernel {
    gpu.return
  }
  // expected-error @+1 {{has private attribution of type 'memref<4xf32>'; use #gpu.address_space<private>}}
  gpu.func @private_space() private(%a: memref<4xf32>) kernel {
    gpu.return
  }
}

// -----

// More than a block can have: attributions, with the gaps that alignment leaves,
gpu.module @kernels {
  // expected-error @+3 {{workgroup memory of kernel 'attributions' is 49156 bytes, exceeding the limit of 49152 bytes; make its tiles smaller}}
  // expected-note @+2 {{a buffer of 1 bytes, aligned to 16, is here}}
  // expected-note @+2 {{a buffer of 49140 bytes, aligned to 16, is here}}
  gpu.func @attributions() workgroup(%a: memref<1xi8, 3> {llvm.align = 16 : i64},
                                     %b: memref<12285xf32, 3> {llvm.align = 16 : i64}) kernel {
    gpu.return
  }
}

// -----

// and globals, each once, of the kernel and of what it calls, but of no other
// kernel.
gpu.module @kernels {
  memref.global "private" @a : memref<6144xf32, 3> = uninitialized {alignment = 16 : i64}
  memref.global "private" @b : memref<6148xf32, 3> = uninitialized {alignment = 16 : i64}
  func.func private @helper() {
    // expected-note @+1 {{a buffer of 24576 bytes, aligned to 16, is here}}
    %a = memref.get_global @a : memref<6144xf32, 3>
    return
  }
  // expected-error @+1 {{workgroup memory of kernel 'uses_both' is 49168 bytes, exceeding the limit of 49152 bytes}}
  gpu.func @uses_both() kernel {
    func.call @helper() : () -> ()
    func.call @helper() : () -> ()
    // expected-note @+1 {{a buffer of 24592 bytes, aligned to 16, is here}}
    %b = memref.get_global @b : memref<6148xf32, 3>
    %again = memref.get_global @b : memref<6148xf32, 3>
    gpu.return
  }
  gpu.func @uses_one() kernel {
    func.call @helper() : () -> ()
    gpu.return
  }
}

// -----

// A launch is named after the function around it.
func.func @main() {
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{workgroup memory of kernel 'main' is 50000 bytes, exceeding the limit of 49152 bytes}}
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1)
             // expected-note @+1 {{a buffer of 50000 bytes, aligned to 16, is here}}
             workgroup(%a : memref<12500xf32, #gpu.address_space<workgroup>>) {
    gpu.terminator
  }
  return
}

// -----

// Reductions over blocks of several warps take an element per warp, and one for
// the result. Those of one type in one function share them.
gpu.module @kernels {
  func.func @called(%x: i64) -> i64 {
    // expected-note @+1 {{a buffer of 264 bytes, aligned to 16, is here}}
    %sum = gpu.all_reduce add %x uniform {} : (i64) -> i64
    %max = gpu.all_reduce maxsi %sum uniform {} : (i64) -> i64
    return %max : i64
  }
  // expected-error @+1 {{workgroup memory of kernel 'reduces' is 49464 bytes, exceeding the limit of 49152 bytes}}
  gpu.func @reduces(%x: f32, %y: i64, %out: memref<f32>, %out2: memref<i64>)
      // expected-note @+1 {{a buffer of 49152 bytes, aligned to 16, is here}}
      workgroup(%a: memref<12288xf32, 3> {llvm.align = 16 : i64}) kernel
      attributes {known_block_size = array<i32: 70, 1, 1>} {
    // expected-note @+1 {{a buffer of 16 bytes, aligned to 16, is here}}
    %sum = gpu.all_reduce add %x uniform {} : (f32) -> f32
    %product = gpu.all_reduce mul %sum uniform {} : (f32) -> f32
    memref.store %product, %out[] : memref<f32>
    %called = func.call @called(%y) : (i64) -> i64
    // expected-note @+1 {{a buffer of 32 bytes, aligned to 16, is here}}
    %own = gpu.all_reduce or %called uniform {} : (i64) -> i64
    memref.store %own, %out2[] : memref<i64>
    gpu.return
  }
  gpu.func @one_warp(%x: f32, %out: memref<f32>)
      workgroup(%a: memref<12288xf32, 3> {llvm.align = 16 : i64}) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %sum = gpu.all_reduce add %x uniform {} : (f32) -> f32
    memref.store %sum, %out[] : memref<f32>
    gpu.return
  }
}

// -----

// A variable of no bytes is no dynamic memory: others begin where it does.
gpu.module @empty {
  memref.global "private" @nothing : memref<0xf32, 3> = uninitialized
  gpu.func @kernel(%x: f32, %i: index) kernel {
    // expected-error @+1 {{'memref.get_global' op is a buffer without elements, next to which others begin; for dynamic memory leave out the initial value of its memref.global}}
    %g = memref.get_global @nothing : memref<0xf32, 3>
    %v = memref.reinterpret_cast %g to offset: [0], sizes: [8], strides: [1] : memref<0xf32, 3> to memref<8xf32, 3>
    memref.store %x, %v[%i] : memref<8xf32, 3>
    gpu.return
  }
}
