//===- PlanLifetimes.h - How long buffers of the host live ------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plan frees an allocation of the host behind the last step that uses it.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_COMPILER_PLAN_PLANLIFETIMES_H
#define WORKGROUP_LIB_COMPILER_PLAN_PLANLIFETIMES_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::workgroup {

/// Allocations that nobody needs behind an operation.
using FreesAfter = DenseMap<Operation *, SmallVector<Value>>;

/// Adds what each allocation of `block` is last used for.
void addFrees(Block &block, FreesAfter &frees);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_COMPILER_PLAN_PLANLIFETIMES_H
