//===- Needs.cpp - What is needed of a chip -------------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Needs.h"

namespace mlir::workgroup {

OperationNeeds OperationNeeds::makeUnknown() {
  OperationNeeds needs;
  needs.isUnknown = true;
  return needs;
}

bool OperationNeeds::isMetBy(const Chip &chip) const {
  if (isUnknown)
    return false;
  if (isSpecific)
    return chip.getArchitecture() == architecture && chip.isSpecific();
  return chip.getArchitecture() >= architecture;
}

unsigned OperationNeeds::getPTXVersion(const Chip &chip) const {
  bool isNewer = chip.getArchitecture() > architecture;
  return isNewer && newerPTXVersion ? newerPTXVersion : ptxVersion;
}

} // namespace mlir::workgroup
