// RUN: mlir-opt %s --transform-interpreter | mlir-opt --pass-pipeline='builtin.module(workgroup-memory)' | FileCheck %s
// RUN: mlir-opt %s --transform-interpreter --canonicalize --cse | mlir-opt --pass-pipeline='builtin.module(workgroup-memory)' | FileCheck %s
// RUN: mlir-opt %s --transform-interpreter --gpu-launch-sink-index-computations --gpu-kernel-outlining | mlir-opt --pass-pipeline='builtin.module(workgroup-memory)' | FileCheck %s --check-prefix=OUTLINED
// RUN: %pipeline compile %s | FileCheck %s --check-prefix=PTX

// The program of the thread "How to find a valid lowering pipeline for workgroup
// memory usage via transform.structured.promote?", with two slips of the post
// repaired: the name %gpu_launch, and the type of convert_to_loops. One thread per
// block copies a 4x1024 tile of A and a 1024x4 tile of B to workgroup memory and
// multiplies them.

// CHECK-LABEL: func.func @main
// CHECK-NOT:     #gpu.address_space<workgroup>
// CHECK:         gpu.launch_func
// CHECK-LABEL: gpu.func @main_kernel
// CHECK-SAME:    workgroup(%{{.+}} : memref<1024x4xf32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}, %{{.+}} : memref<4x1024xf32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64})
// CHECK-NOT:     memref.alloc
// CHECK-NOT:     memref.copy
// CHECK:         vector.store %{{.+}} {alignment = 16 : i64} : memref<4096xf32, #gpu.address_space<workgroup>>, vector<4xf32>
// CHECK-NOT:     memref.copy
// CHECK:         gpu.return

// Where the kernel was outlined before anybody looked at the buffers, they come
// out of its arguments.
// OUTLINED-LABEL: func.func @main
// OUTLINED-NOT:     #gpu.address_space<workgroup>
// OUTLINED:         gpu.launch_func
// OUTLINED-LABEL: gpu.func @main_kernel
// OUTLINED-SAME:    workgroup(%{{.+}} : memref<{{.+}}, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}, %{{.+}} : memref<{{.+}}, #gpu.address_space<workgroup>> {llvm.align = 16 : i64})
// OUTLINED-NOT:     memref.alloc
// OUTLINED-NOT:     memref.copy
// OUTLINED:         gpu.return

// PTX:     .entry main_kernel(
// PTX-NOT: .local
// PTX-NOT: malloc
// PTX:     .shared .align 16 .b8 __wg_main_kernel_0[16384]
// PTX:     .shared .align 16 .b8 __wg_main_kernel_1[16384]
// PTX:     ld.global.v4.b32
// PTX:     st.shared.v4.b32
// PTX:     bar.sync

func.func @main() {
  %A = memref.alloc() : memref<1024x1024xf32>
  %B = memref.alloc() : memref<1024x1024xf32>
  %C = memref.alloc() : memref<1024x1024xf32>

  %cf0 = arith.constant 0.00000e+00 : f32
  %cf1 = arith.constant 1.00000e+00 : f32

  linalg.fill ins(%cf1 : f32) outs(%A : memref<1024x1024xf32>)
  linalg.fill ins(%cf1 : f32) outs(%B : memref<1024x1024xf32>)
  linalg.fill ins(%cf0 : f32) outs(%C : memref<1024x1024xf32>)

  linalg.matmul ins(%A, %B : memref<1024x1024xf32>, memref<1024x1024xf32>)
                outs(%C : memref<1024x1024xf32>)
  return
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%arg1: !transform.any_op {transform.readonly}) {
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %arg1 : (!transform.any_op) -> !transform.any_op
    %func = transform.get_parent_op %matmul : (!transform.any_op) -> !transform.any_op

    %block_tiled_matmul, %for_blocks = transform.structured.tile_using_forall %matmul tile_sizes [4, 4, 0] (mapping = [#gpu.block<x>, #gpu.block<y>]) : (!transform.any_op) -> (!transform.any_op, !transform.any_op)

    %gpu_launch = transform.gpu.map_forall_to_blocks %func { generate_gpu_launch } : (!transform.any_op) -> !transform.any_op
    %matmul2 = transform.structured.match ops{["linalg.matmul"]} in %gpu_launch : (!transform.any_op) -> !transform.any_op
    %0 = transform.structured.promote %matmul2 { operands_to_promote = [0, 1], mapping = [#gpu.memory_space<workgroup>] } : (!transform.any_op) -> !transform.any_op
    transform.structured.convert_to_loops %0 : (!transform.any_op) -> !transform.any_op

    transform.yield
  }
}
