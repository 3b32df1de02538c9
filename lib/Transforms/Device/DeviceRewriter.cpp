//===- DeviceRewriter.cpp - Buffers of launches to the device -------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// First mirrors are made, with their copies and with the views of them that
// launches use, then buffers are moved, then what the host does with memory of
// the device is done otherwise. At last memory is freed.
//
//===----------------------------------------------------------------------===//

#include "DeviceRewriter.h"
#include "Support/Remarks.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// Mirrors
//===----------------------------------------------------------------------===//

/// The values that are all of `buffer`.
SmallVector<Value> DeviceRewriter::getRoots(const HostBuffer &buffer) const {
  if (buffer.kind != HostBuffer::Kind::Global)
    return {buffer.value};
  SmallVector<Value> roots;
  StringAttr name =
      buffer.value.getDefiningOp<memref::GetGlobalOp>().getNameAttr().getAttr();
  function->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<gpu::LaunchOp>(op))
      return WalkResult::skip();
    if (auto get = dyn_cast<memref::GetGlobalOp>(op))
      if (get.getNameAttr().getAttr() == name)
        roots.push_back(get);
    return WalkResult::advance();
  });
  return roots;
}

/// The uses of `roots`, and of views of them, that become those of a mirror.
SmallVector<DeviceRewriter::MirroredUse>
DeviceRewriter::collectUses(ArrayRef<Value> roots) const {
  SmallVector<MirroredUse> uses;
  SmallVector<Value> worklist(roots);
  for (unsigned i = 0; i < worklist.size(); ++i) {
    Value value = worklist[i];
    llvm::SmallSetVector<Operation *, 4> launches;
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      if (auto launch = user->getParentOfType<gpu::LaunchOp>();
          launch && function->isAncestor(launch)) {
        launches.insert(launch);
      } else if (isLaunchOp(user)) {
        launches.insert(user);
      } else if (getViewedMemory(user) == value) {
        worklist.push_back(user->getResult(0));
      } else if (!getNextValues(use).empty() && plan.isJoinedOnDevice(value)) {
        uses.push_back({value, user});
      }
    }
    for (Operation *launch : launches)
      uses.push_back({value, launch});
  }
  return uses;
}

/// The first operation of the scope that needs the mirror.
Operation *DeviceRewriter::findStart(const BufferPlan &buffer,
                                     ArrayRef<CopyPlace> places,
                                     ArrayRef<MirroredUse> uses) const {
  Operation *start = nullptr;
  auto add = [&](Operation *op) {
    Operation *at = buffer.scope->findAncestorOpInBlock(*op);
    if (!start || at->isBeforeInBlock(start))
      start = at;
  };
  for (const CopyPlace &place : places)
    add(place.before);
  for (const MirroredUse &use : uses) {
    add(use.user);
    for (Operation *op = use.value.getDefiningOp(); op && getViewedMemory(op);
         op = getViewedMemory(op).getDefiningOp())
      add(op);
  }
  return start;
}

/// The buffer as a value at `start`.
Value DeviceRewriter::getHostValue(const HostBuffer &buffer, Operation *start) {
  if (buffer.kind != HostBuffer::Kind::Global)
    return buffer.value;
  rewriter.setInsertionPoint(start);
  return memref::GetGlobalOp::create(
      rewriter, buffer.value.getLoc(), buffer.getType(),
      buffer.value.getDefiningOp<memref::GetGlobalOp>().getName());
}

/// What stands for `value` on the device: views are made anew beside those of
/// the host.
Value DeviceRewriter::getMirrored(Value value) {
  if (Value known = mirrored.lookup(value))
    return known;
  Operation *view = value.getDefiningOp();
  IRMapping mapping;
  Value source = getViewedMemory(view);
  mapping.map(source, getMirrored(source));
  rewriter.setInsertionPointAfter(view);
  Value result = rewriter.clone(*view, mapping)->getResult(0);
  mirrored[value] = result;
  return result;
}

/// What a copy at `place` is for.
static std::string explain(const CopyPlace &place, Sides to) {
  bool isUpload = to == kDeviceSide;
  std::string direction = isUpload ? "to the device" : "to the host";
  if (place.isAtEnd) {
    Operation *parent = place.block ? place.block->getParentOp() : place.before;
    return direction + " at the end of a region of '" +
           parent->getName().getStringRef().str() + "', for what follows it";
  }
  StringRef name = place.before->getName().getStringRef();
  if (isLaunchOp(place.before) || !isUpload)
    return direction + " before '" + name.str() + "', which may need it there";
  return direction + " before '" + name.str() +
         "', in which launches may need it";
}

void DeviceRewriter::placeCopy(const HostBuffer &buffer,
                               const DeviceMirror &mirror, Value host, Sides to,
                               const CopyPlace &place) {
  Location loc = place.before->getLoc();
  Operation *before = place.before;
  if (!place.block) {
    Region &region = before->getRegion(1); // the `else`
    if (region.empty()) {
      rewriter.createBlock(&region);
      if (isa<scf::IfOp>(before))
        scf::YieldOp::create(rewriter, loc);
      else
        affine::AffineYieldOp::create(rewriter, loc);
    }
    before = region.front().getTerminator();
  }
  rewriter.setInsertionPoint(before);
  mirror.copy(rewriter, loc, host, to);
  recordRemark(RemarkId::AllocateDeviceMemory_Copied, place.before)
      << "copied " + explain(place, to);
}

/// Where remarks and errors about `buffer` belong.
static Operation *getAnchor(const HostBuffer &buffer,
                            FunctionOpInterface function) {
  Operation *op = buffer.value.getDefiningOp();
  return op ? op : function.getOperation();
}

void DeviceRewriter::mirror(unsigned number) {
  const HostBuffer &buffer = plan.getMemory().getBuffers()[number];
  const BufferPlan &bufferPlan = plan.getPlans()[number];
  SmallVector<Value> roots = getRoots(buffer);
  SmallVector<MirroredUse> uses = collectUses(roots);
  if (uses.empty())
    return;
  ArrayRef<PlacedCopy> copies = bufferPlan.placement->getCopies();
  SmallVector<CopyPlace> places;
  for (const PlacedCopy &copy : copies)
    places.push_back(bufferPlan.program->getPlace(copy));
  Operation *start = findStart(bufferPlan, places, uses);
  Value host = getHostValue(buffer, start);
  rewriter.setInsertionPoint(start);
  DeviceMirror device(rewriter, buffer.value.getLoc(), host);
  for (Value root : roots)
    mirrored[root] = device.getView();
  recordRemark(RemarkId::AllocateDeviceMemory_Mirrored,
               getAnchor(buffer, function), buffer.value.getLoc())
      << "buffer got a mirror in memory of the device";
  for (auto [copy, place] : llvm::zip_equal(copies, places))
    placeCopy(buffer, device, host, copy.to, place);
  for (const MirroredUse &use : uses) {
    Value replacement = getMirrored(use.value);
    Value value = use.value;
    value.replaceUsesWithIf(replacement, [&](OpOperand &operand) {
      return use.user->isAncestor(operand.getOwner()) &&
             (isLaunchOp(use.user) || operand.getOwner() == use.user);
    });
  }
  unfreed.push_back({device.getMemory(), bufferPlan.scope});
}

//===----------------------------------------------------------------------===//
// Moved buffers
//===----------------------------------------------------------------------===//

void DeviceRewriter::move(unsigned number) {
  const HostMemory &memory = plan.getMemory();
  const HostBuffer &buffer = memory.getBuffers()[number];
  Operation *alloc = buffer.value.getDefiningOp();
  rewriter.setInsertionPoint(alloc);
  Value device = createDeviceAlloc(rewriter, alloc->getLoc(), buffer.getType(),
                                   alloc->getOperands());
  recordRemark(RemarkId::AllocateDeviceMemory_Moved, alloc)
      << "buffer moved to memory of the device";
  bool isFreed = false;
  for (auto [other, otherPlan] : llvm::enumerate(plan.getPlans()))
    isFreed |= otherPlan.isFreed() &&
               memory.getFamily(other) == memory.getFamily(number);
  if (!isFreed)
    unfreed.push_back({device, alloc->getBlock()});
  rewriter.replaceOp(alloc, device);
}

/// Frees what the program does not free behind its last use, if that is known.
void DeviceRewriter::freeAll() {
  for (auto [memory, block] : unfreed) {
    Operation *last = memory.getDefiningOp();
    bool isKnown = true;
    SmallVector<Value> worklist = {memory};
    DenseSet<Value> seen = {memory};
    while (!worklist.empty())
      for (OpOperand &use : worklist.pop_back_val().getUses()) {
        Operation *at = block->findAncestorOpInBlock(*use.getOwner());
        isKnown &= at && !at->hasTrait<OpTrait::IsTerminator>();
        if (at && last->isBeforeInBlock(at))
          last = at;
        for (Value next : getNextValues(use))
          if (seen.insert(next).second)
            worklist.push_back(next);
      }
    if (!isKnown)
      continue;
    rewriter.setInsertionPointAfter(last);
    gpu::DeallocOp::create(rewriter, last->getLoc(), /*asyncToken=*/Type(),
                           /*asyncDependencies=*/ValueRange(), memory);
  }
}

//===----------------------------------------------------------------------===//
// What the host does with memory of the device
//===----------------------------------------------------------------------===//

/// Lets `op` work on copies in memory of the host.
void DeviceRewriter::stage(Operation *op, ArrayRef<OpOperand *> uses) {
  bool isReturn = op->hasTrait<OpTrait::ReturnLike>();
  llvm::MapVector<Value, MemoryUse> values;
  for (OpOperand *use : uses)
    values[use->get()] |= getHostUse(*use);
  for (auto &[value, use] : values) {
    Location loc = op->getLoc();
    rewriter.setInsertionPoint(op);
    Value copy = createHostAlloc(rewriter, loc, value);
    if (use.reads || !use.overwrites)
      createDeviceCopy(rewriter, loc, copy, value);
    recordRemark(RemarkId::AllocateDeviceMemory_Copied, op)
        << llvm::formatv("copied for '{0}', which works on a copy of what may "
                         "be one of several buffers",
                         op->getName())
               .str();
    for (OpOperand *operand : uses)
      if (operand->get() == value)
        rewriter.modifyOpInPlace(op, [&, &copy = copy] { operand->set(copy); });
    rewriter.setInsertionPointAfter(op);
    if (isReturn)
      continue;
    if (use.writes)
      createDeviceCopy(rewriter, loc, value, copy);
    memref::DeallocOp::create(rewriter, loc, copy);
  }
}

void DeviceRewriter::convertHostUses() {
  llvm::MapVector<Operation *, SmallVector<OpOperand *>> uses;
  for (OpOperand *use : plan.getHostUses())
    uses[use->getOwner()].push_back(use);
  for (auto &[op, operands] : uses) {
    rewriter.setInsertionPoint(op);
    auto isDense = [](Value value) {
      auto type = dyn_cast<MemRefType>(value.getType());
      return type && type.getLayout().isIdentity();
    };
    if (auto dealloc = dyn_cast<memref::DeallocOp>(op)) {
      gpu::DeallocOp::create(rewriter, op->getLoc(), /*asyncToken=*/Type(),
                             /*asyncDependencies=*/ValueRange(),
                             dealloc.getMemref());
      rewriter.eraseOp(op);
    } else if (auto copy = dyn_cast<memref::CopyOp>(op);
               copy && isDense(copy.getSource()) && isDense(copy.getTarget())) {
      createDeviceCopy(rewriter, op->getLoc(), copy.getTarget(),
                       copy.getSource());
      recordRemark(RemarkId::AllocateDeviceMemory_Copied, op)
          << "copied by the device in place of the host";
      rewriter.eraseOp(op);
    } else {
      stage(op, operands);
    }
  }
}

void DeviceRewriter::run() {
  using Outcome = BufferPlan::Outcome;
  for (auto [number, buffer] : llvm::enumerate(plan.getPlans()))
    if (buffer.outcome == Outcome::Mirrored)
      mirror(number);
  convertHostUses();
  for (auto [number, buffer] : llvm::enumerate(plan.getPlans()))
    if (buffer.outcome == Outcome::Moved)
      move(number);
  freeAll();
}

} // namespace mlir::workgroup
