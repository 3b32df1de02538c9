//===- OpEffects.h - What operations do to memory ---------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a single operation does to memory, as far as its kind tells.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_PROGRAM_OPEFFECTS_H
#define WORKGROUP_LIB_ANALYSIS_PROGRAM_OPEFFECTS_H

#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::workgroup {

/// True if `op` neither reads nor writes memory; allocation does neither.
bool isFreeOfAccesses(Operation *op);

/// True if `op` may do anything else to memory than `Allowed`: effects that are
/// not known, and those of regions, are.
template <typename... Allowed>
bool hasOtherEffects(Operation *op) {
  if (isMemoryEffectFree(op))
    return false;
  auto interface = dyn_cast<MemoryEffectOpInterface>(op);
  if (!interface || op->getNumRegions())
    return true;
  SmallVector<MemoryEffects::EffectInstance> effects;
  interface.getEffects(effects);
  return !llvm::all_of(effects,
                       [](const MemoryEffects::EffectInstance &effect) {
                         return isa<Allowed...>(effect.getEffect());
                       });
}

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_PROGRAM_OPEFFECTS_H
