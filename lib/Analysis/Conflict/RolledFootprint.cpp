//===- RolledFootprint.cpp - Copies of an access as one -------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The constants of the places along a coordinate are sums of steps, along
// columns and along rows, say. A condition that differs by a constant from copy
// to copy moves by some number with each step; whatever that is taken to be,
// the constant is then chosen so that it holds wherever one of the copies does.
//
//===----------------------------------------------------------------------===//

#include "RolledFootprint.h"
#include "Analysis/Integers/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"
#include <map>
#include <set>

namespace mlir::workgroup {

using Condition = SymbolicCondition;
using Form = SymbolicForm;
using Footprint = SymbolicFootprint;

namespace {

/// How many steps of one length lead along a coordinate.
struct Step {
  unsigned coordinate = 0;
  int64_t count = 0, length = 0;
};
using Steps = SmallVector<Step, 4>;

/// How many steps of each kind lead to a copy.
using Position = SmallVector<int64_t, 4>;

/// Numbers as the least of them and steps from there.
struct Progression {
  SmallVector<std::pair<int64_t, int64_t>, 4> steps; // how many, how long
  std::map<int64_t, Position> positions;
};

} // namespace

/// Steps from the least of `numbers` on that lead to all of them, and no other;
/// steps of one, if there are no such.
static Progression findSteps(const std::set<int64_t> &numbers) {
  Progression found;
  std::map<int64_t, std::pair<int64_t, int64_t>> from; // where, how many steps
  std::set<int64_t> left = numbers;
  for (int64_t number : numbers)
    found.positions[number];
  size_t numPlaces = 1;
  while (left.size() > 1 && numPlaces <= numbers.size()) {
    int64_t least = *left.begin(), length = *std::next(left.begin()) - least;
    int64_t count = 1;
    while (left.count(least + count * length))
      ++count;
    std::set<int64_t> starts;
    from.clear();
    while (!left.empty()) {
      int64_t start = *left.begin();
      starts.insert(start);
      for (int64_t i = 0; i < count; ++i)
        if (left.erase(start + i * length))
          from[start + i * length] = {start, i};
    }
    // Further steps lead to the starts.
    for (auto &[number, position] : found.positions) {
      int64_t place = number;
      for (auto [taken, step] : llvm::zip(position, found.steps))
        place -= taken * step.second;
      position.push_back(from[place].second);
    }
    found.steps.emplace_back(count, length);
    numPlaces *= count;
    left = std::move(starts);
  }
  if (numPlaces == numbers.size())
    return found;
  int64_t least = *numbers.begin();
  found.steps.assign(1, {*numbers.rbegin() - least + 1, 1});
  for (auto &[number, position] : found.positions)
    position.assign(1, number - least);
  return found;
}

/// Sets the constants of the places of `rolled` to the least ones; returns the
/// steps from there on, and the position of each copy. Nothing if they are too
/// far apart.
static std::optional<std::pair<Steps, std::vector<Position>>>
findPositions(ArrayRef<const Footprint *> copies, Footprint &rolled) {
  constexpr int64_t kMaxLength = int64_t(1) << 40;
  Steps steps;
  std::vector<Position> positions(copies.size());
  for (auto [number, place] : llvm::enumerate(rolled.coordinates)) {
    auto getConstant = [&, number = number](const Footprint *copy) {
      return copy->coordinates[number].constant;
    };
    std::set<int64_t> constants;
    for (const Footprint *copy : copies)
      constants.insert(getConstant(copy));
    int64_t length;
    if (llvm::SubOverflow(*constants.rbegin(), *constants.begin(), length) ||
        length > kMaxLength)
      return std::nullopt;
    place.constant = *constants.begin();
    Progression progression = findSteps(constants);
    for (auto [count, length] : progression.steps)
      steps.push_back({unsigned(number), count, length});
    for (auto [position, copy] : llvm::zip_equal(positions, copies))
      llvm::append_range(position, progression.positions[getConstant(copy)]);
  }
  return std::pair(std::move(steps), std::move(positions));
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

static std::vector<Condition> getParts(const Condition &condition) {
  if (condition.kind == Condition::All)
    return condition.parts;
  return {condition};
}

/// The constant of the condition that `form`, of whatever constant, is not
/// negative, which `parts` contain; nothing if they do not.
static Number findConstant(ArrayRef<Condition> parts, const Form &form) {
  Number least;
  for (const Condition &part : parts)
    if (part.kind == Condition::NonNegative && part.form.terms == form.terms &&
        (!least || part.form.constant < *least))
      least = part.form.constant;
  return least;
}

/// What is added to `constants`, one for each copy, with each step.
static Position findSlopes(ArrayRef<int64_t> constants,
                           ArrayRef<Position> positions) {
  std::map<Position, int64_t> byPosition;
  for (auto [constant, position] : llvm::zip_equal(constants, positions))
    byPosition.try_emplace(position, constant);
  Position slopes(positions.front().size(), 0), at = slopes;
  auto first = byPosition.find(at);
  for (unsigned step = 0; step < slopes.size() && first != byPosition.end();
       ++step) {
    at[step] = 1;
    auto next = byPosition.find(at);
    at[step] = 0;
    if (next != byPosition.end() &&
        llvm::SubOverflow(next->second, first->second, slopes[step]))
      slopes[step] = 0;
  }
  return slopes;
}

/// The largest constant that is left of `constants` beyond what steps add;
/// nothing if the numbers get too large.
static Number findRest(ArrayRef<int64_t> constants, ArrayRef<int64_t> slopes,
                       ArrayRef<Position> positions) {
  Number most;
  for (auto [constant, position] : llvm::zip_equal(constants, positions)) {
    Number rest = constant;
    for (auto [slope, count] : llvm::zip_equal(slopes, position))
      rest = rest ? addScaled(*rest, slope, -count) : Number();
    if (!rest)
      return rest;
    most = std::max(most.value_or(*rest), *rest);
  }
  return most;
}

namespace {

/// Finds what holds wherever one of the copies is done.
class ConditionRoller {
public:
  ConditionRoller(SymbolicIndex &index, const Steps &steps,
                  ArrayRef<Position> positions)
      : index(index), steps(steps), positions(positions),
        counters(steps.size()) {}

  Condition roll(ArrayRef<const Footprint *> copies);
  /// The number of steps of a kind, if a condition depends on it.
  const std::optional<Form> &getCounter(unsigned step) const {
    return counters[step];
  }

private:
  std::optional<Condition> roll(const Form &form, ArrayRef<int64_t> constants);

  SymbolicIndex &index;
  const Steps &steps;
  ArrayRef<Position> positions;
  SmallVector<std::optional<Form>, 4> counters;
};

} // namespace

/// That `form`, with one of `constants` for each copy, is not negative.
std::optional<Condition> ConditionRoller::roll(const Form &form,
                                               ArrayRef<int64_t> constants) {
  Position slopes = findSlopes(constants, positions);
  Number rest = findRest(constants, slopes, positions);
  if (!rest)
    return std::nullopt;
  std::optional<Form> rolled = form;
  rolled->constant = *rest;
  for (auto [step, slope] : llvm::enumerate(slopes)) {
    if (slope == 0 || !rolled)
      continue;
    if (!counters[step])
      counters[step] = index.makeAny(steps[step].count);
    rolled = rolled->plus(*counters[step], slope);
  }
  if (!rolled)
    return std::nullopt;
  return Condition::of(Condition::NonNegative, std::move(*rolled));
}

Condition ConditionRoller::roll(ArrayRef<const Footprint *> copies) {
  std::vector<std::vector<Condition>> partsOf;
  for (const Footprint *copy : copies)
    partsOf.push_back(getParts(copy->condition));
  std::vector<Condition> rolled;
  for (const Condition &part : partsOf.front()) {
    if (llvm::all_of(partsOf, [&](const std::vector<Condition> &parts) {
          return llvm::is_contained(parts, part);
        })) {
      rolled.push_back(part);
      continue;
    }
    SmallVector<int64_t> constants;
    for (const std::vector<Condition> &parts : partsOf)
      if (Number constant = findConstant(parts, part.form);
          constant && part.kind == Condition::NonNegative)
        constants.push_back(*constant);
    if (constants.size() != partsOf.size())
      continue;
    if (std::optional<Condition> condition = roll(part.form, constants))
      rolled.push_back(std::move(*condition));
  }
  return Condition::join(Condition::All, std::move(rolled));
}

std::optional<Footprint> rollUp(SymbolicIndex &index,
                                ArrayRef<const Footprint *> copies) {
  Footprint rolled = *copies.front();
  auto found = findPositions(copies, rolled);
  if (!found)
    return std::nullopt;
  const auto &[steps, positions] = *found;
  ConditionRoller roller(index, steps, positions);
  rolled.condition = roller.roll(copies);
  for (auto [number, step] : llvm::enumerate(steps)) {
    const std::optional<Form> &counter = roller.getCounter(number);
    if (!counter) {
      rolled.box.push_back({Form(step.count), step.length, step.coordinate});
      continue;
    }
    Form &place = rolled.coordinates[step.coordinate];
    std::optional<Form> moved = place.plus(*counter, step.length);
    if (!moved)
      return std::nullopt;
    place = std::move(*moved);
  }
  return rolled;
}

} // namespace mlir::workgroup
