//===- Statistics.cpp - What accesses cost --------------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Statistics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::workgroup::emulator {

/// Requests of a warp at a site that are looked at between two barriers.
static constexpr uint32_t kMaxVisits = 4096;

static constexpr unsigned kSectorBytes = 32;

unsigned countSectors(const Request &request, uint64_t bytes) {
  return countUnits(request, bytes, kSectorBytes);
}

unsigned countDenseSectors(const Request &request, uint64_t bytes) {
  return llvm::divideCeil(countUnits(request, bytes, 1), kSectorBytes);
}

//===----------------------------------------------------------------------===//
// The log
//===----------------------------------------------------------------------===//

AccessLog::Totals &AccessLog::Totals::operator+=(const Totals &other) {
  requests += other.requests;
  accesses += other.accesses;
  wavefronts += other.wavefronts;
  idealWavefronts += other.idealWavefronts;
  sectors += other.sectors;
  denseSectors += other.denseSectors;
  return *this;
}

void AccessLog::Totals::add(const Request &request, uint64_t bytes,
                            bool isShared) {
  ++requests;
  accesses += llvm::popcount(request.lanes);
  if (isShared) {
    wavefronts += countWavefronts(request, bytes);
    idealWavefronts += countIdealWavefronts(request, bytes);
  } else {
    sectors += countSectors(request, bytes);
    denseSectors += countDenseSectors(request, bytes);
  }
}

AccessLog::Totals AccessLog::Totals::scaledTo(uint64_t number) const {
  double factor = accesses ? double(number) / accesses : 0;
  auto scale = [&](uint64_t value) { return uint64_t(value * factor + 0.5); };
  return {scale(requests),        number,         scale(wavefronts),
          scale(idealWavefronts), scale(sectors), scale(denseSectors)};
}

AccessLog::AccessLog(const KernelTables &tables, unsigned numThreads)
    : tables(tables), numThreads(numThreads),
      numWarps(llvm::divideCeil(numThreads, kWarpSize)),
      totals(tables.sites.size()), sites(tables.sites.size()) {}

void AccessLog::add(unsigned thread, uint32_t site, uint64_t address) {
  SiteLog &log = sites[site];
  if (log.visits.empty()) {
    log.visits.resize(numThreads);
    log.requests.resize(numWarps);
  }
  std::vector<Request> &requests = log.requests[thread / kWarpSize];
  uint32_t visit = log.visits[thread]++;
  if (visit == 0)
    touched.push_back(site);
  if (visit >= kMaxVisits) {
    ++log.skipped;
    return;
  }
  if (visit >= requests.size())
    requests.resize(visit + 1);
  requests[visit].addresses[thread % kWarpSize] = address;
  requests[visit].lanes |= 1u << (thread % kWarpSize);
}

void AccessLog::flush() {
  llvm::sort(touched);
  touched.erase(llvm::unique(touched), touched.end());
  for (uint32_t site : touched) {
    uint64_t bytes = tables.sites[site].bytes;
    bool isShared = tables.sites[site].space == Space::Shared;
    SiteLog &log = sites[site];
    Totals part;
    for (std::vector<Request> &requests : log.requests) {
      for (const Request &request : requests)
        if (request.lanes)
          part.add(request, bytes, isShared);
      requests.clear();
    }
    totals[site] += part;
    totals[site] += part.scaledTo(log.skipped);
    log.skipped = 0;
    std::fill(log.visits.begin(), log.visits.end(), 0);
  }
  touched.clear();
}

} // namespace mlir::workgroup::emulator
