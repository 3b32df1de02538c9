//===- InlinedProgram.h - Functions in place of calls of them ---*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What threads do in the functions that a kernel calls is seen best where it
// calls them. So a copy of the program is looked at, in which the functions
// stand in place of the calls, as far as they are of one block and not
// recursive. Unlike MLIR's inliner this needs no dialect to allow it.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_SYNC_INLINEDPROGRAM_H
#define WORKGROUP_LIB_TRANSFORMS_SYNC_INLINEDPROGRAM_H

#include "mlir/IR/OwningOpRef.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include <deque>

namespace mlir::workgroup {

class InlinedProgram {
public:
  /// A copy of what is inside `root`, nothing inlined yet, and without device
  /// functions that are private and never called; or, if there are no calls and
  /// no such functions, and `isCopied` does not ask for one, `root` itself.
  explicit InlinedProgram(Operation *root, bool isCopied = false);

  Operation *getRoot() const { return root; }

  /// Replaces all calls. Returns what is left to look at: kernels, and
  /// functions that are still called or were never.
  SmallVector<Operation *> inlineAll();

  /// The kernels and functions, in groups: those that call functions come
  /// behind these.
  SmallVector<SmallVector<Operation *>> getScopesByDepth() const;

  /// True for a function that is called, and stands in place of all calls of it
  /// when these are replaced.
  bool isSeenAtCalls(Operation *function) const;

  /// Replaces the calls in `scope`.
  void inlineInto(Operation *scope);

  /// The first of the operations that stand in place of the call that `op`
  /// stands in place of; null if it stands in place of none. The outer one
  /// counts for a call in a call.
  Operation *getStartOfCall(Operation *op) const { return startOf.lookup(op); }

  /// The operation that `op` is a copy of: in place of a call, the call.
  Operation *getOriginal(Operation *op) const;

  /// The operation that `op` was written as: in place of a call, one of the
  /// function that is called.
  Operation *getSource(Operation *op) const;

  /// The source of `op`, and the calls around it, up to those of `function`.
  SmallVector<Operation *> getPath(Operation *op, Operation *function) const;

  /// The functions that `op` stands in place of calls of, innermost first.
  SmallVector<Operation *> getFunctions(Operation *op) const;

  /// The function that all of `ops` stand in place of one call of, the
  /// innermost one; null for none.
  Operation *getCommonFunction(ArrayRef<Operation *> ops) const;

  /// Says that `op`, which is new, is a copy of `original`.
  void addCopy(Operation *op, Operation *original) {
    originalOf[op] = original;
  }

private:
  /// The operations in place of one call, which may be part of another.
  struct Expansion {
    Operation *function, *call;
    const Expansion *parent;
  };
  /// The original of an operation in place of a call.
  struct Copy {
    Operation *source = nullptr;
    const Expansion *expansion = nullptr;
  };

  SmallVector<const Expansion *> getExpansions(Operation *op) const;
  void replace(CallOpInterface call, Operation *scope);
  void replace(CallOpInterface call, Block &block);
  bool expand(CallOpInterface call, SmallVectorImpl<Operation *> &open);

  OwningOpRef<Operation *> copy;
  Operation *root;
  DenseMap<Operation *, Operation *> originalOf, startOf;
  DenseMap<Operation *, Copy> copyOf;
  std::deque<Expansion> expansions;
  /// The number of operations that may be added yet.
  unsigned budget = 1 << 13;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_SYNC_INLINEDPROGRAM_H
