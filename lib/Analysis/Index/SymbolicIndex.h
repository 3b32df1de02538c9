//===- SymbolicIndex.h - Index arithmetic as linear forms -------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What an index is, as a sum of multiples of atoms: ids of threads, iterations
// of loops, quotients, values that nothing is known of. Equal forms are equal
// numbers in the same thread and iteration, however the program spells them:
// with affine maps, with arithmetic on `index` or on narrower integers that do
// not wrap, with induction variables or values that loops carry.
//
// Slots of rings are counted by values that start again at zero. Such a value
// is `(start + iterations) mod slots`; `iterations` goes on through the loops
// around.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_INDEX_SYMBOLICINDEX_H
#define WORKGROUP_LIB_ANALYSIS_INDEX_SYMBOLICINDEX_H

#include "Analysis/Integers/Interval.h"
#include "Analysis/Program/KernelLoops.h"
#include "mlir/IR/Dominance.h"
#include "workgroup/Analysis/ArgumentAliases.h"
#include "workgroup/Analysis/LinearIndex.h"
#include "workgroup/Analysis/Uniformity.h"
#include "workgroup/Support/Kernel.h"
#include "llvm/ADT/Hashing.h"
#include <unordered_map>

namespace mlir::workgroup {

struct SymbolicAtom;

/// How near the end of a loop something in it is executed.
struct LoopEnd {
  const KernelLoop *loop = nullptr;
  /// How often it is executed from now on, this time included: at most.
  int64_t most = 1;
  /// What stands before the test of the loop is executed once more than what
  /// stands behind it.
  bool isBeforeTest = false;
  /// From when the loop is entered on, not from now on;
  bool isFromStart = false;
  /// and then as often more as this loop had iterations before.
  const KernelLoop *other = nullptr;
  /// More often than that.
  bool isNot = false;

  bool operator<(const LoopEnd &other) const {
    auto asTuple = [](const LoopEnd &end) {
      return std::tuple(end.loop, end.most, end.isBeforeTest, end.isFromStart,
                        end.other, end.isNot);
    };
    return asTuple(*this) < asTuple(other);
  }
};

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

/// Translates values of a kernel. An instance must not outlive a change of the
/// arithmetic it has looked at.
class SymbolicIndex {
public:
  SymbolicIndex(Operation *scope, const KernelLoops &loops,
                const UniformityAnalysis &block, const UniformityAnalysis &warp,
                const ArgumentAliases &arguments);

  /// What `value`, an integer or index, is.
  SymbolicForm getForm(Value value);
  SymbolicForm getForm(OpFoldResult index);
  SymbolicForm getForm(AffineMap map, ValueRange operands);
  SymbolicForm getForm(const LinearIndex &index);

  /// When `value`, of type i1, is true.
  SymbolicCondition getCondition(Value value);

  /// A condition of which nothing is known.
  SymbolicCondition getUnknown();

  /// What holds wherever control gets to `op`.
  SymbolicCondition getGuard(Operation *op) { return getGuard(op->getBlock()); }
  SymbolicCondition getGuard(Block *block);
  /// What holds at `op` in the first iteration of the loops around; nothing if
  /// that is not known.
  std::optional<SymbolicCondition> getGuardInFirstIterations(Operation *op);
  /// True if `form` is not negative wherever control gets to `op`.
  bool isNonNegativeAt(const SymbolicForm &form, Operation *op);

  /// When control that gets to `branch` goes on with its branch region, a
  /// region or a successor, of that number; nothing if that is not known.
  std::optional<SymbolicCondition> getDecision(Operation *branch,
                                               unsigned region);
  /// The same, `later` iterations of `loop` later.
  std::optional<SymbolicCondition> getDecision(Operation *branch,
                                               unsigned region,
                                               const KernelLoop *loop,
                                               int64_t later);

  /// What holds in each iteration of `loop`: the number of iterations.
  SymbolicCondition getBounds(const KernelLoop *loop);

  /// When the first region of `op`, an `affine.if`, is taken.
  SymbolicCondition getSet(Operation *op);
  /// What decides how often `op`, a loop that counts, iterations.
  SmallVector<SymbolicForm> getDecisive(Operation *op);

  /// What holds where a loop is as near its end as `end` says, as far as that
  /// is known.
  std::optional<SymbolicCondition> getCondition(const LoopEnd &end);

  /// True if how often `loop` iterations is the same for all threads, at any
  /// time.
  bool isSteady(const KernelLoop *loop);

  /// How many iterations `loop` has, if that is always the same.
  std::optional<int64_t> getNumIterations(const KernelLoop *loop);

  /// True if `loop` has an iteration whenever it is reached.
  bool hasIteration(const KernelLoop *loop);

  static Interval getRange(const SymbolicForm &form);
  /// That of what `op`, which is no sum, makes of two numbers.
  static Interval getRangeOfFunction(Operation *op, const Interval &lhs,
                                     const Interval &rhs);

  /// The iteration of `loop`.
  SymbolicForm getIteration(const KernelLoop *loop);

  /// Parts, as if by the operators: `multiply` and the rest never fail.
  SymbolicForm multiply(const SymbolicForm &lhs, const SymbolicForm &rhs);
  SymbolicForm divide(const SymbolicForm &lhs, const SymbolicForm &divisor);
  SymbolicForm remainder(const SymbolicForm &lhs, const SymbolicForm &divisor);

  /// The number of a thread in its block, and of its warp. The shape of the
  /// block is known.
  SymbolicForm getLinearThreadId();
  SymbolicForm getWarpId();
  SymbolicForm getLane();

  /// The coordinate of a thread in its block.
  SymbolicForm getThreadId(unsigned dim) { return makeThreadId(dim); }

  /// The coordinate of a block in its grid.
  SymbolicForm getBlockId(unsigned dim) {
    return makeGridValue(SymbolicAtom::BlockId, dim);
  }

  const BlockShape &getShape() const { return shape; }
  /// The number of blocks along x, y and z, where known.
  const std::array<std::optional<int64_t>, 3> &getGrid() const { return grid; }
  ArrayRef<std::unique_ptr<SymbolicAtom>> getAtoms() const { return atoms; }
  const KernelLoops &getLoops() const { return loops; }
  const UniformityAnalysis &getUniformity(UniformityUnit unit) const {
    return unit == UniformityUnit::Block ? block : warp;
  }

private:
  void addLaunched(ArrayRef<gpu::LaunchFuncOp> launches, unsigned dim);
  friend class SymbolicTranslator;
  const SymbolicAtom *intern(SymbolicAtom atom);
  void derive(SymbolicAtom &atom);
  Interval deriveRange(const SymbolicAtom &atom) const;
  SymbolicForm ofAtom(SymbolicAtom atom);
  SymbolicForm makeOpaque(Value value);
  bool isFree(Value value) const;
  SymbolicForm makeThreadId(unsigned dim);
  SymbolicForm makeGridValue(SymbolicAtom::GridKind what, unsigned dim);
  SymbolicForm add(const SymbolicForm &lhs, const SymbolicForm &rhs,
                   int64_t factor, Value fallback);
  SymbolicForm makeBinary(SymbolicAtom::Kind kind, const SymbolicForm &lhs,
                          const SymbolicForm &rhs);
  SymbolicForm select(const SymbolicCondition &condition,
                      const SymbolicForm &lhs, const SymbolicForm &rhs);
  /// Where a loop that counts begins, how far it goes, and by which steps.
  struct Span {
    SymbolicForm lower, length, step;
  };
  std::optional<Span> getSpan(const KernelLoop *loop);
  /// What `loop`, which counts, has got to; nothing if that is not known.
  std::optional<SymbolicForm> getCounter(const KernelLoop *loop);
  std::optional<SymbolicForm> getUnsignedCounter(const KernelLoop *loop);
  std::optional<SymbolicCondition> compare(Operation *op);
  static SymbolicCondition isOne(SymbolicForm form);
  std::optional<SymbolicCondition> getTest(const KernelLoop *loop);
  std::optional<SymbolicCondition>
  getFailure(const KernelLoop *loop, const SymbolicForm &first, int64_t count);
  SymbolicCondition getReached(const KernelLoop *loop);
  SymbolicCondition computeGuard(Block *block);
  SymbolicCondition getEdgesCondition(Block *block, Block *dominator);
  SymbolicCondition getEdgeCondition(Block *from, Block *block);
  SymbolicCondition getEntryCondition(Block *block);

  Operation *scope;
  const KernelLoops &loops;
  const UniformityAnalysis &block, &warp;
  const ArgumentAliases &arguments;
  BlockShape shape;
  std::array<std::optional<int64_t>, 3> grid;
  /// The most that launches in sight pass, where they differ.
  std::array<std::optional<int64_t>, 3> mostThreads, mostBlocks;
  std::vector<std::unique_ptr<SymbolicAtom>> atoms;
  std::unordered_multimap<size_t, const SymbolicAtom *> interned;
  DenseMap<Value, SymbolicForm> forms;
  /// What values that loops carry are taken for while it is found out what they
  /// are.
  DenseMap<Value, SymbolicForm> tentative;
  /// Values taken for granted that have to be from 0 to below a number, for
  /// what loops in the loop carry to be understood.
  DenseMap<const SymbolicAtom *, int64_t> neededSizes;
  DenseMap<Block *, SymbolicCondition> guards;
  /// Those that are being asked what they say of a form.
  DenseSet<Block *> askedGuards;
  DominanceInfo dominance;
  PostDominanceInfo postDominance;
  unsigned depth = 0;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_INDEX_SYMBOLICINDEX_H
