//===- AtomicScope.cpp - Whom atomic operations include -------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "workgroup/Support/AtomicScope.h"
#include "llvm/ADT/StringSwitch.h"

namespace mlir::workgroup {

AtomicScope getScopeNamed(llvm::StringRef name) {
  return llvm::StringSwitch<AtomicScope>(name)
      .Case("", AtomicScope::System)
      .Cases({"device", "agent"}, AtomicScope::Device)
      .Case("cluster", AtomicScope::Cluster)
      .Cases({"block", "workgroup"}, AtomicScope::Block)
      .Default(AtomicScope::Thread);
}

} // namespace mlir::workgroup
