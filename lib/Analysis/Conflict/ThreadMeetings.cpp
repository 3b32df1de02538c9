//===- ThreadMeetings.cpp - Equations of ids only -------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each equation gives a number for each of the first and of the second threads;
// those with the same numbers in all equations meet.
//
//===----------------------------------------------------------------------===//

#include "ThreadMeetings.h"

namespace mlir::workgroup {

bool ThreadMeetings::learnAtLast() {
  if (!system.tables || system.isSameThread)
    return false;
  ThreadCoordinates first, second;
  unsigned numThreads = system.tables->getNumThreads();
  for (ThreadCoordinates *values : {&first, &second}) {
    values->starts.assign(numThreads, 0);
    values->isPossible = system.mayBe[values == &second];
  }
  bool isKnown = false;
  for (const Equation &equation : system.equations) {
    Equation numbers = equation;
    bool isUsable = equation.low == equation.high &&
                    llvm::all_of(equation.terms, [&](const Term &term) {
                      return system.isOfTables(term.first);
                    });
    if (!isUsable || !system.addTables(numbers, equation.terms) ||
        numbers.first.empty())
      continue;
    isKnown = true;
    for (int64_t &number : numbers.second)
      number += equation.low;
    first.keys.push_back(std::move(numbers.first));
    second.keys.push_back(std::move(numbers.second));
  }
  if (!isKnown)
    return false;
  auto isOther = [&](unsigned lhs, unsigned rhs) {
    return lhs != rhs && isPair(lhs, rhs);
  };
  system.isImpossible |= findMeetings(first, second, isPair, 1).empty();
  system.isSameThread = findMeetings(first, second, isOther, 1).empty();
  return system.isImpossible || system.isSameThread;
}

} // namespace mlir::workgroup
