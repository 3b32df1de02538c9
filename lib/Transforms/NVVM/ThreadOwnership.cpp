//===- ThreadOwnership.cpp - What belongs to one thread -------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ThreadOwnership.h"
#include "Transforms/Utils/BufferTypes.h"
#include "mlir/Analysis/FlatLinearValueConstraints.h"
#include "mlir/Dialect/Affine/Analysis/Utils.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Support/MemorySpace.h"
#include "llvm/Support/MathExtras.h"
#include <bitset>

namespace mlir::workgroup {

namespace {

/// Dimensions x, y and z of a block.
using BlockDims = std::bitset<3>;

/// `step * id(dim)` plus what is the same for all threads.
struct ThreadIndex {
  unsigned dim = 0;
  int64_t step = 0;
};

/// Finds the dimensions of the block along which no two threads that execute an
/// operation write the same memory.
class OwnershipAnalysis {
public:
  explicit OwnershipAnalysis(const UniformityAnalysis &uniformity)
      : uniformity(uniformity) {}

  /// Dimensions in which only one thread gets to `op`.
  BlockDims getGuards(Operation *op) const;

  /// Dimensions in which threads have different parts of `memref`. Nothing if
  /// its place depends on threads in any other way.
  std::optional<BlockDims> getParts(Value memref) const;

private:
  std::optional<unsigned> getThreadDim(Value value) const;
  std::optional<ThreadIndex> getThreadIndex(Value value,
                                            unsigned depth = 0) const;
  std::optional<ThreadIndex> getAffineIndex(affine::AffineApplyOp op,
                                            unsigned depth) const;
  BlockDims getGuards(Value condition) const;
  bool addParts(memref::SubViewOp view, BlockDims &parts) const;

  const UniformityAnalysis &uniformity;
};

} // namespace

std::optional<unsigned> OwnershipAnalysis::getThreadDim(Value value) const {
  if (auto id = value.getDefiningOp<gpu::ThreadIdOp>())
    return static_cast<unsigned>(id.getDimension());
  auto argument = dyn_cast<BlockArgument>(value);
  auto launch =
      argument ? dyn_cast<gpu::LaunchOp>(argument.getOwner()->getParentOp())
               : gpu::LaunchOp();
  if (!launch)
    return std::nullopt;
  gpu::KernelDim3 ids = launch.getThreadIds();
  for (auto [dim, id] : llvm::enumerate(std::array{ids.x, ids.y, ids.z}))
    if (value == id)
      return dim;
  return std::nullopt;
}

/// `value`, an index that differs between threads, as a function of one id.
std::optional<ThreadIndex>
OwnershipAnalysis::getThreadIndex(Value value, unsigned depth) const {
  if (std::optional<unsigned> dim = getThreadDim(value))
    return ThreadIndex{*dim, /*step=*/1};
  // Deep chains of operations are not worth the stack.
  constexpr unsigned kMaxDepth = 256;
  if (depth == kMaxDepth)
    return std::nullopt;
  if (auto apply = value.getDefiningOp<affine::AffineApplyOp>())
    return getAffineIndex(apply, depth + 1);
  Operation *op = value.getDefiningOp();
  if (!isa_and_nonnull<arith::AddIOp, arith::MulIOp>(op))
    return std::nullopt;
  Value own = op->getOperand(0), other = op->getOperand(1);
  if (uniformity.isUniform(own))
    std::swap(own, other);
  if (!uniformity.isUniform(other))
    return std::nullopt;
  std::optional<ThreadIndex> index = getThreadIndex(own, depth + 1);
  if (!index || isa<arith::AddIOp>(op))
    return index;
  std::optional<int64_t> factor = getConstantIntValue(other);
  if (!factor || llvm::MulOverflow(index->step, *factor, index->step))
    return std::nullopt;
  return index;
}

std::optional<ThreadIndex>
OwnershipAnalysis::getAffineIndex(affine::AffineApplyOp op,
                                  unsigned depth) const {
  AffineMap map = op.getAffineMap();
  SmallVector<Value> operands = op.getOperands();
  affine::fullyComposeAffineMapAndOperands(&map, &operands);
  if (!map.getResult(0).isPureAffine())
    return std::nullopt;
  SmallVector<int64_t> coefficients;
  FlatLinearConstraints locals;
  if (failed(getFlattenedAffineExpr(map.getResult(0), map.getNumDims(),
                                    map.getNumSymbols(), &coefficients,
                                    &locals)) ||
      coefficients.size() != operands.size() + 1)
    return std::nullopt; // divisions bring in more than operands and a constant
  std::optional<ThreadIndex> index;
  for (auto [operand, coefficient] : llvm::zip_first(operands, coefficients)) {
    if (uniformity.isUniform(operand) || coefficient == 0)
      continue;
    std::optional<ThreadIndex> own = getThreadIndex(operand, depth);
    if (index || !own || llvm::MulOverflow(own->step, coefficient, own->step))
      return std::nullopt;
    index = own;
  }
  return index;
}

/// True if at most one id compares so to a value, or to constant `bound`.
static bool letsOneThrough(arith::CmpIPredicate predicate,
                           std::optional<int64_t> bound) {
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return true;
  case arith::CmpIPredicate::ult:
  case arith::CmpIPredicate::slt:
    return bound == 1;
  case arith::CmpIPredicate::ule:
  case arith::CmpIPredicate::sle:
    return bound == 0;
  default:
    return false;
  }
}

BlockDims OwnershipAnalysis::getGuards(Value condition) const {
  BlockDims guards;
  SetVector<Value> conditions;
  conditions.insert(condition);
  for (unsigned i = 0; i < conditions.size(); ++i) {
    if (auto both = conditions[i].getDefiningOp<arith::AndIOp>()) {
      conditions.insert(both.getLhs());
      conditions.insert(both.getRhs());
      continue;
    }
    auto compare = conditions[i].getDefiningOp<arith::CmpIOp>();
    if (!compare)
      continue;
    Value own = compare.getLhs(), other = compare.getRhs();
    if (uniformity.isUniform(own) &&
        compare.getPredicate() == arith::CmpIPredicate::eq)
      std::swap(own, other);
    std::optional<unsigned> dim = getThreadDim(own);
    if (dim && uniformity.isUniform(other) &&
        letsOneThrough(compare.getPredicate(), getConstantIntValue(other)))
      guards.set(*dim);
  }
  return guards;
}

BlockDims OwnershipAnalysis::getGuards(Operation *op) const {
  BlockDims guards;
  while (!isa<gpu::LaunchOp, FunctionOpInterface>(op->getParentOp())) {
    Region *region = op->getParentRegion();
    op = op->getParentOp();
    auto branch = dyn_cast<scf::IfOp>(op);
    if (branch && region == &branch.getThenRegion())
      guards |= getGuards(branch.getCondition());
  }
  return guards;
}

/// Adds the dimensions along which `view` moves by no less than it is long.
/// False if it moves in any other way.
bool OwnershipAnalysis::addParts(memref::SubViewOp view,
                                 BlockDims &parts) const {
  for (auto [offset, size, stride] :
       llvm::zip_equal(view.getMixedOffsets(), view.getMixedSizes(),
                       view.getMixedStrides())) {
    auto value = dyn_cast<Value>(offset);
    if (!value || uniformity.isUniform(value))
      continue;
    std::optional<ThreadIndex> index = getThreadIndex(value);
    std::optional<int64_t> length = getUpperBound(size);
    if (!index || !length || getConstantIntValue(stride) != 1 ||
        std::abs(index->step) < *length || parts.test(index->dim))
      return false;
    parts.set(index->dim);
  }
  return true;
}

/// False if elements of `type` are known to share an address. Dynamic strides
/// and extents are taken to be those of a layout where none do.
static bool hasDistinctElements(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return false;
  SmallVector<std::pair<int64_t, int64_t>> dims;
  for (auto [stride, extent] : llvm::zip_equal(strides, type.getShape()))
    if (!ShapedType::isDynamic(stride) && extent != 1)
      dims.emplace_back(stride, extent);
  llvm::sort(dims);
  int64_t span = 1;
  for (auto [stride, extent] : dims) {
    int64_t length;
    if (stride < span)
      return false;
    if (!ShapedType::isDynamic(extent) &&
        (llvm::MulOverflow(extent - 1, stride, length) ||
         llvm::AddOverflow(span, length, span)))
      return false;
  }
  return true;
}

std::optional<BlockDims> OwnershipAnalysis::getParts(Value memref) const {
  BlockDims parts;
  while (!uniformity.isUniform(memref)) {
    Operation *op = memref.getDefiningOp();
    if (auto view = dyn_cast_or_null<memref::SubViewOp>(op)) {
      if (!addParts(view, parts))
        return std::nullopt;
    } else if (!isa_and_nonnull<memref::CastOp, memref::CollapseShapeOp,
                                memref::ExpandShapeOp, memref::TransposeOp,
                                memref::AssumeAlignmentOp,
                                memref::MemorySpaceCastOp>(op)) {
      return std::nullopt;
    }
    memref = getViewSource(op);
  }
  if (!hasDistinctElements(cast<MemRefType>(memref.getType())))
    return std::nullopt;
  return parts;
}

bool isWorkOfThread(linalg::LinalgOp op, const UniformityAnalysis &uniformity) {
  BlockShape shape = getBlockShape(getExecutionScope(op));
  BlockDims single;
  for (auto [dim, size] : llvm::enumerate(shape.sizes))
    single.set(dim, size == 1);
  OwnershipAnalysis ownership(uniformity);
  single |= ownership.getGuards(op);
  if (single.all())
    return true;
  SmallVector<Value> shared;
  for (Value out : op.getDpsInits()) {
    if (!isa<MemRefType>(out.getType()))
      return false;
    if (getMemorySpace(out) == MemorySpace::Private)
      continue;
    std::optional<BlockDims> parts = ownership.getParts(out);
    // The part of one thread may be another's by way of another result.
    if (!parts || !(single | *parts).all() ||
        llvm::any_of(shared, [&](Value other) { return mayAlias(out, other); }))
      return false;
    shared.push_back(out);
  }
  return true;
}

} // namespace mlir::workgroup
