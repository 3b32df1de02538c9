//===- AccessCollector.cpp - The accesses of operations -------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AccessCollector.h"
#include "Analysis/Memory/PointerAddress.h"
#include "Analysis/Program/OpEffects.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "workgroup/IR/Workgroup.h"
#include "workgroup/Support/Kernel.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::workgroup {

AccessCollector::AccessCollector(Operation *scope,
                                 const UniformityAnalysis &uniformity,
                                 Result result, Memory memory)
    : scope(scope), uniformity(uniformity), result(result), memory(memory) {}

/// Adds `entry` and the blocks that control may get to from there.
static void addReachable(Block *entry, DenseSet<Block *> &reached) {
  SmallVector<Block *> worklist = {entry};
  while (!worklist.empty()) {
    Block *block = worklist.pop_back_val();
    if (reached.insert(block).second)
      llvm::append_range(worklist, block->getSuccessors());
  }
}

void AccessCollector::collect() {
  Region *body = getBody(scope);
  if (!body)
    return;
  SmallVector<Value> references;
  body->walk([&](Operation *op) {
    llvm::copy_if(op->getOperands(), std::back_inserter(references),
                  [](Value value) { return isReference(value.getType()); });
  });
  pointsTo =
      std::make_unique<PointsTo>(scope, uniformity, references, result.roots);
  collectReachable();
  // No thread gets to a block that no branch goes to.
  DenseSet<Block *> reached;
  body->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op->getBlock()->isEntryBlock())
      addReachable(op->getBlock(), reached);
    if (!reached.contains(op->getBlock()))
      return WalkResult::skip();
    visit(op);
    return WalkResult::advance();
  });
}

//===----------------------------------------------------------------------===//
// Single accesses
//===----------------------------------------------------------------------===//

ThreadAccess AccessCollector::make(Operation *op, AccessKind kind) {
  ThreadAccess access;
  access.op = op;
  access.kind = kind;
  if (kind == AccessKind::Atomic)
    access.scope = AtomicScope::System;
  return access;
}

/// The memory space that the type of `value` names.
static Attribute getSpaceAttribute(Value value) {
  auto type = dyn_cast<BaseMemRefType>(value.getType());
  return type ? type.getMemorySpace() : Attribute();
}

/// True for NVPTX's constant memory, which no kernel writes.
static bool isConstantMemory(Value value) {
  if (auto pointer = dyn_cast<LLVM::LLVMPointerType>(value.getType()))
    return pointer.getAddressSpace() ==
           unsigned(NVVM::NVVMMemorySpace::Constant);
  Attribute space = getSpaceAttribute(value);
  if (auto number = dyn_cast_or_null<IntegerAttr>(space))
    return number.getInt() == int64_t(NVVM::NVVMMemorySpace::Constant);
  auto named = dyn_cast_or_null<NVVM::NVVMMemorySpaceAttr>(space);
  return named && named.getValue() == NVVM::NVVMMemorySpace::Constant;
}

/// The space of memory that `value` refers to and that is one of `roots`: that
/// of its type or, if this says nothing, the one that all roots are of.
MemorySpace AccessCollector::getSpace(Value value,
                                      ArrayRef<unsigned> roots) const {
  if (isa<nvgpu::MBarrierGroupType>(value.getType()))
    return MemorySpace::Workgroup;
  if (getSpaceAttribute(value))
    if (MemorySpace space = getMemorySpace(value); space != MemorySpace::Other)
      return space;
  if (MemorySpace space = getPointerSpace(value); space != MemorySpace::Other)
    return space;
  MemorySpace space = result.roots[roots.front()].space;
  bool isOne = llvm::all_of(roots, [&](unsigned number) {
    return number != 0 && result.roots[number].space == space;
  });
  return isOne ? space : MemorySpace::Other;
}

void AccessCollector::add(ThreadAccess access, OpOperand &operand,
                          const Shape &shape) {
  Value value = operand.get();
  const PointsTo::Target &target = pointsTo->getTarget(value);
  access.operand = &operand;
  access.roots = target.roots;
  llvm::erase_if(access.roots, [&](unsigned number) {
    return isLeftOut(result.roots[number]);
  });
  if (access.roots.empty() || isConstantMemory(value))
    return; // of one thread, never reached, or never written
  access.space = memory == Memory::OfThread ? MemorySpace::Private
                                            : getSpace(value, access.roots);
  if (memory == Memory::Shared && access.space == MemorySpace::Private)
    return;
  auto isNothing = [](const AccessShape::Dimension &dimension) {
    return dimension.count && getConstantIntValue(dimension.count) == 0;
  };
  if (shape && llvm::any_of(shape->dimensions, isNothing))
    return;
  if (shape && target.address &&
      shape->dimensions.size() == target.address->dimensions.size()) {
    AccessShape touched = *shape;
    if (isa<vector::MaskOp>(access.op->getParentOp()))
      touched.setMasked();
    access.footprint = getFootprint(*target.address, touched);
  }
  result.accesses.push_back(std::move(access));
}

/// True if what is stored of `type` at two places that overlap is at the same:
/// places are multiples of its size.
static bool isAligned(Type type) {
  return type.isIndex() ||
         (type.isIntOrFloat() && llvm::isPowerOf2_64(llvm::divideCeil(
                                     type.getIntOrFloatBitWidth(), 8)));
}

/// True if each thread makes `value` at most once.
bool AccessCollector::isMadeOnce(Value value) const {
  Operation *made = value.getDefiningOp();
  return made && isKernel(scope) && !isInLoop(made, scope);
}

/// Says whether threads that store `value` by the last access store the same.
void AccessCollector::setSameness(Operation *store, Value value,
                                  size_t numBefore) {
  if (result.accesses.size() == numBefore || !isAligned(value.getType()))
    return; // of a vector, other elements may be in the same place
  ThreadAccess &access = result.accesses.back();
  auto argument = dyn_cast<BlockArgument>(value);
  bool isArgument = argument && argument.getOwner()->isEntryBlock() &&
                    argument.getOwner()->getParentOp() == scope;
  bool isGiven =
      isArgument ? isa<FunctionOpInterface>(scope) && isKernel(scope)
                 : !scope->isAncestor(value.getParentBlock()->getParentOp());
  if (matchPattern(value, m_Constant()) || isGiven)
    access.sameness = ThreadAccess::SameAlways;
  else if (uniformity.isUniform(value) &&
           (uniformity.isUniformPoint(store) || isMadeOnce(value)))
    access.sameness = ThreadAccess::SameInIteration;
}

void AccessCollector::addElement(AccessKind kind, OpOperand &operand,
                                 ValueRange indices) {
  ThreadAccess access = make(operand.getOwner(), kind);
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  if (access.scope && type && type.getElementType().isIntOrFloat())
    access.atomicBits = type.getElementTypeBitWidth();
  add(std::move(access), operand, AccessShape::ofElement(indices));
}

void AccessCollector::addVector(AccessKind kind, OpOperand &operand,
                                Type vector, Shape shape) {
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  if (!type || (shape && !shape->setVector(vector, type)))
    shape = std::nullopt;
  add(make(operand.getOwner(), kind), operand, shape);
}

void AccessCollector::addAll(ThreadAccess access, OpOperand &operand) {
  const PointsTo::Target &target = pointsTo->getTarget(operand.get());
  add(std::move(access), operand,
      target.address ? AccessShape::ofAll(*target.address) : std::nullopt);
}

void AccessCollector::addAnywhere(ThreadAccess access, MemorySpace space) {
  if (space == MemorySpace::Private || memory == Memory::OfThread)
    return;
  access.space = space;
  access.roots.assign(1, 0);
  result.accesses.push_back(std::move(access));
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

void AccessCollector::visit(Operation *op) {
  if (auto call = dyn_cast<CallOpInterface>(op))
    return visitCall(call);
  if (op->hasTrait<OpTrait::IsTerminator>() || isFreeOfAccesses(op) ||
      visitElements(op) || visitVectors(op) || visitWarp(op) ||
      visitWhole(op) || visitAsync(op) || visitMBarrier(op) ||
      visitPointers(op))
    return;
  visitEffects(op);
}

bool AccessCollector::visitElements(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](memref::LoadOp load) {
        addElement(AccessKind::Read, load.getMemrefMutable(),
                   load.getIndices());
        return true;
      })
      .Case([&](memref::StoreOp store) {
        size_t before = result.accesses.size();
        addElement(AccessKind::Write, store.getMemrefMutable(),
                   store.getIndices());
        setSameness(store, store.getValueToStore(), before);
        return true;
      })
      .Case<memref::AtomicRMWOp, memref::GenericAtomicRMWOp>([&](auto update) {
        addElement(AccessKind::Atomic, update.getMemrefMutable(),
                   update.getIndices());
        return true;
      })
      .Case<affine::AffineLoadOp, affine::AffineVectorLoadOp>([&](auto load) {
        addVector(
            AccessKind::Read, load.getMemrefMutable(), load.getType(),
            AccessShape::ofMap(load.getAffineMap(), load.getMapOperands()));
        return true;
      })
      .Case<affine::AffineStoreOp, affine::AffineVectorStoreOp>(
          [&](auto store) {
            size_t before = result.accesses.size();
            addVector(AccessKind::Write, store.getMemrefMutable(),
                      store.getValueToStore().getType(),
                      AccessShape::ofMap(store.getAffineMap(),
                                         store.getMapOperands()));
            setSameness(store, store.getValueToStore(), before);
            return true;
          })
      .Default([](Operation *) { return false; });
}

/// The shape of an access to the element at `indices` and what follows it, some
/// of which may be masked off by `mask`.
static AccessShape getMaskedShape(ValueRange indices, Value mask) {
  AccessShape shape = AccessShape::ofElement(indices);
  shape.setMasked();
  if (auto create = mask.getDefiningOp<vector::CreateMaskOp>())
    if (create.getType().getRank() == 1)
      shape.kept = create.getOperands().front();
  return shape;
}

bool AccessCollector::visitVectors(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](vector::LoadOp load) {
        addVector(AccessKind::Read, load.getBaseMutable(), load.getVectorType(),
                  AccessShape::ofElement(load.getIndices()));
        return true;
      })
      .Case([&](vector::StoreOp store) {
        addVector(AccessKind::Write, store.getBaseMutable(),
                  store.getVectorType(),
                  AccessShape::ofElement(store.getIndices()));
        return true;
      })
      .Case<vector::MaskedLoadOp, vector::ExpandLoadOp>([&](auto load) {
        addVector(AccessKind::Read, load.getBaseMutable(), load.getVectorType(),
                  getMaskedShape(load.getIndices(), load.getMask()));
        return true;
      })
      .Case<vector::MaskedStoreOp, vector::CompressStoreOp>([&](auto store) {
        addVector(AccessKind::Write, store.getBaseMutable(),
                  store.getVectorType(),
                  getMaskedShape(store.getIndices(), store.getMask()));
        return true;
      })
      .Case<vector::TransferReadOp, vector::TransferWriteOp>(
          [&](auto transfer) {
            OpOperand &base = transfer.getBaseMutable();
            if (!isa<MemRefType>(base.get().getType()))
              return true; // a tensor
            bool isRead = isa<vector::TransferReadOp>(op);
            bool isOfElements = !transfer.getVectorType().isScalable() &&
                                transfer.getVectorType().getElementType() ==
                                    transfer.getShapedType().getElementType();
            add(make(op, isRead ? AccessKind::Read : AccessKind::Write), base,
                isOfElements ? Shape(AccessShape::ofTransfer(transfer))
                             : std::nullopt);
            return true;
          })
      .Case<vector::GatherOp, vector::ScatterOp>([&](auto access) {
        OpOperand &base = access.getBaseMutable();
        bool isRead = isa<vector::GatherOp>(op);
        if (isa<MemRefType>(base.get().getType()))
          add(make(op, isRead ? AccessKind::Read : AccessKind::Write), base,
              std::nullopt);
        return true;
      })
      .Default([](Operation *) { return false; });
}

//===----------------------------------------------------------------------===//
// Operations of warps
//===----------------------------------------------------------------------===//

/// Adds the access of a warp to a matrix, rows of which are `lead` elements
/// apart.
void AccessCollector::addMatrix(AccessKind kind, OpOperand &operand,
                                ValueRange indices, gpu::MMAMatrixType matrix,
                                const APInt &lead, bool isTransposed) {
  ThreadAccess access = make(operand.getOwner(), kind);
  access.accessScope = AccessScope::Warp;
  size_t before = result.accesses.size();
  bool isOfElements =
      cast<MemRefType>(operand.get().getType()).getElementType() ==
      matrix.getElementType();
  add(access, operand,
      isOfElements ? Shape(AccessShape::ofElement(indices)) : std::nullopt);
  if (result.accesses.size() == before)
    return;
  std::optional<AccessFootprint> &footprint = result.accesses.back().footprint;
  if (!footprint)
    return;
  if (footprint->basis) { // the distance is in no relation to its strides
    footprint = std::nullopt;
    return;
  }
  ArrayRef<int64_t> shape = matrix.getShape();
  Builder builder(scope->getContext());
  int64_t rows = shape[isTransposed ? 1 : 0];
  footprint->box.push_back(
      {builder.getIndexAttr(rows), lead.getSExtValue() * footprint->run, 0});
  footprint->run *= shape[isTransposed ? 0 : 1];
}

bool AccessCollector::visitWarp(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](nvgpu::LdMatrixOp load) {
        constexpr int64_t kRowBytes = 16;
        AccessShape shape = AccessShape::ofElement(load.getIndices());
        OpOperand &operand = load.getSrcMemrefMutable();
        const PointsTo::Target &target = pointsTo->getTarget(operand.get());
        if (target.address)
          shape.setRun(
              llvm::divideCeil(kRowBytes, target.address->elementBytes),
              op->getContext());
        // Lanes of which no address is used are told where lanes are known.
        if (load.getNumTiles() < 4 && !getBlockShape(scope).hasLanes())
          shape.setMasked();
        add(make(op, AccessKind::Read), operand, shape);
        return true;
      })
      .Case([&](gpu::SubgroupMmaLoadMatrixOp load) {
        addMatrix(AccessKind::Read, load.getSrcMemrefMutable(),
                  load.getIndices(), cast<gpu::MMAMatrixType>(load.getType()),
                  load.getLeadDimension(), load.getTranspose().value_or(false));
        return true;
      })
      .Case([&](gpu::SubgroupMmaStoreMatrixOp store) {
        addMatrix(
            AccessKind::Write, store.getDstMemrefMutable(), store.getIndices(),
            cast<gpu::MMAMatrixType>(store.getSrc().getType()),
            store.getLeadDimension(), store.getTranspose().value_or(false));
        return true;
      })
      .Case([&](nvgpu::WarpgroupMmaOp mma) {
        for (OpOperand *operand :
             {&mma.getDescriptorAMutable(), &mma.getDescriptorBMutable()}) {
          ThreadAccess access = make(op, AccessKind::Read);
          access.accessScope = AccessScope::Warp;
          access.isAsync = true;
          addAll(access, *operand);
        }
        return true;
      })
      .Case([&](nvgpu::WarpgroupMmaStoreOp store) {
        addWarpgroupStore(store);
        return true;
      })
      .Default([](Operation *) { return false; });
}

/// Each byte is stored by one of the 128 threads of a warpgroup. In a block of
/// several warpgroups it is not known which of them stores where.
void AccessCollector::addWarpgroupStore(nvgpu::WarpgroupMmaStoreOp store) {
  constexpr int64_t kNumThreads = 128;
  OpOperand &operand = store.getDstMemrefMutable();
  const PointsTo::Target &target = pointsTo->getTarget(operand.get());
  ThreadAccess access = make(store, AccessKind::Write);
  std::optional<AccessShape> shape;
  if (target.address)
    shape = AccessShape::ofAll(*target.address);
  if (getBlockShape(scope).getNumThreads() == kNumThreads)
    access.accessScope = AccessScope::Block;
  else if (shape)
    shape->isPartial = true;
  add(std::move(access), operand, shape);
}

} // namespace mlir::workgroup
