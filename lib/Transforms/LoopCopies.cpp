//===- LoopCopies.cpp - What moving copies of a loop takes ----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopCopies.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "workgroup/IR/Workgroup.h"
#include "workgroup/Support/Barriers.h"
#include "workgroup/Support/Kernel.h"

namespace mlir::workgroup {

std::optional<Accesses> getAccesses(Operation *op) {
  Accesses accesses;
  if (isFreeOfAccesses(op) || isBlockBarrier(op))
    return accesses;
  auto interface = dyn_cast<MemoryEffectOpInterface>(op);
  if (!interface) {
    bool isControl = op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
                     op->hasTrait<OpTrait::IsTerminator>();
    return isControl ? std::optional(accesses) : std::nullopt;
  }
  SmallVector<MemoryEffects::EffectInstance> effects;
  interface.getEffects(effects);
  for (const MemoryEffects::EffectInstance &effect : effects) {
    Value memory = effect.getValue();
    if (!memory || !isa<BaseMemRefType>(memory.getType()))
      return std::nullopt;
    bool isRead = isa<MemoryEffects::Read>(effect.getEffect());
    (isRead ? accesses.read : accesses.written).push_back(memory);
  }
  return accesses;
}

bool addToSlice(Value value, scf::ForOp loop, LoopSlice &slice) {
  if (!loop.getRegion().isAncestor(value.getParentRegion()))
    return true;
  if (value == loop.getInductionVar())
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != loop.getBody() || op->getNumRegions() != 0 ||
      !isPure(op))
    return false;
  if (slice.contains(op))
    return true;
  for (Value operand : op->getOperands())
    if (!addToSlice(operand, loop, slice))
      return false;
  slice.insert(op);
  return true;
}

StringRef getObstacleToReadAhead(Operation *op, Value source,
                                 function_ref<bool(Value, Value)> mayAlias) {
  // What a ring does to its slots touches nothing else.
  if (isa<RingOp, PutOp, CommitOp, GetOp, ReleaseOp>(op))
    return "";
  std::optional<Accesses> accesses = getAccesses(op);
  // What other blocks write may become visible here.
  if (!accesses || isa<memref::AtomicRMWOp, memref::GenericAtomicRMWOp>(op))
    return "there is an atomic or an unknown operation in the loop";
  for (Value written : accesses->written)
    if (mayAlias(written, source))
      return "the loop may write its source";
  return "";
}

} // namespace mlir::workgroup
