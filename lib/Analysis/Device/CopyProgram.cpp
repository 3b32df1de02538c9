//===- CopyProgram.cpp - A function as one buffer sees it -----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CopyProgram.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::workgroup {

/// The kind of node that `op` is, if launches are in it; nothing if it is not
/// known when its regions are executed.
static std::optional<CopyNode::Kind> getKind(Operation *op) {
  using Kind = CopyNode::Kind;
  using Result = std::optional<Kind>;
  auto isOneBlock = [](Region &region) {
    return region.empty() || region.hasOneBlock();
  };
  if (!llvm::all_of(op->getRegions(), isOneBlock))
    return std::nullopt;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case<scf::ForOp, affine::AffineForOp>([](auto) { return Kind::Loop; })
      .Case<scf::IfOp, affine::AffineIfOp, scf::IndexSwitchOp,
            scf::ExecuteRegionOp, memref::AllocaScopeOp>(
          [](auto) { return Kind::Branch; })
      .Case<scf::WhileOp>([](auto) { return Kind::While; })
      .Default([](Operation *) { return Result(); });
}

/// The step of what `events` are together, all of them in one operation; what
/// only some of them do does not count as done.
static CopyNode makeStep(ArrayRef<const BufferEvent *> events) {
  MemoryUse host, device;
  bool undefines = false;
  for (const BufferEvent *event : events) {
    host |= event->host;
    device |= event->device;
    undefines |= event->undefines;
  }
  if (events.size() > 1)
    host.overwrites = undefines = false;
  CopyNode step;
  bool needsHost = host.reads || (host.writes && !host.overwrites);
  bool needsDevice = device.reads || (device.writes && !device.overwrites);
  step.needs =
      (needsHost ? kHostSide : kNoSide) | (needsDevice ? kDeviceSide : kNoSide);
  if (device.writes)
    step.leaves = kDeviceSide;
  else if (host.writes)
    step.leaves = kHostSide;
  else if (undefines)
    step.leaves = kBothSides;
  if (undefines)
    step.needs = kNoSide;
  return step;
}

void CopyProgram::addRegions(Operation *op,
                             ArrayRef<const BufferEvent *> events,
                             CopyNode &node) {
  node.regions.reserve(op->getNumRegions());
  for (Region &region : op->getRegions()) {
    SmallVector<const BufferEvent *> inside;
    llvm::copy_if(events, std::back_inserter(inside),
                  [&](const BufferEvent *event) {
                    return region.isAncestor(event->op->getParentRegion());
                  });
    Block *block = region.empty() ? nullptr : &region.front();
    node.regions.push_back(build(block, inside));
  }
}

CopyNode CopyProgram::buildNode(Operation *op,
                                ArrayRef<const BufferEvent *> events) {
  CopyNode node;
  bool isOwn = events.size() == 1 && events.front()->op == op;
  auto isOfDevice = [](const BufferEvent *event) {
    return event->isOfDevice();
  };
  std::optional<CopyNode::Kind> kind = isOwn ? std::nullopt : getKind(op);
  if (kind) {
    node.kind = *kind;
    addRegions(op, events, node);
  } else if (isOwn || llvm::none_of(events, isOfDevice)) {
    node = makeStep(events);
  } else if (!obstacle) {
    obstacle = op;
  }
  node.id = ops.size();
  ops.push_back(op);
  return node;
}

CopySequence CopyProgram::build(Block *block,
                                ArrayRef<const BufferEvent *> events) {
  CopySequence nodes;
  llvm::MapVector<Operation *, SmallVector<const BufferEvent *>> groups;
  for (const BufferEvent *event : events)
    groups[block->findAncestorOpInBlock(*event->op)].push_back(event);
  auto sorted = groups.takeVector();
  llvm::sort(sorted, [](const auto &lhs, const auto &rhs) {
    return lhs.first->isBeforeInBlock(rhs.first);
  });
  for (auto &[op, inside] : sorted)
    nodes.push_back(buildNode(op, inside));
  return nodes;
}

/// Notes the blocks of all sequences, which stay where they are from now on.
void CopyProgram::index(const CopySequence &sequence, Block *block,
                        Operation *parent) {
  blocks[&sequence] = {block, parent};
  for (const CopyNode &node : sequence)
    for (auto [number, region] : llvm::enumerate(node.regions)) {
      Region &body = ops[node.id]->getRegion(number);
      index(region, body.empty() ? nullptr : &body.front(), ops[node.id]);
    }
}

CopyProgram::CopyProgram(Block *scope, ArrayRef<BufferEvent> events) {
  SmallVector<const BufferEvent *> pointers;
  for (const BufferEvent &event : events)
    pointers.push_back(&event);
  sequence = build(scope, pointers);
  if (!obstacle)
    index(sequence, scope, nullptr);
}

CopyPlace CopyProgram::getPlace(const PlacedCopy &copy) const {
  auto [block, parent] = blocks.lookup(copy.sequence);
  if (!block)
    return {nullptr, parent, /*isAtEnd=*/true};
  if (copy.position < copy.sequence->size())
    return {block, ops[(*copy.sequence)[copy.position].id], /*isAtEnd=*/false};
  return {block, block->getTerminator(), /*isAtEnd=*/true};
}

} // namespace mlir::workgroup
