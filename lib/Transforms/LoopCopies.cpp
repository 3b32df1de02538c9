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
#include "workgroup/Support/MemorySpace.h"

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

/// Longer chains of operations than this are not for a turn to repeat.
static constexpr unsigned kMaxSliceDepth = 256;

bool addToSlice(Value value, scf::ForOp loop, LoopSlice &slice,
                Operation *allocation, unsigned depth) {
  if (!loop.getRegion().isAncestor(value.getParentRegion()))
    return true;
  if (value == loop.getInductionVar())
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != loop.getBody() || op->getNumRegions() != 0 ||
      !(isPure(op) || op == allocation) || depth > kMaxSliceDepth)
    return false;
  if (slice.contains(op))
    return true;
  for (Value operand : op->getOperands())
    if (!addToSlice(operand, loop, slice, allocation, depth + 1))
      return false;
  slice.insert(op);
  return true;
}

GlobalWrites collectGlobalWrites(Operation *op) {
  GlobalWrites writes;
  op->walk([&](Operation *inner) {
    // What a ring does to its slots touches nothing else.
    if (inner == op || isa<PutOp, CommitOp, GetOp, ReleaseOp>(inner))
      return;
    std::optional<Accesses> accesses = getAccesses(inner);
    writes.isAnything |=
        !accesses ||
        isa<memref::AtomicRMWOp, memref::GenericAtomicRMWOp>(inner);
    if (!accesses)
      return;
    for (Value written : accesses->written) {
      MemorySpace space = getMemorySpace(written);
      if (space != MemorySpace::Workgroup && space != MemorySpace::Private)
        writes.roots.insert(getRootBuffer(written));
    }
  });
  return writes;
}

bool GlobalWrites::mayWrite(Value memref,
                            const ArgumentAliases &aliases) const {
  return isAnything || llvm::any_of(roots, [&](Value root) {
           return aliases.mayAlias(root, memref);
         });
}

StringRef getObstacleToReadAhead(const GlobalWrites &writes, Value source,
                                 const ArgumentAliases &aliases) {
  if (writes.isAnything)
    return "there is an atomic or an unknown operation in the loop";
  return writes.mayWrite(source, aliases) ? "the loop may write its source"
                                          : "";
}

} // namespace mlir::workgroup
