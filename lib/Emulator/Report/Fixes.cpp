//===- Fixes.cpp - Barriers that would mend races -------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixes.h"
#include "BarrierPoints.h"
#include "Emulator/Run/RuntimeFunctions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include <map>
#include <numeric>

namespace mlir::workgroup::emulator {

/// Points to look at, and blocks to run again, at most.
static constexpr size_t kMaxPoints = 12, kMaxBlocks = 16, kMaxBlocksInAll = 256;
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

/// True if a barrier at the right point may mend what is of this kind.
static bool mayBarrierOrder(FindingKind kind) {
  return kind == FindingKind::SharedRace || kind == FindingKind::GlobalRace ||
         kind == FindingKind::NotPublished;
}

namespace {
/// Two instructions of the prepared kernel, by their numbers.
using Pair = std::pair<uint32_t, uint32_t>;
using Points = std::vector<uint32_t>;

/// Looks for barriers that mend all races of a launch together.
class FixSearch {
public:
  FixSearch(const FixContext &context, llvm::ArrayRef<Described *> races);

  /// Adds what was found to the races.
  void run();

private:
  bool canTry() const;
  void addPoints(Pair race, Described *described);
  Points getPoints(bool areUniform) const;
  std::optional<std::vector<Pair>> findRacesWith(const Points &chosen) const;
  std::optional<Points> extend(bool areUniform);
  Points minimize(Points chosen) const;

  const FixContext &context;
  llvm::ArrayRef<Described *> races;
  BarrierPoints finder;
  std::vector<uint64_t> blocks;
  std::map<uint32_t, BarrierPoint> points;
  /// The races that each point was found for.
  std::map<uint32_t, llvm::SmallSetVector<Described *, 4>> racesOfPoint;
};
} // namespace

static Pair getPair(const FindingKey &key, const KernelTables &tables) {
  return {tables.sites[key.site].ordinal, tables.sites[key.otherSite].ordinal};
}

FixSearch::FixSearch(const FixContext &context,
                     llvm::ArrayRef<Described *> races)
    : context(context), races(races), finder(context.bitcode, context.name) {
  for (Described *race : races)
    addPoints(getPair(race->key, context.program.tables), race);
  // All blocks, if they are not many; else those where races were seen.
  uint64_t all = uint64_t(context.request.grid[0]) * context.request.grid[1] *
                 context.request.grid[2];
  if (all <= kMaxBlocksInAll) {
    blocks.resize(all);
    std::iota(blocks.begin(), blocks.end(), 0);
    return;
  }
  llvm::SmallSetVector<uint64_t, kMaxBlocks> seen;
  for (const Described *race : races)
    if (seen.size() < kMaxBlocks)
      seen.insert(race->block);
  blocks.assign(seen.begin(), seen.end());
}

void FixSearch::addPoints(Pair race, Described *described) {
  for (const BarrierPoint &point : finder.find(race.first, race.second)) {
    points.insert({point.ordinal, point});
    racesOfPoint[point.ordinal].insert(described);
  }
}

/// All points, or those that all threads come by anyhow, where no barrier does
/// harm.
Points FixSearch::getPoints(bool areUniform) const {
  Points chosen;
  for (const auto &[ordinal, point] : points)
    if (point.isUniform || !areUniform)
      chosen.push_back(ordinal);
  return chosen;
}

/// Runs the blocks again with barriers at `chosen`. Returns what races are
/// left; nullopt if there is anything else that was not there before.
std::optional<std::vector<Pair>>
FixSearch::findRacesWith(const Points &chosen) const {
  ProgramOptions options;
  options.runtimeFunctions = getRuntimeFunctions();
  options.instrument.checksRaces = true;
  options.barriersBefore = chosen;
  std::vector<DiagnosticRecord> errors;
  std::unique_ptr<Program> program =
      makeProgram(context.bitcode, context.name, options, errors);
  if (!program)
    return std::nullopt;
  LaunchRequest request = context.request;
  Contents copies = context.before;
  for (auto [buffer, copy] : llvm::zip_equal(request.buffers, copies))
    buffer.address = copy.data();
  request.workers = 1;
  // A barrier at a wrong point may let threads wait for ever.
  if (request.stepLimit == 0 || request.stepLimit > context.stepLimit)
    request.stepLimit = context.stepLimit;
  Execution execution =
      execute(*program, request, context.options, context.progress, blocks);
  if (execution.crash || context.progress.stop)
    return std::nullopt;
  std::vector<Pair> left;
  for (const auto &[key, entry] : execution.findings.getEntries())
    if (mayBarrierOrder(key.kind))
      left.push_back(getPair(key, program->tables));
    else if (!context.otherKinds.count(key.kind))
      return std::nullopt;
  return left;
}

/// Tries all points found up to now. Races may have hidden others, which get
/// points of their own. Returns what mends all; nullopt if nothing does.
std::optional<Points> FixSearch::extend(bool areUniform) {
  constexpr unsigned kMaxRounds = 3;
  for (unsigned round = 0; round < kMaxRounds; ++round) {
    Points chosen = getPoints(areUniform);
    if (chosen.empty() || chosen.size() > kMaxPoints)
      return std::nullopt;
    std::optional<std::vector<Pair>> left = findRacesWith(chosen);
    if (!left)
      return std::nullopt;
    if (left->empty())
      return chosen;
    for (Pair race : *left) {
      // The finding that hid it has one of its accesses.
      Described *const *hiding = llvm::find_if(races, [&](Described *other) {
        Pair pair = getPair(other->key, context.program.tables);
        return pair.first == race.first || pair.first == race.second ||
               pair.second == race.first || pair.second == race.second;
      });
      addPoints(race, hiding == races.end() ? races.front() : *hiding);
    }
    if (getPoints(areUniform).size() == chosen.size())
      return std::nullopt;
  }
  return std::nullopt;
}

/// Leaves out of `chosen` what is not needed.
Points FixSearch::minimize(Points chosen) const {
  for (size_t i = 0; i < chosen.size() && chosen.size() > 1;) {
    Points fewer = chosen;
    fewer.erase(fewer.begin() + i);
    std::optional<std::vector<Pair>> left = findRacesWith(fewer);
    if (left && left->empty())
      chosen = std::move(fewer);
    else
      ++i;
  }
  return chosen;
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

/// Buffers that overlap cannot be copied one by one: what is written to one the
/// other does not see.
bool FixSearch::canTry() const {
  return context.before.size() == context.request.buffers.size() &&
         !hasOverlap(context.request);
}

void FixSearch::run() {
  Points first = getPoints(/*areUniform=*/false);
  std::optional<Points> found;
  if (canTry()) {
    found = extend(/*areUniform=*/true);
    if (!found)
      found = extend(/*areUniform=*/false);
  }
  Points chosen = found ? minimize(*found) : first;
  for (Described *race : races) {
    // A race may go by a barrier that was looked for on behalf of another.
    bool hasOwn = llvm::any_of(chosen, [&](uint32_t ordinal) {
      return racesOfPoint.at(ordinal).contains(race);
    });
    for (uint32_t ordinal : chosen) {
      const BarrierPoint &point = points.at(ordinal);
      if (racesOfPoint.at(ordinal).contains(race) || (found && !hasOwn))
        race->record.fixes.push_back({point.location, point.words,
                                      /*isVerified=*/found.has_value(),
                                      point.isUniform});
    }
  }
}

/// True if a barrier of the block orders both sides of a finding.
static bool isOfOneBlock(const FindingRecord &finding) {
  return llvm::all_equal(
      llvm::map_range(finding.accesses, [](const AccessRecord &access) {
        return access.thread.block;
      }));
}

void findFixes(std::vector<Described> &findings, FixContext context) {
  llvm::SmallVector<Described *> races;
  for (Described &finding : findings)
    if (mayBarrierOrder(finding.key.kind) && isOfOneBlock(finding.record))
      races.push_back(&finding);
    else
      context.otherKinds.insert(finding.key.kind);
  if (!races.empty())
    FixSearch(context, races).run();
}

} // namespace mlir::workgroup::emulator
