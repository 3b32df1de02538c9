//===- TilePasses.td - From tile programs to threads -------*- tablegen -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_TILE_PASSES
#define WORKGROUP_TILE_PASSES

include "mlir/Pass/PassBase.td"

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

def StageOperandsPass : Pass<"workgroup-stage-operands"> {
  let summary = "Stage what contractions read in workgroup memory";
  let description = [{
    Of a contraction in a loop over blocks, or in a launch, that sums up products of two buffers,
    both operands are copied to tiles in workgroup memory (`#gpu.address_space<workgroup>`) of
    constant sizes, in each turn of the loops over its sums, and the result
    is a private buffer (`#gpu.address_space<private>`): `workgroup-lower-contractions`
    makes registers of it. Rows and columns are rounded up to what threads can share; where
    an operand has fewer elements than its tile, this is filled with zeros before the copy. So the
    contraction is the same for ragged and for dynamic sizes.

    The private buffer starts from what filled the result, or from a copy of it. Element-wise
    operations that read the result behind the loops read the private buffer
    instead; if one of them writes the result in place, or nobody else needs it, it is
    not written before, else it is a copy of the private buffer.

    A block may keep the result in a buffer of its own, for a sum along rows or another
    contraction. That buffer gets room for the whole tile, which is stored without asking where
    it ends, and rows far enough apart for threads that store two at once. A second contraction
    that reads such rows is given them where they are, with zeros behind the last sum.

    A contraction is left alone, with a remark, if sizes have no constant bounds; if one
    operand or the result has a single column; if tiles have more than one turn
    of a loop that goes along the result and both operands; if the body is not one that
    zeros do not change, and the sums may be ragged; if the tiles are
    too large; if the result may be the memory of an operand. Different arguments may be, unless
    `llvm.noalias` or `assume-distinct-arguments` says that they are not.

    Besides, tiles of global memory that nothing in their loop over blocks writes to are copied to
    workgroup memory once, where that takes half of `max-bytes` at most, if the operations of the
    block reduce them and read them again, or if an element-wise operation
    reads them across the order of its result, such as a transposition.

    To be run on kernels before `workgroup-place-buffers`. Inserts no barriers: copies of
    the block are ordered by who lowers them.
  }];
  let options = [
    ListOption<"thread", "thread", "int64_t",
               "Rows and columns of the result for each thread, as "
               "#workgroup.schedule has them; none lets the lowering choose">,
    Option<"maxBytes", "max-bytes", "int64_t", /*default=*/"0",
           "Largest number of bytes of workgroup memory for the tiles of a contraction; "
           "0 means that of the chip">,
    Option<"chip", "chip", "std::string", /*default=*/"\"\"",
           "The chip to compile for; empty means sm_80">,
    Option<"assumeDistinctArguments", "assume-distinct-arguments", "bool",
           /*default=*/"false",
           "Take different memref arguments of a function not to overlap">,
  ];
  let dependentDialects = ["affine::AffineDialect", "arith::ArithDialect",
                           "gpu::GPUDialect", "linalg::LinalgDialect",
                           "memref::MemRefDialect", "scf::SCFDialect",
                           "::mlir::workgroup::WorkgroupDialect"];
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
      added up by who needs the sum. Where neighbours in memory belong to different results,
      threads side by side read those, and it is rows of threads that exchange their parts
      through workgroup memory. Sums of floating-point numbers are reassociated by this; nothing
      else is;
    - a fill right before a sum is what the sum starts from;
    - a buffer of one element that only such operations use becomes one of each
      thread (`#gpu.address_space<private>`), which all of them compute.

    Left alone are operations on `#gpu.address_space<private>` buffers, and fills and
    copies of workgroup memory, which blocks do together. No barriers are inserted.

    Of more than ten dimensions that are shared out, the outermost are loops of each thread.

    Fails on memory of unknown rank, and on a `memref.alloca` of a block, of which each thread
    has its own: `workgroup-place-buffers` takes it to workgroup memory.
  }];
  let options = [
    Option<"threads", "threads", "int64_t", /*default=*/"256",
           "Threads of a block">,
    Option<"assumeAlignment", "assume-alignment", "int64_t", /*default=*/"1",
           "Alignment in bytes that memref arguments may be assumed to have">,
  ];
  let dependentDialects = ["affine::AffineDialect", "arith::ArithDialect",
                           "gpu::GPUDialect", "memref::MemRefDialect",
                           "scf::SCFDialect", "vector::VectorDialect"];
}

def LowerContractionsPass : Pass<"workgroup-lower-contractions"> {
  let summary = "Contractions of staged tiles -> what each thread computes";
  let description = [{
    A linalg operation that sums up products of two tiles in workgroup memory into a
    private buffer of constant size, as `workgroup-stage-operands` makes them, is work that
    every thread of the block would do as a whole. The threads share it out: each computes
    some rows and columns of the result, which it holds in registers (`vector`) from what
    the buffer is filled with, through the loops around, to the element-wise operations and copies
    behind, which read the buffer. The buffer is gone then. Tiles are read by vectors of up to 16
    bytes along their contiguous dimension: rows, columns, or steps of the sum; products and sums
    are in the types of the body, a product of floats and its addition one `vector.fma`.

    How many rows and columns a thread has is what `#workgroup.schedule` on the
    operation says, or what takes the fewest instructions. Where the buffer has more elements than
    the operations before and behind are on, whole tiles go by vectors, and of ragged ones
    the elements that there are.

    Which operands have which dimensions, in which order, and what the body converts, is
    free; of loops that go along the result and both operands, tiles have one turn. An
    operation is left alone, with a remark, if anything else is done with the buffer, if not
    all threads execute it together, or if its body cannot be done on vectors. Fails if the
    block's size is not known, or has no tile for a thread.

    To be run after `workgroup-form-rings` and before `workgroup-lower-rings`: the tiles
    may be slots of rings. Inserts no barriers. Source: NVIDIA, "CUTLASS: efficient GEMM in CUDA".
  }];
  let options = [
    Option<"assumeAlignment", "assume-alignment", "int64_t", /*default=*/"1",
           "Alignment in bytes of kernel arguments where the IR states none">,
  ];
  let dependentDialects = ["arith::ArithDialect", "gpu::GPUDialect",
                           "memref::MemRefDialect", "scf::SCFDialect",
                           "vector::VectorDialect"];
}

#endif // WORKGROUP_TILE_PASSES
