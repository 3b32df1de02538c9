//===- Threads.td - From blocks to threads -----------------*- tablegen -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_TRANSFORMS_THREADS
#define WORKGROUP_TRANSFORMS_THREADS

include "mlir/Pass/PassBase.td"
include "workgroup/PassOptions.td"
include "workgroup/Remarks.td"

def MapLoopsPass : Pass<"workgroup-map-loops"> {
  let summary = "Map parallel loops of the host to blocks and threads";
  let description = [{
    For each `scf.forall` and `scf.parallel` on buffers that is mapped to nothing, in no other
    parallel loop, and not in a kernel:

    - if an iteration is the work of one thread, blocks get tiles of the sizes `block` (0, or none,
      is for all of a dimension), and the threads of a block the iterations of its tile. What an
      iteration allocates is on the thread's stack;
    - if there are structured operations, copies or other parallel loops in it, each iteration is
      a block, whatever `block` says. A loop in it without structured operations and copies goes to the
      threads, with the loops in that as loops of each thread; others are gone through
      iteration by iteration, as are loops that reduce results. Structured operations and copies are
      left to `workgroup-map-to-threads`. What is stored besides is stored by one thread; memory on
      the stack that operations of several threads are on becomes an allocation of the block.

    Blocks are `#gpu.block<linear_dim_0>` for the last dimension, threads `#gpu.thread<linear_dim_0>`.

    Fails on loops with results, without or with more than ten dimensions, and on what writes to memory in
    each thread of a block for a value that all of them need (`memref.atomic_rmw`).

    Example: `test/Transforms/Threads/map-loops.mlir`.
  }];
  let options = [
    ListOption<"block", "block", "int64_t",
               "Sizes of tiles along the dimensions of a loop; 0 for all">,
  ];
  let dependentDialects = ["affine::AffineDialect", "arith::ArithDialect",
                           "gpu::GPUDialect", "memref::MemRefDialect",
                           "scf::SCFDialect"];
}

def MapToThreadsPass : Pass<"workgroup-map-to-threads"> {
  let summary = "Make loops over threads of the operations of blocks";
  let description = [{
    Replaces each structured operation on buffers, and each `memref.copy`, in the loops over
    blocks (`scf.forall` mapped to `#gpu.block`) by loops over the `threads` threads of a block
    (`scf.forall` mapped to `#gpu.thread<linear_dim_0>`, ...):

    - the loops that all results are indexed by are shared out, the last
      index of the first result fastest. All other loops each thread goes through in their
      order, with the results in registers. Any body is allowed;
    - neighbours along the fastest loop are computed together, and loaded and stored
      by accesses of up to 16 bytes, where what lies along the loop lies together. That the
      accesses are aligned is proved, with the arguments of the function aligned to
      `assume-alignment` bytes, or decided, for rows of dynamic length, by a condition that all
      threads share. What is left over at the end of a row is done one by one;
    - a reduction with fewer results than half the threads is shared out itself, if each
      result comes from one associative operation of arithmetic: each thread adds up a part,
      the threads of a warp exchange theirs, and the slots of the warps in workgroup memory are
      added up by who needs the sum. Several results are for groups of whole warps. Where
      neighbours in memory belong to different results, threads side by side read those, by
      accesses of 16 bytes, and it is rows of threads that exchange their parts through workgroup
      memory; there may be more such results. Sums of floating-point numbers are reassociated by
      this; nothing else is;
    - a product of floats and its addition to a result along a reduction, as in convolutions and
      dot products, are one `math.fma`, which rounds once. Element-wise bodies keep their roundings;
    - of results that share what they read, such as rows of a matrix that are multiplied with
      one vector, each thread has as many at once as save a byte in eight and leave registers;
      each element is loaded once for all of them, by accesses of up to 16 bytes along whatever
      dimension it lies;
    - a fill right before a sum is what the sum starts from;
    - a buffer of one element that only such operations use becomes one of each
      thread (`#gpu.address_space<private>`), which all of them compute.

    A block often makes several passes over a row: it is copied, summed up, changed, summed up again. If
    all that is done with buffers of one constant extent in workgroup memory can be done by threads
    that have the same elements in each pass, up to 32 of each buffer, these become private memory,
    with indices that are constants, and each thread's part is in registers. Copies to them
    are shared out, too.

    Left alone are operations on other `#gpu.address_space<private>` buffers, and fills and
    copies of workgroup memory, which blocks do together. No barriers are inserted.

    Of more than ten dimensions that are shared out, the outermost are loops of each thread.

    Fails on memory of unknown rank, and on a `memref.alloca` of a block, of which each thread
    has its own: `workgroup-place-buffers` takes it to workgroup memory.
  }];
  let options = [
    Option<"threads", "threads", "int64_t", /*default=*/"256",
           "Threads of a block">,
    AssumeAlignmentOption,
  ];
  let dependentDialects = ["affine::AffineDialect", "arith::ArithDialect",
                           "gpu::GPUDialect", "math::MathDialect",
                           "memref::MemRefDialect", "scf::SCFDialect",
                           "vector::VectorDialect"];
}

def MapToThreads_KeptRow : Passed<"Threads have a row of the block in registers.">;

def PlaceBuffersPass : Pass<"workgroup-place-buffers"> {
  let summary = "Put the buffers of blocks into workgroup memory";
  let description = [{
    Bufferization leaves `memref.alloc` without a memory space in the loops over blocks
    (`scf.forall` mapped to `#gpu.block`) for what one operation of a block makes for
    another. Each becomes an allocation in `#gpu.address_space<workgroup>`, with the types of
    its views; its `memref.dealloc` is erased. Dynamic extents are taken at their upper
    bounds (of `affine.min` and such), and what uses the buffer has a `memref.subview` of it, if it
    takes any layout. Otherwise, and without bounds, they stay: `workgroup-hoist-allocs` finds
    what they need.

    So does a `memref.alloca` that a structured operation of the block is on: the operation goes
    to all threads, and each of them would have a stack of its own.

    Allocations that have a memory space, and those outside of such loops, are left alone, and
    so is a `memref.alloca` in loops over threads. Fails where the memory goes through a loop, a
    branch or a call, the types of which would have to change with it, and for a `memref.alloc` in a
    loop over threads.
  }];
  let dependentDialects = ["gpu::GPUDialect", "memref::MemRefDialect"];
}

def PlaceBuffers_PlacedBuffer : Passed<"A buffer of each block is in workgroup memory.">;

#endif // WORKGROUP_TRANSFORMS_THREADS
