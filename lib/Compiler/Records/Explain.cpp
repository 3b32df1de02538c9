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
#include "Support/CrashGuard.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
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
                                      ArrayRef<Operation *> inserted) {
  Operation *op = need.barrier;
  BarrierNeedRecord record;
  record.kernel = numbers.get(op);
  record.at = describePlace(op);
  if (auto *it = llvm::find(inserted, op); it != inserted.end())
    record.inserted = it - inserted.begin();
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

static ExplanationRecord explainKernels(ModuleOp module,
                                        ArrayRef<Operation *> inserted) {
  ExplanationRecord record;
  KernelNumbers numbers(module);
  DenseMap<Operation *, int64_t> operations;
  record.operations = collectOperations(module, numbers, operations);
  record.mbarriers = describeMBarriers(module, operations, record.operations);
  SyncOptions options;
  options.assumeDistinctArguments = true; // as when they are compiled
  SyncExplanation sync = explainSync(module, options, kMaxTrials);
  for (const SyncReport &report : sync.reports)
    record.verdicts.push_back(describeSync(report));
  for (const BarrierNeed &need : sync.needs)
    record.needs.push_back(describeNeed(need, numbers, inserted));
  return record;
}

namespace {

/// A copy of a program as it is at stage GPU.
struct Explained {
  std::shared_ptr<MLIRContext> context;
  OwningOpRef<ModuleOp> module;
  /// The barriers that were inserted, by the numbers of their reports.
  SmallVector<Operation *> inserted;

  ExplanationRecord explain(std::optional<std::string> &crash);
};

} // namespace

ExplanationRecord Explained::explain(std::optional<std::string> &crash) {
  ExplanationRecord record;
  CrashReport report = runGuarded(
      [&] {
        // What is found is told by records, and by nothing else.
        ScopedDiagnosticHandler silence(context.get(),
                                        [](Diagnostic &) { return success(); });
        record = explainKernels(*module, inserted);
      },
      kDeepStackBytes);
  if (!report.hasReturned)
    crash = report.reason.value_or("an analysis received a fatal signal");
  return record;
}

std::function<ExplanationRecord(std::optional<std::string> &)>
explainLater(std::shared_ptr<MLIRContext> context, ModuleOp program,
             ArrayRef<BarrierReport> reports) {
  auto explained = std::make_shared<Explained>();
  explained->context = std::move(context);
  IRMapping mapping;
  explained->module = cast<ModuleOp>(program->clone(mapping));
  for (const BarrierReport &report : reports)
    explained->inserted.push_back(mapping.lookupOrNull(report.barrier));
  return [explained](std::optional<std::string> &crash) {
    return explained->explain(crash);
  };
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
