// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-merge-kernels)' -o %t.once
// RUN: FileCheck %s --input-file=%t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-merge-kernels)' -o %t.twice
// RUN: diff %t.once %t.twice
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-merge-kernels)' --remarks-filter='workgroup.*' --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-merge-kernels)' --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefix=PLACES
// Kernels that are alike become one; those that differ in anything do not.
module attributes {gpu.container_module} {
// CHECK-LABEL: func.func @main(
// CHECK:         gpu.launch_func @layer::@kernel
// CHECK-NEXT:    gpu.launch_func @layer::@kernel
// CHECK-NEXT:    gpu.launch_func @other_block::@kernel
// CHECK-NEXT:    gpu.launch_func @other_number::@kernel
// CHECK-NEXT:    gpu.launch_func @other_name::@main_kernel
// CHECK-NEXT:    gpu.launch_func @other_target::@kernel
// CHECK-NEXT:    gpu.launch_func @layer::@kernel
// CHECK-NEXT:    gpu.launch_func @sum::@kernel
// CHECK-NEXT:    gpu.launch_func @sum_of_another::@kernel
// CHECK-NEXT:    gpu.launch_func @tile::@kernel
// CHECK-NEXT:    gpu.launch_func @tile::@kernel
func.func @main(%a: memref<64xf32>) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch_func @layer::@kernel blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%a : memref<64xf32>)
  gpu.launch_func @same::@kernel blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%a : memref<64xf32>)
  gpu.launch_func @other_block::@kernel blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%a : memref<64xf32>)
  gpu.launch_func @other_number::@kernel blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%a : memref<64xf32>)
  gpu.launch_func @other_name::@main_kernel blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%a : memref<64xf32>)
  gpu.launch_func @other_target::@kernel blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%a : memref<64xf32>)
  gpu.launch_func @same_too::@kernel blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%a : memref<64xf32>)
  gpu.launch_func @sum::@kernel blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%a : memref<64xf32>)
  gpu.launch_func @sum_of_another::@kernel blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%a : memref<64xf32>)
  gpu.launch_func @tile::@kernel blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%a : memref<64xf32>)
  gpu.launch_func @same_tile::@kernel blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%a : memref<64xf32>)
  return
}
// CHECK:         gpu.module @layer {
// CHECK-NOT:     gpu.module @same
gpu.module @layer {
  gpu.func @kernel(%a: memref<64xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %x = arith.constant 1.0 : f32
    // What stays tells of the places of all that it stands for.
    // PLACES: memref.store {{.*}} loc(fused["{{.*}}merge-kernels.mlir":45:5, "{{.*}}merge-kernels.mlir":54:5, "{{.*}}merge-kernels.mlir":{{[0-9]+}}:5])
    memref.store %x, %a[%t] : memref<64xf32>
    gpu.return
  }
}
// REMARK: remark: {{.*}}kernels of 'same' are those of 'layer'
gpu.module @same {
  gpu.func @kernel(%b: memref<64xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %u = gpu.thread_id x
    %one = arith.constant 1.0 : f32
    memref.store %one, %b[%u] : memref<64xf32>
    gpu.return
  }
}
// CHECK:         gpu.module @other_block {
gpu.module @other_block {
  gpu.func @kernel(%a: memref<64xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %t = gpu.thread_id x
    %x = arith.constant 1.0 : f32
    memref.store %x, %a[%t] : memref<64xf32>
    gpu.return
  }
}
// CHECK:         gpu.module @other_number {
gpu.module @other_number {
  gpu.func @kernel(%a: memref<64xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %x = arith.constant 2.0 : f32
    memref.store %x, %a[%t] : memref<64xf32>
    gpu.return
  }
}
// CHECK:         gpu.module @other_name {
gpu.module @other_name {
  gpu.func @main_kernel(%a: memref<64xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %x = arith.constant 1.0 : f32
    memref.store %x, %a[%t] : memref<64xf32>
    gpu.return
  }
}
// CHECK:         gpu.module @other_target [
gpu.module @other_target [#nvvm.target<chip = "sm_90">] {
  gpu.func @kernel(%a: memref<64xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %x = arith.constant 1.0 : f32
    memref.store %x, %a[%t] : memref<64xf32>
    gpu.return
  }
}
// REMARK: remark: {{.*}}kernels of 'same_too' are those of 'layer'
gpu.module @same_too {
  gpu.func @kernel(%a: memref<64xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %x = arith.constant 1.0 : f32
    memref.store %x, %a[%t] : memref<64xf32>
    gpu.return
  }
}
// Whoever launches it is not in sight.
// CHECK:         gpu.module @not_launched {
gpu.module @not_launched {
  gpu.func @kernel(%a: memref<64xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %x = arith.constant 1.0 : f32
    memref.store %x, %a[%t] : memref<64xf32>
    gpu.return
  }
}
// Each has a sum of its own. What is workgroup memory is new for each block.
// CHECK:         gpu.module @sum {
// CHECK:         gpu.module @sum_of_another {
// CHECK:         gpu.module @tile {
// CHECK-NOT:     gpu.module @same_tile
gpu.module @sum {
  memref.global "private" @total : memref<1xf32> = dense<0.0>
  gpu.func @kernel(%a: memref<64xf32>) kernel { gpu.return }
}
gpu.module @sum_of_another {
  memref.global "private" @total : memref<1xf32> = dense<0.0>
  gpu.func @kernel(%a: memref<64xf32>) kernel { gpu.return }
}
gpu.module @tile {
  memref.global "private" @tile : memref<64xf32, #gpu.address_space<workgroup>>
  memref.global "private" constant @table : memref<1xf32> = dense<1.0>
  gpu.func @kernel(%a: memref<64xf32>) kernel { gpu.return }
}
gpu.module @same_tile {
  memref.global "private" @tile : memref<64xf32, #gpu.address_space<workgroup>>
  memref.global "private" constant @table : memref<1xf32> = dense<1.0>
  gpu.func @kernel(%a: memref<64xf32>) kernel { gpu.return }
}
}
