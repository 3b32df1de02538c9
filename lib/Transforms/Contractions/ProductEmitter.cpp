//===- ProductEmitter.cpp - The products that a thread adds up ------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a thread needs of an operand is loaded by vectors along the operand's
// contiguous dimension: rows or columns, or several steps of the sum at once.
//
//===----------------------------------------------------------------------===//

#include "ProductEmitter.h"
#include "VectorBody.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "workgroup/Target/AccessWidth.h"
#include <numeric>

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// One operand of the products. `at` is a row or a column of the thread.
struct ProductEmitter::Factor {
  OpOperand *operand;
  AffineMap map;
  /// Elements of one access, along the sum or not.
  int64_t length = 1;
  bool isAlongSum = false;
  /// What was loaded, from which element on.
  DenseMap<std::pair<int64_t, int64_t>, Value> loaded{};
};

ProductEmitter::Factor ProductEmitter::makeFactor(OpOperand *operand,
                                                  const LoopGroup &group,
                                                  int64_t run) {
  Factor factor{operand, contraction.getMap(operand)};
  std::optional<unsigned> loop = getContiguousLoop(contraction, operand);
  if (!loop)
    return factor;
  if (*loop == group.loops.back()) {
    factor.length = getAccessLength(part, operand, run);
  } else if (!contraction.sums.empty() &&
             *loop == contraction.sums.loops.back()) {
    factor.isAlongSum = true;
    factor.length = getAccessLength(
        part, operand,
        getRun(std::gcd(getUnrolling(), contraction.sums.getLastSize()),
               kWidestAccessBytes));
  }
  return factor;
}

SmallVector<Value> ProductEmitter::getIndices(const Factor &factor, int64_t at,
                                              int64_t k) {
  OpFoldResult step = rewriter.getIndexAttr(k);
  if (firstStep)
    step = index.add(firstStep, step);
  SmallVector<OpFoldResult> ofSum = part.split(step, contraction.sums);
  SmallVector<Value> indices;
  for (unsigned i = 0; i < factor.map.getNumResults(); ++i) {
    unsigned loop = Contraction::getLoop(factor.map, i);
    std::optional<unsigned> inSum = contraction.sums.find(loop);
    indices.push_back(
        index.value(inSum ? ofSum[*inSum] : part.getIndex(loop, at, at)));
  }
  return indices;
}

Value ProductEmitter::load(const Factor &factor, int64_t at, int64_t k,
                           int64_t length) {
  Value memref = factor.operand->get();
  SmallVector<Value> indices = getIndices(factor, at, k);
  if (length == 1)
    return memref::LoadOp::create(rewriter, loc, memref, indices);
  auto type = VectorType::get({length}, getElementTypeOrSelf(memref));
  return vector::LoadOp::create(rewriter, loc, type, memref, indices,
                                /*nontemporal=*/false,
                                llvm::Align(length * getElementBytes(memref)));
}

Value ProductEmitter::getElement(Factor &factor, int64_t at, int64_t k) {
  int64_t length = factor.length;
  int64_t position = (factor.isAlongSum ? k : at) % length;
  (factor.isAlongSum ? k : at) -= position;
  Value &loaded = factor.loaded[{at, k}];
  if (!loaded)
    loaded = load(factor, at, k, length);
  if (length == 1)
    return loaded;
  return vector::ExtractOp::create(rewriter, loc, loaded, position);
}

/// A run of columns, of which `at` is the first.
Value ProductEmitter::getVector(Factor &factor, int64_t at, int64_t k) {
  int64_t length = tile.columnRun;
  if (!factor.isAlongSum && factor.length == length && length > 1)
    return load(factor, at, k, length);
  SmallVector<Value> elements;
  for (int64_t i = 0; i < length; ++i)
    elements.push_back(getElement(factor, at + i, k));
  auto type = VectorType::get({length}, elements.front().getType());
  return vector::FromElementsOp::create(rewriter, loc, type, elements);
}

//===----------------------------------------------------------------------===//
// The body
//===----------------------------------------------------------------------===//

/// Does `ops`, of the body, on vectors of `length` elements if any operand is
/// one.
void ProductEmitter::apply(ArrayRef<Operation *> ops, IRMapping &mapping,
                           int64_t length) {
  for (Operation *op : ops)
    cloneOnVectors(rewriter, *op, mapping, length);
}

/// A product and its addition to `sum` as one operation; null if the body is
/// another one. f32 and the like are rounded once, which is more exact.
Value ProductEmitter::fuse(IRMapping &mapping, Value sum) {
  auto product = body.ofBoth.size() == 2
                     ? dyn_cast<arith::MulFOp>(body.ofBoth[0])
                     : nullptr;
  if (!product || !isa<arith::AddFOp>(contraction.combiner) ||
      body.ofBoth[1] != contraction.combiner)
    return {};
  auto widenOnce = [&](Value value) {
    Value &wide = widened[value];
    if (!wide)
      wide = widen(rewriter, loc, value, tile.columnRun);
    return wide;
  };
  Value lhs = widenOnce(mapping.lookupOrDefault(product.getLhs()));
  Value rhs = widenOnce(mapping.lookupOrDefault(product.getRhs()));
  return vector::FMAOp::create(rewriter, loc, lhs, rhs, sum);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The number of steps of the sum that are emitted one after the other: all,
/// unless the code would not fit into the cache of instructions.
int64_t ProductEmitter::getUnrolling() {
  constexpr int64_t kMaxProducts = 4096;
  int64_t limit =
      std::max<int64_t>(kMaxProducts / (tile.rows * tile.columns), 1);
  if (contraction.sums.getSize() <= limit)
    return contraction.sums.getSize();
  int64_t size = contraction.sums.getLastSize();
  int64_t steps = std::min(size, limit);
  while (size % steps != 0)
    --steps;
  return steps;
}

SmallVector<Value> ProductEmitter::multiplySteps(ValueRange sums, Value first,
                                                 int64_t numSteps) {
  firstStep = first;
  Factor lhs = makeFactor(contraction.lhs, contraction.rows, tile.rowRun);
  Factor rhs = makeFactor(contraction.rhs, contraction.columns, tile.columnRun);
  SmallVector<Value> results(sums);
  Value ofLhsElement = body.getElement(contraction.lhs);
  Value ofRhsElement = body.getElement(contraction.rhs);
  Value ofSum = contraction.op.getBlock()->getArguments().back();
  for (int64_t k = 0; k < numSteps; ++k) {
    widened.clear();
    SmallVector<IRMapping> rows;
    for (int64_t i = 0; i < tile.rows; ++i) {
      IRMapping &row = rows.emplace_back(constants);
      row.map(ofLhsElement, getElement(lhs, i, k));
      apply(body.ofLhs, row, 1);
    }
    SmallVector<IRMapping> columns;
    for (int64_t j = 0; j < tile.columns; j += tile.columnRun) {
      IRMapping &column = columns.emplace_back(constants);
      column.map(ofRhsElement, getVector(rhs, j, k));
      apply(body.ofRhs, column, tile.columnRun);
    }
    Value *sum = results.begin();
    for (IRMapping &row : rows)
      for (IRMapping &column : columns) {
        IRMapping both = column;
        for (auto [from, to] : row.getValueMap())
          both.map(from, to);
        Value fused = fuse(both, *sum);
        both.map(ofSum, *sum);
        if (!fused)
          apply(body.ofBoth, both, tile.columnRun);
        *sum++ =
            fused ? fused : both.lookup(contraction.combiner->getResult(0));
      }
  }
  firstStep = {};
  return results;
}

SmallVector<Value> ProductEmitter::multiply(ValueRange sums) {
  constants = body.computeShared(rewriter);
  int64_t numSteps = contraction.sums.getSize(), unrolling = getUnrolling();
  if (unrolling == numSteps)
    return multiplySteps(sums, Value(), numSteps);
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  };
  auto loop = scf::ForOp::create(rewriter, loc, number(0), number(numSteps),
                                 number(unrolling), sums);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> results = multiplySteps(loop.getRegionIterArgs(),
                                             loop.getInductionVar(), unrolling);
  scf::YieldOp::create(rewriter, loc, results);
  return loop.getResults();
}

} // namespace mlir::workgroup
