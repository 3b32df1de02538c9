//===- Statistics.cpp - What accesses cost --------------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Statistics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::workgroup::emulator {

/// Requests of a warp at a site that are looked at between two barriers.
static constexpr uint32_t kMaxVisits = 4096;

static constexpr unsigned kBanks = 32, kBankBytes = 4, kSectorBytes = 32;

/// The distinct multiples of `unit` that the lanes in `lanes` touch, by number.
static llvm::SmallVector<uint64_t, 64>
collect(const Request &request, uint32_t lanes, uint64_t bytes, uint64_t unit) {
  llvm::SmallVector<uint64_t, 64> units;
  for (; lanes; lanes &= lanes - 1) {
    uint64_t address = request.addresses[llvm::countr_zero(lanes)];
    for (uint64_t i = address / unit; i <= (address + bytes - 1) / unit; ++i)
      units.push_back(i);
  }
  llvm::sort(units);
  units.erase(llvm::unique(units), units.end());
  return units;
}

/// Passes for lanes that are served together: one per distinct word in the
/// fullest bank.
static unsigned countPasses(const Request &request, uint32_t lanes,
                            uint64_t bytes) {
  unsigned perBank[kBanks] = {}, most = 0;
  for (uint64_t word : collect(request, lanes, bytes, kBankBytes))
    most = std::max(most, ++perBank[word % kBanks]);
  return most;
}

/// True if all lanes in `lanes` read what the lane `distance` away reads.
static bool isPairwiseEqual(const Request &request, uint32_t lanes,
                            unsigned distance) {
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    unsigned lane = llvm::countr_zero(rest), other = lane ^ distance;
    if (!(lanes >> other & 1) ||
        request.addresses[lane] != request.addresses[other])
      return false;
  }
  return true;
}

unsigned countWavefronts(const Request &request, uint64_t bytes) {
  unsigned numParts = std::max<uint64_t>(1, bytes / kBankBytes);
  unsigned lanesPerPart = std::max(1u, kWarpSize / numParts);
  auto getLanes = [&](unsigned part) {
    uint32_t all = lanesPerPart == kWarpSize ? ~0u : (1u << lanesPerPart) - 1;
    return all << (part * lanesPerPart) & request.lanes;
  };
  unsigned count = 0;
  for (unsigned part = 0; part * lanesPerPart < kWarpSize; ++part) {
    uint32_t lanes = getLanes(part);
    bool hasNext = (part + 1) * lanesPerPart < kWarpSize;
    uint32_t both = hasNext ? lanes | getLanes(part + 1) : 0;
    if (both && (isPairwiseEqual(request, both, 1) ||
                 isPairwiseEqual(request, both, 2))) {
      lanes = both;
      ++part;
    }
    count += countPasses(request, lanes, bytes);
  }
  return count;
}

unsigned countIdealWavefronts(const Request &request, uint64_t bytes) {
  size_t words = collect(request, request.lanes, bytes, kBankBytes).size();
  return llvm::divideCeil(words, kBanks);
}

unsigned countSectors(const Request &request, uint64_t bytes) {
  return collect(request, request.lanes, bytes, kSectorBytes).size();
}

unsigned countDenseSectors(const Request &request, uint64_t bytes) {
  size_t touched = collect(request, request.lanes, bytes, 1).size();
  return llvm::divideCeil(touched, kSectorBytes);
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
