//===- Fixes.h - Barriers that would mend races --------------- -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where a barrier is missing follows from the program: on the way from one
// access of a race to the other, outside of loops that hold but one of them.
// That it helps is tried: the launch is run again with it, on a copy of the
// memory as it was.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_REPORT_FIXES_H
#define WORKGROUP_LIB_EMULATOR_REPORT_FIXES_H

#include "Emulator/Run/Execute.h"
#include "Report.h"
#include <set>

namespace mlir::workgroup::emulator {

/// The bytes of the buffers of a launch.
using Contents = std::vector<std::vector<uint8_t>>;

/// Copies the buffers of `request`; nothing if they are too large.
Contents saveContents(const LaunchRequest &request);

/// All that is needed to run a launch again.
struct FixContext {
  const std::string &bitcode;
  const std::string &name;
  const Program &program;
  const LaunchRequest &request;
  const EmulatorOptions &options;
  /// The buffers as they were before the launch.
  const Contents &before;
  /// The progress of the launch; its stop flag ends the search as well.
  LaunchProgress &progress;
  /// Iterations of loops that a thread may make in a trial.
  uint64_t stepLimit = 0;
  /// The kinds of findings besides races.
  std::set<FindingKind> otherKinds = {};
};

/// Adds to each race the barriers that would mend it: the fewest of those
/// looked at that make the launch clean of races, if there are such.
void findFixes(std::vector<Described> &findings, FixContext context);

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_REPORT_FIXES_H
