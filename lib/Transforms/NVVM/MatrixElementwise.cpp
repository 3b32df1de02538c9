//===- MatrixElementwise.cpp - What is done to matrices in registers ------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// B11. Upstream's lowering of operations on matrices in the registers of a warp
// stops the process, or makes operations that are not valid, where it has no
// instruction.
//
//===----------------------------------------------------------------------===//

#include "MatrixElementwise.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"

namespace mlir::workgroup {

using gpu::MMAElementwiseOp;

static gpu::MMAMatrixType getMatrixType(Value value) {
  return cast<gpu::MMAMatrixType>(value.getType());
}

/// True if there is a lowering of `kind`, upstream's or ours.
static bool isLowered(MMAElementwiseOp kind) {
  return llvm::is_contained({MMAElementwiseOp::ADDF, MMAElementwiseOp::SUBF,
                             MMAElementwiseOp::MULF, MMAElementwiseOp::DIVF,
                             MMAElementwiseOp::MAXF, MMAElementwiseOp::MINF,
                             MMAElementwiseOp::NEGATEF},
                            kind);
}

/// True if the registers of a matrix of `type` hold its elements as they are;
/// those of operands of f32 hold tf32.
static bool hasOwnElements(gpu::MMAMatrixType type) {
  return !type.getElementType().isF32() || type.getOperand() == "COp";
}

//===----------------------------------------------------------------------===//
// Refusals
//===----------------------------------------------------------------------===//

static LogicalResult verify(gpu::SubgroupMmaElementwiseOp op) {
  StringRef kind = stringifyEnum(op.getOpType());
  gpu::MMAMatrixType type = getMatrixType(op.getRes());
  if (!isLowered(op.getOpType()))
    return op.emitOpError("applies ")
           << kind
           << " to a matrix, which has no lowering for NVIDIA GPUs; those of "
              "floats that have one are addf, subf, mulf, divf, maxf, minf and "
              "negatef: store the matrix, and compute in memory";
  unsigned numOperands = op.getOpType() == MMAElementwiseOp::NEGATEF ? 1 : 2;
  if (op.getArgs().size() != numOperands)
    return op.emitOpError("applies ")
           << kind << " to " << op.getArgs().size()
           << " matrices, but it takes " << numOperands;
  if (llvm::any_of(op.getArgs(),
                   [&](Value arg) { return arg.getType() != type; }))
    return op.emitOpError("has a result of another type than its operands, "
                          "which has no lowering for NVIDIA GPUs");
  if (!isa<FloatType>(type.getElementType()))
    return op.emitOpError("applies ")
           << kind << " to a matrix of " << type.getElementType()
           << ", but it is an operation on floats";
  bool isNegating = op.getOpType() == MMAElementwiseOp::NEGATEF ||
                    op.getOpType() == MMAElementwiseOp::SUBF;
  if (isNegating && type.getElementType().isF64())
    return op.emitOpError("applies ")
           << kind
           << " to a matrix of f64, which has no lowering for NVIDIA GPUs; "
              "negate where it is loaded from, and use addf";
  if (!hasOwnElements(type))
    return op.emitOpError("computes in a matrix of f32 that is an operand of "
                          "products, whose registers hold tf32; compute "
                          "before it is loaded, or in the accumulator");
  return success();
}

static LogicalResult verify(gpu::SubgroupMmaConstantMatrixOp op) {
  gpu::MMAMatrixType type = getMatrixType(op.getRes());
  if (hasOwnElements(type) && !type.getElementType().isInteger(8))
    return success();
  return op.emitOpError("fills a matrix of ")
         << type.getElementType()
         << " that is an operand of products, whose registers hold other "
            "elements, in upstream's lowering; load it from memory";
}

/// Upstream says of which elements it knows no product, and not what else to
/// write.
static LogicalResult verifyProduct(Operation *op, Value matrix) {
  Type element = cast<VectorType>(matrix.getType()).getElementType();
  bool isKnown = element.isF16() || element.isF32() || element.isF64() ||
                 element.isInteger(8) || element.isInteger(4);
  if (isKnown)
    return success();
  InFlightDiagnostic error = op->emitOpError("multiplies matrices of ")
                             << element
                             << ", which have no lowering from nvgpu";
  if (element.isBF16())
    error << "; write it as nvvm.mma.sync, which takes two elements in an i32";
  return error;
}

LogicalResult verifyMatrixElementwise(Operation *op) {
  if (auto elementwise = dyn_cast<gpu::SubgroupMmaElementwiseOp>(op))
    return verify(elementwise);
  if (auto constant = dyn_cast<gpu::SubgroupMmaConstantMatrixOp>(op))
    return verify(constant);
  if (auto product = dyn_cast<nvgpu::MmaSyncOp>(op))
    return verifyProduct(op, product.getMatrixA());
  if (auto product = dyn_cast<nvgpu::MmaSparseSyncOp>(op))
    return verifyProduct(op, product.getMatrixA());
  return success();
}

//===----------------------------------------------------------------------===//
// What upstream does not have
//===----------------------------------------------------------------------===//

/// -`matrix`: exact, as the product with -1 is.
static Value negate(OpBuilder &builder, Location loc, Value matrix) {
  gpu::MMAMatrixType type = getMatrixType(matrix);
  auto element = cast<FloatType>(type.getElementType());
  Value one = arith::ConstantOp::create(builder, loc,
                                        builder.getFloatAttr(element, -1.0));
  Value ones =
      gpu::SubgroupMmaConstantMatrixOp::create(builder, loc, type, one);
  return gpu::SubgroupMmaElementwiseOp::create(
      builder, loc, type, ValueRange{matrix, ones}, MMAElementwiseOp::MULF);
}

void expandMatrixElementwise(Operation *root, RewriterBase &rewriter) {
  SmallVector<gpu::SubgroupMmaElementwiseOp> ops;
  root->walk([&](gpu::SubgroupMmaElementwiseOp op) { ops.push_back(op); });
  for (gpu::SubgroupMmaElementwiseOp op : ops) {
    rewriter.setInsertionPoint(op);
    ValueRange args = op.getArgs();
    if (op.getOpType() == MMAElementwiseOp::NEGATEF)
      rewriter.replaceOp(op, negate(rewriter, op.getLoc(), args[0]));
    else if (op.getOpType() == MMAElementwiseOp::SUBF)
      rewriter.replaceOpWithNewOp<gpu::SubgroupMmaElementwiseOp>(
          op, op.getType(),
          ValueRange{args[0], negate(rewriter, op.getLoc(), args[1])},
          MMAElementwiseOp::ADDF);
  }
}

} // namespace mlir::workgroup
