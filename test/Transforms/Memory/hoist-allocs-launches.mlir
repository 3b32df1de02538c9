// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-hoist-allocs)' -o %t.once
// RUN: FileCheck %s --input-file=%t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-hoist-allocs)' | diff %t.once -
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(gpu-kernel-outlining,workgroup-hoist-allocs)' -o %t.outlined
// RUN: FileCheck %s --check-prefix=OUTLINED --input-file=%t.outlined
// RUN: mlir-opt %s --pass-pipeline='builtin.module(gpu-kernel-outlining,workgroup-hoist-allocs)' | FileCheck %s --check-prefix=OUTLINED

// A launch of clusters, asynchronous, with buffers of its own: the new one comes
// behind those of the block and before those of the threads.
// CHECK-LABEL: func.func @clusters
// CHECK:         gpu.launch async [%{{.+}}] clusters
// CHECK-SAME:      workgroup(%[[OLD:.+]] : memref<8xf32, #gpu.address_space<workgroup>>, %[[NEW:.+]] : memref<64xf32, #gpu.address_space<workgroup>>)
// CHECK-SAME:      private(%[[OWN:.+]] : memref<2xf32, #gpu.address_space<private>>)
// CHECK:           memref.load %[[OLD]]
// CHECK:           memref.store %{{.+}}, %[[NEW]]
// CHECK:           memref.store %{{.+}}, %[[OWN]]
// OUTLINED:    gpu.func @clusters_kernel
// OUTLINED-SAME:   workgroup(%[[OLD:.+]] : memref<8xf32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}, %[[NEW:.+]] : memref<64xf32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64})
// OUTLINED-SAME:   private(%[[OWN:.+]] : memref<2xf32, #gpu.address_space<private>>) kernel
// OUTLINED:      memref.load %[[OLD]]
// OUTLINED:      memref.store %{{.+}}, %[[NEW]]
// OUTLINED:      memref.store %{{.+}}, %[[OWN]]
func.func @clusters() {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %ready = gpu.wait async
  %done = gpu.launch async [%ready] clusters(%cx, %cy, %cz) in (%kx = %c2, %ky = %c1, %kz = %c1)
      blocks(%bx, %by, %bz) in (%gx = %c2, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1)
      workgroup(%old: memref<8xf32, 3>) private(%own: memref<2xf32, #gpu.address_space<private>>) {
    %new = memref.alloca() : memref<64xf32, 3>
    %x = memref.load %old[%tx] : memref<8xf32, 3>
    memref.store %x, %new[%cx] : memref<64xf32, 3>
    memref.store %x, %own[%tx] : memref<2xf32, #gpu.address_space<private>>
    gpu.terminator
  }
  gpu.wait [%done]
  return
}

// What waits for outlining, because of the alignment that it states, is hoisted then.
// CHECK-LABEL: func.func @waits
// CHECK:         workgroup(%{{.+}} : memref<4xf32, #gpu.address_space<workgroup>>) {
// CHECK:           memref.alloc() {alignment = 128 : i64} : memref<64xf32, 3>
// CHECK:           memref.dealloc
// OUTLINED:    gpu.func @waits_kernel
// OUTLINED-SAME:   llvm.align = 128
// OUTLINED-NOT:  memref.alloc
// OUTLINED-NOT:  memref.dealloc
// OUTLINED:      gpu.return
func.func @waits(%x: f32) {
  %c1 = arith.constant 1 : index
  scf.for %i = %c1 to %c1 step %c1 {
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
               threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
      %a = memref.alloc() {alignment = 128 : i64} : memref<64xf32, 3>
      %b = memref.alloc() : memref<4xf32, #gpu.address_space<workgroup>>
      memref.store %x, %a[%tx] : memref<64xf32, 3>
      memref.store %x, %b[%tx] : memref<4xf32, #gpu.address_space<workgroup>>
      memref.dealloc %a : memref<64xf32, 3>
      gpu.terminator
    }
  }
  return
}

// The iterations of a loop around a launch are launches, not activations in a kernel.
// CHECK-LABEL: func.func @launched_again
// CHECK:         scf.for
// CHECK:           gpu.launch
// CHECK-SAME:        workgroup(%[[A:.+]] : memref<4xmemref<4xf32>, #gpu.address_space<workgroup>>)
// CHECK-NOT:         memref.alloc
func.func @launched_again(%n: index, %host: memref<4xf32>) {
  %c1 = arith.constant 1 : index
  scf.for %i = %c1 to %n step %c1 {
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
               threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
      %a = memref.alloc() : memref<4xmemref<4xf32>, 3>
      memref.store %host, %a[%tx] : memref<4xmemref<4xf32>, 3>
      gpu.terminator
    }
  }
  return
}
