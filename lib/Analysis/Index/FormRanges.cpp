//===- FormRanges.cpp - What numbers forms can be -------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Intervals of sums, and what remainders in a sum leave of them.
//
//===----------------------------------------------------------------------===//

#include "FormRanges.h"
#include "Analysis/Integers/CheckedArithmetic.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "workgroup/Target/LaunchLimits.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::workgroup {

using Range = Interval;

static Number scale(Number number, int64_t factor) {
  return number ? addScaled(0, *number, factor) : std::nullopt;
}

static Number sum(Number lhs, Number rhs) {
  return lhs && rhs ? addScaled(*lhs, *rhs, 1) : std::nullopt;
}

/// The range of `form` by those of its atoms.
static Range getSumRange(const SymbolicForm &form) {
  Range range{form.constant, form.constant};
  for (auto [atom, factor] : form.terms) {
    Number low = scale(factor > 0 ? atom->range.min : atom->range.max, factor);
    Number high = scale(factor > 0 ? atom->range.max : atom->range.min, factor);
    range = {sum(range.min, low), sum(range.max, high)};
  }
  return range;
}

/// How many terms `form` has less if its `term` is left out and `times` times
/// `whole`, which does not have that atom, is taken away; may be negative.
static int countLess(const SymbolicForm &form, const SymbolicForm &whole,
                     int64_t times) {
  int less = 1;
  for (auto [atom, factor] : whole.terms) {
    int64_t there = form.getFactor(atom);
    if (there == 0)
      --less;
    else if (addScaled(there, factor, -times) == 0)
      ++less;
  }
  return less;
}

/// A remainder in a sum: `rest` and what is from zero to `most`.
struct SumWithRemainder {
  SymbolicForm rest;
  int64_t most;
};

/// Takes x - n * floor(x / n) out of `form`, of which `term` is the second
/// part; or floor(x / m) - n * floor(x / (m * n)), which is a remainder by n
/// too.
static std::optional<SumWithRemainder>
takeRemainder(const SymbolicForm &form,
              std::pair<const SymbolicAtom *, int64_t> term) {
  auto [atom, factor] = term;
  if (atom->kind != SymbolicAtom::Quotient || !atom->operands[1].isConstant() ||
      atom->operands[1].constant <= 0 || factor > 0)
    return std::nullopt;
  int64_t divisor = atom->operands[1].constant;
  auto take = [&](const SymbolicForm &whole,
                  int64_t times) -> std::optional<SumWithRemainder> {
    // Less is left, or nothing is gained; so this ends.
    if (countLess(form, whole, times) <= 0)
      return std::nullopt;
    SymbolicForm others = form;
    llvm::erase_if(others.terms,
                   [&](auto other) { return other.first == term.first; });
    std::optional<SymbolicForm> rest = others.plus(whole, -times);
    if (!rest)
      return std::nullopt;
    return SumWithRemainder{std::move(*rest), -factor - times};
  };
  if (factor % divisor == 0)
    if (auto taken = take(atom->operands[0], -factor / divisor))
      return taken;
  for (auto [other, multiple] : form.terms) {
    if (multiple <= 0 || other->kind != SymbolicAtom::Quotient ||
        factor % multiple != 0 || other->operands[0] != atom->operands[0] ||
        !other->operands[1].isConstant() ||
        other->operands[1].constant * (-factor / multiple) != divisor)
      continue;
    SymbolicForm whole;
    whole.terms.emplace_back(other, 1);
    if (auto taken = take(whole, multiple))
      return taken;
  }
  return std::nullopt;
}

namespace {
/// The ranges of what is left of one form without some remainders, in whatever
/// order these are taken out.
using RestRanges = SmallVector<std::pair<SymbolicForm, Range>, 4>;
} // namespace

static Range getRange(const SymbolicForm &form, RestRanges &known);

/// True if the atoms of `form` tell its range: there is no remainder in it.
static bool isSum(const SymbolicForm &form) {
  return llvm::none_of(form.terms, [](auto term) {
    return term.first->kind == SymbolicAtom::Quotient;
  });
}

/// The range of `form` by those of its atoms, and of the remainders in it.
static Range getRangeOfRemainders(const SymbolicForm &form, RestRanges &known) {
  Range range = getSumRange(form);
  for (auto term : form.terms) {
    std::optional<SumWithRemainder> parts = takeRemainder(form, term);
    if (!parts)
      continue;
    Range around = getRange(parts->rest, known);
    Number low = around.min, high = sum(around.max, parts->most);
    if (low && (!range.min || *low > *range.min))
      range.min = low;
    if (high && (!range.max || *high < *range.max))
      range.max = high;
  }
  return range;
}

static Range getRange(const SymbolicForm &form, RestRanges &known) {
  if (isSum(form))
    return getSumRange(form);
  for (const auto &[other, range] : known)
    if (other == form)
      return range;
  Range range = getRangeOfRemainders(form, known);
  bool isNegated = llvm::any_of(form.terms, [](auto term) {
    return term.first->kind == SymbolicAtom::Quotient && term.second > 0;
  });
  std::optional<SymbolicForm> negated =
      isNegated ? SymbolicForm(0).plus(form, -1) : std::nullopt;
  if (!negated) {
    known.emplace_back(form, range);
    return range;
  }
  // Of -(x mod n) the ends by those of x and x / n may be known, and far off.
  Range other = getRangeOfRemainders(*negated, known);
  Number low = scale(other.max, -1), high = scale(other.min, -1);
  if (low && (!range.min || *range.min < *low))
    range.min = low;
  if (high && (!range.max || *range.max > *high))
    range.max = high;
  known.emplace_back(form, range);
  return range;
}

Interval getRange(const SymbolicForm &form) {
  RestRanges known;
  return getRange(form, known);
}

Interval KnownRanges::get(const SymbolicForm &form) {
  if (isSum(form))
    return getSumRange(form);
  SymbolicForm plain = form;
  plain.constant = 0;
  auto it = ranges.find(plain);
  if (it == ranges.end()) {
    Range range = getRange(plain);
    it = ranges.emplace(std::move(plain), range).first;
  }
  return {sum(it->second.min, form.constant),
          sum(it->second.max, form.constant)};
}

//===----------------------------------------------------------------------===//
// Atoms
//===----------------------------------------------------------------------===//

static Range rangeOfProduct(const Range &lhs, const Range &rhs) {
  if (!lhs.isNonNegative() || !rhs.isNonNegative())
    return {};
  Range result;
  result.min = scale(lhs.min, *rhs.min);
  if (lhs.max && rhs.max)
    result.max = scale(lhs.max, *rhs.max);
  return result;
}

static Range rangeOfQuotient(const Range &lhs, const Range &divisor) {
  Range result;
  if (divisor.min && divisor.min == divisor.max && *divisor.min > 0) {
    if (lhs.min)
      result.min = llvm::divideFloorSigned(*lhs.min, *divisor.min);
    if (lhs.max)
      result.max = llvm::divideFloorSigned(*lhs.max, *divisor.min);
  } else if (lhs.isNonNegative()) {
    result = {0, lhs.max};
  }
  return result;
}

Interval getRangeOfFunction(Operation *op, const Range &lhs, const Range &rhs) {
  // A rest is below what it is one by, whatever is divided.
  if (isa<arith::RemUIOp>(op) && rhs.min && *rhs.min > 0 && rhs.max)
    return {0, lhs.isNonNegative() && lhs.max ? std::min(*lhs.max, *rhs.max - 1)
                                              : *rhs.max - 1};
  if (!lhs.isNonNegative())
    return {};
  // By what is below zero, and so is large, the rest is all of it.
  if (isa<arith::DivUIOp, arith::RemUIOp>(op))
    return {0, lhs.max};
  if (!rhs.isNonNegative())
    return {};
  if (isa<arith::AndIOp>(op)) {
    if (lhs.max && rhs.max)
      return {0, std::min(*lhs.max, *rhs.max)};
    return {0, lhs.max ? lhs.max : rhs.max};
  }
  if (isa<arith::ShRUIOp, arith::ShRSIOp>(op)) {
    Number most = lhs.max;
    if (most)
      most = *most >> std::min<int64_t>(*rhs.min, 63);
    return {0, most};
  }
  if (!isa<arith::OrIOp, arith::XOrIOp>(op) || !lhs.max || !rhs.max)
    return {};
  // Whatever bits the one has, of the other those above them stay.
  auto setBits = [](uint64_t number, uint64_t below) {
    return int64_t(number | llvm::maskTrailingOnes<uint64_t>(
                                64 - llvm::countl_zero(below)));
  };
  return {0,
          std::min(setBits(*lhs.max, *rhs.max), setBits(*rhs.max, *lhs.max))};
}

/// The range of `number` without some of its last bits.
static Range rangeOfShift(int64_t number, const Range &bits) {
  auto shift = [&](int64_t by) {
    return number >> std::clamp<int64_t>(by, 0, 63);
  };
  return {bits.max ? shift(*bits.max) : 0, shift(bits.min.value_or(0))};
}

/// The range of the lesser of `lhs` and `rhs`, of the greater, or of one of the
/// two, as `kind` says.
static Range rangeOfChoice(SymbolicAtom::Kind kind, const Range &lhs,
                           const Range &rhs) {
  bool isMinimum = kind == SymbolicAtom::Minimum;
  bool isMaximum = kind == SymbolicAtom::Maximum;
  Range result;
  if (lhs.min && rhs.min)
    result.min =
        isMaximum ? std::max(*lhs.min, *rhs.min) : std::min(*lhs.min, *rhs.min);
  else if (isMaximum)
    result.min = lhs.min ? lhs.min : rhs.min;
  if (lhs.max && rhs.max)
    result.max =
        isMinimum ? std::min(*lhs.max, *rhs.max) : std::max(*lhs.max, *rhs.max);
  else if (isMinimum)
    result.max = lhs.max ? lhs.max : rhs.max;
  return result;
}

/// The range of `atom`, an id or a size of the launch.
static Range rangeOfLaunch(const SymbolicAtom &atom, const LaunchSizes &sizes) {
  using Atom = SymbolicAtom;
  auto getMost = [](std::optional<int64_t> size, std::optional<int64_t> most,
                    int64_t limit) {
    return std::min(limit, size.value_or(most.value_or(limit)));
  };
  bool isOfBlock = atom.kind == Atom::ThreadId || atom.what == Atom::BlockSize;
  int64_t most =
      isOfBlock ? getMost(sizes.shape.sizes[atom.dim],
                          sizes.mostThreads[atom.dim], kMaxBlockSizes[atom.dim])
                : getMost(sizes.grid[atom.dim], sizes.mostBlocks[atom.dim],
                          kMaxGridSizes[atom.dim]);
  bool isSize = atom.kind == Atom::GridValue &&
                (atom.what == Atom::BlockSize || atom.what == Atom::GridSize);
  return isSize ? Range{1, most} : Range{0, most - 1};
}

Interval deriveRange(const SymbolicAtom &atom, const LaunchSizes &sizes) {
  using Atom = SymbolicAtom;
  auto ofOperand = [&](unsigned i) { return getRange(atom.operands[i]); };
  switch (atom.kind) {
  case Atom::ThreadId:
  case Atom::GridValue:
    return rangeOfLaunch(atom, sizes);
  case Atom::Quotient:
    return rangeOfQuotient(ofOperand(0), ofOperand(1));
  case Atom::Product:
    return rangeOfProduct(ofOperand(0), ofOperand(1));
  case Atom::Shift:
    return rangeOfShift(atom.operands[0].constant, ofOperand(1));
  case Atom::Minimum:
  case Atom::Maximum:
  case Atom::Select:
    return rangeOfChoice(atom.kind, ofOperand(0), ofOperand(1));
  case Atom::Total:
    return {ofOperand(0).isNonNegative() ? Number(0) : Number(), Number()};
  case Atom::Function:
    return getRangeOfFunction(atom.op, ofOperand(0), ofOperand(1));
  case Atom::Iteration:
  case Atom::Opaque:
    return atom.range;
  }
  llvm_unreachable("unknown atom");
}

//===----------------------------------------------------------------------===//
// Signs
//===----------------------------------------------------------------------===//

bool isNonNegative(const SymbolicForm &form) {
  Interval range = getRange(form);
  return range.min && *range.min >= 0;
}

bool isPositive(const SymbolicForm &form) {
  Interval range = getRange(form);
  return range.min && *range.min >= 1;
}

bool isDivisor(const SymbolicForm &form) {
  return form.isConstant() ? form.constant > 0 : isNonNegative(form);
}

} // namespace mlir::workgroup
