// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-pack-memory)' --remarks-filter='workgroup.*' --remark-format=emitRemark --verify-diagnostics -o /dev/null

// What is told of each buffer, and of each kernel.

gpu.module @kernels {
  // Where each buffer went, and what it was good for: 384 bytes have to be there at
  // one time.
  // expected-remark @+1 {{[Passed] PackedKernel | Category:workgroup-pack-memory | Function=packed | Barriers=1, BytesAfter=384, BytesBefore=640, LowerBound=384, Remark="workgroup buffers packed into static memory", Reused=2}}
  gpu.func @packed(%i: index, %v: f32)
      // expected-remark @+1 {{[Passed] Packed | Category:workgroup-pack-memory | Function=packed | Alignment=16, Bytes=256, Offset=0, Remark="workgroup buffer packed into bytes that others use before or after it"}}
      workgroup(%a: memref<64xf32, 3>,
                // expected-remark @+1 {{[Passed] Packed | Category:workgroup-pack-memory | Function=packed | Alignment=128, Bytes=128, Offset=256, Remark="workgroup buffer packed into bytes of its own"}}
                %b: memref<32xf32, 3> {llvm.align = 128 : i64},
                // expected-remark @+1 {{Alignment=16, Bytes=256, Offset=0, Remark="workgroup buffer packed into bytes that others use before or after it"}}
                %c: memref<64xf32, 3>) kernel {
    memref.store %v, %b[%i] : memref<32xf32, 3>
    memref.store %v, %a[%i] : memref<64xf32, 3>
    memref.store %v, %c[%i] : memref<64xf32, 3>
    memref.store %v, %b[%i] : memref<32xf32, 3>
    gpu.return
  }

  // expected-remark @+1 {{[Missed] NotPacked | Category:workgroup-pack-memory | Function=overlapping | Bytes=512, LowerBound=512, Reason="all buffers are in use at the same time"}}
  gpu.func @overlapping(%i: index, %v: f32)
      workgroup(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>) kernel {
    memref.store %v, %a[%i] : memref<64xf32, 3>
    memref.store %v, %b[%i] : memref<64xf32, 3>
    memref.store %v, %a[%i] : memref<64xf32, 3>
    gpu.return
  }

  // Of one buffer, or of none, there is nothing to say.
  gpu.func @single(%i: index, %v: f32) workgroup(%a: memref<64xf32, 3>) kernel {
    memref.store %v, %a[%i] : memref<64xf32, 3>
    gpu.return
  }

  // Dynamic, and nobody is known to launch it.
  // expected-remark @+2 {{[Passed] PackedKernel | Category:workgroup-pack-memory | Function=large | Barriers=0, BytesAfter=65536, BytesBefore=65536, LowerBound=65536, Remark="workgroup buffers packed into dynamic memory", Reused=0}}
  // expected-remark @+1 {{[Missed] LaunchUnknown | Category:workgroup-pack-memory | Function=large | Reason="no launch of the kernel is in the module; each has to ask for 65536 bytes of dynamic workgroup memory"}}
  gpu.func @large(%i: index, %v: f32)
      // expected-remark @+1 {{Bytes=65536, Offset=0, Remark="workgroup buffer packed into bytes of its own"}}
      workgroup(%a: memref<16384xf32, 3>) kernel {
    memref.store %v, %a[%i] : memref<16384xf32, 3>
    gpu.return
  }

  // An allocation says where it stood, a global where it is got.
  memref.global "private" @table : memref<64xf32, 3> = uninitialized
  // expected-remark @+1 {{Function=others | Barriers=1, BytesAfter=256, BytesBefore=512}}
  gpu.func @others(%i: index, %v: f32) kernel {
    // expected-remark @+1 {{[Passed] Packed | Category:workgroup-pack-memory | Function=others}}
    %a = memref.alloc() : memref<64xf32, 3>
    memref.store %v, %a[%i] : memref<64xf32, 3>
    // expected-remark @+1 {{[Passed] Packed | Category:workgroup-pack-memory | Function=others}}
    %table = memref.get_global @table : memref<64xf32, 3>
    memref.store %v, %table[%i] : memref<64xf32, 3>
    gpu.return
  }
}

// Behind dynamic memory of the program, offsets are those of all of it; a launch
// is named after its function.
// expected-remark @+4 {{[Passed] PackedKernel | Category:workgroup-pack-memory | Function=launch}}
func.func @launch(%v: f32, %w: i8) {
  %c1 = arith.constant 1 : index
  %bytes = arith.constant 1000 : i32
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1)
             dynamic_shared_memory_size %bytes {
    %window = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    memref.store %w, %window[%tx] : memref<?xi8, #gpu.address_space<workgroup>>
    // expected-remark @+1 {{Function=launch | Alignment=16, Bytes=65536, Offset=1008}}
    %a = memref.alloc() : memref<16384xf32, 3>
    memref.store %v, %a[%tx] : memref<16384xf32, 3>
    gpu.terminator
  }
  return
}
