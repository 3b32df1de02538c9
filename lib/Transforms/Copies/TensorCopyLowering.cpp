//===- TensorCopyLowering.cpp - Runs of copies by TMA ---------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorCopyLowering.h"
#include "RowAccesses.h"
#include "Support/Remarks.h"
#include "TensorTransfers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "workgroup/Support/MemorySpace.h"

namespace mlir::workgroup {

/// With `auto`, less than this is not worth the way to the tensor memory
/// accelerator and back.
static constexpr int64_t kMinAutoBytes = 4096;

//===----------------------------------------------------------------------===//
// Decide
//===----------------------------------------------------------------------===//

/// Why TMA would not be a gain for `copy`, which it can do; empty if it would.
std::string TensorCopyLowering::getDrawback(const Copy &copy) {
  if (copy.tensor->bytes < kMinAutoBytes)
    return "it would copy " + std::to_string(copy.tensor->bytes) +
           " bytes, which is not worth it";
  if (int64_t count = copy.tensor->getNumLoads(); count > 1)
    return "it would take " + std::to_string(count) +
           " loads, which is not worth it";
  if (!warps)
    warps = std::make_unique<UniformityAnalysis>(root, UniformityUnit::Warp);
  if (!isAccessedAlongRows(getRootBuffer(copy.target), *warps))
    return "it could not pad rows against bank conflicts of accesses across "
           "them";
  return "";
}

/// Decides about `copy`; returns why TMA does not do it.
std::string TensorCopyLowering::getObstacle(Copy &copy,
                                            AlignmentAnalysis &alignment) {
  if (copy.payload)
    return "elements are converted";
  if (StringRef why = getPhaseObstacle(copy.op); !why.empty())
    return why.str();
  // A barrier lets the other threads see it, but not the asynchronous proxy.
  if (Operation *writer =
          writes.findWriterBefore(copy.op, copy.source, aliases))
    return getProxyObstacle(writer);
  std::string why;
  copy.tensor = matchTensorCopy(copy.source, copy.target, maps, alignment, why);
  if (!copy.tensor || options.strategy == CopyStrategy::TMA)
    return why;
  why = getDrawback(copy);
  if (!why.empty())
    copy.tensor.reset();
  return why;
}

void TensorCopyLowering::decide(MutableArrayRef<Copy> copies) {
  AlignmentAnalysis alignment(
      {options.assumeAlignment, kTensorCopyAlignment, root});
  for (Copy &copy : copies) {
    if (!copy.mayBeTensor)
      continue;
    std::string why = getObstacle(copy, alignment);
    if (!copy.tensor)
      recordRemark(RemarkId::LowerCopies_NotTMA, copy.op)
          << remark::reason("TMA not used: {0}", why);
  }
}

//===----------------------------------------------------------------------===//
// Apply
//===----------------------------------------------------------------------===//

void TensorCopyLowering::addRun(ArrayRef<Copy> run, RewriterBase &rewriter) {
  Operation *first = run.front().op;
  bool isOrdered = orderBeforeTensorCopy(rewriter, first);
  auto [it, isNew] =
      kernels.try_emplace(getExecutionScope(first), first->getLoc());
  ++it->second.count;
  it->second.areOrdered &= isOrdered;
}

void TensorCopyLowering::createBarriers(RewriterBase &rewriter) {
  for (auto &[kernel, runs] : kernels)
    runs.group = createMBarriers(rewriter, runs.loc, kernel, runs.count,
                                 !runs.areOrdered);
}

void TensorCopyLowering::issue(ArrayRef<Copy> run, RewriterBase &rewriter) {
  const Copy *last = nullptr;
  int64_t bytes = 0;
  for (const Copy &copy : run)
    if (copy.tensor) {
      last = &copy;
      bytes += copy.tensor->bytes;
      raiseTensorBuffer(copy.target, root);
      sources.push_back(copy.source);
    }
  Location loc = last->op->getLoc();
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(last->op);
  KernelRuns &runs = kernels.find(getExecutionScope(last->op))->second;
  current = {runs.group,
             arith::ConstantIndexOp::create(rewriter, loc, runs.issued++)};
  enterElectedThread(rewriter, loc);
  Value expected = arith::ConstantIndexOp::create(rewriter, loc, bytes);
  nvgpu::MBarrierArriveExpectTxOp::create(rewriter, loc, current.group,
                                          expected, current.index,
                                          /*predicate=*/Value());
  for (const Copy &copy : run)
    if (copy.tensor)
      emitTensorLoads(rewriter, copy.op->getLoc(), *copy.tensor, copy.target,
                      current, maps);
}

void TensorCopyLowering::wait(Location loc, RewriterBase &rewriter) {
  waits.push_back(emitWait(rewriter, loc, current));
}

/// Kernels would be passed what only such views use.
void TensorCopyLowering::eraseDeadViews(RewriterBase &rewriter) {
  llvm::SmallSetVector<Operation *, 8> views;
  auto add = [&](Value memref) {
    Operation *op = memref.getDefiningOp();
    if (op && getViewSource(op) && isInDeviceCode(op))
      views.insert(op);
  };
  llvm::for_each(sources, add);
  while (!views.empty()) {
    Operation *view = views.pop_back_val();
    if (!isOpTriviallyDead(view))
      continue;
    Value source = getViewSource(view);
    rewriter.eraseOp(view);
    add(source);
  }
}

void TensorCopyLowering::finish(RewriterBase &rewriter) {
  eraseDeadViews(rewriter);
  for (nvgpu::MBarrierTryWaitParityOp wait : waits)
    advancePhase(rewriter, wait);
}

} // namespace mlir::workgroup
