//===- PairEquationProducts.cpp - Digits by numbers that are not known ----===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CheckedArithmetic.h"
#include "PairEquations.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

namespace mlir::workgroup {

using Atom = SymbolicAtom;
using Form = SymbolicForm;

/// The numbers that `atom` is the product of; itself, if it is none.
static void collectFactors(const Atom *atom,
                           SmallVectorImpl<const Atom *> &to) {
  bool isProduct = atom->kind == Atom::Product &&
                   llvm::all_of(atom->operands, [](const Form &operand) {
                     return operand.constant == 0 &&
                            operand.terms.size() == 1 &&
                            operand.terms.front().second == 1;
                   });
  if (!isProduct) {
    to.push_back(atom);
    return;
  }
  for (const Form &operand : atom->operands)
    collectFactors(operand.terms.front().first, to);
}

static Form makeForm(const Atom *atom) {
  Form form;
  form.terms.emplace_back(atom, 1);
  return form;
}

/// What `atom` is `base` times; nothing if it is no multiple of that.
static std::optional<Form> divide(SymbolicIndex &index, const Atom *atom,
                                  const Atom *base) {
  SmallVector<const Atom *, 4> factors;
  collectFactors(atom, factors);
  auto *it = llvm::find(factors, base);
  if (it == factors.end() || factors.size() == 1)
    return std::nullopt;
  factors.erase(it);
  Form product = makeForm(factors.front());
  for (const Atom *factor : llvm::drop_begin(factors))
    product = index.multiply(product, makeForm(factor));
  return product;
}

/// The factor that `term`, of `form`, has beside a remainder: of
/// r * (x mod m) + s * (x / m), where that is a quotient by a number, s. The
/// remainder is x - m * (x / m).
static int64_t getFactorBesideRest(const Form &form,
                                   std::pair<const Atom *, int64_t> term) {
  auto [atom, factor] = term;
  if (atom->kind != Atom::Quotient || !atom->operands[1].isConstant() ||
      atom->operands[0].terms.empty())
    return factor;
  auto [lead, leadFactor] = atom->operands[0].terms.front();
  int64_t times = form.getFactor(lead) / leadFactor;
  Number beside = addScaled(factor, times, atom->operands[1].constant);
  return beside.value_or(factor);
}

/// The atoms of `form` that remainders are of, beside quotients that have
/// multiples of `size` as factors.
static DenseSet<const Atom *> findInRests(const Form &form, int64_t size) {
  DenseSet<const Atom *> inRests;
  for (auto term : form.terms)
    if (term.second % size != 0 && getFactorBesideRest(form, term) % size == 0)
      for (auto part : term.first->operands[0].terms)
        inRests.insert(part.first);
  return inRests;
}

/// `form` as `base` times one and another. Of a factor that is no multiple of
/// it, what is next to one goes up: r * (x mod m) + x / m is such a sum.
PairEquations::Digits PairEquations::divide(const Form &form,
                                            const Base &base) const {
  auto [atom, size] = base;
  Digits digits;
  auto add = [&](Form &sum, const Form &part, int64_t factor) {
    std::optional<Form> changed = sum.plus(part, factor);
    digits.isKnown &= changed.has_value();
    if (changed)
      sum = std::move(*changed);
  };
  int64_t constant = atom ? 0 : llvm::divideFloorSigned(form.constant, size);
  digits.upper.constant = constant;
  digits.lower.constant = form.constant - constant * size;
  DenseSet<const Atom *> inRests;
  if (!atom)
    inRests = findInRests(form, size);
  for (auto [part, factor] : form.terms) {
    std::optional<Form> quotient =
        atom ? workgroup::divide(index, part, atom) : makeForm(part);
    int64_t times =
        quotient ? llvm::divideFloorSigned(factor + size / 2, size) : 0;
    if (atom && times * size != factor)
      times = 0; // what is left would be a product
    int64_t beside = getFactorBesideRest(form, {part, factor});
    if (inRests.contains(part))
      times = 0;
    else if (!atom && factor % size != 0 && beside % size == 0)
      times = beside / size;
    if (times != 0)
      add(digits.upper, *quotient, times);
    if (int64_t rest = factor - times * size)
      add(digits.lower, makeForm(part), rest);
  }
  return digits;
}

/// The least that `form` may be for one of the two threads; nothing if there is
/// none that is known.
std::optional<int64_t> PairEquations::getLeast(const Form &form,
                                               unsigned side) const {
  Equation ofThreads;
  SmallVector<Term, 6> told;
  Form others(form.constant);
  for (auto [atom, factor] : form.terms)
    if (Variable variable{Variable::First, atom}; isOfTables(variable))
      told.push_back({variable, factor});
    else
      others.terms.emplace_back(atom, factor);
  std::optional<int64_t> least = bounds[side].get(others).min;
  if (told.empty() || !least)
    return told.empty() ? least : std::nullopt;
  if (!addTables(ofThreads, told))
    return std::nullopt;
  std::optional<int64_t> ofThread;
  for (auto [thread, number] : llvm::enumerate(ofThreads.first))
    if (mayBe[side][thread])
      ofThread = std::min(ofThread.value_or(number), number);
  return addScaled(*least, ofThread.value_or(0), 1);
}

/// True if `form` is not negative for one of the two threads, as ranges or
/// conditions tell: up to `depth` of them, and of minima and maxima in it.
bool PairEquations::isNonNegative(const Form &form, unsigned side,
                                  unsigned depth) const {
  if (std::optional<int64_t> least = getLeast(form, side); least && *least >= 0)
    return true;
  if (depth == 0)
    return false;
  // A multiple of it leaves what is not negative.
  auto isFact = [&](const Form &fact) {
    for (auto [part, factor] : fact.terms) {
      int64_t times = form.getFactor(part) / factor;
      if (times <= 0)
        continue; // no part of the form
      std::optional<Form> more = form.plus(fact, -times);
      return more && isNonNegative(*more, side, depth - 1);
    }
    return false;
  };
  // The least of some is no more than each of them.
  auto isLeast = [&](auto term) {
    auto [atom, factor] = term;
    bool isExtreme = (atom->kind == Atom::Minimum && factor < 0) ||
                     (atom->kind == Atom::Maximum && factor > 0);
    std::optional<Form> rest =
        isExtreme ? form.plus(makeForm(atom), -factor) : std::nullopt;
    return rest && llvm::any_of(atom->operands, [&](const Form &of) {
             std::optional<Form> less = rest->plus(of, factor);
             return less && isNonNegative(*less, side, depth - 1);
           });
  };
  return llvm::any_of(bounds[side].getFacts(), isFact) ||
         llvm::any_of(form.terms, isLeast);
}

/// True if one of the two threads has `form` from 0 on, and less than `base`
/// with `reach` added.
bool PairEquations::isBelow(const Form &form, const Form &reach,
                            const Base &base, unsigned side) const {
  Form size(base.second);
  if (base.first) {
    size.constant = 0;
    size.terms.emplace_back(base.first, base.second);
  }
  std::optional<Form> distance = size.plus(form, -1);
  if (distance)
    distance = distance->plus(reach, -1);
  if (distance)
    distance = distance->plus(Form(-1));
  // That of an id of threads, where the size of the block is not known.
  bool isId = base.first && reach == Form(0) && form.constant == 0 &&
              form.terms.size() == 1 &&
              form.terms.front().second == base.second &&
              form.terms.front().first->kind == Atom::ThreadId &&
              base.first->kind == Atom::GridValue &&
              base.first->what == Atom::BlockSize &&
              base.first->dim == form.terms.front().first->dim;
  return distance && isNonNegative(form, side) &&
         (isId || isNonNegative(*distance, side));
}

/// The numbers that something of `form` is a multiple of, but for constants.
SmallVector<PairEquations::Base> PairEquations::findBases(const Form &form) {
  SmallVector<Base> bases;
  auto add = [&](const Atom *atom, int64_t factor) {
    for (auto &[known, times] : bases)
      if (known == atom && atom)
        return void(times = std::gcd(times, factor));
    if (atom || std::abs(factor) > 1)
      bases.push_back({atom, std::abs(factor)});
  };
  for (auto [atom, factor] : form.terms) {
    add(nullptr, factor);
    if (int64_t beside = getFactorBesideRest(form, {atom, factor});
        beside != factor)
      add(nullptr, beside);
    SmallVector<const Atom *, 4> factors;
    collectFactors(atom, factors);
    if (factors.size() > 1)
      for (const Atom *part : factors)
        if (isEqual(part))
          add(part, factor);
  }
  return bases;
}

/// `place` as `base` times one and another, if the first place is from 0 on and
/// the last one below `base`, for one of the two threads.
std::optional<std::array<PairEquations::Place, 2>>
PairEquations::findRow(const Place &place, const Base &base,
                       unsigned side) const {
  Digits digits = divide(place.first, base);
  Place row{std::move(digits.upper), {}}, column{std::move(digits.lower), {}};
  std::optional<Form> reach = Form(0);
  for (const Place::Step &step : place.steps) {
    if (!base.first && step.stride % base.second == 0) {
      row.steps.push_back({step.count, step.stride / base.second, step.most});
      continue;
    }
    column.steps.push_back(step);
    if (reach)
      reach = reach->plus(step.count, step.stride);
    if (reach)
      reach = reach->plus(Form(-step.stride));
  }
  if (!digits.isKnown || row.first.terms.empty() || !reach ||
      !isBelow(column.first, *reach, base, side))
    return std::nullopt;
  return std::array{std::move(row), std::move(column)};
}

/// How far places are from the first one, at most.
static std::optional<int64_t>
getReach(ArrayRef<PairEquations::Place::Step> of) {
  std::optional<int64_t> reach = 0;
  for (const PairEquations::Place::Step &step : of)
    if (reach)
      reach =
          addScaled(*reach, std::max<int64_t>(0, step.most - 1), step.stride);
  return reach;
}

void PairEquations::add(const Place &first, const Place &second) {
  // Not all rows that are right are those of the program.
  constexpr unsigned kMaxKinds = 3, kMaxEquations = 16;
  unsigned numKinds = 0;
  for (const Base &base : findBases(first.first)) {
    auto lhs = findRow(first, base, 0), rhs = findRow(second, base, 1);
    if (!lhs || !rhs)
      continue;
    add((*lhs)[0], (*rhs)[0]);
    add((*lhs)[1], (*rhs)[1]);
    if (++numKinds == kMaxKinds || equations.size() >= kMaxEquations)
      return;
  }
  if (numKinds > 0)
    return;
  auto lhs = getReach(first.steps), rhs = getReach(second.steps);
  if (lhs && rhs)
    add(first.first, second.first, -*lhs, *rhs);
}

bool PairEquations::splitByProduct(Equation &equation) {
  Form form;
  for (const auto &[variable, factor] : equation.terms) {
    if (variable.kind != Variable::Difference)
      return false;
    std::optional<Form> sum = form.plus(makeForm(variable.atom), factor);
    if (!sum)
      return false;
    form = std::move(*sum);
  }
  if (!equation.isZero() || !equation.first.empty())
    return false;
  for (const Base &base : findBases(form)) {
    Digits digits = divide(form, base);
    if (!base.first || !digits.isKnown || digits.upper.terms.empty() ||
        digits.lower.terms.empty() ||
        !isBelow(digits.lower, Form(0), base, 0) ||
        !isBelow(digits.lower, Form(0), base, 1))
      continue;
    equation = makeEquation(digits.lower, digits.lower);
    equations.push_back(makeEquation(digits.upper, digits.upper));
    return true; // `equation` is not valid any more
  }
  return false;
}

} // namespace mlir::workgroup
