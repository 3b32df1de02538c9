//===- AtomicAccess.h - How far atomic accesses reach -----------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Atomic operations and fences of the LLVM dialect as orders between threads:
// the scope that they reach (PTX ISA: `.cta`, `.cluster`, `.gpu`, `.sys`), and
// whether they order other accesses of their thread. Relaxed operations order
// nothing but themselves. Volatile accesses count as relaxed ones of the whole
// system.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_ANALYSIS_ATOMICACCESS_H
#define WORKGROUP_ANALYSIS_ATOMICACCESS_H

#include "mlir/IR/Operation.h"
#include "workgroup/Support/AtomicScope.h"

namespace mlir::workgroup {

/// The scope of an atomic operation of LLVM, or a fence of it, or of an access
/// that is volatile; nothing for others.
std::optional<AtomicScope> getAtomicScope(Operation *op);

/// True for an atomic operation of LLVM that orders nothing but itself.
bool isRelaxedAtomic(Operation *op);

} // namespace mlir::workgroup

#endif // WORKGROUP_ANALYSIS_ATOMICACCESS_H
