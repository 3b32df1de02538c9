//===- CopyEmitter.cpp - Loads and stores of one copy ---------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CopyEmitter.h"
#include "AccessGrid.h"
#include "CopyAccess.h"
#include "Transforms/Utils/BufferAlignment.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "workgroup/Support/MemorySpace.h"

namespace mlir::workgroup {

namespace {

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
  std::optional<StraightLine>
  planLine(const AccessGrid &grid, OpFoldResult thread, OpFoldResult total) {
    return planStraightLine(index, grid, thread, total, index.numThreads(block),
                            options.unrollLimit);
  }
  SmallVector<Value> emitOrZero(Value condition, TypeRange types,
                                function_ref<SmallVector<Value>()> body);
  void emitLine(const StraightLine &line, int64_t length);
  int64_t emitLoopOfLines(const AccessGrid &grid, OpFoldResult thread,
                          OpFoldResult total);
  void emitForBlock(const AccessGrid &grid);
  void emitForThread();
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

/// Emits all loads before the first store, so that they are in flight together.
void CopyEmitter::emitLine(const StraightLine &line, int64_t length) {
  SmallVector<Value> loaded;
  for (ArrayRef<OpFoldResult> indices : line.accesses) {
    if (access.isAsync(length))
      start(indices, length);
    else
      loaded.push_back(access.load(indices, length));
  }
  for (auto [value, indices] : llvm::zip(loaded, line.accesses))
    access.store(value, indices, length);
}

/// Emits a loop the iterations of which make as many accesses of `thread` as
/// straight-line code may have, for as long as there are so many of `total`.
/// Returns how many all threads have made then.
int64_t CopyEmitter::emitLoopOfLines(const AccessGrid &grid,
                                     OpFoldResult thread, OpFoldResult total) {
  std::optional<int64_t> all = getConstantIntValue(total);
  std::optional<int64_t> threads = getConstantIntValue(index.numThreads(block));
  if (!all || !threads || options.unrollLimit < 2 ||
      access.isAsync(grid.length))
    return 0;
  int64_t each = options.unrollLimit * *threads, done = *all / each * each;
  if (done == 0)
    return 0;
  OpFoldResult step = rewriter.getIndexAttr(each);
  OpBuilder::InsertionGuard guard(rewriter);
  scf::ForOp loop = enterLoop(thread, rewriter.getIndexAttr(done), step);
  emitLine(*planLine(grid, loop.getInductionVar(), step), grid.length);
  return done;
}

/// Spreads the accesses over the threads of the block: thread t does the
/// accesses t, t + n, t + 2n, ...
void CopyEmitter::emitForBlock(const AccessGrid &grid) {
  OpFoldResult total = grid.getTotal(index);
  OpFoldResult thread = index.threadId(block), next = thread;
  std::optional<StraightLine> line = planLine(grid, thread, total);
  if (!line) {
    if (int64_t done = emitLoopOfLines(grid, thread, total)) {
      next = index.add(thread, rewriter.getIndexAttr(done));
      int64_t left = *getConstantIntValue(total) - done;
      line = planLine(grid, next, rewriter.getIndexAttr(left));
    }
  }
  if (!line) {
    OpBuilder::InsertionGuard guard(rewriter);
    scf::ForOp loop = enterLoop(thread, total, index.numThreads(block));
    return move(grid.getIndices(index, loop.getInductionVar()), grid.length);
  }
  emitLine(*line, grid.length);
  if (line->rest != 0)
    emitIf(thread, rewriter.getIndexAttr(line->rest), [&] {
      OpFoldResult last = index.add(next, rewriter.getIndexAttr(line->done));
      move(grid.getIndices(index, last), grid.length);
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
  AccessGrid grid{getCounts(), rewriter.getIndexAttr(0), vectorLength};
  OpFoldResult thread = index.threadId(block);
  std::optional<StraightLine> line =
      planLine(grid, thread, grid.getTotal(index));
  if (!line)
    return false;

  Value hasRest;
  if (line->rest != 0) {
    line->accesses.push_back(grid.getIndices(
        index, index.add(thread, rewriter.getIndexAttr(line->done))));
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
  AccessGrid grid{getCounts(), rewriter.getIndexAttr(0), vectorLength};
  emitForBlock(grid);
  if (leavesRest())
    emitForBlock({{index.rem(shape.extents[0], length)},
                  index.mul(grid.counts[0], length),
                  /*length=*/1});
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
