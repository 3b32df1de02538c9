//===- Statistics.h - What accesses cost ---------------------- -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How well accesses coalesce and use the banks. The k-th accesses of the lanes
// of a warp at a site between two barriers count as one request, as on
// hardware. Of a request to global memory the sectors of 32 bytes are counted,
// of one to workgroup memory the wavefronts, each beside the fewest that its
// bytes need.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_SHADOW_STATISTICS_H
#define WORKGROUP_LIB_EMULATOR_SHADOW_STATISTICS_H

#include "Emulator/State/Tables.h"
#include "Target/BankConflicts.h"
#include "llvm/ADT/ArrayRef.h"
#include <vector>

namespace mlir::workgroup::emulator {

/// The numbers of what blocks executed.
struct BlockCounters {
  uint64_t instructions = 0, barriers = 0, warpOperations = 0;
};

using Request = WarpRequest;

/// Sectors of 32 bytes that a request touches, and the fewest that its distinct
/// bytes could lie in.
unsigned countSectors(const Request &request, uint64_t bytes);
unsigned countDenseSectors(const Request &request, uint64_t bytes);

/// The accesses of the threads of a block since they last met, put together to
/// requests: the k-th times that lanes of a warp come to a site are one. After
/// some thousand times the rest is taken to be like them.
class AccessLog {
public:
  struct Totals {
    uint64_t requests = 0, accesses = 0, wavefronts = 0, idealWavefronts = 0,
             sectors = 0, denseSectors = 0;

    Totals &operator+=(const Totals &other);
    /// Counts one request.
    void add(const Request &request, uint64_t bytes, bool isShared);
    /// As much for `number` accesses of the same kind.
    Totals scaledTo(uint64_t number) const;
  };

  AccessLog(const KernelTables &tables, unsigned numThreads);

  void add(unsigned thread, uint32_t site, uint64_t address);
  /// Counts the requests up to here.
  void flush();

  llvm::ArrayRef<Totals> getTotals() const { return totals; }

private:
  const KernelTables &tables;
  unsigned numThreads, numWarps;
  std::vector<Totals> totals;
  /// Per site: how often each thread came by, and the requests of each warp.
  struct SiteLog {
    std::vector<uint32_t> visits;
    std::vector<std::vector<Request>> requests;
    /// Accesses that are in no request.
    uint64_t skipped = 0;
    bool isTouched = false;
    /// The last request that was looked at, and what it costs: most requests at
    /// a site are like the one before.
    Request sample;
    Totals sampleCost;
  };
  std::vector<SiteLog> sites;
  std::vector<uint32_t> touched;
};

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_SHADOW_STATISTICS_H
