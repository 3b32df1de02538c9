//===- LazyPlacement.cpp - Barriers for many hazards ----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LazyPlacement.h"
#include "PlacementProblem.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using namespace llvm;

namespace mlir::workgroup {

bool isWorthLaziness(ArrayRef<SyncHazard> hazards) {
  constexpr size_t kMaxAtOnce = 1 << 10;
  return hazards.size() > kMaxAtOnce;
}

namespace {

class LazyPlacement {
public:
  LazyPlacement(const SyncProgram &program, ArrayRef<SyncHazard> hazards)
      : program(program), hazards(hazards), isTaken(hazards.size()) {}

  SyncPlacement place();

private:
  unsigned getDistance(const SyncHazard &hazard) const;
  void takeNearest(ArrayRef<unsigned> open);
  SyncPlacement placeTaken() const;

  const SyncProgram &program;
  ArrayRef<SyncHazard> hazards;
  BitVector isTaken;
};

} // namespace

/// The number of nodes between, in the order of the program.
unsigned LazyPlacement::getDistance(const SyncHazard &hazard) const {
  unsigned around = hazard.to >= hazard.from ? 0 : program.nodes.size();
  return hazard.to + around - hazard.from;
}

/// Takes, of those `open`, the nearest ones of each step.
void LazyPlacement::takeNearest(ArrayRef<unsigned> open) {
  using Start = std::tuple<unsigned, bool, std::optional<unsigned>, bool>;
  std::map<Start, unsigned> nearest;
  for (unsigned number : open) {
    const SyncHazard &hazard = hazards[number];
    for (bool isFirst : {true, false}) {
      Start start{isFirst ? hazard.from : hazard.to, isFirst, hazard.loop,
                  hazard.isFar};
      unsigned &known = nearest.try_emplace(start, number).first->second;
      if (getDistance(hazard) < getDistance(hazards[known]))
        known = number;
    }
  }
  for (auto [start, number] : nearest)
    isTaken.set(number);
}

/// The best places for those that are taken.
SyncPlacement LazyPlacement::placeTaken() const {
  SmallVector<SyncHazard> taken;
  SmallVector<unsigned> numbers;
  for (unsigned number : isTaken.set_bits()) {
    taken.push_back(hazards[number]);
    numbers.push_back(number);
  }
  SyncPlacement placement =
      PlacementProblem({program, taken}, Existing::Keep).place();
  for (auto *of : {&placement.uncovered, &placement.certificate})
    for (unsigned &number : *of)
      number = numbers[number];
  return placement;
}

SyncPlacement LazyPlacement::place() {
  // Each round takes some for most steps.
  constexpr unsigned kMaxRounds = 32;
  SmallVector<unsigned> uncovered = findUncovered(program, hazards);
  BitVector isUncovered(hazards.size());
  for (unsigned number : uncovered)
    isUncovered.set(number);
  SmallVector<unsigned> open = findOpen(program, hazards);
  SyncPlacement placement;
  for (unsigned round = 0; round < kMaxRounds; ++round) {
    erase_if(open, [&](unsigned number) { return isUncovered[number]; });
    if (round > 0 && open.empty()) {
      placement.uncovered = uncovered;
      return placement;
    }
    takeNearest(open);
    placement = placeTaken();
    open = findOpen(program, hazards, placement.points);
  }
  return PlacementProblem({program, hazards}, Existing::Keep).place();
}

SyncPlacement placeLazily(const SyncProgram &program,
                          ArrayRef<SyncHazard> hazards) {
  return LazyPlacement(program, hazards).place();
}

} // namespace mlir::workgroup
