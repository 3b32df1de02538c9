//===- Execute.h - Run a program on all its blocks ------------ -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One launch of a program, from a request to what is left of it.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_RUN_EXECUTE_H
#define WORKGROUP_LIB_EMULATOR_RUN_EXECUTE_H

#include "Emulator/State/Findings.h"
#include "Emulator/Translate/Program.h"

namespace mlir::workgroup::emulator {

/// What is left of a launch.
struct Execution {
  FindingTable findings;
  uint64_t blocksRun = 0;
  /// Iterations of loops of the thread that made most of them, or a few less.
  uint64_t mostIterations = 0;
  std::string output;
  /// Per site, whether any thread executed it.
  std::vector<bool> reached;
  std::optional<LaunchStatistics> statistics;
  std::optional<std::string> crash;
};

/// Runs `program` as `request` says. `blocks`, if not empty, are the only ones
/// to run.
Execution execute(const Program &program, const LaunchRequest &request,
                  const EmulatorOptions &options, LaunchProgress &progress,
                  std::vector<uint64_t> blocks = {});

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_RUN_EXECUTE_H
