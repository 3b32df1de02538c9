//===- SymbolicCarried.cpp - What loops carry from iteration to iteration -===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/IncomingValues.h"
#include "SymbolicTranslator.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::workgroup {

using Atom = SymbolicAtom;
using Condition = SymbolicCondition;
using Form = SymbolicForm;

//===----------------------------------------------------------------------===//
// Values that loops carry
//===----------------------------------------------------------------------===//

SymbolicForm SymbolicTranslator::translateArgument(BlockArgument argument) {
  Operation *parent = argument.getOwner()->getParentOp();
  const KernelLoop *loop = index.loops.getLoopOf(parent);
  if (loop && isa<scf::ForOp, affine::AffineForOp>(parent) &&
      argument.getArgNumber() == 0) {
    std::optional<Form> counter = index.getCounter(loop);
    return counter ? *counter : index.makeOpaque(argument);
  }
  if (auto loopOp = dyn_cast<scf::WhileOp>(parent))
    if (argument.getOwner() == loopOp.getAfterBody())
      return index.getForm(
          loopOp.getConditionOp().getArgs()[argument.getArgNumber()]);
  if (std::optional<CarriedValue> carried = index.loops.getCarried(argument))
    return translateCarried(argument, *carried);
  Value only = getCommonIncoming(argument);
  return only ? index.getForm(only) : index.makeOpaque(argument);
}

namespace {
/// Looks for an atom at any depth, in each form once.
class AtomFinder {
public:
  explicit AtomFinder(const SymbolicAtom *atom) : atom(atom) {}

  bool isIn(const SymbolicForm &form) {
    return llvm::any_of(form.terms, [&](auto term) {
      return term.first == atom ||
             (visited.insert(term.first).second &&
              (llvm::any_of(term.first->operands,
                            [&](const SymbolicForm &operand) {
                              return isIn(operand);
                            }) ||
               isIn(term.first->condition)));
    });
  }

private:
  bool isIn(const SymbolicCondition &condition) {
    return isIn(condition.form) ||
           llvm::any_of(condition.parts, [&](const SymbolicCondition &part) {
             return isIn(part);
           });
  }

  const SymbolicAtom *atom;
  DenseSet<const SymbolicAtom *> visited;
};
} // namespace

/// `increment` added up over the iterations of `loop` so far.
SymbolicForm SymbolicTranslator::getTotal(const KernelLoop *loop,
                                          const Form &increment) {
  bool isFixed = llvm::all_of(increment.terms, [&](auto term) {
    return !term.first->isUnsteady &&
           llvm::none_of(term.first->loops, [&](const KernelLoop *around) {
             return loop->contains(around);
           });
  });
  return isFixed ? index.multiply(increment, index.getIteration(loop))
                 : getSum(loop, increment);
}

/// The same, told only from iteration to iteration.
SymbolicForm SymbolicTranslator::getSum(const KernelLoop *loop,
                                        const SymbolicForm &increment) {
  Atom atom;
  atom.kind = Atom::Total;
  atom.loop = loop;
  atom.operands = {increment};
  return index.ofAtom(std::move(atom));
}

/// What `carried` is in the next iteration, if `self` is what `argument` is in
/// this one.
SymbolicForm SymbolicTranslator::getNext(BlockArgument argument,
                                         const CarriedValue &carried,
                                         const Form &self) {
  index.tentative[argument] = self;
  DenseMap<Value, Form> known = std::exchange(index.forms, index.tentative);
  Form next = index.getForm(carried.next);
  index.forms = std::move(known);
  index.tentative.erase(argument);
  return next;
}

/// A value of which each iteration adds to what it was, or that does so modulo
/// a number.
SymbolicForm SymbolicTranslator::translateCarried(BlockArgument argument,
                                                  const CarriedValue &carried) {
  Form self = index.makeOpaque(argument);
  if (self.terms.size() != 1 || !carried.loop->isCountable)
    return self;
  // What it is in the next iteration is of interest if there is one.
  Atom tested = *self.terms.front().first;
  tested.range = getTestedRange(argument, *carried.loop, tested.range);
  // Of one value, or none, there is nothing to tell.
  const SymbolicAtom *start = self.terms.front().first;
  bool isTold = !tested.range.min || tested.range.min != tested.range.max;
  if (isTold)
    start = index.ofAtom(tested).terms.front().first;
  if (auto form = advance(argument, carried, start, /*isCounted=*/false))
    return *form;
  if (!isTold || tested.range.max || !argument.getType().isInteger(64))
    return self;
  // By induction, if it turns out to be counted.
  tested.range = {tested.range.min.value_or(-2 * kMaxStart), 2 * kMaxStart};
  start = index.ofAtom(std::move(tested)).terms.front().first;
  auto form = advance(argument, carried, start, /*isCounted=*/true);
  return form ? *form : self;
}

static bool isWithin(const Interval &range, int64_t most) {
  return range.min && range.max && *range.min >= -most && *range.max <= most;
}

std::optional<SymbolicForm>
SymbolicTranslator::advance(BlockArgument argument, const CarriedValue &carried,
                            const SymbolicAtom *start, bool isCounted) {
  Form initial = index.getForm(carried.initial);
  Form next = getNext(argument, carried, index.ofAtom(*start));
  if (next.getFactor(start) == 1) {
    Form increment = index.add(next, index.ofAtom(*start), -1, nullptr);
    // No step wraps, or it would have another form.
    bool isNear = isWithin(index.getRange(initial), kMaxStart) &&
                  isWithin(index.getRange(increment), kMaxStep);
    if (!AtomFinder(start).isIn(increment) && (isNear || !isCounted))
      return index.add(initial, getTotal(carried.loop, increment), 1, argument);
  }
  if (std::optional<Form> toggled = matchToggle(carried, next, start))
    return toggled;
  int64_t size = 0;
  if (auto needed = index.neededSizes.find(start);
      needed != index.neededSizes.end())
    size = needed->second;
  std::optional<Form> increment;
  if (size == 0)
    increment = matchAdvance(next, start, size);
  if (size != 0 && (!increment || AtomFinder(start).isIn(*increment))) {
    // By induction: what is below it stays below it.
    if (size < 2)
      return std::nullopt;
    Atom small = *start;
    small.range = {0, size - 1};
    Form assumed = index.ofAtom(std::move(small));
    const SymbolicAtom *self = assumed.terms.front().first;
    increment = matchAdvance(getNext(argument, carried, assumed), self, size);
    if (!increment || AtomFinder(self).isIn(*increment))
      return std::nullopt;
  }
  if (size == 0)
    return std::nullopt;
  Interval range = index.getRange(initial);
  if (!range.min || *range.min < 0 || !range.max || *range.max >= size) {
    if (initial.constant == 0 && initial.terms.size() == 1 &&
        initial.terms.front().second == 1 &&
        index.tentative.contains(initial.terms.front().first->value))
      index.neededSizes[initial.terms.front().first] = size;
    return std::nullopt;
  }
  return index.remainder(
      index.add(
          initial,
          increment->isConstant()
              ? index.multiply(*increment, index.getIteration(carried.loop))
              : getSum(carried.loop, *increment),
          1, argument),
      Form(size));
}

/// A value that is one of two numbers in turn: of `start`, the next one is
/// `next`, a number less `start`, or some of its bits flipped.
std::optional<SymbolicForm>
SymbolicTranslator::matchToggle(const CarriedValue &carried, const Form &next,
                                const SymbolicAtom *start) {
  Form first = index.getForm(carried.initial);
  if (!first.isConstant() || next.terms.size() != 1)
    return std::nullopt;
  auto [atom, factor] = next.terms.front();
  int64_t second = 0;
  if (atom == start && factor == -1) {
    second = next.constant - first.constant;
  } else if (atom->kind == Atom::Function && isa<arith::XOrIOp>(atom->op) &&
             factor == 1 && next.constant == 0) {
    Form self;
    self.terms.emplace_back(start, 1);
    bool isFirst = atom->operands[0] == self;
    const Form &bits = atom->operands[isFirst];
    if (atom->operands[!isFirst] != self || !bits.isConstant())
      return std::nullopt;
    second = first.constant ^ bits.constant;
  } else {
    return std::nullopt;
  }
  Form odd = index.remainder(index.getIteration(carried.loop), Form(2));
  return index.add(first, odd, second - first.constant, nullptr);
}

/// By how much `form` is more than `start`, modulo `size`, if `start` is from 0
/// to below it, and so is the result. Finds the size.
std::optional<SymbolicForm>
SymbolicTranslator::matchAdvance(const Form &form, const SymbolicAtom *start,
                                 int64_t &size) {
  if (form.constant == 0 && form.terms.size() == 1 &&
      form.terms.front().second == 1) {
    if (form.terms.front().first == start)
      return Form(0);
    return matchWrap(*form.terms.front().first, start, size);
  }
  // x - n * floor(x / n)
  for (auto [atom, factor] : form.terms) {
    if (atom->kind != Atom::Quotient || factor >= 0 ||
        atom->operands[1] != Form(-factor) || (size && size != -factor))
      continue;
    Form quotient;
    quotient.terms.emplace_back(atom, 1);
    Form whole = index.add(form, quotient, -factor, nullptr);
    if (whole != atom->operands[0] || whole.getFactor(start) != 1)
      continue;
    size = -factor;
    quotient.terms.front().first = start;
    return index.add(whole, quotient, -1, nullptr);
  }
  return std::nullopt;
}

/// By how much y is more than `start`, if `atom` is y < n ? y : y - n, where y
/// is n more at most.
std::optional<SymbolicForm>
SymbolicTranslator::matchSubtraction(const SymbolicAtom &atom,
                                     const SymbolicAtom *start, int64_t &size) {
  int64_t found = 0;
  std::optional<Form> next =
      matchWrapping(atom.operands[0], atom.operands[1], atom.condition, found);
  if (!next || (size && size != found))
    return std::nullopt;
  Form self;
  self.terms.emplace_back(start, 1);
  Form increment = index.add(*next, self, -1, nullptr);
  Interval range = index.getRange(increment);
  if (!range.min || *range.min < 0 || !range.max || *range.max > found ||
      AtomFinder(start).isIn(increment))
    return std::nullopt;
  size = found;
  return increment;
}

/// The same for a selection, or a remainder of what is not known not to be
/// negative.
std::optional<SymbolicForm>
SymbolicTranslator::matchWrap(const SymbolicAtom &atom,
                              const SymbolicAtom *start, int64_t &size) {
  Form self;
  self.terms.emplace_back(start, 1);
  auto setSize = [&](int64_t found) {
    if (found <= 0 || (size && size != found))
      return false;
    size = found;
    return true;
  };
  if (atom.kind == Atom::Function &&
      isa<arith::RemUIOp, arith::RemSIOp>(atom.op)) {
    Form increment = index.add(atom.operands[0], self, -1, nullptr);
    if (!atom.operands[1].isConstant() || !isNonNegative(increment) ||
        !setSize(atom.operands[1].constant))
      return std::nullopt;
    return increment;
  }
  if (atom.kind != Atom::Select)
    return std::nullopt;
  // x == n ? 0 : x, where x is one more at most.
  if (atom.operands[0] == Form(0)) {
    Form increment = index.add(atom.operands[1], self, -1, nullptr);
    Interval range = index.getRange(increment);
    bool isStep = range.min && *range.min >= 0 && range.max && *range.max <= 1;
    Form end = index.add(atom.operands[1], atom.condition.form, -1, nullptr);
    bool isAtEnd = atom.condition.kind == SymbolicCondition::Zero ||
                   atom.condition.kind == SymbolicCondition::NonNegative;
    if (isStep && isAtEnd && end.isConstant() && setSize(end.constant))
      return increment;
  }
  if (std::optional<Form> increment = matchSubtraction(atom, start, size))
    return increment;
  std::optional<Form> lhs = matchAdvance(atom.operands[0], start, size);
  std::optional<Form> rhs = matchAdvance(atom.operands[1], start, size);
  if (!lhs || !rhs)
    return std::nullopt;
  return index.select(atom.condition, *lhs, *rhs);
}

//===----------------------------------------------------------------------===//
// Results of loops and branches
//===----------------------------------------------------------------------===//

/// `atom` where the iteration of `loop` is `iterations`.
std::optional<SymbolicForm>
SymbolicTranslator::substitute(const SymbolicAtom *atom, const KernelLoop *loop,
                               const Form &iterations) {
  if (!llvm::any_of(atom->loops, [&](const KernelLoop *inner) {
        return loop->contains(inner);
      })) {
    Form form;
    form.terms.emplace_back(atom, 1);
    return form;
  }
  if (atom->kind == Atom::Iteration && atom->loop == loop)
    return iterations;
  if (atom->isLeaf() || atom->kind == Atom::Total ||
      atom->kind == Atom::Select || atom->kind == Atom::Function)
    return std::nullopt;
  std::optional<Form> lhs = substitute(atom->operands[0], loop, iterations);
  std::optional<Form> rhs = substitute(atom->operands[1], loop, iterations);
  if (!lhs || !rhs)
    return std::nullopt;
  switch (atom->kind) {
  case Atom::Quotient:
    return index.divide(*lhs, *rhs);
  case Atom::Product:
    return index.multiply(*lhs, *rhs);
  default:
    return makeExtremum(atom->kind == Atom::Minimum, *lhs, *rhs);
  }
}

std::optional<SymbolicForm>
SymbolicTranslator::substitute(const Form &form, const KernelLoop *loop,
                               const Form &iterations) {
  Form result = form.constant;
  for (auto [atom, factor] : form.terms) {
    std::optional<Form> part = substitute(atom, loop, iterations);
    if (!part)
      return std::nullopt;
    result = index.add(result, *part, factor, nullptr);
  }
  return result;
}

std::optional<SymbolicCondition>
SymbolicTranslator::substitute(const SymbolicCondition &condition,
                               const KernelLoop *loop, const Form &iterations) {
  SymbolicCondition result = condition;
  std::optional<Form> form = substitute(condition.form, loop, iterations);
  if (!form)
    return std::nullopt;
  result.form = *form;
  for (SymbolicCondition &part : result.parts) {
    std::optional<SymbolicCondition> other = substitute(part, loop, iterations);
    if (!other)
      return std::nullopt;
    part = *other;
  }
  return result;
}

SymbolicForm SymbolicTranslator::translateBranchResult(scf::IfOp op,
                                                       unsigned result) {
  return index.select(index.getCondition(op.getCondition()),
                      index.getForm(op.thenYield().getOperand(result)),
                      index.getForm(op.elseYield().getOperand(result)));
}

SymbolicForm SymbolicTranslator::translateResult(OpResult result) {
  Operation *op = result.getOwner();
  if (auto branch = dyn_cast<scf::IfOp>(op);
      branch && !result.getType().isInteger(1))
    return fit(translateBranchResult(branch, result.getResultNumber()), result);
  // Extents are the same wherever they are asked for.
  if (auto dim = dyn_cast<memref::DimOp>(op))
    if (std::optional<int64_t> number = dim.getConstantIndex()) {
      Atom atom;
      atom.value = dim.getSource();
      atom.dim = *number + 1;
      atom.range.min = 0;
      SymbolicForm memref = index.makeOpaque(dim.getSource());
      const SymbolicAtom *source = memref.terms.front().first;
      atom.isDivergent = source->isDivergent;
      atom.isDivergentInWarp = source->isDivergentInWarp;
      atom.isDivergentInGrid = source->isDivergentInGrid;
      atom.isUnsteady = source->isUnsteady;
      atom.isInput = source->isInput;
      atom.loops = source->loops;
      return index.ofAtom(std::move(atom));
    }
  auto counted = dyn_cast<scf::ForOp>(op);
  const KernelLoop *loop = index.loops.getLoopOf(op);
  std::optional<SymbolicIndex::Span> span;
  if (counted && loop)
    span = index.getSpan(loop);
  if (!span || !isPositive(span->step))
    return index.makeOpaque(result);
  BlockArgument argument =
      counted.getRegionIterArgs()[result.getResultNumber()];
  Form iterations =
      index.divide(index.add(index.add(span->length, span->step, 1, nullptr),
                             Form(-1), 1, nullptr),
                   span->step);
  iterations = makeExtremum(/*isMinimum=*/false, iterations, Form(0));
  Form initial = index.getForm(counted.getTiedLoopInit(argument)->get());
  if (iterations == Form(0))
    return initial;
  Form last = index.add(iterations, Form(-1), 1, nullptr);
  // What the argument is holds in the iterations that there are, and not behind
  // the last one: there it is what that one has yielded.
  Value yielded = counted.getTiedLoopYieldedValue(argument)->get();
  std::optional<Form> form = substitute(index.getForm(yielded), loop, last);
  if (!form)
    return index.makeOpaque(result);
  if (isPositive(iterations) ||
      substitute(index.getForm(argument), loop, iterations) == form)
    return *form;
  return index.select(Condition::of(Condition::NonNegative, last), *form,
                      initial);
}

} // namespace mlir::workgroup
