//===- ProtocolStreams.h - Threads that take the same path ------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The threads of a kernel, those that do the same together, with what they do.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_PROTOCOL_PROTOCOLSTREAMS_H
#define WORKGROUP_LIB_ANALYSIS_PROTOCOL_PROTOCOLSTREAMS_H

#include "Analysis/Program/KernelLoops.h"
#include "ProtocolEvents.h"
#include "ProtocolTargets.h"

namespace mlir::workgroup {

/// Follows the threads of `scope` if lane `elected` of each warp is the elected
/// one; nothing if some threads cannot be followed. With `areRepeated`, loops
/// that are not followed to their end have to repeat what is followed. With
/// `goesOn`, loops in such loops are taken to go on.
std::optional<std::vector<ProtocolStream>>
makeProtocolStreams(Operation *scope, const ProtocolTargets &targets,
                    const KernelLoops &loops, int64_t elected, bool areRepeated,
                    bool goesOn);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_PROTOCOL_PROTOCOLSTREAMS_H
