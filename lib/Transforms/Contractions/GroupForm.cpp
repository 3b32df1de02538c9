//===- GroupForm.cpp - Contractions by warp groups ------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GroupForm.h"
#include "Transforms/Rings/TensorRings.h"
#include "workgroup/Support/Kernel.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::workgroup {

constexpr int64_t kGroupWarps = 4;
constexpr int64_t kGroupThreads = kGroupWarps * kWarpSize;

//===----------------------------------------------------------------------===//
// Factors
//===----------------------------------------------------------------------===//

/// The dimensions of `tile` that have more than one element.
static SmallVector<unsigned> getLongDims(MemRefType tile) {
  auto dims = llvm::seq<unsigned>(0, tile.getRank());
  return llvm::filter_to_vector(
      dims, [&](unsigned dim) { return tile.getDimSize(dim) != 1; });
}

/// Finds the ring that gives the tile of `matrix`, and the layout for it.
/// Returns why there is none, or empty.
static std::string describeFactor(Contraction &contraction,
                                  const MatrixFactor &matrix, bool isLhs,
                                  GroupFactor &factor) {
  OpOperand *operand = matrix.operand;
  auto type = cast<MemRefType>(operand->get().getType());
  ProductBody body(contraction);
  if (matrix.value != body.getElement(operand) ||
      matrix.element != type.getElementType())
    return "a factor is converted to another type";
  auto get = operand->get().getDefiningOp<GetOp>();
  if (!get || !get.getRing().getDefiningOp<RingOp>())
    return "a factor is no tile of a ring";
  if (!operand->get().hasOneUse())
    return "a tile is read by more than the contraction";
  SmallVector<unsigned> dims = getLongDims(type);
  if (dims.size() != 2 || !type.getLayout().isIdentity())
    return "a tile has not two dimensions";
  factor.tile = cast<OpResult>(operand->get());
  AffineMap map = contraction.getMap(operand);
  bool isAlongSum =
      contraction.sums.find(Contraction::getLoop(map, dims[1])).has_value();
  factor.isTransposed = isLhs != isAlongSum;
  factor.isUnsigned = matrix.type == NVVM::MMATypes::u8;
  int64_t bytes = getElementBytes(operand->get());
  factor.layout =
      TileLayoutAttr::getSwizzled(type.getContext(), type.getDimSize(dims[0]),
                                  type.getDimSize(dims[1]), bytes);
  if (!factor.layout || factor.layout.getRows() % kCellSize != 0)
    return "a tile does not consist of rows of 32, 64 or 128 bytes";
  constexpr int64_t kWidestBytes = 128;
  bool isWide =
      bytes == 2 && factor.layout.getSwizzleBytes(bytes) == kWidestBytes;
  if (!isAlongSum && !isWide)
    return "the steps of the sum are not contiguous in a tile whose elements "
           "are not of 16 bits, or whose rows are not of 128 bytes";
  return "";
}

static bool haveGroupProduct(const MatrixForm &form, Type sum) {
  using NVVM::MMATypes;
  auto isInteger = [](MMATypes type) {
    return type == MMATypes::s8 || type == MMATypes::u8;
  };
  if (sum.isInteger(32))
    return isInteger(form.lhs.type) && isInteger(form.rhs.type);
  if (!sum.isF32())
    return false;
  auto isNarrow = [](MMATypes type) {
    return type == MMATypes::e4m3 || type == MMATypes::e5m2;
  };
  if (isNarrow(form.lhs.type) && isNarrow(form.rhs.type))
    return true;
  return form.lhs.type == form.rhs.type &&
         (form.lhs.type == MMATypes::f16 || form.lhs.type == MMATypes::bf16);
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// Chooses the tile of a warp. Returns why there is none, or empty.
static std::string chooseTile(Contraction &contraction, int64_t numThreads,
                              ThreadTile &tile) {
  int64_t rows = contraction.rows.getSize();
  int64_t columns = contraction.columns.getSize();
  if (numThreads % kGroupThreads != 0 ||
      rows != numThreads / kGroupThreads * GroupProductOp::kRows)
    return llvm::formatv("{0} threads do not consist of a warp group for each "
                         "64 of {1} rows",
                         numThreads, rows)
        .str();
  constexpr int64_t kMaxColumns = 256, kStepBytes = 32;
  if (columns % kCellSize != 0 || columns > kMaxColumns)
    return llvm::formatv("{0} columns are no multiple of 8 up to 256", columns)
        .str();
  constexpr int64_t kMostOfIntegers = 32;
  if (contraction.combiner->getResult(0).getType().isInteger() &&
      columns > kMostOfIntegers && columns % (2 * kCellSize) != 0)
    return llvm::formatv("{0} columns of integers are no multiple of 16",
                         columns)
        .str();
  int64_t steps = contraction.sums.getSize();
  if (steps * getElementBytes(contraction.lhs->get()) % kStepBytes != 0)
    return llvm::formatv("{0} steps of the sum do not have 32 bytes each",
                         steps)
        .str();
  tile = ThreadTile{2, columns / kGroupWarps};
  tile.columnRun = 2;
  tile.numThreads[0] = kCellSize;
  tile.numThreads[1] = kWarpSize / kCellSize;
  tile.numGroups[0] = numThreads / kWarpSize;
  return "";
}

/// Why TMA cannot fill the tiles of `form`; empty if it can.
static std::string getObstacle(const GroupForm &form, TensorRings &rings) {
  for (const GroupFactor *factor : {&form.lhs, &form.rhs}) {
    RingOp ring = factor->getRing();
    SmallVector<TileLayoutAttr> layouts(
        ring.getRing().getType().getTiles().size());
    for (const GroupFactor *other : {&form.lhs, &form.rhs})
      if (other->getRing() == ring)
        layouts[other->tile.getResultNumber()] = other->layout;
    std::string why = rings.getObstacle(ring, layouts);
    if (!why.empty())
      return "TMA cannot fill a tile: " + why;
  }
  return "";
}

std::optional<GroupForm> chooseGroupForm(Contraction &contraction,
                                         const MatrixForm &matrix,
                                         const Chip &chip, int64_t numThreads,
                                         function_ref<TensorRings &()> getRings,
                                         std::string &why) {
  constexpr unsigned kHopper = 90;
  if (chip.getArchitecture() != kHopper || !chip.isSpecific() ||
      !haveGroupProduct(matrix, contraction.combiner->getResult(0).getType()))
    return std::nullopt;
  GroupForm form;
  why.clear();
  if (contraction.rows.loops.size() != 1 ||
      contraction.columns.loops.size() != 1 ||
      contraction.sums.loops.size() != 1)
    why = "tiles have more than two dimensions";
  if (why.empty())
    why = describeFactor(contraction, matrix.lhs, /*isLhs=*/true, form.lhs);
  if (why.empty())
    why = describeFactor(contraction, matrix.rhs, /*isLhs=*/false, form.rhs);
  if (why.empty())
    why = getObstacle(form, getRings());
  // Last: where tiles are not for warp groups, one of the reasons above may be
  // why.
  if (why.empty())
    why = chooseTile(contraction, numThreads, form.tile);
  return why.empty() ? std::optional(form) : std::nullopt;
}

int64_t chooseNumPending(const GroupForm &form, scf::ForOp loop) {
  constexpr int64_t kLeastSlots = 3;
  for (const GroupFactor *factor : {&form.lhs, &form.rhs}) {
    auto get = cast<GetOp>(factor->tile.getOwner());
    if (get->getParentOp() != loop ||
        get.getRing().getType().getSlots() < kLeastSlots)
      return 0;
  }
  return 1;
}

//===----------------------------------------------------------------------===//
// Apply
//===----------------------------------------------------------------------===//

void applyToRings(RewriterBase &rewriter, const GroupForm &form) {
  for (const GroupFactor *factor : {&form.lhs, &form.rhs}) {
    RingOp ring = factor->getRing();
    SmallVector<TileLayoutAttr> layouts(
        ring.getRing().getType().getTiles().size());
    layouts[factor->tile.getResultNumber()] = factor->layout;
    setLayouts(rewriter, ring, layouts);
    setLag(rewriter, ring, form.numPending);
  }
}

} // namespace mlir::workgroup
