//===- MixedRadix.h - Equations of mixed-radix numbers ----------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A number of several mixed-radix components, as tiles of tiles make them, is
// the same as another one only if each component is:
//
// 128 * block + row = 128 * block' + row', 0 <= row, row' < 128 -> block =
// block', row = row'
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_CONFLICT_MIXEDRADIX_H
#define WORKGROUP_LIB_ANALYSIS_CONFLICT_MIXEDRADIX_H

#include "EquationRule.h"

namespace mlir::workgroup {

/// Takes equations apart whose lower terms are too small to make up for a
/// difference of the upper ones.
class MixedRadix : public EquationRule {
public:
  using EquationRule::EquationRule;

  bool split(Equation &equation) override;
  /// True if no numbers of the terms solve `equation`: the large ones are tried
  /// one after the other.
  bool isRuledOut(const Equation &equation) const override;

private:
  /// An equation as `base` times one and another.
  struct Components {
    Equation upper, lower;
  };

  bool split(Equation &equation, int64_t base);
  bool finish(Equation &equation, Components &parts, int64_t base);
  bool maySolve(ArrayRef<Term> terms, const Equation &rest,
                unsigned &numTries) const;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_CONFLICT_MIXEDRADIX_H
