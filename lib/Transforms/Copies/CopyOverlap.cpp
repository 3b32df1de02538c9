//===- CopyOverlap.cpp - Copies within one memory -------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A copy is spread over threads that read and write in any order: where source
// and target share bytes, the result would depend on it. The two are followed
// back side by side, through views, selections, branches and loops, to where
// their memory comes from; what two values of a loop swap stays two.
//
//===----------------------------------------------------------------------===//

#include "CopyOverlap.h"
#include "CopyFootprint.h"
#include "CopyShape.h"
#include "Support/IncomingValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Support/MemorySpace.h"

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// Where values come from
//===----------------------------------------------------------------------===//

/// True if `lhs` and `rhs` are handed on together, by the same operations.
static bool isSameJoin(Value lhs, Value rhs) {
  auto left = dyn_cast<BlockArgument>(lhs),
       right = dyn_cast<BlockArgument>(rhs);
  if (left || right)
    return left && right && left.getOwner() == right.getOwner();
  return lhs.getDefiningOp() == rhs.getDefiningOp();
}

/// True if the memory of `root` is handed to the kernel or function from
/// outside: whoever does so sees to it that copies do not overlap.
static bool isHandedIn(Value root) {
  Operation *op = root.getDefiningOp();
  if (op)
    return isa<memref::GetGlobalOp>(op) || !isInDeviceCode(op);
  auto argument = cast<BlockArgument>(root);
  return argument.getOwner()->isEntryBlock() &&
         isa<FunctionOpInterface>(argument.getOwner()->getParentOp());
}

/// True if `lhs` and `rhs`, which come from nowhere else, may be one memory.
static bool mayBeSameMemory(Value lhs, Value rhs) {
  auto isArgument = [](Value root) {
    return isa<BlockArgument>(root) && isHandedIn(root);
  };
  if (lhs == rhs)
    return true;
  if (isArgument(lhs) && isArgument(rhs)) // without a search
    return false;
  if (!mayAlias(lhs, rhs))
    return false;
  return (lhs.getDefiningOp<memref::GetGlobalOp>() &&
          rhs.getDefiningOp<memref::GetGlobalOp>()) ||
         !(isHandedIn(lhs) && isHandedIn(rhs));
}

//===----------------------------------------------------------------------===//
// Overlap
//===----------------------------------------------------------------------===//

/// True if `lhs` and `rhs` are slices of one memref that are known to be
/// disjoint whatever its strides are.
static bool areDisjointSlices(Value lhs, Value rhs) {
  auto left = lhs.getDefiningOp<memref::SubViewOp>();
  auto right = rhs.getDefiningOp<memref::SubViewOp>();
  if (!left || !right || left.getSource() != right.getSource())
    return false;
  FailureOr<bool> overlap = ValueBoundsConstraintSet::areOverlappingSlices(
      left.getContext(), HyperrectangularSlice(left),
      HyperrectangularSlice(right));
  return succeeded(overlap) && !*overlap;
}

/// True if the elements of a view by `op` are all elements of its source.
static bool isPartOfSource(Operation *op) {
  return isa<memref::SubViewOp, memref::CastOp, memref::TransposeOp,
             memref::ExpandShapeOp, memref::CollapseShapeOp,
             memref::MemorySpaceCastOp, memref::AssumeAlignmentOp>(op);
}

/// True if `lhs` and `rhs`, views of one memref, are known to be apart.
static bool areApart(Value lhs, Value rhs, bool isSameTime) {
  std::optional<Footprint> left = getFootprint(lhs), right = getFootprint(rhs);
  if (left && right &&
      areDisjoint(*left, getConstantExtents(lhs, lhs), *right,
                  getConstantExtents(rhs, rhs), isSameTime))
    return true;
  return isSameTime && areDisjointSlices(lhs, rhs);
}

namespace {
class OverlapFinder {
public:
  /// A memref on the way back from an operand.
  struct Side {
    Value memref;
    /// The elements of the operand are elements of this memref.
    bool isPart = true;
  };

  /// True if the operands may overlap because `lhs` and `rhs` do. Both are
  /// what they are at one moment if `isSameTime`.
  bool run(Side lhs, Side rhs, bool isSameTime);

private:
  SmallVector<IncomingValue, 2> getIncoming(Value value);
  bool runJoins(Side lhs, Side rhs, bool isSameTime);

  IncomingValues incoming;
  DenseSet<std::tuple<Value, Value, int>> visited;
};
} // namespace

/// The memref that `side` is a view of.
static OverlapFinder::Side getRoot(OverlapFinder::Side side) {
  while (Operation *op = side.memref.getDefiningOp()) {
    Value source = getViewSource(op);
    if (!source)
      break;
    side.isPart &= isPartOfSource(op);
    side.memref = source;
  }
  return side;
}

/// The values of `value` on each path to it; empty if it is no join of paths,
/// or not known on one of them.
SmallVector<IncomingValue, 2> OverlapFinder::getIncoming(Value value) {
  SmallVector<IncomingValue, 2> values = incoming.get(value);
  bool isKnown = llvm::all_of(
      values, [](const IncomingValue &from) { return from.value != nullptr; });
  return isKnown ? values : SmallVector<IncomingValue, 2>();
}

bool OverlapFinder::runJoins(Side lhs, Side rhs, bool isSameTime) {
  SmallVector<IncomingValue, 2> left = getIncoming(lhs.memref);
  SmallVector<IncomingValue, 2> right = getIncoming(rhs.memref);
  if (left.empty() && right.empty())
    return mayBeSameMemory(lhs.memref, rhs.memref);
  bool isOneJoin = isSameTime && isSameJoin(lhs.memref, rhs.memref);
  if (left.empty() || (!right.empty() && !isOneJoin)) {
    std::swap(left, right);
    std::swap(lhs, rhs);
  }
  return llvm::any_of(left, [&](const IncomingValue &from) {
    if (!isOneJoin)
      return run({from.value, lhs.isPart}, rhs, /*isSameTime=*/false);
    return llvm::any_of(right, [&](const IncomingValue &other) {
      return from.op == other.op && from.successor == other.successor &&
             run({from.value, lhs.isPart}, {other.value, rhs.isPart},
                 /*isSameTime=*/true);
    });
  });
}

bool OverlapFinder::run(Side lhs, Side rhs, bool isSameTime) {
  int flags = isSameTime | lhs.isPart << 1 | rhs.isPart << 2;
  if (!visited.insert({lhs.memref, rhs.memref, flags}).second)
    return false;
  Side left = getRoot(lhs), right = getRoot(rhs);
  if (left.memref == right.memref &&
      (isSameTime || getIncoming(left.memref).empty()))
    return !(lhs.isPart && rhs.isPart) ||
           !areApart(lhs.memref, rhs.memref, isSameTime);
  auto select = left.memref.getDefiningOp<arith::SelectOp>();
  auto same = right.memref.getDefiningOp<arith::SelectOp>();
  if (isSameTime && select && same &&
      select.getCondition() == same.getCondition())
    return run({select.getTrueValue(), left.isPart},
               {same.getTrueValue(), right.isPart}, isSameTime) ||
           run({select.getFalseValue(), left.isPart},
               {same.getFalseValue(), right.isPart}, isSameTime);
  for (auto [one, other] : {std::pair(left, right), std::pair(right, left)})
    if (auto select = one.memref.getDefiningOp<arith::SelectOp>())
      return run({select.getTrueValue(), one.isPart}, other, isSameTime) ||
             run({select.getFalseValue(), one.isPart}, other, isSameTime);
  return runJoins(left, right, isSameTime);
}

bool areSameElements(Value source, Value target) {
  if (source == target)
    return true;
  auto from = dyn_cast<MemRefType>(source.getType());
  auto to = dyn_cast<MemRefType>(target.getType());
  if (!from || !to || from.getElementType() != to.getElementType() ||
      from.getRank() != to.getRank() ||
      getRootBuffer(source) != getRootBuffer(target))
    return false;
  std::optional<Footprint> left = getFootprint(source);
  std::optional<Footprint> right = getFootprint(target);
  return left && right &&
         areIdentical(*left, *right, getConstantExtents(source, target));
}

bool mayOverlap(Value source, Value target) {
  return OverlapFinder().run({source}, {target}, /*isSameTime=*/true);
}

} // namespace mlir::workgroup
