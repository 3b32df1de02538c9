//===- SymbolicLoops.cpp - How often loops iterate ------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SymbolicTranslator.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::workgroup {

using Form = SymbolicForm;

std::optional<SymbolicIndex::Span>
SymbolicIndex::getSpan(const KernelLoop *loop) {
  if (auto counted = dyn_cast_or_null<scf::ForOp>(loop->op)) {
    Form lower = getForm(counted.getLowerBound());
    Form upper = getForm(counted.getUpperBound());
    Form step = getForm(counted.getStep());
    // Compared as numbers without a sign, what is below zero is large.
    auto isPlain = [&](const Form &form) {
      Interval range = getRange(form);
      return range.min && *range.min >= 0;
    };
    if (counted.getUnsignedCmp() &&
        !(isPlain(lower) && isPlain(upper) && isPlain(step)))
      return std::nullopt;
    return Span{lower, add(upper, lower, -1, nullptr), step};
  }
  if (auto counted = dyn_cast_or_null<affine::AffineForOp>(loop->op)) {
    SymbolicTranslator translator(*this);
    Form lower = translator.translateExtremum(counted.getLowerBoundMap(),
                                              counted.getLowerBoundOperands(),
                                              /*isMinimum=*/false);
    Form upper = translator.translateExtremum(counted.getUpperBoundMap(),
                                              counted.getUpperBoundOperands(),
                                              /*isMinimum=*/true);
    return Span{lower, add(upper, lower, -1, nullptr),
                Form(counted.getStepAsInt())};
  }
  return std::nullopt;
}

/// Where `loop` gets to by unsigned steps from a number that is not negative;
/// nothing if that may be below zero as a signed one.
std::optional<SymbolicForm>
SymbolicIndex::getUnsignedCounter(const KernelLoop *loop) {
  auto counted = dyn_cast_or_null<scf::ForOp>(loop->op);
  if (!counted || !counted.getUnsignedCmp())
    return std::nullopt;
  Form lower = getForm(counted.getLowerBound());
  Form step = getForm(counted.getStep());
  Interval first = getRange(lower);
  Type type = counted.getInductionVar().getType();
  bool isFar = !type.isIndex() && !(first.max && *first.max <= kMaxStart);
  bool isNarrow = !type.isIndex() && type.getIntOrFloatBitWidth() < 64;
  if (!first.min || *first.min < 0 || isFar || isNarrow || !step.isConstant() ||
      step.constant < 1 || step.constant > kMaxStep)
    return std::nullopt;
  return lower.plus(multiply(step, getIteration(loop)));
}

std::optional<SymbolicForm> SymbolicIndex::getCounter(const KernelLoop *loop) {
  if (std::optional<Span> span = getSpan(loop))
    return span->lower.plus(multiply(span->step, getIteration(loop)));
  return getUnsignedCounter(loop);
}

SymbolicCondition SymbolicIndex::getBounds(const KernelLoop *loop) {
  std::optional<Span> span = getSpan(loop);
  if (!span && isa_and_nonnull<scf::ForOp>(loop->op))
    if (std::optional<SymbolicCondition> test = getTest(loop))
      return *test;
  if (!span)
    return getUnknown();
  Form begun = multiply(span->step, getIteration(loop));
  return SymbolicCondition::of(
      SymbolicCondition::NonNegative,
      add(add(span->length, begun, -1, nullptr), Form(-1), 1, nullptr));
}

/// When control gets past the test of `loop`, which does not count.
std::optional<SymbolicCondition>
SymbolicIndex::getTest(const KernelLoop *loop) {
  if (auto general = dyn_cast_or_null<scf::WhileOp>(loop->op))
    return getCondition(general.getConditionOp().getCondition());
  if (std::optional<Form> counter = getUnsignedCounter(loop))
    return isBelowUnsigned(*counter, /*isLhsPlain=*/true,
                           getForm(cast<scf::ForOp>(loop->op).getUpperBound()),
                           /*isRhsPlain=*/false);
  if (loop->op)
    return std::nullopt;
  // An iteration that does not get to it does not depend on it.
  auto isAskedEachIteration = [&](Block *exiting) {
    return llvm::all_of(loop->header->getPredecessors(), [&](Block *from) {
      return !loop->contains(loops.getLoop(from)) ||
             dominance.dominates(exiting, from);
    });
  };
  std::optional<SymbolicCondition> test;
  for (Block &block : *loop->header->getParent()) {
    if (!loop->contains(loops.getLoop(&block)))
      continue;
    for (Block *next : block.getSuccessors()) {
      if (loop->contains(loops.getLoop(next)))
        continue;
      auto branch = dyn_cast<cf::CondBranchOp>(block.getTerminator());
      if (!branch || test || !isAskedEachIteration(&block))
        return std::nullopt;
      SymbolicCondition leaves = getCondition(branch.getCondition());
      test = branch.getTrueDest() == next ? leaves.negate() : leaves;
    }
  }
  return test;
}

/// True if `test` of `loop` never holds again once it does not: what it asks
/// for only gets less from iteration to iteration.
static bool isFalling(const SymbolicCondition &test, const KernelLoop *loop) {
  return test.kind == SymbolicCondition::NonNegative &&
         llvm::all_of(test.form.terms, [&](auto term) {
           auto [atom, factor] = term;
           if (atom->kind == SymbolicAtom::Iteration && atom->loop == loop)
             return factor <= 0;
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

/// When the test of `loop` was passed in all iterations before this one.
SymbolicCondition SymbolicIndex::getReached(const KernelLoop *loop) {
  using Condition = SymbolicCondition;
  Form iteration = getIteration(loop),
       before = add(iteration, Form(-1), 1, nullptr);
  std::optional<Condition> test = getTest(loop);
  if (test && test->kind == Condition::True)
    return {};
  if (std::optional<int64_t> hit = test ? getHit(*test, loop) : std::nullopt)
    return Condition::of(Condition::NonNegative,
                         add(Form(*hit), iteration, -1, nullptr));
  Condition isFirst = Condition::of(Condition::Zero, iteration);
  SymbolicTranslator translator(*this);
  std::optional<Condition> last, first;
  if (test) {
    last = translator.substitute(*test, loop, before);
    first = translator.substitute(*test, loop, Form(0));
  }
  if (!last || !first)
    return Condition::join(Condition::Any, {isFirst, getUnknown()});
  if (isFalling(*test, loop))
    return Condition::join(Condition::Any, {isFirst, *last});
  // Between the first and the last one it may have failed.
  Condition isSecond = Condition::of(Condition::Zero, before);
  Condition between = Condition::join(Condition::Any, {isSecond, getUnknown()});
  return Condition::join(
      Condition::Any,
      {isFirst, Condition::join(Condition::All, {*first, *last, between})});
}

bool SymbolicIndex::isSteady(const KernelLoop *loop) {
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
  if (std::optional<Span> span = getSpan(loop))
    return isFixed(span->length) && isFixed(span->step);
  std::optional<SymbolicCondition> test = getTest(loop);
  if (!test)
    return false;
  if (test->kind == SymbolicCondition::Any)
    return llvm::all_of(test->parts, [&](const SymbolicCondition &part) {
      return part.parts.empty() && isFixed(part.form);
    });
  return (test->kind == SymbolicCondition::NonNegative ||
          test->kind == SymbolicCondition::Zero) &&
         isFixed(test->form);
}

/// How often `test` of `loop` holds before it fails for the first time, if it
/// depends on the iteration only.
static std::optional<int64_t> countPassed(const SymbolicCondition &test,
                                          const KernelLoop *loop) {
  if (std::optional<int64_t> hit = getHit(test, loop))
    return hit;
  if (!isFalling(test, loop) || test.form.terms.size() != 1)
    return std::nullopt;
  auto [atom, step] = test.form.terms.front();
  if (atom->kind != SymbolicAtom::Iteration || atom->loop != loop || step == 0)
    return std::nullopt;
  int64_t first = test.form.constant;
  return first < 0 ? 0 : first / -step + 1;
}

std::optional<int64_t> SymbolicIndex::getNumIterations(const KernelLoop *loop) {
  std::optional<Span> span = getSpan(loop);
  if (std::optional<SymbolicCondition> test = getTest(loop); !span && test)
    return countPassed(*test, loop);
  if (!span || !span->length.isConstant() || !span->step.isConstant() ||
      span->step.constant <= 0)
    return std::nullopt;
  return std::max<int64_t>(
      0, llvm::divideCeilSigned(span->length.constant, span->step.constant));
}

bool SymbolicIndex::hasIteration(const KernelLoop *loop) {
  if (std::optional<Span> span = getSpan(loop)) {
    Interval length = getRange(span->length);
    return length.min && *length.min >= 1;
  }
  std::optional<SymbolicCondition> test = getTest(loop);
  if (!test || test->kind != SymbolicCondition::NonNegative)
    return test && test->kind == SymbolicCondition::True;
  std::optional<Form> first =
      SymbolicTranslator(*this).substitute(test->form, loop, Form(0));
  Interval range = first ? getRange(*first) : Interval();
  return range.min && *range.min >= 0;
}

/// When the test of `loop`, which does not count, fails in one of the
/// iterations from `first` on.
std::optional<SymbolicCondition>
SymbolicIndex::getFailure(const KernelLoop *loop, const SymbolicForm &first,
                          int64_t count) {
  using Condition = SymbolicCondition;
  constexpr int64_t kMaxIterations = 64;
  std::optional<Condition> test = getTest(loop);
  if (!test || count > kMaxIterations ||
      (test->kind != Condition::NonNegative && test->kind != Condition::Zero))
    return std::nullopt;
  std::vector<Condition> failures;
  for (int64_t later = 0; later < count; ++later) {
    std::optional<Form> form = SymbolicTranslator(*this).substitute(
        test->form, loop, add(first, Form(later), 1, nullptr));
    if (!form)
      return std::nullopt;
    failures.push_back(Condition::of(test->kind, *form).negate());
  }
  return failures.size() == 1
             ? failures.front()
             : Condition::join(Condition::Any, std::move(failures));
}

std::optional<SymbolicCondition>
SymbolicIndex::getDecision(Operation *branch, unsigned region,
                           const KernelLoop *loop, int64_t later) {
  std::optional<SymbolicCondition> condition = getDecision(branch, region);
  if (!condition || !loop)
    return condition;
  return SymbolicTranslator(*this).substitute(
      *condition, loop, add(getIteration(loop), Form(later), 1, nullptr));
}

std::optional<SymbolicCondition>
SymbolicIndex::getGuardInFirstIterations(Operation *op) {
  std::optional<SymbolicCondition> guard = getGuard(op);
  for (const KernelLoop *loop = loops.getLoop(op); loop && guard;
       loop = loop->parent)
    guard = SymbolicTranslator(*this).substitute(*guard, loop, Form(0));
  return guard;
}

std::optional<SymbolicCondition>
SymbolicIndex::getCondition(const LoopEnd &end) {
  using Condition = SymbolicCondition;
  Form now = end.isFromStart ? Form(0) : getIteration(end.loop);
  if (end.other)
    now = getIteration(end.other);
  std::optional<Condition> condition;
  if (std::optional<Span> span = getSpan(end.loop)) {
    Form later = add(now, Form(end.most), 1, nullptr);
    condition =
        Condition::of(Condition::NonNegative, add(multiply(span->step, later),
                                                  span->length, -1, nullptr));
  } else if (end.isFromStart) {
    condition = getFailure(end.loop, now, end.most + !end.isBeforeTest);
  } else {
    Form next = add(now, Form(end.isBeforeTest ? 0 : 1), 1, nullptr);
    condition = getFailure(end.loop, next, end.most);
  }
  return condition && end.isNot ? condition->negate() : condition;
}

//===----------------------------------------------------------------------===//
// What tests tell of values
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

/// The unsigned number that `argument` is, which counts by one from what is not
/// negative, as long as that is below a number: so it does not wrap.
std::optional<SymbolicForm>
SymbolicTranslator::getUnsignedCount(BlockArgument argument) {
  if (argument.getType().isIndex() || argument.getType().isInteger(64))
    return std::nullopt; // far from the end of these
  auto counted = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
  if (counted && argument == counted.getInductionVar()) {
    const KernelLoop *loop = index.loops.getLoopOf(counted);
    Form lower = index.getForm(counted.getLowerBound());
    if (!loop || !counted.getUnsignedCmp() || !isNonNegative(lower) ||
        index.getForm(counted.getStep()) != Form(1))
      return std::nullopt;
    return index.add(lower, index.getIteration(loop), 1, nullptr);
  }
  std::optional<CarriedValue> carried = index.loops.getCarried(argument);
  if (!carried || !carried->loop->isCountable || carried->loop->op)
    return std::nullopt;
  std::optional<LoopTest> test = index.loops.getTest(carried->loop);
  auto sum = carried->next.getDefiningOp<arith::AddIOp>();
  bool isTested = test && test->goesOnIf &&
                  test->compare.getLhs() == argument &&
                  test->compare.getPredicate() == arith::CmpIPredicate::ult;
  bool isCounted =
      sum && sum.getLhs() == argument && index.getForm(sum.getRhs()) == Form(1);
  Form initial = index.getForm(carried->initial);
  if (!isTested || !isCounted || !isNonNegative(initial))
    return std::nullopt;
  return index.add(initial, index.getIteration(carried->loop), 1, nullptr);
}

/// What of `range`, in which `value` is, it may be in iterations of `loop` that
/// get past its test.
Interval SymbolicTranslator::getTestedRange(Value value, const KernelLoop &loop,
                                            Interval range) {
  std::optional<LoopTest> test = index.loops.getTest(&loop);
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
  if (!loop.contains(index.loops.getLoop(bound.getParentBlock())))
    limit = index.getRange(index.getForm(bound));
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

} // namespace mlir::workgroup
