//===- DevicePlanRules.cpp - What becomes of the buffers of a function ----===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A buffer is left if anything about it is not understood, with all that it
// meets in values that are memory of the device. A buffer that the host only
// allocates, copies and frees moves; others get a mirror.
//
//===----------------------------------------------------------------------===//

#include "DevicePlan.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace mlir::workgroup {

void DevicePlan::leave(unsigned number, const Twine &reason,
                       Operation *culprit) {
  BufferPlan &plan = plans[number];
  if (plan.outcome == Outcome::Left)
    return;
  plan.outcome = Outcome::Left;
  plan.reason = reason.str();
  plan.culprit = culprit;
}

/// A buffer on which launches hand values on has the same fate as all that it
/// meets there.
void DevicePlan::leaveFamilies() {
  DenseMap<unsigned, unsigned> left;
  for (unsigned number = 0, e = plans.size(); number != e; ++number) {
    bool isOfDevice = memory.getBuffers()[number].isOfDevice;
    if (isJoinedFamily(number) &&
        (plans[number].outcome == Outcome::Left || isOfDevice))
      left.try_emplace(memory.getFamily(number), number);
  }
  for (unsigned number = 0, e = plans.size(); number != e; ++number) {
    if (memory.getBuffers()[number].isOfDevice || !isJoinedFamily(number))
      continue;
    auto it = left.find(memory.getFamily(number));
    if (it != left.end())
      leave(number, "it meets another buffer in one value, and that one stays",
            memory.getBuffers()[it->second].value.getDefiningOp());
  }
}

//===----------------------------------------------------------------------===//
// What is not understood
//===----------------------------------------------------------------------===//

void DevicePlan::checkType(unsigned number) {
  const HostBuffer &buffer = memory.getBuffers()[number];
  MemRefType type = buffer.getType();
  if (!type)
    return leave(number, "its rank is not known");
  if (!MemRefType::isValidElementType(type.getElementType()) ||
      isa<MemRefType, UnrankedMemRefType>(type.getElementType()))
    return leave(number, "its elements refer to memory themselves");
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return leave(number, "its layout is not strided");
  auto isOdd = [](int64_t stride) {
    return !ShapedType::isDynamic(stride) && stride <= 0;
  };
  if (!type.getLayout().isIdentity() && llvm::any_of(strides, isOdd))
    return leave(number, "several of its elements share a place");
  auto alloc = buffer.value.getDefiningOp<memref::AllocOp>();
  if (alloc && !alloc.getSymbolOperands().empty())
    leave(number, "its layout has symbols");
}

/// A mirror of a buffer with gaps has other strides; what computes with those
/// of the buffer cannot be done to it.
void DevicePlan::checkViews(unsigned number) {
  const HostBuffer &buffer = memory.getBuffers()[number];
  if (!buffer.getType() || buffer.getType().getLayout().isIdentity())
    return;
  SmallVector<Value> worklist = {buffer.value};
  DenseSet<Value> seen = {buffer.value};
  while (!worklist.empty())
    for (OpOperand &use : worklist.pop_back_val().getUses()) {
      if (isa<memref::ReinterpretCastOp, memref::ExtractStridedMetadataOp>(
              use.getOwner()))
        return leave(
            number,
            "its rows may lie apart, and a view of it is made from its "
            "strides",
            use.getOwner());
      for (Value next : getNextValues(use))
        if (seen.insert(next).second)
          worklist.push_back(next);
    }
}

/// Launches may use two buffers that overlap only if none writes to them.
void DevicePlan::checkConflicts() {
  auto hasEscaped = [&](unsigned number) { return escaped.test(number); };
  auto isWritten = [&](unsigned number) {
    return llvm::any_of(plans[number].events, [](const auto &event) {
      return event.second.device.writes;
    });
  };
  for (unsigned lhs = 0, e = plans.size(); lhs != e; ++lhs)
    for (unsigned rhs = lhs + 1; rhs != e; ++rhs) {
      bool isConflict = plans[lhs].isLaunched() && plans[rhs].isLaunched() &&
                        (isWritten(lhs) || isWritten(rhs)) &&
                        memory.mayOverlap(lhs, rhs, hasEscaped);
      if (!isConflict)
        continue;
      for (auto [number, other] : {std::pair(lhs, rhs), std::pair(rhs, lhs)})
        leave(number,
              "it may overlap another buffer of launches that write; mark "
              "arguments llvm.noalias, or set assume-distinct-arguments",
              memory.getBuffers()[other].value.getDefiningOp());
    }
}

static bool isIdentity(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  return memref && memref.getLayout().isIdentity();
}

/// Copies of two values of one operation are two, even if the values are one
/// buffer: the host may then not write to it.
void DevicePlan::checkSharedUses() {
  llvm::MapVector<Operation *, SmallVector<OpOperand *>> uses;
  for (OpOperand *use : hostUses)
    uses[use->getOwner()].push_back(use);
  for (auto &[op, operands] : uses)
    for (OpOperand *written : operands) {
      if (!getHostUse(*written).writes)
        continue;
      ArrayRef<unsigned> numbers = memory.getBuffers(written->get());
      for (OpOperand *other : operands) {
        if (other->get() == written->get())
          continue;
        for (unsigned number : memory.getBuffers(other->get()))
          if (llvm::is_contained(numbers, number))
            leave(number, "the host writes to one of two values that may be it",
                  op);
      }
    }
}

/// The host can do with copies of what is on the device: those of memrefs that
/// are contiguous, which it does not keep.
void DevicePlan::checkHostUses() {
  for (OpOperand *use : hostUses) {
    Operation *op = use->getOwner();
    bool isReturn = op->hasTrait<OpTrait::ReturnLike>() &&
                    isa<FunctionOpInterface>(op->getParentOp());
    MemoryUse done = getHostUse(*use);
    auto leaveAll = [&](StringRef reason) {
      for (unsigned number : memory.getBuffers(use->get()))
        leave(number, reason, op);
    };
    if (done.frees) {
      for (unsigned number : memory.getBuffers(use->get()))
        if (!canMove(number))
          leaveAll("it may be freed by way of a value that may be another "
                   "buffer, and the host uses it");
    } else if (!isIdentity(use->get().getType()) || (done.keeps && !isReturn) ||
               (!isReturn && op->hasTrait<OpTrait::IsTerminator>())) {
      leaveAll("the host uses it by way of a value that may be another buffer");
    }
  }
}

//===----------------------------------------------------------------------===//
// What moves, and what is mirrored
//===----------------------------------------------------------------------===//

/// True if the host's copy `op` can be done by the device without being done
/// more often than memory would be copied otherwise.
bool DevicePlan::isMovableCopy(unsigned number, Operation *op) const {
  auto copy = dyn_cast<memref::CopyOp>(op);
  if (!copy || !isIdentity(copy.getSource().getType()) ||
      !isIdentity(copy.getTarget().getType()))
    return false;
  auto isOfBuffer = [&](Value value) {
    return llvm::is_contained(memory.getBuffers(value), number);
  };
  if (!isOfBuffer(copy.getSource()) && !isOfBuffer(copy.getTarget()))
    return false;
  Block *block = memory.getBuffers()[number].getBlock();
  for (Operation *at = op; at->getBlock() != block; at = at->getParentOp())
    if (!isa<scf::IfOp, scf::ExecuteRegionOp>(at->getParentOp()))
      return false;
  return true;
}

bool DevicePlan::canMove(unsigned number) const {
  const HostBuffer &buffer = memory.getBuffers()[number];
  if (buffer.kind != HostBuffer::Kind::Allocation ||
      !isIdentity(buffer.value.getType()))
    return false;
  return llvm::all_of(plans[number].events, [&](const auto &entry) {
    const MemoryUse &host = entry.second.host;
    return (!host.reads && !host.writes) || isMovableCopy(number, entry.first);
  });
}

/// Decides where copies between `number`, which is mirrored, and its mirror
/// are.
void DevicePlan::placeCopies(unsigned number) {
  using Kind = HostBuffer::Kind;
  const HostBuffer &buffer = memory.getBuffers()[number];
  BufferPlan &plan = plans[number];
  bool isOfFunction =
      buffer.kind == Kind::Argument || buffer.kind == Kind::Global;
  plan.scope =
      isOfFunction ? &function.getFunctionBody().front() : buffer.getBlock();
  SmallVector<BufferEvent> events;
  bool isFreed = false;
  for (auto &[op, event] : plan.events) {
    if (!plan.scope->findAncestorOpInBlock(*op)) {
      bool isFlat = function.getFunctionBody().hasOneBlock();
      return leave(number,
                   isFlat ? "it is used outside of the block that makes it"
                          : "the function has branches between blocks; run "
                            "lift-cf-to-scf first",
                   op);
    }
    if (event.host.writes && event.device.writes)
      return leave(
          number,
          "an operation writes to it, and to another value that may be "
          "it",
          op);
    isFreed |= event.undefines && op->getBlock() == plan.scope;
    events.push_back(event);
  }
  plan.program = std::make_unique<CopyProgram>(plan.scope, events);
  if (Operation *obstacle = plan.program->getObstacle())
    return leave(number,
                 Twine("launches of it are in '") +
                     obstacle->getName().getStringRef() +
                     "', whose regions are not known to be executed in order",
                 obstacle);
  bool isOwn = buffer.kind == Kind::Allocation;
  bool isReadBehind =
      !buffer.isConstant() && !isFreed && (!isOwn || escaped.test(number));
  plan.placement = std::make_unique<CopyPlacement>(
      plan.program->getSequence(), isOwn ? kBothSides : kHostSide,
      isReadBehind ? kHostSide : kNoSide);
}

void DevicePlan::decide() {
  auto isOpen = [&](unsigned number) {
    return plans[number].outcome != Outcome::Left &&
           !memory.getBuffers()[number].isOfDevice &&
           (plans[number].isLaunched() || isJoinedFamily(number));
  };
  for (unsigned number = 0, e = plans.size(); number != e; ++number)
    if (isOpen(number)) {
      checkType(number);
      checkViews(number);
    }
  checkConflicts();
  checkHostUses();
  checkSharedUses();
  leaveFamilies();
  for (unsigned number = 0, e = plans.size(); number != e; ++number) {
    if (!isOpen(number))
      continue;
    plans[number].outcome =
        canMove(number) ? Outcome::Moved : Outcome::Mirrored;
    if (plans[number].outcome == Outcome::Mirrored)
      placeCopies(number);
  }
  leaveFamilies();
  for (auto [number, plan] : llvm::enumerate(plans))
    if (plan.outcome == Outcome::Left && !plan.isLaunched())
      plan.outcome = Outcome::None;
  // What moves is used by the host to copy and to free it.
  for (auto [number, plan] : llvm::enumerate(plans))
    if (plan.outcome == Outcome::Moved)
      for (auto &[op, event] : plan.events)
        for (OpOperand &operand : op->getOpOperands())
          if (!isLaunchOp(op) && isMemoryType(operand.get().getType()) &&
              !memory.isJoined(operand.get()) &&
              llvm::is_contained(memory.getBuffers(operand.get()), number))
            hostUses.push_back(&operand);
  llvm::erase_if(hostUses,
                 [&](OpOperand *use) { return !isOnDevice(use->get()); });
}

} // namespace mlir::workgroup
