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
    Maps unmapped parallel loops on buffers to blocks and threads.

    The pass applies to each outermost `scf.forall` and `scf.parallel` on the host that has no
    mapping.

    - If one thread can execute an iteration, each block gets a tile of the sizes `block` (0, or
      no entry, means the whole dimension), and its threads get the iterations of the tile.
      Allocations of an iteration are on the thread's stack.
    - If an iteration contains structured operations, copies or other parallel loops, each
      iteration becomes a block, and `block` is ignored. An inner parallel loop without
      structured operations and copies is mapped to the threads, with its own inner loops
      executed by each thread. Other inner loops, and loops that reduce results, become
      sequential. Structured operations and copies are left to `workgroup-map-to-threads`. Other
      stores are executed by one thread. Stack memory that operations of several threads use
      becomes an allocation of the block.

    Blocks are `#gpu.block<linear_dim_0>` for the last dimension, threads
    `#gpu.thread<linear_dim_0>`.

    Fails on loops with results, on loops with no dimension or more than ten, and on an
    operation that writes memory and whose value all threads of a block need
    (`memref.atomic_rmw`): each thread would execute it.

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
  let summary = "Replace the operations of blocks by loops over threads";
  let description = [{
    Replaces the structured operations of blocks by loops over threads.

    The pass applies to each structured operation on buffers, and each `memref.copy`, in a loop
    over blocks (`scf.forall` mapped to `#gpu.block`). The loops that replace it are
    `scf.forall`s over the `threads` threads of a block (mapped to `#gpu.thread<linear_dim_0>`,
    ...).

    - **Distribution.** The loops that index all results are distributed, the last index of the
      first result fastest. Each thread executes the other loops in their order and keeps the
      results in registers. Any body is allowed. If more than ten dimensions are distributed,
      the outermost become sequential loops of each thread.
    - **Vectors.** Neighbouring elements along the fastest loop are computed together. They are
      loaded and stored by accesses of up to 16 bytes where they are contiguous. Alignment is
      proved, given arguments aligned to `assume-alignment` bytes; for rows of dynamic length, a
      condition that is uniform over the block decides it. The rest of a row is handled element
      by element.
    - **Reductions across threads.** A reduction with fewer results than half the threads is
      distributed along its sum, if each result comes from one associative arithmetic operation.
      Each thread reduces a part, the threads of a warp combine theirs, each warp stores to a
      slot in workgroup memory, and whoever needs the result combines the slots. Several results
      are assigned to groups of whole warps. Where neighbours in memory belong to different
      results, neighbouring threads read them by accesses of 16 bytes; then rows of threads
      exchange their parts through workgroup memory, and the number of results may be larger.
      This reassociates floating-point sums; nothing else in the pass does.
    - **Fused multiply-add.** A floating-point product and its addition to a result along a
      reduction, as in convolutions and dot products, become one `math.fma`, which rounds once.
      Element-wise bodies keep their rounding.
    - **Register tiles.** Where results share inputs, such as rows of a matrix multiplied by one
      vector, each thread computes several results at once. Their number grows while it saves at
      least an eighth of the bytes read and registers are left. Each element is loaded once for
      all of them, by accesses of up to 16 bytes along whichever dimension is contiguous.
    - **Fills.** A fill right before a sum becomes the initial value of the sum.
    - **Single elements.** A buffer of one element that only such operations use becomes private
      (`#gpu.address_space<private>`), and every thread computes it.

    **Rows in registers.** A block often makes several passes over a row: it copies the row,
    reduces it, changes it, and reduces it again. If threads can access the same elements in
    each pass, up to 32 per buffer, the buffers become private memory with constant indices, so
    that each thread keeps its part in registers. All buffers involved have one constant extent
    and lie in workgroup memory. Copies to them are distributed, too.

    Operations on other private buffers are left unchanged, and so are fills and copies of
    workgroup memory, which the block executes together. No barriers are inserted.

    Fails on memory of unknown rank, and on a `memref.alloca` of a block, of which each thread
    would have its own copy; `workgroup-place-buffers` moves it to workgroup memory.
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

def MapToThreads_KeptRow : Passed<"Threads keep a row of the block in registers.">;

def PlaceBuffersPass : Pass<"workgroup-place-buffers"> {
  let summary = "Put the buffers of blocks into workgroup memory";
  let description = [{
    Moves the buffers of blocks to workgroup memory.

    Bufferization leaves a `memref.alloc` without a memory space, in the loops over blocks
    (`scf.forall` mapped to `#gpu.block`), for each value that one operation of a block passes
    to another. Each becomes an allocation in `#gpu.address_space<workgroup>`; the types of its
    views change with it, and its `memref.dealloc` is erased. A dynamic extent is replaced by
    its constant upper bound (of `affine.min`, for example), and the users get a
    `memref.subview` of the buffer if they accept any layout. Without a bound, or with other
    users, dynamic extents stay; `workgroup-hoist-allocs` handles them.

    A `memref.alloca` that a structured operation of the block uses is moved as well: the
    operation will be distributed over all threads, and each of them would have a stack of its
    own.

    Allocations with a memory space, allocations outside such loops, and each `memref.alloca` in
    a loop over threads are left unchanged. Fails if the memory passes through a loop, a branch
    or a call, whose types would have to change as well, and on a `memref.alloc` in a loop over
    threads.
  }];
  let dependentDialects = ["gpu::GPUDialect", "memref::MemRefDialect"];
}

def PlaceBuffers_PlacedBuffer : Passed<"A buffer of each block is in workgroup memory.">;

#endif // WORKGROUP_TRANSFORMS_THREADS
