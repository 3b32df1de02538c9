//===- ProtocolFaults.h - What is wrong with phases, in words ---*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Says what a run of threads has found: who waits for ever and what is missing,
// arrivals and bytes that are too many, waits that may be for another phase.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_PROTOCOL_PROTOCOLFAULTS_H
#define WORKGROUP_LIB_ANALYSIS_PROTOCOL_PROTOCOLFAULTS_H

#include "ProtocolRun.h"

namespace mlir::workgroup {

/// What is wrong with phases, in words.
struct ProtocolFinding {
  Operation *op = nullptr;
  std::string message;
  bool isCertain = false;
  /// Somebody waits for ever, or may.
  bool isStuck = false;
};

/// Adds what `run` has found to `faults`. That somebody waits for ever is
/// certain if all that threads do is followed (`isExact`).
void addProtocolFaults(ArrayRef<ProtocolStream> streams, const ProtocolRun &run,
                       bool isExact, std::vector<ProtocolFinding> &faults);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_PROTOCOL_PROTOCOLFAULTS_H
