//===- FormAlgebra.h - Arithmetic of forms ----------------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sums, products, quotients, minima and selections of forms, which are forms
// again: of what is not linear there is an atom. (4 * n + r) / 4, with 0 <= r <
// 4, is n; n * m is an atom, and 2 * n * m is twice that.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_INDEX_FORMALGEBRA_H
#define WORKGROUP_LIB_ANALYSIS_INDEX_FORMALGEBRA_H

#include "AtomTable.h"

namespace mlir::workgroup {

/// Makes forms of forms. Nothing fails: of what gets too large nothing is
/// known.
class FormAlgebra : public AtomTable {
public:
  using AtomTable::AtomTable;

  /// lhs + factor * rhs; if that gets too large, what `fallback` is.
  SymbolicForm add(const SymbolicForm &lhs, const SymbolicForm &rhs,
                   int64_t factor, Value fallback);
  SymbolicForm multiply(const SymbolicForm &lhs, const SymbolicForm &rhs);
  /// lhs / divisor rounded down, and the rest of that.
  SymbolicForm divide(const SymbolicForm &lhs, const SymbolicForm &divisor);
  SymbolicForm remainder(const SymbolicForm &lhs, const SymbolicForm &divisor);
  /// `number`, which is not negative, without its last `bits` bits, or none.
  SymbolicForm shift(int64_t number, const SymbolicForm &bits);
  SymbolicForm makeExtremum(bool isMinimum, const SymbolicForm &lhs,
                            const SymbolicForm &rhs);
  /// `lhs` if `condition` holds, else `rhs`.
  SymbolicForm select(const SymbolicCondition &condition,
                      const SymbolicForm &lhs, const SymbolicForm &rhs);
  /// The result of `op`, a binary function of numbers that is not linear, for
  /// these operands.
  SymbolicForm apply(Operation *op, const SymbolicForm &lhs,
                     const SymbolicForm &rhs);
  /// `number`, if sums with it are far from overflowing; else what `value` is.
  SymbolicForm makeConstant(const APInt &number, Value value);

  /// The number of a thread in its block, and of its warp. The shape of the
  /// block is known.
  SymbolicForm getLinearThreadId();
  SymbolicForm getWarpId();
  SymbolicForm getLane();

private:
  SymbolicForm makeBinary(SymbolicAtom::Kind kind, const SymbolicForm &lhs,
                          const SymbolicForm &rhs);
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_INDEX_FORMALGEBRA_H
