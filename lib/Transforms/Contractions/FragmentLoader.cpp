//===- FragmentLoader.cpp - Matrices from tiles to registers --------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Indices are what the lane contributes, computed once, plus constants, so that
// the addresses of a warp's loads differ by immediates. Lane l of `ldmatrix`
// gives the address of 16 bytes: line l % 8 of cell l / 8. Cells are in the
// order in which an instruction has them in neighbouring registers: of the
// first factor two rows of cells, then those of the next chunk; of the second
// one two chunks, then those of the next row.
//
//===----------------------------------------------------------------------===//

#include "FragmentLoader.h"
#include "VectorBody.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "workgroup/Support/MemorySpace.h"

namespace mlir::workgroup {

FragmentLoader::FragmentLoader(ContractionPart &part, ProductBody &body,
                               const MatrixFactor &factor, int64_t numTiles,
                               int64_t numChunks)
    : part(part), body(body), factor(factor),
      isLhs(factor.operand == part.contraction.lhs),
      group(isLhs ? part.contraction.rows : part.contraction.columns),
      numTiles(numTiles), allChunks(numChunks), mode(chooseMode()),
      rewriter(part.rewriter), loc(part.loc), index(part.index) {
  if (isInRegisters())
    return;
  for (int64_t i : {1, 2})
    for (int64_t j : {1, 2})
      if ((i == 1 ? numTiles % 2 != 0 : numTiles >= 2) &&
          (j == 1 ? numChunks % 2 != 0 : numChunks >= 2))
        lanes[i - 1][j - 1] = makeLanePart(i, j);
}

FragmentLoader::Mode FragmentLoader::chooseMode() {
  if (isPrivateMemory(factor.operand->get().getType()))
    return Mode::Registers;
  Contraction &contraction = part.contraction;
  std::optional<unsigned> loop = getContiguousLoop(contraction, factor.operand);
  int64_t bytes = getElementBytes(factor.operand->get());
  constexpr int64_t kLineBytes = 16, kMaxBytes = 4, kTransposedBytes = 2;
  if (!loop || bytes > kMaxBytes ||
      bytes * 8 != factor.element.getIntOrFloatBitWidth())
    return Mode::Elements;
  int64_t length = kLineBytes / bytes;
  bool isOfSum = *loop == contraction.sums.loops.back();
  bool isOfGroup = *loop == group.loops.back();
  const LoopGroup &along = isOfSum ? contraction.sums : group;
  if ((!isOfSum && !isOfGroup) || along.getLastSize() % length != 0 ||
      getAccessLength(part, factor.operand, length) != length)
    return Mode::Elements;
  if (isOfSum)
    return Mode::Rows;
  return bytes == kTransposedBytes ? Mode::Transposed : Mode::Elements;
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

/// `factor` times the number that the bits of the lane are which count by
/// `divisor` up to `size`.
OpFoldResult FragmentLoader::getField(int64_t divisor, int64_t size,
                                      int64_t factor) {
  auto number = [&](int64_t value) { return rewriter.getIndexAttr(value); };
  OpFoldResult field = index.div(part.getMember(), number(divisor));
  return index.mul(index.rem(field, number(size)), number(factor));
}

/// What lanes contribute to accesses to `numTiles` rows of cells, for
/// `numChunks` chunks.
FragmentLoader::LanePart FragmentLoader::makeLanePart(int64_t numTiles,
                                                      int64_t numChunks) {
  OpFoldResult zero = rewriter.getIndexAttr(0);
  LanePart lane{zero, zero};
  if (mode == Mode::Elements) {
    lane.outer = getField(4, kCellSize, 1);
    lane.step = getField(1, 4, factor.getWidth());
  } else {
    OpFoldResult line = getField(1, kCellSize, 1);
    OpFoldResult cell = zero;
    if (numTiles == 2)
      cell = getField(kCellSize * (isLhs ? 1 : numChunks), 2, kCellSize);
    OpFoldResult chunk = zero;
    if (numChunks == 2)
      chunk =
          getField(kCellSize * (isLhs ? numTiles : 1), 2, factor.getChunk());
    bool isTransposed = mode == Mode::Transposed;
    lane.outer = isTransposed ? cell : index.add(cell, line);
    lane.step = isTransposed ? index.add(chunk, line) : chunk;
  }
  lane.outer =
      index.add(isLhs ? part.getFirstRow() : part.getFirstColumn(), lane.outer);
  return lane;
}

SmallVector<Value> FragmentLoader::getIndices(OpFoldResult outer,
                                              OpFoldResult step) {
  Contraction &contraction = part.contraction;
  SmallVector<OpFoldResult> ofGroup = part.split(outer, group);
  SmallVector<OpFoldResult> ofSum = part.split(step, contraction.sums);
  AffineMap map = contraction.getMap(factor.operand);
  SmallVector<Value> indices;
  for (unsigned i = 0; i < map.getNumResults(); ++i) {
    unsigned loop = Contraction::getLoop(map, i);
    OpFoldResult at = rewriter.getIndexAttr(0);
    if (std::optional<unsigned> inSum = contraction.sums.find(loop))
      at = ofSum[*inSum];
    else if (std::optional<unsigned> inGroup = group.find(loop))
      at = ofGroup[*inGroup];
    indices.push_back(index.value(at));
  }
  return indices;
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

/// Appends `numTiles` rows of cells, from row `tile` on, for `numChunks`
/// chunks.
void FragmentLoader::loadMatrices(int64_t tile, OpFoldResult step,
                                  int64_t numTiles, int64_t numChunks,
                                  SmallVectorImpl<Value> &cells) {
  const LanePart &lane = lanes[numTiles - 1][numChunks - 1];
  Value memref = factor.operand->get();
  auto type = VectorType::get({numTiles * numChunks, factor.getWidth()},
                              getElementTypeOrSelf(memref));
  SmallVector<Value> indices =
      getIndices(index.add(lane.outer, rewriter.getIndexAttr(tile * kCellSize)),
                 index.add(lane.step, step));
  Value loaded = nvgpu::LdMatrixOp::create(
      rewriter, loc, type, memref, indices,
      /*transpose=*/mode == Mode::Transposed, numTiles * numChunks);
  for (int64_t i = 0; i < numTiles; ++i)
    for (int64_t j = 0; j < numChunks; ++j)
      cells.push_back(vector::ExtractOp::create(
          rewriter, loc, loaded, isLhs ? j * numTiles + i : i * numChunks + j));
}

/// The cell of row `tile` for the chunk that begins with `step`.
Value FragmentLoader::loadElements(int64_t tile, OpFoldResult step) {
  Contraction &contraction = part.contraction;
  auto number = [&](int64_t value) { return rewriter.getIndexAttr(value); };
  // That of any number of tiles and chunks.
  LanePart lane = lanes[0][0];
  for (const LanePart &other : {lanes[0][1], lanes[1][0], lanes[1][1]})
    if (!lane.outer)
      lane = other;
  OpFoldResult outer = index.add(lane.outer, number(tile * kCellSize));
  step = index.add(lane.step, step);
  Value memref = factor.operand->get();
  int64_t width = factor.getWidth();
  auto type = VectorType::get({width}, getElementTypeOrSelf(memref));
  bool isAlongSum = getContiguousLoop(contraction, factor.operand) ==
                    contraction.sums.loops.back();
  if (width > 1 && isAlongSum && contraction.sums.getLastSize() % width == 0 &&
      getAccessLength(part, factor.operand, width) == width)
    return vector::LoadOp::create(
        rewriter, loc, type, memref, getIndices(outer, step),
        /*nontemporal=*/false, llvm::Align(width * getElementBytes(memref)));
  SmallVector<Value> elements;
  for (int64_t i = 0; i < width; ++i)
    elements.push_back(memref::LoadOp::create(
        rewriter, loc, memref, getIndices(outer, index.add(step, number(i)))));
  return vector::FromElementsOp::create(rewriter, loc, type, elements);
}

/// `cell` as a vector of `type`, which has all of its values.
Value FragmentLoader::widenElements(Value cell, VectorType type) {
  if (cell.getType() == type)
    return cell;
  if (!isa<IntegerType>(getElementTypeOrSelf(cell)))
    return arith::ExtFOp::create(rewriter, loc, type, cell);
  if (isa<IntegerType>(type.getElementType()))
    return factor.isSigned
               ? arith::ExtSIOp::create(rewriter, loc, type, cell).getResult()
               : arith::ExtUIOp::create(rewriter, loc, type, cell).getResult();
  return factor.isSigned
             ? arith::SIToFPOp::create(rewriter, loc, type, cell).getResult()
             : arith::UIToFPOp::create(rewriter, loc, type, cell).getResult();
}

/// `cell`, of the elements in memory, as the instruction takes it.
Value FragmentLoader::convert(Value cell, const IRMapping &shared) {
  int64_t width = factor.getWidth();
  IRMapping mapping(shared);
  mapping.map(body.getElement(factor.operand), cell);
  for (Operation *op : isLhs ? body.ofLhs : body.ofRhs) {
    if (mapping.contains(factor.value))
      break;
    cloneOnVectors(rewriter, *op, mapping, width);
  }
  cell = mapping.lookup(factor.value);
  auto type = VectorType::get({width}, factor.element);
  cell = widenElements(cell, type);
  if (!factor.isRounded)
    return cell;
  Value element = vector::ExtractOp::create(rewriter, loc, cell, 0);
  Value rounded = NVVM::ConvertFloatToTF32Op::create(
      rewriter, loc, rewriter.getI32Type(), element, NVVM::FPRoundingMode::RNA);
  rounded = arith::BitcastOp::create(rewriter, loc, factor.element, rounded);
  return vector::BroadcastOp::create(rewriter, loc, type, rounded);
}

SmallVector<Value> FragmentLoader::load(OpFoldResult step, int64_t numChunks,
                                        const IRMapping &shared) {
  SmallVector<Value> cells;
  for (int64_t tile = 0; tile < numTiles; ++tile) {
    if (isInRegisters()) {
      int64_t first = *getConstantIntValue(step) / factor.getChunk();
      for (int64_t j = first; j < first + numChunks; ++j)
        cells.push_back(registers[tile * allChunks + j]);
      continue;
    }
    if (mode != Mode::Elements) {
      int64_t count = std::min<int64_t>(numTiles - tile, 2);
      loadMatrices(tile, step, count, numChunks, cells);
      tile += count - 1;
      continue;
    }
    for (int64_t j = 0; j < numChunks; ++j)
      cells.push_back(loadElements(
          tile, index.add(step, rewriter.getIndexAttr(j * factor.getChunk()))));
  }
  for (Value &cell : cells)
    cell = convert(cell, shared);
  return cells;
}

} // namespace mlir::workgroup
