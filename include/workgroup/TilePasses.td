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
  let dependentDialects = ["affine::AffineDialect", "arith::ArithDialect",
                           "gpu::GPUDialect", "memref::MemRefDialect"];
}

def StageOperandsPass : Pass<"workgroup-stage-operands"> {
  let summary = "Stage what contractions read in workgroup memory";
  let dependentDialects = ["affine::AffineDialect", "arith::ArithDialect",
                           "gpu::GPUDialect", "linalg::LinalgDialect",
                           "memref::MemRefDialect", "scf::SCFDialect"];
}

def MapToThreadsPass : Pass<"workgroup-map-to-threads"> {
  let summary = "Make loops over threads of the operations of blocks";
  let options = [
    Option<"threads", "threads", "int64_t", /*default=*/"256",
           "Threads of a block">,
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
