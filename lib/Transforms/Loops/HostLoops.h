//===- HostLoops.h - Parallel loops of the host -----------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An `scf.forall` or `scf.parallel` without a mapping says that its iterations
// may be executed at once, not by whom. On the host, blocks and threads may
// share them out if what each iteration does is work of a kernel; otherwise the
// iterations are executed one after the other.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_LOOPS_HOSTLOOPS_H
#define WORKGROUP_LIB_TRANSFORMS_LOOPS_HOSTLOOPS_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::workgroup {

inline bool isParallelLoop(Operation *op) {
  return isa<scf::ForallOp, scf::ParallelOp>(op);
}

/// True for an `scf.forall` or `scf.parallel` that is mapped to nothing.
bool isUnmappedLoop(Operation *op);

/// The loops of the host inside `root` that are mapped to nothing and in no
/// other parallel loop.
SmallVector<Operation *> collectHostLoops(Operation *root);

/// The number of its dimensions.
unsigned getNumDims(Operation *loop);

/// The iterations of each dimension, where they are known.
SmallVector<std::optional<int64_t>> getStaticCounts(Operation *loop);

/// True if something in `loop`, which is on tensors or on buffers, is shared
/// out to threads by itself: a structured operation, or a copy.
bool hasStructuredWork(Operation *loop);

/// True if an iteration of `loop` is the work of one thread: it holds neither
/// structured work nor another parallel loop.
bool isWorkOfThreads(Operation *loop);

/// Why no kernel can be made of `loop`; empty if one can.
std::string getKernelObstacle(Operation *loop);

/// True if iterations of `loop` read nothing but their own part of the tensors
/// that they insert into.
bool areReadsSeparate(scf::ForallOp loop);

/// Lets iterations read what a tensor held before the loop, but for the part
/// that each of them puts into it: bufferization then sees which memory is
/// read and written.
void separateReads(RewriterBase &rewriter, scf::ForallOp loop);

/// Makes a nest of `scf.for` of `loop`.
void serialize(RewriterBase &rewriter, Operation *loop);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_LOOPS_HOSTLOOPS_H
