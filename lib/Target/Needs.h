//===- Needs.h - What is needed of a chip -----------------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the tables of operations say of each: the chips that have it, and the
// versions of PTX.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TARGET_NEEDS_H
#define WORKGROUP_LIB_TARGET_NEEDS_H

#include "workgroup/Target/Chip.h"

namespace mlir::workgroup {

/// The needs of an operation from the chip that it is compiled for.
struct OperationNeeds {
  /// The oldest architecture that has it: 90 of sm_90.
  unsigned architecture = 0;
  /// True if only chips of that architecture have it, and only those whose
  /// names end with `a`.
  bool isSpecific = false;
  /// The oldest version of PTX that has it, times ten: for that architecture,
  /// and, if it is another one, for newer ones.
  unsigned ptxVersion = 0;
  unsigned newerPTXVersion = 0;
  /// True if LLVM has it for no chip, in this form.
  bool isUnknown = false;

  /// The needs of what LLVM does not have.
  static OperationNeeds makeUnknown();

  /// True if `chip` has what it takes, given a new enough version of PTX.
  bool isMetBy(const Chip &chip) const;

  /// The oldest version of PTX that has it for `chip`, which meets the rest.
  unsigned getPTXVersion(const Chip &chip) const;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TARGET_NEEDS_H
