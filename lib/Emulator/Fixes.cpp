//===- Fixes.cpp - Barriers that would mend races -------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixes.h"
#include "BarrierPlaces.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallSet.h"
#include <map>
#include <numeric>

namespace mlir::workgroup::emulator {

/// Places to look at, and blocks to run again, at most.
static constexpr size_t kMaxPlaces = 12, kMaxBlocks = 16, kMaxBlocksInAll = 256;
/// Bytes of buffers that are copied to try a fix.
static constexpr uint64_t kMaxBytes = uint64_t(1) << 30;

Contents saveContents(const LaunchRequest &request) {
  uint64_t all = 0;
  for (const BufferView &buffer : request.buffers)
    all += buffer.bytes;
  Contents contents;
  if (all > kMaxBytes)
    return contents;
  for (const BufferView &buffer : request.buffers) {
    auto *bytes = static_cast<const uint8_t *>(buffer.address);
    contents.emplace_back(bytes, bytes + buffer.bytes);
  }
  return contents;
}

static bool isRace(FindingKind kind) {
  return kind == FindingKind::SharedRace || kind == FindingKind::GlobalRace ||
         kind == FindingKind::NotPublished;
}

/// Runs the blocks of the findings again, with barriers at `places`; true if
/// there is no race any more, nor anything that was not there before.
static bool isCleanWith(llvm::ArrayRef<uint32_t> places,
                        llvm::ArrayRef<uint64_t> blocks,
                        const FixContext &context) {
  ProgramOptions options;
  options.instrument.checksRaces = true;
  options.barriersBefore = {places.begin(), places.end()};
  std::vector<DiagnosticRecord> errors;
  std::unique_ptr<Program> program =
      makeProgram(context.bitcode, context.name, options, errors);
  if (!program)
    return false;
  // Buffers that overlap lie in one copy of the same bytes each: what one
  // writes the other does not see. Such launches are not tried.
  LaunchRequest request = context.request;
  Contents copies = context.before;
  for (auto [buffer, copy] : llvm::zip_equal(request.buffers, copies))
    buffer.address = copy.data();
  request.workers = 1;
  Execution execution =
      execute(*program, request, context.options, context.progress,
              {blocks.begin(), blocks.end()});
  return !execution.crash && !context.progress.stop &&
         llvm::none_of(execution.findings.getEntries(), [&](const auto &entry) {
           return isRace(entry.first.kind) ||
                  !context.otherKinds.count(entry.first.kind);
         });
}

static bool hasOverlap(const LaunchRequest &request) {
  std::vector<std::pair<const char *, const char *>> ranges;
  for (const BufferView &buffer : request.buffers) {
    auto *begin = static_cast<const char *>(buffer.address);
    ranges.push_back({begin, begin + buffer.bytes});
  }
  llvm::sort(ranges);
  for (size_t i = 1; i < ranges.size(); ++i)
    if (ranges[i].first < ranges[i - 1].second)
      return true;
  return false;
}

/// Leaves out of `places` what is not needed.
static std::vector<uint32_t> minimize(std::vector<uint32_t> places,
                                      llvm::ArrayRef<uint64_t> blocks,
                                      const FixContext &context) {
  for (size_t i = 0; i < places.size() && places.size() > 1;) {
    std::vector<uint32_t> fewer = places;
    fewer.erase(fewer.begin() + i);
    if (isCleanWith(fewer, blocks, context))
      places = std::move(fewer);
    else
      ++i;
  }
  return places;
}

void findFixes(std::vector<Described> &findings, FixContext context) {
  llvm::SmallVector<Described *> races;
  for (Described &finding : findings)
    if (isRace(finding.key.kind))
      races.push_back(&finding);
    else
      context.otherKinds.insert(finding.key.kind);
  if (races.empty())
    return;
  BarrierPlaces finder(context.bitcode, context.name);
  std::map<uint32_t, BarrierPlace> places;
  std::vector<std::vector<uint32_t>> placesOfRace;
  llvm::SmallSet<uint64_t, kMaxBlocks> blocks;
  for (const Described *race : races) {
    const auto &sites = context.program.tables.sites;
    auto &own = placesOfRace.emplace_back();
    for (const BarrierPlace &place :
         finder.find(sites[race->key.site].ordinal,
                     sites[race->key.otherSite].ordinal)) {
      own.push_back(place.ordinal);
      places.insert({place.ordinal, place});
    }
    if (blocks.size() < kMaxBlocks)
      blocks.insert(race->block);
  }
  std::vector<uint32_t> chosen;
  for (const auto &[ordinal, place] : places)
    chosen.push_back(ordinal);
  // All blocks, if they are not many; else those where races were seen.
  uint64_t all = uint64_t(context.request.grid[0]) * context.request.grid[1] *
                 context.request.grid[2];
  std::vector<uint64_t> again(blocks.begin(), blocks.end());
  if (all <= kMaxBlocksInAll) {
    again.resize(all);
    std::iota(again.begin(), again.end(), 0);
  }
  bool canTry = chosen.size() <= kMaxPlaces && !chosen.empty() &&
                context.before.size() == context.request.buffers.size() &&
                !hasOverlap(context.request);
  // Where all threads come by anyhow, no barrier does harm.
  std::vector<uint32_t> uniform;
  for (uint32_t ordinal : chosen)
    if (places.at(ordinal).isUniform)
      uniform.push_back(ordinal);
  if (canTry && !uniform.empty() && isCleanWith(uniform, again, context))
    chosen = std::move(uniform);
  bool isVerified = canTry && isCleanWith(chosen, again, context);
  if (isVerified)
    chosen = minimize(std::move(chosen), again, context);
  for (auto [race, own] : llvm::zip_equal(races, placesOfRace))
    for (uint32_t ordinal : own)
      if (llvm::is_contained(chosen, ordinal)) {
        const BarrierPlace &place = places.at(ordinal);
        race->record.fixes.push_back(
            {place.location, place.words, isVerified, place.isUniform});
      }
}

} // namespace mlir::workgroup::emulator
