//===- ContractionShape.cpp - What a contraction multiplies ---------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ContractionShape.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Interfaces/CastInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::workgroup {

std::optional<unsigned> LoopGroup::find(unsigned loop) const {
  const unsigned *found = llvm::find(loops, loop);
  if (found == loops.end())
    return std::nullopt;
  return found - loops.begin();
}

bool isDenseElement(Type type) {
  if (!type.isIntOrFloat())
    return false;
  unsigned width = type.getIntOrFloatBitWidth();
  return width >= 8 && width <= 64 && llvm::isPowerOf2_32(width);
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

std::string getElementwiseObstacle(Operation *op) {
  bool isScalar = llvm::all_of(op->getOperandTypes(),
                               [](Type type) { return type.isIntOrFloat(); }) &&
                  llvm::all_of(op->getResultTypes(),
                               [](Type type) { return type.isIntOrFloat(); });
  if (isScalar && op->getNumRegions() == 0 && op->getNumResults() == 1 &&
      (OpTrait::hasElementwiseMappableTraits(op) || isa<arith::ConstantOp>(op)))
    return "";
  return llvm::formatv("its body has {0}, which is not done on vectors",
                       op->getName().getStringRef())
      .str();
}

/// `value` behind conversions, which keep a zero what it is.
static Value skipCasts(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp, arith::SIToFPOp,
             arith::UIToFPOp, arith::TruncIOp, arith::TruncFOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// True if `product` is that of arguments number `lhs` and `rhs` of `body`.
static bool isProduct(Value product, Block &body, unsigned lhs, unsigned rhs) {
  Operation *op = product.getDefiningOp();
  if (!isa_and_nonnull<arith::MulFOp, arith::MulIOp, arith::AndIOp>(op))
    return false;
  Value a = skipCasts(op->getOperand(0)), b = skipCasts(op->getOperand(1));
  Value x = body.getArgument(lhs), y = body.getArgument(rhs);
  return (a == x && b == y) || (a == y && b == x);
}

std::string describeBody(Contraction &contraction) {
  linalg::LinalgOp op = contraction.op;
  Block &body = *op.getBlock();
  for (Operation &inner : body.without_terminator()) {
    std::string why = getElementwiseObstacle(&inner);
    if (!why.empty())
      return why;
    if (!isPure(&inner))
      return llvm::formatv("its body has {0}, which may trap on elements that "
                           "only pad a tile",
                           inner.getName().getStringRef())
          .str();
  }
  auto sum = body.getArguments().back();
  contraction.combiner = body.getTerminator()->getOperand(0).getDefiningOp();
  Operation *combiner = contraction.combiner;
  if (!combiner || combiner->getBlock() != &body || !sum.hasOneUse() ||
      *sum.user_begin() != combiner || combiner->getNumOperands() != 2)
    return "its body does not add to its result in its last operation";
  Value term = combiner->getOperand(combiner->getOperand(0) == sum ? 1 : 0);
  contraction.isZeroNeutral =
      isa<arith::AddFOp, arith::AddIOp, arith::OrIOp>(combiner) &&
      isProduct(term, body, contraction.lhs->getOperandNumber(),
                contraction.rhs->getOperandNumber());
  return "";
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// The inputs that are memrefs of more than one element, of which a contraction
/// has two.
static SmallVector<OpOperand *> getFactors(linalg::LinalgOp op) {
  SmallVector<OpOperand *> factors;
  for (OpOperand *input : op.getDpsInputOperands())
    if (auto type = dyn_cast<MemRefType>(input->get().getType()))
      if (type.getRank() > 0)
        factors.push_back(input);
  return factors;
}

static bool isUsed(AffineMap map, unsigned loop) {
  return map.isFunctionOfDim(loop);
}

/// Puts each loop of more than one iteration into its group.
static std::string groupLoops(Contraction &contraction,
                              ArrayRef<int64_t> sizes) {
  linalg::LinalgOp op = contraction.op;
  AffineMap ofResult = contraction.getMap(contraction.getResult());
  AffineMap ofLhs = contraction.getMap(contraction.lhs);
  AffineMap ofRhs = contraction.getMap(contraction.rhs);
  auto add = [&](LoopGroup &group, unsigned loop) {
    group.loops.push_back(loop);
    group.sizes.push_back(sizes[loop]);
  };
  for (unsigned i = 0; i < ofResult.getNumResults(); ++i) {
    unsigned loop = Contraction::getLoop(ofResult, i);
    if (sizes[loop] == 1)
      continue;
    bool isRow = isUsed(ofLhs, loop), isColumn = isUsed(ofRhs, loop);
    if (isRow == isColumn)
      return llvm::formatv(
                 "its loop {0} of {1} iterations is one of {2} operands; "
                 "let blocks share it out, by tiles of size 1",
                 loop, sizes[loop], isRow ? "both" : "no")
          .str();
    add(isRow ? contraction.rows : contraction.columns, loop);
  }
  SmallVector<unsigned> reductions;
  op.getReductionDims(reductions);
  for (unsigned loop : reductions)
    if (sizes[loop] != 1)
      add(contraction.sums, loop);
  if (contraction.rows.empty() || contraction.columns.empty())
    return "its result has one row or one column only";
  return "";
}

std::string describe(Contraction &contraction, ArrayRef<int64_t> sizes) {
  linalg::LinalgOp op = contraction.op;
  SmallVector<OpOperand *> factors = getFactors(op);
  if (op.getNumReductionLoops() == 0 || factors.size() != 2 ||
      op.getNumDpsInits() != 1)
    return "it does not multiply two operands and sum up";
  if (op.hasIndexSemantics())
    return "its body asks for the numbers of its iterations";
  for (AffineMap map : op.getIndexingMapsArray())
    if (!map.isProjectedPermutation())
      return "it reads its operands otherwise than element by element";
  for (OpOperand &operand : op->getOpOperands())
    if (Type type = getElementTypeOrSelf(operand.get()); !isDenseElement(type))
      return llvm::formatv("vectors of {0} are not in memory as its elements",
                           type)
          .str();
  AffineMap ofResult = contraction.getMap(contraction.getResult());
  contraction.rows = contraction.columns = contraction.sums = {};
  contraction.lhs = factors[0];
  contraction.rhs = factors[1];
  // The last dimension of the result that is one is that of columns.
  for (unsigned i = ofResult.getNumResults(); i-- > 0;) {
    unsigned loop = Contraction::getLoop(ofResult, i);
    if (sizes[loop] == 1)
      continue;
    if (isUsed(contraction.getMap(contraction.lhs), loop))
      std::swap(contraction.lhs, contraction.rhs);
    break;
  }
  if (std::string why = groupLoops(contraction, sizes); !why.empty())
    return why;
  return describeBody(contraction);
}

//===----------------------------------------------------------------------===//
// Operations on results
//===----------------------------------------------------------------------===//

bool isPointwise(linalg::LinalgOp op, function_ref<bool(OpOperand &)> kept) {
  if (op.getNumParallelLoops() != op.getNumLoops() || op.hasIndexSemantics())
    return false;
  for (AffineMap map : op.getIndexingMapsArray())
    if (!map.isProjectedPermutation())
      return false;
  for (OpOperand &init : op.getDpsInitsMutable())
    if (!op.getMatchingIndexingMap(&init).isPermutation())
      return false;
  for (OpOperand &operand : op->getOpOperands())
    if (auto type = dyn_cast<ShapedType>(operand.get().getType());
        type && !isDenseElement(type.getElementType()) &&
        !(kept && type.getElementType().isInteger(1) && kept(operand)))
      return false;
  return llvm::all_of(
      op.getBlock()->without_terminator(),
      [](Operation &inner) { return getElementwiseObstacle(&inner).empty(); });
}

} // namespace mlir::workgroup
