//===- ThreadAccess.cpp - Who touches which bytes -------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "workgroup/Analysis/ThreadAccess.h"
#include "Analysis/Program/OpEffects.h"

namespace mlir::workgroup {

bool areAtomic(const ThreadAccess &lhs, const ThreadAccess &rhs) {
  return lhs.scope && rhs.scope && lhs.atomicBits == rhs.atomicBits;
}

AtomicScope getCommonScope(const ThreadAccess &lhs, const ThreadAccess &rhs) {
  return std::min(*lhs.scope, *rhs.scope);
}

bool isOfAsyncProxy(const ThreadAccess &access) {
  OpKind kind = getOpKind(access.op);
  bool isBulk = kind == OpKind::BulkLoad || kind == OpKind::BulkStore;
  return kind == OpKind::GroupAccess || (isBulk && access.isAsync);
}

} // namespace mlir::workgroup
