// RUN: mlir-opt %s --verify-diagnostics --split-input-file --pass-pipeline='builtin.module(workgroup-verify-sync)' -o /dev/null
// RUN: not mlir-opt %s --split-input-file --pass-pipeline='builtin.module(workgroup-insert-barriers,workgroup-verify-sync)' -o /dev/null 2>&1 | FileCheck %s

// Atomic operations of a scope that leaves the other thread out.

// Insertion puts a barrier where that is enough.
// CHECK-COUNT-3: error: cannot synchronize 'llvm.atomicrmw' and 'llvm.atomicrmw'
// CHECK-NOT: {{(error|warning): (cannot|data|possible)}}

gpu.module @m {
  // All blocks count at one place, each for itself.
  gpu.func @blocks(%p: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 1, 1, 1>, known_grid_size = array<i32: 4, 1, 1>} {
    %one = arith.constant 1 : i32
    %b = gpu.block_id x
    // expected-error @+2 {{cannot synchronize 'llvm.atomicrmw' and 'llvm.atomicrmw' on global memory %arg0: thread (0, 0, 0) of block (0, 0, 0) updates what thread (0, 0, 0) of block (1, 0, 0) updates, and blocks do not wait for each other; give both atomic operations a scope that includes the other thread}}
    // expected-note @+1 {{the other access: 'llvm.atomicrmw' updates in thread (0, 0, 0) of block (1, 0, 0)}}
    %0 = llvm.atomicrmw add %p, %one syncscope("block") monotonic : !llvm.ptr<1>, i32
    gpu.return
  }

  gpu.func @device(%p: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 1, 1, 1>, known_grid_size = array<i32: 4, 1, 1>} {
    %one = arith.constant 1 : i32
    %b = gpu.block_id x
    %0 = llvm.atomicrmw add %p, %one syncscope("device") monotonic : !llvm.ptr<1>, i32
    gpu.return
  }
}

// -----

gpu.module @m {
  // Of two, one is too narrow.
  gpu.func @mixed(%p: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 1, 1, 1>, known_grid_size = array<i32: 4, 1, 1>} {
    %one = arith.constant 1 : i32
    %b = gpu.block_id x
    %c0 = arith.constant 0 : index
    %is_first = arith.cmpi eq, %b, %c0 : index
    scf.if %is_first {
      // expected-note @+1 {{the other access}}
      %0 = llvm.atomicrmw add %p, %one syncscope("block") monotonic : !llvm.ptr<1>, i32
    } else {
      // expected-error @+1 {{thread (0, 0, 0) of block (1, 0, 0) updates what thread (0, 0, 0) of block (0, 0, 0) updates}}
      %1 = llvm.atomicrmw add %p, %one monotonic : !llvm.ptr<1>, i32
    }
    gpu.return
  }
}

// -----

!shared = memref<4xi32, #gpu.address_space<workgroup>>

gpu.module @m {
  // Threads of a block, by operations that are atomic for one thread.
  gpu.func @threads() workgroup(%S: !shared) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %one = arith.constant 1 : i32
    %address = memref.extract_aligned_pointer_as_index %S : !shared -> index
    %bits = arith.index_cast %address : index to i64
    %p = llvm.inttoptr %bits : i64 to !llvm.ptr<3>
    // expected-error @+2 {{cannot synchronize 'llvm.atomicrmw' and 'llvm.atomicrmw' on workgroup memory %arg0: thread (32, 0, 0) updates what thread (0, 0, 0) updates}}
    // expected-note @+1 {{the other access}}
    %0 = llvm.atomicrmw add %p, %one syncscope("singlethread") monotonic : !llvm.ptr<3>, i32
    gpu.return
  }
}

// -----

!shared = memref<64xi32, #gpu.address_space<workgroup>>

gpu.module @m {
  // One after the other, a barrier of the block orders them.
  gpu.func @ordered() workgroup(%S: !shared) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %one = arith.constant 1 : i32
    %t = gpu.thread_id x
    %c63 = arith.constant 63 : index
    %u = arith.subi %c63, %t : index
    %i = arith.index_cast %t : index to i64
    %j = arith.index_cast %u : index to i64
    %address = memref.extract_aligned_pointer_as_index %S : !shared -> index
    %bits = arith.index_cast %address : index to i64
    %p = llvm.inttoptr %bits : i64 to !llvm.ptr<3>
    %here = llvm.getelementptr %p[%i] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, i32
    %there = llvm.getelementptr %p[%j] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, i32
    // expected-note @+1 {{the other access}}
    %0 = llvm.atomicrmw add %here, %one syncscope("singlethread") monotonic : !llvm.ptr<3>, i32
    // expected-error @+1 {{data race on workgroup memory %arg0}}
    %1 = llvm.atomicrmw add %there, %one syncscope("block") monotonic : !llvm.ptr<3>, i32
    gpu.return
  }
}
