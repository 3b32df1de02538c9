//===- BankConflicts.cpp - What shared memory accesses cost ---------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BankConflicts.h"
#include "workgroup/Target/AccessWidth.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

namespace mlir::workgroup {

/// The most bytes a lane that one instruction accesses.
static constexpr uint64_t kMaxBytes = kWidestAccessBytes;

unsigned countUnits(const WarpRequest &request, uint64_t bytes, uint64_t unit) {
  uint64_t addresses[WarpRequest::kLanes];
  unsigned numLanes = 0;
  for (uint32_t lanes = request.lanes; lanes; lanes &= lanes - 1)
    addresses[numLanes++] = request.addresses[llvm::countr_zero(lanes)];
  // Not by llvm::sort, which calls qsort for numbers. Most are in order.
  llvm::MutableArrayRef<uint64_t> all(addresses, numLanes);
  if (!llvm::is_sorted(all))
    std::sort(all.begin(), all.end());
  uint64_t count = 0, next = 0;
  for (uint64_t address : all) {
    uint64_t first = std::max(address / unit, next);
    uint64_t end = (address + bytes - 1) / unit + 1;
    count += end > first ? end - first : 0;
    next = std::max(next, end);
  }
  return count;
}

/// Passes for lanes that are served together: one per distinct word in the
/// fullest bank.
static unsigned countPasses(const WarpRequest &request, uint32_t lanes,
                            uint64_t bytes) {
  constexpr unsigned kMaxWords =
      WarpRequest::kLanes * (kMaxBytes / kBankBytes + 1);
  constexpr uint8_t kNone = std::numeric_limits<uint8_t>::max();
  static_assert(kMaxWords < kNone, "words are numbered by bytes");
  // The words of each bank, as lists.
  uint64_t words[kMaxWords];
  uint8_t next[kMaxWords], first[kBanks], perBank[kBanks] = {};
  std::fill(std::begin(first), std::end(first), kNone);
  unsigned numWords = 0, most = 0;
  for (; lanes; lanes &= lanes - 1) {
    uint64_t address = request.addresses[llvm::countr_zero(lanes)];
    uint64_t last = (address + bytes - 1) / kBankBytes;
    for (uint64_t word = address / kBankBytes; word <= last; ++word) {
      unsigned bank = word % kBanks;
      uint8_t same = first[bank];
      while (same != kNone && words[same] != word)
        same = next[same];
      if (same != kNone)
        continue;
      words[numWords] = word;
      next[numWords] = first[bank];
      first[bank] = numWords++;
      most = std::max<unsigned>(most, ++perBank[bank]);
    }
  }
  return most;
}

/// True if all lanes in `lanes` read what the lane `distance` away reads.
static bool isPairwiseEqual(const WarpRequest &request, uint32_t lanes,
                            unsigned distance) {
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    unsigned lane = llvm::countr_zero(rest), other = lane ^ distance;
    if (!(lanes >> other & 1) ||
        request.addresses[lane] != request.addresses[other])
      return false;
  }
  return true;
}

/// Hands the lanes of an instruction that are served together to `visit`, part
/// by part.
static void forEachPart(const WarpRequest &request, uint64_t bytes,
                        llvm::function_ref<void(uint32_t)> visit) {
  constexpr unsigned kLanes = WarpRequest::kLanes;
  unsigned numParts = std::max<uint64_t>(1, bytes / kBankBytes);
  unsigned lanesPerPart = kLanes / numParts;
  auto getLanes = [&](unsigned part) {
    uint32_t all = lanesPerPart == kLanes ? ~0u : (1u << lanesPerPart) - 1;
    return all << (part * lanesPerPart) & request.lanes;
  };
  for (unsigned part = 0; part * lanesPerPart < kLanes; ++part) {
    uint32_t lanes = getLanes(part);
    bool hasNext = (part + 1) * lanesPerPart < kLanes;
    uint32_t both = hasNext ? lanes | getLanes(part + 1) : 0;
    if (both && (isPairwiseEqual(request, both, 1) ||
                 isPairwiseEqual(request, both, 2))) {
      lanes = both;
      ++part;
    }
    visit(lanes);
  }
}

/// Hands the instructions that make `request` to `visit`, with their bytes.
static void forEachInstruction(
    const WarpRequest &request, uint64_t bytes,
    llvm::function_ref<void(const WarpRequest &, uint64_t)> visit) {
  if (bytes <= kMaxBytes)
    return visit(request, bytes);
  WarpRequest piece = request;
  for (uint64_t offset = 0; offset < bytes; offset += kMaxBytes) {
    visit(piece, std::min(kMaxBytes, bytes - offset));
    for (uint64_t &address : piece.addresses)
      address += kMaxBytes;
  }
}

unsigned countWavefronts(const WarpRequest &request, uint64_t bytes) {
  unsigned count = 0;
  forEachInstruction(request, bytes, [&](const auto &piece, uint64_t size) {
    forEachPart(piece, size, [&](uint32_t lanes) {
      count += countPasses(piece, lanes, size);
    });
  });
  return count;
}

unsigned countIdealWavefronts(const WarpRequest &request, uint64_t bytes) {
  return llvm::divideCeil(countUnits(request, bytes, kBankBytes), kBanks);
}

unsigned countConflictFreeWavefronts(const WarpRequest &request,
                                     uint64_t bytes) {
  unsigned count = 0;
  forEachInstruction(request, bytes, [&](const auto &piece, uint64_t size) {
    forEachPart(piece, size, [&](uint32_t lanes) { count += lanes != 0; });
  });
  return count;
}

} // namespace mlir::workgroup
