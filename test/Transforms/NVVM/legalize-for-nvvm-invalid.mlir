// RUN: mlir-opt %s --pass-pipeline='builtin.module(workgroup-legalize-for-nvvm)' --split-input-file --verify-diagnostics

// A structured operation that nobody has distributed, in a block of several
// threads.
gpu.module @kernels {
  gpu.func @several_threads(%a: memref<64x64xf32>) kernel
      attributes {known_block_size = array<i32: 16, 4, 1>} {
    // expected-error @+1 {{'linalg.matmul' op is not distributed over the 64 threads of its block: each of them would do all of its work and race on the result; map it to threads in tiles of constant size, lower it to loops by the schedule, or launch one thread per block}}
    linalg.matmul ins(%a, %a : memref<64x64xf32>, memref<64x64xf32>) outs(%a : memref<64x64xf32>)
    gpu.return
  }
}

// -----

// Nobody knows how many threads there will be.
gpu.module @kernels {
  gpu.func @unknown_threads(%a: memref<64xf32>, %c: i1) kernel {
    %zero = arith.constant 0.0 : f32
    scf.if %c {
      // expected-error @+1 {{'linalg.fill' op is not distributed over the threads of its block, whose number is not known: each of them}}
      linalg.fill ins(%zero : f32) outs(%a : memref<64xf32>)
    }
    gpu.return
  }
}

// -----

// In a launch, whose sizes may be no constants.
func.func @in_launch(%a: memref<64xf32>, %n: index) {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %n, %sy = %c1, %sz = %c1) {
    // expected-error @+1 {{'linalg.fill' op is not distributed over the threads of its block, whose number is not known}}
    linalg.fill ins(%zero : f32) outs(%a : memref<64xf32>)
    gpu.terminator
  }
  return
}

// -----

// In a function, which kernels of any block may call.
gpu.module @kernels {
  func.func @called(%a: memref<64xf32>, %zero: f32) {
    // expected-error @+1 {{'linalg.fill' op is not distributed over the threads of its block, whose number is not known}}
    linalg.fill ins(%zero : f32) outs(%a : memref<64xf32>)
    return
  }
}

// -----

// Tensors have no place in memory yet.
gpu.module @kernels {
  gpu.func @tensors(%a: tensor<64xf32>, %zero: f32) kernel
      attributes {known_block_size = array<i32: 1, 1, 1>} {
    // expected-error @+1 {{'linalg.fill' op works on tensors; bufferize it before it is lowered}}
    %filled = linalg.fill ins(%zero : f32) outs(%a : tensor<64xf32>) -> tensor<64xf32>
    gpu.return
  }
}

// -----

// The host is nobody's block.
func.func @on_host(%a: memref<64xf32>, %zero: f32) {
  linalg.fill ins(%zero : f32) outs(%a : memref<64xf32>)
  return
}

// -----

// Threads part for a reason that nobody can see through: all of them may get there.
gpu.module @kernels {
  gpu.func @loaded_condition(%a: memref<64xf32>, %flag: memref<i1>, %zero: f32) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c = memref.load %flag[] : memref<i1>
    scf.if %c {
      // expected-error @+1 {{'linalg.fill' op is not distributed over the 64 threads of its block}}
      linalg.fill ins(%zero : f32) outs(%a : memref<64xf32>)
    }
    gpu.return
  }
}

// -----

// What warps cannot do together, or upstream cannot lower.
gpu.module @kernels {
  gpu.func @warps(%x: f128, %y: f32, %out: memref<f128>, %out2: memref<f32>) kernel {
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    // expected-error @+1 {{'gpu.shuffle' op moves a number of more than 64 bits, or a vector of unknown length; move it by vectors of i32}}
    %0, %p = gpu.shuffle xor %x, %c1, %c32 : f128
    memref.store %0, %out[] : memref<f128>
    // expected-error @+1 {{'gpu.all_reduce' op is not marked uniform; mark it if all threads of the block reach it together}}
    %1 = gpu.all_reduce add %y {} : (f32) -> f32
    // expected-error @+1 {{'gpu.all_reduce' op reduces numbers of more than 64 bits, which no shuffle moves; truncate them}}
    %2 = gpu.all_reduce add %x uniform {} : (f128) -> f128
    // expected-error @+1 {{'gpu.rotate' op has no lowering to NVVM; use gpu.shuffle}}
    %3, %q = gpu.rotate %y, 1, 32 : f32
    memref.store %3, %out2[] : memref<f32>
    gpu.return
  }
  gpu.func @wide(%x: f128, %out: memref<f128>) kernel {
    // expected-error @+1 {{'gpu.subgroup_reduce' op reduces elements that no shuffle moves; extend them to 32 or 64 bits}}
    %0 = gpu.subgroup_reduce add %x : (f128) -> f128
    memref.store %0, %out[] : memref<f128>
    gpu.return
  }
}

// -----

// Upstream's shuffles would ask for lanes 32 and 64 further, which come out as
// any.
gpu.module @kernels {
  gpu.func @clusters(%x: f32, %out: memref<2xf32>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    // expected-error @+1 {{'gpu.subgroup_reduce' op reduces over clusters that reach beyond the 32 lanes of a warp; make their size or stride smaller}}
    %0 = gpu.subgroup_reduce add %x cluster(size = 16, stride = 8) : (f32) -> f32
    memref.store %0, %out[%c0] : memref<2xf32>
    // expected-error @+1 {{'gpu.subgroup_reduce' op reduces over clusters that reach beyond the 32 lanes of a warp; make their size or stride smaller}}
    %1 = gpu.subgroup_reduce add %x cluster(size = 64) : (f32) -> f32
    memref.store %1, %out[%c1] : memref<2xf32>
    gpu.return
  }
}

// -----

// Half of the threads are still too many.
gpu.module @kernels {
  gpu.func @half(%a: memref<8x8xf32>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c64 = arith.constant 64 : index
    %t = gpu.thread_id x
    %c = arith.cmpi ult, %t, %c64 : index
    scf.if %c {
      // expected-error @+1 {{'linalg.matmul' op is not distributed over the 128 threads of its block}}
      linalg.matmul ins(%a, %a : memref<8x8xf32>, memref<8x8xf32>) outs(%a : memref<8x8xf32>)
    }
    gpu.return
  }
}

// -----

// Parts that overlap; parts that several threads share; one dimension of two.
#half = affine_map<(d0) -> (d0 floordiv 64)>
gpu.module @kernels {
  gpu.func @overlap(%a: memref<64x64xf32>, %zero: f32) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %t = gpu.thread_id x
    %part = memref.subview %a[%t, 0] [2, 64] [1, 1] : memref<64x64xf32> to memref<2x64xf32, strided<[64, 1], offset: ?>>
    // expected-error @+1 {{'linalg.fill' op is not distributed over the 32 threads of its block}}
    linalg.fill ins(%zero : f32) outs(%part : memref<2x64xf32, strided<[64, 1], offset: ?>>)
    gpu.return
  }
}

// -----

#half = affine_map<(d0) -> (d0 floordiv 64)>
gpu.module @kernels {
  gpu.func @shared(%a: memref<2x64xf32>, %zero: f32) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    %i = affine.apply #half(%t)
    %part = memref.subview %a[%i, 0] [1, 64] [1, 1] : memref<2x64xf32> to memref<64xf32, strided<[1], offset: ?>>
    // expected-error @+1 {{'linalg.fill' op is not distributed over the 128 threads of its block}}
    linalg.fill ins(%zero : f32) outs(%part : memref<64xf32, strided<[1], offset: ?>>)
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @one_of_two(%a: memref<64x64xf32>, %zero: f32) kernel
      attributes {known_block_size = array<i32: 8, 8, 1>} {
    %y = gpu.thread_id y
    %part = memref.subview %a[%y, 0] [1, 64] [1, 1] : memref<64x64xf32> to memref<64xf32, strided<[1], offset: ?>>
    // expected-error @+1 {{'linalg.fill' op is not distributed over the 64 threads of its block}}
    linalg.fill ins(%zero : f32) outs(%part : memref<64xf32, strided<[1], offset: ?>>)
    gpu.return
  }
}

// -----

// The host's way to copy.
gpu.module @kernels {
  gpu.func @host_operation(%a: memref<4xf32>, %b: memref<4xf32>) kernel {
    // expected-error @+1 {{'gpu.memcpy' op is an operation of the host, but stands in a kernel; access memory by memref.copy, memref.load and memref.store there}}
    gpu.memcpy %a, %b : memref<4xf32>, memref<4xf32>
    gpu.return
  }
}

// -----

// Neighbours overlap where rows are closer than they are long.
gpu.module @kernels {
  gpu.func @overlapping_layout(%a: memref<64x4xf32, strided<[2, 1]>>, %zero: f32) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %t = gpu.thread_id x
    %row = memref.subview %a[%t, 0] [1, 4] [1, 1] : memref<64x4xf32, strided<[2, 1]>> to memref<4xf32, strided<[1], offset: ?>>
    // expected-error @+1 {{'linalg.fill' op is not distributed over the 32 threads of its block}}
    linalg.fill ins(%zero : f32) outs(%row : memref<4xf32, strided<[1], offset: ?>>)
    gpu.return
  }
}

// -----

// One result of a thread is another result of its neighbour.
#id = affine_map<(i) -> (i)>
#next = affine_map<(d0) -> (d0 + 1)>
gpu.module @kernels {
  gpu.func @two_results(%a: memref<64x4xf32>, %x: memref<4xf32>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %t = gpu.thread_id x
    %u = affine.apply #next(%t)
    %row = memref.subview %a[%t, 0] [1, 4] [1, 1] : memref<64x4xf32> to memref<4xf32, strided<[1], offset: ?>>
    %below = memref.subview %a[%u, 0] [1, 4] [1, 1] : memref<64x4xf32> to memref<4xf32, strided<[1], offset: ?>>
    // expected-error @+1 {{'linalg.generic' op is not distributed over the 32 threads of its block}}
    linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
        ins(%x : memref<4xf32>)
        outs(%row, %below : memref<4xf32, strided<[1], offset: ?>>, memref<4xf32, strided<[1], offset: ?>>) {
    ^bb0(%in: f32, %o: f32, %p: f32):
      linalg.yield %in, %in : f32, f32
    }
    gpu.return
  }
}

// -----

// A step that is not constant; an argument that is another one for each caller.
#scaled = affine_map<(d0)[s0] -> (d0 * s0)>
gpu.module @kernels {
  gpu.func @semi_affine(%a: memref<64x4xf32>, %n: index, %zero: f32) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %t = gpu.thread_id x
    %i = affine.apply #scaled(%t)[%n]
    %row = memref.subview %a[%i, 0] [1, 4] [1, 1] : memref<64x4xf32> to memref<4xf32, strided<[1], offset: ?>>
    // expected-error @+1 {{'linalg.fill' op is not distributed over the 32 threads of its block}}
    linalg.fill ins(%zero : f32) outs(%row : memref<4xf32, strided<[1], offset: ?>>)
    gpu.return
  }
}

// -----

gpu.module @kernels {
  func.func private @guarded(%a: memref<4xf32>, %who: index, %zero: f32) attributes {gpu.known_block_size = array<i32: 32, 1, 1>} {
    %t = gpu.thread_id x
    %mine = arith.cmpi eq, %t, %who : index
    scf.if %mine {
      // expected-error @+1 {{'linalg.fill' op is not distributed over the 32 threads of its block}}
      linalg.fill ins(%zero : f32) outs(%a : memref<4xf32>)
    }
    return
  }
  gpu.func @callers(%a: memref<4xf32>, %zero: f32) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %t = gpu.thread_id x
    %low = arith.cmpi ult, %t, %c16 : index
    scf.if %low {
      func.call @guarded(%a, %c0, %zero) : (memref<4xf32>, index, f32) -> ()
    } else {
      func.call @guarded(%a, %c16, %zero) : (memref<4xf32>, index, f32) -> ()
    }
    gpu.return
  }
}
