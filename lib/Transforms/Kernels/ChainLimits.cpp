//===- ChainLimits.cpp - Which chains are worth one kernel ----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ChainLimits.h"
#include "workgroup/Target/Chip.h"

namespace mlir::workgroup {

static int64_t getExtent(linalg::LinalgOp op, unsigned loop) {
  return op.getStaticLoopRanges()[loop];
}

static int64_t estimateElementBytes(Value value) {
  Type type = getElementTypeOrSelf(value);
  return type.isIntOrFloat() ? llvm::divideCeil(type.getIntOrFloatBitWidth(), 8)
                             : sizeof(int64_t);
}

/// The bytes of one row of the result of `link`.
static int64_t getResultBytes(const ContractionChain::Link &link) {
  linalg::LinalgOp op = link.op;
  int64_t bytes = estimateElementBytes(op->getResult(0));
  for (auto [loop, row] : llvm::enumerate(link.rows))
    if (!row &&
        op.getIteratorTypesArray()[loop] == utils::IteratorType::parallel)
      bytes *= getExtent(op, loop);
  return bytes;
}

/// True if all is constant that a row goes through before the second
/// contraction.
static bool areKnown(const ContractionChain &chain) {
  return llvm::all_of(chain.links, [](const ContractionChain::Link &link) {
    return llvm::all_of_zip(link.rows,
                            linalg::LinalgOp(link.op).getStaticLoopRanges(),
                            [](std::optional<unsigned> row, int64_t extent) {
                              return row || !ShapedType::isDynamic(extent);
                            });
  });
}

/// Steps along the sums.
static constexpr int64_t kSteps = 16;

/// True if `op` is one of `links`.
template <typename Links>
static bool isLink(const Links &links, Operation *op) {
  return llvm::any_of(links, [&](const auto &link) { return link.op == op; });
}

/// Adds what tiles of the operands of both contractions take, with `columns` of
/// the first result.
static void addOperands(const ContractionChain &chain, int64_t columns,
                        ChainBytes &bytes) {
  for (linalg::LinalgOp op : {chain.first, chain.second}) {
    int64_t width =
        op == chain.first ? columns : getExtent(op, chain.secondColumn);
    int64_t element = std::max(estimateElementBytes(op.getDpsInputs()[0]),
                               estimateElementBytes(op.getDpsInputs()[1]));
    bytes.perRow += kSteps * element;
    bytes.ofTiles += kSteps * element * llvm::alignTo(width, 32);
  }
}

std::optional<ChainBytes> getRowBytes(const ContractionChain &chain) {
  if (!areKnown(chain))
    return std::nullopt;
  // At a time.
  constexpr int64_t kColumns = 128;
  ChainBytes bytes;
  for (const ContractionChain::Link &link : chain.links)
    if (!findReplaced(link.op,
                      [&](Operation *op) { return isLink(chain.links, op); }))
      bytes.perRow += getResultBytes(link);
  // The first result is kept in whole tiles, and rows apart.
  int64_t columns = getExtent(chain.first, chain.firstColumn);
  int64_t padding =
      llvm::alignTo(columns, columns > kColumns ? 64 : 32) - columns;
  bytes.perRow +=
      64 + padding * estimateElementBytes(chain.first->getResult(0));
  addOperands(chain, std::min(kColumns, columns), bytes);
  return bytes;
}

/// The bytes of a row of what `link` reads for the columns at hand, of tensors
/// that are none of the chain.
static int64_t getReadBytes(const ChainStream &stream,
                            const ChainStream::Link &link) {
  int64_t bytes = 0;
  linalg::LinalgOp op = link.op;
  for (OpOperand *input : op.getDpsInputOperands())
    if (!isLink(stream.links, input->get().getDefiningOp()) &&
        isa<TensorType>(input->get().getType()) && link.column &&
        op.getMatchingIndexingMap(input).isFunctionOfDim(*link.column))
      bytes += kStreamColumns * estimateElementBytes(input->get());
  return bytes;
}

/// True if rows and columns fill all tiles.
static bool areWhole(const ContractionChain &chain) {
  int64_t rows = getExtent(chain.second, chain.row);
  int64_t columns = getExtent(chain.first, chain.firstColumn);
  return !ShapedType::isDynamic(rows) && rows % kChainRows == 0 &&
         !ShapedType::isDynamic(columns) && columns % kStreamColumns == 0;
}

/// True if ragged tiles will do: of elements of 32 bits at most.
static bool mayBeRagged(const ContractionChain &chain) {
  constexpr int64_t kMostBytes = 4;
  for (linalg::LinalgOp op : {chain.first, chain.second})
    for (Value factor : op.getDpsInputs())
      if (estimateElementBytes(factor) > kMostBytes)
        return false;
  return true;
}

/// The most sums of the first contraction, and columns of the second.
static constexpr int64_t kMaxChainExtent = 256;

/// True if what both contractions of `chain` multiply is of a type that
/// `isOfType`.
static bool areFactors(const ContractionChain &chain,
                       function_ref<bool(Type)> isOfType) {
  for (linalg::LinalgOp op : {chain.first, chain.second})
    for (Value factor : op.getDpsInputs())
      if (!isOfType(getElementTypeOrSelf(factor)))
        return false;
  return true;
}

bool isForMatrices(const ContractionChain &chain) {
  return areFactors(chain,
                    [](Type type) { return type.isF16() || type.isBF16(); });
}

/// True if blocks of `chip` may have fewer rows of `chain` than matrices have:
/// with a softmax between, they can share the columns. Of 16 bits, the others
/// are zeros; f32 is multiplied row by row, also by factors of 16 bits.
static bool takesFewRows(const ContractionChain &chain, const Chip &chip) {
  // Of fewer sums, or columns, a tile is not filled up to whole matrices.
  constexpr int64_t kLeast = 5;
  bool isLarge = getExtent(chain.first, chain.firstSum) >= kLeast &&
                 getExtent(chain.second, chain.secondColumn) >= kLeast;
  auto isMatrix = [&](Type type) { return chip.hasMatrixProducts(type); };
  auto isInF32 = [](Type type) {
    return type.isF32() || type.isF16() || type.isBF16();
  };
  return hasSoftmax(chain) &&
         ((isLarge && areFactors(chain, isMatrix)) ||
          (!isForMatrices(chain) && areFactors(chain, isInF32)));
}

bool hasFewRows(const ContractionChain &chain) {
  int64_t rows = getExtent(chain.second, chain.row);
  return !ShapedType::isDynamic(rows) && rows > 0 && rows < kChainRows &&
         hasSoftmax(chain);
}

/// The chip of `limits`, whose name has been checked.
static const Chip &getChip(const FormKernelsOptions &limits) {
  const Chip *chip = findChip(limits.chip);
  return chip ? *chip : getDefaultChip();
}

std::optional<ChainBytes> getStreamBytes(const ContractionChain &chain) {
  std::optional<ChainStream> stream = findStream(chain);
  linalg::LinalgOp first = chain.first, second = chain.second;
  int64_t results = getExtent(second, chain.secondColumn);
  int64_t sums = getExtent(first, chain.firstSum);
  if (!stream || ShapedType::isDynamic(results) ||
      ShapedType::isDynamic(sums) || !(mayBeRagged(chain) || areWhole(chain)))
    return std::nullopt;
  // A row apart from the next, and what is carried of it.
  ChainBytes bytes{64};
  for (const ChainStream::Link &link : stream->links) {
    int64_t element = estimateElementBytes(link.op->getResult(0));
    bool isTile = link.role == StreamRole::Columns ||
                  (link.role == StreamRole::Share && !link.steps.empty());
    auto isKept = [&](Operation *op) { return isLink(stream->links, op); };
    if (link.op != first)
      bytes.perRow += getReadBytes(*stream, link);
    if (!isTile)
      bytes.perRow += 2 * element;
    else if (!findReplaced(link.op, isKept))
      bytes.perRow += kStreamColumns * element;
  }
  // Factors that go with columns, and those that go with rows.
  auto getFactorBytes = [](linalg::LinalgOp op) {
    return std::max(estimateElementBytes(op.getDpsInputs()[0]),
                    estimateElementBytes(op.getDpsInputs()[1]));
  };
  bytes.perRow += sums * getFactorBytes(first);
  bytes.ofTiles += kStreamColumns * (sums * getFactorBytes(first) +
                                     results * getFactorBytes(second));
  return bytes;
}

/// True if the least rows of a block, each of `bytes`, have room.
static bool fits(const std::optional<ChainBytes> &bytes, int64_t capacity) {
  return bytes && kChainRows * bytes->perRow + bytes->ofTiles <= capacity;
}

bool mayHaveRow(const ContractionChain &chain,
                const FormKernelsOptions &limits) {
  int64_t columns = getExtent(chain.first, chain.firstColumn);
  return takesFewRows(chain, getChip(limits)) &&
         (ShapedType::isDynamic(columns) || columns > 1) &&
         getExtent(chain.first, chain.firstSum) <= kMaxChainExtent &&
         getExtent(chain.second, chain.secondColumn) <= kMaxChainExtent &&
         fits(getStreamBytes(chain), limits.chainBytes);
}

std::optional<StringRef> getObstacle(const ContractionChain &chain,
                                     const FormKernelsOptions &limits) {
  constexpr int64_t kMuchWork = 1 << 21;
  int64_t rows = getExtent(chain.second, chain.row);
  int64_t columns = getExtent(chain.first, chain.firstColumn);
  int64_t sums = getExtent(chain.first, chain.firstSum);
  int64_t results = getExtent(chain.second, chain.secondColumn);
  std::optional<ChainBytes> whole = getRowBytes(chain);
  bool isFew = hasFewRows(chain) && takesFewRows(chain, getChip(limits));
  bool isShort = !isFew && fits(whole, limits.chainBytes);
  std::optional<ChainBytes> streamed =
      isShort ? std::nullopt : getStreamBytes(chain);
  if (ShapedType::isDynamic(sums) || ShapedType::isDynamic(results) ||
      !(whole || streamed))
    return "the sizes of its rows are not known";
  if ((!ShapedType::isDynamic(columns) && columns < 2) || sums < 2 ||
      results < 2)
    return "its rows are of one element";
  if (sums > kMaxChainExtent || results > kMaxChainExtent)
    return "there is more to do with its rows than to write and read them";
  if (!ShapedType::isDynamic(rows) && rows < kChainRows && !isFew)
    return "there are few rows";
  if (!isShort && !fits(streamed, limits.chainBytes))
    return "its rows and the tiles it multiplies do not fit into memory";
  // Extents that are not known count as much.
  int64_t blocks = 1;
  for (auto [loop, row] : llvm::enumerate(chain.links.front().rows)) {
    int64_t extent = getExtent(chain.first, loop);
    if (row && ShapedType::isDynamic(extent))
      return std::nullopt;
    if (row)
      blocks *=
          *row == chain.row ? llvm::divideCeil(extent, kChainRows) : extent;
  }
  if (blocks < limits.chainBlocks && !isFew &&
      (ShapedType::isDynamic(columns) ||
       kChainRows * columns * (sums + results) > kMuchWork))
    return "few blocks would have much to do";
  return std::nullopt;
}

} // namespace mlir::workgroup
