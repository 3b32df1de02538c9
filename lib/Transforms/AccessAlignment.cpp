//===- AccessAlignment.cpp - Promised and provided alignment --------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelChecks.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "workgroup/Analysis/Alignment.h"
#include "workgroup/Support/MemorySpace.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// Places in buffers
//===----------------------------------------------------------------------===//

namespace {
/// Where a memref starts: offsets of its layout count from `base`, in bytes
/// from the start of the buffer.
struct Place {
  int64_t base = 0;
  int64_t offset = 0;
};
} // namespace

/// The value of `terms` weighted by `strides`, if all of it is constant.
static std::optional<int64_t> getWeightedSum(ArrayRef<OpFoldResult> terms,
                                             ArrayRef<int64_t> strides) {
  int64_t sum = 0;
  for (auto [term, stride] : llvm::zip_equal(terms, strides)) {
    std::optional<int64_t> constant = getConstantIntValue(term);
    if (!constant || ShapedType::isDynamic(stride))
      return std::nullopt;
    sum += *constant * stride;
  }
  return sum;
}

static std::optional<Place> getPlace(Value memref) {
  auto type = dyn_cast<MemRefType>(memref.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!type || failed(type.getStridesAndOffset(strides, offset)))
    return std::nullopt;
  Operation *op = memref.getDefiningOp();
  Value source = op ? getViewSource(op) : Value();
  if (!source) {
    if (ShapedType::isDynamic(offset))
      return std::nullopt;
    return Place{0, offset};
  }
  std::optional<Place> place = getPlace(source);
  if (!place)
    return std::nullopt;
  if (auto view = dyn_cast<memref::ViewOp>(op)) {
    std::optional<int64_t> shift = getConstantIntValue(view.getByteShift());
    if (!shift)
      return std::nullopt;
    return Place{place->base + place->offset + *shift, 0};
  }
  if (auto cast = dyn_cast<memref::ReinterpretCastOp>(op)) {
    std::optional<int64_t> at =
        getConstantIntValue(cast.getMixedOffsets().front());
    if (!at)
      return std::nullopt;
    return Place{place->base, *at};
  }
  if (auto slice = dyn_cast<memref::SubViewOp>(op)) {
    auto sourceType = cast<MemRefType>(source.getType());
    (void)sourceType.getStridesAndOffset(strides, offset);
    std::optional<int64_t> at =
        getWeightedSum(slice.getMixedOffsets(), strides);
    if (!at)
      return std::nullopt;
    return Place{place->base, place->offset + *at};
  }
  if (isa<memref::CastOp, memref::MemorySpaceCastOp, memref::ExpandShapeOp,
          memref::CollapseShapeOp, memref::TransposeOp,
          memref::AssumeAlignmentOp>(op))
    return place;
  return std::nullopt;
}

std::optional<int64_t> getConstantPlace(Value memref) {
  std::optional<Place> place = getPlace(memref);
  if (!place)
    return std::nullopt;
  std::optional<int64_t> bytes =
      getElementBytes(cast<MemRefType>(memref.getType()),
                      memref.getParentRegion()->getParentOp());
  if (!bytes)
    return std::nullopt;
  return place->base + place->offset * *bytes;
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

namespace {
/// An access that is to be aligned to `alignment` bytes.
struct AlignedAccess {
  Value memref;
  ValueRange indices;
  int64_t alignment;
  /// Whether the op says so, or the instruction asks for it.
  bool isPromised = true;
};
} // namespace

/// What `op` promises of the alignment of its access, or needs.
static std::optional<AlignedAccess> getAlignedAccess(Operation *op) {
  using Result = std::optional<AlignedAccess>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case<vector::LoadOp, vector::StoreOp, vector::MaskedLoadOp,
            vector::MaskedStoreOp, vector::ExpandLoadOp,
            vector::CompressStoreOp>([](auto access) -> Result {
        return AlignedAccess{access.getBase(), access.getIndices(),
                             int64_t(access.getAlignment().value_or(1))};
      })
      .Case<memref::LoadOp, memref::StoreOp>([](auto access) -> Result {
        return AlignedAccess{access.getMemref(), access.getIndices(),
                             int64_t(access.getAlignment().value_or(1))};
      })
      .Case<nvgpu::DeviceAsyncCopyOp>(
          [](nvgpu::DeviceAsyncCopyOp copy) -> Result {
            auto type = cast<MemRefType>(copy.getDst().getType());
            int64_t bytes = getElementBytes(type, copy).value_or(0);
            return AlignedAccess{copy.getDst(), copy.getDstIndices(),
                                 copy.getDstElements().getSExtValue() * bytes,
                                 /*isPromised=*/false};
          })
      .Case<nvgpu::LdMatrixOp>([](nvgpu::LdMatrixOp load) -> Result {
        constexpr int64_t kRowBytes = 16;
        return AlignedAccess{load.getSrcMemref(), load.getIndices(), kRowBytes,
                             /*isPromised=*/false};
      })
      .Default([](Operation *) { return std::nullopt; });
}

LogicalResult verifyAccessAlignment(Operation *op,
                                    const VerifyKernelsOptions &options) {
  std::optional<AlignedAccess> access = getAlignedAccess(op);
  if (!access || access->alignment <= 1)
    return success();
  Value memref = access->memref;
  auto type = dyn_cast<MemRefType>(memref.getType());
  Operation *module = op->getParentOfType<ModuleOp>();
  Value buffer = getRaisableBuffer(memref, module);
  if (!type || !isWorkgroupMemory(type) || !type.isStrided() || !buffer)
    return success();
  StringRef verb = access->isPromised ? "promises" : "needs";
  int64_t has =
      std::max({getStatedAlignment(buffer), options.assumeBufferAlignment,
                getNaturalAlignment(cast<MemRefType>(buffer.getType()), op)});
  if (has < access->alignment)
    return op->emitOpError()
           << verb << " an alignment of " << access->alignment
           << " bytes, but its buffer is aligned to " << has
           << "; raise the alignment of the buffer"
           << (access->isPromised ? ", or drop the promise" : "");

  // A constant place in the buffer is known to the byte.
  SmallVector<int64_t> strides;
  int64_t offset;
  (void)type.getStridesAndOffset(strides, offset);
  std::optional<int64_t> place = getConstantPlace(memref);
  std::optional<int64_t> index =
      getWeightedSum(getAsOpFoldResult(access->indices), strides);
  if (!place || !index)
    return success();
  int64_t byte = *place + *index * getElementBytes(type, op).value_or(0);
  if (byte % access->alignment == 0)
    return success();
  return op->emitOpError() << verb << " an alignment of " << access->alignment
                           << " bytes, but accesses byte " << byte
                           << " of its buffer; "
                           << (access->isPromised ? "drop the promise"
                                                  : "move it, or pad rows");
}

LogicalResult verifyBufferAlignment(Value buffer, Operation *reportAt,
                                    const VerifyKernelsOptions &options) {
  // LLVM takes the preferred alignment of a variable, 16 bytes for any larger
  // array, for its actual one, while the PTX it prints declares the alignment
  // of the element. Only a stated alignment is the same for both.
  constexpr int64_t kPreferredAlignment = 16;
  auto type = dyn_cast<MemRefType>(buffer.getType());
  if (!type || !isWorkgroupMemory(type) || !type.hasStaticShape() ||
      options.assumeBufferAlignment >= kPreferredAlignment ||
      getStatedAlignment(buffer) != 0 ||
      getNaturalAlignment(type, reportAt) >= kPreferredAlignment)
    return success();
  std::optional<int64_t> bytes = getElementBytes(type, reportAt);
  if (!bytes || type.getNumElements() * *bytes < kPreferredAlignment)
    return success();
  return reportAt->emitOpError("has a workgroup buffer of type ")
         << type << " without a stated alignment, which LLVM takes to be "
         << kPreferredAlignment
         << " and PTX to be the element's; run workgroup-hoist-allocs, or set "
         << (isa<BlockArgument>(buffer) ? "llvm.align"
                                        : "alignment on its memref.global");
}

} // namespace mlir::workgroup
