// RUN: %pipeline compile %s --emit gpu | FileCheck %s
// RUN: %pipeline compile %s | FileCheck %s --check-prefix=PTX

// Blocks of 256 threads compute 64x64 tiles of C; for every 32 columns of A and
// rows of B they copy both to workgroup memory, together. Buffers are allocated
// once, copies stay in the loop, rows of A are padded against bank conflicts, and barriers stand on both sides of each run of
// copies: all have to be done before anybody reads, all reads before the next iteration
// overwrites.

// CHECK-LABEL: gpu.func @main_kernel
// CHECK-SAME:    workgroup(%[[B:.+]] : memref<32x64xf32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}, %[[A:.+]] : memref<64x36xf32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64})
// CHECK:         scf.for
// CHECK:           gpu.barrier
// CHECK-COUNT-2:   nvgpu.device_async_copy %{{.+}}[{{.*}}], %[[A]][{{.*}}], 4 {bypassL1}
// CHECK-COUNT-2:   nvgpu.device_async_copy %{{.+}}[{{.*}}], %{{.+}}[{{.*}}], 4 {bypassL1} {{.+}} to memref<32x64xf32, {{.+}}>
// CHECK:           nvgpu.device_async_wait
// CHECK-NEXT:      gpu.barrier
// CHECK:           scf.for

// PTX:     .maxntid 16, 16, 1
// PTX:     cp.async.cg.shared.global
// PTX:     cp.async.wait_group

func.func @main(%A: memref<1024x1024xf32>, %B: memref<1024x1024xf32>, %C: memref<1024x1024xf32>) {
  linalg.matmul ins(%A, %B : memref<1024x1024xf32>, memref<1024x1024xf32>)
                outs(%C : memref<1024x1024xf32>)
  return
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %module : (!transform.any_op) -> !transform.any_op
    %func = transform.get_parent_op %matmul : (!transform.any_op) -> !transform.any_op
    %block, %forall = transform.structured.tile_using_forall %matmul tile_sizes [64, 64, 0] (mapping = [#gpu.block<y>, #gpu.block<x>]) : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %launch = transform.gpu.map_forall_to_blocks %func { generate_gpu_launch } : (!transform.any_op) -> !transform.any_op
    %inner = transform.structured.match ops{["linalg.matmul"]} in %launch : (!transform.any_op) -> !transform.any_op
    %step, %loop = transform.structured.tile_using_for %inner tile_sizes [0, 0, 32] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %promoted = transform.structured.promote %step { operands_to_promote = [0, 1], mapping = [#gpu.memory_space<workgroup>] } : (!transform.any_op) -> !transform.any_op
    %thread, %threads = transform.structured.tile_using_forall %promoted num_threads [16, 16] (mapping = [#gpu.thread<y>, #gpu.thread<x>]) : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %mapped = transform.gpu.map_nested_forall_to_threads %launch block_dims = [16, 16, 1] : (!transform.any_op) -> !transform.any_op
    %scalar = transform.structured.match ops{["linalg.matmul"]} in %mapped : (!transform.any_op) -> !transform.any_op
    transform.structured.convert_to_loops %scalar : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
