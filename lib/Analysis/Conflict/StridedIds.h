//===- StridedIds.h - Ids and steps by their number -------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a block goes through by steps of as many as there are blocks is what no
// other block does: ids are below their number, whatever it is.
//
//   block + blocks * i = block' + blocks * i'  ->  block = block', i = i'
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_CONFLICT_STRIDEDIDS_H
#define WORKGROUP_LIB_ANALYSIS_CONFLICT_STRIDEDIDS_H

#include "EquationRule.h"

namespace mlir::workgroup {

/// Takes equations of an id and a multiple of the number of ids apart.
class StridedIds : public EquationRule {
public:
  using EquationRule::EquationRule;

  bool split(Equation &equation) override;

private:
  bool split(Equation &equation, const Term &id, const Term &product);
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_CONFLICT_STRIDEDIDS_H
