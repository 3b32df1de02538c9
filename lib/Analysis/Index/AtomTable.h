//===- AtomTable.h - What forms of a kernel are made of ---------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each atom is there once, so that forms are equal if their terms are. An atom
// knows what follows from it: its range, and in which threads and iterations it
// may differ.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_INDEX_ATOMTABLE_H
#define WORKGROUP_LIB_ANALYSIS_INDEX_ATOMTABLE_H

#include "FormRanges.h"
#include "workgroup/Analysis/Uniformity.h"
#include <unordered_map>

namespace mlir::workgroup {

/// The numbers that fit into `type`.
Interval getTypeRange(Type type);

/// The atoms of one kernel.
class AtomTable {
public:
  AtomTable(Operation *scope, const KernelLoops &loops,
            const UniformityAnalysis &block, const UniformityAnalysis &warp,
            const ArgumentAliases &arguments)
      : scope(scope), loops(loops), block(block), warp(warp),
        arguments(arguments), sizes(scope, arguments) {}

  /// The form of `atom` alone: a number, if it can only be one.
  SymbolicForm ofAtom(SymbolicAtom atom);

  /// A value of which nothing is known; if `value` is null, not even when it is
  /// the same.
  SymbolicForm makeOpaque(Value value);
  /// A number from 0 to `count` - 1 of which nothing else is known, not even
  /// when it is the same.
  SymbolicForm makeAny(int64_t count);
  /// A condition of which nothing is known.
  SymbolicCondition getUnknown();
  /// When `form`, one or zero, is one.
  static SymbolicCondition isOne(SymbolicForm form);

  /// The coordinate of a thread in its block.
  SymbolicForm getThreadId(unsigned dim);
  SymbolicForm makeGridValue(SymbolicAtom::GridKind what, unsigned dim);
  /// The coordinate of a block in its grid.
  SymbolicForm getBlockId(unsigned dim) {
    return makeGridValue(SymbolicAtom::BlockId, dim);
  }

  Operation *getScope() const { return scope; }
  const BlockShape &getShape() const { return sizes.shape; }
  /// The number of blocks along x, y and z, where known.
  const std::array<std::optional<int64_t>, 3> &getGrid() const {
    return sizes.grid;
  }
  /// What all launches pass for an argument of the kernel.
  const ArgumentAliases &getArguments() const { return arguments; }
  ArrayRef<std::unique_ptr<SymbolicAtom>> getAtoms() const { return atoms; }
  Interval getRange(const SymbolicForm &form) { return ranges.get(form); }
  const KernelLoops &getLoops() const { return loops; }
  const UniformityAnalysis &getUniformity(UniformityUnit unit) const {
    return unit == UniformityUnit::Block ? block : warp;
  }

private:
  const SymbolicAtom *intern(SymbolicAtom atom);
  void derive(SymbolicAtom &atom);
  bool isFree(Value value) const;

  Operation *scope;
  const KernelLoops &loops;
  const UniformityAnalysis &block, &warp;
  const ArgumentAliases &arguments;
  LaunchSizes sizes;
  std::vector<std::unique_ptr<SymbolicAtom>> atoms;
  std::unordered_multimap<size_t, const SymbolicAtom *> interned;
  KnownRanges ranges;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_INDEX_ATOMTABLE_H
