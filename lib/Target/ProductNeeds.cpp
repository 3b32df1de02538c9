//===- ProductNeeds.cpp - What products of matrices need ------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The instructions mma and wmma by their types and shapes: PTX ISA, "Warp Level
// Matrix Multiply-Accumulate Instructions".
//
//===----------------------------------------------------------------------===//

#include "ProductNeeds.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::workgroup {

using NVVM::MMATypes;

//===----------------------------------------------------------------------===//
// mma
//===----------------------------------------------------------------------===//

static bool isInteger(MMATypes type) {
  return llvm::is_contained(
      {MMATypes::s8, MMATypes::u8, MMATypes::s4, MMATypes::u4}, type);
}

/// The needs of a dense product with matrices of `type` whose shape is `m` by 8
/// by `k`.
static OperationNeeds getDenseNeeds(MMATypes type, int64_t m, int64_t k) {
  constexpr OperationNeeds kTuring{75, false, 65}, kAmpere{80, false, 70};
  if (type == MMATypes::f16 && k == 4)
    return {70, false, 64};
  if (type == MMATypes::f16 && k == 8)
    return kTuring;
  return isInteger(type) && m == 8 ? kTuring : kAmpere;
}

static OperationNeeds getNeedsOf(NVVM::MmaOp op) {
  std::optional<MMATypes> a = op.getMultiplicandAPtxType();
  std::optional<MMATypes> b = op.getMultiplicandBPtxType();
  NVVM::MMAShapeAttr shape = op.getShape();
  if (!a || !b ||
      !NVVM::MmaOp::getIntrinsicID(shape.getM(), shape.getN(), shape.getK(),
                                   op.getB1Op(), op.getIntOverflowBehavior(),
                                   op.getLayoutA(), op.getLayoutB(), *a, *b,
                                   op.accumPtxType(), op.resultPtxType()))
    return OperationNeeds::makeUnknown();
  OperationNeeds needs = getDenseNeeds(*a, shape.getM(), shape.getK());
  if (op.getB1Op() == NVVM::MMAB1Op::and_popc)
    needs.ptxVersion = 71;
  return needs;
}

/// True if a register holds four elements of `type`, which is a float.
static bool isNarrowFloat(MMATypes type) {
  return llvm::is_contained({MMATypes::e4m3, MMATypes::e5m2, MMATypes::e3m2,
                             MMATypes::e2m3, MMATypes::e2m1},
                            type);
}

static OperationNeeds getNeedsOf(NVVM::MmaSpOp op) {
  std::optional<MMATypes> a = op.getMultiplicandAPtxType();
  std::optional<MMATypes> b = op.getMultiplicandBPtxType();
  NVVM::MMAShapeAttr shape = op.getShape();
  // The verifier of nvvm wants fewer registers of narrow floats than there are.
  if (!a || !b || isNarrowFloat(*a) ||
      !NVVM::MmaSpOp::getIntrinsicID(shape.getM(), shape.getN(), shape.getK(),
                                     op.getIntOverflowBehavior(),
                                     op.getOrderedMetadata(), op.getKind(), *a,
                                     *b, op.accumPtxType(), op.resultPtxType()))
    return OperationNeeds::makeUnknown();
  return {80, false, op.getOrderedMetadata() ? 85u : 71u};
}

/// The type of PTX that nvgpu's products have for elements of `type`; none if
/// there is no lowering.
static std::optional<MMATypes> getProductType(Type type) {
  if (type.isF16())
    return MMATypes::f16;
  if (type.isF32())
    return MMATypes::tf32;
  if (type.isF64())
    return MMATypes::f64;
  if (type.isInteger(8))
    return MMATypes::s8;
  if (type.isInteger(4))
    return MMATypes::s4;
  return std::nullopt;
}

/// What else nvgpu's products do not have is what their lowering refuses.
static OperationNeeds getNeedsOf(nvgpu::MmaSyncOp op) {
  auto type = cast<VectorType>(op.getMatrixA().getType());
  std::optional<MMATypes> element = getProductType(type.getElementType());
  std::array<int64_t, 3> shape = op.getMmaShapeAsArray();
  return element ? getDenseNeeds(*element, shape[0], shape[2])
                 : OperationNeeds{80, false, 70};
}

/// Of products of floats of 8 bits, which the operations of nvvm do not have.
static std::optional<OperationNeeds> findNeedsOf(LLVM::CallIntrinsicOp call) {
  StringRef name = call.getIntrin();
  bool isNarrow = name.contains(".e4m3.") || name.contains(".e5m2.");
  if (!name.starts_with("llvm.nvvm.mma.m16n8k32.row.col.f32.") || !isNarrow)
    return std::nullopt;
  return OperationNeeds{89, false, 84};
}

/// Warp groups multiply signed by unsigned numbers since later.
static OperationNeeds getNeedsOf(NVVM::WgmmaMmaAsyncOp op) {
  bool isMixed = op.getTypeA() != op.getTypeB() &&
                 (op.getTypeA() == NVVM::WGMMATypes::s8 ||
                  op.getTypeA() == NVVM::WGMMATypes::u8);
  return {90, true, isMixed ? 84u : 80u};
}

//===----------------------------------------------------------------------===//
// wmma
//===----------------------------------------------------------------------===//

/// The needs of a part of a product whose elements are of `type`, and which
/// sums up `k` products: that tells products of tf32 from others.
static OperationNeeds getFragmentNeeds(MMATypes type, int64_t k) {
  bool isNew = type == MMATypes::tf32 || type == MMATypes::f64 || k == 8;
  return isNew ? OperationNeeds{80, false, 70} : OperationNeeds{72, false, 63};
}

/// The needs of an operation on a matrix of `type`, as upstream lowers it.
static OperationNeeds getNeedsOfMatrix(gpu::MMAMatrixType type) {
  Type element = type.getElementType();
  bool isProduct = type.getOperand() != "COp";
  bool isNew = element.isF64() || (element.isF32() && isProduct);
  return isNew ? OperationNeeds{80, false, 70} : OperationNeeds{72, false, 63};
}

std::optional<OperationNeeds> findNeedsOfProduct(Operation *op) {
  using Needs = std::optional<OperationNeeds>;
  return llvm::TypeSwitch<Operation *, Needs>(op)
      .Case<NVVM::MmaOp, NVVM::MmaSpOp, NVVM::WgmmaMmaAsyncOp,
            nvgpu::MmaSyncOp>([](auto product) { return getNeedsOf(product); })
      .Case([](LLVM::CallIntrinsicOp call) { return findNeedsOf(call); })
      .Case(
          [](nvgpu::MmaSparseSyncOp) { return OperationNeeds{80, false, 71}; })
      .Case<NVVM::MmaBlockScaleOp, NVVM::MmaSpBlockScaleOp>(
          [](auto) { return OperationNeeds{120, true, 87}; })
      .Case<NVVM::WMMALoadOp, NVVM::WMMAStoreOp>([](auto part) {
        return getFragmentNeeds(part.getEltype(), part.getK());
      })
      .Case([](NVVM::WMMAMmaOp product) {
        return getFragmentNeeds(product.getEltypeA(), product.getK());
      })
      .Case([](gpu::SubgroupMmaStoreMatrixOp store) {
        return getNeedsOfMatrix(
            cast<gpu::MMAMatrixType>(store.getSrc().getType()));
      })
      .Case([](gpu::SubgroupMmaComputeOp product) {
        return getNeedsOfMatrix(
            cast<gpu::MMAMatrixType>(product.getOpA().getType()));
      })
      .Case<gpu::SubgroupMmaLoadMatrixOp, gpu::SubgroupMmaConstantMatrixOp,
            gpu::SubgroupMmaElementwiseOp>([](auto part) {
        return getNeedsOfMatrix(
            cast<gpu::MMAMatrixType>(part->getResult(0).getType()));
      })
      .Default([](Operation *) { return std::nullopt; });
}

} // namespace mlir::workgroup
