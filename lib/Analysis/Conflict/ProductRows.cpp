//===- ProductRows.cpp - Rows of known and unknown length -----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Anything that a part of a form is a multiple of may be the length of a row.
// The form is divided by it, quotients and remainders of one number together,
// and what is left has to be from 0 to below the length, by ranges or by
// conditions.
//
//===----------------------------------------------------------------------===//

#include "ProductRows.h"
#include "Analysis/Integers/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

namespace mlir::workgroup {

using Atom = SymbolicAtom;
using Form = SymbolicForm;

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// Components
//===----------------------------------------------------------------------===//

/// How often `part` is in `form`; it is taken away.
static int64_t takeMultiple(Form &form, const Form &part) {
  auto [lead, leadFactor] = part.terms.front();
  int64_t times = form.getFactor(lead) / leadFactor;
  bool isWhole = times != 0 && llvm::all_of(part.terms, [&](auto term) {
                   return form.getFactor(term.first) == times * term.second;
                 });
  std::optional<Form> rest = isWhole ? form.plus(part, -times) : std::nullopt;
  if (!rest)
    return 0;
  form = std::move(*rest);
  return times;
}

/// x - n * (x / n), if `product` is the second part of it.
static std::optional<Form> getRemainder(const Atom *product) {
  if (product->kind != Atom::Product)
    return std::nullopt;
  for (unsigned i = 0; i < 2; ++i) {
    const Form &quotient = product->operands[i];
    if (quotient.constant != 0 || quotient.terms.size() != 1 ||
        quotient.terms.front().second != 1)
      continue;
    const Atom *atom = quotient.terms.front().first;
    if (atom->kind == Atom::Quotient &&
        atom->operands[1] == product->operands[1 - i])
      return atom->operands[0].plus(makeForm(product), -1);
  }
  return std::nullopt;
}

/// Takes multiples of remainders by numbers that are not known out of `form`.
void ProductRows::takeRemainders(Form &form,
                                 SmallVectorImpl<ComponentChain> &numbers) {
  SmallVector<Form, 2> remainders;
  for (auto [atom, factor] : form.terms)
    if (std::optional<Form> remainder = getRemainder(atom))
      remainders.push_back(std::move(*remainder));
  for (const Form &remainder : remainders)
    if (int64_t times = takeMultiple(form, remainder))
      numbers.push_back({{remainder, 1, times}});
}

/// Puts the last component of `number` back into `form`, if that is a part of
/// what other quotients are of: a component of that, too.
template <typename Found>
void ProductRows::returnPart(ComponentChain &number, const Found &others,
                             Form &form) {
  Component &last = number.back();
  const Atom *atom = last.number.terms.front().first;
  bool isPart = last.factor != 0 && number.size() > 1 &&
                llvm::any_of(others, [&](const auto &other) {
                  return other.first.getFactor(atom) != 0;
                });
  std::optional<Form> whole =
      isPart ? form.plus(last.number, last.factor) : std::nullopt;
  if (!whole)
    return;
  form = std::move(*whole);
  last.factor = 0;
}

/// Takes multiples of quotients of one number by divisors that divide each
/// other out of `form`: r * (x mod m) + s * (x / m) is a sum of two components.
SmallVector<ProductRows::ComponentChain, 2>
ProductRows::takeNumbers(Form &form) {
  using Quotients = SmallVector<const Atom *, 4>;
  SmallVector<std::pair<Form, Quotients>, 2> found;
  for (auto term : form.terms) {
    const Atom *atom = term.first;
    if (atom->kind != Atom::Quotient || !atom->operands[1].isConstant() ||
        atom->operands[1].constant <= 1 || atom->operands[0].terms.empty())
      continue;
    auto *known = llvm::find_if(found, [&](const auto &other) {
      return other.first == atom->operands[0];
    });
    if (known == found.end())
      known = found.insert(known, {atom->operands[0], {}});
    known->second.push_back(atom);
  }
  SmallVector<ComponentChain, 2> numbers;
  takeRemainders(form, numbers);
  for (auto &[dividend, quotients] : found) {
    llvm::sort(quotients, [](const Atom *lhs, const Atom *rhs) {
      return lhs->operands[1].constant < rhs->operands[1].constant;
    });
    ComponentChain &number = numbers.emplace_back();
    number.push_back({dividend, 1, takeMultiple(form, dividend)});
    int64_t last = 1;
    for (const Atom *quotient : quotients) {
      int64_t divisor = quotient->operands[1].constant;
      Form self = makeForm(quotient);
      auto factor = addScaled(form.getFactor(quotient), number.back().factor,
                              divisor / last);
      if (divisor % last != 0 || !factor)
        continue;
      takeMultiple(form, self);
      number.push_back({self, divisor / last, *factor});
      last = divisor;
    }
    returnPart(number, found, form);
  }
  return numbers;
}

ProductRows::Sum::Sum(const Form &form) : form(form), rest(form) {
  numbers = takeNumbers(rest);
}

/// `sum` as `base` times one and another, of which components and other terms
/// are multiples as far as they can be.
ProductRows::Components ProductRows::divide(const Sum &sum,
                                            const Base &base) const {
  auto [atom, size] = base;
  Components components;
  auto add = [&](Form &sum, const Form &part, int64_t factor) {
    std::optional<Form> changed = sum.plus(part, factor);
    components.isKnown &= changed.has_value();
    if (changed)
      sum = std::move(*changed);
  };
  auto getTimes = [size = size](int64_t factor) {
    return llvm::divideFloorSigned(factor + size / 2, size);
  };
  const Form &rest = atom ? sum.form : sum.rest;
  ArrayRef<ComponentChain> numbers;
  if (!atom)
    numbers = sum.numbers;
  for (const ComponentChain &number : numbers) {
    int64_t above = 0, below = 0;
    for (const Component &component : number) {
      // What is left of a component of more is a multiple of this one. What is
      // taken away is less than the base as well.
      int64_t times = component.factor / size;
      int64_t left = component.factor - times * size;
      add(components.upper, component.number, times - above * component.ratio);
      add(components.lower, component.number, left - below * component.ratio);
      above = times;
      below = left;
    }
  }
  int64_t constant = atom ? 0 : llvm::divideFloorSigned(rest.constant, size);
  add(components.upper, Form(constant), 1);
  add(components.lower, Form(rest.constant - constant * size), 1);
  for (auto [part, factor] : rest.terms) {
    std::optional<Form> quotient =
        atom ? workgroup::divide(system.index, part, atom) : makeForm(part);
    int64_t times = quotient ? getTimes(factor) : 0;
    if (atom && times * size != factor)
      times = 0; // what is left would be a product
    if (times != 0)
      add(components.upper, *quotient, times);
    if (int64_t left = factor - times * size)
      add(components.lower, makeForm(part), left);
  }
  return components;
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

/// True if `form` is not negative for one of the two threads, as ranges or
/// conditions tell.
bool ProductRows::isNonNegative(const Form &form, unsigned side) {
  const GuardedRanges &known = system.bounds[side];
  const std::vector<bool> &may = system.mayBe[side];
  auto &[version, state] = states[side];
  if (version != known.getVersion()) {
    version = known.getVersion();
    state = bounds.getState(known, may);
  }
  return bounds.isNonNegative(form, state, known, may);
}

/// True if one of the two threads has `form` from 0 on, and less than `base`
/// with `reach` added.
bool ProductRows::isBelow(const Form &form, const Form &reach, const Base &base,
                          unsigned side) {
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
  // That of an id, where the size of the block, or of the grid, is not known.
  bool isId = base.first && reach == Form(0) && form.constant == 0 &&
              form.terms.size() == 1 &&
              form.terms.front().second == base.second &&
              isIdBelow(*form.terms.front().first, *base.first);
  return distance && isNonNegative(form, side) &&
         (isId || isNonNegative(*distance, side));
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// The numbers that something of `sum` is a multiple of, but for constants.
SmallVector<ProductRows::Base> ProductRows::findBases(const Sum &sum) {
  SmallVector<Base> bases;
  auto add = [&](const Atom *atom, int64_t factor) {
    for (auto &[known, times] : bases)
      if (known == atom && atom)
        return void(times = std::gcd(times, factor));
    if (atom || std::abs(factor) > 1)
      bases.push_back({atom, std::abs(factor)});
  };
  for (const ComponentChain &number : sum.numbers)
    for (const Component &component : number)
      add(nullptr, component.factor);
  for (auto [atom, factor] : sum.form.terms) {
    add(nullptr, factor);
    SmallVector<const Atom *, 4> factors;
    collectFactors(atom, factors);
    if (factors.size() > 1)
      for (const Atom *part : factors)
        if (system.isEqual(part))
          add(part, factor);
  }
  // The longest rows first: parts of shorter ones may fit by chance.
  llvm::stable_sort(bases, [](const Base &lhs, const Base &rhs) {
    return std::pair(lhs.first != nullptr, lhs.second) >
           std::pair(rhs.first != nullptr, rhs.second);
  });
  return bases;
}

/// `place`, of which `first` is the first one, as `base` times one and another,
/// if the first place is from 0 on and the last one below `base`, for one of
/// the two threads.
std::optional<std::array<ProductRows::Place, 2>>
ProductRows::findRow(const Place &place, const Sum &first, const Base &base,
                     unsigned side) {
  Components components = divide(first, base);
  Place row{std::move(components.upper), {}},
      column{std::move(components.lower), {}};
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
  if (!components.isKnown || row.first.terms.empty() || !reach ||
      !isBelow(column.first, *reach, base, side))
    return std::nullopt;
  return std::array{std::move(row), std::move(column)};
}

/// How far places are from the first one, at most.
static std::optional<int64_t> getReach(ArrayRef<ProductRows::Place::Step> of) {
  std::optional<int64_t> reach = 0;
  for (const ProductRows::Place::Step &step : of)
    if (reach)
      reach =
          addScaled(*reach, std::max<int64_t>(0, step.most - 1), step.stride);
  return reach;
}

void ProductRows::add(const Place &first, const Place &second) {
  // Not all rows that are right are those of the program.
  constexpr unsigned kMaxKinds = 3, kMaxEquations = 16;
  unsigned numKinds = 0;
  system.bounds[0].add(first.first);
  system.bounds[1].add(second.first);
  for (GuardedRanges &ofSide : system.bounds)
    ofSide.propagate(); // what columns are made of
  Sum left(first.first), right(second.first);
  for (const Base &base : findBases(left)) {
    auto lhs = findRow(first, left, base, 0);
    auto rhs = lhs ? findRow(second, right, base, 1) : std::nullopt;
    if (!rhs)
      continue;
    add((*lhs)[0], (*rhs)[0]);
    add((*lhs)[1], (*rhs)[1]);
    if (++numKinds == kMaxKinds || system.equations.size() >= kMaxEquations)
      return;
  }
  if (numKinds > 0)
    return;
  auto lhs = getReach(first.steps), rhs = getReach(second.steps);
  if (lhs && rhs)
    system.add(first.first, second.first, -*lhs, *rhs);
}

} // namespace mlir::workgroup
