//===- KeptRows.cpp - Rows that threads have in registers -----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KeptRows.h"
#include "CooperativeReduction.h"
#include "Support/Remarks.h"
#include "ThreadVectors.h"
#include "Transforms/Utils/BufferTypes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "workgroup/Support/MemorySpace.h"
#include "workgroup/Target/AccessWidth.h"

namespace mlir::workgroup {

/// The most elements of a row that a thread has.
static constexpr int64_t kMaxKeptElements = 32;

/// The extent of the row that `buffer` is; 0 if it is none.
static int64_t getRowExtent(memref::AllocOp buffer) {
  MemRefType type = buffer.getType();
  if (!type.hasStaticShape() || type.getRank() == 0 ||
      !type.getLayout().isIdentity() || !isWorkgroupMemory(type) ||
      !type.getElementType().isIntOrFloat() ||
      type.getNumElements() != type.getShape().back())
    return 0;
  return type.getElementTypeBitWidth() % 8 == 0 ? type.getNumElements() : 0;
}

/// The loop of `op` along `row`; the number of loops if there is none.
unsigned KeptRows::findLoop(linalg::LinalgOp op, OpOperand &row) {
  AffineMap map = op.getMatchingIndexingMap(&row);
  auto last = dyn_cast<AffineDimExpr>(map.getResults().back());
  return last ? last.getPosition() : op.getNumLoops();
}

unsigned KeptRows::findLoop(linalg::LinalgOp op) const {
  for (OpOperand &operand : op->getOpOperands())
    if (contains(operand.get()))
      return findLoop(op, operand);
  return op.getNumLoops();
}

bool KeptRows::isOn(Operation *op) const {
  return llvm::any_of(op->getOperands(),
                      [&](Value operand) { return contains(operand); });
}

/// Takes the longest rows that nothing but operations of the block itself is
/// on. False if there are none that a thread can have a part of.
bool KeptRows::takeRows(scf::ForallOp loop, int64_t threads) {
  SmallVector<memref::AllocOp> rows;
  for (auto alloc : loop.getOps<memref::AllocOp>()) {
    bool isOfBlock = llvm::all_of(alloc->getUsers(), [&](Operation *user) {
      return user->getBlock() == loop.getBody() &&
             isa<linalg::LinalgOp, memref::CopyOp>(user);
    });
    int64_t elements = isOfBlock ? getRowExtent(alloc) : 0;
    if (elements == 0)
      continue;
    extent = std::max(extent, elements);
    rows.push_back(alloc);
  }
  for (memref::AllocOp row : rows)
    if (row.getType().getNumElements() == extent)
      buffers.insert(row.getResult());
  return !buffers.empty() && extent > threads / 2;
}

/// Bytes of the widest element of other memory that lies along the rows; of a
/// word if there is none.
int64_t KeptRows::getWidestBytes() const {
  int64_t widest = 0;
  auto add = [&](Value memref) {
    auto type = dyn_cast<MemRefType>(memref.getType());
    if (type && !contains(memref) && type.getElementType().isIntOrFloat())
      widest = std::max<int64_t>(widest, type.getElementTypeBitWidth() / 8);
  };
  for (Value buffer : buffers)
    for (Operation *user : buffer.getUsers()) {
      auto op = dyn_cast<linalg::LinalgOp>(user);
      for (OpOperand &operand : user->getOpOperands())
        if (!op ||
            getLaneAccess(op, operand, findLoop(op)) == LaneAccess::Contiguous)
          add(operand.get());
    }
  return widest == 0 ? 4 : widest;
}

bool KeptRows::checkCopy(memref::CopyOp op,
                         AlignmentAnalysis &alignment) const {
  bool isTarget = contains(op.getTarget());
  Value other = isTarget ? op.getSource() : op.getTarget();
  auto type = dyn_cast<MemRefType>(other.getType());
  return type && (contains(other) || isAlignedRow(other, length, alignment));
}

/// Whether `op` can be done by threads that have parts of rows.
bool KeptRows::check(linalg::LinalgOp op, int64_t threads,
                     AlignmentAnalysis &alignment) const {
  if (!op.hasPureBufferSemantics())
    return false;
  unsigned loop = findLoop(op);
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (auto [number, range] : llvm::enumerate(ranges))
    if (range != (number == loop ? extent : 1))
      return false;
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    if (contains(operand.get())) {
      if (findLoop(op, operand) != loop ||
          llvm::any_of(map.getResults().drop_back(), [&](AffineExpr index) {
            return index.isFunctionOfDim(loop);
          }))
        return false;
      continue;
    }
    LaneAccess access = getLaneAccess(op, operand, loop);
    if (access == LaneAccess::Scattered ||
        (access == LaneAccess::Contiguous &&
         !isAlignedRow(operand.get(), length, alignment)))
      return false;
  }
  SmallVector<unsigned> shared = getSharedLoops(op);
  if (op.getNumParallelLoops() == op.getNumLoops())
    return shared.size() == op.getNumLoops() && shared.back() == loop;
  SmallVector<OpFoldResult> extents =
      getAsIndexOpFoldResult(op.getContext(), ranges);
  std::optional<CooperativeReduction> reduction =
      CooperativeReduction::get(op, extents, threads, alignment);
  return reduction && reduction->isAlong(loop);
}

bool KeptRows::checkUsers(int64_t threads, AlignmentAnalysis &alignment) {
  for (Value buffer : buffers)
    for (Operation *user : buffer.getUsers()) {
      auto copy = dyn_cast<memref::CopyOp>(user);
      if (copy ? !checkCopy(copy, alignment)
               : !check(cast<linalg::LinalgOp>(user), threads, alignment))
        return false;
    }
  return true;
}

KeptRows KeptRows::keep(RewriterBase &rewriter, scf::ForallOp loop,
                        int64_t threads, AlignmentAnalysis &alignment) {
  KeptRows rows;
  if (!rows.takeRows(loop, threads))
    return {};
  rows.length = kWidestAccessBytes / rows.getWidestBytes();
  rows.parts = llvm::divideCeil(rows.extent, rows.length * threads);
  if (rows.length <= 1 || rows.extent % rows.length != 0 ||
      rows.parts * rows.length > kMaxKeptElements ||
      !rows.checkUsers(threads, alignment))
    return {};
  auto space = gpu::AddressSpaceAttr::get(rewriter.getContext(),
                                          gpu::AddressSpace::Private);
  llvm::SmallSetVector<Value, 4> parts;
  for (Value buffer : rows.buffers) {
    auto shared = buffer.getDefiningOp<memref::AllocOp>();
    recordRemark(RemarkId::MapToThreads_KeptRow, shared)
        << "threads have a row in registers"
        << remark::metric("Elements", rows.extent);
    SmallVector<int64_t> shape(shared.getType().getShape());
    shape.back() = rows.parts * rows.length;
    auto type = MemRefType::get(shape, shared.getType().getElementType(),
                                AffineMap(), space);
    rewriter.setInsertionPointToStart(loop.getBody());
    Value own = memref::AllocaOp::create(rewriter, buffer.getLoc(), type);
    rewriter.replaceAllUsesWith(buffer, own);
    rewriter.eraseOp(shared);
    parts.insert(own);
  }
  rows.buffers = std::move(parts);
  return rows;
}

} // namespace mlir::workgroup
