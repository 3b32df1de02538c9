// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-legalize-for-nvvm)' --split-input-file | FileCheck %s

// On a whole module, before outlining.

// The host's vectors are the host's.
// CHECK-LABEL: func.func @host
// CHECK:         vector.multi_reduction
func.func @host(%a: vector<2x4xf32>) -> vector<2xf32> {
  %zero = arith.constant dense<0.0> : vector<2xf32>
  %sums = vector.multi_reduction <add>, %a, %zero [1] : vector<2x4xf32> to vector<2xf32>
  return %sums : vector<2xf32>
}

// -----

// And so are its loops.
// CHECK-LABEL: func.func @host_loop
// CHECK:         affine.for
// CHECK:         affine.apply
// CHECK-LABEL: gpu.func @kernel_loop
// CHECK-NOT:     affine.
func.func @host_loop(%a: memref<64xindex>) {
  affine.for %i = 0 to 32 {
    %j = affine.apply affine_map<(d0) -> (d0 * 2)>(%i)
    memref.store %j, %a[%j] : memref<64xindex>
  }
  return
}
gpu.module @kernels {
  gpu.func @kernel_loop(%a: memref<64xindex>) kernel {
    affine.for %i = 0 to 32 {
      %j = affine.apply affine_map<(d0) -> (d0 * 2)>(%i)
      memref.store %j, %a[%j] : memref<64xindex>
    }
    gpu.return
  }
}

// -----

// A launch is prepared like what outlining makes of it.
// CHECK-LABEL: func.func @in_launch
// CHECK:         gpu.launch
// CHECK-NOT:     linalg.fill
// CHECK-NOT:     gpu.subgroup_size
// CHECK:         scf.for
// CHECK:         gpu.terminator
func.func @in_launch(%a: memref<64xf32>, %sizes: memref<index>, %zero: f32) {
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    linalg.fill ins(%zero : f32) outs(%a : memref<64xf32>)
    %size = gpu.subgroup_size : index
    memref.store %size, %sizes[] : memref<index>
    gpu.terminator
  }
  return
}

// -----

// Reductions, and the functions that they stand in, have their buffers where
// outlining finds them.
// CHECK:       memref.global "private" @called_reduction : memref<33xf32, #gpu.address_space<workgroup>> = uninitialized
// CHECK-LABEL: func.func @called
// CHECK:         memref.get_global @called_reduction
// CHECK-COUNT-2: gpu.barrier
func.func @called(%x: f32) -> f32 {
  %sum = gpu.all_reduce add %x uniform {} : (f32) -> f32
  return %sum : f32
}
// CHECK-LABEL: func.func @reduces
// CHECK:         gpu.launch
// CHECK-SAME:      workgroup(%{{[^:]+}} : memref<3xi32, #gpu.address_space<workgroup>>)
// CHECK-COUNT-2:   gpu.barrier
// CHECK-NOT:       gpu.barrier
// CHECK:           gpu.terminator
func.func @reduces(%a: memref<64xi32>, %b: memref<64xf32>) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %x = memref.load %a[%tx] : memref<64xi32>
    %y = gpu.all_reduce maxui %x uniform {} : (i32) -> i32
    memref.store %y, %a[%tx] : memref<64xi32>
    %z = memref.load %b[%tx] : memref<64xf32>
    %sum = func.call @called(%z) : (f32) -> f32
    memref.store %sum, %b[%tx] : memref<64xf32>
    gpu.terminator
  }
  return
}
