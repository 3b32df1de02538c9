//===- LaunchGrid.cpp - Blocks for the iterations of a loop ---------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchGrid.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "workgroup/Target/LaunchLimits.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::workgroup {

LaunchGrid::LaunchGrid(const ParallelLoop &loop) : loop(loop) {
  bool isLinear = false;
  for (auto [number, target] : llvm::enumerate(loop.targets)) {
    if (!target || target->level != ProcessorLevel::Blocks)
      continue;
    dims.push_back({unsigned(number), target->dim, {}});
    isLinear |= target->isLinear;
  }
  llvm::sort(dims, [](const Dim &lhs, const Dim &rhs) {
    return lhs.along < rhs.along;
  });
  total = 1;
  for (auto [place, dim] : llvm::enumerate(dims)) {
    const LoopRange &range = loop.ranges[dim.number];
    dim.along = isLinear ? place : dim.along;
    std::optional<int64_t> most = getMostIterations(range);
    bool isWithin = dim.along < 3 && most && *most <= kMaxGridSizes[dim.along];
    folded |= dim.along != 0 && !isWithin;
    std::optional<int64_t> count = getNumIterations(range);
    int64_t product = 0;
    bool isKnown =
        total && count && !llvm::MulOverflow(*total, *count, product);
    total = isKnown ? std::optional(product) : std::nullopt;
    if (count == 0) {
      total = 0;
      return;
    }
  }
}

bool LaunchGrid::isTooLarge() const {
  // Of unknown sizes, what is known of each has to fit at least.
  auto isLarge = [&](const Dim &dim) {
    auto count = getNumIterations(loop.ranges[dim.number]);
    return count && *count > kMaxGridSizes[0];
  };
  bool isProductLarge = folded && total && *total > kMaxGridSizes[0];
  return !isEmpty() && (isProductLarge || llvm::any_of(dims, isLarge));
}

void LaunchGrid::makeCounts(OpBuilder &builder) {
  Location loc = loop.op->getLoc();
  SignedIndexBuilder index{builder, loc};
  product = builder.getIndexAttr(1);
  for (Dim &dim : dims) {
    dim.count = loop.count(builder, dim.number);
    product = index.multiply(product, dim.count);
  }
  if (total)
    return;
  Value zero = index.value(builder.getIndexAttr(0));
  Value hasBlocks = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::sgt, index.value(product), zero);
  auto branch = scf::IfOp::create(builder, loc, hasBlocks);
  builder.setInsertionPointToStart(branch.thenBlock());
}

std::array<Value, 3> LaunchGrid::makeSizes(OpBuilder &builder) const {
  SignedIndexBuilder index{builder, loop.op->getLoc()};
  std::array<OpFoldResult, 3> sizes;
  sizes.fill(builder.getIndexAttr(1));
  if (folded)
    sizes[0] = product;
  else
    for (const Dim &dim : dims)
      sizes[dim.along] = dim.count;
  return {index.value(sizes[0]), index.value(sizes[1]), index.value(sizes[2])};
}

void LaunchGrid::makeInductionVars(
    OpBuilder &builder, gpu::KernelDim3 block,
    SmallVectorImpl<OpFoldResult> &values) const {
  Location loc = loop.op->getLoc();
  SignedIndexBuilder index{builder, loc};
  auto set = [&](const Dim &dim, Value number) {
    const LoopRange &range = loop.ranges[dim.number];
    values[dim.number] =
        index.add(range.lower, index.multiply(number, range.step));
  };
  if (!folded) {
    Value ids[] = {block.x, block.y, block.z};
    for (const Dim &dim : dims)
      set(dim, ids[dim.along]);
    return;
  }
  SmallVector<Dim> several;
  for (const Dim &dim : dims)
    if (getConstantIntValue(dim.count) == 1)
      set(dim, index.value(builder.getIndexAttr(0)));
    else
      several.push_back(dim);
  if (several.size() <= 1) {
    for (const Dim &dim : several)
      set(dim, block.x);
    return;
  }
  // Divisions of 64 bits take many times the registers and time of these.
  Type narrow = builder.getI32Type();
  auto widen = [&](Value number) -> Value {
    return arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(),
                                        number);
  };
  Value left = arith::IndexCastUIOp::create(builder, loc, narrow, block.x);
  Value one = arith::ConstantIntOp::create(builder, loc, narrow, 1);
  for (const Dim &dim : ArrayRef(several).drop_back()) {
    Value count = arith::IndexCastOp::create(builder, loc, narrow,
                                             index.value(dim.count));
    // Where there are blocks it is: whoever proves that blocks differ knows it
    // from here.
    if (!getConstantIntValue(dim.count))
      count = arith::MaxSIOp::create(builder, loc, count, one);
    Value number = arith::RemUIOp::create(builder, loc, left, count);
    set(dim, widen(number));
    left = arith::DivUIOp::create(builder, loc, left, count);
  }
  set(several.back(), widen(left));
}

} // namespace mlir::workgroup
