//===- CopyFootprint.cpp - Which bytes a memref covers --------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CopyFootprint.h"
#include "Support/Views.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "workgroup/Analysis/Alignment.h"
#include "workgroup/Support/MemorySpace.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// The number of operations that are followed to find out what an index is.
static constexpr unsigned kMaxIndexOps = 32;

namespace {
/// Follows views from a root on. Each step is false if the result is no sum, or
/// its numbers are too large.
class FootprintBuilder {
public:
  bool run(Value memref);
  Footprint footprint;

private:
  bool start(Value root);
  bool follow(Operation *view);
  bool followSlice(memref::SubViewOp slice);
  bool setOffset(OpFoldResult offset);
  bool refine(MemRefType type, Value memref, bool isNewLayout);

  bool add(OpFoldResult index, ByteStride stride, int64_t factor = 1);
  bool addApply(AffineExpr expr, affine::AffineApplyOp apply, ByteStride stride,
                int64_t factor);
  bool addTerm(Value index, ByteStride stride);

  unsigned numOps = 0;
};
} // namespace

static bool multiply(ByteStride &stride, int64_t factor) {
  return !llvm::MulOverflow(stride.factor, factor, stride.factor);
}

bool FootprintBuilder::addTerm(Value index, ByteStride stride) {
  if (!index && stride.isConstant())
    return !llvm::AddOverflow(footprint.constant, stride.factor,
                              footprint.constant);
  for (Footprint::Term &term : footprint.terms)
    if (term.index == index && term.stride.layout == stride.layout &&
        term.stride.dim == stride.dim)
      return !llvm::AddOverflow(term.stride.factor, stride.factor,
                                term.stride.factor);
  footprint.terms.push_back({index, stride});
  return true;
}

/// Adds `factor` times `expr`, a part of what `apply` computes.
bool FootprintBuilder::addApply(AffineExpr expr, affine::AffineApplyOp apply,
                                ByteStride stride, int64_t factor) {
  Builder builder(apply.getContext());
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return add(builder.getIndexAttr(constant.getValue()), stride, factor);
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return add(apply.getDimOperands()[dim.getPosition()], stride, factor);
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return add(apply.getSymbolOperands()[symbol.getPosition()], stride, factor);
  auto binary = cast<AffineBinaryOpExpr>(expr);
  if (binary.getKind() == AffineExprKind::Add)
    return addApply(binary.getLHS(), apply, stride, factor) &&
           addApply(binary.getRHS(), apply, stride, factor);
  auto multiple = dyn_cast<AffineConstantExpr>(binary.getRHS());
  return binary.getKind() == AffineExprKind::Mul && multiple &&
         !llvm::MulOverflow(factor, multiple.getValue(), factor) &&
         addApply(binary.getLHS(), apply, stride, factor);
}

/// Adds `factor` times `index` times `stride`.
bool FootprintBuilder::add(OpFoldResult index, ByteStride stride,
                           int64_t factor) {
  if (std::optional<int64_t> constant = getConstantIntValue(index))
    return multiply(stride, factor) && multiply(stride, *constant) &&
           addTerm(nullptr, stride);
  auto value = cast<Value>(index);
  Operation *op = ++numOps < kMaxIndexOps ? value.getDefiningOp() : nullptr;
  if (isa_and_nonnull<arith::AddIOp>(op))
    return add(op->getOperand(0), stride, factor) &&
           add(op->getOperand(1), stride, factor);
  if (isa_and_nonnull<arith::SubIOp>(op))
    return add(op->getOperand(0), stride, factor) &&
           add(op->getOperand(1), stride, -factor);
  if (isa_and_nonnull<arith::MulIOp>(op))
    for (auto [lhs, rhs] : {std::pair(0, 1), std::pair(1, 0)})
      if (auto constant = getConstantIntValue(op->getOperand(rhs)))
        return !llvm::MulOverflow(factor, *constant, factor) &&
               add(op->getOperand(lhs), stride, factor);
  if (auto apply = dyn_cast_or_null<affine::AffineApplyOp>(op)) {
    // Quotients and remainders are taken as they are.
    Footprint before = footprint;
    if (addApply(apply.getMap().getResult(0), apply, stride, factor))
      return true;
    footprint = std::move(before);
  }
  return multiply(stride, factor) && addTerm(value, stride);
}

bool FootprintBuilder::setOffset(OpFoldResult offset) {
  footprint.constant = 0;
  footprint.terms.clear();
  return add(offset, {footprint.elementBytes});
}

/// Takes over what the type of `memref` says, and all of its strides if it has
/// others than what it is a view of.
bool FootprintBuilder::refine(MemRefType type, Value memref, bool isNewLayout) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!type || failed(type.getStridesAndOffset(strides, offset)))
    return false;
  std::optional<int64_t> bytes =
      getElementBytes(type, memref.getParentRegion()->getParentOp());
  if (!bytes)
    return false;
  footprint.elementBytes = *bytes;
  if (isNewLayout)
    footprint.strides.resize(strides.size());
  for (auto [dim, stride] : llvm::enumerate(strides)) {
    ByteStride &known = footprint.strides[dim];
    if (!ShapedType::isDynamic(stride))
      known = {stride};
    else if (isNewLayout)
      known = {1, memref, static_cast<int64_t>(dim)};
    else
      continue;
    if (!multiply(known, *bytes))
      return false;
  }
  return ShapedType::isDynamic(offset) ||
         setOffset(Builder(type.getContext()).getIndexAttr(offset));
}

bool FootprintBuilder::start(Value root) {
  footprint.root = root;
  auto type = dyn_cast<MemRefType>(root.getType());
  return refine(type, root, /*isNewLayout=*/true) &&
         (type.getStridesAndOffset().second != ShapedType::kDynamic ||
          addTerm(nullptr, {footprint.elementBytes, root, -1}));
}

bool FootprintBuilder::followSlice(memref::SubViewOp slice) {
  SmallVector<ByteStride, 4> strides;
  llvm::SmallBitVector dropped = getDroppedDims(slice);
  for (auto [dim, offset, step] :
       llvm::enumerate(slice.getMixedOffsets(), slice.getMixedStrides())) {
    ByteStride stride = footprint.strides[dim];
    if (!add(offset, stride))
      return false;
    if (dropped.test(dim))
      continue;
    std::optional<int64_t> constant = getConstantIntValue(step);
    if (!constant)
      stride = {footprint.elementBytes, slice,
                static_cast<int64_t>(strides.size())};
    else if (!multiply(stride, *constant))
      return false;
    strides.push_back(stride);
  }
  footprint.strides = std::move(strides);
  return true;
}

/// Goes from the source of `view` to its result.
bool FootprintBuilder::follow(Operation *view) {
  bool isNewLayout = false;
  if (auto bytes = dyn_cast<memref::ViewOp>(view)) {
    std::optional<int64_t> shift = getConstantIntValue(bytes.getByteShift());
    if (!shift || !footprint.terms.empty())
      return false;
    footprint.base += footprint.constant + *shift;
    footprint.constant = 0;
    isNewLayout = true;
  } else if (auto anew = dyn_cast<memref::ReinterpretCastOp>(view)) {
    if (!setOffset(anew.getMixedOffsets().front()))
      return false;
    isNewLayout = true;
  } else if (auto slice = dyn_cast<memref::SubViewOp>(view)) {
    if (!followSlice(slice))
      return false;
  } else if (auto transpose = dyn_cast<memref::TransposeOp>(view)) {
    SmallVector<ByteStride, 4> strides;
    for (AffineExpr dim : transpose.getPermutation().getResults())
      strides.push_back(
          footprint.strides[cast<AffineDimExpr>(dim).getPosition()]);
    footprint.strides = std::move(strides);
  } else if (isa<memref::ExpandShapeOp, memref::CollapseShapeOp>(view)) {
    isNewLayout = true;
  } else if (!isa<memref::CastOp, memref::MemorySpaceCastOp,
                  memref::AssumeAlignmentOp>(view)) {
    return false;
  }
  Value result = view->getResult(0);
  return refine(dyn_cast<MemRefType>(result.getType()), result, isNewLayout);
}

bool FootprintBuilder::run(Value memref) {
  SmallVector<Operation *> views;
  for (; Operation *op = memref.getDefiningOp(); memref = getViewSource(op)) {
    Value source = getViewSource(op);
    if (!source || !isa<MemRefType>(source.getType()))
      break;
    views.push_back(op);
  }
  return start(memref) &&
         llvm::all_of(llvm::reverse(views),
                      [&](Operation *op) { return follow(op); });
}

std::optional<Footprint> getFootprint(Value memref) {
  FootprintBuilder builder;
  return builder.run(memref) ? std::optional(std::move(builder.footprint))
                             : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

/// The terms of `lhs` less those of `rhs`.
static SmallVector<Footprint::Term> subtractTerms(const Footprint &lhs,
                                                  const Footprint &rhs) {
  SmallVector<Footprint::Term> terms = llvm::to_vector(ArrayRef(lhs.terms));
  for (const Footprint::Term &term : rhs.terms) {
    auto *same = llvm::find_if(terms, [&](const Footprint::Term &other) {
      return other.index == term.index &&
             other.stride.layout == term.stride.layout &&
             other.stride.dim == term.stride.dim;
    });
    if (same == terms.end())
      terms.push_back(term); // the sign is of no interest
    else
      same->stride.factor -= term.stride.factor;
  }
  llvm::erase_if(terms, [](const Footprint::Term &term) {
    return term.stride.factor == 0;
  });
  return terms;
}

/// The constant part of the distance from `lhs` to `rhs`.
static int64_t getDistance(const Footprint &lhs, const Footprint &rhs) {
  return rhs.base + rhs.constant - lhs.base - lhs.constant;
}

bool areIdentical(const Footprint &lhs, const Footprint &rhs,
                  ArrayRef<int64_t> extents) {
  if (lhs.root != rhs.root || getDistance(lhs, rhs) != 0 ||
      lhs.elementBytes != rhs.elementBytes ||
      lhs.strides.size() != extents.size() ||
      rhs.strides.size() != extents.size() || !subtractTerms(lhs, rhs).empty())
    return false;
  return llvm::all_of(llvm::zip_equal(extents, lhs.strides, rhs.strides),
                      [](auto dim) {
                        auto [extent, left, right] = dim;
                        return extent == 1 || left == right;
                      });
}

namespace {
/// Sees whether an element of one memref can meet one of another: whether the
/// distance between them plus multiples of strides comes down to less than
/// their bytes.
class MeetingFinder {
public:
  /// Adds the elements of one side, of which the second is seen from the first.
  /// False if not enough is known of its strides.
  bool addSide(const Footprint &side, ArrayRef<int64_t> extents, bool isSecond);
  /// Adds multiples of `stride`, any number of them.
  bool addAny(ByteStride stride) {
    period = std::gcd(period, stride.factor);
    return stride.isConstant();
  }
  bool mayMeet(int64_t distance);

private:
  struct Dim {
    int64_t stride, least, most;
  };
  void addDim(int64_t stride, int64_t least, int64_t most);
  bool search(int64_t distance, ArrayRef<Dim> rest);

  SmallVector<Dim> dims;
  /// The contiguous bytes of each side.
  int64_t bytes[2] = {0, 0};
  /// The number of which unknown multiples are added; 0 if there are none.
  int64_t period = 0;
  /// A search that takes longer is given up.
  int64_t steps = 1 << 14;
};
} // namespace

/// Numbers beyond could overflow in sums.
static constexpr int64_t kMaxReach = int64_t(1) << 48;

void MeetingFinder::addDim(int64_t stride, int64_t least, int64_t most) {
  for (Dim &dim : dims)
    if (dim.stride == stride) {
      dim.least += least;
      dim.most += most;
      return;
    }
  dims.push_back({stride, least, most});
}

bool MeetingFinder::addSide(const Footprint &side, ArrayRef<int64_t> extents,
                            bool isSecond) {
  SmallVector<std::pair<int64_t, int64_t>> steps; // stride, further elements
  for (auto [stride, extent] : llvm::zip_equal(side.strides, extents)) {
    if (extent == 1)
      continue;
    if (ShapedType::isDynamic(extent)) {
      if (!addAny(stride))
        return false;
      continue;
    }
    int64_t reach;
    if (!stride.isConstant() || stride.factor < 0 ||
        llvm::MulOverflow(stride.factor, extent, reach) || reach > kMaxReach)
      return false;
    steps.push_back({stride.factor, extent - 1});
  }
  // What is contiguous is one run of bytes.
  llvm::sort(steps);
  int64_t &run = bytes[isSecond];
  run = side.elementBytes;
  for (auto [stride, count] : steps) {
    if (stride <= run)
      run += stride * count;
    else
      addDim(stride, isSecond ? 0 : -count, isSecond ? count : 0);
  }
  return true;
}

bool MeetingFinder::search(int64_t distance, ArrayRef<Dim> rest) {
  if (--steps < 0)
    return true;
  if (rest.empty()) {
    if (period == 0)
      return -bytes[1] < distance && distance < bytes[0];
    int64_t remainder = llvm::mod(distance, period);
    return remainder < bytes[0] || period - bytes[1] < remainder;
  }
  Dim dim = rest.front();
  int64_t least = dim.least, most = dim.most;
  if (period == 0) {
    // Only as many as the smaller strides can make up for.
    int64_t low = distance - bytes[0], high = distance + bytes[1];
    for (const Dim &smaller : rest.drop_front()) {
      low += smaller.stride * smaller.least;
      high += smaller.stride * smaller.most;
    }
    least = std::max(least, llvm::divideCeilSigned(-high, dim.stride));
    most = std::min(most, llvm::divideFloorSigned(-low, dim.stride));
  }
  for (int64_t count = least; count <= most; ++count)
    if (search(distance + count * dim.stride, rest.drop_front()))
      return true;
  return false;
}

bool MeetingFinder::mayMeet(int64_t distance) {
  if (std::abs(distance) > kMaxReach || dims.size() > 16)
    return true;
  llvm::sort(dims, [](const Dim &lhs, const Dim &rhs) {
    return lhs.stride > rhs.stride;
  });
  return search(distance, dims);
}

bool areDisjoint(const Footprint &lhs, ArrayRef<int64_t> lhsExtents,
                 const Footprint &rhs, ArrayRef<int64_t> rhsExtents,
                 bool isSameTime) {
  if (llvm::is_contained(lhsExtents, 0) || llvm::is_contained(rhsExtents, 0))
    return true;
  if (lhs.root != rhs.root || lhs.strides.size() != lhsExtents.size() ||
      rhs.strides.size() != rhsExtents.size())
    return false;
  SmallVector<Footprint::Term> terms = subtractTerms(lhs, rhs);
  if (!isSameTime) {
    terms.assign(lhs.terms.begin(), lhs.terms.end());
    llvm::append_range(terms, rhs.terms);
  }
  MeetingFinder finder;
  return llvm::all_of(terms,
                      [&](const Footprint::Term &term) {
                        return finder.addAny(term.stride);
                      }) &&
         finder.addSide(lhs, lhsExtents, /*isSecond=*/false) &&
         finder.addSide(rhs, rhsExtents, /*isSecond=*/true) &&
         !finder.mayMeet(getDistance(lhs, rhs));
}

} // namespace mlir::workgroup
