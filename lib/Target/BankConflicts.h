//===- BankConflicts.h - What shared memory accesses cost -------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shared memory has 32 banks of four bytes; a pass over them, a wavefront,
// serves one word of each. This is the one model of it: the emulator counts by
// it what happened, the compiler what would happen. It knows nothing of MLIR.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TARGET_BANKCONFLICTS_H
#define WORKGROUP_LIB_TARGET_BANKCONFLICTS_H

#include <cstdint>

namespace mlir::workgroup {

/// The banks of workgroup memory, and the bytes that each serves at once.
constexpr unsigned kBanks = 32;
constexpr int64_t kBankBytes = 4;

/// The bytes that one pass over the banks can serve: what is farther apart by a
/// multiple of it is in the same bank.
constexpr int64_t kPassBytes = kBanks * kBankBytes;

/// The addresses of the lanes that make one request; `lanes` tells which.
struct WarpRequest {
  static constexpr unsigned kLanes = 32;

  uint64_t addresses[kLanes] = {};
  uint32_t lanes = 0;
};

/// How many distinct pieces of memory, of `unit` bytes each, a request for
/// `bytes` bytes a lane touches.
unsigned countUnits(const WarpRequest &request, uint64_t bytes, uint64_t unit);

/// Passes over the 32 banks that a request for `bytes` bytes a lane takes.
/// Accesses of 8 bytes go in two halves of the warp, of 16 bytes in four
/// quarters; neighbouring parts are one if every lane in them reads what its
/// neighbour, or every second neighbour, reads. More than 16 bytes take several
/// instructions.
unsigned countWavefronts(const WarpRequest &request, uint64_t bytes);

/// The fewest passes that could serve the distinct words of a request.
unsigned countIdealWavefronts(const WarpRequest &request, uint64_t bytes);

/// The passes that a request takes if no two words of a part are in one bank,
/// wherever they lie.
unsigned countConflictFreeWavefronts(const WarpRequest &request,
                                     uint64_t bytes);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TARGET_BANKCONFLICTS_H
