//===- StoreRing.cpp - Results that TMA stores ----------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A slot has the rows of a warp and as many columns as a row has that TMA
// swizzles, in the order of the swizzle: eight rows of a column of 16 bytes are
// in different banks then, so that lanes write without conflicts.
//
//===----------------------------------------------------------------------===//

#include "StoreRing.h"
#include "MatrixForm.h"
#include "StagedResult.h"
#include "TileLimits.h"
#include "Transforms/Copies/MBarriers.h"
#include "Transforms/Copies/TensorClipping.h"
#include "Transforms/Copies/TensorSwizzle.h"
#include "Transforms/Copies/TensorTransfers.h"
#include "Transforms/Utils/KernelBuffers.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Support/MemorySpace.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::workgroup {

constexpr int64_t kWarpRows = 2 * kCellSize, kRowBytes = 128,
                  kSlotBytes = kWarpRows * kRowBytes, kResultBits = 16,
                  kElementBytes = kResultBits / 8;

Operation *StoreRing::getScope() const {
  return getExecutionScope(part.contraction.op);
}

/// The layout of `rows` rows of the result.
static TileLayoutAttr getLayout(ContractionPart &part, int64_t rows) {
  return TileLayoutAttr::getSwizzled(part.rewriter.getContext(), rows,
                                     part.contraction.columns.getSize(),
                                     kElementBytes);
}

//===----------------------------------------------------------------------===//
// Decide
//===----------------------------------------------------------------------===//

bool StoreRing::isCandidate(const Pointwise &sink) {
  Value output = sink.outputs[0]->get();
  Type element = getElementTypeOrSelf(output);
  return element.isIntOrFloat() &&
         element.getIntOrFloatBitWidth() == kResultBits &&
         output != sink.accumulator->get() &&
         getMemorySpace(output) == MemorySpace::Global;
}

/// True if what `op` computes with may be what is not there.
static bool isHarmless(const Pointwise &sink) {
  return !sink.body || llvm::all_of(sink.body->without_terminator(),
                                    [](Operation &op) { return isPure(&op); });
}

/// Why `sink` does more than compute a result of the sums, of which TMA may
/// store what is there; empty if it does not.
std::string StoreRing::getSinkObstacle(const Pointwise &sink) const {
  if (sink.outputs.size() != 1)
    return "it is one of several results";
  OpOperand *output = sink.outputs[0];
  auto generic = dyn_cast<linalg::LinalgOp>(sink.op);
  if (generic && generic.payloadUsesValueFromOperand(output))
    return "it is computed of what was there";
  if (!PieceAccess(part, sink).isContiguous(output))
    return "it is not contiguous along the columns of a tile";
  bool isRagged = !TileLimits(part, sink.accumulator->get()).empty();
  for (OpOperand *input : sink.inputs) {
    Value memref = input->get();
    if (memref == sink.accumulator->get() || !isa<MemRefType>(memref.getType()))
      continue;
    if (isRagged)
      return "tiles are ragged, and it is computed of other memory, too";
    if (context.aliases.mayAlias(memref, output->get()))
      return "it may share memory with what it is computed of";
  }
  if (isRagged && !isHarmless(sink))
    return "tiles are ragged, and what is computed of elements that are not "
           "there may do harm";
  return "";
}

/// True if `scope` may access `memref` but by `except`.
static bool isAccessed(Operation *scope, Value memref,
                       const ArgumentAliases &aliases, Operation *except) {
  return llvm::any_of(getBody(scope)->front(), [&](Operation &op) {
    return mayTouch(&op, memref, aliases, except);
  });
}

/// The blocks that registers leave room for on a multiprocessor, if each of
/// `numThreads` threads has the sums of `tile`.
static int64_t getBlocksByRegisters(const ThreadTile &tile,
                                    int64_t numThreads) {
  constexpr int64_t kFile = 65536, kBesideSums = 32;
  int64_t registers = tile.rows * tile.columns + kBesideSums;
  return std::max<int64_t>(kFile / (registers * numThreads), 1);
}

/// The blocks that a multiprocessor has at a time if all are as busy: those
/// that are launched, as far as they are known.
static int64_t getBlocksLaunched(Operation *scope, const Chip &chip) {
  auto launch = dyn_cast<gpu::LaunchOp>(scope);
  if (!launch)
    return chip.maxBlocks;
  int64_t count = 1;
  gpu::KernelDim3 sizes = launch.getGridSizeOperandValues();
  for (Value size : {sizes.x, sizes.y, sizes.z}) {
    std::optional<int64_t> known = getConstantIntValue(size);
    if (!known || *known < 1 || llvm::MulOverflow(count, *known, count))
      return chip.maxBlocks;
  }
  return llvm::divideCeil(count, chip.multiprocessors);
}

/// Chooses as many slots as there is memory for: it must not cost a block of
/// the multiprocessor. Returns why there are none, or empty.
std::string StoreRing::chooseSlots(int64_t most) {
  constexpr int64_t kSpare = 2048; // mbarriers, alignment
  Operation *scope = getScope();
  KernelBuffers memory = collectKernelBuffers(scope);
  int64_t used = memory.getStaticBytes() + memory.dynamicBytes + kSpare;
  int64_t numThreads = part.sharers.numThreads, producers = 0;
  scope->walk([&](RingOp ring) {
    producers = std::max<int64_t>(producers, ring.getProducers().value_or(0));
  });
  const Chip &chip = context.chip;
  int64_t blocks =
      std::min({chip.getResidentBlocks(used, numThreads + producers),
                getBlocksByRegisters(part.tile, numThreads + producers),
                getBlocksLaunched(scope, chip)});
  int64_t bytes = numThreads / kWarpSize * kSlotBytes;
  for (numSlots = most; numSlots > 0; --numSlots) {
    int64_t all = used + numSlots * bytes;
    if (all <= chip.maxWorkgroupBytes &&
        chip.getResidentBlocks(all, numThreads + producers) >= blocks)
      return "";
  }
  return "there is no workgroup memory left for slots";
}

std::optional<TensorCopy> StoreRing::match(const Pointwise &sink,
                                           std::string &why) {
  Contraction &contraction = part.contraction;
  Value output = sink.outputs[0]->get();
  AffineMap map = sink.getMap(sink.outputs[0]);
  SmallVector<int64_t> shape;
  for (unsigned i = 0; i < map.getNumResults(); ++i) {
    unsigned loop = sink.getLoop(contraction, map.getDimPosition(i));
    shape.push_back(contraction.rows.find(loop) ? contraction.rows.getSize()
                    : contraction.columns.find(loop)
                        ? contraction.columns.getSize()
                        : 1);
  }
  auto tile = MemRefType::get(shape, getElementTypeOrSelf(output));
  TileLayoutAttr layout = getLayout(part, contraction.rows.getSize());
  if (!layout) {
    why = "rows of a tile are not of 32, 64 or 128 bytes";
    return std::nullopt;
  }
  return matchTensorStore(output, tile, context.maps, part.alignment, why,
                          layout);
}

std::string StoreRing::add(const Pointwise &sink) {
  Operation *scope = getScope();
  if (!isKernel(scope) || !getBody(scope)->hasOneBlock())
    return "it stands in a function that kernels call, or among branches "
           "between blocks";
  std::string why = getSinkObstacle(sink);
  if (!why.empty())
    return why;
  if (isAccessed(scope, sink.outputs[0]->get(), context.aliases, sink.op))
    return "the kernel may access it elsewhere, by another proxy";
  std::optional<TensorCopy> copy = match(sink, why);
  if (!copy)
    return why;
  if (!getClippingObstacle(*copy).empty())
    return "tiles may be ragged, and are not known to end where the result "
           "does";
  constexpr int64_t kMostSlots = 2;
  int64_t boxes = copy->layout.getColumns() / copy->layout.getWidth();
  if (numSlots == 0)
    why = chooseSlots(std::min(boxes, kMostSlots));
  if (!why.empty())
    return why;
  sinks.insert(sink.op);
  numBoxes += boxes;
  return "";
}

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

void StoreRing::allocate() {
  if (sinks.empty())
    return;
  OpBuilder::InsertionGuard guard(rewriter);
  Block &body = getBody(getScope())->front();
  rewriter.setInsertionPointToStart(&body);
  int64_t numWarps = part.sharers.numThreads / kWarpSize;
  auto type = MemRefType::get({numWarps * numSlots * kSlotBytes},
                              rewriter.getI8Type(), MemRefLayoutAttrInterface(),
                              getWorkgroupSpace(rewriter.getContext()));
  storage = memref::AllocOp::create(
      rewriter, loc, type,
      rewriter.getI64IntegerAttr(getTensorPatternBytes(kRowBytes)));
  Operation *end = body.getTerminator();
  if (isa_and_nonnull<NVVM::CpAsyncBulkWaitGroupOp>(end->getPrevNode()))
    return; // of another result
  rewriter.setInsertionPoint(end);
  NVVM::CpAsyncBulkWaitGroupOp::create(rewriter, loc, /*group=*/0,
                                       /*read=*/UnitAttr());
}

/// The next slot of the warp.
Value StoreRing::getSlot(MemRefType type) {
  // The first row is that of the warp before, and 16.
  OpFoldResult first =
      index.mul(part.getFirstRow(),
                rewriter.getIndexAttr(numSlots * kSlotBytes / kWarpRows));
  OpFoldResult shift =
      index.add(first, rewriter.getIndexAttr(stored % numSlots * kSlotBytes));
  return memref::ViewOp::create(rewriter, loc, type, storage,
                                index.value(shift), ValueRange());
}

/// The stores that may be under way when the next slot is written: those of the
/// other slots. The last time round, boxes may have ended in the midst of them.
int64_t StoreRing::getPending() const {
  bool isAnyInTurn = stored >= numSlots || numBoxes % numSlots == 0;
  return isAnyInTurn ? numSlots - 1 : stored;
}

/// Lets the lanes of the warp wait for each other.
void StoreRing::meet() {
  NVVM::SyncWarpOp::create(rewriter, loc,
                           arith::ConstantIntOp::create(rewriter, loc, -1, 32));
}

void StoreRing::enterSlot() {
  NVVM::CpAsyncBulkWaitGroupOp::create(rewriter, loc, getPending(),
                                       rewriter.getUnitAttr());
  meet();
}

/// Writes, to `slot`, the runs from `firstRun` on of the rows of the thread.
void StoreRing::write(Value slot, const TensorCopy &copy, int64_t firstRun,
                      function_ref<Value(int64_t row, int64_t run)> compute) {
  auto number = [&](int64_t value) { return rewriter.getIndexAttr(value); };
  OpFoldResult lane = index.rem(part.getMember(), number(kWarpSize));
  OpFoldResult row = index.div(lane, number(kWarpSize / kCellSize));
  OpFoldResult column =
      index.mul(index.rem(lane, number(kWarpSize / kCellSize)),
                number(part.tile.columnRun));
  TileLayoutAttr layout = copy.layout;
  // Rows that are eight apart have the same key; of eight, none is too large.
  OpFoldResult key = index.div(row, number(int64_t(1) << layout.getShift()));
  auto type = cast<MemRefType>(slot.getType());
  SmallVector<Value> indices(type.getRank(), index.value(number(0)));
  for (int64_t run = 0; run < layout.getWidth() / kCellSize; ++run) {
    OpFoldResult chunk = index.create<arith::XOrIOp>(number(run), key);
    indices.back() =
        index.value(index.add(index.mul(chunk, number(kCellSize)), column));
    for (int64_t i = 0; i < part.tile.rows; ++i) {
      indices[indices.size() - 2] =
          index.value(index.add(row, number(part.tile.getRow(i))));
      Value value = compute(i, firstRun + run);
      vector::StoreOp::create(rewriter, loc, value, slot, indices,
                              /*nontemporal=*/false,
                              llvm::Align(part.tile.columnRun * kElementBytes));
    }
  }
}

/// Has the first lane store `slot`, `column` columns behind the first one.
void StoreRing::leaveSlot(Value slot, const TensorCopy &copy, int64_t column) {
  createProxyFence(rewriter, loc);
  meet();
  Value lane = index.value(
      index.rem(part.getMember(), rewriter.getIndexAttr(kWarpSize)));
  Value isFirst =
      arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq, lane,
                            index.value(rewriter.getIndexAttr(0)));
  auto branch = scf::IfOp::create(rewriter, loc, isFirst);
  {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(branch.thenBlock());
    emitTensorStore(rewriter, loc, copy, slot, column, context.maps);
  }
  // By all, of whom the others have nothing under way.
  NVVM::CpAsyncBulkCommitGroupOp::create(rewriter, loc);
  ++stored;
}

/// `copy`, of the whole tile, as the store of the rows of the warp.
TensorCopy StoreRing::takeRows(TensorCopy copy) const {
  copy.layout = getLayout(part, kWarpRows);
  for (unsigned dim = 0; dim + 1 < copy.extents.size(); ++dim) {
    if (copy.extents[dim] == 1)
      continue;
    copy.extents[dim] = copy.box[dim] = kWarpRows;
    copy.offsets[dim].push_back(part.getFirstRow());
  }
  copy.bytes = copy.layout.getNumElements() * kElementBytes;
  return copy;
}

void StoreRing::store(const Pointwise &sink,
                      function_ref<Value(int64_t row, int64_t run)> compute) {
  std::string why;
  TensorCopy copy = takeRows(*match(sink, why));
  Type element = getElementTypeOrSelf(sink.outputs[0]->get());
  auto type = MemRefType::get(copy.box, element, MemRefLayoutAttrInterface(),
                              getWorkgroupSpace(rewriter.getContext()));
  int64_t width = copy.layout.getWidth();
  for (int64_t column = 0; column < copy.layout.getColumns(); column += width) {
    enterSlot();
    Value slot = getSlot(type);
    write(slot, copy, column / kCellSize, compute);
    leaveSlot(slot, copy, column);
  }
}

} // namespace mlir::workgroup
