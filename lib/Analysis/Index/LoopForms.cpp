//===- LoopForms.cpp - How often loops iterate ----------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A test that falls from iteration to iteration, or that asks for one number,
// tells how often it is passed. Of other tests only the first and the last
// iteration are known.
//
//===----------------------------------------------------------------------===//

#include "LoopForms.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::workgroup {

using Form = SymbolicForm;

//===----------------------------------------------------------------------===//
// Counting
//===----------------------------------------------------------------------===//

std::optional<LoopForms::Span> LoopForms::getSpan(const KernelLoop *loop) {
  if (auto counted = dyn_cast_or_null<scf::ForOp>(loop->op)) {
    Form lower = values.getForm(counted.getLowerBound());
    Form upper = values.getForm(counted.getUpperBound());
    Form step = values.getForm(counted.getStep());
    // Compared as numbers without a sign, what is below zero is large.
    if (counted.getUnsignedCmp() &&
        !(isNonNegative(lower) && isNonNegative(upper) && isNonNegative(step)))
      return std::nullopt;
    return Span{lower, algebra.add(upper, lower, -1, nullptr), step};
  }
  if (auto counted = dyn_cast_or_null<affine::AffineForOp>(loop->op)) {
    Form lower = affine.getExtremum(counted.getLowerBoundMap(),
                                    counted.getLowerBoundOperands(),
                                    /*isMinimum=*/false);
    Form upper = affine.getExtremum(counted.getUpperBoundMap(),
                                    counted.getUpperBoundOperands(),
                                    /*isMinimum=*/true);
    return Span{lower, algebra.add(upper, lower, -1, nullptr),
                Form(counted.getStepAsInt())};
  }
  return std::nullopt;
}

SymbolicForm LoopForms::getIteration(const KernelLoop *loop) {
  SymbolicAtom atom;
  atom.kind = SymbolicAtom::Iteration;
  atom.loop = loop;
  atom.loops = {loop};
  atom.isUnsteady = !loop->isCountable;
  atom.range.min = 0;
  if (std::optional<Span> span = getSpan(loop)) {
    Interval length = getRange(span->length), step = getRange(span->step);
    if (length.max)
      atom.range.max = std::max<int64_t>(0, *length.max - 1) /
                       std::max<int64_t>(1, step.min.value_or(1));
  }
  return algebra.ofAtom(std::move(atom));
}

/// Where `loop` gets to by unsigned steps from a number that is not negative;
/// nothing if that may be below zero as a signed one.
std::optional<SymbolicForm>
LoopForms::getUnsignedCounter(const KernelLoop *loop) {
  auto counted = dyn_cast_or_null<scf::ForOp>(loop->op);
  if (!counted || !counted.getUnsignedCmp())
    return std::nullopt;
  Form lower = values.getForm(counted.getLowerBound());
  Form step = values.getForm(counted.getStep());
  Interval first = getRange(lower);
  Type type = counted.getInductionVar().getType();
  bool isFar = !type.isIndex() && !(first.max && *first.max <= kMaxStart);
  bool isNarrow = !type.isIndex() && type.getIntOrFloatBitWidth() < 64;
  if (!first.min || *first.min < 0 || isFar || isNarrow || !step.isConstant() ||
      step.constant < 1 || step.constant > kMaxStep)
    return std::nullopt;
  return lower.plus(algebra.multiply(step, getIteration(loop)));
}

std::optional<SymbolicForm> LoopForms::getCounter(const KernelLoop *loop) {
  if (std::optional<Span> span = getSpan(loop))
    return span->lower.plus(algebra.multiply(span->step, getIteration(loop)));
  return getUnsignedCounter(loop);
}

SmallVector<SymbolicForm> LoopForms::getDecisive(Operation *op) {
  if (auto counted = dyn_cast<scf::ForOp>(op);
      counted && counted.getUnsignedCmp())
    return {values.getForm(counted.getLowerBound()),
            values.getForm(counted.getUpperBound()),
            values.getForm(counted.getStep())};
  const KernelLoop *loop = algebra.getLoops().getLoopOf(op);
  std::optional<Span> span = loop ? getSpan(loop) : std::nullopt;
  if (!span)
    return {algebra.makeOpaque(nullptr)};
  if (std::optional<Form> trips = getTrips(*span))
    return {*trips};
  return {span->length, span->step};
}

std::optional<SymbolicForm> LoopForms::getTrips(const Span &span) {
  if (!isPositive(span.step))
    return std::nullopt;
  Form rounded = algebra.add(algebra.add(span.length, span.step, 1, nullptr),
                             Form(-1), 1, nullptr);
  return algebra.makeExtremum(/*isMinimum=*/false,
                              algebra.divide(rounded, span.step), Form(0));
}

//===----------------------------------------------------------------------===//
// Tests
//===----------------------------------------------------------------------===//

SymbolicCondition LoopForms::getBounds(const KernelLoop *loop) {
  std::optional<Span> span = getSpan(loop);
  if (!span && isa_and_nonnull<scf::ForOp>(loop->op))
    if (std::optional<SymbolicCondition> test = getTest(loop))
      return *test;
  if (!span)
    return algebra.getUnknown();
  Form begun = algebra.multiply(span->step, getIteration(loop));
  return SymbolicCondition::of(
      SymbolicCondition::NonNegative,
      algebra.add(algebra.add(span->length, begun, -1, nullptr), Form(-1), 1,
                  nullptr));
}

/// When control gets past the test of `loop`, which does not count.
std::optional<SymbolicCondition> LoopForms::getTest(const KernelLoop *loop) {
  if (auto general = dyn_cast_or_null<scf::WhileOp>(loop->op))
    return values.getCondition(general.getConditionOp().getCondition());
  if (std::optional<Form> counter = getUnsignedCounter(loop))
    return isBelowUnsigned(
        *counter, /*isLhsPlain=*/true,
        values.getForm(cast<scf::ForOp>(loop->op).getUpperBound()),
        /*isRhsPlain=*/false);
  if (loop->op)
    return std::nullopt;
  // An iteration that does not get to it does not depend on it.
  auto isAskedEachIteration = [&](Block *exiting) {
    return llvm::all_of(loop->header->getPredecessors(), [&](Block *from) {
      return !loop->contains(algebra.getLoops().getLoop(from)) ||
             dominance.dominates(exiting, from);
    });
  };
  std::optional<SymbolicCondition> test;
  for (Block &block : *loop->header->getParent()) {
    if (!loop->contains(algebra.getLoops().getLoop(&block)))
      continue;
    for (Block *next : block.getSuccessors()) {
      if (loop->contains(algebra.getLoops().getLoop(next)))
        continue;
      auto branch = dyn_cast<cf::CondBranchOp>(block.getTerminator());
      if (!branch || test || !isAskedEachIteration(&block))
        return std::nullopt;
      SymbolicCondition leaves = values.getCondition(branch.getCondition());
      test = branch.getTrueDest() == next ? leaves.negate() : leaves;
    }
  }
  return test;
}

/// True for a number that each iteration of `loop` takes bits from.
static bool isShiftedBy(const SymbolicAtom &atom, const KernelLoop *loop) {
  return atom.kind == SymbolicAtom::Shift &&
         llvm::all_of(atom.operands[1].terms, [&](auto term) {
           return term.first->kind == SymbolicAtom::Iteration &&
                  term.first->loop == loop && term.second >= 0;
         });
}

/// True if `test` of `loop` never holds again once it does not: what it asks
/// for only gets less from iteration to iteration.
static bool isFalling(const SymbolicCondition &test, const KernelLoop *loop) {
  return test.kind == SymbolicCondition::NonNegative &&
         llvm::all_of(test.form.terms, [&](auto term) {
           auto [atom, factor] = term;
           if (atom->kind == SymbolicAtom::Iteration && atom->loop == loop)
             return factor <= 0;
           if (isShiftedBy(*atom, loop))
             return factor >= 0;
           return !atom->isUnsteady && !llvm::is_contained(atom->loops, loop);
         });
}

/// In which iteration the test `!=` of `loop` fails, counted from 0; nothing if
/// it is no such test, or that is not known.
static std::optional<int64_t> getHit(const SymbolicCondition &test,
                                     const KernelLoop *loop) {
  using Condition = SymbolicCondition;
  auto isSide = [](const Condition &part) {
    return part.kind == Condition::NonNegative;
  };
  if (test.kind != Condition::Any || test.parts.size() != 2 ||
      !llvm::all_of(test.parts, isSide))
    return std::nullopt;
  // Above zero or below.
  Form above = test.parts[1].form;
  above.constant += 1;
  Condition zero = Condition::of(Condition::Zero, above);
  if (!(zero.negate() == test) || above.terms.size() != 1)
    return std::nullopt;
  auto [atom, step] = above.terms.front();
  bool isIteration =
      atom->kind == SymbolicAtom::Iteration && atom->loop == loop;
  if (!isIteration || above.constant % step != 0 || -above.constant / step < 0)
    return std::nullopt;
  return -above.constant / step;
}

SymbolicCondition LoopForms::getReached(const KernelLoop *loop) {
  using Condition = SymbolicCondition;
  Form iteration = getIteration(loop),
       before = algebra.add(iteration, Form(-1), 1, nullptr);
  std::optional<Condition> test = getTest(loop);
  if (test && test->kind == Condition::True)
    return {};
  if (std::optional<int64_t> hit = test ? getHit(*test, loop) : std::nullopt)
    return Condition::of(Condition::NonNegative,
                         algebra.add(Form(*hit), iteration, -1, nullptr));
  Condition isFirst = Condition::of(Condition::Zero, iteration);
  std::optional<Condition> last, first;
  if (test) {
    last = substitute(algebra, *test, loop, before);
    first = substitute(algebra, *test, loop, Form(0));
  }
  if (!last || !first)
    return Condition::join(Condition::Any, {isFirst, algebra.getUnknown()});
  if (isFalling(*test, loop))
    return Condition::join(Condition::Any, {isFirst, *last});
  // Between the first and the last one it may have failed.
  Condition isSecond = Condition::of(Condition::Zero, before);
  Condition between =
      Condition::join(Condition::Any, {isSecond, algebra.getUnknown()});
  return Condition::join(
      Condition::Any,
      {isFirst, Condition::join(Condition::All, {*first, *last, between})});
}

//===----------------------------------------------------------------------===//
// Numbers of iterations
//===----------------------------------------------------------------------===//

/// The same of a test that nothing but bits that are taken away decides.
std::optional<int64_t> LoopForms::countShifts(const KernelLoop *loop,
                                              const SymbolicCondition &test) {
  bool isOfShifts = llvm::all_of(test.form.terms, [&](auto term) {
    return isShiftedBy(*term.first, loop);
  });
  if (test.form.isConstant() || !isOfShifts || !isFalling(test, loop))
    return std::nullopt;
  constexpr int64_t kMost = 64; // no number has more bits
  for (int64_t iteration = 0; iteration < kMost; ++iteration) {
    std::optional<Form> form =
        substitute(algebra, test.form, loop, Form(iteration));
    if (!form || !form->isConstant())
      return std::nullopt;
    if (form->constant < 0)
      return iteration;
  }
  return std::nullopt;
}

std::optional<SymbolicForm> LoopForms::getTrips(const KernelLoop *loop,
                                                const SymbolicCondition &test) {
  if (std::optional<int64_t> count = countShifts(loop, test))
    return Form(*count);
  if (std::optional<int64_t> hit = getHit(test, loop))
    return Form(*hit);
  if (!isFalling(test, loop))
    return std::nullopt;
  Form first = test.form;
  const auto *falling = llvm::find_if(first.terms, [&](auto term) {
    return term.first->kind == SymbolicAtom::Iteration &&
           term.first->loop == loop;
  });
  if (falling == first.terms.end())
    return std::nullopt;
  Form step = -falling->second;
  first.terms.erase(falling);
  return getTrips(Span{Form(0), algebra.add(first, Form(1), 1, nullptr), step});
}

bool LoopForms::isSteady(const KernelLoop *loop) {
  // What changes with the iterations of the loop itself does so each time.
  auto isFixed = [&](const Form &form) {
    return llvm::all_of(form.terms, [&](auto term) {
      const SymbolicAtom &atom = *term.first;
      return !atom.isDivergent && !atom.isUnsteady &&
             llvm::all_of(atom.loops, [&](const KernelLoop *other) {
               return other == loop;
             });
    });
  };
  if (std::optional<Span> span = getSpan(loop)) {
    std::optional<Form> trips = getTrips(*span);
    return (trips && isFixed(*trips)) ||
           (isFixed(span->length) && isFixed(span->step));
  }
  std::optional<SymbolicCondition> test = getTest(loop);
  if (!test)
    return false;
  if (std::optional<Form> trips = getTrips(loop, *test);
      trips && isFixed(*trips))
    return true;
  if (test->kind == SymbolicCondition::Any)
    return llvm::all_of(test->parts, [&](const SymbolicCondition &part) {
      return part.parts.empty() && isFixed(part.form);
    });
  return (test->kind == SymbolicCondition::NonNegative ||
          test->kind == SymbolicCondition::Zero) &&
         isFixed(test->form);
}

std::optional<int64_t> LoopForms::getNumIterations(const KernelLoop *loop) {
  std::optional<Span> span = getSpan(loop);
  std::optional<SymbolicCondition> test = getTest(loop);
  std::optional<Form> trips;
  if (span)
    trips = getTrips(*span);
  else if (test)
    trips = getTrips(loop, *test);
  return trips && trips->isConstant() ? std::optional(trips->constant)
                                      : std::nullopt;
}

bool LoopForms::hasIteration(const KernelLoop *loop) {
  if (std::optional<Span> span = getSpan(loop)) {
    Interval length = getRange(span->length);
    return length.min && *length.min >= 1;
  }
  std::optional<SymbolicCondition> test = getTest(loop);
  if (!test || test->kind != SymbolicCondition::NonNegative)
    return test && test->kind == SymbolicCondition::True;
  std::optional<Form> first = substitute(algebra, test->form, loop, Form(0));
  return first && isNonNegative(*first);
}

//===----------------------------------------------------------------------===//
// Ends
//===----------------------------------------------------------------------===//

/// When the test of `loop`, which does not count, fails in one of the
/// iterations from `first` on.
std::optional<SymbolicCondition>
LoopForms::getFailure(const KernelLoop *loop, const SymbolicForm &first,
                      int64_t count) {
  using Condition = SymbolicCondition;
  constexpr int64_t kMaxIterations = 64;
  std::optional<Condition> test = getTest(loop);
  if (!test || count > kMaxIterations ||
      (test->kind != Condition::NonNegative && test->kind != Condition::Zero))
    return std::nullopt;
  std::vector<Condition> failures;
  for (int64_t later = 0; later < count; ++later) {
    std::optional<Form> form = substitute(
        algebra, test->form, loop, algebra.add(first, Form(later), 1, nullptr));
    if (!form)
      return std::nullopt;
    failures.push_back(Condition::of(test->kind, *form).negate());
  }
  return failures.size() == 1
             ? failures.front()
             : Condition::join(Condition::Any, std::move(failures));
}

std::optional<SymbolicCondition> LoopForms::getCondition(const LoopEnd &end) {
  using Condition = SymbolicCondition;
  Form now = end.isFromStart ? Form(0) : getIteration(end.loop);
  if (end.other)
    now = getIteration(end.other);
  std::optional<Condition> condition;
  if (std::optional<Span> span = getSpan(end.loop)) {
    Form later = algebra.add(now, Form(end.most), 1, nullptr);
    condition = Condition::of(Condition::NonNegative,
                              algebra.add(algebra.multiply(span->step, later),
                                          span->length, -1, nullptr));
  } else if (end.isFromStart) {
    condition = getFailure(end.loop, now, end.most + !end.isBeforeTest);
  } else {
    Form next = algebra.add(now, Form(end.isBeforeTest ? 0 : 1), 1, nullptr);
    condition = getFailure(end.loop, next, end.most);
  }
  return condition && end.isNot ? condition->negate() : condition;
}

} // namespace mlir::workgroup
