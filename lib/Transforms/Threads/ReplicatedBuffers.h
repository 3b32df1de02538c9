//===- ReplicatedBuffers.h - Buffers that each thread has -------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A buffer of one element, as the maximum of a row, is read by all threads. If
// each thread can compute the element itself, from what is known to all, it
// gets a copy of its own in a register, and neither workgroup memory nor a
// barrier is needed.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_THREADS_REPLICATEDBUFFERS_H
#define WORKGROUP_LIB_TRANSFORMS_THREADS_REPLICATEDBUFFERS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::workgroup {

/// Gives each thread its own copy of what the block `loop` allocates for one
/// element, if `ops` alone use it and each thread can compute it: reading a
/// register takes no barrier.
void replicateBuffers(RewriterBase &rewriter, scf::ForallOp loop,
                      ArrayRef<linalg::LinalgOp> ops);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_THREADS_REPLICATEDBUFFERS_H
