//===- CopyProgram.h - A function as one buffer sees it ---------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of all operations, those that use a buffer, in the loops and branches that
// they are in: what copies are placed in (CopyPlacement.h). What is no such
// loop or branch, and holds no launch of the buffer, is one step, whatever is
// in it.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_DEVICE_COPYPROGRAM_H
#define WORKGROUP_LIB_ANALYSIS_DEVICE_COPYPROGRAM_H

#include "CopyPlacement.h"
#include "MemoryUses.h"

namespace mlir::workgroup {

/// What an operation does to a buffer.
struct BufferEvent {
  Operation *op;
  /// By the host itself, and by what it launches.
  MemoryUse host, device;
  /// The contents are not defined behind it.
  bool undefines = false;

  bool isOfDevice() const { return device.reads || device.writes; }
};

/// A place for a copy.
struct CopyPlace {
  /// Null for a region that is to be made: the `else` of `before`.
  Block *block;
  /// The operation that it is put before.
  Operation *before;
  /// It is because of what is in or behind `before`, or else of what comes
  /// after the end of the block, such as the next iteration.
  bool isAtEnd;
};

class CopyProgram {
public:
  /// The program of `events`, all of them in `scope` or in what it holds, in
  /// any order, one for each operation.
  CopyProgram(Block *scope, ArrayRef<BufferEvent> events);

  /// The operation because of which there is none: it is not known when its
  /// regions are executed.
  Operation *getObstacle() const { return obstacle; }

  const CopySequence &getSequence() const { return sequence; }
  CopyPlace getPlace(const PlacedCopy &copy) const;

private:
  CopySequence build(Block *block, ArrayRef<const BufferEvent *> events);
  CopyNode buildNode(Operation *op, ArrayRef<const BufferEvent *> events);
  void addRegions(Operation *op, ArrayRef<const BufferEvent *> events,
                  CopyNode &node);
  void index(const CopySequence &sequence, Block *block, Operation *parent);

  CopySequence sequence;
  /// By the numbers of nodes.
  SmallVector<Operation *> ops;
  /// The block of each sequence, or the operation whose region is to be made.
  DenseMap<const CopySequence *, std::pair<Block *, Operation *>> blocks;
  Operation *obstacle = nullptr;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_DEVICE_COPYPROGRAM_H
