//===- Substitution.h - Forms in another iteration --------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a form, or a condition, is where the iteration of a loop is another one:
// n + 4 * i in the iteration i + 1 is n + 4 * i + 4.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_INDEX_SUBSTITUTION_H
#define WORKGROUP_LIB_ANALYSIS_INDEX_SUBSTITUTION_H

#include "FormAlgebra.h"

namespace mlir::workgroup {

/// `form` where the iteration of `loop` is `iterations`; nothing if that is not
/// known.
std::optional<SymbolicForm> substitute(FormAlgebra &algebra,
                                       const SymbolicForm &form,
                                       const KernelLoop *loop,
                                       const SymbolicForm &iterations);
std::optional<SymbolicCondition> substitute(FormAlgebra &algebra,
                                            const SymbolicCondition &condition,
                                            const KernelLoop *loop,
                                            const SymbolicForm &iterations);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_INDEX_SUBSTITUTION_H
