//===- KeepAccumulators.cpp - Sums that stay with their threads -----------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tiling shares a contraction out to threads or warps, each of which adds to a
// part of the result, in memory that all of them see. As nobody else looks at
// the part for as long as the loops go on adding, it may be a buffer of the
// thread meanwhile, which starts from what filled the part.
//
//===----------------------------------------------------------------------===//

#include "PrivateCopies.h"
#include "Sharers.h"
#include "StagedResult.h"
#include "SumLoops.h"
#include "Support/Remarks.h"
#include "ThreadTile.h"
#include "Transforms/Copies/MemoryAccesses.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "workgroup/Support/MemorySpace.h"
#include "workgroup/Transforms/Contractions.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_KEEPACCUMULATORSPASS
#include "workgroup/Transforms/Contractions.h.inc"

namespace {

class AccumulatorKeeper {
public:
  AccumulatorKeeper(Operation *root, bool assumeDistinctArguments)
      : root(root), aliases(root, assumeDistinctArguments),
        rewriter(root->getContext()) {}

  void run();

private:
  std::string decide(Contraction &contraction, SharerAnalysis &sharers);
  Operation *findRoot(Contraction &contraction);
  void keep(Contraction &contraction);

  Operation *root;
  ArgumentAliases aliases;
  IRRewriter rewriter;
};

} // namespace

//===----------------------------------------------------------------------===//
// Decide
//===----------------------------------------------------------------------===//

/// True if `op` sums up, and is what threads or warps do: it stands in no loop
/// that is yet to be shared out.
static bool isSumOfThreads(linalg::LinalgOp op) {
  return op.getNumReductionLoops() != 0 && op.getNumDpsInits() == 1 &&
         op.hasPureBufferSemantics() && !isInLoopOverThreads(op);
}

/// Returns why the result of `contraction` stays in memory, or empty.
std::string AccumulatorKeeper::decide(Contraction &contraction,
                                      SharerAnalysis &sharers) {
  linalg::LinalgOp op = contraction.op;
  Value result = op.getDpsInits()[0];
  if (ShapedType::isDynamicShape(op.getStaticLoopRanges()))
    return "its tile has no constant size";
  std::string why = describe(contraction, op.getStaticLoopRanges());
  if (!why.empty())
    return why;
  for (OpOperand &operand : op->getOpOperands())
    if (auto type = dyn_cast<MemRefType>(operand.get().getType());
        type && !type.isStrided())
      return "the layout of an operand has no strides";
  for (OpOperand *factor : {contraction.lhs, contraction.rhs})
    if (aliases.mayAlias(factor->get(), result))
      return "its result may be the memory of an operand; say that arguments "
             "are distinct by llvm.noalias or the option "
             "assume-distinct-arguments";
  ThreadTile tile;
  why = chooseThreadTile(contraction, /*numThreads=*/1, tile);
  if (!why.empty() && sharers.areOfWarp({op.getOperation()}))
    why = chooseThreadTile(contraction, kWarpSize, tile);
  return why;
}

/// The outermost loop around `contraction` that goes on adding to its result,
/// which nothing else in it uses; the contraction if there is none.
Operation *AccumulatorKeeper::findRoot(Contraction &contraction) {
  Operation *op = contraction.op;
  Value result = contraction.op.getDpsInits()[0];
  Operation *outermost = op;
  while (auto loop = dyn_cast<scf::ForOp>(outermost->getParentOp())) {
    if (!isLoopInvariant(result, loop) ||
        mayTouch(loop, result, aliases, /*except=*/op))
      break;
    outermost = loop;
  }
  return outermost;
}

//===----------------------------------------------------------------------===//
// Apply
//===----------------------------------------------------------------------===//

void AccumulatorKeeper::keep(Contraction &contraction) {
  linalg::LinalgOp op = contraction.op;
  Operation *outermost = findRoot(contraction);
  hoistInvariants(op, outermost);
  Value view = op.getDpsInits()[0];
  auto type = cast<MemRefType>(view.getType());
  StagedResult result(view, outermost, aliases);
  result.analyze();
  recordRemark(RemarkId::KeepAccumulators_KeptAccumulator, op)
      << "result kept in memory of the thread while it is added to"
      << remark::metric("StartsFrom",
                        result.isFilled() ? "what filled it" : "memory");
  auto space =
      gpu::AddressSpaceAttr::get(op.getContext(), gpu::AddressSpace::Private);
  Value buffer = result.redirect(rewriter, /*isPadded=*/false, [&]() -> Value {
    return memref::AllocaOp::create(
        rewriter, op.getLoc(),
        MemRefType::get(type.getShape(), type.getElementType(),
                        MemRefLayoutAttrInterface(), space));
  });
  rewriter.modifyOpInPlace(op, [&] { op.getDpsInitsMutable()[0].set(buffer); });
}

void AccumulatorKeeper::run() {
  SmallVector<linalg::LinalgOp> ops;
  for (Operation *scope : collectDeviceScopes(root))
    scope->walk([&](linalg::LinalgOp op) {
      if (isSumOfThreads(op))
        ops.push_back(op);
    });
  if (ops.empty())
    return;
  for (linalg::LinalgOp &op : ops) {
    unsigned numForwarded = 0;
    op = forwardPrivateCopies(rewriter, op, aliases, numForwarded);
    if (numForwarded > 0)
      recordRemark(RemarkId::KeepAccumulators_ForwardedCopies, op)
          << "copies to memory of the thread left out"
          << remark::metric("Copies", numForwarded);
  }
  UniformityAnalysis uniformity(root);
  SharerAnalysis sharers(root);
  std::vector<Contraction> kept;
  for (linalg::LinalgOp op : ops) {
    Value result = op.getDpsInits()[0];
    // What all threads have the same is not one thread's.
    if (getMemorySpace(result) == MemorySpace::Private ||
        uniformity.isUniform(result))
      continue;
    Contraction contraction{op};
    std::string why = decide(contraction, sharers);
    if (why.empty()) {
      kept.push_back(std::move(contraction));
      continue;
    }
    recordRemark(RemarkId::KeepAccumulators_NotKept, op)
        << "result that stays in memory while it is added to"
        << remark::reason("{0}", why);
  }
  for (Contraction &contraction : kept)
    keep(contraction);
}

void keepAccumulators(Operation *root, bool assumeDistinctArguments) {
  AccumulatorKeeper(root, assumeDistinctArguments).run();
}

namespace {

struct KeepAccumulatorsPass
    : impl::KeepAccumulatorsPassBase<KeepAccumulatorsPass> {
  using KeepAccumulatorsPassBase::KeepAccumulatorsPassBase;

  void runOnOperation() override {
    keepAccumulators(getOperation(), assumeDistinctArguments);
  }
};

} // namespace

} // namespace mlir::workgroup
