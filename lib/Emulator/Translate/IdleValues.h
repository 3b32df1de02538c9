//===- IdleValues.h - Values that decide nothing -------------- -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What accesses cost, and whether they race, takes the addresses of a kernel
// and the ways of its threads, but not what it computes, unless one depends on
// the other.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_TRANSLATE_IDLEVALUES_H
#define WORKGROUP_LIB_EMULATOR_TRANSLATE_IDLEVALUES_H

#include "LLVMNames.h"
#include "llvm/ADT/SmallPtrSet.h"
#include <optional>

namespace mlir::workgroup::emulator {

/// What can be left out of a kernel of which nobody looks at the results.
struct IdleValues {
  using Set = llvm::SmallPtrSet<const llvm::Instruction *, 32>;

  /// Instructions of which only the values are idle: they access memory, or are
  /// where threads meet.
  Set kept;
  /// Those that have nothing but a value.
  Set removed;
};

/// Finds what decides neither where threads go, nor what they access, nor how
/// they wait for each other; nullopt if what memory holds decides any of it.
std::optional<IdleValues> findIdleValues(const llvm::Function &function);

/// Lets zeros stand for idle values. What is to be removed has no users then.
void forgetValues(llvm::Function &function, const IdleValues &idle);

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_TRANSLATE_IDLEVALUES_H
