// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-hoist-allocs)' -o %t.once
// RUN: FileCheck %s --input-file=%t.once
// RUN: mlir-opt %t.once --pass-pipeline='builtin.module(workgroup-hoist-allocs)' | diff %t.once -
// RUN: mlir-opt %s --pass-pipeline='builtin.module(gpu-kernel-outlining,workgroup-hoist-allocs)' | FileCheck %s --check-prefix=OUTLINED

// Buffers are aligned to what accesses, copies by TMA and mbarriers take for granted.

!group = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
!plain = !nvgpu.tensormap.descriptor<tensor = memref<64x8xf32, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>
!swizzle32 = !nvgpu.tensormap.descriptor<tensor = memref<64x8xf32, 3>, swizzle = swizzle_32b, l2promo = none, oob = zero, interleave = none>
!swizzle64 = !nvgpu.tensormap.descriptor<tensor = memref<64x16xf32, 3>, swizzle = swizzle_64b, l2promo = none, oob = zero, interleave = none>
!swizzle128 = !nvgpu.tensormap.descriptor<tensor = memref<64x32xf32, 3>, swizzle = swizzle_128b, l2promo = none, oob = zero, interleave = none>

gpu.module @kernels {
  // What accesses promise their buffer has to keep: here 64 bytes through views,
  // and 32 in any iteration of a loop that swaps two.
  // CHECK-LABEL: gpu.func @promises
  // CHECK-SAME:    workgroup(%{{.+}} : memref<1024xi8, {{.+}}> {llvm.align = 64 : i64}, %{{.+}} : memref<64xf32, {{.+}}> {llvm.align = 32 : i64}, %{{.+}} : memref<64xf32, {{.+}}> {llvm.align = 32 : i64}, %{{.+}} : memref<64xf32, {{.+}}> {llvm.align = 256 : i64})
  gpu.func @promises(%i: index, %n: index, %c: i1, %out: memref<64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %bytes = memref.alloc() : memref<1024xi8, 3>
    %tile = memref.view %bytes[%i][] : memref<1024xi8, 3> to memref<8x8xf32, 3>
    %row = memref.subview %tile[2, 0] [1, 8] [1, 1] : memref<8x8xf32, 3> to memref<8xf32, strided<[1], offset: 16>, 3>
    %x = vector.load %row[%i] {alignment = 64} : memref<8xf32, strided<[1], offset: 16>, 3>, vector<8xf32>
    %a = memref.alloc() : memref<64xf32, #gpu.address_space<workgroup>>
    %b = memref.alloc() : memref<64xf32, #gpu.address_space<workgroup>>
    %last:2 = scf.for %j = %c0 to %n step %c1 iter_args(%u = %a, %v = %b) -> (memref<64xf32, #gpu.address_space<workgroup>>, memref<64xf32, #gpu.address_space<workgroup>>) {
      vector.store %x, %u[%i] {alignment = 32} : memref<64xf32, #gpu.address_space<workgroup>>, vector<8xf32>
      scf.yield %v, %u : memref<64xf32, #gpu.address_space<workgroup>>, memref<64xf32, #gpu.address_space<workgroup>>
    }
    %assumed = memref.alloca() : memref<64xf32, #nvvm.memory_space<shared>>
    %d = memref.assume_alignment %assumed, 256 : memref<64xf32, #nvvm.memory_space<shared>>
    %chosen = arith.select %c, %d, %assumed : memref<64xf32, #nvvm.memory_space<shared>>
    %y = memref.load %chosen[%i] : memref<64xf32, #nvvm.memory_space<shared>>
    memref.store %y, %out[%i] : memref<64xf32>
    gpu.return
  }

  // A promise at a place that no alignment of the buffer makes true is no reason to
  // raise it; one of less than is there already neither.
  // CHECK-LABEL: gpu.func @broken_promises
  // CHECK-SAME:    workgroup(%{{.+}} : memref<64xf32, {{.+}}> {llvm.align = 16 : i64}, %{{.+}} : memref<64xf32, {{.+}}> {llvm.align = 128 : i64})
  gpu.func @broken_promises(%i: index, %out: memref<64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %a = memref.alloc() : memref<64xf32, 3>
    %part = memref.subview %a[8] [8] [1] : memref<64xf32, 3> to memref<8xf32, strided<[1], offset: 8>, 3>
    %x = vector.load %part[%c4] {alignment = 32} : memref<8xf32, strided<[1], offset: 8>, 3>, vector<4xf32>
    %wrong = memref.assume_alignment %part, 64 : memref<8xf32, strided<[1], offset: 8>, 3>
    vector.store %x, %wrong[%c0] : memref<8xf32, strided<[1], offset: 8>, 3>, vector<4xf32>
    %b = memref.alloc() {alignment = 128 : i64} : memref<64xf32, 3>
    vector.store %x, %b[%i] {alignment = 64} : memref<64xf32, 3>, vector<4xf32>
    gpu.return
  }

  // What instructions need, whatever `default-alignment` is.
  // CHECK-LABEL: gpu.func @instructions
  // CHECK-SAME:    {llvm.align = 16 : i64}, %{{[^:]+}} : memref<64x8xf32, {{[^}]+}}> {llvm.align = 128 : i64}, %{{[^:]+}} : memref<64x8xf32, {{[^}]+}}> {llvm.align = 256 : i64}, %{{[^:]+}} : memref<64x16xf32, {{[^}]+}}> {llvm.align = 512 : i64}, %{{[^:]+}} : memref<2x64x32xf32, {{[^}]+}}> {llvm.align = 1024 : i64}) kernel
  gpu.func @instructions(%in: memref<64xf32>, %i: index, %m0: !plain, %m1: !swizzle32, %m2: !swizzle64, %m3: !swizzle128) kernel {
    %c0 = arith.constant 0 : index
    %rows = memref.alloc() : memref<16x8xf16, 3>
    %f = nvgpu.ldmatrix %rows[%i, %c0] {numTiles = 2 : i32, transpose = false} : memref<16x8xf16, 3> -> vector<2x2xf16>
    %full = nvgpu.mbarrier.create -> !group
    %a = memref.alloc() : memref<64x8xf32, 3>
    nvgpu.tma.async.load %m0[%c0, %c0], %full[%c0] to %a : !plain, !group -> memref<64x8xf32, 3>
    %b = memref.alloc() : memref<64x8xf32, 3>
    nvgpu.tma.async.load %m1[%c0, %c0], %full[%c0] to %b : !swizzle32, !group -> memref<64x8xf32, 3>
    %c = memref.alloc() : memref<64x16xf32, 3>
    nvgpu.tma.async.store %c to %m2[%c0, %c0] : memref<64x16xf32, 3> -> !swizzle64
    %ring = memref.alloc() : memref<2x64x32xf32, 3>
    %slot = memref.subview %ring[%i, 0, 0] [1, 64, 32] [1, 1, 1] : memref<2x64x32xf32, 3> to memref<64x32xf32, strided<[32, 1], offset: ?>, 3>
    %dense = memref.cast %slot : memref<64x32xf32, strided<[32, 1], offset: ?>, 3> to memref<64x32xf32, strided<[?, ?], offset: ?>, 3>
    %tile = memref.cast %dense : memref<64x32xf32, strided<[?, ?], offset: ?>, 3> to memref<64x32xf32, 3>
    nvgpu.tma.async.load %m3[%c0, %c0], %full[%c0] to %tile : !swizzle128, !group -> memref<64x32xf32, 3>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @asynchronous_copy
  // CHECK-SAME:    {llvm.align = 16 : i64})
  gpu.func @asynchronous_copy(%in: memref<64xf32>, %i: index) kernel {
    %a = memref.alloc() : memref<64xf32, 3>
    %token = nvgpu.device_async_copy %in[%i], %a[%i], 4 : memref<64xf32> to memref<64xf32, 3>
    gpu.return
  }

  // What a callee needs of the second of its arguments, when it gets the same twice.
  // CHECK-LABEL: gpu.func @passed_twice
  // CHECK-SAME:    {llvm.align = 256 : i64}) kernel
  gpu.func @passed_twice(%x: vector<4xf32>, %i: index) kernel {
    %a = memref.alloc() : memref<64xf32, 3>
    func.call @second(%a, %a, %x, %i) : (memref<64xf32, 3>, memref<64xf32, 3>, vector<4xf32>, index) -> ()
    gpu.return
  }
  func.func @second(%a: memref<64xf32, 3>, %b: memref<64xf32, 3>, %x: vector<4xf32>, %i: index) {
    vector.store %x, %b[%i] {alignment = 256} : memref<64xf32, 3>, vector<4xf32>
    return
  }

  // The operand of a matrix instruction of a warp group.
  // CHECK-LABEL: gpu.func @matrix
  // CHECK-SAME:    {llvm.align = 1024 : i64}) kernel
  gpu.func @matrix(%map: !nvgpu.tensormap.descriptor<tensor = memref<128x64xf16, 3>, swizzle = swizzle_128b, l2promo = none, oob = zero, interleave = none>) kernel {
    %a = memref.alloc() : memref<128x64xf16, 3>
    %d = nvgpu.warpgroup.generate.descriptor %a, %map : memref<128x64xf16, 3>, !nvgpu.tensormap.descriptor<tensor = memref<128x64xf16, 3>, swizzle = swizzle_128b, l2promo = none, oob = zero, interleave = none> -> !nvgpu.warpgroup.descriptor<tensor = memref<128x64xf16, 3>>
    gpu.return
  }

  // Buffers that are there already get the same: attributions, and globals for
  // whoever uses them.
  // CHECK:       memref.global "private" @table : memref<64xf32, {{.+}}> = uninitialized {alignment = 64 : i64}
  // CHECK:       memref.global "private" @wide : memref<2xvector<16xf32>, {{.+}}> = uninitialized {alignment = 64 : i64}
  // CHECK-LABEL: gpu.func @attribution
  // CHECK-SAME:    workgroup(%{{.+}} : memref<64xf32, {{.+}}> {llvm.align = 128 : i64})
  memref.global "private" @table : memref<64xf32, 3> = uninitialized
  memref.global "private" @wide : memref<2xvector<16xf32>, 3> = uninitialized
  gpu.func @attribution(%i: index, %x: vector<4xf32>) workgroup(%a: memref<64xf32, 3>) kernel {
    vector.store %x, %a[%i] {alignment = 128} : memref<64xf32, 3>, vector<4xf32>
    %table = memref.get_global @table : memref<64xf32, 3>
    vector.store %x, %table[%i] {alignment = 32} : memref<64xf32, 3>, vector<4xf32>
    gpu.return
  }
  func.func @helper(%i: index, %x: vector<4xf32>) {
    %table = memref.get_global @table : memref<64xf32, 3>
    vector.store %x, %table[%i] {alignment = 64} : memref<64xf32, 3>, vector<4xf32>
    return
  }
}

// A launch cannot say it: what needs more than its element waits for outlining.
// CHECK-LABEL: func.func @launch
// CHECK:         workgroup(%[[A:.+]] : memref<64xf32, #gpu.address_space<workgroup>>) {
// CHECK:           %[[B:.+]] = memref.alloc() : memref<64xf32, 3>
// CHECK:           vector.store %{{.+}}, %[[B]]
// OUTLINED:      gpu.func @launch_kernel
// OUTLINED-SAME:   workgroup(%{{.+}} : memref<64xf32, {{.+}}> {llvm.align = 16 : i64}, %{{.+}} : memref<64xf32, {{.+}}> {llvm.align = 32 : i64})
func.func @launch(%x: vector<8xf32>) {
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %a = memref.alloc() : memref<64xf32, 3>
    vector.store %x, %a[%tx] : memref<64xf32, 3>, vector<8xf32>
    %b = memref.alloc() : memref<64xf32, 3>
    vector.store %x, %b[%tx] {alignment = 32} : memref<64xf32, 3>, vector<8xf32>
    gpu.terminator
  }
  return
}
