//===- ProtocolTrips.h - Loops that wait for each other -------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Threads that wait for each other in loops of their own must go through as
// many iterations: one that leaves its loop before leaves the others waiting.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_PROTOCOL_PROTOCOLTRIPS_H
#define WORKGROUP_LIB_ANALYSIS_PROTOCOL_PROTOCOLTRIPS_H

#include "ProtocolFaults.h"
#include "workgroup/Analysis/Uniformity.h"

namespace mlir::workgroup {

/// Adds that loops may leave each other waiting: they may have different
/// numbers of iterations, or one waits for what another one does an iteration
/// later.
void addProtocolTrips(ArrayRef<ProtocolStream> streams, const ProtocolRun &run,
                      const UniformityAnalysis &uniformity,
                      std::vector<ProtocolFinding> &faults);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_PROTOCOL_PROTOCOLTRIPS_H
