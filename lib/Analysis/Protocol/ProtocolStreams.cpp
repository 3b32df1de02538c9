//===- ProtocolStreams.cpp - Threads that take the same path --------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProtocolStreams.h"
#include "ProtocolPeriods.h"
#include "ProtocolWalk.h"
#include "workgroup/Support/Kernel.h"
#include "llvm/ADT/Sequence.h"
#include <map>

namespace mlir::workgroup {

/// Threads that go more different ways are not followed.
static constexpr size_t kMaxStreams = 24;

std::optional<std::vector<ProtocolStream>>
makeProtocolStreams(Operation *scope, const ProtocolTargets &targets,
                    const KernelLoops &loops, int64_t elected, bool areRepeated,
                    bool goesOn) {
  std::vector<ProtocolStream> streams;
  int64_t numThreads = *getBlockShape(scope).getNumThreads();
  int64_t period = targets.getPeriod(), numTurns = 6 * period + 4;
  std::vector<SmallVector<int64_t, 0>> classes;
  llvm::append_range(classes.emplace_back(), llvm::seq(numThreads));
  for (size_t next = 0; next < classes.size(); ++next) {
    if (classes.size() > kMaxStreams)
      return std::nullopt;
    SmallVector<int64_t, 0> threads = classes[next];
    ProtocolWalk walk(scope, targets, threads, numTurns, elected, goesOn);
    if (walk.walk()) {
      if (areRepeated && !findPeriod(walk, loops, scope, period))
        return std::nullopt;
      streams.push_back(std::move(walk.getStream()));
      continue;
    }
    if (walk.getSplit().empty())
      return std::nullopt;
    std::map<int64_t, SmallVector<int64_t, 0>> parts;
    for (auto [thread, value] : llvm::zip_equal(threads, walk.getSplit()))
      parts[value].push_back(thread);
    for (auto &[value, part] : parts)
      classes.push_back(std::move(part));
  }
  return streams;
}

} // namespace mlir::workgroup
