// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-resolve-bank-conflicts)' --remarks-filter-missed='workgroup.*' --remark-format=emitRemark --verify-diagnostics -o %t.once
// RUN: FileCheck %s < %t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-resolve-bank-conflicts)' -o %t.twice
// RUN: diff %t.once %t.twice

// TMA swizzles the rows that it writes, and readers do the same.

#wg = #gpu.address_space<workgroup>
!bar = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
!map32 = !nvgpu.tensormap.descriptor<tensor = memref<16x32xf32, #gpu.address_space<workgroup>>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!map16 = !nvgpu.tensormap.descriptor<tensor = memref<16x16xf32, #gpu.address_space<workgroup>>, swizzle = none, l2promo = none, oob = nan, interleave = none>
!map64 = !nvgpu.tensormap.descriptor<tensor = memref<16x64xf32, #gpu.address_space<workgroup>>, swizzle = none, l2promo = none, oob = zero, interleave = none>

module attributes {gpu.container_module} {
// The row by eight, in chunks of four elements. Who reads along rows shares the
// map no more.
// CHECK-LABEL: func.func @launch
// CHECK:         %[[SWIZZLED:.+]] = nvgpu.tma.create.descriptor %{{.+}} -> <{{.*}}swizzle = swizzle_128b
// CHECK-NEXT:    %[[PLAIN:.+]] = nvgpu.tma.create.descriptor %{{.+}} -> <{{.*}}swizzle = none
// CHECK:         %[[TILE:.+]] = memref.alloc() {alignment = 1024 : i64} : memref<16x32xf32
// CHECK:         nvgpu.tma.async.load %[[SWIZZLED]][{{.+}} to %[[TILE]]
// CHECK:         nvgpu.tma.async.load %[[PLAIN]][
// CHECK:         %[[STEP:.+]] = arith.remui %[[X:.+]], %{{.+}} : index
// CHECK:         %[[SHIFT:.+]] = arith.muli %[[STEP]], %{{.+}} overflow<nsw, nuw> : index
// CHECK:         memref.load %[[TILE]][%[[X]], %[[SHIFT]]]
func.func @launch(%a: memref<64x64xf32>) {
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %cast = memref.cast %a : memref<64x64xf32> to memref<*xf32>
  %map = nvgpu.tma.create.descriptor %cast box[%c16, %c32] : memref<*xf32> -> !map32
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c16, %sy = %c1, %sz = %c1) {
    %c0 = arith.constant 0 : index
    %barrier = nvgpu.mbarrier.create -> !bar
    %columns = memref.alloc() : memref<16x32xf32, #wg>
    %rows = memref.alloc() : memref<16x32xf32, #wg>
    nvgpu.tma.async.load %map[%c0, %c0], %barrier[%c0] to %columns : !map32, !bar -> memref<16x32xf32, #wg>
    nvgpu.tma.async.load %map[%c0, %c0], %barrier[%c0] to %rows : !map32, !bar -> memref<16x32xf32, #wg>
    %0 = memref.load %columns[%tx, %c0] : memref<16x32xf32, #wg>
    memref.store %0, %rows[%c0, %tx] : memref<16x32xf32, #wg>
    gpu.terminator
  }
  return
}

// The argument of a kernel and what all of its launches make for it.
// CHECK-LABEL: func.func @outlined
// CHECK:         %[[MAP:.+]] = nvgpu.tma.create.descriptor %{{.+}} -> <{{.*}}swizzle = swizzle_64b{{.*}}oob = nan
// CHECK-NOT:     swizzle = none
// CHECK:         gpu.launch_func @kernels::@kernel {{.*}}args(%[[MAP]] : !nvgpu.tensormap.descriptor<{{.*}}swizzle = swizzle_64b
// CHECK:         %[[AGAIN:.+]] = nvgpu.tma.create.descriptor %{{.+}} -> <{{.*}}swizzle = swizzle_64b
// CHECK:         gpu.launch_func @kernels::@kernel {{.*}}args(%[[AGAIN]]
func.func @outlined(%a: memref<64x64xf32>, %b: memref<32x32xf32>) {
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %a_cast = memref.cast %a : memref<64x64xf32> to memref<*xf32>
  %b_cast = memref.cast %b : memref<32x32xf32> to memref<*xf32>
  %map = nvgpu.tma.create.descriptor %a_cast box[%c16, %c16] : memref<*xf32> -> !map16
  gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c16, %c1, %c1) args(%map : !map16)
  %again = nvgpu.tma.create.descriptor %b_cast box[%c16, %c16] : memref<*xf32> -> !map16
  gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c16, %c1, %c1) args(%again : !map16)
  return
}

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @kernel
  // CHECK-SAME:    (%[[MAP:.+]]: !nvgpu.tensormap.descriptor<{{.*}}swizzle = swizzle_64b{{.*}}) workgroup(%[[TILE:.+]] : memref<16x16xf32, #gpu.address_space<workgroup>> {llvm.align = 512 : i64})
  // CHECK:         nvgpu.tma.async.load %[[MAP]]
  // CHECK:         arith.xori
  gpu.func @kernel(%map: !map16) workgroup(%tile: memref<16x16xf32, #wg>)
      kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    %x = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c3 = arith.constant 3 : index
    %barrier = nvgpu.mbarrier.create -> !bar
    nvgpu.tma.async.load %map[%c0, %c0], %barrier[%c0] to %tile : !map16, !bar -> memref<16x16xf32, #wg>
    %0 = memref.load %tile[%x, %c3] : memref<16x16xf32, #wg>
    memref.store %0, %tile[%x, %c0] : memref<16x16xf32, #wg>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @left
  // CHECK-NOT:     arith.xori
  gpu.func @left(%map: !map32, %long: !map64, %other: index)
      workgroup(
        // expected-remark @+1 {{it is not known who makes the tensor map of TMA}}
        %tile: memref<16x32xf32, #wg>,
        // expected-remark @+1 {{TMA swizzles rows of 32, 64 and 128 bytes, and these have 256}}
        %rows: memref<16x64xf32, #wg>,
        // expected-remark @+1 {{TMA does not write its rows from a multiple of 1024 bytes on}}
        %part: memref<64x32xf32, #wg>,
        // expected-remark @+1 {{its rows have to stay as they are for 'nvgpu.tma.async.load'}}
        %narrow: memref<32x64xf32, #wg>)
      kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    %x = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %barrier = nvgpu.mbarrier.create -> !bar
    nvgpu.tma.async.load %map[%c0, %c0], %barrier[%c0] to %tile : !map32, !bar -> memref<16x32xf32, #wg>
    %0 = memref.load %tile[%x, %c0] : memref<16x32xf32, #wg>
    nvgpu.tma.async.load %long[%c0, %c0], %barrier[%c0] to %rows : !map64, !bar -> memref<16x64xf32, #wg>
    memref.store %0, %rows[%x, %c0] : memref<16x64xf32, #wg>
    %slab = memref.subview %part[4, 0] [16, 32] [1, 1] : memref<64x32xf32, #wg> to memref<16x32xf32, strided<[32, 1], offset: 128>, #wg>
    nvgpu.tma.async.load %map[%c0, %c0], %barrier[%c0] to %slab : !map32, !bar -> memref<16x32xf32, strided<[32, 1], offset: 128>, #wg>
    memref.store %0, %part[%x, %c0] : memref<64x32xf32, #wg>
    %left = memref.subview %narrow[0, 0] [16, 32] [1, 1] : memref<32x64xf32, #wg> to memref<16x32xf32, strided<[64, 1]>, #wg>
    nvgpu.tma.async.load %map[%c0, %c0], %barrier[%c0] to %left : !map32, !bar -> memref<16x32xf32, strided<[64, 1]>, #wg>
    memref.store %0, %narrow[%x, %c0] : memref<32x64xf32, #wg>
    gpu.return
  }
}

// Two tiles by the one map of a kernel, which reads the other along rows: it
// gets a map more.
// CHECK-LABEL: func.func @shared
// CHECK:         %[[SWIZZLED:.+]] = nvgpu.tma.create.descriptor %{{.+}} -> <{{.*}}swizzle = swizzle_128b
// CHECK:         %[[PLAIN:.+]] = nvgpu.tma.create.descriptor %{{.+}} -> <{{.*}}swizzle = none
// CHECK:         gpu.launch_func @more::@shared {{.*}}args(%[[PLAIN]] : {{.*}}, %[[SWIZZLED]] : {{.*}})
func.func @shared(%a: memref<64x64xf32>) {
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %cast = memref.cast %a : memref<64x64xf32> to memref<*xf32>
  %map = nvgpu.tma.create.descriptor %cast box[%c16, %c32] : memref<*xf32> -> !map32
  gpu.launch_func @more::@shared blocks in (%c1, %c1, %c1) threads in (%c16, %c1, %c1) args(%map : !map32)
  return
}

gpu.module @more {
  // CHECK-LABEL: gpu.func @shared
  // CHECK-SAME:    (%[[OTHER:.+]]: !nvgpu.tensormap.descriptor<{{.*}}swizzle = none{{.*}}, %[[MAP:.+]]: !nvgpu.tensormap.descriptor<{{.*}}swizzle = swizzle_128b{{.*}}) workgroup(%[[TILE:.+]] : {{.+}} {llvm.align = 1024 : i64}, %[[ROWS:.+]] : memref
  // CHECK:         nvgpu.tma.async.load %[[MAP]][{{.+}} to %[[TILE]]
  // CHECK:         nvgpu.tma.async.load %[[OTHER]][{{.+}} to %[[ROWS]]
  gpu.func @shared(%map: !map32)
      workgroup(%tile: memref<16x32xf32, #wg>, %other: memref<16x32xf32, #wg>)
      kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    %x = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %barrier = nvgpu.mbarrier.create -> !bar
    nvgpu.tma.async.load %map[%c0, %c0], %barrier[%c0] to %tile : !map32, !bar -> memref<16x32xf32, #wg>
    nvgpu.tma.async.load %map[%c0, %c0], %barrier[%c0] to %other : !map32, !bar -> memref<16x32xf32, #wg>
    %0 = memref.load %tile[%x, %c0] : memref<16x32xf32, #wg>
    memref.store %0, %other[%c0, %x] : memref<16x32xf32, #wg>
    gpu.return
  }
}
}
