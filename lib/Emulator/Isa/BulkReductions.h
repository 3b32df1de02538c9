//===- BulkReductions.h - Stores that reduce ----------------- -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `cp.reduce.async.bulk.tensor` (PTX ISA): each element in global memory
// becomes what the reduction makes of it and of that of the tile, at once.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_ISA_BULKREDUCTIONS_H
#define WORKGROUP_LIB_EMULATOR_ISA_BULKREDUCTIONS_H

#include "AsyncOps.h"
#include <cstdint>

namespace mlir::workgroup::emulator {

/// The types of elements that there are reductions of.
enum class BulkElement : uint8_t { F16, BF16, F32, F64, S32, U32, S64, U64 };

/// The type of elements that MLIR calls `name`.
std::optional<BulkElement> parseElement(llvm::StringRef name);

bool canReduce(BulkElement element, BulkReduction reduction);

/// Reduces `count` elements, each at once for all threads of the host.
void reduce(BulkElement element, BulkReduction reduction, uint8_t *target,
            const uint8_t *source, uint64_t count);

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_ISA_BULKREDUCTIONS_H
