//===- CopyEmitter.cpp - Loads and stores of one copy ---------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CopyEmitter.h"
#include "CopyAccess.h"
#include "Transforms/Utils/BufferAlignment.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "workgroup/Support/MemorySpace.h"

namespace mlir::workgroup {

namespace {

/// The accesses that every thread makes, and how many of the first threads make
/// one more, after that many of all threads.
struct StraightLine {
  SmallVector<SmallVector<OpFoldResult>> accesses;
  int64_t done = 0, rest = 0;
};

/// The knowledge that is asked of the alignment of an operand: that it is
/// proved, that it may be what it takes, or nothing.
enum class Known { Proved, Possible, Any };

/// One copy on its way to loads and stores.
class CopyEmitter {
public:
  CopyEmitter(RewriterBase &rewriter, const Copy &copy,
              AlignmentAnalysis &alignment, const LowerCopiesOptions &options)
      : rewriter(rewriter), index{rewriter, copy.op->getLoc()}, copy(copy),
        alignment(alignment), options(options), loc(copy.op->getLoc()) {}

  EmittedCopy emit();
  bool isAsync();
  bool emitStaged(Value condition, Operation *storesBefore);

private:
  void makeShape(bool makesViews = true);

  // Width.
  bool isVectorizable();
  int64_t getVectorLength(Known ofSource, Known ofTarget);
  bool isAligned(Value memref, Value original, int64_t length, Known known);
  void chooseVectorLength();
  /// True if elements are left over after accesses of `vectorLength`.
  bool leavesRest() {
    return vectorLength > 1 && shape.extents.size() == 1 &&
           alignment.getDivisor(shape.extents[0]) % vectorLength != 0;
  }
  void raiseBuffer(Value memref, int64_t bytes);

  // Emission.
  SmallVector<OpFoldResult> getCounts();
  OpFoldResult getTotal(ArrayRef<OpFoldResult> counts) {
    OpFoldResult total = rewriter.getIndexAttr(1);
    for (OpFoldResult count : counts)
      total = index.mul(total, count);
    return total;
  }
  std::optional<StraightLine>
  planStraightLine(OpFoldResult thread, OpFoldResult total,
                   OpFoldResult numThreads, ArrayRef<OpFoldResult> counts,
                   OpFoldResult first, int64_t length);
  SmallVector<Value> emitOrZero(Value condition, TypeRange types,
                                function_ref<SmallVector<Value>()> body);
  void emitForBlock(OpFoldResult first, ArrayRef<OpFoldResult> counts,
                    int64_t length);
  void emitForThread();
  SmallVector<OpFoldResult> getIndices(OpFoldResult linear, OpFoldResult first,
                                       ArrayRef<OpFoldResult> counts,
                                       int64_t length);
  void start(ArrayRef<OpFoldResult> indices, int64_t length);
  void move(ArrayRef<OpFoldResult> indices, int64_t length) {
    if (access.isAsync(length))
      return start(indices, length);
    access.store(access.load(indices, length), indices, length);
  }
  void emitIf(OpFoldResult lhs, OpFoldResult rhs, function_ref<void()> body);
  scf::ForOp enterLoop(OpFoldResult from, OpFoldResult to, OpFoldResult step);

  int64_t getBytes(Value memref) { return access.getBytes(memref); }

  RewriterBase &rewriter;
  IndexBuilder index;
  const Copy &copy;
  AlignmentAnalysis &alignment;
  const LowerCopiesOptions &options;
  Location loc;

  CopyShape shape;
  CopyAccess access{rewriter, copy, shape, options};
  BlockShape block = getBlockShape(getExecutionScope(copy.op));
  EmittedCopy emitted;
  /// Elements per access; the innermost extent need not be a multiple of it if
  /// the copy has one dimension.
  int64_t vectorLength = 1;
};

} // namespace

//===----------------------------------------------------------------------===//
// Width
//===----------------------------------------------------------------------===//

bool CopyEmitter::isVectorizable() {
  if (shape.extents.empty())
    return false;
  for (MemRefType type : {shape.sourceType, shape.targetType})
    if (!hasDenseElements(type) || getStrides(type).back() != 1)
      return false;
  return !copy.payload ||
         llvm::all_of(copy.payload->front().without_terminator(),
                      [](Operation &op) {
                        return OpTrait::hasElementwiseMappableTraits(&op) &&
                               op.getNumResults() == 1;
                      });
}

/// True if rows of a memref of `type` begin at multiples of `length` elements,
/// as seen from its first element.
static bool hasAlignedRows(MemRefType type, int64_t length) {
  SmallVector<int64_t> strides = getStrides(type);
  return llvm::all_of(ArrayRef(strides).drop_back(), [&](int64_t stride) {
    return !ShapedType::isDynamic(stride) && stride % length == 0;
  });
}

/// True if `original`, of which `memref` is the simple form, is as well aligned
/// as accesses of `length` elements need.
bool CopyEmitter::isAligned(Value memref, Value original, int64_t length,
                            Known known) {
  int64_t bytes = length * getBytes(memref);
  if (known == Known::Any || alignment.getAlignment(original) >= bytes)
    return true;
  return known == Known::Possible &&
         getConstantOffset(original).value_or(0) % bytes == 0;
}

/// The largest number of elements per access that the shape and what is asked
/// of the alignment of the two sides allow.
int64_t CopyEmitter::getVectorLength(Known ofSource, Known ofTarget) {
  if (!isVectorizable())
    return 1;
  int64_t bytes = std::max(getBytes(shape.source), getBytes(shape.target));
  std::optional<int64_t> inner = getConstantIntValue(shape.extents.back());
  for (int64_t length = options.vectorBytes / bytes; length > 1; length /= 2) {
    // One dimension may leave a rest, which is copied by elements.
    bool fits = shape.extents.size() == 1 && !copy.gather
                    ? !inner || *inner >= length
                    : alignment.getDivisor(shape.extents.back()) % length == 0;
    if (fits && access.hasRuns(length) &&
        hasAlignedRows(shape.sourceType, length) &&
        hasAlignedRows(shape.targetType, length) &&
        isAligned(shape.source, copy.source, length, ofSource) &&
        isAligned(shape.target, copy.target, length, ofTarget))
      return length;
  }
  return 1;
}

void CopyEmitter::raiseBuffer(Value memref, int64_t bytes) {
  if (Value buffer = getRaisableBuffer(memref, alignment.getAnchor()))
    raiseAlignment(buffer, bytes);
}

void CopyEmitter::chooseVectorLength() {
  vectorLength = getVectorLength(Known::Proved, Known::Proved);
  if (vectorLength > 1)
    for (Value memref : {shape.source, shape.target})
      raiseBuffer(memref, vectorLength * getBytes(memref));

  int64_t bytes = std::max(getBytes(shape.source), getBytes(shape.target));
  emitted.accessBytes = vectorLength * bytes;
  // First what somebody could state, then what nobody can change.
  StringRef *limited = &emitted.unaligned;
  Known strict = Known::Proved, lax = Known::Possible;
  if (getVectorLength(lax, lax) == vectorLength) {
    limited = &emitted.misplaced;
    strict = Known::Possible;
    lax = Known::Any;
  }
  int64_t possible = getVectorLength(lax, lax);
  emitted.possibleBytes = possible * bytes;
  if (possible == vectorLength)
    return;
  *limited = getVectorLength(lax, strict) == possible   ? "source"
             : getVectorLength(strict, lax) == possible ? "target"
                                                        : "operands";
}

//===----------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------===//

/// Begins to copy `length` elements.
void CopyEmitter::start(ArrayRef<OpFoldResult> indices, int64_t length) {
  Value token = access.start(indices, length);
  emitted.isAsync = true;
  if (token.getParentBlock() == copy.op->getBlock())
    emitted.tokens.push_back(token);
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

/// The accesses of `thread` as straight-line code; nothing if they are too many
/// or their number, `total` for `numThreads` threads, is not known.
std::optional<StraightLine> CopyEmitter::planStraightLine(
    OpFoldResult thread, OpFoldResult total, OpFoldResult numThreads,
    ArrayRef<OpFoldResult> counts, OpFoldResult first, int64_t length) {
  std::optional<int64_t> all = getConstantIntValue(total);
  std::optional<int64_t> threads = getConstantIntValue(numThreads);
  if (!all || !threads ||
      llvm::divideCeil(*all, *threads) >
          static_cast<uint64_t>(options.unrollLimit))
    return std::nullopt;
  StraightLine line;
  int64_t numFull = *all / *threads;
  int64_t rowLength =
      counts.empty() ? 1 : *all / *getConstantIntValue(counts[0]);
  for (int64_t i = 0; i < numFull; ++i) {
    int64_t ahead = i * *threads;
    if (i == 0 || ahead % rowLength != 0) {
      line.accesses.push_back(
          getIndices(index.add(thread, rewriter.getIndexAttr(ahead)), first,
                     counts, length));
      continue;
    }
    // Whole rows further: the same place in the row.
    int64_t rows = ahead / rowLength * (counts.size() == 1 ? length : 1);
    line.accesses.push_back(line.accesses.front());
    line.accesses.back().front() =
        index.add(line.accesses.front().front(), rewriter.getIndexAttr(rows));
  }
  line.done = numFull * *threads;
  line.rest = *all - line.done;
  return line;
}

/// Spreads the accesses over the threads of the block: thread t does the
/// accesses t, t + n, t + 2n, ...
void CopyEmitter::emitForBlock(OpFoldResult first,
                               ArrayRef<OpFoldResult> counts, int64_t length) {
  OpFoldResult total = getTotal(counts);
  OpFoldResult numThreads = index.numThreads(block);
  OpFoldResult thread = index.threadId(block);
  auto at = [&](OpFoldResult linear) {
    return getIndices(linear, first, counts, length);
  };
  std::optional<StraightLine> line =
      planStraightLine(thread, total, numThreads, counts, first, length);
  if (!line) {
    OpBuilder::InsertionGuard guard(rewriter);
    scf::ForOp loop = enterLoop(thread, total, numThreads);
    return move(at(loop.getInductionVar()), length);
  }
  // All loads before the first store, so that they are in flight together.
  SmallVector<Value> loaded;
  for (ArrayRef<OpFoldResult> indices : line->accesses) {
    if (access.isAsync(length))
      start(indices, length);
    else
      loaded.push_back(access.load(indices, length));
  }
  for (auto [value, indices] : llvm::zip(loaded, line->accesses))
    access.store(value, indices, length);
  if (line->rest != 0)
    emitIf(thread, rewriter.getIndexAttr(line->rest), [&] {
      move(at(index.add(thread, rewriter.getIndexAttr(line->done))), length);
    });
}

/// Emits `body`, which yields values of `types`, under `condition`, and zeros
/// in their place elsewhere. Without a condition there is no branch.
SmallVector<Value>
CopyEmitter::emitOrZero(Value condition, TypeRange types,
                        function_ref<SmallVector<Value>()> body) {
  if (!condition)
    return body();
  auto branch = scf::IfOp::create(rewriter, loc, types, condition,
                                  /*withElseRegion=*/!types.empty());
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(branch.thenBlock());
  SmallVector<Value> values = body();
  if (types.empty()) // has its terminator
    return {};
  scf::YieldOp::create(rewriter, loc, values);
  rewriter.setInsertionPointToStart(branch.elseBlock());
  SmallVector<Value> zeros;
  for (Type type : types)
    zeros.push_back(arith::ConstantOp::create(
        rewriter, loc, cast<TypedAttr>(rewriter.getZeroAttr(type))));
  scf::YieldOp::create(rewriter, loc, zeros);
  return branch.getResults();
}

bool CopyEmitter::isAsync() {
  makeShape(/*makesViews=*/false);
  return !shape.isEmpty() &&
         access.isAsync(getVectorLength(Known::Proved, Known::Proved));
}

bool CopyEmitter::emitStaged(Value condition, Operation *storesBefore) {
  rewriter.setInsertionPoint(copy.op);
  makeShape();
  if (shape.isEmpty())
    return true;
  chooseVectorLength();
  // Values that are not loaded have to be something.
  if (access.isAsync(vectorLength) || leavesRest() || copy.isPadded ||
      !rewriter.getZeroAttr(shape.targetType.getElementType()))
    return false;
  OpFoldResult zero = rewriter.getIndexAttr(0);
  SmallVector<OpFoldResult> counts = getCounts();
  OpFoldResult thread = index.threadId(block);
  std::optional<StraightLine> line =
      planStraightLine(thread, getTotal(counts), index.numThreads(block),
                       counts, zero, vectorLength);
  if (!line)
    return false;

  Value hasRest;
  if (line->rest != 0) {
    line->accesses.push_back(
        getIndices(index.add(thread, rewriter.getIndexAttr(line->done)), zero,
                   counts, vectorLength));
    Value id = index.value(thread);
    hasRest =
        arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ult, id,
                              index.value(rewriter.getIndexAttr(line->rest)));
  }
  auto isLast = [&](size_t i) { return i + 1 == line->accesses.size(); };
  Type element = shape.targetType.getElementType();
  Type type =
      vectorLength == 1 ? element : VectorType::get({vectorLength}, element);
  SmallVector<Type> types(line->accesses.size(), type);
  SmallVector<Value> values = emitOrZero(condition, types, [&] {
    SmallVector<Value> loaded;
    for (auto [i, indices] : llvm::enumerate(line->accesses))
      llvm::append_range(
          loaded, emitOrZero(isLast(i) ? hasRest : Value(), type, [&] {
            return SmallVector<Value>{access.load(indices, vectorLength)};
          }));
    return loaded;
  });

  rewriter.setInsertionPoint(storesBefore);
  emitOrZero(condition, {}, [&] {
    for (auto [i, indices] : llvm::enumerate(line->accesses))
      emitOrZero(isLast(i) ? hasRest : Value(), {}, [&] {
        access.store(values[i], indices, vectorLength);
        return SmallVector<Value>();
      });
    return SmallVector<Value>();
  });
  return true;
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

void CopyEmitter::makeShape(bool makesViews) {
  if (copy.isPadded || copy.gather) {
    // What is in the source and what is not is known in its own dimensions.
    shape = {copy.source, copy.target,
             memref::getMixedSizes(rewriter, loc, copy.target)};
    return;
  }
  bool followTarget = getMemorySpace(copy.target) == MemorySpace::Global &&
                      getMemorySpace(copy.source) != MemorySpace::Global;
  shape = simplifyCopy(rewriter, loc, copy.source, copy.target, followTarget,
                       makesViews);
}

/// The number of accesses along each dimension.
SmallVector<OpFoldResult> CopyEmitter::getCounts() {
  SmallVector<OpFoldResult> counts = shape.extents;
  if (!counts.empty())
    counts.back() =
        index.div(counts.back(), rewriter.getIndexAttr(vectorLength));
  return counts;
}

EmittedCopy CopyEmitter::emit() {
  rewriter.setInsertionPoint(copy.op);
  makeShape();
  if (shape.isEmpty())
    return {};
  chooseVectorLength();
  access.prepare();
  if (!copy.isCooperative) {
    emitForThread();
    return emitted;
  }
  OpFoldResult length = rewriter.getIndexAttr(vectorLength);
  SmallVector<OpFoldResult> counts = getCounts();
  emitForBlock(rewriter.getIndexAttr(0), counts, vectorLength);
  if (leavesRest())
    emitForBlock(index.mul(counts[0], length),
                 {index.rem(shape.extents[0], length)}, /*length=*/1);
  return emitted;
}

bool emitStagedCopy(RewriterBase &rewriter, const Copy &copy,
                    AlignmentAnalysis &alignment,
                    const LowerCopiesOptions &options, Value condition,
                    Operation *storesBefore) {
  return CopyEmitter(rewriter, copy, alignment, options)
      .emitStaged(condition, storesBefore);
}

bool isAsyncCopy(RewriterBase &rewriter, const Copy &copy,
                 AlignmentAnalysis &alignment,
                 const LowerCopiesOptions &options) {
  return CopyEmitter(rewriter, copy, alignment, options).isAsync();
}

EmittedCopy emitCopy(RewriterBase &rewriter, const Copy &copy,
                     AlignmentAnalysis &alignment,
                     const LowerCopiesOptions &options) {
  return CopyEmitter(rewriter, copy, alignment, options).emit();
}

} // namespace mlir::workgroup
