//===- CopyEmitter.cpp - Loads and stores of one copy ---------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CopyEmitter.h"
#include "CopyShape.h"
#include "IndexBuilder.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "workgroup/Support/MemorySpace.h"

namespace mlir::workgroup {

/// The most bytes that one cp.async copies, and the only number that may bypass
/// the L1 cache.
static constexpr int64_t kMaxAsyncBytes = 16;

namespace {

/// One copy on its way to loads and stores.
class CopyEmitter {
public:
  CopyEmitter(RewriterBase &rewriter, const Copy &copy,
              AlignmentAnalysis &alignment, const LowerCopiesOptions &options)
      : rewriter(rewriter), index{rewriter, copy.op->getLoc()}, copy(copy),
        alignment(alignment), options(options), loc(copy.op->getLoc()) {}

  EmittedCopy emit();

private:
  // Width.
  bool isVectorizable();
  int64_t getVectorLength(bool useSourceAlignment, bool useTargetAlignment);
  bool isAligned(Value memref, Value original, int64_t length) {
    return alignment.getAlignment(original) >= length * getBytes(memref);
  }
  void chooseVectorLength();
  /// True if elements are left over after accesses of `vectorLength`.
  bool leavesRest() {
    return vectorLength > 1 && shape.extents.size() == 1 &&
           alignment.getDivisor(shape.extents[0]) % vectorLength != 0;
  }
  void raiseBuffer(Value memref, int64_t bytes);

  // Emission.
  void emitForBlock(OpFoldResult first, ArrayRef<OpFoldResult> counts,
                    int64_t length);
  void emitForThread();
  SmallVector<OpFoldResult> getIndices(OpFoldResult linear, OpFoldResult first,
                                       ArrayRef<OpFoldResult> counts,
                                       int64_t length);
  Value applyPayload(Value value, int64_t length);
  Value load(ArrayRef<OpFoldResult> indices, int64_t length);
  void store(Value value, ArrayRef<OpFoldResult> indices, int64_t length);
  /// True if accesses of `length` elements are done by cp.async.
  bool isAsync(int64_t length);
  void startAsync(ArrayRef<OpFoldResult> indices, int64_t length);
  void move(ArrayRef<OpFoldResult> indices, int64_t length) {
    if (isAsync(length))
      return startAsync(indices, length);
    store(load(indices, length), indices, length);
  }
  void emitIf(OpFoldResult lhs, OpFoldResult rhs, function_ref<void()> body);
  scf::ForOp enterLoop(OpFoldResult from, OpFoldResult to, OpFoldResult step);

  int64_t getBytes(Value memref) {
    return getElementBytes(cast<MemRefType>(memref.getType()), copy.op)
        .value_or(0);
  }

  RewriterBase &rewriter;
  IndexBuilder index;
  const Copy &copy;
  AlignmentAnalysis &alignment;
  const LowerCopiesOptions &options;
  Location loc;

  CopyShape shape;
  EmittedCopy emitted;
  /// Elements per access; the innermost extent need not be a multiple of it if
  /// the copy has one dimension.
  int64_t vectorLength = 1;
};

} // namespace

//===----------------------------------------------------------------------===//
// Width
//===----------------------------------------------------------------------===//

/// True if a vector of `type`'s elements occupies the same bytes as the
/// elements one by one.
static bool hasDenseElements(MemRefType type) {
  Type element = type.getElementType();
  if (isa<IndexType>(element))
    return true;
  if (!element.isIntOrFloat())
    return false;
  unsigned width = element.getIntOrFloatBitWidth();
  return width >= 8 && width <= 64 && llvm::isPowerOf2_32(width);
}

bool CopyEmitter::isVectorizable() {
  if (shape.extents.empty())
    return false;
  for (MemRefType type : {shape.getSourceType(), shape.getTargetType()})
    if (!hasDenseElements(type) || getStrides(type).back() != 1)
      return false;
  return !copy.payload ||
         llvm::all_of(copy.payload->front().without_terminator(),
                      [](Operation &op) {
                        return OpTrait::hasElementwiseMappableTraits(&op) &&
                               op.getNumResults() == 1;
                      });
}

/// True if rows of `memref` begin at multiples of `length` elements, as seen
/// from its first element.
static bool hasAlignedRows(Value memref, int64_t length) {
  SmallVector<int64_t> strides = getStrides(cast<MemRefType>(memref.getType()));
  return llvm::all_of(ArrayRef(strides).drop_back(), [&](int64_t stride) {
    return !ShapedType::isDynamic(stride) && stride % length == 0;
  });
}

/// The largest number of elements per access that the shape and, as asked for,
/// the alignment of the two sides allow.
int64_t CopyEmitter::getVectorLength(bool useSourceAlignment,
                                     bool useTargetAlignment) {
  if (!isVectorizable())
    return 1;
  int64_t bytes = std::max(getBytes(shape.source), getBytes(shape.target));
  std::optional<int64_t> inner = getConstantIntValue(shape.extents.back());
  for (int64_t length = options.vectorBytes / bytes; length > 1; length /= 2) {
    // One dimension may leave a rest, which is copied by elements.
    bool fits = shape.extents.size() == 1
                    ? !inner || *inner >= length
                    : alignment.getDivisor(shape.extents.back()) % length == 0;
    if (fits && hasAlignedRows(shape.source, length) &&
        hasAlignedRows(shape.target, length) &&
        (!useSourceAlignment || isAligned(shape.source, copy.source, length)) &&
        (!useTargetAlignment || isAligned(shape.target, copy.target, length)))
      return length;
  }
  return 1;
}

void CopyEmitter::raiseBuffer(Value memref, int64_t bytes) {
  if (Value buffer = getRaisableBuffer(memref, alignment.getAnchor()))
    raiseAlignment(buffer, bytes);
}

void CopyEmitter::chooseVectorLength() {
  vectorLength = getVectorLength(true, true);
  if (vectorLength > 1)
    for (Value memref : {shape.source, shape.target})
      raiseBuffer(memref, vectorLength * getBytes(memref));

  int64_t bytes = std::max(getBytes(shape.source), getBytes(shape.target));
  emitted.accessBytes = vectorLength * bytes;
  int64_t possible = getVectorLength(false, false);
  emitted.possibleBytes = possible * bytes;
  if (possible == vectorLength)
    return;
  emitted.unaligned = getVectorLength(false, true) == possible   ? "source"
                      : getVectorLength(true, false) == possible ? "target"
                                                                 : "operands";
}

//===----------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------===//

/// What becomes of `value`, of one or `length` elements, on its way.
Value CopyEmitter::applyPayload(Value value, int64_t length) {
  if (!copy.payload)
    return value;
  Block &block = copy.payload->front();
  IRMapping mapping;
  mapping.map(block.getArgument(0), value);
  for (Operation &op : block.without_terminator()) {
    Operation *mapped = rewriter.clone(op, mapping);
    mapped->setLoc(loc);
    if (length > 1)
      for (OpResult result : mapped->getResults())
        result.setType(VectorType::get({length}, result.getType()));
  }
  return mapping.lookup(block.getTerminator()->getOperand(0));
}

Value CopyEmitter::load(ArrayRef<OpFoldResult> indices, int64_t length) {
  if (Value value = copy.filling) {
    if (length == 1)
      return value;
    return vector::BroadcastOp::create(
        rewriter, loc, VectorType::get({length}, value.getType()), value);
  }
  SmallVector<Value> values =
      getValueOrCreateConstantIndexOp(rewriter, loc, indices);
  Type element = shape.getSourceType().getElementType();
  Value value;
  if (length == 1)
    value = memref::LoadOp::create(rewriter, loc, shape.source, values);
  else
    value = vector::LoadOp::create(
        rewriter, loc, VectorType::get({length}, element), shape.source, values,
        /*nontemporal=*/false, llvm::Align(length * getBytes(shape.source)));
  return applyPayload(value, length);
}

void CopyEmitter::store(Value value, ArrayRef<OpFoldResult> indices,
                        int64_t length) {
  SmallVector<Value> values =
      getValueOrCreateConstantIndexOp(rewriter, loc, indices);
  if (length == 1)
    memref::StoreOp::create(rewriter, loc, value, shape.target, values);
  else
    vector::StoreOp::create(rewriter, loc, value, shape.target, values,
                            /*nontemporal=*/false,
                            llvm::Align(length * getBytes(shape.target)));
}

bool CopyEmitter::isAsync(int64_t length) {
  if (!copy.mayBeAsync || shape.extents.empty())
    return false;
  for (MemRefType type : {shape.getSourceType(), shape.getTargetType()})
    if (!type.getElementType().isIntOrFloat() || !hasDenseElements(type) ||
        getStrides(type).back() != 1)
      return false;
  int64_t bytes = length * getBytes(shape.target);
  return bytes == 4 || bytes == 8 || bytes == kMaxAsyncBytes;
}

/// Begins to copy `length` elements.
void CopyEmitter::startAsync(ArrayRef<OpFoldResult> indices, int64_t length) {
  SmallVector<Value> values =
      getValueOrCreateConstantIndexOp(rewriter, loc, indices);
  bool bypassesL1 =
      options.bypassL1 && length * getBytes(shape.target) == kMaxAsyncBytes;
  auto started = nvgpu::DeviceAsyncCopyOp::create(
      rewriter, loc, nvgpu::DeviceAsyncTokenType::get(rewriter.getContext()),
      respellWorkgroupMemory(rewriter, loc, shape.target), values, shape.source,
      values, rewriter.getIndexAttr(length),
      /*srcElements=*/Value(),
      bypassesL1 ? rewriter.getUnitAttr() : UnitAttr());
  emitted.isAsync = true;
  if (started->getBlock() == copy.op->getBlock())
    emitted.tokens.push_back(started);
}

/// The indices of access number `linear` of `counts` accesses per dimension, of
/// `length` elements each, from element `first` of the innermost dimension on.
SmallVector<OpFoldResult> CopyEmitter::getIndices(OpFoldResult linear,
                                                  OpFoldResult first,
                                                  ArrayRef<OpFoldResult> counts,
                                                  int64_t length) {
  SmallVector<OpFoldResult> indices(counts.size());
  for (unsigned dim = counts.size(); dim-- > 0;) {
    indices[dim] = dim == 0 ? linear : index.rem(linear, counts[dim]);
    if (dim != 0)
      linear = index.div(linear, counts[dim]);
  }
  if (!indices.empty())
    indices.back() = index.add(
        first, index.mul(indices.back(), rewriter.getIndexAttr(length)));
  return indices;
}

void CopyEmitter::emitIf(OpFoldResult lhs, OpFoldResult rhs,
                         function_ref<void()> body) {
  Value left = index.value(lhs);
  Value right = index.value(rhs);
  Value condition = arith::CmpIOp::create(
      rewriter, loc, arith::CmpIPredicate::ult, left, right);
  auto branch = scf::IfOp::create(rewriter, loc, condition);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(branch.thenBlock());
  body();
}

/// Emits a loop and goes to the start of its body.
scf::ForOp CopyEmitter::enterLoop(OpFoldResult from, OpFoldResult to,
                                  OpFoldResult step) {
  Value lower = index.value(from);
  Value upper = index.value(to);
  Value stride = index.value(step);
  auto loop = scf::ForOp::create(rewriter, loc, lower, upper, stride);
  rewriter.setInsertionPointToStart(loop.getBody());
  return loop;
}

/// Spreads the accesses over the threads of the block: thread t does the
/// accesses t, t + n, t + 2n, ...
void CopyEmitter::emitForBlock(OpFoldResult first,
                               ArrayRef<OpFoldResult> counts, int64_t length) {
  OpFoldResult total = rewriter.getIndexAttr(1);
  for (OpFoldResult count : counts)
    total = index.mul(total, count);
  BlockShape block = getBlockShape(getExecutionScope(copy.op));
  OpFoldResult numThreads = index.numThreads(block);
  OpFoldResult thread = index.threadId(block);
  auto at = [&](OpFoldResult linear) {
    return getIndices(linear, first, counts, length);
  };

  std::optional<int64_t> staticTotal = getConstantIntValue(total);
  std::optional<int64_t> staticThreads = getConstantIntValue(numThreads);
  if (staticTotal && staticThreads &&
      llvm::divideCeil(*staticTotal, *staticThreads) <=
          static_cast<uint64_t>(options.unrollLimit)) {
    // Straight-line code: all loads before the first store, so that they are in
    // flight together.
    int64_t numFull = *staticTotal / *staticThreads;
    int64_t rowLength =
        counts.empty() ? 1 : *staticTotal / *getConstantIntValue(counts[0]);
    SmallVector<SmallVector<OpFoldResult>> indices;
    for (int64_t i = 0; i < numFull; ++i) {
      int64_t ahead = i * *staticThreads;
      if (i == 0 || ahead % rowLength != 0) {
        indices.push_back(at(index.add(thread, rewriter.getIndexAttr(ahead))));
        continue;
      }
      // Whole rows further: the same place in the row.
      int64_t rows = ahead / rowLength * (counts.size() == 1 ? length : 1);
      indices.push_back(indices.front());
      indices.back().front() =
          index.add(indices.front().front(), rewriter.getIndexAttr(rows));
    }
    SmallVector<Value> loaded;
    for (ArrayRef<OpFoldResult> access : indices) {
      if (isAsync(length))
        startAsync(access, length);
      else
        loaded.push_back(load(access, length));
    }
    for (auto [value, access] : llvm::zip(loaded, indices))
      store(value, access, length);
    int64_t done = numFull * *staticThreads;
    if (done < *staticTotal)
      emitIf(thread, rewriter.getIndexAttr(*staticTotal - done), [&] {
        move(at(index.add(thread, rewriter.getIndexAttr(done))), length);
      });
    return;
  }
  OpBuilder::InsertionGuard guard(rewriter);
  scf::ForOp loop = enterLoop(thread, total, numThreads);
  move(at(loop.getInductionVar()), length);
}

/// Every thread visits all elements.
void CopyEmitter::emitForThread() {
  OpBuilder::InsertionGuard guard(rewriter);
  SmallVector<OpFoldResult> indices;
  OpFoldResult zero = rewriter.getIndexAttr(0);
  OpFoldResult one = rewriter.getIndexAttr(1);
  OpFoldResult length = rewriter.getIndexAttr(vectorLength);
  if (shape.extents.size() == 1) {
    OpFoldResult end = index.mul(index.div(shape.extents[0], length), length);
    scf::ForOp loop = enterLoop(zero, end, length);
    move({loop.getInductionVar()}, vectorLength);
    rewriter.setInsertionPointAfter(loop);
    if (leavesRest())
      move({enterLoop(end, shape.extents[0], one).getInductionVar()}, 1);
    return;
  }
  for (auto [dim, extent] : llvm::enumerate(shape.extents)) {
    bool isInner = dim + 1 == shape.extents.size();
    indices.push_back(
        enterLoop(zero, extent, isInner ? length : one).getInductionVar());
  }
  move(indices, vectorLength);
}

EmittedCopy CopyEmitter::emit() {
  rewriter.setInsertionPoint(copy.op);
  bool followTarget = getMemorySpace(copy.target) == MemorySpace::Global &&
                      getMemorySpace(copy.source) != MemorySpace::Global;
  shape = simplifyCopy(rewriter, loc, copy.source, copy.target, followTarget);
  if (shape.isEmpty())
    return {};
  chooseVectorLength();
  if (!copy.isCooperative) {
    emitForThread();
    return emitted;
  }
  OpFoldResult zero = rewriter.getIndexAttr(0);
  OpFoldResult length = rewriter.getIndexAttr(vectorLength);
  SmallVector<OpFoldResult> counts = shape.extents;
  if (!counts.empty())
    counts.back() = index.div(counts.back(), length);
  emitForBlock(zero, counts, vectorLength);
  if (leavesRest())
    emitForBlock(index.mul(counts[0], length),
                 {index.rem(shape.extents[0], length)}, /*length=*/1);
  return emitted;
}

EmittedCopy emitCopy(RewriterBase &rewriter, const Copy &copy,
                     AlignmentAnalysis &alignment,
                     const LowerCopiesOptions &options) {
  return CopyEmitter(rewriter, copy, alignment, options).emit();
}

} // namespace mlir::workgroup
