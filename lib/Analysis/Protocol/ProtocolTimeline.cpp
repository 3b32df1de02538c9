//===- ProtocolTimeline.cpp - Who uses which mbarrier when ----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProtocolTimeline.h"
#include "ProtocolRun.h"
#include "ProtocolStreams.h"
#include "workgroup/Support/Kernel.h"

namespace mlir::workgroup {

/// The mbarriers that `op` is for, as it names them.
static TypedValue<nvgpu::MBarrierGroupType> getGroup(Operation *op) {
  for (Value operand : op->getOperands())
    if (auto group = dyn_cast<TypedValue<nvgpu::MBarrierGroupType>>(operand))
      return group;
  return {};
}

static bool isUse(const ProtocolEvent &event) {
  return event.kind == ProtocolEvent::Wait ||
         event.kind == ProtocolEvent::Arrive ||
         event.kind == ProtocolEvent::Copy;
}

namespace {

/// Collects the uses of all streams.
class TimelineBuilder {
public:
  TimelineBuilder(const ProtocolTargets &targets, const ProtocolRun &run,
                  ArrayRef<ProtocolStream> streams)
      : targets(targets), run(run), streams(streams),
        isFixed(run.isDone() && run.getFaults().empty()) {}

  std::vector<ProtocolUse> build() {
    for (auto [number, agent] : llvm::enumerate(run.getAgents()))
      if (added.insert(agent.stream).second)
        add(number, streams[agent.stream]);
    for (ProtocolUse &use : uses)
      llvm::sort(use.threads);
    return std::move(uses);
  }

private:
  void add(unsigned agent, const ProtocolStream &stream);
  ProtocolStep makeStep(unsigned agent, const ProtocolStream &stream,
                        size_t number) const;

  const ProtocolTargets &targets;
  const ProtocolRun &run;
  ArrayRef<ProtocolStream> streams;
  /// True if no order of threads changes which phase anything is for.
  bool isFixed;
  DenseSet<unsigned> added;
  std::vector<ProtocolUse> uses;
};

} // namespace

/// What event `number` of `stream` is for, as `agent` does it.
ProtocolStep TimelineBuilder::makeStep(unsigned agent,
                                       const ProtocolStream &stream,
                                       size_t number) const {
  const ProtocolEvent &event = stream.events[number];
  ProtocolStep step;
  for (const ProtocolIteration &around : stream.iterations[event.iterations])
    step.iterations.push_back(around.number);
  step.slot = event.barrier - *targets.getBarrier(getGroup(event.op), 0);
  step.bytes = event.bytes;
  step.parity = event.parity;
  if (!isFixed)
    return step;
  int64_t ended = run.getClock(agent, number).getEnded(event.barrier);
  bool isPassed =
      event.kind == ProtocolEvent::Wait && (ended & 1) != int64_t(event.parity);
  step.phase = isPassed ? ended - 1 : ended;
  return step;
}

/// Adds what `stream` does, for two rounds of each group and a little more.
void TimelineBuilder::add(unsigned agent, const ProtocolStream &stream) {
  llvm::MapVector<Operation *, std::vector<ProtocolStep>> found;
  for (auto [number, event] : llvm::enumerate(stream.events)) {
    if (!isUse(event))
      continue;
    std::vector<ProtocolStep> &steps = found[event.op];
    size_t limit = 2 * getGroup(event.op).getType().getNumBarriers() + 2;
    if (steps.size() < limit)
      steps.push_back(makeStep(agent, stream, number));
  }
  for (auto &[op, steps] : found) {
    auto like = llvm::find_if(uses, [&](const ProtocolUse &use) {
      return use.op == op && use.steps == steps;
    });
    if (like == uses.end())
      like = uses.insert(uses.end(), {op, {}, std::move(steps)});
    like->threads.append(stream.threads);
  }
}

std::optional<std::vector<ProtocolUse>>
findProtocolUses(Operation *scope, const ThreadAccesses &accesses,
                 const KernelLoops &loops) {
  ProtocolTargets targets(scope, accesses);
  if (!targets.areFollowed())
    return std::nullopt;
  auto streams =
      makeProtocolStreams(scope, targets, loops, /*elected=*/0,
                          /*areRepeated=*/false, targets.hasInnerSync(scope));
  if (!streams)
    return std::nullopt;
  ProtocolRun run(*streams, targets.getNumBarriers(),
                  *getBlockShape(scope).getNumThreads(),
                  ProtocolRun::FirstFirst);
  run.run();
  return TimelineBuilder(targets, run, *streams).build();
}

} // namespace mlir::workgroup
