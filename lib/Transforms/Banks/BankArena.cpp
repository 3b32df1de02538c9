//===- BankArena.cpp - Buffers that are slots of an arena -----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BankArena.h"
#include "Transforms/Utils/IndexBuilder.h"
#include "Transforms/Utils/KernelBuffers.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include <numeric>

namespace mlir::workgroup {

namespace {
/// The place of a slot: `number` times `bytes`, or `bytes` if there is none.
struct SlotShift {
  Value number;
  int64_t bytes;
};
} // namespace

static SlotShift getShift(memref::ViewOp view) {
  Value shift = view.getByteShift();
  if (std::optional<int64_t> constant = getConstantIntValue(shift))
    return {Value(), *constant};
  if (auto product = shift.getDefiningOp<arith::MulIOp>()) {
    if (std::optional<int64_t> factor = getConstantIntValue(product.getRhs()))
      return {product.getLhs(), *factor};
    if (std::optional<int64_t> factor = getConstantIntValue(product.getLhs()))
      return {product.getRhs(), *factor};
  }
  if (auto apply = shift.getDefiningOp<affine::AffineApplyOp>())
    if (auto product =
            dyn_cast<AffineBinaryOpExpr>(apply.getAffineMap().getResult(0)))
      if (auto factor = dyn_cast<AffineConstantExpr>(product.getRHS());
          factor && product.getKind() == AffineExprKind::Mul &&
          isa<AffineDimExpr, AffineSymbolExpr>(product.getLHS()) &&
          apply.getNumOperands() == 1)
        return {apply.getOperand(0), factor.getValue()};
  return {shift, 1};
}

std::optional<BankArena> matchArena(Value memory, Operation *scope) {
  auto type = cast<MemRefType>(memory.getType());
  if (type.getRank() != 1 || !type.hasStaticShape() ||
      !type.getElementType().isInteger(8) || !type.getLayout().isIdentity())
    return std::nullopt;
  BankArena arena;
  arena.memory = memory;
  for (Operation *user : memory.getUsers()) {
    if (isa<memref::DeallocOp>(user))
      continue;
    auto view = dyn_cast<memref::ViewOp>(user);
    if (!view)
      return std::nullopt;
    // A negative factor is for negative numbers, and products without a sign
    // would overflow.
    int64_t shift = getShift(view).bytes;
    if (shift < 0)
      return std::nullopt;
    arena.views.push_back(view);
    arena.slotBytes = std::gcd(arena.slotBytes, shift);
    if (view.getType() != arena.getTile())
      return std::nullopt;
  }
  if (arena.views.empty() || !arena.getTile().hasStaticShape())
    return std::nullopt;
  int64_t bytes = type.getNumElements();
  if (arena.slotBytes == 0)
    arena.slotBytes = bytes;
  std::optional<int64_t> tileBytes = getStaticBytes(arena.getTile(), scope);
  if (!tileBytes || *tileBytes > arena.slotBytes || arena.slotBytes == 0 ||
      bytes % arena.slotBytes != 0)
    return std::nullopt;
  arena.numSlots = bytes / arena.slotBytes;
  // Lists of uses are in reverse order.
  std::reverse(arena.views.begin(), arena.views.end());
  return arena;
}

/// Moves `view` to where its slot is if slots have `after` bytes, not `before`.
static void moveSlot(RewriterBase &rewriter, memref::ViewOp view,
                     int64_t before, int64_t after) {
  SlotShift shift = getShift(view);
  rewriter.setInsertionPoint(view);
  IndexBuilder index{rewriter, view.getLoc()};
  OpFoldResult place = rewriter.getIndexAttr(shift.bytes / before * after);
  if (shift.number)
    place = index.mul(shift.number, place);
  Value value = index.value(place);
  Operation *old = view.getByteShift().getDefiningOp();
  rewriter.modifyOpInPlace(view,
                           [&] { view.getByteShiftMutable().assign(value); });
  if (old && old->use_empty())
    rewriter.eraseOp(old);
}

void resizeSlots(RewriterBase &rewriter, BankArena &arena, MemRefType tile,
                 int64_t slotBytes) {
  auto type = cast<MemRefType>(arena.memory.getType());
  arena.memory.setType(MemRefType::Builder(type)
                           .setShape({arena.numSlots * slotBytes})
                           .setMemorySpace(tile.getMemorySpace()));
  for (memref::ViewOp view : arena.views) {
    view.getResult().setType(tile);
    if (slotBytes != arena.slotBytes)
      moveSlot(rewriter, view, arena.slotBytes, slotBytes);
  }
  arena.slotBytes = slotBytes;
}

} // namespace mlir::workgroup
