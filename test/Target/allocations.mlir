// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-memory,workgroup-to-nvvm,gpu-module-to-binary{format=isa})' -o %t
// RUN: FileCheck %s --check-prefix=NEVER --input-file=%t
// RUN: %python -c "import sys; print(sys.stdin.read().replace(chr(92) + '0A', chr(10)).replace(chr(92) + '09', ' '))" < %t | FileCheck %s
// RUN: mlir-opt %s --pass-pipeline='builtin.module(gpu-launch-sink-index-computations,gpu-kernel-outlining,workgroup-memory,workgroup-to-nvvm,gpu-module-to-binary{format=isa})' -o %t.outlined
// RUN: FileCheck %s --check-prefix=NEVER --input-file=%t.outlined
// RUN: %python -c "import sys; print(sys.stdin.read().replace(chr(92) + '0A', chr(10)).replace(chr(92) + '09', ' '))" < %t.outlined | FileCheck %s

// From an allocation in workgroup memory, wherever it stands and however it is
// spelled, to one variable of the block in PTX, of the bytes that it needs.

// NEVER-NOT: .local
// NEVER-NOT: malloc
// NEVER-NOT: call.uni
// NEVER-NOT: cvta.shared
// NEVER-NOT: cvta.to.shared

// CHECK-DAG: .visible .entry number_kernel(
// CHECK-DAG: .shared .align 16 .b8 __wg_number_kernel_0[256];
func.func @number(%a: memref<64xf32>) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %c63 = arith.constant 63 : index
    %buffer = memref.alloca() : memref<64xf32, 3>
    %x = memref.load %a[%tx] : memref<64xf32>
    memref.store %x, %buffer[%tx] : memref<64xf32, 3>
    gpu.barrier
    %mirror = arith.subi %c63, %tx : index
    %y = memref.load %buffer[%mirror] : memref<64xf32, 3>
    memref.store %y, %a[%tx] : memref<64xf32>
    gpu.terminator
  }
  return
}

// CHECK-DAG: .visible .entry name_kernel(
// CHECK-DAG: .shared .align 16 .b8 __wg_name_kernel_0[256];
func.func @name(%a: memref<64xf32>) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %c63 = arith.constant 63 : index
    %buffer = memref.alloca() : memref<64xf32, #gpu.address_space<workgroup>>
    %x = memref.load %a[%tx] : memref<64xf32>
    memref.store %x, %buffer[%tx] : memref<64xf32, #gpu.address_space<workgroup>>
    gpu.barrier
    %mirror = arith.subi %c63, %tx : index
    %y = memref.load %buffer[%mirror] : memref<64xf32, #gpu.address_space<workgroup>>
    memref.store %y, %a[%tx] : memref<64xf32>
    gpu.terminator
  }
  return
}

// CHECK-DAG: .visible .entry nvvm_kernel(
// CHECK-DAG: .shared .align 16 .b8 __wg_nvvm_kernel_0[256];
func.func @nvvm(%a: memref<64xf32>) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %c63 = arith.constant 63 : index
    %buffer = memref.alloc() : memref<64xf32, #nvvm.memory_space<shared>>
    %x = memref.load %a[%tx] : memref<64xf32>
    memref.store %x, %buffer[%tx] : memref<64xf32, #nvvm.memory_space<shared>>
    gpu.barrier
    %mirror = arith.subi %c63, %tx : index
    %y = memref.load %buffer[%mirror] : memref<64xf32, #nvvm.memory_space<shared>>
    memref.store %y, %a[%tx] : memref<64xf32>
    memref.dealloc %buffer : memref<64xf32, #nvvm.memory_space<shared>>
    gpu.terminator
  }
  return
}

// CHECK-DAG: .visible .entry around_kernel(
// CHECK-DAG: .shared .align 16 .b8 __wg_around_kernel_0[256];
func.func @around(%a: memref<64xf32>) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %buffer = memref.alloc() : memref<64xf32, 3>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %c63 = arith.constant 63 : index
    %x = memref.load %a[%tx] : memref<64xf32>
    memref.store %x, %buffer[%tx] : memref<64xf32, 3>
    gpu.barrier
    %mirror = arith.subi %c63, %tx : index
    %y = memref.load %buffer[%mirror] : memref<64xf32, 3>
    memref.store %y, %a[%tx] : memref<64xf32>
    gpu.terminator
  }
  memref.dealloc %buffer : memref<64xf32, 3>
  return
}

// CHECK-DAG: .visible .entry around_name_kernel(
// CHECK-DAG: .shared .align 16 .b8 __wg_around_name_kernel_0[256];
func.func @around_name(%a: memref<64xf32>) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %buffer = memref.alloca() : memref<64xf32, #gpu.address_space<workgroup>>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %c63 = arith.constant 63 : index
    %x = memref.load %a[%tx] : memref<64xf32>
    memref.store %x, %buffer[%tx] : memref<64xf32, #gpu.address_space<workgroup>>
    gpu.barrier
    %mirror = arith.subi %c63, %tx : index
    %y = memref.load %buffer[%mirror] : memref<64xf32, #gpu.address_space<workgroup>>
    memref.store %y, %a[%tx] : memref<64xf32>
    gpu.terminator
  }
  return
}

gpu.module @kernels {
  // CHECK-DAG: .shared .align 16 .b8 __wg_in_function_0[256];
  // CHECK-DAG: .shared .align 128 .b8 __wg_in_function_1[256];
  gpu.func @in_function(%a: memref<64xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c63 = arith.constant 63 : index
    %t = gpu.thread_id x
    %mirror = arith.subi %c63, %t : index
    %x = memref.load %a[%t] : memref<64xf32>
    %b = memref.alloc() : memref<64xf32, 3>
    %c = memref.alloc() {alignment = 128} : memref<64xf32, #gpu.address_space<workgroup>>
    memref.store %x, %b[%t] : memref<64xf32, 3>
    memref.store %x, %c[%mirror] : memref<64xf32, #gpu.address_space<workgroup>>
    gpu.barrier
    %y = memref.load %b[%mirror] : memref<64xf32, 3>
    %z = memref.load %c[%t] : memref<64xf32, #gpu.address_space<workgroup>>
    %sum = arith.addf %y, %z : f32
    memref.store %sum, %a[%t] : memref<64xf32>
    memref.dealloc %b : memref<64xf32, 3>
    memref.dealloc %c : memref<64xf32, #gpu.address_space<workgroup>>
    gpu.return
  }

  // Bytes that are written 16 at a time are aligned to it.
  // CHECK-DAG: .shared .align 16 .b8 __wg_bytes_0[1024];
  // CHECK-DAG: st.shared.v4.b32
  gpu.func @bytes(%in: memref<1024xi8> {llvm.align = 16}, %out: memref<1024xi8>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c16 = arith.constant 16 : index
    %c63 = arith.constant 63 : index
    %t = gpu.thread_id x
    %at = arith.muli %t, %c16 : index
    %buffer = memref.alloc() : memref<1024xi8, 3>
    %x = vector.load %in[%at] {alignment = 16} : memref<1024xi8>, vector<16xi8>
    vector.store %x, %buffer[%at] {alignment = 16} : memref<1024xi8, 3>, vector<16xi8>
    gpu.barrier
    %mirror = arith.subi %c63, %t : index
    %y = memref.load %buffer[%mirror] : memref<1024xi8, 3>
    memref.store %y, %out[%t] : memref<1024xi8>
    gpu.return
  }

  // A layout with gaps takes the bytes that it spans: 4 * (3 * 8 + 3 + 1).
  // CHECK-DAG: .shared .align 16 .b8 __wg_gaps_0[112];
  gpu.func @gaps(%a: memref<4x4xf32>) kernel attributes {known_block_size = array<i32: 4, 4, 1>} {
    %x = gpu.thread_id x
    %y = gpu.thread_id y
    %buffer = memref.alloc() : memref<4x4xf32, strided<[8, 1]>, 3>
    %v = memref.load %a[%y, %x] : memref<4x4xf32>
    memref.store %v, %buffer[%y, %x] : memref<4x4xf32, strided<[8, 1]>, 3>
    gpu.barrier
    %w = memref.load %buffer[%x, %y] : memref<4x4xf32, strided<[8, 1]>, 3>
    memref.store %w, %a[%y, %x] : memref<4x4xf32>
    gpu.return
  }

  // Two buffers for two branches that threads part into, though only one runs.
  // CHECK-DAG: .shared .align 16 .b8 __wg_branches_0[256];
  // CHECK-DAG: .shared .align 16 .b8 __wg_branches_1[128];
  gpu.func @branches(%a: memref<64xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c32 = arith.constant 32 : index
    %t = gpu.thread_id x
    %x = memref.load %a[%t] : memref<64xf32>
    %c31 = arith.constant 31 : index
    %all = arith.constant -1 : i32
    %lane = arith.remui %t, %c32 : index
    %mirror = arith.subi %c31, %lane : index
    %low = arith.cmpi ult, %t, %c32 : index
    %y = scf.if %low -> f32 {
      %b = memref.alloca() : memref<64xf32, 3>
      memref.store %x, %b[%lane] : memref<64xf32, 3>
      nvvm.bar.warp.sync %all : i32
      %v = memref.load %b[%mirror] : memref<64xf32, 3>
      scf.yield %v : f32
    } else {
      %b = memref.alloca() : memref<32xf32, #gpu.address_space<workgroup>>
      memref.store %x, %b[%lane] : memref<32xf32, #gpu.address_space<workgroup>>
      nvvm.bar.warp.sync %all : i32
      %v = memref.load %b[%mirror] : memref<32xf32, #gpu.address_space<workgroup>>
      scf.yield %v : f32
    }
    memref.store %y, %a[%t] : memref<64xf32>
    gpu.return
  }

  // A function that two kernels call, one of them twice: one variable.
  // CHECK-DAG: .shared .align 16 .b8 helper_buffer[128];
  func.func @helper(%x: f32, %t: index) -> f32 {
    %c31 = arith.constant 31 : index
    %buffer = memref.alloca() : memref<32xf32, #gpu.address_space<workgroup>>
    memref.store %x, %buffer[%t] : memref<32xf32, #gpu.address_space<workgroup>>
    gpu.barrier
    %mirror = arith.subi %c31, %t : index
    %y = memref.load %buffer[%mirror] : memref<32xf32, #gpu.address_space<workgroup>>
    return %y : f32
  }
  gpu.func @once(%a: memref<32xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %t = gpu.thread_id x
    %x = memref.load %a[%t] : memref<32xf32>
    %y = func.call @helper(%x, %t) : (f32, index) -> f32
    memref.store %y, %a[%t] : memref<32xf32>
    gpu.return
  }
  gpu.func @twice(%a: memref<32xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %t = gpu.thread_id x
    %x = memref.load %a[%t] : memref<32xf32>
    %y = func.call @helper(%x, %t) : (f32, index) -> f32
    gpu.barrier
    %z = func.call @helper(%y, %t) : (f32, index) -> f32
    memref.store %z, %a[%t] : memref<32xf32>
    gpu.return
  }
}
