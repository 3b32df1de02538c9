//===- ThreadVectors.cpp - How wide a thread accesses memory --------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ThreadVectors.h"
#include "PointEmitter.h"
#include "Support/Views.h"
#include "Transforms/Utils/IndexBuilder.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "workgroup/Support/MemorySpace.h"
#include "workgroup/Target/AccessWidth.h"

namespace mlir::workgroup {

/// More operations than this are not repeated for the points of a vector.
static constexpr int64_t kMaxOps = 512;

/// The bytes of an element; 0 for one that is not loaded in vectors.
static int64_t getVectorElementBytes(Value memref) {
  Type element = cast<MemRefType>(memref.getType()).getElementType();
  if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() % 8 ||
      !llvm::isPowerOf2_64(element.getIntOrFloatBitWidth()))
    return 0;
  return element.getIntOrFloatBitWidth() / 8;
}

/// True if accesses to `memref` at multiples of `length` elements along its
/// rows are aligned, under the conditions that go to `vector`.
static bool isAligned(Value memref, int64_t length, ThreadVector &vector,
                      AlignmentAnalysis &alignment) {
  int64_t bytes = length * getVectorElementBytes(memref);
  while (auto view = memref.getDefiningOp<memref::SubViewOp>()) {
    if (!llvm::all_of(view.getMixedStrides(), isOneInteger) ||
        getDroppedDims(view).test(view.getSourceType().getRank() - 1) ||
        alignment.getDivisor(view.getMixedOffsets().back()) % length != 0)
      return false;
    memref = view.getSource();
  }
  auto type = cast<MemRefType>(memref.getType());
  if (!type.getLayout().isIdentity() ||
      alignment.getAlignment(memref) % bytes != 0)
    return false;
  int64_t last = type.getRank() - 1;
  if (last == 0)
    return true;
  if (!type.isDynamicDim(last))
    return type.getDimSize(last) % length == 0;
  vector.conditions.insert({memref, last});
  return true;
}

/// Nothing if `operands` cannot be accessed by `length` elements.
static std::optional<ThreadVector> tryLength(linalg::LinalgOp op,
                                             ArrayRef<OpOperand *> operands,
                                             unsigned loop, int64_t length,
                                             AlignmentAnalysis &alignment) {
  ThreadVector vector;
  vector.length = length;
  for (OpOperand *operand : operands)
    if (getLaneAccess(op, *operand, loop) == LaneAccess::Contiguous &&
        !isAligned(operand->get(), length, vector, alignment))
      return std::nullopt;
  return vector;
}

/// The longest vectors that the kinds of accesses allow.
static int64_t getMaxLength(linalg::LinalgOp op, ArrayRef<OpOperand *> operands,
                            unsigned loop) {
  int64_t widest = 0;
  for (OpOperand *operand : operands) {
    LaneAccess access = getLaneAccess(op, *operand, loop);
    if (access == LaneAccess::Same)
      continue;
    bool isNear = isWorkgroupMemory(operand->get().getType());
    if (access == LaneAccess::Scattered && (op.isDpsInit(operand) || !isNear))
      return 1;
    if (access == LaneAccess::Scattered)
      continue;
    int64_t bytes = getVectorElementBytes(operand->get());
    if (bytes == 0)
      return 1;
    widest = std::max(widest, bytes);
  }
  if (widest == 0)
    return 1;
  int64_t length = kWidestAccessBytes / widest, numOps = 0;
  op.getBlock()->walk([&](Operation *) { ++numOps; });
  while (length > 1 && length * numOps > kMaxOps)
    length /= 2;
  return length;
}

ThreadVector chooseThreadVector(linalg::LinalgOp op,
                                ArrayRef<OpOperand *> operands, unsigned loop,
                                OpFoldResult extent,
                                std::optional<int64_t> numPoints,
                                int64_t threads, AlignmentAnalysis &alignment) {
  std::optional<int64_t> count = getConstantIntValue(extent);
  for (int64_t length = getMaxLength(op, operands, loop); length > 1;
       length /= 2) {
    if ((count && *count < length) ||
        (numPoints && *numPoints / length < threads / 2))
      continue;
    std::optional<ThreadVector> vector =
        tryLength(op, operands, loop, length, alignment);
    if (!vector)
      continue;
    vector->hasRest = alignment.getDivisor(extent) % length != 0;
    return *vector;
  }
  return {};
}

ThreadVector chooseLongVector(linalg::LinalgOp op, unsigned loop,
                              OpFoldResult extent, int64_t most,
                              AlignmentAnalysis &alignment) {
  SmallVector<std::pair<Value, int64_t>> inputs; // with the bytes of elements
  int64_t longest = 1;
  for (OpOperand *input : op.getDpsInputOperands()) {
    if (getLaneAccess(op, *input, loop) != LaneAccess::Contiguous)
      continue;
    int64_t bytes = getVectorElementBytes(input->get());
    if (bytes == 0)
      return {};
    longest = std::max(longest, kWidestAccessBytes / bytes);
    inputs.push_back({input->get(), bytes});
  }
  for (int64_t length = longest; length > 1; length /= 2) {
    ThreadVector vector;
    vector.length = length;
    if (length <= most && llvm::all_of(inputs, [&](auto &input) {
          auto [memref, bytes] = input;
          return isAligned(memref, std::min(length, kWidestAccessBytes / bytes),
                           vector, alignment);
        })) {
      vector.hasRest = alignment.getDivisor(extent) % length != 0;
      return vector;
    }
  }
  return {};
}

int64_t getAccessLength(linalg::LinalgOp op, OpOperand &operand, unsigned loop,
                        int64_t length, const ThreadVector &assumed,
                        AlignmentAnalysis &alignment) {
  if (getLaneAccess(op, operand, loop) != LaneAccess::Contiguous)
    return 1;
  int64_t bytes = getVectorElementBytes(operand.get());
  if (bytes == 0)
    return 1;
  int64_t access = kWidestAccessBytes / bytes;
  for (; access > 1; access /= 2) {
    ThreadVector needed;
    if (length % access == 0 &&
        isAligned(operand.get(), access, needed, alignment) &&
        (needed.conditions.empty() || access <= assumed.length) &&
        llvm::all_of(needed.conditions, [&](auto &condition) {
          return assumed.conditions.contains(condition);
        }))
      break;
  }
  return access;
}

Value createCheck(OpBuilder &builder, Location loc,
                  const ThreadVector &vector) {
  IndexBuilder index{builder, loc};
  Value all, zero = index.value(builder.getIndexAttr(0));
  for (auto [memref, dim] : vector.conditions) {
    Value extent = memref::DimOp::create(builder, loc, memref, dim);
    Value rest =
        index.value(index.rem(extent, builder.getIndexAttr(vector.length)));
    Value holds = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        rest, zero);
    all = all ? arith::AndIOp::create(builder, loc, all, holds) : holds;
  }
  return all;
}

bool isAlignedRow(Value memref, int64_t length, AlignmentAnalysis &alignment) {
  ThreadVector vector;
  return getVectorElementBytes(memref) != 0 &&
         isAligned(memref, length, vector, alignment) &&
         vector.conditions.empty();
}

} // namespace mlir::workgroup
