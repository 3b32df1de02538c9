//===- BufferTypes.cpp - Types and views of static buffers ----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BufferTypes.h"
#include "BufferAlignment.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "workgroup/Analysis/Alignment.h"
#include "workgroup/Support/MemorySpace.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::workgroup {

/// The lesser of two bounds, one of which may not be known.
static std::optional<int64_t> getLesser(std::optional<int64_t> lhs,
                                        std::optional<int64_t> rhs) {
  return lhs && rhs ? std::min(*lhs, *rhs) : lhs ? lhs : rhs;
}

/// The most that `index` is as an unsigned number, if that is positive as a
/// signed one, too.
static std::optional<int64_t> getUnsignedBound(Value index) {
  std::optional<int64_t> constant = getConstantIntValue(index);
  if (constant && *constant >= 0)
    return constant;
  auto least = index.getDefiningOp<arith::MinUIOp>();
  return least ? getLesser(getUnsignedBound(least.getLhs()),
                           getUnsignedBound(least.getRhs()))
               : std::nullopt;
}

std::optional<int64_t> getUpperBound(OpFoldResult index) {
  if (std::optional<int64_t> constant = getConstantIntValue(index))
    return constant;
  // Which upstream's bounds do not follow.
  if (std::optional<int64_t> bound = getUnsignedBound(cast<Value>(index)))
    return bound;
  if (auto least = cast<Value>(index).getDefiningOp<arith::MinSIOp>())
    return getLesser(getUpperBound(least.getLhs()),
                     getUpperBound(least.getRhs()));
  // A dimension that is not there has no bound; asking for it is undefined.
  if (auto dim = cast<Value>(index).getDefiningOp<memref::DimOp>())
    if (dim.getSpeculatability() == Speculation::NotSpeculatable)
      return std::nullopt;
  FailureOr<int64_t> bound = ValueBoundsConstraintSet::computeConstantBound(
      presburger::BoundType::UB, cast<Value>(index), /*stopCondition=*/nullptr,
      /*closedUB=*/true);
  return succeeded(bound) ? std::optional(*bound) : std::nullopt;
}

static SmallVector<OpFoldResult> getMixedSizes(Operation *op) {
  Builder builder(op->getContext());
  auto type = cast<MemRefType>(op->getResult(0).getType());
  ValueRange dynamicSizes = isa<memref::AllocOp>(op)
                                ? cast<memref::AllocOp>(op).getDynamicSizes()
                                : cast<memref::AllocaOp>(op).getDynamicSizes();
  return getMixedValues(type.getShape(), dynamicSizes, builder);
}

std::optional<int64_t> getSpan(ArrayRef<int64_t> extents,
                               ArrayRef<int64_t> strides, int64_t offset) {
  int64_t last = offset;
  if (last < 0) // as a dynamic offset is
    return std::nullopt;
  for (auto [extent, stride] : llvm::zip_equal(extents, strides)) {
    int64_t length;
    if (stride < 0 || llvm::MulOverflow(extent - 1, stride, length) ||
        llvm::AddOverflow(last, length, last))
      return std::nullopt;
  }
  return last + 1;
}

std::optional<int64_t> getBufferSpan(Operation *op) {
  auto type = cast<MemRefType>(op->getResult(0).getType());
  SmallVector<int64_t> extents;
  for (OpFoldResult size : getMixedSizes(op)) {
    std::optional<int64_t> bound = getUpperBound(size);
    if (!bound)
      return std::nullopt;
    extents.push_back(std::max<int64_t>(*bound, 0));
  }
  if (llvm::is_contained(extents, 0))
    return 0;

  SmallVector<int64_t> strides;
  int64_t offset = 0;
  if (type.getLayout().isIdentity())
    strides = computeSuffixProduct(extents);
  else if (failed(type.getStridesAndOffset(strides, offset)))
    return std::nullopt;
  return getSpan(extents, strides, offset);
}

/// True if the buffer can have the type of the allocation itself.
static bool isDense(MemRefType type, int64_t span) {
  return type.hasStaticShape() && span > 0 && type.getNumElements() == span &&
         (type.getLayout().isIdentity() ||
          type.areTrailingDimsContiguous(type.getRank()));
}

MemRefType getBufferType(Operation *op, int64_t span) {
  auto type = cast<MemRefType>(op->getResult(0).getType());
  Attribute space = getWorkgroupSpace(op->getContext());
  if (isDense(type, span))
    return MemRefType::get(type.getShape(), type.getElementType(),
                           MemRefLayoutAttrInterface(), space);
  // An empty buffer gets one element: LLVM has no empty shared variable.
  return MemRefType::get({std::max<int64_t>(span, 1)}, type.getElementType(),
                         MemRefLayoutAttrInterface(), space);
}

Value createViewOfType(RewriterBase &rewriter, Operation *op, Value buffer) {
  auto type = cast<MemRefType>(
      withMemorySpace(cast<MemRefType>(op->getResult(0).getType()),
                      getWorkgroupSpace(op->getContext())));
  if (buffer.getType() == type)
    return buffer;
  Location loc = op->getLoc();
  SmallVector<OpFoldResult> sizes = getMixedSizes(op);
  SmallVector<int64_t> staticStrides;
  int64_t offset = 0;
  SmallVector<OpFoldResult> strides;
  if (succeeded(type.getStridesAndOffset(staticStrides, offset)) &&
      llvm::none_of(staticStrides, ShapedType::isDynamic)) {
    strides = getAsIndexOpFoldResult(op->getContext(), staticStrides);
  } else { // the identity layout of a dynamic shape
    Value stride = arith::ConstantIndexOp::create(rewriter, loc, 1);
    strides.assign(sizes.size(), rewriter.getIndexAttr(1));
    for (unsigned i = sizes.size(); i-- > 1;) {
      Value size = getValueOrCreateConstantIndexOp(rewriter, loc, sizes[i]);
      stride = rewriter.createOrFold<arith::MulIOp>(loc, stride, size);
      strides[i - 1] = getAsOpFoldResult(stride);
    }
  }
  Value view = memref::ReinterpretCastOp::create(
      rewriter, loc, buffer, rewriter.getIndexAttr(offset), sizes, strides);
  if (view.getType() != type)
    view = memref::CastOp::create(rewriter, loc, type, view);
  return view;
}

/// True if `user` passes the memory of its operand `use` on in its results,
/// whose types then follow the operand's.
static bool forwardsMemory(Operation *user, OpOperand &use) {
  if (isa<memref::MemorySpaceCastOp>(user))
    return false;
  return getViewSource(user) == use.get();
}

/// True if `user` accepts its operands in any spelling of workgroup memory.
static bool acceptsAnySpelling(Operation *user) {
  return !user->hasTrait<OpTrait::IsTerminator>() &&
         !isa<CallOpInterface, RegionBranchOpInterface>(user) &&
         llvm::none_of(user->getResultTypes(), llvm::IsaPred<BaseMemRefType>);
}

/// Makes the uses of `value` agree with its type, which was `oldType` before.
static void respellUses(RewriterBase &rewriter, Value value, Type oldType) {
  Attribute space = cast<BaseMemRefType>(value.getType()).getMemorySpace();
  Value casted;
  for (OpOperand *use :
       llvm::to_vector(llvm::make_pointer_range(value.getUses()))) {
    Operation *user = use->getOwner();
    if (forwardsMemory(user, *use)) {
      for (Value result : user->getResults()) {
        auto type = dyn_cast<BaseMemRefType>(result.getType());
        if (!type || type.getMemorySpace() == space)
          continue;
        rewriter.modifyOpInPlace(
            user, [&] { result.setType(withMemorySpace(type, space)); });
        respellUses(rewriter, result, type);
      }
      continue;
    }
    if (acceptsAnySpelling(user))
      continue;
    if (!casted) {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointAfterValue(value);
      casted = memref::MemorySpaceCastOp::create(rewriter, value.getLoc(),
                                                 oldType, value);
    }
    rewriter.modifyOpInPlace(user, [&] { use->set(casted); });
  }
}

void replaceBuffer(RewriterBase &rewriter, Value buffer, Value replacement) {
  Type oldType = buffer.getType();
  rewriter.replaceAllUsesWith(buffer, replacement);
  if (replacement.getType() != oldType)
    respellUses(rewriter, replacement, oldType);
}

void normalizeAttributions(RewriterBase &rewriter, Operation *scope,
                           int64_t alignment) {
  ArrayRef<BlockArgument> buffers;
  if (auto launch = dyn_cast<gpu::LaunchOp>(scope))
    buffers = launch.getWorkgroupAttributions();
  else if (auto function = dyn_cast<gpu::GPUFuncOp>(scope))
    buffers = function.getWorkgroupAttributions();
  Attribute space = getWorkgroupSpace(rewriter.getContext());
  for (BlockArgument buffer : buffers) {
    auto type = dyn_cast<MemRefType>(buffer.getType());
    if (!type || !isWorkgroupMemory(type))
      continue; // verify-kernels says what is wrong with it
    if (isa<gpu::GPUFuncOp>(scope))
      raiseAlignment(buffer, std::max(alignment, getNeededAlignment(buffer)));
    if (type.getMemorySpace() == space)
      continue;
    buffer.setType(withMemorySpace(type, space));
    respellUses(rewriter, buffer, type);
  }
}

/// Gives `global` and its uses inside `module` the type `type`.
static void respellGlobal(RewriterBase &rewriter, memref::GlobalOp global,
                          MemRefType type, gpu::GPUModuleOp module) {
  rewriter.modifyOpInPlace(global, [&] { global.setType(type); });
  module.walk([&](memref::GetGlobalOp get) {
    Type oldType = get.getType();
    if (get.getNameAttr().getAttr() != global.getSymNameAttr() ||
        oldType == type)
      return;
    rewriter.modifyOpInPlace(get, [&] { get.getResult().setType(type); });
    respellUses(rewriter, get.getResult(), oldType);
  });
}

void normalizeGlobals(RewriterBase &rewriter, Operation *root,
                      int64_t alignment) {
  Attribute space = getWorkgroupSpace(rewriter.getContext());
  root->walk([&](gpu::GPUModuleOp module) {
    DenseMap<StringAttr, int64_t> needed;
    module.walk([&](memref::GetGlobalOp get) {
      if (!isWorkgroupMemory(get.getType()))
        return;
      int64_t &most = needed[get.getNameAttr().getAttr()];
      most = std::max(most, getNeededAlignment(get.getResult()));
    });
    for (auto global : module.getOps<memref::GlobalOp>()) {
      MemRefType type = global.getType();
      if (!isWorkgroupMemory(type))
        continue;
      int64_t least =
          std::max({alignment, needed.lookup(global.getSymNameAttr()),
                    getNaturalAlignment(type, global)});
      if (static_cast<int64_t>(global.getAlignment().value_or(0)) < least)
        rewriter.modifyOpInPlace(global, [&] { global.setAlignment(least); });
      if (type.getMemorySpace() != space)
        respellGlobal(rewriter, global,
                      cast<MemRefType>(withMemorySpace(type, space)), module);
    }
  });
}

} // namespace mlir::workgroup
