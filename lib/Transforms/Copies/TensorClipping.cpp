//===- TensorClipping.cpp - Tiles that end with their tensor --------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of a tile of T elements from `offset` on, a tensor of D elements has the
// lesser of T and D - offset. A view has no more, as it is a part of both. So
// only that it has no less is to be shown: each of the numbers of which its
// size is the least has to be T at least, or D - offset.
//
//===----------------------------------------------------------------------===//

#include "TensorClipping.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "workgroup/Analysis/LinearIndex.h"

namespace mlir::workgroup {

/// More numbers than schedules make minima of.
constexpr size_t kMaxMinima = 16;

/// The numbers of which `value` is the least, or the sum that it is; nothing if
/// it is neither.
static SmallVector<LinearIndex> getMinimumTerms(Value value) {
  SmallVector<LinearIndex> choices;
  Operation *op = value.getDefiningOp();
  if (auto least = dyn_cast_or_null<affine::AffineMinOp>(op)) {
    AffineMap map = least.getMap();
    for (unsigned i = 0; i < map.getNumResults(); ++i)
      choices.emplace_back().add(map.getSubMap({i}), least.getOperands(), 1);
  } else if (auto least = dyn_cast_or_null<arith::MinSIOp>(op)) {
    choices.emplace_back().add(least.getLhs(), 1);
    choices.emplace_back().add(least.getRhs(), 1);
  } else if (auto apply = dyn_cast_or_null<affine::AffineApplyOp>(op)) {
    choices.emplace_back().add(apply.getAffineMap(), apply.getOperands(), 1);
  } else if (isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op)) {
    choices.emplace_back().add(op->getOperand(0), 1);
    choices.back().add(op->getOperand(1), isa<arith::SubIOp>(op) ? -1 : 1);
  }
  return choices;
}

/// The sums of which `index` is the least, without minima among their terms;
/// nothing if they are too many.
static SmallVector<LinearIndex> expandMinima(const LinearIndex &index) {
  SmallVector<LinearIndex> open = {index}, done;
  while (!open.empty()) {
    if (open.size() + done.size() > kMaxMinima)
      return {};
    LinearIndex next = open.pop_back_val();
    bool isExpanded = false;
    for (auto [value, factor] : next.terms) {
      SmallVector<LinearIndex> choices = getMinimumTerms(value);
      if (choices.empty() || (factor < 0 && choices.size() > 1))
        continue;
      for (const LinearIndex &choice : choices) {
        open.push_back(next);
        open.back().add(value, -factor);
        open.back().add(choice, factor);
      }
      isExpanded = true;
      break;
    }
    if (!isExpanded)
      done.push_back(std::move(next));
  }
  return done;
}

/// Beyond it, differences of numbers might wrap around.
constexpr int64_t kMostExact = int64_t(1) << 40;

/// The greatest number of an iteration of the loop that `value` counts through;
/// nothing if it is not known.
static std::optional<int64_t> getLastIteration(Value value) {
  scf::ForOp loop = scf::getForInductionVarOwner(value);
  if (!loop)
    return std::nullopt;
  std::optional<int64_t> from = getConstantIntValue(loop.getLowerBound()),
                         step = getConstantIntValue(loop.getStep());
  if (!from || !step || *from < 0 || *step <= 0 || *step > kMostExact)
    return std::nullopt;
  LinearIndex end;
  end.add(loop.getUpperBound(), 1);
  std::optional<int64_t> last;
  for (const LinearIndex &bound : expandMinima(end))
    if (bound.isConstant() && bound.constant > *from &&
        bound.constant < kMostExact)
      if (int64_t at = (bound.constant - 1 - *from) / *step * *step + *from;
          !last || at < *last)
        last = at;
  return last;
}

/// True if `index` is known to be `least` at least.
static bool isAtLeast(LinearIndex index, int64_t least) {
  if (index.constant > kMostExact || index.constant < -kMostExact)
    return false;
  for (size_t i = 0; i < index.terms.size();) {
    auto [value, factor] = index.terms[i];
    std::optional<int64_t> last =
        factor == -1 ? getLastIteration(value) : std::nullopt;
    if (!last) {
      ++i;
      continue;
    }
    index.add(value, 1);
    index.constant -= *last;
  }
  return index.isConstant() && index.constant >= least;
}

/// True if `index`, the end of a view, is that of dimension `dim` of `tensor`.
static bool isTensorEnd(const LinearIndex &index, Value tensor, unsigned dim) {
  int64_t extent = cast<MemRefType>(tensor.getType()).getDimSize(dim);
  if (!ShapedType::isDynamic(extent))
    return index.isConstant() && index.constant == extent;
  if (index.constant != 0 || index.terms.size() != 1 ||
      !index.affineTerms.empty() || index.terms.front().second != 1)
    return false;
  auto size = index.terms.front().first.getDefiningOp<memref::DimOp>();
  return size && size.getSource() == tensor &&
         size.getConstantIndex() == int64_t(dim);
}

/// True if the view of `size` elements has all that the tensor has of the tile
/// along dimension `i` of the map.
static bool endsWithTensor(const TensorCopy &copy, unsigned i,
                           OpFoldResult size) {
  LinearIndex whole, offset;
  whole.add(size, 1);
  for (OpFoldResult term : copy.offsets[i])
    offset.add(term, 1);
  SmallVector<LinearIndex> choices = expandMinima(whole);
  return !choices.empty() &&
         llvm::all_of(choices, [&](const LinearIndex &choice) {
           if (isAtLeast(choice, copy.extents[i]))
             return true;
           LinearIndex end = choice;
           end.add(offset, 1);
           // What the offset consists of cancels out with terms of the choice.
           SmallVector<LinearIndex> ends = expandMinima(end);
           return ends.size() == 1 &&
                  isTensorEnd(ends.front(), copy.tensor, copy.dims[i]);
         });
}

std::string getClippingObstacle(const TensorCopy &copy) {
  for (auto [i, size] : llvm::enumerate(copy.sizes))
    if (size && getConstantIntValue(size) != copy.extents[i] &&
        !endsWithTensor(copy, i, size))
      return "it fills a tile that may be ragged, and the source is not known "
             "to end where its tensor does";
  return "";
}

} // namespace mlir::workgroup
