//===- FormRanges.h - What numbers forms can be -----------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The range of a form follows from those of its atoms; remainders are told from
// what they are the sum of: n - 8 * (n / 8) is from 0 to 7, whatever n is.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_INDEX_FORMRANGES_H
#define WORKGROUP_LIB_ANALYSIS_INDEX_FORMRANGES_H

#include "LaunchSizes.h"
#include "SymbolicForm.h"
#include <unordered_map>

namespace mlir::workgroup {

Interval getRange(const SymbolicForm &form);

/// The ranges of the forms of one kernel, each found out once: forms that
/// differ by constants have the same, but for these.
class KnownRanges {
public:
  Interval get(const SymbolicForm &form);

private:
  struct Hash {
    size_t operator()(const SymbolicForm &form) const {
      return hash_value(form);
    }
  };

  std::unordered_map<SymbolicForm, Interval, Hash> ranges;
};

/// That of what `op`, which is no sum, makes of two numbers.
Interval getRangeOfFunction(Operation *op, const Interval &lhs,
                            const Interval &rhs);

/// That of an atom, by what it is made of, in a launch of such sizes.
Interval deriveRange(const SymbolicAtom &atom, const LaunchSizes &sizes);

bool isNonNegative(const SymbolicForm &form);
bool isPositive(const SymbolicForm &form);
/// True if `form` is positive where something is divided by it.
bool isDivisor(const SymbolicForm &form);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_INDEX_FORMRANGES_H
