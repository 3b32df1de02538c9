//===- WidenFloats.cpp - Arithmetic of floats of 8 bits and less ----------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An f32 has more than twice the bits of a narrow float and two more: a sum,
// difference, product, quotient or root that is rounded to it first, and then
// to the narrow float, is as if it were rounded once. A product and a sum in
// one are computed in f64 for that reason.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Transforms/NVVM.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_WIDENFLOATSPASS
#include "workgroup/Transforms/NVVM.h.inc"

static bool isNarrowFloat(Type type) {
  auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type));
  return element && element.getWidth() < 16;
}

/// True for a power of two, to which nothing is rounded.
static bool isPowerOfTwoType(Type type) {
  return isa<Float8E8M0FNUType>(getElementTypeOrSelf(type));
}

/// True for what computes with floats, rather than moves or converts them.
static bool computes(Operation *op) {
  if (isa<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::UIToFPOp,
          arith::FPToSIOp, arith::FPToUIOp, arith::ScalingExtFOp,
          arith::ScalingTruncFOp, arith::BitcastOp, arith::ConstantOp,
          arith::SelectOp>(op))
    return false;
  if (auto reduce = dyn_cast<gpu::AllReduceOp>(op))
    return reduce.getOp().has_value();
  return isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) ||
         isa<vector::FMAOp, vector::ReductionOp, gpu::SubgroupReduceOp>(op);
}

/// True where a kernel computes, or will: on the host, in a structured
/// operation, or on tensors. The body of a named operation is what it is.
static bool isOfKernel(Operation *op) {
  if (auto around = op->getParentOfType<linalg::LinalgOp>())
    return isa<linalg::GenericOp, linalg::MapOp, linalg::ReduceOp>(around);
  return isInDeviceCode(op) ||
         llvm::any_of(op->getOperandTypes(), llvm::IsaPred<TensorType>);
}

static bool isWidened(Operation *op) {
  return computes(op) &&
         (llvm::any_of(op->getOperandTypes(), isNarrowFloat) ||
          llvm::any_of(op->getResultTypes(), isNarrowFloat)) &&
         llvm::none_of(op->getResultTypes(), isPowerOfTwoType) &&
         isOfKernel(op);
}

/// `type` with elements that `op` is computed in.
static Type getWideType(Operation *op, Type type) {
  Builder builder(op->getContext());
  Type wide = isa<math::FmaOp, vector::FMAOp>(op) ? builder.getF64Type()
                                                  : builder.getF32Type();
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped ? shaped.clone(wide) : wide;
}

static void widen(Operation *op) {
  OpBuilder builder(op);
  Location loc = op->getLoc();
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    Type type = operand.getType();
    operands.push_back(isNarrowFloat(type)
                           ? arith::ExtFOp::create(
                                 builder, loc, getWideType(op, type), operand)
                           : operand);
  }
  SmallVector<Type> types;
  for (Type type : op->getResultTypes())
    types.push_back(isNarrowFloat(type) ? getWideType(op, type) : type);
  Operation *wide = clone(builder, op, types, operands);
  for (auto [result, value] :
       llvm::zip_equal(op->getResults(), wide->getResults())) {
    Value narrow = value;
    if (value.getType() != result.getType())
      narrow = arith::TruncFOp::create(builder, loc, result.getType(), value);
    result.replaceAllUsesWith(narrow);
  }
  op->erase();
}

void widenFloats(Operation *root) {
  SmallVector<Operation *> ops;
  root->walk([&](Operation *op) {
    if (isWidened(op))
      ops.push_back(op);
  });
  for (Operation *op : ops)
    widen(op);
}

namespace {
struct WidenFloatsPass final : impl::WidenFloatsPassBase<WidenFloatsPass> {
  using WidenFloatsPassBase::WidenFloatsPassBase;

  void runOnOperation() override { widenFloats(getOperation()); }
};
} // namespace

} // namespace mlir::workgroup
