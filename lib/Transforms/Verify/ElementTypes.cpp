//===- ElementTypes.cpp - Reject types that would be miscompiled ----------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Element types that upstream lowers to something else than they mean:
// arithmetic on floats narrower than 16 bits or wider than 64, and vectors of
// elements that memory holds apart (an i1 is a byte in memory, a bit in a
// vector).
//
//===----------------------------------------------------------------------===//

#include "KernelChecks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// B9: arithmetic of types that GPUs have none for
//===----------------------------------------------------------------------===//

/// True if `op` does arithmetic, for which there are instructions or not,
/// rather than move elements or convert them to other types.
static bool isArithmetic(Operation *op) {
  if (isa<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::UIToFPOp,
          arith::FPToSIOp, arith::FPToUIOp, arith::ScalingExtFOp,
          arith::ScalingTruncFOp, arith::BitcastOp, arith::ConstantOp,
          arith::SelectOp>(op))
    return false;
  if (auto update = dyn_cast<memref::AtomicRMWOp>(op))
    return update.getKind() != arith::AtomicRMWKind::assign;
  return isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) ||
         isa<vector::FMAOp, vector::ReductionOp, vector::MultiDimReductionOp,
             vector::ContractionOp, vector::OuterProductOp, vector::ScanOp,
             gpu::AllReduceOp, gpu::SubgroupReduceOp>(op);
}

/// The first float of `types` that no GPU computes in; null if there is none.
static FloatType findOddFloat(TypeRange types) {
  for (Type type : types)
    if (auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type));
        element && (element.getWidth() < 16 || element.getWidth() > 64))
      return element;
  return {};
}

static LogicalResult verifyArithmetic(Operation *op) {
  if (!isArithmetic(op))
    return success();
  FloatType odd = findOddFloat(op->getOperandTypes());
  odd = odd ? odd : findOddFloat(op->getResultTypes());
  if (!odd)
    return success();
  if (odd.getWidth() > 64)
    return op->emitOpError("computes in ")
           << odd << ", of which GPUs have no numbers; compute in f64";
  return op->emitOpError("computes in ")
         << odd
         << ", which GPUs store and convert but do not compute in; extend its "
            "operands to f32 or f16 by arith.extf, and truncate its result";
}

//===----------------------------------------------------------------------===//
// B11: vectors of elements that memory holds apart
//===----------------------------------------------------------------------===//

/// The memory that `op` accesses by vectors, and the vector; null if it is no
/// such access.
static std::pair<MemRefType, VectorType> getVectorAccess(Operation *op) {
  Value memory;
  VectorType vector;
  if (auto transfer = dyn_cast<VectorTransferOpInterface>(op)) {
    memory = transfer.getBase();
    vector = transfer.getVectorType();
  } else if (isa<vector::LoadOp, vector::MaskedLoadOp, vector::ExpandLoadOp,
                 vector::GatherOp>(op)) {
    memory = op->getOperand(0);
    vector = cast<VectorType>(op->getResult(0).getType());
  } else if (auto store = dyn_cast<vector::StoreOp>(op)) {
    memory = store.getBase();
    vector = store.getVectorType();
  } else if (auto store = dyn_cast<vector::MaskedStoreOp>(op)) {
    memory = store.getBase();
    vector = store.getVectorType();
  } else if (auto store = dyn_cast<vector::CompressStoreOp>(op)) {
    memory = store.getBase();
    vector = store.getVectorType();
  } else if (auto scatter = dyn_cast<vector::ScatterOp>(op)) {
    memory = scatter.getBase();
    vector = scatter.getVectorType();
  }
  if (!memory)
    return {};
  return {dyn_cast<MemRefType>(memory.getType()), vector};
}

/// Memory holds each element in as many bytes as a power of two; a vector, one
/// bit behind the other.
static LogicalResult verifyPacking(Operation *op) {
  auto [memory, vector] = getVectorAccess(op);
  if (!memory || !memory.getElementType().isIntOrFloat())
    return success();
  unsigned bits = memory.getElementTypeBitWidth();
  bool liesAsInVector = bits % 8 == 0 && llvm::isPowerOf2_32(bits);
  if (liesAsInVector || (!vector.isScalable() && vector.getNumElements() == 1))
    return success();
  return op->emitOpError("accesses elements of type ")
         << memory.getElementType()
         << " by vectors, which have them bit by bit, where memory has each in "
            "bytes of its own; access them one by one by memref.load and "
            "memref.store, or store them as i8";
}

LogicalResult verifyElementTypes(Operation *op) {
  return success(succeeded(verifyArithmetic(op)) &&
                 succeeded(verifyPacking(op)));
}

} // namespace mlir::workgroup
