// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-hoist-allocs)' -o %t.once
// RUN: FileCheck %s --input-file=%t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-hoist-allocs)' | diff %t.once -
// RUN: mlir-opt %s --pass-pipeline='builtin.module(gpu-kernel-outlining,workgroup-hoist-allocs)' | FileCheck %s --check-prefix=OUTLINED

// An allocation outside of all loops runs once, so its buffer may go from iteration to
// iteration; two that are swapped each iteration are two buffers.

// CHECK-LABEL: func.func @swapped_in_launch
// CHECK:         workgroup(%[[A:.+]] : memref<64xf32, #gpu.address_space<workgroup>>, %[[B:.+]] : memref<64xf32, #gpu.address_space<workgroup>>)
// CHECK-NOT:     memref.alloc
// CHECK:         scf.for {{.*}} iter_args(%[[X:.+]] = %[[A]], %[[Y:.+]] = %[[B]])
// CHECK:           scf.yield %[[Y]], %[[X]]
// OUTLINED:    gpu.func @swapped_in_launch_kernel
// OUTLINED-SAME: workgroup(%[[A:.+]] : memref<64xf32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}, %[[B:.+]] : memref<64xf32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64})
// OUTLINED-NOT:  memref.alloc
// OUTLINED:      iter_args(%[[X:.+]] = %[[A]], %[[Y:.+]] = %[[B]])
// OUTLINED:        scf.yield %[[Y]], %[[X]]
func.func @swapped_in_launch(%in: memref<64xf32>, %n: index) {
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %a = memref.alloc() : memref<64xf32, #gpu.address_space<workgroup>>
    %b = memref.alloc() : memref<64xf32, #gpu.address_space<workgroup>>
    scf.for %i = %bx to %n step %c1 iter_args(%x = %a, %y = %b) -> (memref<64xf32, #gpu.address_space<workgroup>>, memref<64xf32, #gpu.address_space<workgroup>>) {
      %v = memref.load %x[%tx] : memref<64xf32, #gpu.address_space<workgroup>>
      memref.store %v, %y[%tx] : memref<64xf32, #gpu.address_space<workgroup>>
      scf.yield %y, %x : memref<64xf32, #gpu.address_space<workgroup>>, memref<64xf32, #gpu.address_space<workgroup>>
    }
    memref.dealloc %a : memref<64xf32, #gpu.address_space<workgroup>>
    memref.dealloc %b : memref<64xf32, #gpu.address_space<workgroup>>
    gpu.terminator
  }
  return
}

gpu.module @kernels {
  // What a loop carries keeps the spelling that it insists on, behind a cast.
  // CHECK-LABEL: gpu.func @carried
  // CHECK-SAME:    workgroup(%[[A:.+]] : memref<64xf32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64})
  // CHECK-NOT:     memref.alloc
  // CHECK:         %[[CAST:.+]] = memref.memory_space_cast %[[A]]
  // CHECK:         scf.for {{.*}} iter_args(%{{.+}} = %[[CAST]]) -> (memref<64xf32, 3>)
  // CHECK-NOT:     memref.dealloc
  gpu.func @carried(%n: index, %x: f32) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a = memref.alloc() : memref<64xf32, 3>
    %last = scf.for %i = %c0 to %n step %c1 iter_args(%same = %a) -> memref<64xf32, 3> {
      memref.store %x, %same[%i] : memref<64xf32, 3>
      scf.yield %same : memref<64xf32, 3>
    }
    memref.dealloc %last : memref<64xf32, 3>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @swapped
  // CHECK-SAME:    workgroup(%[[A:.+]] : memref<64xf32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}, %[[B:.+]] : memref<64xf32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64})
  // CHECK-DAG:     %[[CASTA:.+]] = memref.memory_space_cast %[[A]]
  // CHECK-DAG:     %[[CASTB:.+]] = memref.memory_space_cast %[[B]]
  // CHECK:         scf.while (%{{.+}} = %[[CASTA]], %{{.+}} = %[[CASTB]])
  gpu.func @swapped(%c: i1, %i: index) kernel {
    %a = memref.alloca() : memref<64xf32, 3>
    %b = memref.alloca() : memref<64xf32, 3>
    %last:2 = scf.while (%x = %a, %y = %b) : (memref<64xf32, 3>, memref<64xf32, 3>) -> (memref<64xf32, 3>, memref<64xf32, 3>) {
      scf.condition(%c) %x, %y : memref<64xf32, 3>, memref<64xf32, 3>
    } do {
    ^bb0(%x: memref<64xf32, 3>, %y: memref<64xf32, 3>):
      %v = memref.load %x[%i] : memref<64xf32, 3>
      memref.store %v, %y[%i] : memref<64xf32, 3>
      scf.yield %y, %x : memref<64xf32, 3>, memref<64xf32, 3>
    }
    gpu.return
  }

  // So in a loop of blocks.
  // CHECK-LABEL: gpu.func @swapped_by_blocks
  // CHECK-SAME:    workgroup(%{{.+}} : memref<64xf32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}, %{{.+}} : memref<64xf32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64})
  // CHECK-NOT:     memref.alloc
  // CHECK:         gpu.return
  gpu.func @swapped_by_blocks(%c: i1, %i: index) kernel {
    %a = memref.alloc() : memref<64xf32, 3>
    %b = memref.alloc() : memref<64xf32, 3>
    cf.br ^body(%a, %b : memref<64xf32, 3>, memref<64xf32, 3>)
  ^body(%x: memref<64xf32, 3>, %y: memref<64xf32, 3>):
    %v = memref.load %x[%i] : memref<64xf32, 3>
    memref.store %v, %y[%i] : memref<64xf32, 3>
    cf.cond_br %c, ^body(%y, %x : memref<64xf32, 3>, memref<64xf32, 3>), ^exit
  ^exit:
    gpu.return
  }
}
