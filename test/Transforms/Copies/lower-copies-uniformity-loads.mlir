// RUN: mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-lower-copies{insert-barriers=false})' --remarks-filter-passed='workgroup-lower-copies' --remark-format=emitRemark --verify-diagnostics -o /dev/null

// A value from memory is the same for all threads if the kernel writes none of
// that memory.
gpu.module @loaded {
  gpu.func @counts(%a: memref<256xf32>, %b: memref<64xf32>, %counts: memref<4xindex> {llvm.noalias}) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %n = memref.load %counts[%c0] : memref<4xindex>
    %of_block = memref.subview %a[%n] [64] [1] : memref<256xf32> to memref<64xf32, strided<[1], offset: ?>>
    // expected-remark @+1 {{copy spread over the block}}
    memref.copy %of_block, %b : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32>
    %t = gpu.thread_id x
    %m = memref.load %counts[%t] : memref<4xindex>
    %of_thread = memref.subview %a[%m] [64] [1] : memref<256xf32> to memref<64xf32, strided<[1], offset: ?>>
    // expected-remark @+1 {{copy done by each thread}}
    memref.copy %of_thread, %b : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32>
    gpu.return
  }
}

// -----

// A function may write what its caller passes.
gpu.module @overwritten_by_function {
  func.func private @overwrite(%counts: memref<4xindex>, %i: index) {
    memref.store %i, %counts[%i] : memref<4xindex>
    return
  }
  gpu.func @counts(%a: memref<256xf32>, %b: memref<64xf32>, %counts: memref<4xindex> {llvm.noalias}) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    func.call @overwrite(%counts, %c0) : (memref<4xindex>, index) -> ()
    %n = memref.load %counts[%c0] : memref<4xindex>
    %of_block = memref.subview %a[%n] [64] [1] : memref<256xf32> to memref<64xf32, strided<[1], offset: ?>>
    // expected-remark @+1 {{copy done by each thread}}
    memref.copy %of_block, %b : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32>
    gpu.return
  }
}

// -----

// Arguments may overlap unless they say that they do not.
gpu.module @overwritten {
  gpu.func @counts(%a: memref<256xf32>, %b: memref<64xf32>, %counts: memref<4xindex>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %n = memref.load %counts[%c0] : memref<4xindex>
    %of_block = memref.subview %a[%n] [64] [1] : memref<256xf32> to memref<64xf32, strided<[1], offset: ?>>
    // expected-remark @+1 {{copy done by each thread}}
    memref.copy %of_block, %b : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32>
    gpu.return
  }
}
