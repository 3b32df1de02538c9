//===- Explain.cpp - What orders threads, and why -------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Explain.h"
#include "Analysis/Program/OpEffects.h"
#include "MBarriers.h"
#include "Records.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Transforms/Sync.h"

namespace mlir::workgroup {

/// The most barriers of a kernel that are left out for a trial.
static constexpr unsigned kMaxTrials = 16;

/// What an operation of this kind is to other threads; empty if nothing.
static StringRef getRole(OpKind kind) {
  switch (kind) {
  case OpKind::Barrier:
  case OpKind::BarrierArrival:
    return "barrier";
  case OpKind::WarpBarrier:
    return "warp_barrier";
  case OpKind::BlockExchange:
    return "exchange";
  case OpKind::AsyncCopy:
    return "copy";
  case OpKind::BulkLoad:
    return "bulk_load";
  case OpKind::BulkStore:
    return "bulk_store";
  case OpKind::GroupCommit:
    return "commit";
  case OpKind::GroupWait:
    return "wait";
  case OpKind::MBarrierInit:
    return "mbarrier_init";
  case OpKind::MBarrierArrival:
    return "mbarrier_arrive";
  case OpKind::MBarrierWait:
    return "mbarrier_wait";
  case OpKind::ProxyFence:
    return "proxy_fence";
  case OpKind::Fence:
  case OpKind::LocalFence:
    return "fence";
  default:
    return "";
  }
}

namespace {

/// The kernels of a module, in order.
struct KernelNumbers {
  explicit KernelNumbers(ModuleOp module) {
    for (auto kernels : module.getOps<gpu::GPUModuleOp>())
      for (auto function : kernels.getOps<gpu::GPUFuncOp>())
        if (function.isKernel())
          numbers.try_emplace(function, numbers.size());
  }

  std::optional<int64_t> get(Operation *op) const {
    auto it = numbers.find(getExecutionScope(op));
    return it == numbers.end() ? std::nullopt
                               : std::optional<int64_t>(it->second);
  }

private:
  DenseMap<Operation *, int64_t> numbers;
};

} // namespace

/// Fills in what is around `op`.
static void describeLoops(Operation *op, SyncOperationRecord &record) {
  for (Operation *parent = op->getParentOp(); !isa<gpu::GPUModuleOp>(parent);
       parent = parent->getParentOp()) {
    record.isConditional |= isa<scf::IfOp, scf::IndexSwitchOp>(parent);
    auto loop = dyn_cast<LoopLikeOpInterface>(parent);
    if (!loop)
      continue;
    LoopRecord &described = record.loops.emplace_back();
    described.line = getSourceLocation(parent->getLoc()).line;
    if (std::optional<APInt> count = loop.getStaticTripCount();
        count && count->isIntN(63))
      described.iterations = count->getZExtValue();
  }
  std::reverse(record.loops.begin(), record.loops.end());
}

/// Collects what orders threads, with the number of the record of each.
static std::vector<SyncOperationRecord>
collectOperations(ModuleOp module, const KernelNumbers &numbers,
                  DenseMap<Operation *, int64_t> &operations) {
  std::vector<SyncOperationRecord> records;
  for (auto kernels : module.getOps<gpu::GPUModuleOp>())
    kernels->walk<WalkOrder::PreOrder>([&](Operation *op) {
      StringRef role = getRole(getOpKind(op));
      if (role.empty())
        return;
      operations[op] = records.size();
      SyncOperationRecord &record = records.emplace_back();
      record.kernel = numbers.get(op);
      record.role = role.str();
      record.at = describePlace(op);
      describeLoops(op, record);
      std::optional<AsyncGroup> group = getAsyncGroup(op);
      if (group && !group->isCommit)
        record.numPending = group->numPending;
    });
  return records;
}

static BarrierNeedRecord describeNeed(const BarrierNeed &need,
                                      const KernelNumbers &numbers,
                                      ArrayRef<BarrierReport> inserted) {
  Operation *op = need.barrier;
  BarrierNeedRecord record;
  record.kernel = numbers.get(op);
  record.at = describePlace(op);
  auto *report = llvm::find_if(inserted, [&](const BarrierReport &report) {
    return report.barrier == op;
  });
  if (report != inserted.end())
    record.inserted = report - inserted.begin();
  SyncReport found;
  found.location = op->getLoc();
  found.verdict = need.verdict;
  found.findings = need.findings;
  SyncRecord described = describeSync(found);
  if (need.isTried)
    record.verdict = described.verdict;
  record.findings = std::move(described.findings);
  return record;
}

ExplanationRecord explainKernels(ModuleOp module,
                                 ArrayRef<BarrierReport> inserted) {
  ExplanationRecord record;
  KernelNumbers numbers(module);
  DenseMap<Operation *, int64_t> operations;
  record.operations = collectOperations(module, numbers, operations);
  record.mbarriers = describeMBarriers(module, operations, record.operations);
  SyncOptions options;
  options.assumeDistinctArguments = true; // as when they are compiled
  std::vector<SyncReport> reports;
  (void)verifySync(module, options, &reports);
  for (const SyncReport &report : reports)
    record.verdicts.push_back(describeSync(report));
  for (const BarrierNeed &need :
       findBarrierNeeds(module, options, reports, kMaxTrials))
    record.needs.push_back(describeNeed(need, numbers, inserted));
  return record;
}

std::vector<SyncRecord> proveKernels(ModuleOp module,
                                     bool assumeDistinctArguments) {
  std::vector<SyncReport> reports;
  SyncOptions options;
  options.assumeDistinctArguments = assumeDistinctArguments;
  (void)verifySync(module, options, &reports);
  std::vector<SyncRecord> records;
  for (const SyncReport &report : reports)
    records.push_back(describeSync(report));
  return records;
}

} // namespace mlir::workgroup
