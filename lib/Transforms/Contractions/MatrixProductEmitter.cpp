//===- MatrixProductEmitter.cpp - The products of a warp ------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two chunks of the sum are a step: their cells are loaded, those of the next
// step before the products of this one if there are registers for both, and
// multiplied row by row, to and fro, so that neighbouring products share a
// factor. nvgpu has products of f16, f32 and f64; its sums of integers
// saturate, where those of the body wrap. nvvm has the others, but for floats
// of 8 bits, which LLVM has.
//
//===----------------------------------------------------------------------===//

#include "MatrixProductEmitter.h"
#include "MatrixSums.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::workgroup {

using NVVM::MMATypes;

MatrixProductEmitter::MatrixProductEmitter(ContractionPart &part,
                                           const MatrixForm &form,
                                           bool loadsAhead)
    : part(part), form(form), rewriter(part.rewriter), loc(part.loc),
      index(part.index), body(part.contraction),
      numChunks(part.contraction.sums.getSize() / form.lhs.getChunk()),
      loadsAhead(loadsAhead),
      lhs(part, body, form.lhs, part.tile.rows, numChunks),
      rhs(part, body, form.rhs, part.tile.getNumRuns(), numChunks) {}

/// Rows and columns of instructions.
int64_t MatrixProductEmitter::getNumRows() const {
  return part.tile.rows / form.shape.getRowCells();
}

int64_t MatrixProductEmitter::getNumColumns() const {
  return part.tile.getNumRuns();
}

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

/// True if nvgpu has the product.
static bool isOfNVGPU(const MatrixForm &form) {
  auto isKnown = [](MMATypes type) {
    return llvm::is_contained({MMATypes::f16, MMATypes::tf32, MMATypes::f64},
                              type);
  };
  return isKnown(form.lhs.type) && isKnown(form.rhs.type);
}

/// `cells` as operands of an instruction: one vector for nvgpu, and for nvvm
/// the registers.
SmallVector<Value> MatrixProductEmitter::getRegisters(ArrayRef<Value> cells) {
  if (isOfNVGPU(form))
    return {stackVectors(rewriter, loc, cells)};
  SmallVector<Value> registers;
  auto type = VectorType::get({1}, rewriter.getI32Type());
  for (Value cell : cells) {
    Value word = vector::BitCastOp::create(rewriter, loc, type, cell);
    registers.push_back(vector::ExtractOp::create(rewriter, loc, word, 0));
  }
  return registers;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// True if nvvm's verifier does not know products of `type`.
static bool isNarrow(MMATypes type) {
  return type == MMATypes::e4m3 || type == MMATypes::e5m2;
}

/// The product by LLVM's intrinsic, with sums in f32.
static Value createIntrinsic(RewriterBase &rewriter, Location loc,
                             const MatrixForm &form, ArrayRef<int64_t> extents,
                             Type result, ValueRange registers) {
  std::string name =
      llvm::formatv("llvm.nvvm.mma.m{0}n{1}k{2}.row.col.f32.{3}.{4}.f32",
                    extents[0], extents[1], extents[2],
                    NVVM::stringifyMMATypes(form.lhs.type),
                    NVVM::stringifyMMATypes(form.rhs.type))
          .str();
  return LLVM::CallIntrinsicOp::create(rewriter, loc, result,
                                       rewriter.getStringAttr(name), registers)
      .getResult(0);
}

/// The product of registers by nvvm or LLVM.
static Value createNVVM(RewriterBase &rewriter, Location loc,
                        const MatrixForm &form, ArrayRef<int64_t> extents,
                        ArrayRef<Value> lhs, ArrayRef<Value> rhs, Value sum) {
  auto type = cast<VectorType>(sum.getType());
  int64_t rows = type.getDimSize(0);
  SmallVector<Value> sums;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j : {0, 1})
      sums.push_back(vector::ExtractOp::create(rewriter, loc, sum,
                                               ArrayRef<int64_t>{i, j}));
  SmallVector<Type> types(sums.size(), type.getElementType());
  auto result = LLVM::LLVMStructType::getLiteral(type.getContext(), types);
  std::optional<NVVM::MMAIntOverflow> overflow;
  if (isa<IntegerType>(type.getElementType()))
    overflow = NVVM::MMAIntOverflow::wrapped;
  Value product;
  if (isNarrow(form.lhs.type))
    product = createIntrinsic(rewriter, loc, form, extents, result,
                              llvm::to_vector(llvm::concat<const Value>(
                                  lhs, rhs, ArrayRef<Value>(sums))));
  else
    product = NVVM::MmaOp::create(
        rewriter, loc, result, lhs, rhs, sums, extents, /*b1Op=*/std::nullopt,
        overflow, std::array{form.lhs.type, form.rhs.type},
        std::array{NVVM::MMALayout::row, NVVM::MMALayout::col});
  SmallVector<Value> parts;
  auto pair = VectorType::get({2}, type.getElementType());
  for (int64_t i = 0; i < rows; ++i) {
    SmallVector<Value> elements;
    for (int64_t j : {0, 1})
      elements.push_back(
          LLVM::ExtractValueOp::create(rewriter, loc, product, 2 * i + j));
    parts.push_back(
        vector::FromElementsOp::create(rewriter, loc, pair, elements));
  }
  return stackVectors(rewriter, loc, parts);
}

/// `sum` with the product of the registers of one instruction added.
Value MatrixProductEmitter::multiplyCells(ArrayRef<Value> lhs,
                                          ArrayRef<Value> rhs, Value sum) {
  // The second factor has a cell for each chunk.
  int64_t chunks = rhs.size();
  if (isOfNVGPU(form))
    chunks = cast<VectorType>(rhs.front().getType()).getDimSize(0);
  std::array<int64_t, 3> extents = form.getExtents(chunks);
  if (!isOfNVGPU(form))
    return createNVVM(rewriter, loc, form, extents, lhs, rhs, sum);
  return nvgpu::MmaSyncOp::create(
      rewriter, loc, lhs.front(), rhs.front(), sum, ArrayRef<int64_t>(extents),
      /*tf32Enabled=*/form.lhs.type == MMATypes::tf32);
}

/// Adds to `sums` the product of cells of `numChunks` chunks, by one
/// instruction for each place if there is one for so many.
void MatrixProductEmitter::multiplyChunks(ArrayRef<Value> lhs,
                                          ArrayRef<Value> rhs,
                                          int64_t numChunks,
                                          MutableArrayRef<Value> sums) {
  int64_t numCells = form.shape.getRowCells(), numColumns = getNumColumns();
  int64_t atOnce = numChunks == 2 && form.shape.hasTwo ? 2 : 1;
  for (int64_t chunk = 0; chunk < numChunks; chunk += atOnce) {
    // Chunk by chunk, and from one row to the next.
    auto collect = [&](ArrayRef<Value> cells, int64_t first, int64_t count) {
      SmallVector<Value> registers;
      for (int64_t i = chunk; i < chunk + atOnce; ++i)
        for (int64_t row = first; row < first + count; ++row)
          registers.push_back(cells[row * numChunks + i]);
      return getRegisters(registers);
    };
    SmallVector<SmallVector<Value>> columns;
    for (int64_t j = 0; j < numColumns; ++j)
      columns.push_back(collect(rhs, j, 1));
    for (int64_t i = 0; i < getNumRows(); ++i) {
      SmallVector<Value> row = collect(lhs, i * numCells, numCells);
      for (int64_t at = 0; at < numColumns; ++at) {
        int64_t j = i % 2 == 0 ? at : numColumns - 1 - at;
        Value &sum = sums[i * numColumns + j];
        sum = multiplyCells(row, columns[j], sum);
      }
    }
  }
}

/// Adds the products of `numChunks` chunks, the first step of the sum being
/// `first`.
SmallVector<Value> MatrixProductEmitter::multiplySteps(ValueRange sums,
                                                       OpFoldResult first,
                                                       int64_t numChunks) {
  SmallVector<Value> results(sums), ofLhs, ofRhs;
  auto load = [&](int64_t chunk) {
    if (chunk >= numChunks)
      return;
    int64_t count = std::min<int64_t>(numChunks - chunk, 2);
    OpFoldResult step =
        index.add(first, rewriter.getIndexAttr(chunk * form.lhs.getChunk()));
    ofLhs = lhs.load(step, count, shared);
    ofRhs = rhs.load(step, count, shared);
  };
  load(0);
  for (int64_t chunk = 0; chunk < numChunks; chunk += 2) {
    SmallVector<Value> left = ofLhs, right = ofRhs;
    if (loadsAhead)
      load(chunk + 2);
    multiplyChunks(left, right, std::min<int64_t>(numChunks - chunk, 2),
                   results);
    if (!loadsAhead)
      load(chunk + 2);
  }
  return results;
}

SmallVector<Value> MatrixProductEmitter::multiply(ValueRange sums,
                                                  ArrayRef<Value> cells) {
  lhs.setCells(SmallVector<Value>(cells));
  shared = body.computeShared(rewriter);
  int64_t numCells = form.shape.getRowCells(), numColumns = getNumColumns();
  SmallVector<Value> packed =
      packSums(rewriter, loc, sums, numCells, numColumns);
  // More would not fit into the cache of instructions.
  constexpr int64_t kMaxProducts = 512;
  int64_t perStep = getNumRows() * getNumColumns();
  int64_t unrolled = std::max<int64_t>(kMaxProducts / perStep, 1) * 2;
  if (numChunks <= unrolled || numChunks % 2 != 0 || lhs.isInRegisters()) {
    packed = multiplySteps(packed, rewriter.getIndexAttr(0), numChunks);
    return unpackSums(rewriter, loc, packed, numCells, numColumns);
  }
  while (numChunks % unrolled != 0)
    unrolled -= 2;
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  };
  int64_t chunk = form.lhs.getChunk();
  auto loop =
      scf::ForOp::create(rewriter, loc, number(0), number(numChunks * chunk),
                         number(unrolled * chunk), packed);
  {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(loop.getBody());
    packed = multiplySteps(loop.getRegionIterArgs(), loop.getInductionVar(),
                           unrolled);
    scf::YieldOp::create(rewriter, loc, packed);
  }
  return unpackSums(rewriter, loc, loop.getResults(), numCells, numColumns);
}

} // namespace mlir::workgroup
