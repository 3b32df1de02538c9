//===- DistributeLoopsPass.cpp - Options of loop distribution -------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pass around loop distribution: it reads strategies, levels and arguments
// from text, refuses options that contradict each other, and hands them on. The
// work is in DistributeLoops.cpp.
//
//===----------------------------------------------------------------------===//

#include "ParallelLoops.h"
#include "mlir/Pass/Pass.h"
#include "workgroup/Transforms/Loops.h"
#include "llvm/ADT/StringSwitch.h"
#include <limits>

namespace mlir::workgroup {

#define GEN_PASS_DEF_DISTRIBUTELOOPSPASS
#include "workgroup/Transforms/Loops.h.inc"

namespace {

std::optional<DistributionStrategy> parseStrategy(StringRef name) {
  using Result = std::optional<DistributionStrategy>;
  return llvm::StringSwitch<Result>(name)
      .Case("cyclic", DistributionStrategy::Cyclic)
      .Case("guarded", DistributionStrategy::Guarded)
      .Case("exact", DistributionStrategy::Exact)
      .Case("block", DistributionStrategy::Block)
      .Case("block-cyclic", DistributionStrategy::BlockCyclic)
      .Default(std::nullopt);
}

struct DistributeLoopsPass final
    : impl::DistributeLoopsPassBase<DistributeLoopsPass> {
  using DistributeLoopsPassBase::DistributeLoopsPassBase;

  LogicalResult initializeOptions(
      StringRef text,
      function_ref<LogicalResult(const Twine &)> onError) override {
    if (failed(DistributeLoopsPassBase::initializeOptions(text, onError)))
      return failure();
    for (const std::string &name : strategies)
      if (!parseStrategy(name))
        return onError("unknown strategy '" + name +
                       "'; use cyclic, guarded, exact, block or block-cyclic");
    for (const std::string &name : levels)
      if (!parseLevel(name))
        return onError("unknown level '" + name +
                       "'; use blocks, warps, lanes, threads or arguments");
    if (chunk < 1 || chunk > std::numeric_limits<int32_t>::max())
      return onError("chunk is " + Twine(chunk) +
                     "; it has to be at least 1, and less than 2^31");
    return checkArguments(onError);
  }

  LogicalResult
  checkArguments(function_ref<LogicalResult(const Twine &)> onError) {
    bool isUsed = llvm::is_contained(levels, "arguments");
    if (!isUsed && !(ids.empty() && counts.empty()))
      return onError("options ids and counts are of the level arguments, which "
                     "levels does not name");
    if (isUsed && (ids.empty() || ids.size() != counts.size()))
      return onError("the level arguments needs as many ids as counts, and one "
                     "of them at least");
    for (auto [number, id] : llvm::enumerate(ids))
      if (llvm::is_contained(ArrayRef<unsigned>(ids).take_front(number), id))
        return onError("ids names argument " + Twine(id) + " twice");
    return success();
  }

  void runOnOperation() override {
    DistributeLoopsOptions options;
    for (const std::string &name : strategies)
      options.strategies.push_back(*parseStrategy(name));
    llvm::append_range(options.levels, levels);
    options.ids.assign(ids.begin(), ids.end());
    options.counts.assign(counts.begin(), counts.end());
    options.chunk = chunk;
    if (failed(distributeLoops(getOperation(), options)))
      signalPassFailure();
  }
};

} // namespace

} // namespace mlir::workgroup
