//===- ProtocolPlaces.h - What threads touch by an access -------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The bytes that each thread touches by an access of a protocol: of its own
// number, where that is known, and of all that it may be, where it is not.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_PROTOCOL_PROTOCOLPLACES_H
#define WORKGROUP_LIB_ANALYSIS_PROTOCOL_PROTOCOLPLACES_H

#include "Analysis/Index/ThreadEvaluator.h"
#include "ProtocolEvents.h"
#include "workgroup/Analysis/ThreadAccess.h"

namespace mlir::workgroup {

/// What threads touch by an access, as far as `evaluate` tells; `ranges` has
/// the numbers that other values may be.
ProtocolPlace
getProtocolPlace(const ThreadAccess &access, size_t numThreads,
                 llvm::function_ref<const ThreadValues *(Value)> evaluate,
                 const DenseMap<Value, std::pair<int64_t, int64_t>> &ranges);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_PROTOCOL_PROTOCOLPLACES_H
