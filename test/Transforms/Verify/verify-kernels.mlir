// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-verify-kernels)' --verify-diagnostics -o %t.verified
// RUN: mlir-opt %s -o %t.parsed
// RUN: diff %t.verified %t.parsed

// Everything here is legal: no diagnostic, and nothing changes. Next to each rule
// of verify-kernels-invalid.mlir stands the program that just obeys it.

gpu.module @memory {
  memref.global "private" @table : memref<64xf32, #gpu.address_space<workgroup>> = uninitialized {alignment = 16 : i64}
  memref.global "private" @flags : memref<3xi32, 3> = uninitialized
  memref.global "private" constant @weights : memref<64xf32> = dense<1.0>

  // Attributions in both spellings that the lowering knows. Below 16 bytes LLVM
  // and PTX agree on the alignment; so they do on vectors of 16 bytes.
  gpu.func @attributions(%out: memref<64xf32>, %i: index)
      workgroup(%a: memref<64xf32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64},
                %b: memref<64xf32, 3> {llvm.align = 4 : i64},
                %c: memref<3xf32, 3>,
                %d: memref<64xvector<4xf32>, 3>,
                %e: memref<f64, 3>,
                %f: memref<4x4xf32, strided<[4, 1]>, 3> {llvm.align = 16 : i64})
      private(%p: memref<4xf32, #gpu.address_space<private>>) kernel {
    %value = memref.load %a[%i] : memref<64xf32, #gpu.address_space<workgroup>>
    memref.store %value, %p[%i] : memref<4xf32, #gpu.address_space<private>>
    gpu.return
  }

  // Globals with a stated alignment, small ones, and those in other memory.
  gpu.func @globals(%out: memref<64xf32>, %i: index) kernel {
    %table = memref.get_global @table : memref<64xf32, #gpu.address_space<workgroup>>
    %flags = memref.get_global @flags : memref<3xi32, 3>
    %weights = memref.get_global @weights : memref<64xf32>
    %value = memref.load %table[%i] : memref<64xf32, #gpu.address_space<workgroup>>
    memref.store %value, %out[%i] : memref<64xf32>
    gpu.return
  }

  // Memory of a thread, and of the device, is allocated where the program says.
  gpu.func @allocations(%i: index) kernel {
    %a = memref.alloca() : memref<4xf32>
    %b = memref.alloca() : memref<4xf32, #gpu.address_space<private>>
    %c = memref.alloc() : memref<4xf32>
    %d = memref.alloca(%i) : memref<?xf32>
    memref.dealloc %c : memref<4xf32>
    gpu.return
  }

  // A function that kernels call may take workgroup memory.
  func.func private @store(%buffer: memref<64xf32, 3>, %i: index) {
    %zero = arith.constant 0.0 : f32
    memref.store %zero, %buffer[%i] : memref<64xf32, 3>
    return
  }
  gpu.func @passes_buffer(%i: index) workgroup(%a: memref<64xf32, 3> {llvm.align = 16 : i64}) kernel {
    func.call @store(%a, %i) : (memref<64xf32, 3>, index) -> ()
    gpu.return
  }

  // As much as a block can have: 48 KiB with the gap before the second buffer.
  gpu.func @full() workgroup(%a: memref<1xi8, 3> {llvm.align = 16 : i64},
                             %b: memref<12284xf32, 3> {llvm.align = 16 : i64}) kernel {
    gpu.return
  }
}

gpu.module @loops {
  // Loops without a mapping are those of one thread.
  gpu.func @no_mapping(%out: memref<64xf32>, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    scf.forall (%i) in (64) {
      memref.store %zero, %out[%i] : memref<64xf32>
    }
    scf.parallel (%i) = (%c0) to (%n) step (%c1) {
      memref.store %zero, %out[%i] : memref<64xf32>
      scf.reduce
    }
    gpu.return
  }
}

gpu.module @barriers {
  // Conditions, bounds and branches that all threads of the block share.
  gpu.func @uniform(%n: index, %flag: i1) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %block = gpu.block_id x
    %first = arith.cmpi eq, %block, %c0 : index
    gpu.barrier
    scf.if %first {
      gpu.barrier
    } else {
      nvvm.barrier0
    }
    scf.for %i = %block to %n step %c1 {
      gpu.barrier
    }
    cf.cond_br %flag, ^bb1, ^bb2
  ^bb1:
    gpu.barrier
    cf.br ^bb2
  ^bb2:
    gpu.barrier
    gpu.return
  }

  // After a divergent branch, all threads are together again.
  gpu.func @after_divergence(%out: memref<64xf32>) kernel {
    %c16 = arith.constant 16 : index
    %zero = arith.constant 0.0 : f32
    %thread = gpu.thread_id x
    %some = arith.cmpi ult, %thread, %c16 : index
    scf.if %some {
      memref.store %zero, %out[%thread] : memref<64xf32>
    }
    gpu.barrier
    gpu.return
  }

  // One thread is always together with itself, and along a dimension of size one
  // all threads have the same id.
  gpu.func @one_thread(%n: index) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    %thread = gpu.thread_id x
    %some = arith.cmpi ult, %thread, %n : index
    scf.if %some {
      gpu.barrier
    }
    gpu.return
  }
  gpu.func @flat_dimension(%n: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %thread = gpu.thread_id y
    %some = arith.cmpi ult, %thread, %n : index
    scf.if %some {
      gpu.barrier
    }
    gpu.return
  }

  // Barriers of a warp, and of as many threads as they name, are not the block's.
  gpu.func @partial() kernel {
    %c16 = arith.constant 16 : index
    %id = arith.constant 1 : i32
    %count = arith.constant 32 : i32
    %mask = arith.constant -1 : i32
    %thread = gpu.thread_id x
    %some = arith.cmpi ult, %thread, %c16 : index
    scf.if %some {
      nvvm.bar.warp.sync %mask : i32
      nvvm.barrier id = %id number_of_threads = %count
    }
    gpu.return
  }

  // A function is as uniform as its calls.
  func.func private @synchronize(%flag: i1) {
    scf.if %flag {
      gpu.barrier
    }
    return
  }
  gpu.func @calls(%flag: i1) kernel {
    func.call @synchronize(%flag) : (i1) -> ()
    gpu.return
  }
}

gpu.module @matrices {
  // Rows by the lane, which is the linear thread id modulo 32: in a block of 64
  // threads the second warp stays in the tile.
  gpu.func @lanes()
      workgroup(%tile: memref<32x16xf16, 3> {llvm.align = 16 : i64}) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %thread = gpu.thread_id x
    %row = affine.apply affine_map<(d0) -> (d0 mod 32)>(%thread)
    %a = nvgpu.ldmatrix %tile[%row, %c0] {numTiles = 4 : i32, transpose = false} : memref<32x16xf16, 3> -> vector<4x2xf16>
    gpu.return
  }

  // Lanes in x, warps in y.
  gpu.func @warps()
      workgroup(%tile: memref<64x16xf16, 3> {llvm.align = 16 : i64}) kernel
      attributes {known_block_size = array<i32: 32, 2, 1>} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %x = gpu.thread_id x
    %y = gpu.thread_id y
    %first = arith.muli %y, %c32 : index
    %row = arith.addi %first, %x : index
    %a = nvgpu.ldmatrix %tile[%row, %c0] {numTiles = 4 : i32, transpose = false} : memref<64x16xf16, 3> -> vector<4x2xf16>
    gpu.return
  }

  // Not known: the block, the extent, the index, or who gets there.
  gpu.func @unknown_block()
      workgroup(%tile: memref<16x16xf16, 3> {llvm.align = 16 : i64}) kernel {
    %c0 = arith.constant 0 : index
    %thread = gpu.thread_id x
    %a = nvgpu.ldmatrix %tile[%thread, %c0] {numTiles = 4 : i32, transpose = false} : memref<16x16xf16, 3> -> vector<4x2xf16>
    gpu.return
  }
  gpu.func @unknown_places(%n: index)
      workgroup(%tile: memref<16x16xf16, 3> {llvm.align = 16 : i64}) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %thread = gpu.thread_id x
    %view = memref.subview %tile[0, 0] [%n, 16] [1, 1] : memref<16x16xf16, 3> to memref<?x16xf16, strided<[16, 1]>, 3>
    %a = nvgpu.ldmatrix %view[%thread, %c0] {numTiles = 4 : i32, transpose = false} : memref<?x16xf16, strided<[16, 1]>, 3> -> vector<4x2xf16>
    %row = arith.remui %thread, %n : index
    %b = nvgpu.ldmatrix %tile[%row, %c0] {numTiles = 4 : i32, transpose = false} : memref<16x16xf16, 3> -> vector<4x2xf16>
    %some = arith.cmpi ult, %thread, %c16 : index
    scf.if %some {
      %c = nvgpu.ldmatrix %tile[%thread, %c0] {numTiles = 4 : i32, transpose = false} : memref<16x16xf16, 3> -> vector<4x2xf16>
    }
    gpu.return
  }
}

gpu.module @alignment {
  // Promises that the buffer and the place in it keep; those that cannot be
  // refuted; no promise; memory whose alignment is the caller's matter.
  gpu.func @promises(%in: memref<64xf32>, %i: index)
      workgroup(%a: memref<64xf32, 3> {llvm.align = 16 : i64},
                %b: memref<64xf32, 3> {llvm.align = 4 : i64}) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %0 = vector.load %a[%c0] {alignment = 16 : i64} : memref<64xf32, 3>, vector<4xf32>
    vector.store %0, %a[%c4] {alignment = 16 : i64} : memref<64xf32, 3>, vector<4xf32>
    %part = memref.subview %a[8] [16] [1] : memref<64xf32, 3> to memref<16xf32, strided<[1], offset: 8>, 3>
    vector.store %0, %part[%c4] {alignment = 16 : i64} : memref<16xf32, strided<[1], offset: 8>, 3>, vector<4xf32>
    vector.store %0, %a[%i] {alignment = 16 : i64} : memref<64xf32, 3>, vector<4xf32>
    vector.store %0, %b[%c1] {alignment = 4 : i64} : memref<64xf32, 3>, vector<4xf32>
    vector.store %0, %b[%c1] : memref<64xf32, 3>, vector<4xf32>
    vector.store %0, %in[%c0] {alignment = 16 : i64} : memref<64xf32>, vector<4xf32>
    gpu.return
  }
}

gpu.module @dynamic_memory {
  // Alone, dynamic memory overlaps nothing. Next to static buffers it has been
  // lowered to a symbol of its own.
  memref.global @dynamic_workgroup_memory : memref<0xi8, #gpu.address_space<workgroup>> {alignment = 1024 : i64}
  gpu.func @alone(%i: index) kernel {
    %bytes = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    gpu.return
  }
  gpu.func @lowered(%i: index)
      workgroup(%a: memref<64xf32, 3> {llvm.align = 16 : i64}) kernel {
    %bytes = memref.get_global @dynamic_workgroup_memory : memref<0xi8, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// The host copies and allocates what it likes, and a launch may use it; its own
// attributions need no alignment, because a launch cannot state one.
func.func @host(%a: memref<64xf32>, %b: memref<64xf32>) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %buffer = memref.alloc() : memref<64xf32>
  memref.copy %a, %buffer : memref<64xf32> to memref<64xf32>
  linalg.copy ins(%a : memref<64xf32>) outs(%b : memref<64xf32>)
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1)
             workgroup(%w : memref<64xf32, #gpu.address_space<workgroup>>)
             private(%p : memref<2xf32, #gpu.address_space<private>>) {
    %value = memref.load %buffer[%tx] : memref<64xf32>
    memref.store %value, %w[%tx] : memref<64xf32, #gpu.address_space<workgroup>>
    gpu.barrier
    gpu.terminator
  }
  memref.dealloc %buffer : memref<64xf32>
  return
}

gpu.module @exact {
  // The place of an access is known to the width of every operation on the way,
  // and rows of lanes whose address is not used may lie anywhere.
  gpu.func @lanes() workgroup(%tile: memref<16x16xf16, 3> {llvm.align = 16 : i64},
                              %row: memref<8x16xf16, 3> {llvm.align = 16 : i64}) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %thread = gpu.thread_id x
    %nibble = arith.index_cast %thread : index to i4
    %index = arith.index_castui %nibble : i4 to index
    %0 = nvgpu.ldmatrix %tile[%index, %c0] {numTiles = 4 : i32, transpose = false} : memref<16x16xf16, 3> -> vector<4x2xf16>
    %lane = gpu.lane_id
    %1 = nvgpu.ldmatrix %row[%lane, %c0] {numTiles = 1 : i32, transpose = false} : memref<8x16xf16, 3> -> vector<1x2xf16>
    gpu.return
  }

  // A loop that is to be run as one, and an attribution of columns.
  gpu.func @sequential(%out: memref<128xf32>, %n: index)
      workgroup(%a: memref<4x4xf32, strided<[1, 4]>, 3> {llvm.align = 16 : i64}) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    scf.parallel (%i) = (%c0) to (%n) step (%c1) {
      memref.store %zero, %out[%i] : memref<128xf32>
      scf.reduce
    } {mapping = [#gpu.loop_dim_map<processor = sequential, map = (d0) -> (d0), bound = (d0) -> (d0)>]}
    gpu.return
  }
}

gpu.module @conditions {
  // A condition from memory that no thread writes is the same for all.
  gpu.func @loaded_condition(%flags: memref<i1>) kernel {
    %flag = memref.load %flags[] : memref<i1>
    scf.if %flag {
      gpu.barrier
    }
    gpu.return
  }

  // What was lowered was verified before.
  llvm.func @lowered(%c: i1) attributes {gpu.kernel, nvvm.kernel} {
    llvm.cond_br %c, ^then, ^end
  ^then:
    nvvm.barrier0
    llvm.br ^end
  ^end:
    llvm.return
  }
}

// A variable that nobody writes may have copies.
memref.global "private" @parameters : memref<1xi32> = dense<7>
gpu.module @first_reader {
  memref.global "private" @parameters : memref<1xi32> = dense<7>
  gpu.func @kernel(%out: memref<1xi32>, %i: index) kernel {
    %0 = memref.get_global @parameters : memref<1xi32>
    %1 = memref.load %0[%i] : memref<1xi32>
    memref.store %1, %out[%i] : memref<1xi32>
    gpu.return
  }
}
gpu.module @second_reader {
  memref.global "private" @parameters : memref<1xi32> = dense<7>
  gpu.func @kernel(%out: memref<1xi32>, %i: index) kernel {
    %0 = memref.get_global @parameters : memref<1xi32>
    %1 = memref.load %0[%i] : memref<1xi32>
    memref.store %1, %out[%i] : memref<1xi32>
    gpu.return
  }
}

// Nobody executes what stands in no function.
gpu.barrier
gpu.module @outside {
  gpu.barrier
}

// A slice with fewer dimensions than the buffer begins where the strides of the
// buffer say.
gpu.module @rows {
  gpu.func @kernel(%out: memref<4xf32>, %i: index) workgroup(%w: memref<4x8xf32, 3> {llvm.align = 16}) kernel {
    %c0 = arith.constant 0 : index
    %row = memref.subview %w[1, 4] [1, 4] [1, 1] : memref<4x8xf32, 3> to memref<4xf32, strided<[1], offset: 12>, 3>
    %v = vector.load %row[%c0] {alignment = 16 : i64} : memref<4xf32, strided<[1], offset: 12>, 3>, vector<4xf32>
    vector.store %v, %out[%c0] : memref<4xf32>, vector<4xf32>
    gpu.return
  }
}
