//===- AtomicScope.h - Whom atomic operations include -----------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The scopes of the memory consistency model (PTX ISA, `.cta`, `.cluster`,
// `.gpu`, `.sys`): an atomic access is atomic to the threads of its scope, and
// a plain access to those of its thread only. Wider scopes compare greater.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_SUPPORT_ATOMICSCOPE_H
#define WORKGROUP_SUPPORT_ATOMICSCOPE_H

#include "llvm/ADT/StringRef.h"

namespace mlir::workgroup {

/// The threads for which an atomic access is atomic, from the fewest on.
enum class AtomicScope { Thread, Block, Cluster, Device, System };

/// The scope of the `syncscope` that LLVM's NVPTX back end names so, or AMD's;
/// of a name that is not known, the narrowest.
AtomicScope getScopeNamed(llvm::StringRef name);

} // namespace mlir::workgroup

#endif // WORKGROUP_SUPPORT_ATOMICSCOPE_H
