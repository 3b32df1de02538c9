//===- CarriedForms.cpp - Values that loops carry -------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A carried value is taken for an atom, what it is in the next iteration is
// translated, and the two are compared: a sum with what does not depend on the
// value, one of two numbers in turn, or a sum modulo a number.
//
//===----------------------------------------------------------------------===//

#include "CarriedForms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::workgroup {

using Atom = SymbolicAtom;
using Form = SymbolicForm;

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

//===----------------------------------------------------------------------===//
// Iteration by iteration
//===----------------------------------------------------------------------===//

/// The predicate for the operands in the other order.
static arith::CmpIPredicate swap(arith::CmpIPredicate predicate) {
  using Predicate = arith::CmpIPredicate;
  switch (predicate) {
  case Predicate::slt:
    return Predicate::sgt;
  case Predicate::sle:
    return Predicate::sge;
  case Predicate::sgt:
    return Predicate::slt;
  case Predicate::sge:
    return Predicate::sle;
  case Predicate::ult:
    return Predicate::ugt;
  case Predicate::ule:
    return Predicate::uge;
  case Predicate::ugt:
    return Predicate::ult;
  case Predicate::uge:
    return Predicate::ule;
  default:
    return predicate;
  }
}

/// What of `range`, in which `value` is, it may be in iterations of `loop` that
/// get past its test.
Interval CarriedForms::getTestedRange(Value value, const KernelLoop &loop,
                                      Interval range) {
  std::optional<LoopTest> test = algebra.getLoops().getTest(&loop);
  if (!test || !range.min || !range.max)
    return range;
  arith::CmpIPredicate predicate = test->compare.getPredicate();
  Value bound = test->compare.getRhs();
  if (bound == value) {
    bound = test->compare.getLhs();
    predicate = swap(predicate);
  } else if (test->compare.getLhs() != value) {
    return range;
  }
  if (!test->goesOnIf)
    predicate = arith::invertPredicate(predicate);
  // What the loop itself makes may depend on the value.
  Interval limit = getTypeRange(bound.getType());
  if (!loop.contains(algebra.getLoops().getLoop(bound.getParentBlock())))
    limit = getRange(values.getForm(bound));
  int64_t most = std::min(*range.max, limit.max.value_or(*range.max));
  int64_t least = std::max(*range.min, limit.min.value_or(*range.min));
  // Compared as numbers without a sign, what is below zero is large.
  bool isSigned = !limit.min || *limit.min < 0;
  switch (predicate) {
  case arith::CmpIPredicate::slt:
    return {range.min, most - 1};
  case arith::CmpIPredicate::sle:
    return {range.min, most};
  case arith::CmpIPredicate::ult:
    return isSigned ? range : Interval{0, most - 1};
  case arith::CmpIPredicate::ule:
    return isSigned ? range : Interval{0, most};
  case arith::CmpIPredicate::sgt:
    return {least + 1, range.max};
  case arith::CmpIPredicate::sge:
    return {least, range.max};
  default:
    return range;
  }
}

/// `increment` added up over the iterations of `loop` so far.
SymbolicForm CarriedForms::getTotal(const KernelLoop *loop,
                                    const Form &increment) {
  bool isFixed = llvm::all_of(increment.terms, [&](auto term) {
    return !term.first->isUnsteady &&
           llvm::none_of(term.first->loops, [&](const KernelLoop *around) {
             return loop->contains(around);
           });
  });
  return isFixed ? algebra.multiply(increment, loopForms.getIteration(loop))
                 : getSum(loop, increment);
}

/// The same, told only from iteration to iteration.
SymbolicForm CarriedForms::getSum(const KernelLoop *loop,
                                  const SymbolicForm &increment) {
  Atom atom;
  atom.kind = Atom::Total;
  atom.loop = loop;
  atom.operands = {increment};
  return algebra.ofAtom(std::move(atom));
}

/// What `carried` is in the next iteration, if `self` is what `argument` is in
/// this one.
SymbolicForm CarriedForms::getNext(BlockArgument argument,
                                   const CarriedValue &carried,
                                   const Form &self) {
  known.tentative[argument] = self;
  DenseMap<Value, Form> before = std::exchange(known.forms, known.tentative);
  Form next = values.getForm(carried.next);
  known.forms = std::move(before);
  known.tentative.erase(argument);
  return next;
}

static bool isWithin(const Interval &range, int64_t most) {
  return range.min && range.max && *range.min >= -most && *range.max <= most;
}

std::optional<SymbolicForm> CarriedForms::advance(BlockArgument argument,
                                                  const CarriedValue &carried,
                                                  const SymbolicAtom *start,
                                                  bool isCounted) {
  Form initial = values.getForm(carried.initial);
  Form next = getNext(argument, carried, algebra.ofAtom(*start));
  if (next.getFactor(start) == 1) {
    Form increment = algebra.add(next, algebra.ofAtom(*start), -1, nullptr);
    // No step wraps, or it would have another form.
    bool isNear = isWithin(getRange(initial), kMaxStart) &&
                  isWithin(getRange(increment), kMaxStep);
    if (!AtomFinder(start).isIn(increment) && (isNear || !isCounted))
      return algebra.add(initial, getTotal(carried.loop, increment), 1,
                         argument);
  }
  if (std::optional<Form> toggled = matchToggle(carried, next, start))
    return toggled;
  if (std::optional<Form> halved = matchHalving(carried, next, start))
    return halved;
  return advanceModulo(argument, carried, start, next);
}

/// The same of a value that starts again at zero: the next one is `next`.
std::optional<SymbolicForm>
CarriedForms::advanceModulo(BlockArgument argument, const CarriedValue &carried,
                            const SymbolicAtom *start, const Form &next) {
  int64_t size = 0;
  if (auto needed = known.neededSizes.find(start);
      needed != known.neededSizes.end())
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
    Form assumed = algebra.ofAtom(std::move(small));
    const SymbolicAtom *self = assumed.terms.front().first;
    increment = matchAdvance(getNext(argument, carried, assumed), self, size);
    if (!increment || AtomFinder(self).isIn(*increment))
      return std::nullopt;
  }
  if (size == 0)
    return std::nullopt;
  Form initial = values.getForm(carried.initial);
  Interval range = getRange(initial);
  if (!range.min || *range.min < 0 || !range.max || *range.max >= size) {
    if (initial.constant == 0 && initial.terms.size() == 1 &&
        initial.terms.front().second == 1 &&
        known.tentative.contains(initial.terms.front().first->value))
      known.neededSizes[initial.terms.front().first] = size;
    return std::nullopt;
  }
  return algebra.remainder(
      algebra.add(initial,
                  increment->isConstant()
                      ? algebra.multiply(*increment,
                                         loopForms.getIteration(carried.loop))
                      : getSum(carried.loop, *increment),
                  1, argument),
      Form(size));
}

SymbolicForm CarriedForms::translate(BlockArgument argument,
                                     const CarriedValue &carried) {
  Form self = algebra.makeOpaque(argument);
  if (self.terms.size() != 1 || !carried.loop->isCountable)
    return self;
  // What it is in the next iteration is of interest if there is one.
  Atom tested = *self.terms.front().first;
  tested.range = getTestedRange(argument, *carried.loop, tested.range);
  // Of one value, or none, there is nothing to tell.
  const SymbolicAtom *start = self.terms.front().first;
  bool isTold = !tested.range.min || tested.range.min != tested.range.max;
  if (isTold)
    start = algebra.ofAtom(tested).terms.front().first;
  if (auto form = advance(argument, carried, start, /*isCounted=*/false))
    return *form;
  if (!isTold || tested.range.max || !argument.getType().isInteger(64))
    return self;
  // By induction, if it turns out to be counted.
  tested.range = {tested.range.min.value_or(-2 * kMaxStart), 2 * kMaxStart};
  start = algebra.ofAtom(std::move(tested)).terms.front().first;
  auto form = advance(argument, carried, start, /*isCounted=*/true);
  return form ? *form : self;
}

//===----------------------------------------------------------------------===//
// What starts again
//===----------------------------------------------------------------------===//

/// A value that is one of two numbers in turn: of `start`, the next one is
/// `next`, a number less `start`, or some of its bits flipped.
std::optional<SymbolicForm>
CarriedForms::matchToggle(const CarriedValue &carried, const Form &next,
                          const SymbolicAtom *start) {
  Form first = values.getForm(carried.initial);
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
  Form odd = algebra.remainder(loopForms.getIteration(carried.loop), Form(2));
  return algebra.add(first, odd, second - first.constant, nullptr);
}

/// A value that each iteration halves, or divides by another power of two, from
/// a constant on: it is never negative.
std::optional<SymbolicForm>
CarriedForms::matchHalving(const CarriedValue &carried, const Form &next,
                           const SymbolicAtom *start) {
  Form first = values.getForm(carried.initial);
  if (!first.isConstant() || first.constant < 0 || next.constant != 0 ||
      next.terms.size() != 1 || next.terms.front().second != 1)
    return std::nullopt;
  const Atom &atom = *next.terms.front().first;
  bool isFunction = atom.kind == Atom::Function;
  bool isShift = isFunction && isa<arith::ShRUIOp>(atom.op);
  bool isQuotient = atom.kind == Atom::Quotient ||
                    (isFunction && isa<arith::DivUIOp>(atom.op));
  if ((!isShift && !isQuotient) || !atom.operands[1].isConstant() ||
      atom.operands[0] != algebra.ofAtom(*start))
    return std::nullopt;
  int64_t by = atom.operands[1].constant;
  if (isQuotient)
    by = by > 0 && llvm::isPowerOf2_64(by) ? int64_t(llvm::Log2_64(by)) : 0;
  constexpr int64_t kMaxBits = 31;
  if (by < 1 || by > kMaxBits)
    return std::nullopt;
  Form iterations = loopForms.getIteration(carried.loop);
  return algebra.shift(first.constant, algebra.multiply(Form(by), iterations));
}

/// By how much `form` is more than `start`, modulo `size`, if `start` is from 0
/// to below it, and so is the result. Finds the size.
std::optional<SymbolicForm>
CarriedForms::matchAdvance(const Form &form, const SymbolicAtom *start,
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
    Form whole = algebra.add(form, quotient, -factor, nullptr);
    if (whole != atom->operands[0] || whole.getFactor(start) != 1)
      continue;
    size = -factor;
    quotient.terms.front().first = start;
    return algebra.add(whole, quotient, -1, nullptr);
  }
  return std::nullopt;
}

/// By how much y is more than `start`, if `atom` is y < n ? y : y - n, where y
/// is n more at most.
std::optional<SymbolicForm>
CarriedForms::matchSubtraction(const SymbolicAtom &atom,
                               const SymbolicAtom *start, int64_t &size) {
  int64_t found = 0;
  std::optional<Form> next =
      matchWrapping(atom.operands[0], atom.operands[1], atom.condition, found);
  if (!next || (size && size != found))
    return std::nullopt;
  Form self;
  self.terms.emplace_back(start, 1);
  Form increment = algebra.add(*next, self, -1, nullptr);
  Interval range = getRange(increment);
  if (!range.min || *range.min < 0 || !range.max || *range.max > found ||
      AtomFinder(start).isIn(increment))
    return std::nullopt;
  size = found;
  return increment;
}

/// The same for a selection, or a remainder of what is not known not to be
/// negative.
std::optional<SymbolicForm> CarriedForms::matchWrap(const SymbolicAtom &atom,
                                                    const SymbolicAtom *start,
                                                    int64_t &size) {
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
    Form increment = algebra.add(atom.operands[0], self, -1, nullptr);
    if (!atom.operands[1].isConstant() || !isNonNegative(increment) ||
        !setSize(atom.operands[1].constant))
      return std::nullopt;
    return increment;
  }
  if (atom.kind != Atom::Select)
    return std::nullopt;
  // x == n ? 0 : x, where x is one more at most.
  if (atom.operands[0] == Form(0)) {
    Form increment = algebra.add(atom.operands[1], self, -1, nullptr);
    Interval range = getRange(increment);
    bool isStep = range.min && *range.min >= 0 && range.max && *range.max <= 1;
    Form end = algebra.add(atom.operands[1], atom.condition.form, -1, nullptr);
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
  return algebra.select(atom.condition, *lhs, *rhs);
}

} // namespace mlir::workgroup
