//===- Pipelines.cpp - Pass pipelines -------------------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "workgroup/Pipelines.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/Affine/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/Transforms/OptimizeForNVVM.h"
#include "mlir/Transforms/Passes.h"
#include "workgroup/Passes.h"

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

namespace {
struct OptionEntry {
  StringLiteral name, description;
};
} // namespace

#define GET_OptionTable_IMPL
#include "workgroup/Tables.inc"

StringRef describeOption(StringRef name) {
  return llvm::find_if(
             OptionTable,
             [&](const OptionEntry &entry) { return entry.name == name; })
      ->description;
}

//===----------------------------------------------------------------------===//
// Passes in their order
//===----------------------------------------------------------------------===//

/// Simplifies operations, and leaves two branches on one condition apart: of
/// one, in which only some threads are, no barrier could be in the midst.
static std::unique_ptr<Pass> createParallelCanonicalizerPass() {
  return createCanonicalizerPass({}, {"(anonymous namespace)::CombineIfs"});
}

/// Of kernels, where blocks are left to LLVM, which simplifies them better, and
/// again.
static GreedyRewriteConfig getKernelConfig() {
  GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  return config;
}

static std::unique_ptr<Pass> createKernelCanonicalizerPass() {
  return createCanonicalizerPass(getKernelConfig());
}

/// The same as they come out of lowering. Which of their loops carry a value
/// twice is left to the next one: it compares all that a loop carries, whenever
/// an operation in it has changed.
static std::unique_ptr<Pass> createFirstKernelCanonicalizerPass() {
  return createCanonicalizerPass(
      getKernelConfig(),
      {"(anonymous namespace)::CombineIfs",
       "(anonymous namespace)::RemoveDuplicateSuccessorInputUses"});
}

void buildKernelPipeline(OpPassManager &pm,
                         const KernelPipelineOptions &options) {
  pm.addPass(createSerializeLoopsPass());
  NormalizeLinalgPassOptions normalize;
  normalize.assumeDistinctArguments = options.assumeDistinctArguments;
  normalize.dropAssertions = options.dropAssertions;
  normalize.narrow = options.narrow;
  pm.addPass(createNormalizeLinalgPass(normalize));
  pm.addPass(createWidenFloatsPass());
  pm.addPass(createParallelCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createFormKernelsPass(
      {options.chainBytes, options.chainBlocks, options.chip, options.narrow}));
}

void buildBufferizePipeline(OpPassManager &pm) {
  pm.addPass(createPrepareBufferizationPass());
  bufferization::OneShotBufferizePassOptions options;
  options.bufferizeFunctionBoundaries = true;
  // What is known to be contiguous stays so, and a loop may return what it
  // allocates in each iteration.
  options.functionBoundaryTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  options.allowReturnAllocsFromLoops = true;
  pm.addPass(bufferization::createOneShotBufferizePass(options));
  pm.addPass(createSplitViewsPass());
  pm.addPass(bufferization::createDropEquivalentBufferResultsPass());
  pm.addPass(createParallelCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createParallelCanonicalizerPass()); // copies of a buffer to itself
}

static void addContractions(OpPassManager &pm,
                            const ContractionOptions &options,
                            const RingOptions &rings, StringRef chip,
                            int64_t assumeAlignment) {
  bool mayBeTMA =
      rings.engine == RingEngine::Auto || rings.engine == RingEngine::TMA;
  pm.addPass(createLowerContractionsPass(
      {assumeAlignment, chip.str(), options.tensorCores, options.tf32,
       options.warpGroups && mayBeTMA, rings.assumeDistinctArguments,
       options.storeRings}));
}

void buildCopyPipeline(OpPassManager &pm, const RingOptions &options,
                       const ContractionOptions &contractions, StringRef chip,
                       int64_t assumeAlignment) {
  pm.addPass(createFormRingsPass({options.slots, /*maxBytes=*/0,
                                  options.assumeDistinctArguments, chip.str(),
                                  /*producers=*/0, /*blocks=*/0}));
  // Reads tiles as they are, and need not know of slots.
  addContractions(pm, contractions, options, chip, assumeAlignment);
  if (options.specializeWarps != 0)
    pm.addPass(createSpecializeWarpsPass(
        {options.specializeWarps == -1 ? 0 : int64_t(options.specializeWarps),
         assumeAlignment, options.assumeDistinctArguments, chip.str()}));
  if (options.persistGrid != 0)
    pm.addPass(createPersistGridPass(
        {options.persistGrid == -1 ? 0 : int64_t(options.persistGrid),
         options.assumeDistinctArguments}));
  pm.addPass(
      createLowerRingsPass({options.engine, assumeAlignment,
                            options.assumeDistinctArguments, chip.str()}));
}

/// Barriers, decided when all accesses are explicit and have their places.
static void addSynchronization(OpPassManager &pm,
                               const MemoryPipelineOptions &options,
                               PipelineReport *report) {
  bool areDistinct = options.rings.assumeDistinctArguments;
  std::shared_ptr<SyncHandover> handover;
  if (options.verifyBarriers && options.sync == SyncMode::Insert)
    handover = makeSyncHandover();
  if (options.sync != SyncMode::Keep) {
    SyncOptions insert;
    insert.assumeDistinctArguments = areDistinct;
    insert.warns = !options.verifyBarriers; // else the verification does
    insert.refuses = options.verifyBarriers;
    insert.hasNamedBarriers = options.namedBarriers;
    pm.addPass(createInsertBarriersPass(
        insert, report ? &report->barriers : nullptr, handover));
  }
  if (options.sync == SyncMode::Minimize)
    pm.addPass(createEliminateBarriersPass({areDistinct}));
  if (options.sync != SyncMode::Keep) // constants go to where others are
    pm.addNestedPass<gpu::GPUModuleOp>(createKernelCanonicalizerPass());
  if (options.verifyBarriers)
    pm.addPass(
        createVerifySyncPass({areDistinct, /*isStrict=*/false}, handover));
}

static void addVerification(OpPassManager &pm,
                            const VerifyKernelsOptions &options,
                            PipelineReport *report) {
  pm.addPass(createVerifyKernelsPass(options, report ? &report->memory.shortages
                                                     : nullptr));
}

/// Buffers of outlined kernels get their places.
static void addPlaces(OpPassManager &pm, const MemoryPipelineOptions &options,
                      PipelineReport *report) {
  bool isKept = options.sync == SyncMode::Keep;
  // Before hoisting, which makes lives longer: where an allocation stands says
  // when its contents become undefined.
  PackMemoryOptions pack;
  pack.reuse = options.reuse;
  pack.dynamic = options.dynamic;
  pack.insertBarriers = isKept;
  pm.addPass(createPackMemoryPass(pack, report ? &report->memory : nullptr));
  pm.addPass(createHoistAllocsPass(
      {/*defaultAlignment=*/16, isKept, /*fromSpaces=*/{}}));
  pm.addPass(createLowerDynamicMemoryPass());
}

void buildMemoryPipeline(OpPassManager &pm,
                         const MemoryPipelineOptions &options,
                         PipelineReport *report) {
  pm.addPass(createAdoptKernelsPass());
  // What no kernel calls need not be right.
  pm.addNestedPass<gpu::GPUModuleOp>(createSymbolDCEPass());
  pm.addPass(createSplitViewsPass());
  pm.addPass(createFormLaunchesPass());
  pm.addPass(createInferLaunchSizesPass());
  SinkAllocsPassOptions sink;
  llvm::append_range(sink.fromSpaces, options.fromSpaces);
  pm.addPass(createSinkAllocsPass(std::move(sink)));
  pm.addPass(createHoistCopiesPass(
      {options.rings.assumeDistinctArguments,
       options.dynamic == DynamicMemory::Never ? kMaxStaticWorkgroupBytes : 0,
       options.chip}));
  buildCopyPipeline(pm, options.rings, options.contractions, options.chip,
                    options.assumeAlignment);
  pm.addPass(createDistributeLoopsPass());
  // What threads and warps multiply is theirs now.
  pm.addPass(
      createKeepAccumulatorsPass({options.rings.assumeDistinctArguments}));
  addContractions(pm, options.contractions, options.rings, options.chip,
                  options.assumeAlignment);
  bool isKept = options.sync == SyncMode::Keep;
  pm.addPass(createLowerCopiesPass(
      {isKept, options.assumeAlignment, options.rings.assumeDistinctArguments,
       /*unrollLimit=*/8, /*vectorBits=*/8 * kWidestAccessBytes, options.copies,
       /*bypassL1=*/true, options.chip,
       /*strict=*/true, /*blockSize=*/{}}));

  // Every access is explicit now, and launches still tell their block sizes.
  if (options.resolveBankConflicts)
    pm.addPass(createResolveBankConflictsPass(
        {options.swizzle, /*maxBytes=*/0, options.chip}));
  if (options.rotateLoops)
    pm.addPass(createRotateLoopsPass());

  // Constants that were hoisted out of launches become parameters otherwise.
  pm.addPass(createGpuLaunchSinkIndexComputationsPass());
  pm.addPass(createGpuKernelOutliningPass());
  pm.addPass(createAttachTargetPass({options.chip}));
  pm.addPass(createWidenFloatsPass());
  pm.addPass(createMergeKernelsPass());

  addPlaces(pm, options, report);
  pm.addNestedPass<gpu::GPUModuleOp>(createFirstKernelCanonicalizerPass());
  pm.addNestedPass<gpu::GPUModuleOp>(createCSEPass());
  addSynchronization(pm, options, report);
  VerifyKernelsOptions verify;
  verify.verifyBarriers = options.verifyBarriers;
  verify.assumeDistinctArguments = options.rings.assumeDistinctArguments;
  addVerification(pm, verify, report);
}

/// Everything inside a `gpu.module` to LLVM and NVVM operations.
static void buildKernelLowering(OpPassManager &pm) {
  pm.addPass(createUnpackProductsPass());
  pm.addPass(createLegalizeForNVVMPass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertKernelsToNVVMPass());
  pm.addPass(createKernelCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
}

void buildToNVVMPipeline(OpPassManager &pm,
                         const ToNVVMPipelineOptions &options,
                         PipelineReport *report) {
  pm.addPass(createAdoptKernelsPass());
  pm.addPass(createSplitViewsPass());
  pm.addPass(createAttachTargetPass({options.chip}));
  pm.addPass(createWidenFloatsPass());
  // Kernels may come from elsewhere than the other pipeline. The bounds of
  // dynamic memory, and the alignment of buffers, are stated on the way.
  pm.addPass(createLowerDynamicMemoryPass());
  VerifyKernelsOptions verify;
  verify.verifyBarriers = options.verifyBarriers;
  verify.assumeBufferAlignment = 16;
  verify.assumeDistinctArguments = options.assumeDistinctArguments;
  if (!options.areVerified)
    addVerification(pm, verify, report);
  if (options.assertBounds)
    pm.addNestedPass<gpu::GPUModuleOp>(createAssertBoundsPass());
  pm.addPass(
      createFlattenKernelArgumentsPass(report ? &report->signatures : nullptr));
  buildKernelLowering(pm.nest<gpu::GPUModuleOp>());
  pm.addPass(createVerifyNVVMPass());
}

void buildLinalgToNVVMPipeline(OpPassManager &pm,
                               const LinalgToNVVMPipelineOptions &options) {
  bool areDistinct = options.assumeDistinctArguments;
  pm.addPass(createSplitViewsPass());
  pm.addPass(createScheduleKernelsPass(
      {options.threads, options.chip, options.assumeAlignment, areDistinct}));
  MemoryPipelineOptions memory;
  memory.chip = options.chip;
  memory.assumeAlignment = options.assumeAlignment;
  memory.rings.assumeDistinctArguments = areDistinct;
  memory.contractions.tensorCores = options.contractions.tensorCores;
  memory.contractions.tf32 = options.contractions.tf32;
  memory.contractions.warpGroups = options.contractions.warpGroups;
  memory.contractions.storeRings = options.contractions.storeRings;
  buildMemoryPipeline(pm, memory);
  if (options.deviceMemory)
    pm.addPass(createAllocateDeviceMemoryPass({areDistinct, /*strict=*/true}));
  ToNVVMPipelineOptions lowering;
  lowering.chip = options.chip;
  lowering.assumeDistinctArguments = areDistinct;
  buildToNVVMPipeline(pm, lowering);
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

namespace {
struct PipelineEntry {
  StringLiteral name, summary;
  void (*enroll)(StringRef name, StringRef summary);
};
} // namespace

/// Registers a pipeline with options.
template <typename Options, auto build>
static void enroll(StringRef name, StringRef summary) {
  PassPipelineRegistration<Options>(
      name, summary,
      [](OpPassManager &pm, const Options &options) { build(pm, options); });
}

static void buildMemory(OpPassManager &pm,
                        const MemoryPipelineOptions &options) {
  buildMemoryPipeline(pm, options);
}

static void buildCopies(OpPassManager &pm, const CopyPipelineOptions &options) {
  buildCopyPipeline(pm, options.rings, options.contractions, options.chip,
                    options.assumeAlignment);
}

static void buildToNVVM(OpPassManager &pm,
                        const ToNVVMPipelineOptions &options) {
  buildToNVVMPipeline(pm, options);
}

static void enrollBufferize(StringRef name, StringRef summary) {
  PassPipelineRegistration<>(name, summary, buildBufferizePipeline);
}

static constexpr PipelineEntry kPipelines[] = {
    {"workgroup-bufferize",
     "Tensors of the host and of tiles -> buffers, across calls of kernels",
     enrollBufferize},
    {kKernelPipeline,
     "Operations of linalg -> a function for each kernel, which the host calls",
     enroll<KernelPipelineOptions, buildKernelPipeline>},
    {"workgroup-linalg-to-nvvm",
     "Programs of linalg -> the NVVM dialect, by the schedule that they carry "
     "or "
     "by default sizes",
     enroll<LinalgToNVVMPipelineOptions, buildLinalgToNVVMPipeline>},
    {"workgroup-memory",
     "What promotion to workgroup memory leaves -> outlined, verified kernels",
     enroll<MemoryPipelineOptions, buildMemory>},
    {"workgroup-pipeline-copies",
     "Copies in loops -> copies that run ahead of their readers",
     enroll<CopyPipelineOptions, buildCopies>},
    {"workgroup-to-nvvm", "Outlined kernels -> the NVVM dialect",
     enroll<ToNVVMPipelineOptions, buildToNVVM>},
};

void registerPipelines() {
  for (const PipelineEntry &entry : kPipelines)
    entry.enroll(entry.name, entry.summary);
}

std::vector<std::pair<StringRef, StringRef>> getPipelineSummaries() {
  std::vector<std::pair<StringRef, StringRef>> summaries;
  for (const PipelineEntry &entry : kPipelines)
    summaries.emplace_back(entry.name, entry.summary);
  return summaries;
}

} // namespace mlir::workgroup
