//===- Solver.cpp - Python bindings of the integer solver -----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// lib/Analysis/Integers, which no IR is needed for: the tests compare answers
// with an enumeration.
//
//===----------------------------------------------------------------------===//

#include "Analysis/Integers/IntegerSolver.h"
#include "Bindings.h"
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;
using namespace mlir::workgroup;

using Answer = IntegerSolver::Answer;
/// The factor of each variable, the constant, and whether the sum of both is
/// zero, or else not negative.
using Constraint = std::tuple<std::vector<int64_t>, int64_t, bool>;
using Conjunction = std::vector<Constraint>;

static LinearConjunction makeRows(const Conjunction &constraints,
                                  unsigned numVariables) {
  LinearConjunction rows;
  for (const auto &[factors, constant, isEquality] : constraints) {
    if (factors.size() > numVariables)
      throw nb::index_error("no such variable");
    LinearRow row;
    row.constant = constant;
    for (unsigned variable = 0; variable < factors.size(); ++variable)
      if (int64_t factor = factors[variable])
        row.terms.emplace_back(variable, factor);
    rows.push_back({std::move(row), isEquality});
  }
  return rows;
}

static std::pair<Answer, std::vector<int64_t>>
solve(const Conjunction &constraints, unsigned numVariables,
      const std::vector<std::vector<Conjunction>> &choices, bool isRational) {
  std::vector<LinearChoice> cases;
  for (const std::vector<Conjunction> &choice : choices) {
    cases.emplace_back();
    for (const Conjunction &part : choice)
      cases.back().push_back(makeRows(part, numVariables));
  }
  IntegerSolver solver(numVariables, isRational);
  Answer answer = solver.solve(makeRows(constraints, numVariables), cases);
  llvm::ArrayRef<int64_t> sample = solver.getSample();
  return {answer, {sample.begin(), sample.end()}};
}

void bindSolver(nb::module_ &m) {
  nb::enum_<Answer>(m, "IntegerAnswer")
      .value("EMPTY", Answer::Empty)
      .value("SOLVED", Answer::Solved)
      .value("UNKNOWN", Answer::Unknown);
  m.def("solve_integers", solve, "constraints"_a, "num_variables"_a,
        "choices"_a = std::vector<std::vector<Conjunction>>(),
        "is_rational"_a = false);
}
