//===- Threads.h - From blocks to threads -----------------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From operations of a block to what each thread does: buffers of the block go
// to workgroup memory, and structured operations become loops over threads.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_TRANSFORMS_THREADS_H
#define WORKGROUP_TRANSFORMS_THREADS_H

#include "mlir/Pass/Pass.h"

namespace mlir::workgroup {

/// Puts the buffers of blocks inside `root` into workgroup memory. See pass
/// `workgroup-place-buffers`.
LogicalResult placeBuffers(Operation *root);

struct MapLoopsOptions {
  /// Sizes of tiles along the dimensions of loops whose iterations are the work
  /// of a thread; 0, or none, for all.
  SmallVector<int64_t> block;
};

/// Gives the iterations of parallel loops inside `root` that are mapped to
/// nothing to blocks and threads. See pass `workgroup-map-loops`.
LogicalResult mapLoops(Operation *root, const MapLoopsOptions &options = {});

struct MapToThreadsOptions {
  /// Threads of a block.
  int64_t threads = 256;
  /// Alignment in bytes that memref arguments may be assumed to have.
  int64_t assumeAlignment = 1;
};

/// Makes loops over threads of the operations of blocks inside `root`. See pass
/// `workgroup-map-to-threads`.
LogicalResult mapToThreads(Operation *root,
                           const MapToThreadsOptions &options = {});

#define GEN_PASS_DECL
#include "workgroup/Transforms/Threads.h.inc"

} // namespace mlir::workgroup

#endif // WORKGROUP_TRANSFORMS_THREADS_H
