// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(transform-interpreter,workgroup-memory)' -o %t.before
// RUN: FileCheck %s < %t.before
// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(transform-interpreter,canonicalize,cse,workgroup-memory)' | FileCheck %s
// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(transform-interpreter,gpu-launch-sink-index-computations,gpu-kernel-outlining,workgroup-memory)' | FileCheck %s
// RUN: mlir-opt %t.before --split-input-file --pass-pipeline='builtin.module(workgroup-memory)' | diff %t.before -

// What transform.structured.promote leaves: buffers of the host, in workgroup
// memory, and copies in the kernel. Afterwards the kernel has the buffers, the
// host none, and no copy is left; whether constants were folded before, or the
// kernel outlined. A second run changes nothing.

// Operands of each step of K, for a block of 64 threads. The step is ragged: 50
// columns are three steps of 16 and two more.
// CHECK-LABEL: func.func @ragged_steps
// CHECK-NOT:     #gpu.address_space<workgroup>
// CHECK:         gpu.launch_func @ragged_steps_kernel::@ragged_steps_kernel blocks in (%{{.+}}, %{{.+}}, %{{.+}}) threads in (%{{.+}}, %{{.+}}, %{{.+}}) args(%{{[^,]+}} : memref<64x50xf32>, %{{[^,]+}} : memref<50x64xf32>, %{{[^,]+}} : memref<64x64xf32>)
// CHECK:         gpu.module @ragged_steps_kernel [#nvvm.target<{{.*}}chip = "sm_80"{{.*}}>]
// CHECK:         gpu.func @ragged_steps_kernel
// CHECK-SAME:      workgroup(%{{[^:]+}} : memref<{{[0-9x]+}}xf32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}, %{{[^:]+}} : memref<{{[0-9x]+}}xf32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}) kernel
// CHECK-SAME:      known_block_size = array<i32: 8, 8, 1>
// CHECK-NOT:     memref.alloc
// CHECK-NOT:     memref.copy
// CHECK:         scf.for
// CHECK:           gpu.barrier
// CHECK:           nvgpu.device_async_copy {{.+}} to memref<{{.+}}, #gpu.address_space<workgroup>>
// CHECK:           nvgpu.device_async_wait
// CHECK-NEXT:      gpu.barrier
// CHECK-NOT:     memref.copy
// CHECK:         gpu.return
// CHECK-NOT:   memref.copy
func.func @ragged_steps(%A: memref<64x50xf32>, %B: memref<50x64xf32>, %C: memref<64x64xf32>) {
  linalg.matmul ins(%A, %B : memref<64x50xf32>, memref<50x64xf32>) outs(%C : memref<64x64xf32>)
  return
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %module : (!transform.any_op) -> !transform.any_op
    %func = transform.get_parent_op %matmul : (!transform.any_op) -> !transform.any_op
    %block, %forall = transform.structured.tile_using_forall %matmul tile_sizes [32, 32, 0] (mapping = [#gpu.block<y>, #gpu.block<x>]) : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %launch = transform.gpu.map_forall_to_blocks %func { generate_gpu_launch } : (!transform.any_op) -> !transform.any_op
    %inner = transform.structured.match ops{["linalg.matmul"]} in %launch : (!transform.any_op) -> !transform.any_op
    %step, %loop = transform.structured.tile_using_for %inner tile_sizes [0, 0, 16] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %promoted = transform.structured.promote %step { operands_to_promote = [0, 1], mapping = [#gpu.memory_space<workgroup>] } : (!transform.any_op) -> !transform.any_op
    %thread, %threads = transform.structured.tile_using_forall %promoted num_threads [8, 8] (mapping = [#gpu.thread<y>, #gpu.thread<x>]) : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %mapped = transform.gpu.map_nested_forall_to_threads %launch block_dims = [8, 8, 1] : (!transform.any_op) -> !transform.any_op
    %scalar = transform.structured.match ops{["linalg.matmul"]} in %mapped : (!transform.any_op) -> !transform.any_op
    transform.structured.convert_to_loops %scalar : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

// The output promoted around the steps of K, the operands within them: C comes in
// once and goes out once, after a barrier.
// CHECK-LABEL: func.func @output_too
// CHECK-NOT:     #gpu.address_space<workgroup>
// CHECK:         gpu.launch_func
// CHECK:         gpu.func @output_too_kernel
// CHECK-SAME:      workgroup(%{{[^:]+}} : memref<{{[0-9x]+}}xf32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}, %{{[^:]+}} : memref<{{[0-9x]+}}xf32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}, %{{[^:]+}} : memref<{{[0-9x]+}}xf32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}) kernel
// CHECK-NOT:     memref.alloc
// CHECK-NOT:     memref.copy
// CHECK:         nvgpu.device_async_copy %[[C:.+]][%{{.+}}, %{{.+}}], %{{[^:]+}} : memref<32x32xf32, strided<[64, 1], offset: ?>>
// CHECK-NOT:     %[[C]][
// CHECK:         gpu.barrier
// CHECK-NOT:     %[[C]][
// CHECK:         scf.for
// CHECK-NOT:     %[[C]][
// CHECK:         arith.addf
// CHECK-NOT:     %[[C]][
// CHECK:         gpu.barrier
// CHECK:         memref.store %{{.+}}, %[[C]][%{{.+}}, %{{.+}}]
// CHECK-NOT:     memref.copy
// CHECK:         gpu.return
func.func @output_too(%A: memref<64x48xf32>, %B: memref<48x64xf32>, %C: memref<64x64xf32>) {
  linalg.matmul ins(%A, %B : memref<64x48xf32>, memref<48x64xf32>) outs(%C : memref<64x64xf32>)
  return
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %module : (!transform.any_op) -> !transform.any_op
    %func = transform.get_parent_op %matmul : (!transform.any_op) -> !transform.any_op
    %block, %forall = transform.structured.tile_using_forall %matmul tile_sizes [32, 32, 0] (mapping = [#gpu.block<y>, #gpu.block<x>]) : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %launch = transform.gpu.map_forall_to_blocks %func { generate_gpu_launch } : (!transform.any_op) -> !transform.any_op
    %inner = transform.structured.match ops{["linalg.matmul"]} in %launch : (!transform.any_op) -> !transform.any_op
    %outer = transform.structured.promote %inner { operands_to_promote = [2], mapping = [#gpu.memory_space<workgroup>] } : (!transform.any_op) -> !transform.any_op
    %step, %loop = transform.structured.tile_using_for %outer tile_sizes [0, 0, 16] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %promoted = transform.structured.promote %step { operands_to_promote = [0, 1], mapping = [#gpu.memory_space<workgroup>] } : (!transform.any_op) -> !transform.any_op
    %thread, %threads = transform.structured.tile_using_forall %promoted num_threads [8, 8] (mapping = [#gpu.thread<y>, #gpu.thread<x>]) : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %mapped = transform.gpu.map_nested_forall_to_threads %launch block_dims = [8, 8, 1] : (!transform.any_op) -> !transform.any_op
    %scalar = transform.structured.match ops{["linalg.matmul"]} in %mapped : (!transform.any_op) -> !transform.any_op
    transform.structured.convert_to_loops %scalar : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

// One thread per block, and the sliding window of a convolution; buffers of bytes,
// by alloca, in another spelling.
// CHECK-LABEL: func.func @convolution
// CHECK-NOT:     memref.alloc
// CHECK:         gpu.launch_func
// CHECK:         gpu.func @convolution_kernel
// CHECK-SAME:      workgroup(
// CHECK-SAME:      memref<1296xi8, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}
// CHECK-SAME:      memref<1152xi8, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}) kernel
// CHECK-NOT:     memref.alloc
// CHECK-NOT:     memref.copy
// CHECK:         gpu.return
func.func @convolution(%image: memref<1x16x16x4xf32>, %filter: memref<3x3x4x8xf32>, %out: memref<1x14x14x8xf32>) {
  linalg.conv_2d_nhwc_hwcf ins(%image, %filter : memref<1x16x16x4xf32>, memref<3x3x4x8xf32>) outs(%out : memref<1x14x14x8xf32>)
  return
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %conv = transform.structured.match ops{["linalg.conv_2d_nhwc_hwcf"]} in %module : (!transform.any_op) -> !transform.any_op
    %func = transform.get_parent_op %conv : (!transform.any_op) -> !transform.any_op
    %block, %forall = transform.structured.tile_using_forall %conv tile_sizes [0, 7, 7, 0] (mapping = [#gpu.block<y>, #gpu.block<x>]) : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %launch = transform.gpu.map_forall_to_blocks %func { generate_gpu_launch } : (!transform.any_op) -> !transform.any_op
    %inner = transform.structured.match ops{["linalg.conv_2d_nhwc_hwcf"]} in %launch : (!transform.any_op) -> !transform.any_op
    %promoted = transform.structured.promote %inner { operands_to_promote = [0, 1], memory_space = 3, use_alloca } : (!transform.any_op) -> !transform.any_op
    transform.structured.convert_to_loops %promoted : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

// Dynamic memory next to static: both are in the kernel, and no bound is taken from
// the symbol, which has no bytes of its own.
// CHECK-LABEL: func.func @dynamic_memory
// CHECK:         gpu.launch_func @dynamic_memory_kernel::@dynamic_memory_kernel {{.*}} dynamic_shared_memory_size
// CHECK:         memref.global @dynamic_workgroup_memory : memref<0xi8, #gpu.address_space<workgroup>> {alignment = 1024 : i64}
// CHECK:         gpu.func @dynamic_memory_kernel
// CHECK-SAME:      workgroup(%{{[^:]+}} : memref<64xf32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}) kernel
// CHECK-NOT:     gpu.dynamic_shared_memory
// CHECK:         memref.get_global @dynamic_workgroup_memory
// CHECK:         memref.subview %{{.+}}[16] [64] [1]
// CHECK:         gpu.return
func.func @dynamic_memory(%a: memref<64xf32>, %b: memref<64xi8>) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %bytes = arith.constant 128 : i32
  %static = memref.alloc() : memref<64xf32, #gpu.address_space<workgroup>>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1)
             dynamic_shared_memory_size %bytes {
    %all = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %part = memref.subview %all[16] [64] [1] : memref<?xi8, #gpu.address_space<workgroup>> to memref<64xi8, strided<[1], offset: 16>, #gpu.address_space<workgroup>>
    memref.copy %a, %static : memref<64xf32> to memref<64xf32, #gpu.address_space<workgroup>>
    memref.copy %b, %part : memref<64xi8> to memref<64xi8, strided<[1], offset: 16>, #gpu.address_space<workgroup>>
    %x = memref.load %static[%tx] : memref<64xf32, #gpu.address_space<workgroup>>
    %y = memref.load %part[%tx] : memref<64xi8, strided<[1], offset: 16>, #gpu.address_space<workgroup>>
    memref.store %x, %a[%tx] : memref<64xf32>
    memref.store %y, %b[%tx] : memref<64xi8>
    gpu.terminator
  }
  return
}
// Nothing to schedule.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    transform.yield
  }
}

// -----

// Two launches of one function: each kernel has its own buffers and its own name
// for its module.
// CHECK-LABEL: func.func @two_launches
// CHECK-NOT:     memref.alloc
// CHECK:         gpu.launch_func @[[FIRST:.+]]::@two_launches_kernel
// CHECK:         gpu.launch_func @[[SECOND:.+]]::@two_launches_kernel
// CHECK:         gpu.module @[[FIRST]]
// CHECK:           workgroup(%{{[^:]+}} : memref<16x33xf32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}) kernel
// CHECK:         gpu.module @[[SECOND]]
// CHECK:           workgroup(%{{[^:]+}} : memref<32xf16, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}) kernel
func.func @two_launches(%a: memref<16x32xf32>, %b: memref<64xf16>) {
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %first = memref.alloc() : memref<16x32xf32, #gpu.address_space<workgroup>>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c16, %sy = %c1, %sz = %c1) {
    memref.copy %a, %first : memref<16x32xf32> to memref<16x32xf32, #gpu.address_space<workgroup>>
    %x = memref.load %first[%tx, %ty] : memref<16x32xf32, #gpu.address_space<workgroup>>
    memref.store %x, %a[%tx, %tx] : memref<16x32xf32>
    gpu.terminator
  }
  memref.dealloc %first : memref<16x32xf32, #gpu.address_space<workgroup>>
  %second = memref.alloc() : memref<32xf16, 3>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c16, %sy = %c1, %sz = %c1) {
    %part = memref.subview %b[8] [32] [1] : memref<64xf16> to memref<32xf16, strided<[1], offset: 8>>
    memref.copy %part, %second : memref<32xf16, strided<[1], offset: 8>> to memref<32xf16, 3>
    %x = memref.load %second[%tx] : memref<32xf16, 3>
    memref.store %x, %b[%tx] : memref<64xf16>
    gpu.terminator
  }
  memref.dealloc %second : memref<32xf16, 3>
  return
}
// Nothing to schedule.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    transform.yield
  }
}
