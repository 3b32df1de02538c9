//===- ThreadPairSystem.cpp - Two threads as integer constraints ----------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ThreadPairSystem.h"
#include "ThreadTables.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::workgroup {

using Atom = SymbolicAtom;
using Condition = SymbolicCondition;
using Row = ThreadPairSystem::Row;

/// Conditions of more cases are left out.
static constexpr unsigned kMaxCases = 16;

ThreadPairSystem::ThreadPairSystem(SymbolicIndex &index,
                                   const PairRelation &relation)
    : index(index), relation(relation) {}

void ThreadPairSystem::setInexact(const Twine &reason) {
  if (exact)
    inexactness = reason.str();
  exact = false;
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

Row ThreadPairSystem::makeVariable(Interval range) {
  Row row;
  row.terms.emplace_back(ranges.size(), 1);
  ranges.push_back(range);
  if (range.min)
    addNonNegative(subtract(row, makeConstant(*range.min)));
  if (range.max)
    addNonNegative(subtract(makeConstant(*range.max), row));
  return row;
}

bool ThreadPairSystem::isShared(const SymbolicAtom &atom) const {
  if (atom.isUnsteady)
    return false;
  switch (relation.threads) {
  case PairRelation::OfTwoWarps:
    if (atom.isDivergent)
      return false;
    break;
  case PairRelation::OfOneWarp:
    if (atom.isDivergentInWarp)
      return false;
    break;
  case PairRelation::OfTwoBlocks:
    // The iterations of two blocks have nothing to do with each other.
    return !atom.isDivergentInGrid && atom.loops.empty();
  }
  return llvm::all_of(atom.loops, [&](const KernelLoop *loop) {
    return llvm::is_contained(relation.sameIteration, loop);
  });
}

std::optional<int64_t> ThreadPairSystem::getFixed(const SymbolicAtom *atom,
                                                  Side side) {
  if (!fixed[side] || !atom->isOfThread)
    return std::nullopt;
  const ThreadTables::Table *table = tables->get(atom);
  if (!table)
    return std::nullopt;
  const std::array<int64_t, 3> &ids = *fixed[side];
  const BlockShape &shape = index.getShape();
  return (
      *table)[ids[0] + *shape.sizes[0] * (ids[1] + *shape.sizes[1] * ids[2])];
}

Row ThreadPairSystem::getAtom(const SymbolicAtom *atom, Side side) {
  if (std::optional<int64_t> number = getFixed(atom, side))
    return makeConstant(*number);
  int key = isShared(*atom) ? -1 : side;
  if (auto it = atoms.find({atom, key}); it != atoms.end())
    return it->second;
  if (ranges.size() >= kMaxVariables)
    setInexact("its index arithmetic is too long");
  Row variable = makeVariable(atom->range);
  atoms[{atom, key}] = variable;
  define(atom, side, variable);
  return variable;
}

Row ThreadPairSystem::get(const SymbolicForm &form, Side side) {
  Row row = makeConstant(form.constant);
  for (auto [atom, factor] : form.terms)
    row.add(getAtom(atom, side), factor);
  return row;
}

void ThreadPairSystem::fix(Side side, std::array<int64_t, 3> ids,
                           ThreadTables &known) {
  fixed[side] = ids;
  tables = &known;
}

//===----------------------------------------------------------------------===//
// What atoms are
//===----------------------------------------------------------------------===//

/// What an opaque value is, in words.
static std::string describe(const SymbolicAtom &atom) {
  if (!atom.value)
    return "a value that it depends on";
  if (Operation *op = atom.value.getDefiningOp())
    return "the result of '" + op->getName().getStringRef().str() +
           "' that it depends on";
  return "a value that a block or loop is given and that it depends on";
}

/// Relates the iteration to that of the other thread.
void ThreadPairSystem::defineIteration(const SymbolicAtom *atom, Side side,
                                       const Row &variable) {
  if (atom->loop != relation.carrier || side != Second)
    return;
  Row later = subtract(variable, getAtom(atom, First));
  Row beyond = subtract(later, makeConstant(relation.least));
  if (relation.most == relation.least)
    return addZero(beyond);
  addNonNegative(beyond);
  if (relation.most)
    addNonNegative(subtract(makeConstant(*relation.most), later));
}

void ThreadPairSystem::defineTotal(const SymbolicAtom *atom, Side side,
                                   const Row &variable) {
  const SymbolicForm &increment = atom->operands[0];
  bool isComparable =
      atom->loop == relation.carrier && side == Second &&
      relation.threads != PairRelation::OfTwoBlocks &&
      llvm::all_of(increment.terms, [&](auto term) {
        return !term.first->isDivergent && !term.first->isUnsteady &&
               llvm::all_of(term.first->loops, [&](const KernelLoop *loop) {
                 return loop == relation.carrier ||
                        llvm::is_contained(relation.sameIteration, loop);
               });
      });
  if (!isComparable) {
    setInexact("the iterations of loops in a loop are not known");
    return;
  }
  Row later = subtract(variable, getAtom(atom, First));
  later.add(get(increment, First), -1);
  Interval range = index.getRange(increment);
  if (relation.least == 1 && relation.most == 1)
    addZero(later);
  else if (range.min && *range.min >= 0)
    addNonNegative(later);
}

/// 0 <= x - quotient * divisor < divisor, where the divisor is not zero; where
/// it is, nothing is divided.
void ThreadPairSystem::defineQuotient(const SymbolicAtom *atom, Side side,
                                      const Row &variable) {
  const SymbolicForm &dividend = atom->operands[0];
  const SymbolicForm &divisor = atom->operands[1];
  Row rest = get(dividend, side);
  if (divisor.isConstant()) {
    rest.add(variable, -divisor.constant);
  } else {
    SymbolicForm self;
    self.terms.emplace_back(atom, 1);
    rest.add(get(index.multiply(self, divisor), side), -1);
  }
  Row by = get(divisor, side);
  Row below = subtract(by, rest, -1);
  Interval range = index.getRange(divisor);
  if (range.min && *range.min > 0) {
    addNonNegative(rest);
    addNonNegative(below);
    return;
  }
  Cases cases(2);
  cases[0] = {{rest, false}, {below, false}};
  cases[1] = {{subtract(Row(), by), false}};
  choices.push_back(std::move(cases));
  setInexact("a divisor may be zero");
}

/// An id is below the size, which is not known.
void ThreadPairSystem::defineBelow(SymbolicAtom::GridKind size,
                                   const SymbolicAtom &id, Side side,
                                   const Row &variable) {
  for (const auto &candidate : index.getAtoms())
    if (candidate->kind == Atom::GridValue && candidate->what == size &&
        candidate->dim == id.dim)
      addNonNegative(subtract(getAtom(candidate.get(), side), variable, -1));
}

/// A product lies between planes through the corners of the ranges of its
/// factors (McCormick, "Computability of global solutions to factorable
/// nonconvex programs", Mathematical Programming 10, 1976).
void ThreadPairSystem::addEnvelope(const Row &product, const Row &lhs,
                                   const Interval &ofLhs, const Row &rhs,
                                   const Interval &ofRhs) {
  constexpr int64_t kLimit = 1 << 16;
  auto isSmall = [](std::optional<int64_t> end) {
    return end && std::abs(*end) <= kLimit;
  };
  // sign * (lhs - x) * (rhs - y) >= 0
  auto add = [&](std::optional<int64_t> x, std::optional<int64_t> y,
                 int64_t sign) {
    if (!isSmall(x) || !isSmall(y))
      return;
    Row row = makeConstant(sign * *x * *y);
    row.add(product, sign);
    row.add(lhs, -sign * *y);
    row.add(rhs, -sign * *x);
    envelopes.push_back({std::move(row), false});
  };
  add(ofLhs.min, ofRhs.min, 1);
  add(ofLhs.max, ofRhs.max, 1);
  add(ofLhs.min, ofRhs.max, -1);
  add(ofLhs.max, ofRhs.min, -1);
}

/// One of two numbers, and not above, or not below, either.
void ThreadPairSystem::defineExtremum(const SymbolicAtom *atom, Side side,
                                      const Row &variable) {
  int64_t sign = atom->kind == Atom::Minimum ? 1 : -1;
  Cases cases(2);
  for (unsigned i = 0; i < 2; ++i) {
    Row distance;
    distance.add(subtract(get(atom->operands[i], side), variable), sign);
    addNonNegative(distance);
    cases[i].push_back({distance, true});
  }
  choices.push_back(std::move(cases));
}

void ThreadPairSystem::defineSelect(const SymbolicAtom *atom, Side side,
                                    const Row &variable) {
  std::optional<Cases> first = expand(atom->condition, side);
  std::optional<Cases> second = expand(atom->condition.negate(), side);
  if (!first || !second)
    return setInexact("a condition is too long");
  for (Conjunction &part : *first)
    part.push_back({subtract(variable, get(atom->operands[0], side)), true});
  for (Conjunction &part : *second) {
    part.push_back({subtract(variable, get(atom->operands[1], side)), true});
    first->push_back(std::move(part));
  }
  addChoice(std::move(first));
}

void ThreadPairSystem::defineProduct(const SymbolicAtom *atom, Side side,
                                     const Row &variable) {
  Interval range = index.getRange(atom->operands[1]);
  Interval other = index.getRange(atom->operands[0]);
  Row lhs = get(atom->operands[0], side), rhs = get(atom->operands[1], side);
  addEnvelope(variable, lhs, other, rhs, range);
  if (range.min && *range.min >= 0)
    products.push_back({variable, lhs, rhs});
  if (other.min && *other.min >= 0)
    products.push_back({variable, rhs, lhs});
  setInexact("an index is a product of values that are not constant");
}

void ThreadPairSystem::defineFunction(const SymbolicAtom *atom, Side side,
                                      const Row &variable) {
  if (isa<arith::XOrIOp>(atom->op)) {
    // The wider one is told by the narrower one and the result.
    Interval lhs = index.getRange(atom->operands[0]);
    Interval rhs = index.getRange(atom->operands[1]);
    unsigned key = lhs.max && (!rhs.max || *lhs.max < *rhs.max) ? 0 : 1;
    mixtures[side].push_back({variable, get(atom->operands[key], side),
                              get(atom->operands[1 - key], side)});
  }
  setInexact("its index has '" + atom->op->getName().getStringRef() + "'");
}

void ThreadPairSystem::define(const SymbolicAtom *atom, Side side,
                              const Row &variable) {
  switch (atom->kind) {
  case Atom::Iteration:
    return defineIteration(atom, side, variable);
  case Atom::Total:
    return defineTotal(atom, side, variable);
  case Atom::Quotient:
    return defineQuotient(atom, side, variable);
  case Atom::Minimum:
  case Atom::Maximum:
    return defineExtremum(atom, side, variable);
  case Atom::Select:
    return defineSelect(atom, side, variable);
  case Atom::Product:
    return defineProduct(atom, side, variable);
  case Atom::Shift:
    return setInexact("its index has a number that each iteration halves");
  case Atom::Function:
    return defineFunction(atom, side, variable);
  case Atom::ThreadId:
    if (!index.getShape().sizes[atom->dim])
      defineBelow(Atom::BlockSize, *atom, side, variable);
    return;
  case Atom::GridValue:
    if (atom->what == Atom::BlockId && !index.getGrid()[atom->dim])
      defineBelow(Atom::GridSize, *atom, side, variable);
    return;
  case Atom::Opaque:
    inputs.push_back(variable);
    if (!atom->isInput)
      setInexact("nothing is known of " + describe(*atom));
    return;
  }
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

/// The cases of `condition`, one of which holds; nothing if they are too many.
std::optional<ThreadPairSystem::Cases>
ThreadPairSystem::expand(const SymbolicCondition &condition, Side side) {
  Cases cases;
  switch (condition.kind) {
  case Condition::True:
    cases.emplace_back();
    return cases;
  case Condition::False:
    return cases;
  case Condition::NonNegative:
  case Condition::Zero:
    cases.emplace_back();
    cases.back().push_back(
        {get(condition.form, side), condition.kind == Condition::Zero});
    return cases;
  case Condition::Any:
    for (const Condition &part : condition.parts) {
      std::optional<Cases> more = expand(part, side);
      if (!more || cases.size() + more->size() > kMaxCases)
        return std::nullopt;
      llvm::append_range(cases, *more);
    }
    return cases;
  case Condition::All:
    cases.emplace_back();
    for (const Condition &part : condition.parts) {
      std::optional<Cases> more = expand(part, side);
      if (!more || cases.size() * more->size() > kMaxCases)
        return std::nullopt;
      Cases both;
      for (const Conjunction &lhs : cases)
        for (const Conjunction &rhs : *more) {
          both.push_back(lhs);
          llvm::append_range(both.back(), rhs);
        }
      cases = std::move(both);
    }
    return cases;
  }
  llvm_unreachable("unknown condition");
}

void ThreadPairSystem::addChoice(std::optional<Cases> cases) {
  if (!cases)
    setInexact("a condition is too long");
  else if (cases->size() == 1)
    llvm::append_range(base, cases->front());
  else
    choices.push_back(std::move(*cases));
}

void ThreadPairSystem::add(const SymbolicCondition &condition, Side side) {
  if (condition.kind != Condition::All)
    return addChoice(expand(condition, side));
  for (const Condition &part : condition.parts)
    addChoice(expand(part, side));
}

void ThreadPairSystem::addCases(std::vector<std::vector<Row>> alternatives) {
  Cases cases;
  for (std::vector<Row> &rows : alternatives) {
    cases.emplace_back();
    for (Row &row : rows)
      cases.back().push_back({std::move(row), false});
  }
  addChoice(std::move(cases));
}

void ThreadPairSystem::addIterations() {
  for (const LoopEnd &end : relation.ends) {
    if (auto condition = index.getLoopForms().getCondition(end))
      add(*condition, First);
    else
      setInexact("it is not known when a loop ends");
  }
  for (const PairRelation::Iterations &iterations : relation.iterations) {
    Row iteration =
        get(index.getLoopForms().getIteration(iterations.loop), Second);
    if (iterations.first)
      iteration.add(
          get(index.getLoopForms().getIteration(iterations.first), First), -1);
    if (iterations.least)
      addNonNegative(subtract(iteration, makeConstant(*iterations.least)));
    if (iterations.most)
      addNonNegative(subtract(makeConstant(*iterations.most), iteration));
  }
  for (const PairRelation::BranchRegion &region : relation.avoided)
    if (auto condition = index.getConditions().getDecision(
            region.branch, region.number, region.loop, region.later))
      add(condition->negate(), region.isOfSecond ? Second : First);
    else
      setInexact("it is not known which way a branch goes");
}

/// The dimensions in which coordinates may differ: those of known sizes come
/// first, as it is certain that they do.
static SmallVector<unsigned, 3>
getDimensions(const std::array<std::optional<int64_t>, 3> &sizes) {
  SmallVector<unsigned, 3> dims;
  for (bool isKnown : {true, false})
    for (unsigned dim = 0; dim < 3; ++dim)
      if (sizes[dim].has_value() == isKnown && sizes[dim] != 1)
        dims.push_back(dim);
  return dims;
}

/// Any two threads, of blocks that differ in one of the coordinates.
void ThreadPairSystem::addBlocks() {
  std::vector<std::vector<Row>> cases;
  for (unsigned dim : getDimensions(index.getGrid())) {
    SymbolicForm id = index.getBlockId(dim);
    Row distance = subtract(get(id, First), get(id, Second));
    cases.push_back({subtract(distance, makeConstant(1))});
    cases.push_back({subtract(makeConstant(-1), distance)});
  }
  addCases(std::move(cases));
}

void ThreadPairSystem::addThreads(bool mayBeSame, bool isAnybody) {
  if (relation.threads == PairRelation::OfTwoBlocks)
    return addBlocks();
  if (isAnybody)
    return;
  if (index.getShape().getNumThreads()) {
    bool isOneWarp = relation.threads == PairRelation::OfOneWarp;
    Row warps =
        subtract(get(index.getWarpId(), First), get(index.getWarpId(), Second));
    if (isOneWarp)
      addZero(warps);
    if (isOneWarp && mayBeSame)
      return;
    Row distance = isOneWarp ? subtract(get(index.getLinearThreadId(), First),
                                        get(index.getLinearThreadId(), Second))
                             : warps;
    return addCases({{subtract(distance, makeConstant(1))},
                     {subtract(makeConstant(-1), distance)}});
  }
  if (mayBeSame)
    return;
  // Different in one of the coordinates.
  std::vector<std::vector<Row>> cases;
  for (unsigned dim : getDimensions(index.getShape().sizes)) {
    SymbolicForm id = index.getThreadId(dim);
    Row distance = subtract(get(id, First), get(id, Second));
    cases.push_back({subtract(distance, makeConstant(1))});
    cases.push_back({subtract(makeConstant(-1), distance)});
  }
  addCases(std::move(cases));
}

} // namespace mlir::workgroup
