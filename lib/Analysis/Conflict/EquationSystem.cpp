//===- EquationSystem.cpp - Equations of what two threads hold ------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What follows from what is equal: functions of equal operands are, and finer
// quotients of equal ones. What is made of others is numbered behind them, so
// that one pass names the remainders of an equation from the outside in.
//
//===----------------------------------------------------------------------===//

#include "EquationSystem.h"
#include "Analysis/Integers/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::workgroup {

using Atom = SymbolicAtom;
using Form = SymbolicForm;

void EquationSystem::addConditions(const SymbolicCondition &first,
                                   const SymbolicCondition &second) {
  bounds[0].add(first);
  bounds[1].add(second);
  if (!tables)
    return;
  mayBe[0] = tables->getPossible(first);
  mayBe[1] = tables->getPossible(second);
}

void EquationSystem::add(const Form &first, const Form &second, int64_t low,
                         int64_t high) {
  Number difference = addScaled(first.constant, second.constant, -1);
  Number least = difference ? addScaled(low, *difference, -1) : Number();
  Number most = difference ? addScaled(high, *difference, -1) : Number();
  if (!least || !most)
    return;
  bounds[0].add(first);
  bounds[1].add(second);
  Equation equation = makeEquation(first, second);
  equation.low = *least;
  equation.high = *most;
  equations.push_back(std::move(equation));
}

EquationSystem::Equation EquationSystem::makeEquation(const Form &first,
                                                      const Form &second) {
  Equation equation;
  for (auto [atom, factor] : first.terms) {
    bool isSame = second.getFactor(atom) == factor;
    if (isSame && isShared(*atom))
      continue;
    equation.terms.push_back(
        {{isSame ? Variable::Difference : Variable::First, atom}, factor});
  }
  for (auto [atom, factor] : second.terms)
    if (first.getFactor(atom) != factor)
      equation.terms.push_back({{Variable::Second, atom}, -factor});
  nameRemainders(equation);
  return equation;
}

bool EquationSystem::addTables(Equation &equation, ArrayRef<Term> terms) const {
  for (const auto &[variable, factor] : terms) {
    equation.first.resize(tables->getNumThreads());
    equation.second.resize(tables->getNumThreads());
    if (variable.kind != Variable::Second &&
        !tables->addMultiples(variable.atom, factor, equation.first))
      return false;
    int64_t taken = variable.kind == Variable::Second ? -factor : factor;
    if (variable.kind != Variable::First &&
        !tables->addMultiples(variable.atom, taken, equation.second))
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// What is equal
//===----------------------------------------------------------------------===//

/// True if both threads hold the same, whoever they are.
bool EquationSystem::isShared(const Atom &atom) const {
  if (atom.isUnsteady)
    return false;
  switch (relation.threads) {
  case PairRelation::OfTwoBlocks:
    // The iterations of two blocks have nothing to do with each other.
    return !atom.isDivergentInGrid && atom.loops.empty();
  case PairRelation::OfOneWarp:
    if (atom.isDivergentInWarp)
      return false;
    break;
  case PairRelation::OfTwoWarps:
    if (atom.isDivergent)
      return false;
    break;
  }
  return llvm::all_of(atom.loops, [&](const KernelLoop *loop) {
    return llvm::is_contained(relation.sameIteration, loop);
  });
}

/// True if `atom` is a quotient of another one, by a multiple of its divisor,
/// which is equal; or of the other one and multiples of its divisor.
bool EquationSystem::isOfEqualQuotient(const Atom *atom) {
  auto getDivisor = [](const Atom *quotient) {
    bool isKnown =
        quotient->kind == Atom::Quotient && quotient->operands[1].isConstant();
    return isKnown ? std::max<int64_t>(quotient->operands[1].constant, 0) : 0;
  };
  int64_t divisor = getDivisor(atom);
  if (divisor == 0)
    return false;
  for (const Atom *finer : llvm::to_vector(equal)) {
    int64_t by = getDivisor(finer);
    if (by == 0 || divisor % by != 0)
      continue;
    std::optional<Form> rest = atom->operands[0].plus(finer->operands[0], -1);
    auto isMultiple = [&](auto term) { return term.second % by == 0; };
    if (rest && rest->constant % by == 0 &&
        llvm::all_of(rest->terms, isMultiple) && isEqual(*rest))
      return true;
  }
  return false;
}

bool EquationSystem::isEqual(const Atom *atom) {
  if (isShared(*atom) || equal.contains(atom))
    return true;
  auto [it, isNew] = looked.try_emplace(atom, false);
  if (!isNew)
    return it->second;
  if (isOfEqualQuotient(atom)) {
    equal.insert(atom);
    return looked[atom] = true;
  }
  // A function of what is equal. A total is that of other iterations, too.
  bool isFunction = !atom->isLeaf() && atom->kind != Atom::Total;
  if (!isFunction ||
      !llvm::all_of(atom->operands,
                    [&](const Form &operand) { return isEqual(operand); }) ||
      !isEqual(atom->condition))
    return false;
  equal.insert(atom);
  return looked[atom] = true;
}

bool EquationSystem::isEqual(const Form &form) {
  SmallVector<std::pair<const Atom *, int64_t>, 4> open;
  for (auto term : form.terms)
    if (!isEqual(term.first))
      open.push_back(term);
  if (open.empty())
    return true;
  // Or a multiple of what an equation says to be.
  auto isSaid = [&](const Equation &equation) {
    if (!equation.isZero() || !equation.first.empty() ||
        equation.terms.size() != open.size())
      return false;
    int64_t ofForm = 0, ofEquation = 0;
    return llvm::all_of(open, [&](auto term) {
      auto *it = llvm::find_if(equation.terms, [&](const Term &other) {
        return other.first.kind == Variable::Difference &&
               other.first.atom == term.first;
      });
      if (it == equation.terms.end())
        return false;
      if (ofForm == 0)
        std::tie(ofForm, ofEquation) = std::pair(term.second, it->second);
      Number lhs = addScaled(0, term.second, ofEquation);
      Number rhs = addScaled(0, it->second, ofForm);
      return lhs && lhs == rhs;
    });
  };
  return llvm::any_of(equations, isSaid);
}

bool EquationSystem::isEqual(const SymbolicCondition &condition) {
  return isEqual(condition.form) &&
         llvm::all_of(condition.parts, [&](const SymbolicCondition &part) {
           return isEqual(part);
         });
}

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

bool EquationSystem::isOfTables(const Variable &variable) const {
  return tables && variable.kind != Variable::Rest &&
         variable.atom->isOfThread && tables->get(variable.atom);
}

Interval EquationSystem::getRange(const Variable &variable) const {
  if (variable.kind == Variable::Rest) {
    std::optional<int64_t> most = remainders[variable.rest].most;
    return most ? Interval{-*most, *most} : Interval();
  }
  Interval first = bounds[0].get(variable.atom);
  Interval second = bounds[1].get(variable.atom);
  if (variable.kind != Variable::Difference)
    return variable.kind == Variable::First ? first : second;
  Interval range;
  if (first.min && second.max)
    range.min = addScaled(*first.min, *second.max, -1);
  if (first.max && second.min)
    range.max = addScaled(*first.max, *second.min, -1);
  // The second one is in a later iteration.
  if (variable.atom->kind == Atom::Iteration &&
      variable.atom->loop == relation.carrier && relation.carrier &&
      relation.threads != PairRelation::OfTwoBlocks) {
    range.max = std::min(range.max.value_or(0), -relation.least);
    if (relation.most)
      range.min = std::max(range.min.value_or(-*relation.most), //
                           -*relation.most);
  }
  return range;
}

/// The range of the numbers that threads tell; none are possible if it is empty
/// of them.
Interval EquationSystem::getTableRange(const Equation &equation) const {
  if (equation.first.empty())
    return {0, 0};
  std::optional<int64_t> ends[2][2]; // by side: the least, the most
  for (unsigned side = 0; side < 2; ++side) {
    const Table &table = side == 0 ? equation.first : equation.second;
    for (unsigned thread = 0; thread < table.size(); ++thread) {
      if (!mayBe[side][thread])
        continue;
      auto &[least, most] = ends[side];
      least = std::min(least.value_or(table[thread]), table[thread]);
      most = std::max(most.value_or(table[thread]), table[thread]);
    }
    if (!ends[side][0])
      return {1, 0};
  }
  return {*ends[0][0] - *ends[1][1], *ends[0][1] - *ends[1][0]};
}

std::optional<std::array<int64_t, 2>>
EquationSystem::getTotalRange(ArrayRef<Term> terms,
                              const Equation &ofTables) const {
  Interval range = getTableRange(ofTables);
  Number low = range.min, high = range.max;
  for (const auto &[variable, factor] : terms) {
    Interval part = getRange(variable);
    if (!part.min || !part.max || !low || !high)
      return std::nullopt;
    low = addScaled(*low, factor > 0 ? *part.min : *part.max, factor);
    high = addScaled(*high, factor > 0 ? *part.max : *part.min, factor);
  }
  if (!low || !high)
    return std::nullopt;
  return std::array{*low, *high};
}

bool EquationSystem::hasNoSolution(const Equation &equation) const {
  auto range = getTotalRange(equation.terms, equation);
  return range && ((*range)[1] < equation.low || (*range)[0] > equation.high);
}

//===----------------------------------------------------------------------===//
// Remainders
//===----------------------------------------------------------------------===//

/// `equation` with the difference of `form` as the number `rest`; nothing if
/// it has no fewer terms then.
static std::optional<EquationSystem::Equation>
replaceByRest(const EquationSystem::Equation &equation, const Form &form,
              unsigned rest) {
  using Variable = EquationSystem::Variable;
  auto find = [](auto &in, const Atom *atom) {
    return llvm::find_if(in.terms, [&](const EquationSystem::Term &term) {
      return term.first == Variable{Variable::Difference, atom};
    });
  };
  if (form.terms.empty())
    return std::nullopt;
  auto [lead, leadFactor] = form.terms.front();
  auto *known = find(equation, lead);
  if (known == equation.terms.end() || known->second % leadFactor != 0)
    return std::nullopt;
  int64_t times = known->second / leadFactor;
  EquationSystem::Equation changed = equation;
  for (auto [atom, factor] : form.terms) {
    auto *it = find(changed, atom);
    if (it == changed.terms.end())
      it = changed.terms.insert(it, {{Variable::Difference, atom}, 0});
    Number left = addScaled(it->second, factor, -times);
    if (!left)
      return std::nullopt;
    it->second = *left;
    if (*left == 0)
      changed.terms.erase(it);
  }
  if (changed.terms.size() >= equation.terms.size())
    return std::nullopt;
  changed.terms.push_back({{Variable::Rest, nullptr, rest}, times});
  return changed;
}

/// The quotients in `equation`, those that are made of others first.
SmallVector<const Atom *, 4>
EquationSystem::findQuotients(const Equation &equation) const {
  // What is made of others has a higher number than these.
  SmallVector<const Atom *, 4> quotients;
  for (const auto &[variable, factor] : equation.terms) {
    if (variable.kind != Variable::Difference || isOfTables(variable))
      continue;
    if (variable.atom->kind == Atom::Quotient)
      quotients.push_back(variable.atom);
    // A product of a quotient and its divisor.
    if (variable.atom->kind == Atom::Product)
      for (const Form &operand : variable.atom->operands)
        if (operand.terms.size() == 1 &&
            operand.terms.front().first->kind == Atom::Quotient)
          quotients.push_back(operand.terms.front().first);
  }
  llvm::sort(quotients, [](const Atom *lhs, const Atom *rhs) {
    return lhs->number > rhs->number;
  });
  return quotients;
}

/// The remainders by the divisor of `quotient`, one of `quotients`.
SmallVector<EquationSystem::Remainder, 2>
EquationSystem::getRemainders(const Atom *quotient,
                              ArrayRef<const Atom *> quotients) const {
  SmallVector<Remainder, 2> found;
  const Form &dividend = quotient->operands[0];
  const Form &divisor = quotient->operands[1];
  Interval by = bounds[0].get(divisor), other = bounds[1].get(divisor);
  if (!by.min || *by.min <= 0 || !other.min || *other.min <= 0)
    return found;
  std::optional<int64_t> most;
  if (by.max && other.max)
    most = std::max(*by.max, *other.max) - 1;
  Form self;
  self.terms.emplace_back(quotient, 1);
  if (auto rest = dividend.plus(index.multiply(self, divisor), -1))
    found.push_back({std::move(*rest), most});
  // x / m - n * (x / (m * n)) is from 0 to n - 1, too.
  for (const Atom *finer : quotients) {
    if (finer == quotient || !divisor.isConstant() ||
        !finer->operands[1].isConstant() || finer->operands[0] != dividend ||
        divisor.constant % finer->operands[1].constant != 0)
      continue;
    int64_t times = divisor.constant / finer->operands[1].constant;
    Form fine;
    fine.terms.emplace_back(finer, 1);
    if (auto rest = fine.plus(self, -times))
      found.push_back({std::move(*rest), times - 1});
  }
  return found;
}

/// Takes a remainder by the divisor of a quotient in the equation for a number
/// of its own: one that leaves the fewest terms, so that of x mod 8 + 8 * (x /
/// 192) it is by 8.
bool EquationSystem::name(Equation &equation) {
  std::optional<Equation> best;
  Remainder named;
  SmallVector<const Atom *, 4> quotients = findQuotients(equation);
  for (const Atom *quotient : quotients)
    for (Remainder &remainder : getRemainders(quotient, quotients)) {
      std::optional<Equation> changed =
          replaceByRest(equation, remainder.form, remainders.size());
      if (changed && (!best || changed->terms.size() < best->terms.size())) {
        best = std::move(changed);
        named = std::move(remainder);
      }
    }
  if (!best)
    return false;
  equation = std::move(*best);
  remainders.push_back(std::move(named));
  return true;
}

void EquationSystem::nameRemainders(Equation &equation) {
  while (name(equation))
    ;
}

//===----------------------------------------------------------------------===//
// Normal form
//===----------------------------------------------------------------------===//

/// True if the term `term` of `equation` can only be one number, which is taken
/// to the other side.
bool EquationSystem::takeConstant(Equation &equation, const Term &term) {
  const Variable &variable = term.first;
  Interval range = getRange(variable);
  if (variable.kind == Variable::Rest || !range.min || range.min != range.max)
    return false;
  if (variable.kind == Variable::Difference && *range.min == 0)
    equal.insert(variable.atom);
  Number low = addScaled(equation.low, *range.min, -term.second);
  Number high = addScaled(equation.high, *range.min, -term.second);
  if (!low || !high)
    return false;
  equation.low = *low;
  equation.high = *high;
  return true;
}

bool EquationSystem::simplify(Equation &equation) {
  size_t before = equation.terms.size();
  auto isZero = [](int64_t number) { return number == 0; };
  if (llvm::all_of(equation.first, isZero) &&
      llvm::all_of(equation.second, isZero)) {
    equation.first.clear();
    equation.second.clear();
  }
  auto isKnown = [&](const Term &term) {
    const Variable &variable = term.first;
    if (variable.kind == Variable::Rest) {
      Remainder &rest = remainders[variable.rest];
      return rest.isEqual = rest.isEqual || isEqual(rest.form);
    }
    return variable.kind == Variable::Difference && isEqual(variable.atom);
  };
  // What threads tell is a smaller number with all of its parts, such as that
  // of a lane, by which others are told from it.
  auto isOpen = [&](bool isTold) {
    return llvm::any_of(equation.terms, [&](const Term &term) {
      return isOfTables(term.first) == isTold && !isKnown(term);
    });
  };
  bool keepsTold = isOpen(/*isTold=*/true) && isOpen(/*isTold=*/false);
  llvm::erase_if(equation.terms, [&](const Term &term) {
    if (keepsTold && isOfTables(term.first))
      return false;
    return isKnown(term) || takeConstant(equation, term);
  });
  return equation.terms.size() != before;
}

void EquationSystem::removeRedundant() {
  llvm::erase_if(equations, [](const Equation &equation) {
    return equation.terms.empty() && equation.first.empty() &&
           equation.low <= 0 && equation.high >= 0;
  });
  std::vector<Equation> different;
  for (Equation &equation : equations)
    if (!llvm::is_contained(different, equation))
      different.push_back(std::move(equation));
  equations = std::move(different);
}

bool EquationSystem::learn(const Equation &equation) {
  if (!equation.first.empty() || equation.terms.size() != 1)
    return false;
  auto [variable, factor] = equation.terms.front();
  if (variable.kind == Variable::First || variable.kind == Variable::Second) {
    int64_t low = equation.low, high = equation.high;
    if (factor < 0)
      std::swap(low, high);
    return bounds[variable.kind == Variable::Second].limit(
        variable.atom, {llvm::divideCeilSigned(low, factor),
                        llvm::divideFloorSigned(high, factor)});
  }
  if (!equation.isZero())
    return false;
  if (variable.kind == Variable::Difference)
    return equal.insert(variable.atom);
  if (variable.kind != Variable::Rest || remainders[variable.rest].isEqual)
    return false;
  remainders[variable.rest].isEqual = true;
  Form form = remainders[variable.rest].form;
  Equation told;
  for (auto [atom, factor] : form.terms)
    told.terms.push_back({{Variable::Difference, atom}, factor});
  equations.push_back(std::move(told)); // invalidates `equation`
  return true;
}

} // namespace mlir::workgroup
