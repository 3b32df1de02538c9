//===- IterationCases.cpp - Iterations one by one -------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The loops are taken from the outside in, until nothing is left that is not
// linear in an iteration. In loops that are tested by what they carry, what
// stands before the test is executed once more, and what is behind it is not.
//
//===----------------------------------------------------------------------===//

#include "IterationCases.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::workgroup {

using Atom = SymbolicAtom;
using Condition = SymbolicCondition;
using Footprint = SymbolicFootprint;
using Form = SymbolicForm;

/// The iterations of a loop, and the pairs of iterations of all loops, that are
/// tried.
constexpr int64_t kMaxIterationsTried = 64;
constexpr unsigned kMaxPairsTried = 600;

using Loops = SmallVector<const KernelLoop *, 4>;

/// Adds the loops that `form` is not linear in the iterations of.
static void addLoops(const Form &form, Loops &loops);

static void addLoops(const Condition &condition, Loops &loops) {
  addLoops(condition.form, loops);
  for (const Condition &part : condition.parts)
    addLoops(part, loops);
}

static void addLoops(const Form &form, Loops &loops) {
  for (auto [atom, factor] : form.terms) {
    if (atom->kind == Atom::Function || atom->kind == Atom::Product ||
        atom->kind == Atom::Shift)
      llvm::append_range(loops, atom->loops);
    for (const Form &operand : atom->operands)
      addLoops(operand, loops);
    addLoops(atom->condition, loops);
  }
}

static void addLoops(const Footprint &footprint, Loops &loops) {
  for (const Form &coordinate : footprint.coordinates)
    addLoops(coordinate, loops);
  for (const Footprint::Extent &extent : footprint.box)
    addLoops(extent.count, loops);
  addLoops(footprint.condition, loops);
}

static bool isTested(const KernelLoop *loop) {
  return !isa_and_nonnull<scf::ForOp, affine::AffineForOp>(loop->op);
}

/// The iterations of `loop` that anything of it may be in; nothing if they are
/// not known, or too many.
std::optional<int64_t> IterationCases::getNumTried(const KernelLoop *loop) {
  std::optional<int64_t> number = index.getLoopForms().getNumIterations(loop);
  if (!number || !loop->isCountable || *number > kMaxIterationsTried)
    return std::nullopt;
  return *number + isTested(loop);
}

const KernelLoop *IterationCases::findLoop(const Footprint &first,
                                           const Footprint &second) {
  Loops loops;
  addLoops(first, loops);
  addLoops(second, loops);
  const KernelLoop *outermost = nullptr;
  for (const KernelLoop *loop : loops)
    if (getNumTried(loop) && (!outermost || loop->contains(outermost)))
      outermost = loop;
  return outermost;
}

/// The iterations that both are in by `relation`.
SmallVector<IterationCases::Pair>
IterationCases::getPairs(const KernelLoop *loop, int64_t numIterations,
                         const PairRelation &relation) {
  int64_t least = 1 - numIterations, most = numIterations - 1;
  if (llvm::is_contained(relation.sameIteration, loop)) {
    least = most = 0;
  } else if (relation.carrier == loop) {
    least = relation.least;
    most = relation.most.value_or(most);
  }
  SmallVector<Pair> pairs;
  for (int64_t first = 0; first < numIterations; ++first)
    for (int64_t second = std::max<int64_t>(0, first + least);
         second < numIterations && second - first <= most; ++second)
      pairs.emplace_back(first, second);
  return pairs;
}

/// `conflict` in an iteration that may not be whole.
static Conflict getPossible(Conflict conflict) {
  if (conflict.kind != Conflict::Certain)
    return conflict;
  Conflict possible;
  possible.kind = Conflict::Possible;
  possible.reason = "it is in the last iteration of a loop, if at all";
  return possible;
}

std::optional<Conflict> IterationCases::decide(const Footprint &first,
                                               const Footprint &second,
                                               const PairRelation &relation) {
  const KernelLoop *loop = findLoop(first, second);
  if (!loop)
    return std::nullopt;
  PairRelation rest = relation;
  if (rest.carrier == loop) { // which iterations is settled
    rest.carrier = nullptr;
    rest.least = PairRelation().least;
    rest.most = PairRelation().most;
  }
  Conflict found;
  int64_t number = *getNumTried(loop) - isTested(loop);
  for (auto [one, other] : getPairs(loop, *getNumTried(loop), relation)) {
    Footprint lhs = first, rhs = second;
    if (++numCases > kMaxPairsTried || !setIteration(index, lhs, loop, one) ||
        !setIteration(index, rhs, loop, other))
      return std::nullopt;
    std::optional<Conflict> nested = decide(lhs, rhs, rest);
    Conflict conflict = nested ? *nested : decideCase(lhs, rhs, rest);
    if (conflict.kind == Conflict::Certain && std::max(one, other) < number)
      return conflict;
    if (conflict && isAnyEnough)
      return getPossible(std::move(conflict));
    if (conflict)
      found = getPossible(std::move(conflict));
  }
  return found;
}

} // namespace mlir::workgroup
