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

/// True if `request` is `other` farther on by whole passes over the banks, and
/// so costs the same: a pass has whole sectors.
static bool isShifted(const Request &request, const Request &other) {
  static_assert(kPassBytes % kSectorBytes == 0);
  if (request.lanes != other.lanes || !request.lanes)
    return false;
  unsigned first = llvm::countr_zero(request.lanes);
  uint64_t distance = request.addresses[first] - other.addresses[first];
  if (distance % kPassBytes)
    return false;
  uint64_t differs = 0; // no branches, so that it is done for lanes at once
  for (unsigned lane = 0; lane < Request::kLanes; ++lane) {
    uint64_t isThere = -uint64_t(request.lanes >> lane & 1);
    differs |=
        (request.addresses[lane] - other.addresses[lane] - distance) & isThere;
  }
  return !differs;
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
  if (!log.isTouched)
    touched.push_back(site);
  log.isTouched = true;
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
  for (uint32_t site : touched) {
    uint64_t bytes = tables.sites[site].bytes;
    bool isShared = tables.sites[site].space == Space::Shared;
    SiteLog &log = sites[site];
    Totals part;
    for (std::vector<Request> &requests : log.requests) {
      for (const Request &request : requests) {
        if (!request.lanes)
          continue;
        if (!isShifted(request, log.sample)) {
          log.sample = request;
          log.sampleCost = Totals();
          log.sampleCost.add(request, bytes, isShared);
        }
        part += log.sampleCost;
      }
      requests.clear();
    }
    totals[site] += part;
    totals[site] += part.scaledTo(log.skipped);
    log.skipped = 0;
    log.isTouched = false;
    std::fill(log.visits.begin(), log.visits.end(), 0);
  }
  touched.clear();
}

} // namespace mlir::workgroup::emulator
