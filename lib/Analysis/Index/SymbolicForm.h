//===- SymbolicForm.h - Sums of multiples of atoms --------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A form is a constant and multiples of atoms: of `4 * thread.x + 16 * (i / 2)
// + 1` these are the id of a thread, and the quotient of an iteration. Equal
// forms are equal numbers in the same thread and iteration. What is here is
// algebra of forms; which values they are of is not asked.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_INDEX_SYMBOLICFORM_H
#define WORKGROUP_LIB_ANALYSIS_INDEX_SYMBOLICFORM_H

#include "Analysis/Integers/Interval.h"
#include "Analysis/Program/KernelLoops.h"
#include "llvm/ADT/Hashing.h"

namespace mlir::workgroup {

struct SymbolicAtom;

/// A constant and multiples of atoms.
struct SymbolicForm {
  int64_t constant = 0;
  /// By ascending numbers of the atoms; no factor is zero.
  SmallVector<std::pair<const SymbolicAtom *, int64_t>, 3> terms;

  SymbolicForm(int64_t constant = 0) : constant(constant) {}

  bool isConstant() const { return terms.empty(); }
  bool operator==(const SymbolicForm &other) const {
    return constant == other.constant && terms == other.terms;
  }
  bool operator!=(const SymbolicForm &other) const { return !(*this == other); }
  /// The factor of `atom`; zero if it is not part of it.
  int64_t getFactor(const SymbolicAtom *atom) const;
  /// The sum of this and `factor` times `other`. Nothing if a number gets too
  /// large.
  std::optional<SymbolicForm> plus(const SymbolicForm &other,
                                   int64_t factor = 1) const;
  friend llvm::hash_code hash_value(const SymbolicForm &form) {
    return llvm::hash_combine(
        form.constant,
        llvm::hash_combine_range(form.terms.begin(), form.terms.end()));
  }
};

/// What holds of forms.
struct SymbolicCondition {
  enum Kind { True, False, NonNegative, Zero, All, Any } kind = True;
  /// What is not negative, or zero.
  SymbolicForm form;
  std::vector<SymbolicCondition> parts;

  static SymbolicCondition of(Kind kind, SymbolicForm form);
  /// All or any of `parts`.
  static SymbolicCondition join(Kind kind,
                                std::vector<SymbolicCondition> parts);
  SymbolicCondition negate() const;
  bool operator==(const SymbolicCondition &other) const {
    return kind == other.kind && form == other.form && parts == other.parts;
  }
};

/// A number that forms are made of.
struct SymbolicAtom {
  enum Kind {
    /// Coordinate `dim` of the thread in its block.
    ThreadId,
    /// A position or size of the grid or the block: `what` and `dim`.
    GridValue,
    /// How many iterations of `loop` were before this one.
    Iteration,
    /// The sum of `operands[0]` over the iterations of `loop` before this one.
    Total,
    /// `operands[0]` by `operands[1]`, which is positive, rounded down.
    Quotient,
    Product,
    /// `operands[0]`, a constant that is not negative, without its last
    /// `operands[1]` bits; below zero, that counts as none.
    Shift,
    Minimum,
    Maximum,
    /// `operands[0]` if `condition` holds, else `operands[1]`.
    Select,
    /// A function of `operands` that is not linear: that of `op`.
    Function,
    /// `value`, of which nothing is known.
    Opaque,
  };
  enum GridKind { BlockId, BlockSize, GridSize };

  Kind kind = Opaque;
  unsigned number = 0;
  unsigned dim = 0;
  GridKind what = BlockId;
  const KernelLoop *loop = nullptr;
  Value value;
  Operation *op = nullptr;
  SmallVector<SymbolicForm, 2> operands;
  SymbolicCondition condition;

  // What follows from it.
  Interval range;
  /// The loops it may be different in each iteration of.
  SmallVector<const KernelLoop *, 2> loops;
  /// Threads of a block, of a warp, or of different blocks, may have different
  /// ones.
  bool isDivergent = false, isDivergentInWarp = false;
  bool isDivergentInGrid = false;
  /// It may be different each time, whatever the iterations of `loops` are.
  bool isUnsteady = false;
  /// It follows from what a launch may choose freely, and from iterations.
  bool isInput = true;
  /// It follows from the thread alone.
  bool isOfThread = false;

  bool isLeaf() const { return operands.empty(); }
};

/// True if `id` is one of threads or blocks, and `size` how many these are.
bool isIdBelow(const SymbolicAtom &id, const SymbolicAtom &size);

/// When lhs < rhs as unsigned numbers, where one of them is known not to be
/// negative; nothing if none is.
std::optional<SymbolicCondition> isBelowUnsigned(const SymbolicForm &lhs,
                                                 bool isLhsPlain,
                                                 const SymbolicForm &rhs,
                                                 bool isRhsPlain);

/// y, if `condition ? lhs : rhs` is y < n ? y : y - n, where y is taken not to
/// be negative. Finds n.
std::optional<SymbolicForm> matchWrapping(const SymbolicForm &lhs,
                                          const SymbolicForm &rhs,
                                          const SymbolicCondition &condition,
                                          int64_t &size);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_INDEX_SYMBOLICFORM_H
