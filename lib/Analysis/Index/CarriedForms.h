//===- CarriedForms.h - Values that loops carry -----------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A carried value that each iteration adds c to is start + c * i. Slots of
// rings are counted by values that start again at zero: such a value is `(start
// + iterations) mod slots`, where `iterations` goes on through the loops
// around.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_INDEX_CARRIEDFORMS_H
#define WORKGROUP_LIB_ANALYSIS_INDEX_CARRIEDFORMS_H

#include "LoopForms.h"

namespace mlir::workgroup {

/// What values are known to be.
struct KnownForms {
  DenseMap<Value, SymbolicForm> forms;
  /// What values that loops carry are taken for while it is found out what they
  /// are.
  DenseMap<Value, SymbolicForm> tentative;
  /// Values taken for granted that have to be from 0 to below a number, for
  /// what loops in the loop carry to be understood.
  DenseMap<const SymbolicAtom *, int64_t> neededSizes;
};

/// Translates arguments of the bodies of loops.
class CarriedForms {
public:
  CarriedForms(FormAlgebra &algebra, ValueForms &values, LoopForms &loopForms,
               KnownForms &known)
      : algebra(algebra), values(values), loopForms(loopForms), known(known) {}

  /// A value of which each iteration adds to what it was, or that does so
  /// modulo a number.
  SymbolicForm translate(BlockArgument argument, const CarriedValue &carried);

private:
  using Form = SymbolicForm;

  /// What it is by what it is in the next iteration, if it is `start` in this
  /// one.
  std::optional<Form> advance(BlockArgument argument,
                              const CarriedValue &carried,
                              const SymbolicAtom *start, bool isCounted);
  std::optional<Form> advanceModulo(BlockArgument argument,
                                    const CarriedValue &carried,
                                    const SymbolicAtom *start,
                                    const Form &next);
  std::optional<Form> matchToggle(const CarriedValue &carried, const Form &next,
                                  const SymbolicAtom *start);
  std::optional<Form> matchHalving(const CarriedValue &carried,
                                   const Form &next, const SymbolicAtom *start);
  std::optional<Form> matchAdvance(const Form &form, const SymbolicAtom *start,
                                   int64_t &size);
  std::optional<Form> matchWrap(const SymbolicAtom &atom,
                                const SymbolicAtom *start, int64_t &size);
  std::optional<Form> matchSubtraction(const SymbolicAtom &atom,
                                       const SymbolicAtom *start,
                                       int64_t &size);
  Interval getTestedRange(Value value, const KernelLoop &loop, Interval range);
  Form getNext(BlockArgument argument, const CarriedValue &carried,
               const Form &self);
  Form getTotal(const KernelLoop *loop, const Form &increment);
  Form getSum(const KernelLoop *loop, const Form &increment);

  FormAlgebra &algebra;
  ValueForms &values;
  LoopForms &loopForms;
  KnownForms &known;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_INDEX_CARRIEDFORMS_H
