//===- MBarriers.cpp - Who uses which mbarrier ----------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MBarriers.h"
#include "Analysis/Program/OpEffects.h"
#include "Analysis/Protocol/ProtocolTimeline.h"
#include "Records.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "workgroup/Support/Kernel.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::workgroup {

namespace {

/// Makes the records of a module's mbarriers.
class MBarrierDescriber {
public:
  MBarrierDescriber(const DenseMap<Operation *, int64_t> &operations,
                    std::vector<SyncOperationRecord> &records)
      : operations(operations), records(records) {}

  /// False if there are none.
  bool addGroups(ModuleOp module);
  void addUses(ModuleOp module);
  std::vector<MBarriersRecord> take() { return std::move(groups); }

private:
  void addUse(const ProtocolUse &use);
  void nameEmpty(Operation *kernel);

  const DenseMap<Operation *, int64_t> &operations;
  std::vector<SyncOperationRecord> &records;
  std::vector<MBarriersRecord> groups;
  /// Of each group, its kernel.
  std::vector<Operation *> kernels;
  /// Of each group, the threads that wait, and those that arrive or copy.
  std::vector<DenseSet<int64_t>> waiting, arriving;
};

} // namespace

/// How many arrivals end a phase of all `barriers`, if that is known.
static std::optional<int64_t>
getArrivals(TypedValue<nvgpu::MBarrierGroupType> barriers) {
  std::optional<int64_t> arrivals;
  for (Operation *user : barriers.getUsers()) {
    auto init = dyn_cast<nvgpu::MBarrierInitOp>(user);
    if (!init)
      continue;
    std::optional<int64_t> count = getConstantIntValue(init.getCount());
    if (!count || arrivals.value_or(*count) != *count)
      return std::nullopt;
    arrivals = count;
  }
  return arrivals;
}

bool MBarrierDescriber::addGroups(ModuleOp module) {
  module.walk<WalkOrder::PreOrder>([&](nvgpu::MBarrierCreateOp create) {
    MBarriersRecord &group = groups.emplace_back();
    group.at = describePlace(create);
    kernels.push_back(getExecutionScope(create));
    group.slots = create.getBarriers().getType().getNumBarriers();
    group.arrivals = getArrivals(create.getBarriers());
    for (Operation *user : create->getUsers()) {
      auto it = operations.find(user);
      if (it == operations.end())
        continue;
      SyncOperationRecord &record = records[it->second];
      record.mbarriers = groups.size() - 1;
      group.kernel = record.kernel;
      if (isa<nvgpu::TmaAsyncLoadOp>(user))
        group.purpose = "full";
    }
  });
  return !groups.empty();
}

/// The threads with these ids, which are in order.
static std::vector<ThreadRangeRecord> describeThreads(ArrayRef<int64_t> ids) {
  std::vector<ThreadRangeRecord> ranges;
  for (size_t first = 0, last = 0; first < ids.size(); first = last + 1) {
    last = first;
    int64_t step = first + 1 < ids.size() ? ids[first + 1] - ids[first] : 1;
    while (last + 1 < ids.size() && ids[last + 1] - ids[last] == step)
      ++last;
    ranges.push_back({ids[first], ids[last], first == last ? 1 : step});
  }
  return ranges;
}

void MBarrierDescriber::addUse(const ProtocolUse &use) {
  int64_t operation = operations.lookup(use.op);
  int64_t number = *records[operation].mbarriers;
  bool isWait = getOpKind(use.op) == OpKind::MBarrierWait;
  (isWait ? waiting : arriving)[number].insert_range(use.threads);
  MBarrierUseRecord &record = groups[number].uses.emplace_back();
  record.operation = operation;
  record.threads = describeThreads(use.threads);
  for (const ProtocolStep &step : use.steps)
    record.steps.push_back({{step.iterations.begin(), step.iterations.end()},
                            step.slot,
                            step.phase,
                            step.parity,
                            step.bytes});
}

/// Why the threads of `kernel` are not followed.
static std::string getMissingReason(Operation *kernel) {
  return getBlockShape(kernel).getNumThreads()
             ? "the threads of this kernel are not followed to their mbarriers"
             : "only the launch knows the size of a block";
}

void MBarrierDescriber::addUses(ModuleOp module) {
  waiting.resize(groups.size());
  arriving.resize(groups.size());
  ArgumentAliases arguments(module, /*areDistinct=*/true);
  UniformityAnalysis uniformity(module, UniformityUnit::Block, &arguments);
  llvm::SetVector<Operation *> scopes(kernels.begin(), kernels.end());
  for (Operation *kernel : scopes) {
    ThreadAccesses accesses(kernel, uniformity, arguments);
    auto uses = findProtocolUses(kernel, accesses, KernelLoops(kernel));
    if (uses)
      llvm::for_each(*uses, [&](const ProtocolUse &use) { addUse(use); });
    for (auto [group, of] : llvm::zip_equal(groups, kernels))
      if (of == kernel && !uses)
        group.missing = getMissingReason(kernel);
    nameEmpty(kernel);
  }
}

/// Names those of `kernel` `empty` that threads wait for which arrive at full
/// ones.
void MBarrierDescriber::nameEmpty(Operation *kernel) {
  DenseSet<int64_t> filling;
  for (auto [group, of, threads] : llvm::zip_equal(groups, kernels, arriving))
    if (of == kernel && group.purpose == "full")
      filling.insert_range(threads);
  for (auto [group, of, threads] : llvm::zip_equal(groups, kernels, waiting)) {
    if (of != kernel || group.purpose == "full")
      continue;
    bool isEmpty = !threads.empty() && llvm::all_of(threads, [&](int64_t id) {
      return filling.contains(id);
    });
    group.purpose = isEmpty ? "empty" : "other";
  }
}

std::vector<MBarriersRecord>
describeMBarriers(ModuleOp module,
                  const DenseMap<Operation *, int64_t> &operations,
                  std::vector<SyncOperationRecord> &records) {
  MBarrierDescriber describer(operations, records);
  if (!describer.addGroups(module))
    return {};
  describer.addUses(module);
  return describer.take();
}

} // namespace mlir::workgroup
