//===- Execute.cpp - Run a program on all its blocks ----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Makes a launch of a program and a request: buffers with their shadows,
// parameters, bounds of sites, an order of blocks. Then workers run it, one on
// each thread of the host, and what each has found is put together.
//
//===----------------------------------------------------------------------===//

#include "Execute.h"
#include "Support/CrashGuard.h"
#include "Worker.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>
#include <map>
#include <numeric>
#include <thread>

namespace mlir::workgroup::emulator {

/// Lays out the parameters, and what those that are pointers point to.
static void setParameters(Launch &launch) {
  const KernelTables &tables = launch.tables;
  size_t count = tables.parameters.size();
  launch.parameters.resize(tables.parameterBytes);
  launch.arguments.resize(count);
  launch.argumentBuffers.resize(count);
  for (size_t i = 0; i < count; ++i) {
    auto [offset, bytes] = tables.parameters[i];
    const ParameterValue &value = launch.request.parameters[i];
    uint8_t *target = launch.parameters.data() + offset;
    if (value.tensorMap) {
      const Buffer &buffer = launch.buffers[value.tensorMap->buffer];
      launch.tensorMaps.emplace_back(*value.tensorMap,
                                     buffer.base + value.tensorMap->offset);
      const TensorMap *map = &launch.tensorMaps.back();
      std::memcpy(target, &map, sizeof(map));
      launch.argumentBuffers[i] = value.tensorMap->buffer;
      continue;
    }
    if (!value.buffer) {
      std::memcpy(target, value.bytes.data(),
                  std::min<size_t>(bytes, value.bytes.size()));
      continue;
    }
    const Buffer &buffer = launch.buffers[*value.buffer];
    uint8_t *address = buffer.base + value.offset;
    std::memcpy(target, &address, sizeof(address));
    launch.arguments[i] = {buffer.base, buffer.bytes,
                           buffer.isWritable ? buffer.bytes : 0};
    launch.argumentBuffers[i] = *value.buffer;
  }
}

static void setSiteBounds(Launch &launch) {
  const KernelTables &tables = launch.tables;
  for (const Site &site : tables.sites) {
    SiteBounds &bounds = launch.siteBounds.emplace_back();
    bounds.end = launch.sharedEnd;
    bounds.misaligned = site.alignment - 1;
    if (site.object == 0)
      continue;
    const Object &object = tables.objects[site.object];
    bounds.begin = object.offset;
    if (object.kind == Object::Kind::Argument)
      bounds.buffer = launch.argumentBuffers[object.offset] + 1;
    if (site.object != tables.dynamicObject)
      bounds.end = object.offset + object.bytes;
  }
}

/// The smallest pieces in which the kernel accesses each buffer.
static std::vector<unsigned> getGrains(const Launch &launch) {
  std::vector<unsigned> grains(launch.buffers.size(),
                               launch.tables.globalGrain);
  auto refine = [&](unsigned buffer, unsigned grain) {
    grains[buffer] = std::min(grains[buffer], grain);
  };
  for (auto [i, value] : llvm::enumerate(launch.request.parameters))
    if (value.buffer)
      refine(*value.buffer, launch.tables.argumentGrain[i]);
    else if (value.tensorMap)
      refine(value.tensorMap->buffer,
             llvm::Log2_32(value.tensorMap->elementBytes));
  return grains;
}

/// Which buffers the kernel may write: of one that nobody writes, no access can
/// be at odds with another.
static std::vector<bool> getWritten(const Launch &launch) {
  std::vector<bool> written(launch.buffers.size());
  for (const Site &site : launch.tables.sites) {
    if (!writes(site.kind) || site.space != Space::Generic)
      continue;
    const Object &object = launch.tables.objects[site.object];
    if (object.kind != Object::Kind::Argument)
      return std::vector<bool>(launch.buffers.size(), true);
    const ParameterValue &value = launch.request.parameters[object.offset];
    if (value.buffer)
      written[*value.buffer] = true;
    else if (value.tensorMap)
      written[value.tensorMap->buffer] = true;
  }
  return written;
}

static void setBuffers(Launch &launch, const Program &program,
                       unsigned numWorkers) {
  for (const BufferView &view : launch.request.buffers)
    launch.buffers.push_back({static_cast<uint8_t *>(view.address), view.bytes,
                              view.isWritable, nullptr});
  for (const Program::Variable &variable : program.variables)
    launch.buffers.push_back(
        {variable.address, variable.bytes, !variable.isConstant, nullptr});
  if (!launch.checksRaces())
    return;
  std::vector<Buffer *> sorted;
  for (Buffer &buffer : launch.buffers)
    sorted.push_back(&buffer);
  llvm::stable_sort(sorted, [](const Buffer *a, const Buffer *b) {
    return a->base < b->base;
  });
  std::vector<unsigned> grains = getGrains(launch);
  std::vector<bool> written = getWritten(launch);
  for (size_t i = 0; i < sorted.size();) {
    uint8_t *begin = sorted[i]->base, *end = begin + sorted[i]->bytes;
    unsigned grain = grains[sorted[i] - launch.buffers.data()];
    size_t next = i + 1;
    for (; next < sorted.size() && sorted[next]->base < end; ++next) {
      end = std::max(end, sorted[next]->base + sorted[next]->bytes);
      grain = std::min(grain, grains[sorted[next] - launch.buffers.data()]);
    }
    std::shared_ptr<GlobalShadow> shadow;
    if (std::any_of(sorted.begin() + i, sorted.begin() + next,
                    [&](const Buffer *buffer) {
                      return written[buffer - launch.buffers.data()];
                    }))
      shadow = std::make_shared<GlobalShadow>(launch.tables, end - begin, grain,
                                              numWorkers > 1);
    for (; i < next; ++i) {
      sorted[i]->shadow = shadow;
      sorted[i]->shadowOffset = sorted[i]->base - begin;
    }
  }
}

/// Chooses which blocks run, and in what order, without a list of them.
static void chooseBlocks(Launch &launch) {
  const LaunchRequest &request = launch.request;
  uint64_t all = uint64_t(request.grid[0]) * request.grid[1] * request.grid[2] /
                 launch.blocksTogether;
  uint64_t limit =
      request.blockLimit
          ? std::min(all, llvm::divideCeil(request.blockLimit,
                                           uint64_t(launch.blocksTogether)))
          : all;
  launch.numBlocks = limit;
  launch.allBlocks = all;
  if (request.order == Order::Seeded || limit < all) {
    std::mt19937_64 random(request.seed);
    launch.firstBlock = random() % all;
    do
      launch.blockStep = random() % all;
    while (std::gcd(launch.blockStep, all) != 1);
  } else if (request.order == Order::Reverse) {
    launch.firstBlock = all - 1;
    launch.blockStep = all - 1 ? all - 1 : 1;
  }
}

static unsigned getNumWorkers(const Launch &launch) {
  constexpr unsigned kMaxWorkersPerCore = 4;
  unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  unsigned wanted = launch.request.workers ? launch.request.workers : cores;
  wanted = std::min(wanted, cores * kMaxWorkersPerCore);
  return std::max<uint64_t>(1, std::min<uint64_t>(wanted, launch.numBlocks));
}

/// Runs the workers, each guarded: code that crashes ends the launch.
static std::optional<std::string>
runWorkers(Launch &launch, std::vector<std::unique_ptr<Worker>> &workers) {
  std::vector<CrashReport> crashes(workers.size());
  std::vector<std::thread> hosts;
  for (size_t i = 0; i < workers.size(); ++i)
    hosts.emplace_back([&, i] {
      crashes[i] = runGuardedHere([&] { workers[i]->run(); });
      if (!crashes[i].hasReturned)
        launch.isOver = true;
    });
  for (std::thread &host : hosts)
    host.join();
  for (const CrashReport &crash : crashes)
    if (!crash.hasReturned)
      return crash.reason.value_or("a fatal signal in the code of the kernel");
  return std::nullopt;
}

static LaunchStatistics
collectStatistics(const Launch &launch,
                  llvm::ArrayRef<std::unique_ptr<Worker>> all) {
  LaunchStatistics statistics;
  const KernelTables &tables = launch.tables;
  std::vector<AccessLog::Totals> totals(tables.sites.size());
  for (const std::unique_ptr<Worker> &worker : all) {
    statistics.instructions += worker->counters.instructions;
    statistics.barriers += worker->counters.barriers;
    statistics.warpOperations += worker->counters.warpOperations;
    for (auto [sum, part] :
         llvm::zip_equal(totals, worker->memory.getLog().getTotals()))
      sum += part;
  }
  // Unrolled loops have many instructions for one place.
  using Place =
      std::tuple<std::string, unsigned, unsigned, Space, AccessKind, uint64_t>;
  std::map<Place, AccessLog::Totals> places;
  for (auto [site, total] : llvm::zip_equal(tables.sites, totals))
    if (total.requests)
      places[{site.location.file, site.location.line, site.location.column,
              site.space, site.kind, site.bytes}] += total;
  for (const auto &[place, total] : places) {
    auto [file, line, column, space, kind, bytes] = place;
    statistics.accesses += total.accesses;
    statistics.perAccess.push_back(
        {{file, line, column},
         space == Space::Shared ? "shared" : "global",
         kind == AccessKind::Update ? "update"
         : writes(kind)             ? "write"
                                    : "read",
         bytes,
         total.requests,
         total.accesses,
         total.wavefronts,
         total.idealWavefronts,
         total.sectors,
         total.denseSectors});
  }
  return statistics;
}

Execution execute(const Program &program, const LaunchRequest &request,
                  const EmulatorOptions &options, LaunchProgress &progress,
                  std::vector<uint64_t> blocks) {
  Launch launch(program.tables, request, progress);
  launch.check = options.check;
  launch.withStatistics = options.statistics;
  launch.withDelays = options.delays;
  launch.withoutValues = options.forgetsValues && !program.needsValues;
  launch.entry = program.entry;
  launch.sharedEnd = program.tables.sharedEnd + request.dynamicSharedBytes;
  launch.threadsPerBlock =
      request.block[0] * request.block[1] * request.block[2];
  if (program.tables.usesClusters)
    launch.blocksTogether = launch.grid.getClusterBlocks();
  if (launch.blocksTogether > 1) {
    for (uint64_t &block : blocks)
      block = launch.grid.getCluster(block);
    llvm::sort(blocks);
    blocks.erase(llvm::unique(blocks), blocks.end());
  }
  if (blocks.empty()) {
    chooseBlocks(launch);
  } else {
    launch.numBlocks = blocks.size();
    launch.blocks = std::move(blocks);
  }
  unsigned numWorkers = getNumWorkers(launch);
  setBuffers(launch, program, numWorkers);
  setParameters(launch);
  setSiteBounds(launch);
  std::vector<std::unique_ptr<Worker>> workers;
  for (unsigned i = 0; i < numWorkers; ++i)
    workers.push_back(std::make_unique<Worker>(launch));

  Execution execution;
  bool hasMemory =
      llvm::all_of(workers, [](auto &worker) { return worker->isReady(); }) &&
      llvm::all_of(launch.buffers, [](const Buffer &buffer) {
        return !buffer.shadow || buffer.shadow->isReady();
      });
  if (!hasMemory) {
    execution.crash = "there is not enough memory to check the launch";
    return execution;
  }
  execution.crash = runWorkers(launch, workers);
  execution.reached.resize(program.tables.sites.size());
  for (const std::unique_ptr<Worker> &worker : workers) {
    execution.findings.merge(worker->findings.getTable());
    execution.blocksRun += worker->blocksRun;
    execution.mostIterations =
        std::max(execution.mostIterations, worker->mostIterations);
    execution.output += worker->output;
    for (size_t i = 0; i < execution.reached.size(); ++i)
      execution.reached[i] =
          execution.reached[i] || worker->memory.getReached()[i];
  }
  if (options.statistics)
    execution.statistics = collectStatistics(launch, workers);
  return execution;
}

} // namespace mlir::workgroup::emulator
