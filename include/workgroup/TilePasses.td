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

def PlaceBuffersPass : Pass<"workgroup-place-buffers", "func::FuncOp"> {
  let summary = "Put the buffers of blocks into workgroup memory";
  let description = [{
    Bufferization leaves `memref.alloc` without a memory space in the loops over blocks
    (`scf.forall` mapped to `#gpu.block`) for what one operation of a block makes for
    another. Each becomes an allocation in `#gpu.address_space<workgroup>`, with the types of
    its views; its `memref.dealloc` is erased. Dynamic extents stay: `workgroup-hoist-allocs`
    takes them at their upper bounds, and refuses those that have none.

    Allocations that have a memory space, and those outside of such loops, are left alone.
    Fails where the memory goes through a loop, a branch or a call, the types of which
    would have to change with it.
  }];
  let dependentDialects = ["gpu::GPUDialect", "memref::MemRefDialect"];
}

def StageOperandsPass : Pass<"workgroup-stage-operands", "func::FuncOp"> {
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
  let dependentDialects = ["affine::AffineDialect", "arith::ArithDialect",
                           "gpu::GPUDialect", "memref::MemRefDialect",
                           "scf::SCFDialect", "vector::VectorDialect"];
}

#endif // WORKGROUP_TILE_PASSES
