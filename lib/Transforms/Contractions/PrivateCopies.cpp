//===- PrivateCopies.cpp - What a thread copies to multiply it ------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PrivateCopies.h"
#include "Analysis/Program/OpEffects.h"
#include "Transforms/Copies/MemoryAccesses.h"
#include "Transforms/Utils/BufferViews.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Support/MemorySpace.h"

namespace mlir::workgroup {

namespace {

/// A copy between a private buffer and other memory, whose dimension
/// `permutation[i]` is dimension i of the buffer.
struct PrivateCopy {
  Operation *op = nullptr;
  Value other = {};
  SmallVector<int64_t> permutation = {};
};

/// A private buffer of which a contraction uses all.
struct PrivateBuffer {
  memref::AllocaOp alloc;
  /// The buffer as an operand, and what else is of it.
  Value whole;
  SmallVector<Operation *> views;
  std::optional<PrivateCopy> in, out;
};

} // namespace

/// Source and target of `op` if it is a copy of memory, and how it transposes.
static std::optional<std::pair<Value, Value>>
getCopied(Operation *op, SmallVectorImpl<int64_t> &permutation) {
  std::optional<std::pair<Value, Value>> copied;
  if (auto copy = dyn_cast<memref::CopyOp>(op)) {
    copied = {copy.getSource(), copy.getTarget()};
  } else if (auto copy = dyn_cast<linalg::CopyOp>(op)) {
    if (copy.hasPureBufferSemantics())
      copied = {copy.getInputs().front(), copy.getOutputs().front()};
  } else if (auto transpose = dyn_cast<linalg::TransposeOp>(op)) {
    if (transpose.hasPureBufferSemantics())
      copied = {transpose.getInput(), transpose.getInit()};
  }
  if (!copied || getElementTypeOrSelf(copied->first) !=
                     getElementTypeOrSelf(copied->second))
    return std::nullopt;
  auto type = dyn_cast<MemRefType>(copied->second.getType());
  auto source = dyn_cast<MemRefType>(copied->first.getType());
  // Sizes that are known stay known.
  if (!type || !source || !type.hasStaticShape() || !source.hasStaticShape())
    return std::nullopt;
  if (auto transpose = dyn_cast<linalg::TransposeOp>(op))
    permutation.assign(transpose.getPermutation().begin(),
                       transpose.getPermutation().end());
  else
    permutation = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  return copied;
}

/// Adds a use of the buffer beside the contraction. False if it is none that
/// can be done without.
static bool addUse(PrivateBuffer &buffer, OpOperand &use) {
  PrivateCopy copy{use.getOwner()};
  auto copied = getCopied(copy.op, copy.permutation);
  if (!copied || use.get() != buffer.whole)
    return false;
  bool isIn = copied->second == buffer.whole;
  copy.other = isIn ? copied->first : copied->second;
  std::optional<PrivateCopy> &place = isIn ? buffer.in : buffer.out;
  if (place || copy.other == buffer.whole)
    return false;
  place = std::move(copy);
  return true;
}

/// The buffer that `operand` of a contraction is all of, if there are copies
/// between it and other memory besides, and no other uses.
static std::optional<PrivateBuffer> match(OpOperand &operand) {
  PrivateBuffer buffer;
  buffer.whole = operand.get();
  if (!isa<MemRefType>(buffer.whole.getType()))
    return std::nullopt;
  Value root = getRootBuffer(buffer.whole);
  buffer.alloc = root.getDefiningOp<memref::AllocaOp>();
  if (!buffer.alloc || getMemorySpace(root) != MemorySpace::Private)
    return std::nullopt;
  SmallVector<Value> names = {root};
  for (unsigned i = 0; i < names.size(); ++i)
    for (OpOperand &use : names[i].getUses()) {
      Operation *user = use.getOwner();
      if (&use == &operand)
        continue;
      if (getViewSource(user) == names[i]) {
        buffer.views.push_back(user);
        names.push_back(user->getResult(0));
      } else if (!addUse(buffer, use)) {
        return std::nullopt;
      }
    }
  return buffer.in ? std::optional(std::move(buffer)) : std::nullopt;
}

/// True if threads meet at `op`, or in it: behind it, others may have written.
static bool hasMeeting(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        bool isMeeting = isBlockBarrier(inner) || isWarpBarrier(inner);
        return isMeeting ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// True if `last` follows `first` in a block, and no operation between them
/// lets other threads go on, or is one of `condition`.
static bool isQuiet(Operation *first, Operation *last,
                    function_ref<bool(Operation *)> condition) {
  if (first->getBlock() != last->getBlock() || !first->isBeforeInBlock(last))
    return false;
  for (Operation *op = first->getNextNode(); op != last; op = op->getNextNode())
    if (hasMeeting(op) || condition(op))
      return false;
  return true;
}

static bool isIdentity(const PrivateCopy &copy) {
  return llvm::equal(copy.permutation,
                     llvm::seq<int64_t>(0, copy.permutation.size()));
}

static bool canForward(const PrivateBuffer &buffer, OpOperand &operand,
                       const ArgumentAliases &aliases) {
  Operation *op = operand.getOwner();
  const PrivateCopy &in = *buffer.in;
  if (!isQuiet(in.op, op, [&](Operation *between) {
        return mayWrite(between, in.other, aliases);
      }))
    return false;
  bool isResult = cast<linalg::LinalgOp>(op).isDpsInit(&operand);
  if (!isResult)
    return !buffer.out;
  return buffer.out && isIdentity(in) && isIdentity(*buffer.out) &&
         isSameView(in.other, buffer.out->other) &&
         isQuiet(op, buffer.out->op, [&](Operation *between) {
           return mayTouch(between, in.other, aliases);
         });
}

/// Has `op` use, in the place of operand `number`, what `copy` takes it from.
/// Null if the operation has no general form, which a transposed operand needs.
static linalg::LinalgOp replaceOperand(RewriterBase &rewriter,
                                       linalg::LinalgOp op, unsigned number,
                                       const PrivateCopy &copy) {
  if (isIdentity(copy)) {
    rewriter.modifyOpInPlace(op, [&] { op->setOperand(number, copy.other); });
    return op;
  }
  rewriter.setInsertionPoint(op);
  auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
  if (!generic) {
    FailureOr<linalg::GenericOp> made = linalg::generalizeNamedOp(rewriter, op);
    if (failed(made))
      return nullptr;
    generic = *made;
  }
  SmallVector<AffineMap> maps = generic.getIndexingMapsArray();
  SmallVector<AffineExpr> results(copy.permutation.size());
  for (auto [i, dim] : llvm::enumerate(copy.permutation))
    results[dim] = maps[number].getResult(i);
  maps[number] = AffineMap::get(maps[number].getNumDims(), 0, results,
                                rewriter.getContext());
  rewriter.modifyOpInPlace(generic, [&] {
    generic.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
    generic->setOperand(number, copy.other);
  });
  return generic;
}

linalg::LinalgOp forwardPrivateCopies(RewriterBase &rewriter,
                                      linalg::LinalgOp op,
                                      const ArgumentAliases &aliases,
                                      unsigned &numForwarded) {
  for (unsigned number = 0; number < op->getNumOperands(); ++number) {
    OpOperand &operand = op->getOpOperand(number);
    std::optional<PrivateBuffer> buffer = match(operand);
    if (!buffer || !canForward(*buffer, operand, aliases))
      continue;
    linalg::LinalgOp changed =
        replaceOperand(rewriter, op, number, *buffer->in);
    if (!changed)
      continue;
    op = changed;
    ++numForwarded;
    rewriter.eraseOp(buffer->in->op);
    if (buffer->out)
      rewriter.eraseOp(buffer->out->op);
    for (Operation *view : llvm::reverse(buffer->views))
      rewriter.eraseOp(view);
    rewriter.eraseOp(buffer->alloc);
  }
  return op;
}

} // namespace mlir::workgroup
