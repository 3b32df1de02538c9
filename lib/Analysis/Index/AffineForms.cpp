//===- AffineForms.cpp - From affine maps to forms ------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Expressions operator by operator; indices that are linearised or delinearised
// by a basis, as the products and quotients that they are.
//
//===----------------------------------------------------------------------===//

#include "AffineForms.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/IR/IntegerSet.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::workgroup {

using Condition = SymbolicCondition;
using Form = SymbolicForm;

SymbolicForm AffineForms::getForm(OpFoldResult index) {
  if (auto value = dyn_cast<Value>(index))
    return values.getForm(value);
  std::optional<int64_t> number = getConstantIntValue(index);
  return number && llvm::isInt<62>(*number) ? SymbolicForm(*number)
                                            : algebra.makeOpaque(nullptr);
}

SymbolicForm AffineForms::getForm(const LinearIndex &index) {
  Form form = index.constant;
  for (auto [value, factor] : index.terms)
    form = algebra.add(form, values.getForm(value), factor, nullptr);
  for (const LinearIndex::AffineTerm &term : index.affineTerms)
    form = algebra.add(form, getForm(term.map, term.operands), term.factor,
                       nullptr);
  return form;
}

SymbolicForm AffineForms::getForm(AffineExpr expr, ValueRange operands,
                                  unsigned numDims) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return algebra.makeConstant(APInt(64, constant.getValue(), true), nullptr);
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return values.getForm(operands[dim.getPosition()]);
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return values.getForm(operands[numDims + symbol.getPosition()]);
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Form lhs = getForm(binary.getLHS(), operands, numDims);
  Form rhs = getForm(binary.getRHS(), operands, numDims);
  bool isDivision = expr.getKind() != AffineExprKind::Add &&
                    expr.getKind() != AffineExprKind::Mul;
  if (isDivision && rhs.isConstant() && rhs.constant <= 0)
    return algebra.makeOpaque(nullptr);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return algebra.add(lhs, rhs, 1, nullptr);
  case AffineExprKind::Mul:
    return algebra.multiply(lhs, rhs);
  case AffineExprKind::Mod:
    return algebra.remainder(lhs, rhs);
  case AffineExprKind::FloorDiv:
    return algebra.divide(lhs, rhs);
  case AffineExprKind::CeilDiv:
    return algebra.divide(
        algebra.add(algebra.add(lhs, rhs, 1, nullptr), Form(-1), 1, nullptr),
        rhs);
  default:
    llvm_unreachable("no other binary expressions");
  }
}

SymbolicForm AffineForms::getExtremum(AffineMap map, ValueRange operands,
                                      bool isMinimum) {
  Form form = getForm(map.getResult(0), operands, map.getNumDims());
  for (AffineExpr expr : map.getResults().drop_front())
    form = algebra.makeExtremum(isMinimum, form,
                                getForm(expr, operands, map.getNumDims()));
  return form;
}

std::optional<SymbolicForm> AffineForms::translate(Operation *op,
                                                   unsigned result) {
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op))
    return getForm(apply.getAffineMap(), apply.getMapOperands());
  if (isa<affine::AffineMinOp, affine::AffineMaxOp>(op)) {
    auto map = isa<affine::AffineMinOp>(op)
                   ? cast<affine::AffineMinOp>(op).getMap()
                   : cast<affine::AffineMaxOp>(op).getMap();
    return getExtremum(map, op->getOperands(), isa<affine::AffineMinOp>(op));
  }
  if (auto split = dyn_cast<affine::AffineDelinearizeIndexOp>(op)) {
    Form rest = values.getForm(split.getLinearIndex());
    SmallVector<OpFoldResult> basis = split.getMixedBasis();
    if (split.hasOuterBound())
      basis.erase(basis.begin());
    // The last coordinate is the remainder by the last size, and so on.
    for (unsigned i = split.getNumResults() - 1; i > result; --i)
      rest = algebra.divide(rest, getForm(basis[i - 1]));
    return result == 0 ? rest
                       : algebra.remainder(rest, getForm(basis[result - 1]));
  }
  if (auto joined = dyn_cast<affine::AffineLinearizeIndexOp>(op)) {
    SmallVector<OpFoldResult> basis = joined.getMixedBasis();
    OperandRange indices = joined.getMultiIndex();
    size_t skipped = basis.size() == indices.size() ? 0 : 1;
    Form sum = values.getForm(indices.front());
    for (size_t i = 1; i < indices.size(); ++i)
      sum = algebra.add(algebra.multiply(sum, getForm(basis[i - skipped])),
                        values.getForm(indices[i]), 1, nullptr);
    return sum;
  }
  return std::nullopt;
}

SymbolicCondition AffineForms::getSet(Operation *branch) {
  auto op = cast<affine::AffineIfOp>(branch);
  IntegerSet set = op.getIntegerSet();
  std::vector<Condition> parts;
  for (auto [expr, isEquality] :
       llvm::zip_equal(set.getConstraints(), set.getEqFlags())) {
    auto map = AffineMap::get(set.getNumDims(), set.getNumSymbols(), expr);
    parts.push_back(
        Condition::of(isEquality ? Condition::Zero : Condition::NonNegative,
                      getForm(map, op.getOperands())));
  }
  return Condition::join(Condition::All, std::move(parts));
}

} // namespace mlir::workgroup
