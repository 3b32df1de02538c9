//===- BankAccess.cpp - Accesses to rows of buffers -----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BankAccess.h"
#include "Target/BankConflicts.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "workgroup/Analysis/Alignment.h"
#include "workgroup/Target/AccessWidth.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::workgroup {

int64_t getPowerOfTwoDivisor(int64_t value) {
  return value == 0 ? AlignmentAnalysis::kMaxDivisor
                    : int64_t(1) << llvm::countr_zero(uint64_t(value));
}

int64_t BankAccess::getPieceBytes(int64_t elementBytes) const {
  int64_t bytes = getBytes(elementBytes);
  if (numElements == 1)
    return std::min(bytes, kWidestAccessBytes);
  return std::min({getPowerOfTwoDivisor(bytes), divisor * elementBytes,
                   kWidestAccessBytes});
}

int64_t BankAccess::getFixedBytes(int64_t elementBytes) const {
  if (canSplit)
    return std::min(getPieceBytes(elementBytes),
                    std::max(elementBytes, kBankBytes));
  return isOfMatrix() ? matrixUnit : getBytes(elementBytes);
}

/// True if vectors of `type`'s elements are laid out in memory as the elements
/// themselves are.
static bool hasDenseVectors(MemRefType type, int64_t elementBytes) {
  return type.getElementType().isIntOrFloat() &&
         int64_t(type.getElementTypeBitWidth()) == 8 * elementBytes;
}

/// The elements of the vector `vectorType` that an access transfers; nothing if
/// it is not a run of consecutive elements.
static std::optional<int64_t> getRun(VectorType vectorType, MemRefType type,
                                     int64_t elementBytes) {
  if (vectorType == type.getElementType())
    return 1;
  if (vectorType.getRank() != 1 || vectorType.isScalable() ||
      !hasDenseVectors(type, elementBytes))
    return std::nullopt;
  return vectorType.getNumElements();
}

static bool isPlainTransfer(VectorTransferOpInterface transfer) {
  return transfer.getVectorType().getRank() == 1 && !transfer.getMask() &&
         transfer.getPermutationMap().isMinorIdentity() &&
         !transfer.hasOutOfBoundsDim();
}

/// Describes the matrix of type `matrix` that `access` loads or stores.
static bool describeMatrix(BankAccess &access, gpu::MMAMatrixType matrix,
                           const APInt &lead, bool isTransposed,
                           MemRefType type) {
  if (type.getElementType() != matrix.getElementType())
    return false;
  ArrayRef<int64_t> shape = matrix.getShape();
  access.numElements = shape[isTransposed ? 0 : 1];
  access.numMatrixRows = shape[isTransposed ? 1 : 0];
  access.leadDimension = lead.getSExtValue();
  return true;
}

/// What an op does with the memref that it accesses, as far as it is
/// understood.
namespace {
struct AccessBuilder {
  OpOperand &use;
  int64_t elementBytes;
  BankAccess access;

  using Result = bool;
  MemRefType getType() const { return cast<MemRefType>(use.get().getType()); }

  template <typename Op>
  Result ofElement(Op op) {
    access.alignment = op.getAlignment().value_or(1);
    return &op.getMemrefMutable() == &use;
  }

  template <typename Op>
  Result ofVector(Op op, bool canSplit) {
    std::optional<int64_t> run =
        getRun(op.getVectorType(), getType(), elementBytes);
    access.alignment = op.getAlignment().value_or(1);
    access.numElements = run.value_or(1);
    access.canSplit = canSplit && access.numElements > 1;
    return run && &op.getBaseMutable() == &use;
  }

  template <typename Op>
  Result ofTransfer(Op op) {
    std::optional<int64_t> run =
        getRun(op.getVectorType(), getType(), elementBytes);
    access.numElements = run.value_or(1);
    access.canSplit = access.numElements > 1;
    return run && isPlainTransfer(op) && &op.getBaseMutable() == &use;
  }

  Result ofRows(nvgpu::LdMatrixOp op) {
    constexpr int64_t kRowBytes = 16, kRows = 8;
    access.numElements = kRowBytes / elementBytes;
    access.numLanes = kRows * op.getNumTiles();
    return kRowBytes % elementBytes == 0 && access.numLanes <= 32;
  }

  Result ofCopy(nvgpu::DeviceAsyncCopyOp op) {
    access.numElements = op.getDstElements().getSExtValue();
    access.isCopySource = &op.getSrcMutable() == &use;
    return access.numElements > 0;
  }

  Result build(Operation *op) {
    access.op = op;
    return llvm::TypeSwitch<Operation *, Result>(op)
        .Case<memref::LoadOp, memref::StoreOp>(
            [&](auto op) { return ofElement(op); })
        .Case([&](memref::AtomicRMWOp op) {
          return &op.getMemrefMutable() == &use;
        })
        .Case<vector::LoadOp, vector::StoreOp>(
            [&](auto op) { return ofVector(op, /*canSplit=*/true); })
        .Case<vector::MaskedLoadOp, vector::MaskedStoreOp>(
            [&](auto op) { return ofVector(op, /*canSplit=*/false); })
        .Case<vector::TransferReadOp, vector::TransferWriteOp>(
            [&](auto op) { return ofTransfer(op); })
        .Case([&](nvgpu::LdMatrixOp op) { return ofRows(op); })
        .Case([&](nvgpu::DeviceAsyncCopyOp op) { return ofCopy(op); })
        .Case([&](gpu::SubgroupMmaLoadMatrixOp op) {
          return describeMatrix(access, cast<gpu::MMAMatrixType>(op.getType()),
                                op.getLeadDimension(),
                                op.getTranspose().value_or(false), getType());
        })
        .Case([&](gpu::SubgroupMmaStoreMatrixOp op) {
          return describeMatrix(access,
                                cast<gpu::MMAMatrixType>(op.getSrc().getType()),
                                op.getLeadDimension(),
                                op.getTranspose().value_or(false), getType());
        })
        .Default([](Operation *) { return false; });
  }
};
} // namespace

std::optional<BankAccess> describeAccess(OpOperand &use, int64_t elementBytes) {
  AccessBuilder builder{use, elementBytes, {}};
  if (!isa<MemRefType>(use.get().getType()) || !builder.build(use.getOwner()))
    return std::nullopt;
  return builder.access;
}

OpOperand &getAccessMemref(const BankAccess &access) {
  return *llvm::TypeSwitch<Operation *, OpOperand *>(access.op)
              .Case([&](nvgpu::DeviceAsyncCopyOp op) {
                return access.isCopySource ? &op.getSrcMutable()
                                           : &op.getDstMutable();
              })
              .Case<memref::LoadOp, memref::StoreOp, memref::AtomicRMWOp>(
                  [](auto op) { return &op.getMemrefMutable(); })
              .Case<vector::LoadOp, vector::StoreOp, vector::MaskedLoadOp,
                    vector::MaskedStoreOp, vector::TransferReadOp,
                    vector::TransferWriteOp>(
                  [](auto op) { return &op.getBaseMutable(); })
              .Case<nvgpu::LdMatrixOp, gpu::SubgroupMmaLoadMatrixOp>(
                  [](auto op) { return &op.getSrcMemrefMutable(); })
              .Case([](gpu::SubgroupMmaStoreMatrixOp op) {
                return &op.getDstMemrefMutable();
              });
}

MutableOperandRange getAccessIndices(const BankAccess &access) {
  return llvm::TypeSwitch<Operation *, MutableOperandRange>(access.op)
      .Case([&](nvgpu::DeviceAsyncCopyOp op) {
        return access.isCopySource ? op.getSrcIndicesMutable()
                                   : op.getDstIndicesMutable();
      })
      .Case<memref::LoadOp, memref::StoreOp, memref::AtomicRMWOp,
            vector::LoadOp, vector::StoreOp, vector::MaskedLoadOp,
            vector::MaskedStoreOp, vector::TransferReadOp,
            vector::TransferWriteOp, nvgpu::LdMatrixOp,
            gpu::SubgroupMmaLoadMatrixOp, gpu::SubgroupMmaStoreMatrixOp>(
          [](auto op) { return op.getIndicesMutable(); });
}

} // namespace mlir::workgroup
