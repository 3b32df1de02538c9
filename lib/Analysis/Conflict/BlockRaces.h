//===- BlockRaces.h - Accesses of different blocks --------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Blocks of a grid run in any order and do not wait for each other, so that no
// barrier can help where threads of two of them touch the same byte of global
// memory, and one of them writes.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_CONFLICT_BLOCKRACES_H
#define WORKGROUP_LIB_ANALYSIS_CONFLICT_BLOCKRACES_H

#include "ThreadConflicts.h"

namespace mlir::workgroup {

/// Two accesses, by number, that threads of different blocks may do to the same
/// bytes.
struct BlockRace {
  unsigned first = 0, second = 0;
  Conflict conflict;
};

/// The races between blocks of the kernel `scope`: of each pair of operations
/// one, of what is certain if there is any. Accesses that differ by constants
/// only are asked for once for each difference, and there is a limit on what is
/// asked: beyond it, races are possible.
std::vector<BlockRace> findBlockRaces(Operation *scope,
                                      const ThreadAccesses &accesses,
                                      ThreadConflicts &conflicts);

/// How many pairs of operations of the kernel `scope`, as it is now, may race
/// between blocks.
size_t countBlockRaces(Operation *scope, const ArgumentAliases &arguments);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_CONFLICT_BLOCKRACES_H
