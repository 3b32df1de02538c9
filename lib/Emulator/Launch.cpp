//===- Launch.cpp - Run a kernel on all its blocks ------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One launch of a kernel in the emulator: the kernel is translated to code of
// the host once, a launch is refused if it does not fit the chip or what the
// kernel was compiled for, and its blocks are executed by workers, one for each
// thread of the host. Findings of all workers are merged and described; for
// races, barriers are tried that would mend them.
//
//===----------------------------------------------------------------------===//

#include "Emulator/Run/Launch.h"
#include "Emulator/Isa/TensorMaps.h"
#include "Emulator/Report/Fixes.h"
#include "Emulator/Report/Report.h"
#include "Emulator/Run/Execute.h"
#include "Emulator/Run/RuntimeFunctions.h"
#include "Support/CrashGuard.h"
#include "workgroup/Target/Chip.h"
#include "workgroup/Target/LaunchLimits.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::workgroup {

using namespace emulator;

struct EmulatedKernel::Implementation {
  std::string bitcode, name;
  EmulatorOptions options;
  std::vector<SourceText> sources;
  std::vector<SharedBuffer> sharedBuffers;
  std::unique_ptr<Program> program;
};

EmulatedKernel::EmulatedKernel(std::unique_ptr<Implementation> implementation)
    : implementation(std::move(implementation)) {}

EmulatedKernel::~EmulatedKernel() = default;

//===----------------------------------------------------------------------===//
// Making
//===----------------------------------------------------------------------===//

static ProgramOptions getProgramOptions(const EmulatorOptions &options) {
  ProgramOptions program;
  program.runtimeFunctions = getRuntimeFunctions();
  program.instrument.checksRaces = options.check != Check::None;
  program.instrument.withStatistics = options.statistics;
  program.instrument.withDelays = options.delays;
  program.instrument.forgetsValues = options.forgetsValues;
  // Races are looked for in the program as it is written; the optimiser may
  // take them away, or read what the program does not.
  if (options.check == Check::None)
    program.chip =
        options.chip.empty() ? getDefaultChip().name.str() : options.chip;
  return program;
}

std::unique_ptr<EmulatedKernel>
EmulatedKernel::create(const std::string &bitcode, const std::string &name,
                       const EmulatorOptions &options,
                       std::vector<SourceText> sources,
                       std::vector<SharedBuffer> sharedBuffers,
                       std::vector<DiagnosticRecord> &errors) {
  auto kernel = std::make_unique<Implementation>();
  kernel->bitcode = bitcode;
  kernel->name = name;
  kernel->options = options;
  kernel->sources = std::move(sources);
  kernel->sharedBuffers = std::move(sharedBuffers);
  constexpr unsigned kStackBytes = 64u << 20;
  CrashReport crash = runGuarded(
      [&] {
        kernel->program =
            makeProgram(bitcode, name, getProgramOptions(options), errors);
      },
      kStackBytes);
  if (!crash.hasReturned)
    errors.push_back({"error",
                      "internal error: the kernel cannot be translated for "
                      "the host: " +
                          crash.reason.value_or("fatal signal"),
                      {},
                      {}});
  if (!kernel->program)
    return nullptr;
  return std::unique_ptr<EmulatedKernel>(new EmulatedKernel(std::move(kernel)));
}

//===----------------------------------------------------------------------===//
// Launching
//===----------------------------------------------------------------------===//

/// The error in a tensor map that the emulator could not do with.
static std::string checkTensorMap(const TensorMapView &map,
                                  const LaunchRequest &request) {
  size_t rank = map.dims.size();
  bool isWhole = rank >= 1 && rank <= TensorMap::kMaxRank &&
                 map.strides.size() == rank - 1 && map.box.size() == rank &&
                 map.buffer < request.buffers.size() &&
                 llvm::isPowerOf2_32(map.elementBytes);
  if (!isWhole)
    return "a tensor map that is not complete";
  if (map.interleave != TensorInterleave::None)
    return "an interleaved tensor map, which the emulator does not know";
  if (llvm::any_of(map.elementStrides, [](uint32_t step) { return step != 1; }))
    return "a tensor map that skips elements, which the emulator does not know";
  uint64_t rowBytes = uint64_t(map.box[0]) * map.elementBytes;
  if (rowBytes == 0 || rowBytes % TensorMap::kChunk)
    return "a tensor map whose box has rows of " + std::to_string(rowBytes) +
           " bytes, no multiple of 16";
  return "";
}

static std::string checkTensorMaps(const KernelTables &tables,
                                   const LaunchRequest &request) {
  for (auto [i, value] : llvm::enumerate(request.parameters)) {
    if (value.tensorMap.has_value() != tables.areTensorMaps[i])
      return "parameter " + std::to_string(i) +
             (value.tensorMap ? " as a tensor map, which it is not"
                              : " that is no tensor map, which it has to be");
    std::string problem =
        value.tensorMap ? checkTensorMap(*value.tensorMap, request) : "";
    if (!problem.empty())
      return problem;
  }
  return "";
}

static std::string printDim3(const std::array<uint32_t, 3> &sizes) {
  return "(" + std::to_string(sizes[0]) + ", " + std::to_string(sizes[1]) +
         ", " + std::to_string(sizes[2]) + ")";
}

/// The error in the clusters of a launch on `chip`.
static std::string checkClusters(const KernelTables &tables,
                                 const LaunchRequest &request,
                                 const Chip &chip) {
  if (!request.cluster && !tables.cluster)
    return "";
  BlockGrid grid = getGrid(tables, request);
  std::string what = "clusters of " + printDim3(grid.cluster) + " blocks, ";
  uint64_t blocks = 1;
  for (unsigned dim = 0; dim < 3; ++dim) {
    blocks *= std::min<uint64_t>(grid.cluster[dim], kMaxClusterBlocks + 1);
    if (grid.cluster[dim] == 0 || grid.blocks[dim] % grid.cluster[dim])
      return what + "of which its grid of " + printDim3(grid.blocks) +
             " is no multiple";
  }
  uint64_t most =
      std::min<uint64_t>(kMaxClusterBlocks, tables.maxClusterBlocks);
  if (blocks > most)
    return what + "but a cluster has at most " + std::to_string(most);
  if (tables.cluster && grid.cluster != *tables.cluster)
    return what + "but the kernel was compiled for " +
           printDim3(*tables.cluster);
  if (blocks > 1 && !chip.hasTensorCopies()) // which came with clusters
    return what + "which " + chip.name.str() + " does not have";
  uint64_t threads =
      uint64_t(request.block[0]) * request.block[1] * request.block[2];
  uint64_t together = blocks * llvm::alignTo(threads, kWarpSize);
  if (blocks > 1 && tables.usesClusters && together > kFirstAgent)
    return what + "which are " + std::to_string(together) +
           " threads that work together; the emulator runs at most " +
           std::to_string(kFirstAgent);
  return "";
}

/// The error in the workgroup memory of a launch on `chip`.
static std::string checkMemory(const KernelTables &tables,
                               const LaunchRequest &request, const Chip &chip) {
  uint64_t fixed = tables.sharedEnd - kSharedBase;
  uint64_t most = chip.maxWorkgroupBytes;
  if (fixed <= most && request.dynamicSharedBytes <= most - fixed)
    return "";
  return std::to_string(request.dynamicSharedBytes) +
         " bytes of dynamic workgroup memory beside " + std::to_string(fixed) +
         " static ones, but a block has at most " + std::to_string(most) +
         " on " + chip.name.str();
}

/// The requirement that the code was compiled for and the launch does not keep
/// to.
static std::string checkSizes(const KernelTables &tables,
                              const LaunchRequest &request, const Chip &chip) {
  uint64_t threads =
      uint64_t(request.block[0]) * request.block[1] * request.block[2];
  if (threads > tables.maxThreads)
    return "a block of " + std::to_string(threads) +
           " threads, but the kernel was compiled for at most " +
           std::to_string(tables.maxThreads);
  for (const SizeBound &bound : tables.sizeBounds) {
    uint32_t size = (bound.isGrid ? request.grid : request.block)[bound.dim];
    if (size < bound.least || size > bound.most)
      return std::string(bound.isGrid ? "a grid" : "a block") + " of " +
             std::to_string(size) + " along " + "xyz"[bound.dim] +
             ", but the kernel was compiled for " +
             (bound.least == bound.most
                  ? std::to_string(bound.most)
                  : "at most " + std::to_string(bound.most));
  }
  for (auto check : {checkClusters, checkMemory})
    if (std::string problem = check(tables, request, chip); !problem.empty())
      return problem;
  uint64_t blocks =
      uint64_t(request.grid[0]) * request.grid[1] * request.grid[2];
  if (blocks >= ~0u)
    return std::to_string(blocks) + " blocks, more than the emulator can tell "
                                    "apart";
  if (request.parameters.size() != tables.parameters.size())
    return std::to_string(request.parameters.size()) +
           " parameters, but the kernel takes " +
           std::to_string(tables.parameters.size());
  return checkTensorMaps(tables, request);
}

/// True if the runtime is told of accesses at `site`: not of those to private
/// and to constant memory, which generated code checks by itself.
static bool isWatched(const Site &site) {
  return site.kind != AccessKind::None && site.space != Space::Private &&
         site.space != Space::Constant &&
         !(site.isVariable && site.kind == AccessKind::Read);
}

static void collectUnreached(LaunchResult &result, const KernelTables &tables,
                             const std::vector<bool> &reached) {
  for (size_t i = 1; i < tables.sites.size(); ++i)
    if (isWatched(tables.sites[i]) && !reached[i])
      result.unreached.push_back(tables.sites[i].location);
}

/// Iterations of loops that a thread may make when a fix is tried: some more
/// than without it.
static uint64_t getTrialSteps(const Execution &execution,
                              const KernelTables &tables) {
  constexpr uint64_t kTimes = 4;
  return kTimes * (execution.mostIterations + tables.getIterationsPerPoll());
}

bool EmulatedKernel::needsValues() const {
  return implementation->program->needsValues;
}

std::string EmulatedKernel::refuse(const LaunchRequest &request) const {
  const Chip *chip = findChip(implementation->options.chip);
  return checkSizes(implementation->program->tables, request,
                    chip ? *chip : getDefaultChip());
}

LaunchResult EmulatedKernel::launch(const LaunchRequest &request,
                                    LaunchProgress &progress) {
  const Program &program = *implementation->program;
  const EmulatorOptions &options = implementation->options;
  LaunchResult result;
  result.blocks = uint64_t(request.grid[0]) * request.grid[1] * request.grid[2];
  bool findsFixes = options.check != Check::None && request.findFixes;
  Contents before = findsFixes ? saveContents(request) : Contents();
  Execution execution = execute(program, request, options, progress);
  result.crash = execution.crash;
  result.wasStopped = progress.stop;
  result.blocksRun = execution.blocksRun;
  result.output = std::move(execution.output);
  result.statistics = std::move(execution.statistics);
  std::vector<Described> described = describeFindings(
      execution.findings,
      {program.tables, request, options.check, implementation->sharedBuffers});
  if (findsFixes && !result.wasStopped && !result.crash)
    findFixes(described, {implementation->bitcode, implementation->name,
                          program, request, options, before, progress,
                          getTrialSteps(execution, program.tables)});
  for (Described &finding : described)
    result.findings.push_back(std::move(finding.record));
  for (const FindingRecord &finding : result.findings)
    result.diagnostics.push_back(makeDiagnostic(finding));
  result.rendered = render(result.findings, implementation->sources);
  if (options.check != Check::None)
    collectUnreached(result, program.tables, execution.reached);
  return result;
}

} // namespace mlir::workgroup
