//===- PointerAddress.cpp - Where a pointer points to ---------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PointerAddress.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// Addresses as numbers
//===----------------------------------------------------------------------===//

namespace {
/// The value that an address, as a number, was made of, and what was added to
/// it.
struct Address {
  Value source;
  LinearIndex offset;
};
} // namespace

static std::optional<Address> findAddress(Value number, unsigned depth = 0);

/// The same of the result of a map: an operand that is an address, and a sum of
/// others.
static std::optional<Address> findAddress(affine::AffineApplyOp apply,
                                          unsigned depth) {
  AffineMap map = apply.getAffineMap();
  unsigned numDims = map.getNumDims(), numSymbols = map.getNumSymbols();
  for (auto [number, operand] : llvm::enumerate(apply.getMapOperands())) {
    std::optional<Address> address = findAddress(operand, depth);
    if (!address)
      continue;
    MLIRContext *context = apply.getContext();
    AffineExpr base = number < numDims
                          ? getAffineDimExpr(number, context)
                          : getAffineSymbolExpr(number - numDims, context);
    AffineExpr zero = getAffineConstantExpr(0, context);
    AffineExpr rest = map.getResult(0).replace(base, zero);
    AffineExpr others =
        simplifyAffineExpr(map.getResult(0) - rest - base, numDims, numSymbols);
    if (others != zero)
      continue;
    address->offset.add(AffineMap::get(numDims, numSymbols, rest),
                        apply.getMapOperands(), 1);
    return address;
  }
  return std::nullopt;
}

/// Follows `number` to what it is the address of. Sums are taken apart where
/// they are as wide as addresses of global memory.
static std::optional<Address> findAddress(Value number, unsigned depth) {
  constexpr unsigned kMaxDepth = 16;
  Operation *op = number.getDefiningOp();
  if (!op || depth == kMaxDepth)
    return std::nullopt;
  if (auto extract = dyn_cast<memref::ExtractAlignedPointerAsIndexOp>(op))
    return Address{extract.getSource(), {}};
  if (auto cast = dyn_cast<LLVM::PtrToIntOp>(op))
    return Address{cast.getArg(), {}};
  if (auto get = dyn_cast<nvgpu::MBarrierGetOp>(op))
    return Address{get.getBarriers(), {}};
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op))
    return findAddress(apply, depth + 1);
  bool isCast = isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtUIOp,
                    arith::TruncIOp, LLVM::TruncOp, LLVM::ZExtOp,
                    UnrealizedConversionCastOp>(op);
  if (isCast && op->getNumOperands() == 1 && op->getNumResults() == 1 &&
      op->getOperand(0).getType().isIntOrIndex())
    return findAddress(op->getOperand(0), depth + 1);
  bool isWide = number.getType().isIndex() || number.getType().isInteger(64);
  if (!isa<arith::AddIOp, LLVM::AddOp>(op) || !isWide)
    return std::nullopt;
  for (unsigned side : {0, 1}) {
    std::optional<Address> address =
        findAddress(op->getOperand(side), depth + 1);
    if (!address)
      continue;
    address->offset.add(op->getOperand(1 - side), 1);
    return address;
  }
  return std::nullopt;
}

Value getPointerSource(Value pointer) {
  Operation *op = pointer.getDefiningOp();
  if (!op || !isa<LLVM::LLVMPointerType>(pointer.getType()))
    return Value();
  if (isa<LLVM::AddrSpaceCastOp, LLVM::BitcastOp>(op))
    return op->getOperand(0);
  if (auto element = dyn_cast<LLVM::GEPOp>(op))
    return element.getBase();
  if (isa<LLVM::IntToPtrOp>(op))
    if (std::optional<Address> address = findAddress(op->getOperand(0)))
      return address->source;
  return Value();
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

std::optional<int64_t> getAccessBytes(Type type) {
  if (auto vector = dyn_cast<VectorType>(type)) {
    std::optional<int64_t> bytes = getAccessBytes(vector.getElementType());
    if (!bytes || vector.isScalable())
      return std::nullopt;
    return *bytes * vector.getNumElements();
  }
  if (auto array = dyn_cast<LLVM::LLVMArrayType>(type)) {
    std::optional<int64_t> bytes = getAccessBytes(array.getElementType());
    return bytes ? std::optional(*bytes * int64_t(array.getNumElements()))
                 : std::nullopt;
  }
  // Of other widths, arrays have gaps.
  if (!type.isIntOrFloat() || type.getIntOrFloatBitWidth() % 8 != 0 ||
      !llvm::isPowerOf2_32(type.getIntOrFloatBitWidth()))
    return std::nullopt;
  return type.getIntOrFloatBitWidth() / 8;
}

/// Adds what the indices of `element` move its base by. False if that is not
/// known.
static bool addIndices(LLVM::GEPOp element, LinearIndex &address) {
  Type type = element.getElemType();
  bool isFirst = true;
  for (auto index : element.getIndices()) {
    if (!isFirst) {
      auto array = dyn_cast<LLVM::LLVMArrayType>(type);
      if (!array)
        return false;
      type = array.getElementType();
    }
    isFirst = false;
    std::optional<int64_t> bytes = getAccessBytes(type);
    if (!bytes)
      return false;
    if (auto value = llvm::dyn_cast_if_present<Value>(index))
      address.add(value, *bytes);
    else
      address.constant += *bytes * cast<IntegerAttr>(index).getInt();
  }
  return true;
}

std::optional<LinearIndex> getPointerAddress(Value pointer,
                                             const LinearIndex &source) {
  LinearIndex address = source;
  Operation *op = pointer.getDefiningOp();
  if (auto element = dyn_cast<LLVM::GEPOp>(op)) {
    if (!addIndices(element, address))
      return std::nullopt;
  } else if (isa<LLVM::IntToPtrOp>(op)) {
    address.add(findAddress(op->getOperand(0))->offset, 1);
  }
  return address;
}

MemorySpace getPointerSpace(Value pointer) {
  auto type = dyn_cast<LLVM::LLVMPointerType>(pointer.getType());
  switch (type ? type.getAddressSpace() : 0) {
  case unsigned(NVVM::NVVMMemorySpace::Global):
    return MemorySpace::Global;
  case unsigned(NVVM::NVVMMemorySpace::Shared):
    return MemorySpace::Workgroup;
  case unsigned(NVVM::NVVMMemorySpace::Local):
    return MemorySpace::Private;
  default:
    return MemorySpace::Other;
  }
}

} // namespace mlir::workgroup
