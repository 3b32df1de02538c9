//===- BankRewriter.cpp - Give a buffer another layout --------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BankRewriter.h"
#include "Support/Views.h"
#include "TensorSwizzles.h"
#include "Transforms/Copies/TensorSwizzle.h"
#include "Transforms/Utils/BufferAlignment.h"
#include "Transforms/Utils/IndexBuilder.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "workgroup/Support/MemorySpace.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// From views to their buffer
//===----------------------------------------------------------------------===//

using Indices = SmallVector<OpFoldResult>;

/// The offset of the element at `indices` in the contiguous shape `extents`, of
/// which the first does not count.
static OpFoldResult linearize(IndexBuilder &index,
                              ArrayRef<OpFoldResult> indices,
                              ArrayRef<int64_t> extents) {
  OpFoldResult linear = index.builder.getIndexAttr(0);
  for (auto [i, extent] : llvm::zip_equal(indices, extents))
    linear =
        index.add(index.mul(linear, index.builder.getIndexAttr(extent)), i);
  return linear;
}

/// Appends the indices of element number `linear` in the contiguous shape
/// `extents`.
static void delinearize(IndexBuilder &index, OpFoldResult linear,
                        ArrayRef<int64_t> extents, Indices &indices) {
  size_t first = indices.size();
  indices.resize(first + extents.size(), index.builder.getIndexAttr(0));
  // Extents of one have the index zero, and what stands in front of all others
  // takes what is left.
  int64_t outermost = 0;
  while (outermost + 1 < int64_t(extents.size()) && extents[outermost] == 1)
    ++outermost;
  for (int64_t i = extents.size(); i-- > outermost;) {
    OpFoldResult extent = index.builder.getIndexAttr(extents[i]);
    bool isOutermost = i == outermost;
    indices[first + i] = isOutermost ? linear : index.rem(linear, extent);
    if (!isOutermost)
      linear = index.div(linear, extent);
  }
}

static Indices getSubviewIndices(IndexBuilder &index, memref::SubViewOp op,
                                 ArrayRef<OpFoldResult> indices) {
  Indices results;
  llvm::SmallBitVector dropped = getDroppedDims(op);
  for (auto [dim, offset, stride] :
       llvm::enumerate(op.getMixedOffsets(), op.getMixedStrides())) {
    results.push_back(offset);
    if (dropped.test(dim))
      continue;
    results.back() = index.add(offset, index.mul(indices.front(), stride));
    indices = indices.drop_front();
  }
  return results;
}

static Indices getExpandedIndices(IndexBuilder &index, memref::ExpandShapeOp op,
                                  ArrayRef<OpFoldResult> indices) {
  Indices results;
  for (ArrayRef<int64_t> group : op.getReassociationIndices())
    results.push_back(linearize(
        index, indices.slice(group.front(), group.size()),
        op.getStaticOutputShape().slice(group.front(), group.size())));
  return results;
}

static Indices getCollapsedIndices(IndexBuilder &index,
                                   memref::CollapseShapeOp op,
                                   ArrayRef<OpFoldResult> indices,
                                   ArrayRef<int64_t> extents) {
  Indices results;
  for (auto [i, group] : llvm::enumerate(op.getReassociationIndices()))
    delinearize(index, indices[i], extents.slice(group.front(), group.size()),
                results);
  // A buffer of one element has no groups.
  results.resize(extents.size(), index.builder.getIndexAttr(0));
  return results;
}

static Indices getReinterpretedIndices(IndexBuilder &index,
                                       memref::ReinterpretCastOp op,
                                       ArrayRef<OpFoldResult> indices,
                                       MemRefType rootType) {
  OpFoldResult linear = op.getMixedOffsets().front();
  for (auto [i, stride] : llvm::zip_equal(indices, op.getMixedStrides()))
    linear = index.add(linear, index.mul(i, stride));
  Indices results;
  delinearize(index, linear, rootType.getShape(), results);
  return results;
}

/// Makes `indices` into `memref` indices into its buffer, which is returned.
static Value resolveViews(IndexBuilder &index, const BankBuffer &buffer,
                          Value memref, Indices &indices) {
  while (!buffer.isRoot(memref)) {
    Operation *op = memref.getDefiningOp();
    Value source = getViewSource(op);
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](memref::SubViewOp op) {
          indices = getSubviewIndices(index, op, indices);
        })
        .Case([&](memref::ExpandShapeOp op) {
          indices = getExpandedIndices(index, op, indices);
        })
        .Case([&](memref::CollapseShapeOp op) {
          indices = getCollapsedIndices(index, op, indices,
                                        buffer.extents.lookup(source));
        })
        .Case([&](memref::TransposeOp op) {
          Indices results(indices.size());
          for (auto [i, expr] :
               llvm::enumerate(op.getPermutation().getResults()))
            results[cast<AffineDimExpr>(expr).getPosition()] = indices[i];
          indices = results;
        })
        .Case([&](memref::ReinterpretCastOp op) {
          // Its offset counts from the start of the buffer.
          indices = getReinterpretedIndices(index, op, indices, buffer.type);
          while (!buffer.isRoot(source))
            source = getViewSource(source.getDefiningOp());
        });
    memref = source;
  }
  return memref;
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

namespace {
/// Rewrites the accesses to a buffer.
class AccessRewriter {
public:
  AccessRewriter(RewriterBase &rewriter, BankBuffer &buffer,
                 const RowLayout &layout)
      : rewriter(rewriter), buffer(buffer), layout(layout) {}

  void rewrite(BankAccess &access);

private:
  bool needsSplit(const BankAccess &access) const;
  void joinRow(IndexBuilder &index, Indices &indices) const;
  int64_t getAlignment(int64_t promised) const;
  OpFoldResult getStep(IndexBuilder &index, const Indices &indices);
  Indices getPieceIndices(IndexBuilder &index, const Indices &indices,
                          OpFoldResult step, int64_t offset);
  void replaceInPlace(BankAccess &access, Value root, const Indices &indices);
  void split(BankAccess &access, Value root, const Indices &indices,
             OpFoldResult step);

  RewriterBase &rewriter;
  BankBuffer &buffer;
  const RowLayout &layout;
};
} // namespace

/// True if `access` has to become several ops.
bool AccessRewriter::needsSplit(const BankAccess &access) const {
  if (!access.canSplit)
    return false;
  int64_t piece = getPieceBytes(access, buffer.elementBytes, layout);
  int64_t bytes = access.getBytes(buffer.elementBytes);
  if (!layout.isSwizzled())
    return piece < access.getPieceBytes(buffer.elementBytes);
  // Only what is within a chunk stays in one piece.
  bool isInChunk = llvm::isPowerOf2_64(bytes) && bytes <= layout.chunkBytes &&
                   access.divisor * buffer.elementBytes >= bytes;
  return !isInChunk || bytes > layout.pieceBytes;
}

/// The part of an alignment of `promised` bytes that is left when rows and
/// chunks have moved.
int64_t AccessRewriter::getAlignment(int64_t promised) const {
  auto divide = [&](int64_t bytes) {
    promised =
        std::min(promised, int64_t(1) << llvm::countr_zero(uint64_t(bytes)));
  };
  divide(buffer.getRowBytes());
  divide(buffer.getRowBytes() + layout.padBytes);
  if (layout.isSwizzled())
    divide(layout.chunkBytes);
  return promised;
}

static OpFoldResult createXor(IndexBuilder &index, OpFoldResult lhs,
                              OpFoldResult rhs) {
  auto a = getConstantIntValue(lhs), b = getConstantIntValue(rhs);
  if (a && b)
    return index.builder.getIndexAttr(*a ^ *b);
  if (a == 0 || b == 0)
    return a == 0 ? rhs : lhs;
  return index.create<arith::XOrIOp>(lhs, rhs);
}

/// Makes one index of those of the dimensions that make a row.
void AccessRewriter::joinRow(IndexBuilder &index, Indices &indices) const {
  if (buffer.rowDims == 1)
    return;
  auto inRow = ArrayRef(indices).take_back(buffer.rowDims);
  OpFoldResult column = linearize(index, inRow, buffer.getRowShape());
  indices.truncate(indices.size() - buffer.rowDims);
  indices.push_back(column);
}

/// The number of steps by which the row at `indices` is swizzled, but for whole
/// periods.
OpFoldResult AccessRewriter::getStep(IndexBuilder &index,
                                     const Indices &indices) {
  OpBuilder &builder = index.builder;
  int64_t iteration = layout.rowsPerStep * layout.period, factor = 1;
  OpFoldResult row = builder.getIndexAttr(0);
  for (int64_t dim = int64_t(indices.size()) - 2; dim >= 0; --dim) {
    // Whole iterations do not change the remainder.
    if (factor % iteration != 0)
      row =
          index.add(index.mul(indices[dim], builder.getIndexAttr(factor)), row);
    factor *= buffer.type.getDimSize(dim);
  }
  return index.div(row, builder.getIndexAttr(layout.rowsPerStep));
}

/// The indices of the element `offset` elements behind that at `indices`, in a
/// row that is swizzled by `step`.
Indices AccessRewriter::getPieceIndices(IndexBuilder &index,
                                        const Indices &indices,
                                        OpFoldResult step, int64_t offset) {
  Indices results = indices;
  if (indices.empty())
    return results;
  auto constant = [&](int64_t value) -> OpFoldResult {
    return index.builder.getIndexAttr(value);
  };
  OpFoldResult &column = results.back();
  if (offset != 0)
    column = index.add(column, constant(offset));
  if (!layout.isSwizzled())
    return results;
  if (layout.fold != 0) {
    OpFoldResult pass =
        index.div(column, constant(kPassBytes / buffer.elementBytes));
    step = createXor(index, step, index.mul(pass, constant(layout.fold)));
  }
  OpFoldResult shift =
      index.mul(index.rem(step, constant(layout.period)),
                constant(layout.chunkBytes / buffer.elementBytes));
  column = createXor(index, column, shift);
  return results;
}

static SmallVector<Value> getValues(IndexBuilder &index,
                                    const Indices &indices) {
  return llvm::map_to_vector(indices,
                             [&](OpFoldResult i) { return index.value(i); });
}

/// Makes `op`, a transfer without bounds to check, a plain load or store, whose
/// form does not depend on the rank of the memref.
static Operation *simplifyTransfer(RewriterBase &rewriter, Operation *op) {
  rewriter.setInsertionPoint(op);
  if (auto read = dyn_cast<vector::TransferReadOp>(op)) {
    return rewriter.replaceOpWithNewOp<vector::LoadOp>(
        read, read.getVectorType(), read.getBase(), read.getIndices());
  }
  if (auto write = dyn_cast<vector::TransferWriteOp>(op)) {
    return rewriter.replaceOpWithNewOp<vector::StoreOp>(
        write, write.getVector(), write.getBase(), write.getIndices());
  }
  return nullptr;
}

static void setAlignment(Operation *op, int64_t alignment) {
  constexpr StringLiteral kName = "alignment";
  Builder builder(op->getContext());
  if (op->getAttrOfType<IntegerAttr>(kName))
    op->setAttr(kName, builder.getI64IntegerAttr(alignment));
}

void AccessRewriter::replaceInPlace(BankAccess &access, Value root,
                                    const Indices &indices) {
  Operation *op = access.op;
  IndexBuilder index{rewriter, op->getLoc()};
  SmallVector<Value> values = getValues(index, indices);
  rewriter.modifyOpInPlace(op, [&] {
    getAccessMemref(access).set(root);
    getAccessIndices(access).assign(values);
  });
}

/// Replaces `access` by accesses of a piece each.
void AccessRewriter::split(BankAccess &access, Value root,
                           const Indices &indices, OpFoldResult step) {
  Operation *op = access.op;
  IndexBuilder index{rewriter, op->getLoc()};
  Location loc = op->getLoc();
  auto load = dyn_cast<vector::LoadOp>(op);
  auto store = dyn_cast<vector::StoreOp>(op);
  VectorType type = load ? load.getVectorType() : store.getVectorType();
  int64_t bytes = getPieceBytes(access, buffer.elementBytes, layout);
  int64_t length = bytes / buffer.elementBytes;
  auto pieceType = VectorType::get({length}, type.getElementType());
  bool isNontemporal = load ? load.getNontemporal() : store.getNontemporal();
  llvm::MaybeAlign alignment;
  if (access.alignment > 1)
    alignment = llvm::Align(std::min(getAlignment(access.alignment), bytes));
  Value whole = load ? ub::PoisonOp::create(rewriter, loc, type).getResult()
                     : store.getValueToStore();
  for (int64_t at = 0; at < access.numElements; at += length) {
    SmallVector<Value> values =
        getValues(index, getPieceIndices(index, indices, step, at));
    if (load) {
      Value piece = vector::LoadOp::create(rewriter, loc, pieceType, root,
                                           values, isNontemporal, alignment);
      whole = vector::InsertStridedSliceOp::create(
          rewriter, loc, piece, whole, ArrayRef(at), ArrayRef<int64_t>(1));
    } else {
      Value piece = vector::ExtractStridedSliceOp::create(
          rewriter, loc, whole, ArrayRef(at), ArrayRef(length),
          ArrayRef<int64_t>(1));
      vector::StoreOp::create(rewriter, loc, piece, root, values, isNontemporal,
                              alignment);
    }
  }
  if (load)
    rewriter.replaceOp(op, whole);
  else
    rewriter.eraseOp(op);
}

void AccessRewriter::rewrite(BankAccess &access) {
  bool isSplit = needsSplit(access);
  Value memref = getAccessMemref(access).get();
  if (!isSplit && !layout.isSwizzled() && buffer.rowDims == 1 &&
      buffer.isRoot(memref)) {
    setAlignment(access.op, getAlignment(access.alignment));
    return;
  }
  if (Operation *simple = simplifyTransfer(rewriter, access.op))
    access.op = simple;
  Operation *op = access.op;
  rewriter.setInsertionPoint(op);
  IndexBuilder index{rewriter, op->getLoc()};
  Indices indices;
  for (OpOperand &i : getAccessIndices(access))
    indices.push_back(i.get());
  Value root = resolveViews(index, buffer, memref, indices);
  joinRow(index, indices);
  OpFoldResult step = rewriter.getIndexAttr(0);
  if (layout.isSwizzled())
    step = getStep(index, indices);
  if (isSplit)
    return split(access, root, indices, step);
  replaceInPlace(access, root, getPieceIndices(index, indices, step, 0));
  setAlignment(op, getAlignment(access.alignment));
}

//===----------------------------------------------------------------------===//
// The buffer
//===----------------------------------------------------------------------===//

/// Tells the matrix instruction `access` how far its rows are apart now.
static void setLeadDimension(RewriterBase &rewriter, const BankAccess &access,
                             const BankBuffer &buffer,
                             const RowLayout &layout) {
  int64_t pad = layout.padBytes / buffer.elementBytes;
  int64_t rows = access.leadDimension / buffer.getColumns();
  IntegerAttr lead = rewriter.getIndexAttr(access.leadDimension + rows * pad);
  Operation *op = access.op;
  rewriter.modifyOpInPlace(op, [&] {
    if (auto load = dyn_cast<gpu::SubgroupMmaLoadMatrixOp>(op))
      load.setLeadDimensionAttr(lead);
    else
      cast<gpu::SubgroupMmaStoreMatrixOp>(op).setLeadDimensionAttr(lead);
  });
}

/// Gives the buffer rows of `padBytes` more bytes.
static void setType(RewriterBase &rewriter, BankBuffer &buffer,
                    int64_t padBytes) {
  SmallVector<int64_t> shape = llvm::to_vector(
      buffer.type.getShape().drop_back(buffer.getRowShape().size()));
  shape.push_back(buffer.getColumns() + padBytes / buffer.elementBytes);
  MemRefType type = MemRefType::Builder(buffer.type).setShape(shape);
  // Asynchronous copies, of views so far, do not take every spelling.
  if (!nvgpu::NVGPUDialect::hasSharedMemoryAddressSpace(type))
    type = MemRefType::Builder(type).setMemorySpace(
        getWorkgroupSpace(rewriter.getContext()));
  if (auto global = dyn_cast_or_null<memref::GlobalOp>(buffer.definition))
    rewriter.modifyOpInPlace(global, [&] { global.setType(type); });
  if (buffer.arena)
    resizeSlots(rewriter, *buffer.arena, type, buffer.getSlotBytes(padBytes));
  for (Value root : buffer.roots)
    root.setType(type);
}

/// Erases the operations that the old layout needed.
static void eraseViews(RewriterBase &rewriter, BankBuffer &buffer) {
  for (Operation *op : buffer.deallocs) {
    Value memref = op->getOperand(0);
    while (!buffer.isRoot(memref))
      memref = getViewSource(memref.getDefiningOp());
    rewriter.modifyOpInPlace(op, [&] { op->setOperand(0, memref); });
  }
  for (Operation *op : llvm::reverse(buffer.views))
    if (op->use_empty())
      rewriter.eraseOp(op);
}

void applyLayout(RewriterBase &rewriter, BankBuffer &buffer,
                 const RowLayout &layout, Operation *root) {
  for (Operation *op : buffer.dims) {
    auto dim = cast<memref::DimOp>(op);
    rewriter.setInsertionPoint(op);
    rewriter.replaceOpWithNewOp<arith::ConstantIndexOp>(
        op, buffer.extents.lookup(dim.getSource())[*dim.getConstantIndex()]);
  }
  AccessRewriter accesses(rewriter, buffer, layout);
  for (BankAccess &access : buffer.accesses) {
    if (access.isOfMatrix())
      setLeadDimension(rewriter, access, buffer, layout);
    accesses.rewrite(access);
  }
  eraseViews(rewriter, buffer);
  if (buffer.tensorLoads.empty())
    return setType(rewriter, buffer, layout.padBytes);
  // TMA writes by views that stay.
  int64_t rowBytes = buffer.getRowBytes();
  int64_t pattern = getTensorPatternBytes(rowBytes);
  swizzleLoads(rewriter, buffer.tensorLoads, rowBytes, root);
  if (buffer.arena)
    resizeSlots(rewriter, *buffer.arena, buffer.type,
                llvm::alignTo(buffer.getSlotBytes(0), pattern));
  if (Value memory = getRaisableBuffer(buffer.getMemory(), root))
    raiseAlignment(memory, pattern);
}

} // namespace mlir::workgroup
