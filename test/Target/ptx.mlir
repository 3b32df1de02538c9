// REQUIRES: package
// RUN: %pipeline compile %s | FileCheck %s
// RUN: %pipeline compile %s | FileCheck %s --check-prefix=NEVER

// What the text that reaches ptxas must have, whatever else LLVM does to it.

// In no kernel is shared memory an array of each thread, or allocated by it.
// NEVER-NOT: .local
// NEVER-NOT: malloc
// NEVER-NOT: memrefCopy
// NEVER-NOT: .extern .func

// CHECK: .version 7.0
// CHECK: .target sm_80

// Dynamic memory is a symbol of its own, behind the static buffers; no kernel has a
// variable for it.
// CHECK:     .extern .shared .align 1024 .b8 dynamic_workgroup_memory[];
// CHECK-NOT: .shared

gpu.module @kernels {
  // Buffers of bytes, of floats, with more alignment: 16 bytes at least, so that the
  // one that follows the bytes is aligned too.
  // CHECK:     .visible .entry buffers(
  // CHECK:     .maxntid 64, 1, 1
  // CHECK-DAG: .shared .align 16 .b8 __wg_buffers_0[7];
  // CHECK-DAG: .shared .align 16 .b8 __wg_buffers_1[256];
  // CHECK-DAG: .shared .align 128 .b8 __wg_buffers_2[48];
  // CHECK:     bar.sync
  gpu.func @buffers(%in: memref<64xf32>, %out: memref<64xf32>)
      workgroup(%a: memref<7xi8, #gpu.address_space<workgroup>>,
                %b: memref<64xf32, 3>,
                %c: memref<3x4xf32, #nvvm.memory_space<shared>> {llvm.align = 128 : i64}) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c63 = arith.constant 63 : index
    %one = arith.constant 1 : i8
    %thread = gpu.thread_id x
    %x = memref.load %in[%thread] : memref<64xf32>
    memref.store %x, %b[%thread] : memref<64xf32, 3>
    %few = arith.cmpi ult, %thread, %c4 : index
    scf.if %few {
      memref.store %one, %a[%thread] : memref<7xi8, #gpu.address_space<workgroup>>
      memref.store %x, %c[%c2, %thread] : memref<3x4xf32, #nvvm.memory_space<shared>>
    }
    gpu.barrier
    %mirror = arith.subi %c63, %thread : index
    %small = arith.remui %thread, %c4 : index
    %y = memref.load %b[%mirror] : memref<64xf32, 3>
    %byte = memref.load %a[%small] : memref<7xi8, #gpu.address_space<workgroup>>
    %w = memref.load %c[%c2, %small] : memref<3x4xf32, #nvvm.memory_space<shared>>
    %z = arith.sitofp %byte : i8 to f32
    %s = arith.addf %y, %z : f32
    %t = arith.addf %s, %w : f32
    memref.store %t, %out[%thread] : memref<64xf32>
    gpu.return
  }

  // Accesses of 16 bytes on both sides of a copy, also of narrow elements. Each
  // thread copies out what it copied in.
  // CHECK:     .visible .entry copies(
  // CHECK:     cp.async.cg.shared.global
  // CHECK:     cp.async.commit_group
  // CHECK:     cp.async.wait_group
  // CHECK-NOT: bar.sync
  // CHECK-DAG: ld.shared.v4.b32
  // CHECK-DAG: st.global.v4.b32
  gpu.func @copies(%in: memref<4096xf16>, %out: memref<4096xf16>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %buffer = memref.alloc() : memref<4096xf16, #gpu.address_space<workgroup>>
    memref.copy %in, %buffer : memref<4096xf16> to memref<4096xf16, #gpu.address_space<workgroup>>
    memref.copy %buffer, %out : memref<4096xf16, #gpu.address_space<workgroup>> to memref<4096xf16>
    memref.dealloc %buffer : memref<4096xf16, #gpu.address_space<workgroup>>
    gpu.return
  }

  // Static and dynamic memory in one kernel.
  // CHECK:     .visible .entry static_and_dynamic(
  // CHECK:     .shared .align 16 .b8 __wg_static_and_dynamic_0[260];
  // CHECK:     mov.b64 %rd{{[0-9]+}}, dynamic_workgroup_memory;
  // CHECK:     bar.sync
  gpu.func @static_and_dynamic(%out: memref<64xf32>)
      workgroup(%a: memref<65xf32, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c63 = arith.constant 63 : index
    %thread = gpu.thread_id x
    %mirror = arith.subi %c63, %thread : index
    %bytes = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %b = memref.view %bytes[%c0][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<64xf32, #gpu.address_space<workgroup>>
    %x = memref.load %out[%thread] : memref<64xf32>
    memref.store %x, %a[%thread] : memref<65xf32, #gpu.address_space<workgroup>>
    memref.store %x, %b[%thread] : memref<64xf32, #gpu.address_space<workgroup>>
    gpu.barrier
    %y = memref.load %a[%mirror] : memref<65xf32, #gpu.address_space<workgroup>>
    %z = memref.load %b[%mirror] : memref<64xf32, #gpu.address_space<workgroup>>
    %s = arith.addf %y, %z : f32
    memref.store %s, %out[%thread] : memref<64xf32>
    gpu.return
  }

  // A parameter for each pointer, scalar, and what is used of the extents.
  // CHECK:      .visible .entry interface(
  // CHECK-NEXT: .param .u64 .ptr .align 16 interface_param_0,
  // CHECK-NEXT: .param .u64 .ptr .align 1 interface_param_1,
  // CHECK-NEXT: .param .f32 interface_param_2,
  // CHECK-NEXT: .param .u64 interface_param_3
  // CHECK-NEXT: )
  // CHECK:      ld.global.nc.b32
  gpu.func @interface(%in: memref<?x?xf32> {llvm.align = 16 : i64, llvm.noalias, llvm.readonly}, %out: memref<?xf32> {llvm.noalias}, %x: f32) kernel {
    %i = gpu.thread_id x
    %j = gpu.thread_id y
    %y = memref.load %in[%i, %j] : memref<?x?xf32>
    %z = arith.addf %x, %y : f32
    memref.store %z, %out[%i] : memref<?xf32>
    gpu.return
  }
}
