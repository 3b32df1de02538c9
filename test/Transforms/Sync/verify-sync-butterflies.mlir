// What a lane has after it has combined it with that of the lane whose number differs in one bit, for each of the five bits, all lanes of the warp have: that all store it at the place of their warp is no
// race.

// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-verify-sync)' --verify-diagnostics -o /dev/null

gpu.module @kernels {
  gpu.func @sums(%x: memref<64xf32>, %out: memref<64xf32>) workgroup(%s: memref<64xf32, 3>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %c32 = arith.constant 32 : index
    %c1 = arith.constant 1 : index
    %width = arith.constant 32 : i32
    %by1 = arith.constant 1 : i32
    %by2 = arith.constant 2 : i32
    %by4 = arith.constant 4 : i32
    %by8 = arith.constant 8 : i32
    %by16 = arith.constant 16 : i32
    %warp = arith.divui %t, %c32 : index
    %other = arith.subi %c1, %warp : index
    %v0 = memref.load %x[%t] : memref<64xf32>
    %o0, %is0 = gpu.shuffle xor %v0, %by16, %width : f32
    %v1 = arith.addf %o0, %v0 : f32
    %o1, %is1 = gpu.shuffle xor %v1, %by8, %width : f32
    %v2 = arith.addf %o1, %v1 : f32
    %o2, %is2 = gpu.shuffle xor %v2, %by4, %width : f32
    %v3 = arith.addf %o2, %v2 : f32
    %o3, %is3 = gpu.shuffle xor %v3, %by2, %width : f32
    %v4 = arith.addf %o3, %v3 : f32
    %o4, %is4 = gpu.shuffle xor %v4, %by1, %width : f32
    %v5 = arith.addf %o4, %v4 : f32
    memref.store %v5, %s[%warp] : memref<64xf32, 3>
    gpu.barrier
    %sum = memref.load %s[%other] : memref<64xf32, 3>
    memref.store %sum, %out[%t] : memref<64xf32>
    gpu.return
  }

  gpu.func @in_any_order(%x: memref<64xf32>, %out: memref<64xf32>) workgroup(%s: memref<64xf32, 3>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %c32 = arith.constant 32 : index
    %c1 = arith.constant 1 : index
    %width = arith.constant 32 : i32
    %by1 = arith.constant 1 : i32
    %by2 = arith.constant 2 : i32
    %by4 = arith.constant 4 : i32
    %by8 = arith.constant 8 : i32
    %by16 = arith.constant 16 : i32
    %warp = arith.divui %t, %c32 : index
    %other = arith.subi %c1, %warp : index
    %v0 = memref.load %x[%t] : memref<64xf32>
    %o0, %is0 = gpu.shuffle xor %v0, %by1, %width : f32
    %v1 = arith.mulf %o0, %v0 : f32
    %o1, %is1 = gpu.shuffle xor %v1, %by16, %width : f32
    %v2 = arith.mulf %o1, %v1 : f32
    %o2, %is2 = gpu.shuffle xor %v2, %by2, %width : f32
    %v3 = arith.mulf %o2, %v2 : f32
    %o3, %is3 = gpu.shuffle xor %v3, %by8, %width : f32
    %v4 = arith.mulf %o3, %v3 : f32
    %o4, %is4 = gpu.shuffle xor %v4, %by4, %width : f32
    %v5 = arith.mulf %o4, %v4 : f32
    memref.store %v5, %s[%warp] : memref<64xf32, 3>
    gpu.barrier
    %sum = memref.load %s[%other] : memref<64xf32, 3>
    memref.store %sum, %out[%t] : memref<64xf32>
    gpu.return
  }

  gpu.func @maxima(%x: memref<64xf32>, %out: memref<64xf32>) workgroup(%s: memref<64xf32, 3>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %c32 = arith.constant 32 : index
    %c1 = arith.constant 1 : index
    %all = arith.constant -1 : i32
    %clamp = arith.constant 31 : i32
    %by1 = arith.constant 1 : i32
    %by2 = arith.constant 2 : i32
    %by4 = arith.constant 4 : i32
    %by8 = arith.constant 8 : i32
    %by16 = arith.constant 16 : i32
    %warp = arith.divui %t, %c32 : index
    %other = arith.subi %c1, %warp : index
    %v0 = memref.load %x[%t] : memref<64xf32>
    %o0 = nvvm.shfl.sync bfly %all, %v0, %by16, %clamp : f32 -> f32
    %v1 = llvm.intr.maxnum(%v0, %o0) : (f32, f32) -> f32
    %o1 = nvvm.shfl.sync bfly %all, %v1, %by8, %clamp : f32 -> f32
    %v2 = llvm.intr.maxnum(%v1, %o1) : (f32, f32) -> f32
    %o2 = nvvm.shfl.sync bfly %all, %v2, %by4, %clamp : f32 -> f32
    %v3 = llvm.intr.maxnum(%v2, %o2) : (f32, f32) -> f32
    %o3 = nvvm.shfl.sync bfly %all, %v3, %by2, %clamp : f32 -> f32
    %v4 = llvm.intr.maxnum(%v3, %o3) : (f32, f32) -> f32
    %o4 = nvvm.shfl.sync bfly %all, %v4, %by1, %clamp : f32 -> f32
    %v5 = llvm.intr.maxnum(%v4, %o4) : (f32, f32) -> f32
    memref.store %v5, %s[%warp] : memref<64xf32, 3>
    gpu.barrier
    %sum = memref.load %s[%other] : memref<64xf32, 3>
    memref.store %sum, %out[%t] : memref<64xf32>
    gpu.return
  }

  gpu.func @sums_of_llvm(%x: memref<64xf32>, %out: memref<64xf32>) workgroup(%s: memref<64xf32, 3>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %c32 = arith.constant 32 : index
    %c1 = arith.constant 1 : index
    %all = arith.constant -1 : i32
    %clamp = arith.constant 31 : i32
    %by1 = arith.constant 1 : i32
    %by2 = arith.constant 2 : i32
    %by4 = arith.constant 4 : i32
    %by8 = arith.constant 8 : i32
    %by16 = arith.constant 16 : i32
    %warp = arith.divui %t, %c32 : index
    %other = arith.subi %c1, %warp : index
    %v0 = memref.load %x[%t] : memref<64xf32>
    %o0 = nvvm.shfl.sync bfly %all, %v0, %by16, %clamp : f32 -> f32
    %v1 = llvm.fadd %o0, %v0 : f32
    %o1 = nvvm.shfl.sync bfly %all, %v1, %by8, %clamp : f32 -> f32
    %v2 = llvm.fadd %o1, %v1 : f32
    %o2 = nvvm.shfl.sync bfly %all, %v2, %by4, %clamp : f32 -> f32
    %v3 = llvm.fadd %o2, %v2 : f32
    %o3 = nvvm.shfl.sync bfly %all, %v3, %by2, %clamp : f32 -> f32
    %v4 = llvm.fadd %o3, %v3 : f32
    %o4 = nvvm.shfl.sync bfly %all, %v4, %by1, %clamp : f32 -> f32
    %v5 = llvm.fadd %o4, %v4 : f32
    memref.store %v5, %s[%warp] : memref<64xf32, 3>
    gpu.barrier
    %sum = memref.load %s[%other] : memref<64xf32, 3>
    memref.store %sum, %out[%t] : memref<64xf32>
    gpu.return
  }

  gpu.func @of_nvvm(%x: memref<64xf32>, %out: memref<64xf32>) workgroup(%s: memref<64xf32, 3>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %c32 = arith.constant 32 : index
    %c1 = arith.constant 1 : index
    %all = arith.constant -1 : i32
    %clamp = arith.constant 31 : i32
    %by1 = arith.constant 1 : i32
    %by2 = arith.constant 2 : i32
    %by4 = arith.constant 4 : i32
    %by8 = arith.constant 8 : i32
    %by16 = arith.constant 16 : i32
    %warp = arith.divui %t, %c32 : index
    %other = arith.subi %c1, %warp : index
    %v0 = memref.load %x[%t] : memref<64xf32>
    %o0 = nvvm.shfl.sync bfly %all, %v0, %by16, %clamp : f32 -> f32
    %v1 = arith.addf %o0, %v0 : f32
    %o1 = nvvm.shfl.sync bfly %all, %v1, %by8, %clamp : f32 -> f32
    %v2 = arith.addf %o1, %v1 : f32
    %o2 = nvvm.shfl.sync bfly %all, %v2, %by4, %clamp : f32 -> f32
    %v3 = arith.addf %o2, %v2 : f32
    %o3 = nvvm.shfl.sync bfly %all, %v3, %by2, %clamp : f32 -> f32
    %v4 = arith.addf %o3, %v3 : f32
    %o4 = nvvm.shfl.sync bfly %all, %v4, %by1, %clamp : f32 -> f32
    %v5 = arith.addf %o4, %v4 : f32
    memref.store %v5, %s[%warp] : memref<64xf32, 3>
    gpu.barrier
    %sum = memref.load %s[%other] : memref<64xf32, 3>
    memref.store %sum, %out[%t] : memref<64xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // Lanes of odd and of even numbers have different sums, which nobody looks for.
  gpu.func @one_bit_is_missing(%x: memref<64xf32>, %out: memref<64xf32>) workgroup(%s: memref<64xf32, 3>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %c32 = arith.constant 32 : index
    %c1 = arith.constant 1 : index
    %width = arith.constant 32 : i32
    %by2 = arith.constant 2 : i32
    %by4 = arith.constant 4 : i32
    %by8 = arith.constant 8 : i32
    %by16 = arith.constant 16 : i32
    %warp = arith.divui %t, %c32 : index
    %other = arith.subi %c1, %warp : index
    %v0 = memref.load %x[%t] : memref<64xf32>
    %o0, %is0 = gpu.shuffle xor %v0, %by16, %width : f32
    %v1 = arith.addf %o0, %v0 : f32
    %o1, %is1 = gpu.shuffle xor %v1, %by8, %width : f32
    %v2 = arith.addf %o1, %v1 : f32
    %o2, %is2 = gpu.shuffle xor %v2, %by4, %width : f32
    %v3 = arith.addf %o2, %v2 : f32
    %o3, %is3 = gpu.shuffle xor %v3, %by2, %width : f32
    %v4 = arith.addf %o3, %v3 : f32
    // expected-warning @below {{what they write is made of what lanes have exchanged, and may be the same}}
    // expected-note @below {{the other access}}
    memref.store %v4, %s[%warp] : memref<64xf32, 3>
    gpu.barrier
    %sum = memref.load %s[%other] : memref<64xf32, 3>
    memref.store %sum, %out[%t] : memref<64xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @one_bit_twice(%x: memref<64xf32>, %out: memref<64xf32>) workgroup(%s: memref<64xf32, 3>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %c32 = arith.constant 32 : index
    %c1 = arith.constant 1 : index
    %width = arith.constant 32 : i32
    %by2 = arith.constant 2 : i32
    %by4 = arith.constant 4 : i32
    %by8 = arith.constant 8 : i32
    %by16 = arith.constant 16 : i32
    %warp = arith.divui %t, %c32 : index
    %other = arith.subi %c1, %warp : index
    %v0 = memref.load %x[%t] : memref<64xf32>
    %o0, %is0 = gpu.shuffle xor %v0, %by16, %width : f32
    %v1 = arith.addf %o0, %v0 : f32
    %o1, %is1 = gpu.shuffle xor %v1, %by8, %width : f32
    %v2 = arith.addf %o1, %v1 : f32
    %o2, %is2 = gpu.shuffle xor %v2, %by4, %width : f32
    %v3 = arith.addf %o2, %v2 : f32
    %o3, %is3 = gpu.shuffle xor %v3, %by2, %width : f32
    %v4 = arith.addf %o3, %v3 : f32
    %o4, %is4 = gpu.shuffle xor %v4, %by2, %width : f32
    %v5 = arith.addf %o4, %v4 : f32
    // expected-warning @below {{what they write is made of what lanes have exchanged, and may be the same}}
    // expected-note @below {{the other access}}
    memref.store %v5, %s[%warp] : memref<64xf32, 3>
    gpu.barrier
    %sum = memref.load %s[%other] : memref<64xf32, 3>
    memref.store %sum, %out[%t] : memref<64xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // What comes first makes a difference.
  gpu.func @differences(%x: memref<64xf32>, %out: memref<64xf32>) workgroup(%s: memref<64xf32, 3>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %c32 = arith.constant 32 : index
    %c1 = arith.constant 1 : index
    %width = arith.constant 32 : i32
    %by1 = arith.constant 1 : i32
    %by2 = arith.constant 2 : i32
    %by4 = arith.constant 4 : i32
    %by8 = arith.constant 8 : i32
    %by16 = arith.constant 16 : i32
    %warp = arith.divui %t, %c32 : index
    %other = arith.subi %c1, %warp : index
    %v0 = memref.load %x[%t] : memref<64xf32>
    %o0, %is0 = gpu.shuffle xor %v0, %by16, %width : f32
    %v1 = arith.subf %o0, %v0 : f32
    %o1, %is1 = gpu.shuffle xor %v1, %by8, %width : f32
    %v2 = arith.subf %o1, %v1 : f32
    %o2, %is2 = gpu.shuffle xor %v2, %by4, %width : f32
    %v3 = arith.subf %o2, %v2 : f32
    %o3, %is3 = gpu.shuffle xor %v3, %by2, %width : f32
    %v4 = arith.subf %o3, %v3 : f32
    %o4, %is4 = gpu.shuffle xor %v4, %by1, %width : f32
    %v5 = arith.subf %o4, %v4 : f32
    // expected-warning @below {{what they write is made of what lanes have exchanged, and may be the same}}
    // expected-note @below {{the other access}}
    memref.store %v5, %s[%warp] : memref<64xf32, 3>
    gpu.barrier
    %sum = memref.load %s[%other] : memref<64xf32, 3>
    memref.store %sum, %out[%t] : memref<64xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // Warps have different sums.
  gpu.func @of_two_warps(%x: memref<64xf32>, %out: memref<64xf32>) workgroup(%s: memref<64xf32, 3>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %c32 = arith.constant 32 : index
    %c1 = arith.constant 1 : index
    %width = arith.constant 32 : i32
    %by1 = arith.constant 1 : i32
    %by2 = arith.constant 2 : i32
    %by4 = arith.constant 4 : i32
    %by8 = arith.constant 8 : i32
    %by16 = arith.constant 16 : i32
    %warp = arith.divui %t, %c32 : index
    %other = arith.subi %c1, %warp : index
    %v0 = memref.load %x[%t] : memref<64xf32>
    %o0, %is0 = gpu.shuffle xor %v0, %by16, %width : f32
    %v1 = arith.addf %o0, %v0 : f32
    %o1, %is1 = gpu.shuffle xor %v1, %by8, %width : f32
    %v2 = arith.addf %o1, %v1 : f32
    %o2, %is2 = gpu.shuffle xor %v2, %by4, %width : f32
    %v3 = arith.addf %o2, %v2 : f32
    %o3, %is3 = gpu.shuffle xor %v3, %by2, %width : f32
    %v4 = arith.addf %o3, %v3 : f32
    %o4, %is4 = gpu.shuffle xor %v4, %by1, %width : f32
    %v5 = arith.addf %o4, %v4 : f32
    // expected-error @below {{cannot synchronize 'memref.store' and 'memref.store' on workgroup memory}}
    // expected-note @below {{the other access}}
    memref.store %v5, %s[%c1] : memref<64xf32, 3>
    gpu.barrier
    %sum = memref.load %s[%other] : memref<64xf32, 3>
    memref.store %sum, %out[%t] : memref<64xf32>
    gpu.return
  }
}
