// Rings before they are lowered: what a ring gives out it keeps apart, for who is done with a
// tile before he gives the slot on.

// RUN: mlir-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(workgroup-verify-sync)' -o /dev/null

!tile = memref<128xf32, #gpu.address_space<workgroup>>
!ring = !workgroup.ring<3 slots of !tile>

gpu.module @right {
  gpu.func @ring(%in: memref<?x128xf32> {llvm.noalias}, %out: memref<?x128xf32> {llvm.noalias}, %n: index)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %ring = workgroup.ring : !ring
    scf.for %o = %c0 to %n step %c1 {
      scf.for %i = %c0 to %n step %c1 {
        %source = memref.subview %in[%i, 0] [1, 128] [1, 1] : memref<?x128xf32> to memref<128xf32, strided<[1], offset: ?>>
        %empty = workgroup.put %ring : !ring -> !tile
        workgroup.copy %source to %empty : memref<128xf32, strided<[1], offset: ?>> to !tile
        workgroup.commit %ring : !ring
        %full = workgroup.get %ring : !ring -> !tile
        %x = memref.load %full[%u] : !tile
        scf.for %k = %c0 to %n step %c1 {
          %part = memref.subview %full[1] [127] [1] : !tile to memref<127xf32, strided<[1], offset: 1>, #gpu.address_space<workgroup>>
          %y = memref.load %part[%k] : memref<127xf32, strided<[1], offset: 1>, #gpu.address_space<workgroup>>
          %z = arith.addf %x, %y : f32
          memref.store %z, %out[%i, %t] : memref<?x128xf32>
        }
        workgroup.release %ring : !ring
      }
    }
    gpu.return
  }

  // Threads that fill a tile by themselves are waited for, too.
  gpu.func @filled(%out: memref<?x128xf32> {llvm.noalias}, %v: f32, %n: index)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %ring = workgroup.ring : !ring
    scf.for %i = %c0 to %n step %c1 {
      %empty = workgroup.put %ring : !ring -> !tile
      memref.store %v, %empty[%t] : !tile
      workgroup.commit %ring : !ring
      %full = workgroup.get %ring : !ring -> !tile
      %x = memref.load %full[%u] : !tile
      workgroup.release %ring : !ring
      memref.store %x, %out[%i, %t] : memref<?x128xf32>
    }
    gpu.return
  }
}

// -----

!tile = memref<128xf32, #gpu.address_space<workgroup>>
!ring = !workgroup.ring<3 slots of !tile>

gpu.module @wrong {
  // The slot may be filled again.
  gpu.func @released(%in: memref<?x128xf32> {llvm.noalias}, %out: memref<?x128xf32> {llvm.noalias}, %n: index)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %t = gpu.thread_id x
    %ring = workgroup.ring : !ring
    scf.for %i = %c0 to %n step %c1 {
      %source = memref.subview %in[%i, 0] [1, 128] [1, 1] : memref<?x128xf32> to memref<128xf32, strided<[1], offset: ?>>
      %empty = workgroup.put %ring : !ring -> !tile
      // expected-note @+2 {{the other access: 'workgroup.copy' writes}}
      // expected-warning @+1 {{possible data race on workgroup memory}}
      workgroup.copy %source to %empty : memref<128xf32, strided<[1], offset: ?>> to !tile
      workgroup.commit %ring : !ring
      %full = workgroup.get %ring : !ring -> !tile
      workgroup.release %ring : !ring
      %x = memref.load %full[%t] : !tile
      memref.store %x, %out[%i, %t] : memref<?x128xf32>
    }
    gpu.return
  }

  // Threads write to the tile that they read: one of the other one.
  gpu.func @read_tile_written(%v: f32, %out: memref<?x128xf32> {llvm.noalias}, %n: index)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %ring = workgroup.ring : !ring
    scf.for %i = %c0 to %n step %c1 {
      %empty = workgroup.put %ring : !ring -> !tile
      memref.store %v, %empty[%t] : !tile
      workgroup.commit %ring : !ring
      %full = workgroup.get %ring : !ring -> !tile
      // expected-note @+1 {{the other access: 'memref.store' writes}}
      memref.store %v, %full[%t] : !tile
      // expected-warning @+1 {{possible data race on workgroup memory}}
      %x = memref.load %full[%u] : !tile
      workgroup.release %ring : !ring
      memref.store %x, %out[%i, %t] : memref<?x128xf32>
    }
    gpu.return
  }

  // Until the tile is got, the copy may still read its source.
  gpu.func @source_written(%in: memref<?x128xf32> {llvm.noalias}, %v: f32, %n: index)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %t = gpu.thread_id x
    %ring = workgroup.ring : !ring
    scf.for %i = %c0 to %n step %c1 {
      %source = memref.subview %in[%i, 0] [1, 128] [1, 1] : memref<?x128xf32> to memref<128xf32, strided<[1], offset: ?>>
      %empty = workgroup.put %ring : !ring -> !tile
      // expected-note @+1 {{the other access: 'workgroup.copy' reads}}
      workgroup.copy %source to %empty : memref<128xf32, strided<[1], offset: ?>> to !tile
      workgroup.commit %ring : !ring
      gpu.barrier
      // expected-warning @+1 {{possible data race on global memory}}
      memref.store %v, %in[%i, %t] : memref<?x128xf32>
      %full = workgroup.get %ring : !ring -> !tile
      workgroup.release %ring : !ring
    }
    gpu.return
  }
}

// -----

// A copy that the ring knows nothing of is not waited for.
!tile = memref<128xf32, #gpu.address_space<workgroup>>
!ring = !workgroup.ring<3 slots of !tile>
gpu.module @m {
  gpu.func @async_put(%in: memref<?x128xf32> {llvm.noalias}, %out: memref<?x128xf32> {llvm.noalias}, %n: index)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c127 = arith.constant 127 : index
    %t = gpu.thread_id x
    %u = arith.subi %c127, %t : index
    %ring = workgroup.ring : !ring
    scf.for %i = %c0 to %n step %c1 {
      %empty = workgroup.put %ring : !ring -> !tile
      // expected-warning @+2 {{possible data race on workgroup memory}}
      // expected-note @+1 {{the other access}}
      %tok = nvgpu.device_async_copy %in[%i, %t], %empty[%t], 1 : memref<?x128xf32> to !tile
      nvvm.cp.async.commit.group
      workgroup.commit %ring : !ring
      %full = workgroup.get %ring : !ring -> !tile
      %x = memref.load %full[%u] : !tile
      workgroup.release %ring : !ring
      memref.store %x, %out[%i, %t] : memref<?x128xf32>
    }
    nvvm.cp.async.wait.group 0
    gpu.return
  }
}

// -----

// A descriptor of a tile is used when the tile is given back.
!tile = memref<64x64xf16, #gpu.address_space<workgroup>>
!ring = !workgroup.ring<2 slots of !tile>
!wa = !nvgpu.warpgroup.descriptor<tensor=memref<64x64xf16, #gpu.address_space<workgroup>>>
!tm = !nvgpu.tensormap.descriptor<tensor = memref<64x64xf16, 3>, swizzle = swizzle_128b, l2promo=none, oob=zero, interleave=none>
gpu.module @m {
  gpu.func @desc(%in: memref<64x64xf16> {llvm.noalias}, %tm: !tm, %n: index)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %ring = workgroup.ring : !ring
    %acc0 = nvgpu.warpgroup.mma.init.accumulator -> !nvgpu.warpgroup.accumulator<fragmented = vector<64x64xf32>>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %acc0) -> (!nvgpu.warpgroup.accumulator<fragmented = vector<64x64xf32>>) {
      %empty = workgroup.put %ring : !ring -> !tile
      // expected-warning @+2 {{possible data race on workgroup memory}}
      // expected-note @+1 {{the other access}}
      workgroup.copy %in to %empty : memref<64x64xf16> to !tile
      workgroup.commit %ring : !ring
      %full = workgroup.get %ring : !ring -> !tile
      %d = nvgpu.warpgroup.generate.descriptor %full, %tm : !tile, !tm -> !wa
      workgroup.release %ring : !ring
      %m = nvgpu.warpgroup.mma %d, %d, %acc {transposeB} : !wa, !wa, !nvgpu.warpgroup.accumulator<fragmented = vector<64x64xf32>> -> !nvgpu.warpgroup.accumulator<fragmented = vector<64x64xf32>>
      scf.yield %m : !nvgpu.warpgroup.accumulator<fragmented = vector<64x64xf32>>
    }
    gpu.return
  }
}
