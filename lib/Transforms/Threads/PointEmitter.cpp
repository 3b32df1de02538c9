//===- PointEmitter.cpp - Points of structured operations -----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PointEmitter.h"
#include "Transforms/Utils/SumsOfProducts.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "workgroup/Support/MemorySpace.h"

namespace mlir::workgroup {

SmallVector<unsigned> getSharedLoops(linalg::LinalgOp op) {
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  SmallVector<unsigned> shared;
  auto indexes = [](AffineMap map, unsigned loop) {
    return llvm::any_of(map.getResults(), [&](AffineExpr index) {
      auto dim = dyn_cast<AffineDimExpr>(index);
      return dim && dim.getPosition() == loop;
    });
  };
  SmallVector<AffineMap> maps;
  for (OpOperand &init : op.getDpsInitsMutable())
    maps.push_back(op.getMatchingIndexingMap(&init));
  for (AffineExpr index : maps.front().getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(index);
    unsigned loop = dim ? dim.getPosition() : 0;
    if (dim && kinds[loop] == utils::IteratorType::parallel &&
        !llvm::is_contained(shared, loop) &&
        llvm::all_of(maps, [&](AffineMap map) { return indexes(map, loop); }))
      shared.push_back(loop);
  }
  return shared;
}

LaneAccess getLaneAccess(linalg::LinalgOp op, OpOperand &operand,
                         unsigned loop) {
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  AffineMap map = op.getMatchingIndexingMap(&operand);
  if (!type || !map.isFunctionOfDim(loop))
    return LaneAccess::Same;
  auto last = dyn_cast<AffineDimExpr>(map.getResults().back());
  bool isAlongRows =
      last && last.getPosition() == loop &&
      llvm::none_of(map.getResults().drop_back(), [&](AffineExpr index) {
        return index.isFunctionOfDim(loop);
      });
  return isAlongRows && type.isLastDimUnitStride() ? LaneAccess::Contiguous
                                                   : LaneAccess::Scattered;
}

Value PointEmitter::getLoop(unsigned loop, int64_t lane) {
  if (lane == 0 || loop != vectorLoop)
    return ivs[loop];
  Value offset = arith::ConstantIndexOp::create(builder, getLoc(), lane);
  return arith::AddIOp::create(builder, getLoc(), ivs[loop], offset);
}

/// True if a thread has some elements of `operand` for itself.
bool PointEmitter::isPrivate(OpOperand &operand) const {
  return privateElement && isPrivateMemory(operand.get().getType());
}

SmallVector<Value> PointEmitter::getIndices(OpOperand &operand, int64_t lane) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  SmallVector<OpFoldResult> operands = getAsOpFoldResult(ivs);
  if (isPrivate(operand))
    operands[vectorLoop] = builder.getIndexAttr(*privateElement);
  AffineExpr vectorDim = builder.getAffineDimExpr(vectorLoop);
  SmallVector<Value> indices;
  for (AffineExpr index : map.getResults()) {
    AffineExpr shifted = index.replace(vectorDim, vectorDim + lane);
    AffineMap single = AffineMap::get(map.getNumDims(), 0, shifted);
    indices.push_back(getValueOrCreateConstantIndexOp(
        builder, getLoc(),
        affine::makeComposedFoldedAffineApply(builder, getLoc(), single,
                                              operands)));
  }
  return indices;
}

VectorType PointEmitter::getVectorType(Type element) const {
  return VectorType::get({length}, element);
}

/// The bytes of an access, which is what it is aligned to.
static llvm::Align getAlignment(VectorType type) {
  return llvm::Align(type.getNumElements() * type.getElementTypeBitWidth() / 8);
}

/// What each point reads of `operand`.
SmallVector<Value> PointEmitter::load(OpOperand &operand) {
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  if (!type)
    return SmallVector<Value>(length, operand.get());
  LaneAccess access = getLaneAccess(op, operand, vectorLoop);
  SmallVector<Value> values;
  if (length > 1 && access == LaneAccess::Contiguous && !isPrivate(operand)) {
    VectorType vector = getVectorType(type.getElementType());
    Value loaded = vector::LoadOp::create(
        builder, getLoc(), vector, operand.get(), getIndices(operand, 0),
        /*nontemporal=*/false, getAlignment(vector));
    for (int64_t lane = 0; lane < length; ++lane)
      values.push_back(
          vector::ExtractOp::create(builder, getLoc(), loaded, lane));
    return values;
  }
  for (int64_t lane = 0; lane < length; ++lane)
    values.push_back(lane > 0 && access == LaneAccess::Same
                         ? values.front()
                         : memref::LoadOp::create(builder, getLoc(),
                                                  operand.get(),
                                                  getIndices(operand, lane)));
  return values;
}

void PointEmitter::store(OpOperand &operand, ArrayRef<Value> values) {
  if (length > 1 && !isPrivate(operand) &&
      getLaneAccess(op, operand, vectorLoop) == LaneAccess::Contiguous) {
    VectorType vector = getVectorType(values.front().getType());
    Value stored =
        vector::FromElementsOp::create(builder, getLoc(), vector, values);
    vector::StoreOp::create(builder, getLoc(), stored, operand.get(),
                            getIndices(operand, 0), /*nontemporal=*/false,
                            getAlignment(vector));
    return;
  }
  for (auto [lane, value] : llvm::enumerate(values))
    memref::StoreOp::create(builder, getLoc(), value, operand.get(),
                            getIndices(operand, lane));
}

Value PointEmitter::getStart(unsigned number) {
  OpOperand &init = *op.getDpsInitOperand(number);
  if (starts[number])
    return starts[number];
  return memref::LoadOp::create(builder, getLoc(), init.get(),
                                getIndices(init, 0));
}

void PointEmitter::storeResult(unsigned number, Value value) {
  OpOperand &init = *op.getDpsInitOperand(number);
  memref::StoreOp::create(builder, getLoc(), value, init.get(),
                          getIndices(init, 0));
}

/// What the body makes of `arguments` at point `lane`.
SmallVector<Value> PointEmitter::cloneBody(ArrayRef<Value> arguments,
                                           int64_t lane) {
  Block *body = op.getBlock();
  IRMapping mapping;
  for (auto [argument, value] : llvm::zip(body->getArguments(), arguments))
    if (value)
      mapping.map(argument, value);
  for (Operation &inner : body->without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
      mapping.map(index.getResult(), getLoop(index.getDim(), lane));
      continue;
    }
    if (isAddedProduct(op, &inner))
      continue;
    if (arith::MulFOp product = getAddedProduct(op, &inner)) {
      mapping.map(inner.getResult(0),
                  createMultiplyAdd(builder, &inner, product, mapping));
      continue;
    }
    Operation *cloned = builder.clone(inner, mapping);
    SmallVector<linalg::IndexOp> nested;
    cloned->walk([&](linalg::IndexOp index) { nested.push_back(index); });
    for (linalg::IndexOp index : nested) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPoint(index);
      index.replaceAllUsesWith(getLoop(index.getDim(), lane));
      index.erase();
    }
  }
  SmallVector<Value> results;
  for (Value result : body->getTerminator()->getOperands())
    results.push_back(mapping.lookupOrDefault(result));
  return results;
}

LaneValues PointEmitter::loadInputs() {
  LaneValues inputs;
  for (OpOperand *input : op.getDpsInputOperands())
    inputs.push_back(op.payloadUsesValueFromOperand(input)
                         ? load(*input)
                         : SmallVector<Value>(length));
  return inputs;
}

LaneValues PointEmitter::emitBody(const LaneValues &results) {
  LaneValues inputs = loadInputs(), after(results.size());
  for (int64_t lane = 0; lane < length; ++lane) {
    SmallVector<Value> arguments;
    for (const LaneValues *values : {&std::as_const(inputs), &results})
      for (const SmallVector<Value> &ofLanes : *values)
        arguments.push_back(ofLanes[lane]);
    for (auto [values, value] :
         llvm::zip_equal(after, cloneBody(arguments, lane)))
      values.push_back(value);
  }
  return after;
}

/// Goes through `loops`, the outermost first.
LaneValues PointEmitter::emitLoops(ArrayRef<unsigned> loops,
                                   const LaneValues &results) {
  if (loops.empty())
    return emitIteration(results);
  auto toValue = [&](OpFoldResult index) {
    return getValueOrCreateConstantIndexOp(builder, getLoc(), index);
  };
  Value from = toValue(builder.getIndexAttr(0));
  Value to = toValue(extents[loops.front()]);
  Value step = toValue(builder.getIndexAttr(1));
  SmallVector<Value> carried;
  for (const SmallVector<Value> &values : results)
    llvm::append_range(carried, values);
  auto unflatten = [&](ValueRange flat) {
    LaneValues values;
    for (size_t number = 0; number < results.size(); ++number)
      values.push_back(llvm::to_vector(flat.slice(number * length, length)));
    return values;
  };
  auto loop = scf::ForOp::create(builder, getLoc(), from, to, step, carried);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  ivs[loops.front()] = loop.getInductionVar();
  LaneValues after =
      emitLoops(loops.drop_front(), unflatten(loop.getRegionIterArgs()));
  SmallVector<Value> yielded;
  for (const SmallVector<Value> &values : after)
    llvm::append_range(yielded, values);
  if (!yielded.empty()) // else there is one already
    scf::YieldOp::create(builder, getLoc(), yielded);
  return unflatten(loop.getResults());
}

/// True if result `number` is one element for all iterations of the loops that
/// have no value yet.
bool PointEmitter::isCarried(unsigned number) {
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(number));
  for (auto [loop, value] : llvm::enumerate(ivs))
    if (!value && map.isFunctionOfDim(loop))
      return false;
  return true;
}

void PointEmitter::emit() {
  SmallVector<unsigned> serial;
  for (auto [loop, value] : llvm::enumerate(ivs))
    if (!value)
      serial.push_back(loop);
  LaneValues results;
  inner.assign(op.getNumDpsInits(), false);
  for (auto [number, init] : llvm::enumerate(op.getDpsInitsMutable())) {
    if (!isCarried(number)) {
      inner[number] = true;
      continue;
    }
    bool isRead = !serial.empty() || op.payloadUsesValueFromOperand(&init);
    results.push_back(isRead && !starts[number]
                          ? load(init)
                          : SmallVector<Value>(length, starts[number]));
  }
  results = emitLoops(serial, results);
  unsigned next = 0;
  for (auto [number, init] : llvm::enumerate(op.getDpsInitsMutable()))
    if (!inner[number])
      store(init, results[next++]);
}

/// What the body makes of the carried `results`. The others are loaded and
/// stored here.
LaneValues PointEmitter::emitIteration(const LaneValues &results) {
  LaneValues all, carried;
  unsigned next = 0;
  for (auto [number, init] : llvm::enumerate(op.getDpsInitsMutable())) {
    bool isRead = op.payloadUsesValueFromOperand(&init);
    all.push_back(!inner[number] ? results[next++]
                  : isRead       ? load(init)
                                 : SmallVector<Value>(length));
  }
  all = emitBody(all);
  for (auto [number, init] : llvm::enumerate(op.getDpsInitsMutable())) {
    if (inner[number])
      store(init, all[number]);
    else
      carried.push_back(all[number]);
  }
  return carried;
}

} // namespace mlir::workgroup
