//===- Guards.cpp - What upstream would abort on --------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Guards.h"
#include "AffineDivisors.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IntegerSet.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/CheckedArithmetic.h"

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// Maps
//===----------------------------------------------------------------------===//

/// True if `expr` divides by a constant that is not positive.
static bool hasBadDivisor(AffineExpr expr) {
  bool isBad = false;
  walkDivisors(expr, [&](AffineExpr divisor) {
    auto constant = dyn_cast<AffineConstantExpr>(divisor);
    isBad |= constant && constant.getValue() <= 0;
  });
  return isBad;
}

/// A bound, of either sign, of all values from which `expr` is computed, if its
/// dimensions are up to `extent`; nothing if it has more than 63 bits.
static std::optional<int64_t> findBound(AffineExpr expr, int64_t extent) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    int64_t value = constant.getValue();
    return value < 0 ? llvm::checkedSub<int64_t>(0, value) : value;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return extent;
  std::optional<int64_t> lhs = findBound(binary.getLHS(), extent);
  std::optional<int64_t> rhs = findBound(binary.getRHS(), extent);
  if (!lhs || !rhs)
    return std::nullopt;
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return llvm::checkedAdd(*lhs, *rhs);
  case AffineExprKind::Mul:
    return llvm::checkedMul(*lhs, *rhs);
  case AffineExprKind::Mod:
    return rhs;
  default: // a quotient
    return lhs;
  }
}

/// The largest extent of what `op` works on, as far as it is known.
static int64_t getLargestExtent(Operation *op) {
  int64_t largest = 1;
  for (Type type : op->getOperandTypes()) {
    auto shaped = dyn_cast<ShapedType>(type);
    if (!shaped || !shaped.hasRank())
      continue;
    for (int64_t extent : shaped.getShape())
      if (!ShapedType::isDynamic(extent))
        largest = std::max(largest, extent);
  }
  return largest;
}

/// The maps of a structured operation, which it may have none of.
static SmallVector<AffineMap> getIndexingMaps(Operation *op) {
  SmallVector<AffineMap> maps;
  if (!isa_and_nonnull<linalg::LinalgDialect>(op->getDialect()))
    return maps;
  if (auto all = op->getAttrOfType<ArrayAttr>("indexing_maps"))
    for (Attribute attribute : all)
      if (auto map = dyn_cast<AffineMapAttr>(attribute))
        maps.push_back(map.getValue());
  return maps;
}

/// True if a structured operation has something else in the place of its maps
/// than one for each operand.
static bool hasOtherMaps(Operation *op) {
  if (!isa_and_nonnull<linalg::LinalgDialect>(op->getDialect()))
    return false;
  auto all = op->getAttrOfType<ArrayAttr>("indexing_maps");
  return all && getIndexingMaps(op).size() != op->getNumOperands();
}

/// The expressions that operations on indices compute: the results of their
/// maps, and what is compared to zero in their conditions.
static SmallVector<AffineExpr> getAffineExprs(Operation *op) {
  SmallVector<AffineExpr> exprs;
  if (!isa_and_nonnull<affine::AffineDialect>(op->getDialect()))
    return exprs;
  for (NamedAttribute attribute : op->getAttrDictionary()) {
    if (auto map = dyn_cast<AffineMapAttr>(attribute.getValue()))
      llvm::append_range(exprs, map.getValue().getResults());
    else if (auto set = dyn_cast<IntegerSetAttr>(attribute.getValue()))
      llvm::append_range(exprs, set.getValue().getConstraints());
  }
  return exprs;
}

/// True if windows of `op` step so far that places in them, sums of two steps,
/// may need more than 63 bits.
static bool hasHugeSteps(Operation *op, int64_t extent) {
  if (!isa_and_nonnull<linalg::LinalgDialect>(op->getDialect()))
    return false;
  auto isHuge = [&](const APInt &step) {
    if (!step.isSignedIntN(64))
      return true;
    auto place = llvm::checkedMul<int64_t>(step.getSExtValue(), extent);
    return !place || !llvm::checkedMul<int64_t>(*place, 2);
  };
  return llvm::any_of(
      ArrayRef<StringRef>{"strides", "dilations"}, [&](StringRef name) {
        auto steps = op->getAttrOfType<DenseIntElementsAttr>(name);
        return steps && llvm::any_of(steps, isHuge);
      });
}

/// Says what is wrong with a map that divides by zero, or an indexing map whose
/// values need more than 63 bits: the verifiers of structured operations
/// evaluate those, and folders the others. Nothing of `op` is verified yet.
static LogicalResult checkMaps(Operation *op) {
  if (llvm::any_of(getAffineExprs(op), hasBadDivisor))
    return op->emitOpError("divides by zero, or by a number below zero, in an "
                           "affine map or set; divide by positive numbers");
  if (hasOtherMaps(op))
    return op->emitOpError("has other indexing maps than one for each operand; "
                           "give it ")
           << op->getNumOperands() << " affine maps";
  int64_t extent = getLargestExtent(op);
  if (hasHugeSteps(op, extent))
    return op->emitOpError("has windows whose places need more than 63 bits; "
                           "make its strides and dilations smaller");
  for (AffineMap map : getIndexingMaps(op)) {
    if (llvm::any_of(map.getResults(), hasBadDivisor))
      return op->emitOpError("has an indexing map that divides by zero, or by "
                             "a number below zero; divide by positive numbers");
    for (AffineExpr index : map.getResults())
      if (!findBound(index, extent))
        return op->emitOpError("has an indexing map whose values need more "
                               "than 63 bits; make its factors smaller");
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

/// The built-in types that the data layout of `op` has entries for.
static SmallVector<Type> getLaidOutTypes(Operation *op) {
  SmallVector<Type> types;
  auto layout = op->getAttrOfType<DataLayoutSpecInterface>(
      DLTIDialect::kDataLayoutAttrName);
  if (!layout)
    return types;
  for (DataLayoutEntryInterface entry : layout.getEntries())
    if (auto type = dyn_cast<Type>(entry.getKey());
        type && isa<BuiltinDialect>(type.getDialect()))
      types.push_back(type);
  return types;
}

/// Says what is wrong with a data layout that has entries for a kind of types
/// for which one around it has some: upstream combines those of types that are
/// not built in only.
static LogicalResult checkLayouts(Operation *op) {
  SmallVector<Type> types = getLaidOutTypes(op);
  if (types.empty())
    return success();
  for (Operation *around = op->getParentOp(); around;
       around = around->getParentOp())
    for (Type outer : getLaidOutTypes(around))
      for (Type type : types)
        if (type.getTypeID() == outer.getTypeID())
          return op->emitOpError("lays out ")
                 << type << ", of whose kind the data layout around it has "
                 << outer << "; have both in one of the two layouts";
  return success();
}

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

static bool isScalable(Type type) {
  if (auto memref = dyn_cast<BaseMemRefType>(type))
    type = memref.getElementType();
  auto vector = dyn_cast<VectorType>(type);
  return vector && vector.isScalable();
}

/// Says what is wrong with values and variables of scalable vectors, which LLVM
/// has no code for on GPUs.
static LogicalResult checkVectors(Operation *op) {
  auto types = llvm::to_vector(op->getResultTypes());
  for (Region &region : op->getRegions())
    for (Block &block : region)
      llvm::append_range(types, block.getArgumentTypes());
  if (auto global = dyn_cast<memref::GlobalOp>(op))
    types.push_back(global.getType());
  for (Type type : types)
    if (isScalable(type))
      return op->emitOpError("has values of type ")
             << type
             << ", but the vectors of GPUs do not scale; give them as many "
                "elements as are needed";
  return success();
}

//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

/// Chooses by `index` among the extents of `source`. The last one stands for
/// all that are not there, whose extent is undefined.
template <typename DimOp>
static Value chooseExtent(RewriterBase &rewriter, Location loc, Value source,
                          Value index, int64_t rank) {
  Value chosen = DimOp::create(rewriter, loc, source, rank - 1);
  for (int64_t dim = rank - 1; dim-- > 0;) {
    Value extent = DimOp::create(rewriter, loc, source, dim);
    Value number = arith::ConstantIndexOp::create(rewriter, loc, dim);
    Value isDim = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq,
                                        index, number);
    chosen = arith::SelectOp::create(rewriter, loc, isDim, extent, chosen);
  }
  return chosen;
}

template <typename DimOp>
static LogicalResult resolve(RewriterBase &rewriter, DimOp op) {
  auto type = cast<ShapedType>(op.getSource().getType());
  if (!type.hasRank())
    return success();
  int64_t rank = type.getRank();
  std::optional<int64_t> dim = getConstantIntValue(op.getIndex());
  if (rank == 0 || (dim && (*dim < 0 || *dim >= rank)))
    return op.emitOpError("asks for the extent of a dimension that ")
           << type << " does not have; its dimensions are numbered from 0";
  if (dim)
    return success();
  rewriter.setInsertionPoint(op);
  rewriter.replaceOp(op,
                     chooseExtent<DimOp>(rewriter, op.getLoc(), op.getSource(),
                                         op.getIndex(), rank));
  return success();
}

/// Says what is wrong with a query for the extent of a dimension that is not
/// there. One for a dimension that a value tells becomes a choice of those that
/// are there, so that no folding makes one of the former kind.
static LogicalResult resolveDims(ModuleOp module) {
  SmallVector<Operation *> queries;
  module->walk([&](Operation *op) {
    if (isa<memref::DimOp, tensor::DimOp>(op))
      queries.push_back(op);
  });
  IRRewriter rewriter(module.getContext());
  for (Operation *op : queries) {
    auto ofTensor = dyn_cast<tensor::DimOp>(op);
    if (failed(ofTensor ? resolve(rewriter, ofTensor)
                        : resolve(rewriter, cast<memref::DimOp>(op))))
      return failure();
  }
  return success();
}

/// True if `check` fails for none of the operations of `module`.
static LogicalResult checkAll(ModuleOp module,
                              function_ref<LogicalResult(Operation *)> check) {
  auto walk = [&](Operation *op) { return WalkResult(check(op)); };
  return failure(module->walk(walk).wasInterrupted());
}

LogicalResult verifyParsed(ModuleOp module) {
  return success(succeeded(checkAll(module, checkMaps)) &&
                 succeeded(checkAll(module, checkLayouts)) &&
                 succeeded(verify(module)) &&
                 succeeded(checkAll(module, checkVectors)) &&
                 succeeded(resolveDims(module)));
}

} // namespace mlir::workgroup
