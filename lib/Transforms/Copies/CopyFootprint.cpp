//===- CopyFootprint.cpp - Which bytes a memref covers --------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CopyFootprint.h"
#include "Analysis/Memory/MemRefAddress.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
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
/// Makes the footprint of a memref. Each step is false if the result is no sum,
/// or its numbers are too large.
class FootprintBuilder {
public:
  bool run(Value memref);
  Footprint footprint;

private:
  bool addBasis(const MemRefAddress &place);

  bool add(const LinearIndex &index, ByteStride unit);
  bool add(OpFoldResult index, ByteStride stride, int64_t factor = 1);
  bool addApply(AffineExpr expr, affine::AffineApplyOp apply, ByteStride stride,
                int64_t factor);
  bool addTerm(Value index, ByteStride stride);

  /// The distance between neighbours along each coordinate of the place.
  SmallVector<ByteStride, 4> units = SmallVector<ByteStride, 4>(1, {1});
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

/// Adds `unit` times `index`.
bool FootprintBuilder::add(const LinearIndex &index, ByteStride unit) {
  Builder builder(footprint.root.getContext());
  return index.affineTerms.empty() &&
         (index.constant == 0 ||
          add(builder.getIndexAttr(index.constant), unit)) &&
         llvm::all_of(index.terms, [&](auto term) {
           return add(term.first, unit, term.second);
         });
}

/// Adds where the memref begins that the place is indices into, and finds the
/// units of these.
bool FootprintBuilder::addBasis(const MemRefAddress &place) {
  auto type = cast<MemRefType>(place.basis.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!place.base || failed(type.getStridesAndOffset(strides, offset)))
    return false;
  auto getUnknown = [&](int64_t dim) {
    return ByteStride{place.elementBytes, place.basis, dim};
  };
  units.clear();
  for (auto [dim, bytes] : llvm::enumerate(place.coordinateBytes))
    units.push_back(ShapedType::isDynamic(bytes) ? getUnknown(dim)
                                                 : ByteStride{bytes});
  return add(*place.base, {1}) &&
         addTerm(nullptr, ShapedType::isDynamic(offset)
                              ? getUnknown(-1)
                              : ByteStride{offset * place.elementBytes});
}

bool FootprintBuilder::run(Value memref) {
  // Whether values are the same for two footprints is for who compares them.
  std::optional<MemRefAddress> place =
      MemRefAddress::of(memref, /*isFixed=*/[] { return true; });
  if (!place)
    return false;
  footprint.root = getRootBuffer(memref);
  footprint.elementBytes = place->elementBytes;
  if (place->basis && !addBasis(*place))
    return false;
  for (auto [index, unit] : llvm::zip_equal(place->origin, units))
    if (!add(index, unit))
      return false;
  for (const MemRefAddress::Dimension &dimension : place->dimensions) {
    footprint.strides.push_back(units[dimension.coordinate]);
    if (!multiply(footprint.strides.back(), dimension.stride))
      return false;
  }
  return true;
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
  return rhs.constant - lhs.constant;
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
