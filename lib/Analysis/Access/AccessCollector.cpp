//===- AccessCollector.cpp - The accesses of operations -------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AccessCollector.h"
#include "AccessMasks.h"
#include "AccessPointers.h"
#include "AccessWhole.h"
#include "Analysis/Memory/PointerAddress.h"
#include "Analysis/Program/OpEffects.h"
#include "Analysis/Program/WarpRules.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "workgroup/IR/Workgroup.h"
#include "workgroup/Support/Kernel.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::workgroup {

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

/// True for an element that two places which overlap both have as a whole:
/// places are multiples of its size.
static bool isAligned(Type type) {
  return type.isIndex() ||
         (type.isIntOrFloat() && llvm::isPowerOf2_64(llvm::divideCeil(
                                     type.getIntOrFloatBitWidth(), 8)));
}

/// The element that all of `value`, a vector, are; else null.
static Value getOnlyElement(Value value) {
  auto broadcast = value.getDefiningOp<vector::BroadcastOp>();
  Value source = broadcast ? broadcast.getSource() : Value();
  return source && !isa<VectorType>(source.getType()) ? source : Value();
}

static bool isSplat(Value value) {
  SplatElementsAttr constant;
  return getOnlyElement(value) || matchPattern(value, m_Constant(&constant));
}

/// True if places that threads store vectors at by `access` are the same, or
/// have no element in common: multiples of the vector's length apart.
bool AccessCollector::isOfMultiples(const ThreadAccess &access) {
  if (!access.footprint || !access.footprint->box.empty() ||
      access.roots.size() != 1 || access.roots.front() == 0)
    return false;
  const LinearIndex &last = access.footprint->coordinates.back();
  return last.affineTerms.empty() && llvm::all_of(last.terms, [&](auto term) {
           int64_t divisor = alignment.getDivisor(term.first), product;
           return !llvm::MulOverflow(divisor, term.second, product) &&
                  product % access.footprint->run == 0;
         });
}

/// True if what threads store of the value `value` at bytes that they both
/// store to is the same, if the value is.
bool AccessCollector::isSameByByte(Value value, const ThreadAccess &access) {
  auto vector = dyn_cast<VectorType>(value.getType());
  if (!vector)
    return isAligned(value.getType());
  Type element = vector.getElementType();
  bool isOfBytes =
      element.isIndex() ||
      (element.isIntOrFloat() && element.getIntOrFloatBitWidth() % 8 == 0);
  return isOfBytes && isAligned(element) &&
         (isSplat(value) || isOfMultiples(access));
}

/// True if each thread makes `value` at most once.
bool AccessCollector::isMadeOnce(Value value) const {
  Operation *made = value.getDefiningOp();
  return made && isKernel(scope) && !isInLoop(made, scope);
}

/// True if all lanes of a warp have the same in `value`, which tells that by
/// itself.
static bool isOfWarp(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (isButterfly(op) ||
        (isa<gpu::SubgroupReduceOp>(op) && isOfWholeWarp(op)))
      return true;
    if (!isa<arith::BitcastOp, LLVM::BitcastOp>(op))
      break;
    value = op->getOperand(0);
  }
  return false;
}

/// Says whether threads that store `value` by `access` store the same.
void AccessCollector::setSameness(Operation *store, Value value,
                                  ThreadAccess *access) {
  if (!access || !isSameByByte(value, *access))
    return;
  if (Value element = getOnlyElement(value))
    value = element;
  auto argument = dyn_cast<BlockArgument>(value);
  bool isArgument = argument && argument.getOwner()->isEntryBlock() &&
                    argument.getOwner()->getParentOp() == scope;
  bool isGiven =
      isArgument ? isa<FunctionOpInterface>(scope) && isKernel(scope)
                 : !scope->isAncestor(value.getParentBlock()->getParentOp());
  if (matchPattern(value, m_Constant()) || isGiven)
    access->sameness = ThreadAccess::SameAlways;
  else if (!uniformity.isUniformPoint(store) && !isMadeOnce(value))
    return;
  else if (uniformity.isUniform(value))
    access->sameness = ThreadAccess::SameInIteration;
  else if (isOfWarp(value))
    access->sameness = ThreadAccess::SameInWarp;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

void AccessCollector::visit(Operation *op) {
  bool isFree = isFreeOfAccesses(op);
  if (auto call = dyn_cast<CallOpInterface>(op); call && !isFree)
    return visitCall(call);
  if (isFree || op->hasTrait<OpTrait::IsTerminator>() || visitElements(op) ||
      visitVectors(op) || visitWarp(op) || visitWhole(op, recorder) ||
      visitAsync(op) || visitMBarrier(op) || visitStore(op) ||
      visitPointers(op, recorder))
    return;
  visitEffects(op);
}

bool AccessCollector::visitStore(Operation *op) {
  auto store = dyn_cast<LLVM::StoreOp>(op);
  if (!store)
    return false;
  ThreadAccess *access = addStore(store, recorder);
  Type element = getElementTypeOrSelf(store.getValue());
  std::optional<int64_t> bytes = getAccessBytes(element);
  std::optional<uint64_t> given = store.getAlignment();
  // Places that are not aligned may have a part in common.
  if (bytes && (!given || *given >= uint64_t(*bytes)))
    setSameness(store, store.getValue(), access);
  return true;
}

bool AccessCollector::visitElements(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](memref::LoadOp load) {
        recorder.addElement(AccessKind::Read, load.getMemrefMutable(),
                            load.getIndices());
        return true;
      })
      .Case([&](memref::StoreOp store) {
        setSameness(store, store.getValueToStore(),
                    recorder.addElement(AccessKind::Write,
                                        store.getMemrefMutable(),
                                        store.getIndices()));
        return true;
      })
      .Case<memref::AtomicRMWOp, memref::GenericAtomicRMWOp>([&](auto update) {
        recorder.addElement(AccessKind::Atomic, update.getMemrefMutable(),
                            update.getIndices());
        return true;
      })
      .Case<affine::AffineLoadOp, affine::AffineVectorLoadOp>([&](auto load) {
        recorder.addVector(
            AccessKind::Read, load.getMemrefMutable(), load.getType(),
            AccessShape::ofMap(load.getAffineMap(), load.getMapOperands()));
        return true;
      })
      .Case<affine::AffineStoreOp, affine::AffineVectorStoreOp>(
          [&](auto store) {
            setSameness(
                store, store.getValueToStore(),
                recorder.addVector(AccessKind::Write, store.getMemrefMutable(),
                                   store.getValueToStore().getType(),
                                   AccessShape::ofMap(store.getAffineMap(),
                                                      store.getMapOperands())));
            return true;
          })
      .Default([](Operation *) { return false; });
}

/// The shape of an access to the element at `indices` and what follows it, some
/// of which may be masked off by `mask`.
static AccessShape getMaskedShape(ValueRange indices, Value mask) {
  AccessShape shape = AccessShape::ofElement(indices);
  shape.setMasked();
  shape.kept = getMaskParts(mask).count;
  return shape;
}

bool AccessCollector::visitVectors(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](vector::LoadOp load) {
        recorder.addVector(AccessKind::Read, load.getBaseMutable(),
                           load.getVectorType(),
                           AccessShape::ofElement(load.getIndices()));
        return true;
      })
      .Case([&](vector::StoreOp store) {
        setSameness(
            store, store.getValueToStore(),
            recorder.addVector(AccessKind::Write, store.getBaseMutable(),
                               store.getVectorType(),
                               AccessShape::ofElement(store.getIndices())));
        return true;
      })
      .Case<vector::MaskedLoadOp, vector::ExpandLoadOp>([&](auto load) {
        recorder.addVector(AccessKind::Read, load.getBaseMutable(),
                           load.getVectorType(),
                           getMaskedShape(load.getIndices(), load.getMask()));
        return true;
      })
      .Case<vector::MaskedStoreOp, vector::CompressStoreOp>([&](auto store) {
        recorder.addVector(AccessKind::Write, store.getBaseMutable(),
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
            recorder.add(AccessRecorder::make(op, isRead ? AccessKind::Read
                                                         : AccessKind::Write),
                         base,
                         isOfElements ? Shape(AccessShape::ofTransfer(transfer))
                                      : std::nullopt);
            return true;
          })
      .Case<vector::GatherOp, vector::ScatterOp>([&](auto access) {
        OpOperand &base = access.getBaseMutable();
        bool isRead = isa<vector::GatherOp>(op);
        if (isa<MemRefType>(base.get().getType()))
          recorder.add(AccessRecorder::make(op, isRead ? AccessKind::Read
                                                       : AccessKind::Write),
                       base, std::nullopt);
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
  ThreadAccess access = AccessRecorder::make(operand.getOwner(), kind);
  access.accessScope = AccessScope::Warp;
  bool isOfElements =
      cast<MemRefType>(operand.get().getType()).getElementType() ==
      matrix.getElementType();
  ThreadAccess *added = recorder.add(
      access, operand,
      isOfElements ? Shape(AccessShape::ofElement(indices)) : std::nullopt);
  if (!added || !added->footprint)
    return;
  std::optional<AccessFootprint> &footprint = added->footprint;
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

/// The bytes that a lane addresses for `ldmatrix`.
static constexpr int64_t kLdMatrixBytes = 16;

void AccessCollector::addLdMatrix(nvgpu::LdMatrixOp load) {
  AccessShape shape = AccessShape::ofElement(load.getIndices());
  OpOperand &operand = load.getSrcMemrefMutable();
  const PointsTo::Target &target = recorder.getTarget(operand.get());
  if (target.address)
    shape.setRun(llvm::divideCeil(kLdMatrixBytes, target.address->elementBytes),
                 load->getContext());
  // Lanes of which no address is used are told where lanes are known.
  if (load.getNumTiles() < 4 && !getBlockShape(scope).hasLanes())
    shape.setMasked();
  recorder.add(AccessRecorder::make(load, AccessKind::Read), operand, shape);
}

bool AccessCollector::visitWarp(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](nvgpu::LdMatrixOp load) {
        addLdMatrix(load);
        return true;
      })
      .Case([&](NVVM::LdMatrixOp load) {
        bool isKnown = load.getNum() == 4 || getBlockShape(scope).hasLanes();
        addPointer(
            AccessRecorder::make(op, AccessKind::Read), load.getPtrMutable(),
            isKnown ? std::optional(kLdMatrixBytes) : std::nullopt, recorder);
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
      .Case([&](GroupProductOp product) {
        for (OpOperand *tile :
             {&product.getLhsMutable(), &product.getRhsMutable()}) {
          ThreadAccess access = AccessRecorder::make(op, AccessKind::Read);
          access.isAsync = product.getPending() != 0;
          recorder.addAll(access, *tile);
        }
        return true;
      })
      .Case([&](nvgpu::WarpgroupMmaOp mma) {
        for (OpOperand *operand :
             {&mma.getDescriptorAMutable(), &mma.getDescriptorBMutable()}) {
          ThreadAccess access = AccessRecorder::make(op, AccessKind::Read);
          access.accessScope = AccessScope::Warp;
          access.isAsync = true;
          recorder.addAll(access, *operand);
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
  const PointsTo::Target &target = recorder.getTarget(operand.get());
  ThreadAccess access = AccessRecorder::make(store, AccessKind::Write);
  std::optional<AccessShape> shape;
  if (target.address)
    shape = AccessShape::ofAll(*target.address);
  if (getBlockShape(scope).getNumThreads() == kNumThreads)
    access.accessScope = AccessScope::Block;
  else if (shape)
    shape->isPartial = true;
  recorder.add(std::move(access), operand, shape);
}

} // namespace mlir::workgroup
