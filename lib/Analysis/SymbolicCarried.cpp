//===- SymbolicCarried.cpp - What loops count and carry -------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SymbolicTranslator.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::workgroup {

using Atom = SymbolicAtom;
using Form = SymbolicForm;

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

std::optional<SymbolicIndex::Span>
SymbolicIndex::getSpan(const KernelLoop *loop) {
  if (auto counted = dyn_cast_or_null<scf::ForOp>(loop->op)) {
    if (counted.getUnsignedCmp())
      return std::nullopt;
    Form lower = getForm(counted.getLowerBound());
    return Span{lower,
                add(getForm(counted.getUpperBound()), lower, -1, nullptr),
                getForm(counted.getStep())};
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

SymbolicCondition SymbolicIndex::getBounds(const KernelLoop *loop) {
  std::optional<Span> span = getSpan(loop);
  if (!span)
    return {};
  Form begun = multiply(span->step, getTurn(loop));
  return SymbolicCondition::of(
      SymbolicCondition::NonNegative,
      add(add(span->length, begun, -1, nullptr), Form(-1), 1, nullptr));
}

/// When control gets past the test of `loop`, which does not count.
std::optional<SymbolicCondition>
SymbolicIndex::getTest(const KernelLoop *loop) {
  if (auto general = dyn_cast_or_null<scf::WhileOp>(loop->op))
    return getCondition(general.getConditionOp().getCondition());
  if (loop->op)
    return std::nullopt;
  std::optional<SymbolicCondition> test;
  for (Block &block : *loop->header->getParent()) {
    if (!loop->contains(loops.getLoop(&block)))
      continue;
    for (Block *next : block.getSuccessors()) {
      if (loop->contains(loops.getLoop(next)))
        continue;
      auto branch = dyn_cast<cf::CondBranchOp>(block.getTerminator());
      if (!branch || test)
        return std::nullopt;
      SymbolicCondition leaves = getCondition(branch.getCondition());
      test = branch.getTrueDest() == next ? leaves.negate() : leaves;
    }
  }
  return test;
}

/// What holds before the test of `loop`: in all turns but the first one, the
/// test was passed in the turn before.
SymbolicCondition SymbolicIndex::getReached(const KernelLoop *loop) {
  using Condition = SymbolicCondition;
  Form turn = getTurn(loop);
  std::optional<Condition> test = getTest(loop);
  Condition passed = getUnknown();
  if (test && test->kind == Condition::True)
    return {};
  if (test &&
      (test->kind == Condition::NonNegative || test->kind == Condition::Zero))
    if (std::optional<Form> before = SymbolicTranslator(*this).substitute(
            test->form, loop, add(turn, Form(-1), 1, nullptr)))
      passed = Condition::of(test->kind, *before);
  return Condition::join(Condition::Any,
                         {Condition::of(Condition::Zero, turn), passed});
}

bool SymbolicIndex::hasTurn(const KernelLoop *loop) {
  if (std::optional<Span> span = getSpan(loop)) {
    SymbolicRange length = getRange(span->length);
    return length.min && *length.min >= 1;
  }
  std::optional<SymbolicCondition> test = getTest(loop);
  if (!test || test->kind != SymbolicCondition::NonNegative)
    return test && test->kind == SymbolicCondition::True;
  std::optional<Form> first =
      SymbolicTranslator(*this).substitute(test->form, loop, Form(0));
  SymbolicRange range = first ? getRange(*first) : SymbolicRange();
  return range.min && *range.min >= 0;
}

std::optional<SymbolicCondition>
SymbolicIndex::getLastTurn(const KernelLoop *loop, bool isBeforeTest) {
  using Condition = SymbolicCondition;
  if (std::optional<Span> span = getSpan(loop)) {
    Form begun = multiply(span->step, add(getTurn(loop), Form(1), 1, nullptr));
    return Condition::of(Condition::NonNegative,
                         add(begun, span->length, -1, nullptr));
  }
  std::optional<Condition> test = getTest(loop);
  if (!test ||
      (test->kind != Condition::NonNegative && test->kind != Condition::Zero))
    return std::nullopt;
  if (isBeforeTest)
    return test->negate();
  std::optional<Form> next = SymbolicTranslator(*this).substitute(
      test->form, loop, add(getTurn(loop), Form(1), 1, nullptr));
  if (!next)
    return std::nullopt;
  return Condition::of(test->kind, *next).negate();
}

//===----------------------------------------------------------------------===//
// Values that loops carry
//===----------------------------------------------------------------------===//

/// What `from` hands to `argument`, an argument of a block that it goes to;
/// null if that is not known.
static Value getIncoming(Block *from, BlockArgument argument) {
  auto branch = dyn_cast<BranchOpInterface>(from->getTerminator());
  if (!branch)
    return nullptr;
  Value incoming;
  for (auto [i, successor] : llvm::enumerate(from->getSuccessors())) {
    if (successor != argument.getOwner())
      continue;
    SuccessorOperands operands = branch.getSuccessorOperands(i);
    if (incoming || operands.isOperandProduced(argument.getArgNumber()))
      return nullptr;
    incoming = operands[argument.getArgNumber()];
  }
  return incoming;
}

std::optional<SymbolicTranslator::Carried>
SymbolicTranslator::getCarried(BlockArgument argument) {
  Block *block = argument.getOwner();
  const KernelLoop *loop = index.loops.getLoopOf(block->getParentOp());
  if (auto op = dyn_cast<LoopLikeOpInterface>(block->getParentOp())) {
    OpOperand *initial = op.getTiedLoopInit(argument);
    OpOperand *next = op.getTiedLoopYieldedValue(argument);
    if (loop && initial && next)
      return Carried{loop, initial->get(), next->get()};
    return std::nullopt;
  }
  loop = index.loops.getLoopAt(block);
  if (!loop || !loop->latch || !loop->entering)
    return std::nullopt;
  Value initial = getIncoming(loop->entering, argument);
  Value next = getIncoming(loop->latch, argument);
  if (!initial || !next)
    return std::nullopt;
  return Carried{loop, initial, next};
}

SymbolicForm SymbolicTranslator::translateArgument(BlockArgument argument) {
  Operation *parent = argument.getOwner()->getParentOp();
  const KernelLoop *loop = index.loops.getLoopOf(parent);
  if (loop && isa<scf::ForOp, affine::AffineForOp>(parent) &&
      argument.getArgNumber() == 0) {
    if (auto span = index.getSpan(loop))
      return index.add(span->lower,
                       index.multiply(span->step, index.getTurn(loop)), 1,
                       argument);
    return index.makeOpaque(argument);
  }
  if (auto loopOp = dyn_cast<scf::WhileOp>(parent))
    if (argument.getOwner() == loopOp.getAfterBody())
      return index.getForm(
          loopOp.getConditionOp().getArgs()[argument.getArgNumber()]);
  if (std::optional<Carried> carried = getCarried(argument))
    return translateCarried(argument, *carried);
  return index.makeOpaque(argument);
}

/// True if `form` has `atom` in it, at any depth.
static bool contains(const SymbolicForm &form, const SymbolicAtom *atom);

static bool contains(const SymbolicCondition &condition,
                     const SymbolicAtom *atom) {
  return contains(condition.form, atom) ||
         llvm::any_of(condition.parts, [&](const SymbolicCondition &part) {
           return contains(part, atom);
         });
}

static bool contains(const SymbolicForm &form, const SymbolicAtom *atom) {
  return llvm::any_of(form.terms, [&](auto term) {
    return term.first == atom ||
           llvm::any_of(term.first->operands,
                        [&](const SymbolicForm &operand) {
                          return contains(operand, atom);
                        }) ||
           contains(term.first->condition, atom);
  });
}

/// `increment` added up over the turns of `loop` so far.
SymbolicForm SymbolicTranslator::getTotal(const KernelLoop *loop,
                                          const Form &increment) {
  bool isFixed = llvm::all_of(increment.terms, [&](auto term) {
    return !term.first->isUnsteady &&
           llvm::none_of(term.first->loops, [&](const KernelLoop *around) {
             return loop->contains(around);
           });
  });
  if (isFixed)
    return index.multiply(increment, index.getTurn(loop));
  Atom atom;
  atom.kind = Atom::Total;
  atom.loop = loop;
  atom.operands = {increment};
  return index.ofAtom(std::move(atom));
}

/// A value of which each turn adds to what it was, or that does so modulo a
/// number.
SymbolicForm SymbolicTranslator::translateCarried(BlockArgument argument,
                                                  const Carried &carried) {
  Form self = index.makeOpaque(argument);
  if (self.terms.size() != 1 || !carried.loop->isCountable)
    return self;
  const SymbolicAtom *start = self.terms.front().first;

  // What the next one is, if this is taken for granted.
  index.tentative[argument] = self;
  DenseMap<Value, Form> known = std::exchange(index.forms, index.tentative);
  Form next = index.getForm(carried.next);
  index.forms = std::move(known);
  index.tentative.erase(argument);

  if (next.getFactor(start) == 1) {
    Form increment = index.add(next, self, -1, nullptr);
    if (!contains(increment, start))
      return fit(index.add(index.getForm(carried.initial),
                           getTotal(carried.loop, increment), 1, argument),
                 argument);
  }
  int64_t size = 0;
  std::optional<Form> increment = matchAdvance(next, start, size);
  if (!increment || size == 0 || contains(*increment, start))
    return self;
  Form initial = index.getForm(carried.initial);
  SymbolicRange range = index.getRange(initial);
  if (!range.min || *range.min < 0 || !range.max || *range.max >= size)
    return self;
  return index.remainder(
      index.add(initial, getTotal(carried.loop, *increment), 1, argument),
      Form(size));
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
    SymbolicRange range = index.getRange(increment);
    bool isStep = range.min && *range.min >= 0 && range.max && *range.max <= 1;
    Form end = index.add(atom.operands[1], atom.condition.form, -1, nullptr);
    bool isAtEnd = atom.condition.kind == SymbolicCondition::Zero ||
                   atom.condition.kind == SymbolicCondition::NonNegative;
    if (isStep && isAtEnd && end.isConstant() && setSize(end.constant))
      return increment;
  }
  std::optional<Form> lhs = matchAdvance(atom.operands[0], start, size);
  std::optional<Form> rhs = matchAdvance(atom.operands[1], start, size);
  if (!lhs || !rhs)
    return std::nullopt;
  return index.select(atom.condition, *lhs, *rhs);
}

//===----------------------------------------------------------------------===//
// Results of loops and branches
//===----------------------------------------------------------------------===//

/// `atom` where the turn of `loop` is `turns`.
std::optional<SymbolicForm>
SymbolicTranslator::substitute(const SymbolicAtom *atom, const KernelLoop *loop,
                               const Form &turns) {
  if (!llvm::any_of(atom->loops, [&](const KernelLoop *inner) {
        return loop->contains(inner);
      })) {
    Form form;
    form.terms.emplace_back(atom, 1);
    return form;
  }
  if (atom->kind == Atom::Turn && atom->loop == loop)
    return turns;
  if (atom->isLeaf() || atom->kind == Atom::Total ||
      atom->kind == Atom::Select || atom->kind == Atom::Function)
    return std::nullopt;
  std::optional<Form> lhs = substitute(atom->operands[0], loop, turns);
  std::optional<Form> rhs = substitute(atom->operands[1], loop, turns);
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
                               const Form &turns) {
  Form result = form.constant;
  for (auto [atom, factor] : form.terms) {
    std::optional<Form> part = substitute(atom, loop, turns);
    if (!part)
      return std::nullopt;
    result = index.add(result, *part, factor, nullptr);
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
  Form turns =
      index.divide(index.add(index.add(span->length, span->step, 1, nullptr),
                             Form(-1), 1, nullptr),
                   span->step);
  std::optional<Form> form = substitute(index.getForm(argument), loop,
                                        makeExtremum(false, turns, Form(0)));
  return form ? *form : index.makeOpaque(result);
}

} // namespace mlir::workgroup
