//===- AccessEffects.cpp - Accesses that are told by effects --------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What goes on after its operation, and what is known by effects alone: calls,
// operations of other dialects.
//
//===----------------------------------------------------------------------===//

#include "AccessCollector.h"
#include "AccessPointers.h"
#include "Analysis/Memory/PointerAddress.h"
#include "Analysis/Program/OpEffects.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"
#include "workgroup/Support/Kernel.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// Asynchronous copies and mbarriers
//===----------------------------------------------------------------------===//

/// TMA knows where a tile begins, and takes its rows to be dense.
void AccessCollector::addDense(const ThreadAccess &access, OpOperand &tile) {
  auto type = cast<MemRefType>(tile.get().getType());
  if (memref::isStaticShapeAndContiguousRowMajor(type))
    recorder.addAll(access, tile);
  else
    recorder.add(access, tile, std::nullopt);
}

/// The box that TMA accesses of what the tensor map `map` is of, in coordinates
/// of that map, the fastest of which comes first among `coordinates`; nothing
/// if it is not one map for all threads and at any time. What is outside of the
/// tensor is left out.
static std::optional<AccessFootprint>
getTensorBox(Value map, ValueRange coordinates, Operation *scope) {
  auto type = cast<nvgpu::TensorMapDescriptorType>(map.getType());
  ArrayRef<int64_t> shape = type.getTensor().getShape();
  auto argument = dyn_cast<BlockArgument>(map);
  bool isFixed = argument
                     ? argument.getOwner()->getParentOp() == scope
                     : !scope->isAncestor(map.getParentBlock()->getParentOp());
  if (!isFixed || shape.empty() || shape.size() != coordinates.size() ||
      ShapedType::isDynamicShape(shape))
    return std::nullopt;
  AccessFootprint box;
  box.basis = map;
  box.run = shape.back();
  box.isPartial = true;
  Builder builder(map.getContext());
  for (auto [number, coordinate] :
       llvm::enumerate(llvm::reverse(coordinates))) {
    box.coordinates.emplace_back().add(coordinate, 1);
    if (number + 1 != shape.size())
      box.box.push_back(
          {builder.getIndexAttr(shape[number]), 1, unsigned(number)});
  }
  return box;
}

/// Adds what a copy by TMA accesses by the tensor map `map`.
static void addTensor(ThreadAccess access, OpOperand &map,
                      ValueRange coordinates, AccessRecorder &recorder) {
  if (ThreadAccess *added =
          recorder.add(std::move(access), map, /*shape=*/std::nullopt))
    added->footprint =
        getTensorBox(map.get(), coordinates, recorder.getScope());
}

bool AccessCollector::visitAsync(Operation *op) {
  ThreadAccess read = AccessRecorder::make(op, AccessKind::Read);
  ThreadAccess write = AccessRecorder::make(op, AccessKind::Write);
  read.isAsync = write.isAsync = true;
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](nvgpu::DeviceAsyncCopyOp copy) {
        int64_t count = copy.getDstElements().getSExtValue();
        AccessShape source = AccessShape::ofElement(copy.getSrcIndices());
        AccessShape target = AccessShape::ofElement(copy.getDstIndices());
        source.setRun(count, op->getContext());
        target.setRun(count, op->getContext());
        if (copy.getSrcElements()) // may be none
          source.setMasked();
        recorder.add(read, copy.getSrcMutable(), source);
        recorder.add(write, copy.getDstMutable(), target);
        return true;
      })
      .Case([&](nvgpu::TmaAsyncLoadOp load) {
        addTensor(read, load.getTensorMapDescriptorMutable(),
                  load.getCoordinates(), recorder);
        addDense(write, load.getDstMutable());
        recorder.addElement(AccessKind::Atomic, load.getBarriersMutable(),
                            load.getMbarId());
        return true;
      })
      .Case([&](nvgpu::TmaAsyncStoreOp store) {
        addDense(read, store.getSrcMutable());
        addTensor(write, store.getTensorMapDescriptorMutable(),
                  store.getCoordinates(), recorder);
        return true;
      })
      .Default([](Operation *) { return false; });
}

/// The group of mbarriers that `op` uses, and the index into it.
static std::pair<OpOperand *, Value> getMBarrier(Operation *op) {
  using Result = std::pair<OpOperand *, Value>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case<nvgpu::MBarrierInitOp, nvgpu::MBarrierArriveOp,
            nvgpu::MBarrierArriveNoCompleteOp, nvgpu::MBarrierArriveExpectTxOp,
            nvgpu::MBarrierTestWaitOp, nvgpu::MBarrierTryWaitParityOp>(
          [](auto op) -> Result {
            return {&op.getBarriersMutable(), op.getMbarId()};
          })
      .Default([](Operation *) { return Result(); });
}

bool AccessCollector::visitMBarrier(Operation *op) {
  if (!isMBarrierOp(op))
    return false;
  bool isInit = getOpKind(op) == OpKind::MBarrierInit;
  AccessKind kind = isInit ? AccessKind::Write : AccessKind::Atomic;
  auto [barriers, index] = getMBarrier(op);
  if (barriers) {
    recorder.addElement(kind, *barriers, index);
    return true;
  }
  if (ThreadAccess *added = addPointer(AccessRecorder::make(op, kind),
                                       op->getOpOperand(0), std::nullopt,
                                       recorder)) // whatever its type says
    added->space = MemorySpace::Workgroup;
  return true;
}

//===----------------------------------------------------------------------===//
// Calls and operations that are not known
//===----------------------------------------------------------------------===//

/// Collects what callees could find: all that gets out of sight anywhere in the
/// kernel, globals, and dynamic memory, of which a launch has but one.
void AccessCollector::collectReachable() {
  // Those of libraries look at nothing.
  auto mayLook = [](Operation *op) {
    return isa<CallOpInterface>(op) && !isFreeOfAccesses(op);
  };
  bool hasCalls = scope
                      ->walk([&](Operation *op) {
                        return mayLook(op) ? WalkResult::interrupt()
                                           : WalkResult::advance();
                      })
                      .wasInterrupted();
  if (!hasCalls)
    return;
  auto isHidden = [&](Operation *op) {
    return mayLook(op) ||
           isa<memref::ExtractAlignedPointerAsIndexOp,
               UnrealizedConversionCastOp>(op) ||
           (!isa<MemoryEffectOpInterface>(op) &&
            !op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() &&
            !op->hasTrait<OpTrait::IsTerminator>() && !isFreeOfAccesses(op));
  };
  llvm::BitVector isFound(result.roots.size());
  auto isDynamic = [](Value memory) {
    return memory && memory.getDefiningOp<gpu::DynamicSharedMemoryOp>();
  };
  for (unsigned number = 1; number < result.roots.size(); ++number)
    if (result.roots[number].global || isDynamic(result.roots[number].value))
      isFound.set(number);
  getBody(scope)->walk([&](Operation *op) {
    auto store = dyn_cast<memref::StoreOp>(op);
    for (Value operand : op->getOperands())
      if (AccessRecorder::isReference(operand.getType()) &&
          (isHidden(op) || (store && store.getValueToStore() == operand)))
        for (unsigned number : recorder.getTarget(operand).roots)
          isFound.set(number);
  });
  // A global that only callees know may overlap an argument, and no more.
  result.roots.emplace_back();
  for (unsigned number : isFound.set_bits())
    reachable.push_back(number);
  reachable.push_back(result.roots.size() - 1);
}

void AccessCollector::visitCall(CallOpInterface call) {
  for (AccessKind kind : {AccessKind::Read, AccessKind::Write}) {
    ThreadAccess access = AccessRecorder::make(call, kind);
    access.roots = reachable;
    result.accesses.push_back(std::move(access));
  }
}

void AccessCollector::visitUnknown(Operation *op) {
  recorder.addAnywhere(AccessRecorder::make(op, AccessKind::Read),
                       MemorySpace::Other);
  recorder.addAnywhere(AccessRecorder::make(op, AccessKind::Write),
                       MemorySpace::Other);
}

void AccessCollector::visitEffects(Operation *op) {
  auto interface = dyn_cast<MemoryEffectOpInterface>(op);
  if (!interface) {
    // Of one with recursive effects, what it holds counts.
    if (!op->hasTrait<OpTrait::HasRecursiveMemoryEffects>())
      visitUnknown(op);
    return;
  }
  SmallVector<MemoryEffects::EffectInstance> effects;
  interface.getEffects(effects);
  for (const MemoryEffects::EffectInstance &effect : effects) {
    if (!isa<MemoryEffects::Read, MemoryEffects::Write>(effect.getEffect()))
      continue;
    bool isRead = isa<MemoryEffects::Read>(effect.getEffect());
    ThreadAccess access =
        AccessRecorder::make(op, isRead ? AccessKind::Read : AccessKind::Write);
    auto *operand = effect.getEffectValue<OpOperand *>();
    if (operand && AccessRecorder::isReference(operand->get().getType()))
      recorder.add(access, *operand, std::nullopt);
    else
      recorder.addAnywhere(access, operand ? getPointerSpace(operand->get())
                                           : MemorySpace::Other);
  }
}

} // namespace mlir::workgroup
