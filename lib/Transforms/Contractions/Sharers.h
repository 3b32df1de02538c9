//===- Sharers.h - Who shares out a contraction -----------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An operation that several threads execute together, on the same operands, is
// work that they may share out. Those are the threads of a block, or those of a
// warp where the operands follow from which warp it is; otherwise each thread
// has work of its own.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_SHARERS_H
#define WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_SHARERS_H

#include "Transforms/Utils/IndexBuilder.h"
#include "workgroup/Analysis/Uniformity.h"

namespace mlir::workgroup {

/// The threads that share out an operation.
struct Sharers {
  enum class Unit { Block, Warp, Thread };

  Unit unit = Unit::Block;
  int64_t numThreads = 0;

  /// Makes the number of the executing thread among them. That of a lane is its
  /// linear id modulo 32, whatever the shape of the block.
  OpFoldResult makeId(IndexBuilder &index, Operation *scope) const;
};

/// Finds who executes operations in device code inside an operation together.
/// Stays valid while operations are only inserted or erased.
class SharerAnalysis {
public:
  explicit SharerAnalysis(Operation *root) : root(root), ofBlock(root) {}

  /// The reason why not all threads of a block execute `ops` together on the
  /// same operands, or empty. Each thread's buffers count as the same.
  std::string getBlockDivergence(ArrayRef<Operation *> ops);

  /// True if all lanes of each warp, all of which are there, do so.
  bool areOfWarp(ArrayRef<Operation *> ops);

private:
  Operation *root;
  UniformityAnalysis ofBlock;
  /// Made when it is asked for.
  std::unique_ptr<UniformityAnalysis> ofWarp;
};

/// True if `op` stands in a loop that is yet to be shared out to the threads of
/// a block, to its warps or to lanes.
bool isInLoopOverThreads(Operation *op);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_SHARERS_H
