//===- OwnAccesses.cpp - What threads do to their own memory --------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OwnAccesses.h"
#include "AccessCollector.h"

namespace mlir::workgroup {

OwnAccesses collectOwnAccesses(Operation *scope,
                               const UniformityAnalysis &uniformity) {
  OwnAccesses own;
  own.roots.emplace_back(); // what is not known
  auto mayBeOne = [](const ThreadAccess &lhs, const ThreadAccess &rhs) {
    return llvm::any_of(lhs.roots, [&](unsigned root) {
      return llvm::is_contained(rhs.roots, root);
    });
  };
  AccessCollector(scope, uniformity, {own.roots, own.accesses, mayBeOne},
                  AccessRecorder::Memory::OfThread)
      .collect();
  return own;
}

} // namespace mlir::workgroup
