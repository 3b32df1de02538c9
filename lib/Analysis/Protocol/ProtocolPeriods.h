//===- ProtocolPeriods.h - What goes on as it has begun ---------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loop is followed for some iterations only. What holds in those holds in all
// if it repeats: if slots, parities and paths are the same again after a number
// of iterations, and what each thread knows of others is the same again, as
// many iterations later. Then so is all that follows, by induction.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_PROTOCOL_PROTOCOLPERIODS_H
#define WORKGROUP_LIB_ANALYSIS_PROTOCOL_PROTOCOLPERIODS_H

#include "Analysis/Program/KernelLoops.h"
#include "ProtocolRun.h"
#include "ProtocolWalk.h"

namespace mlir::workgroup {

/// Finds after how many iterations the endless loop of `walk` repeats itself;
/// false if that is not known.
bool findPeriod(ProtocolWalk &walk, const KernelLoops &loops, Operation *scope,
                int64_t period);

/// True if what threads know of each other repeats in the last iterations of
/// `run`, so that it goes on like that.
bool isSettled(ArrayRef<ProtocolStream> streams, const ProtocolRun &run);

/// True if what comes behind loops that go on changes no phase that others may
/// still wait for in theirs.
bool areBehindHarmless(ArrayRef<ProtocolStream> streams,
                       const ProtocolRun &run);

/// True if nobody waits for what others do in a later iteration than his own.
bool isInStep(ArrayRef<ProtocolStream> streams, const ProtocolRun &run);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_PROTOCOL_PROTOCOLPERIODS_H
