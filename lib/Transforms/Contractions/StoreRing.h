//===- StoreRing.h - Results that TMA stores --------------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A lane has two neighbouring elements of a row of what a warp group computes:
// its own stores fill sectors by halves, and take the threads of the block as
// long as memory does. Instead, each warp writes 16 rows of up to 128 bytes to
// a slot of its own in workgroup memory, from which TMA stores them while the
// warp goes on. With two slots, it goes on to write the next columns.
//
// As no other warp has to do with a slot, its lanes wait for each other alone:
//
//   wait until TMA has read the slot (the first lane, which began the store)
//   the lanes meet; write; fence for TMA's proxy; the lanes meet
//   the first lane begins the store; commit
//
// Behind all of it, a kernel waits for what it has begun to store.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_STORERING_H
#define WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_STORERING_H

#include "PieceAccess.h"
#include "Transforms/Copies/TensorCopies.h"
#include "workgroup/Analysis/ArgumentAliases.h"
#include "workgroup/Target/Chip.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::workgroup {

/// What is known of the kernels whose results TMA may store.
struct StoreContext {
  const Chip &chip;
  TensorMaps &maps;
  const ArgumentAliases &aliases;
};

/// The slots of the warps of a block that compute the result of `part`, each
/// warp 16 rows.
class StoreRing {
public:
  StoreRing(ContractionPart &part, StoreContext context)
      : part(part), context(context), rewriter(part.rewriter), loc(part.loc),
        index(part.index) {}

  /// True for a sink whose result has the elements that slots are for.
  static bool isCandidate(const Pointwise &sink);

  /// Decides whether TMA stores the result of `sink`, a candidate. Returns why
  /// it does not, or empty. To be asked before the kernel changes.
  std::string add(const Pointwise &sink);

  /// True if TMA stores the result of `sink`.
  bool contains(Operation *sink) const { return sinks.contains(sink); }

  /// Makes the slots, and has the kernel wait in the end, if TMA stores
  /// anything.
  void allocate();

  /// Stores the result of `sink`, of which `compute` makes the run of columns
  /// of that number in a row of the thread.
  void store(const Pointwise &sink,
             function_ref<Value(int64_t row, int64_t run)> compute);

private:
  Operation *getScope() const;
  std::string getSinkObstacle(const Pointwise &sink) const;
  std::string chooseSlots(int64_t most);
  std::optional<TensorCopy> match(const Pointwise &sink, std::string &why);
  TensorCopy takeRows(TensorCopy copy) const;
  int64_t getPending() const;
  void enterSlot();
  void meet();
  Value getSlot(MemRefType type);
  void write(Value slot, const TensorCopy &copy, int64_t firstRun,
             function_ref<Value(int64_t row, int64_t run)> compute);
  void leaveSlot(Value slot, const TensorCopy &copy, int64_t column);

  ContractionPart &part;
  StoreContext context;
  RewriterBase &rewriter;
  const Location loc;
  IndexBuilder &index;

  /// The sinks whose results TMA stores.
  llvm::SetVector<Operation *> sinks;
  /// Of each warp.
  int64_t numSlots = 0;
  Value storage;
  /// The boxes that the stores have, and those that are stored.
  int64_t numBoxes = 0, stored = 0;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_STORERING_H
