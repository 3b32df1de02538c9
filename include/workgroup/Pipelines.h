//===- Pipelines.h - Pass pipelines -----------------------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Nothing but the order of passes.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_PIPELINES_H
#define WORKGROUP_PIPELINES_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "workgroup/PassOptions.h"
#include "workgroup/Transforms.h"

namespace mlir::workgroup {

/// The pipeline that schedules of programs of linalg begin with.
constexpr StringLiteral kKernelPipeline = "workgroup-linalg-to-kernels";

/// Options of the pipeline `workgroup-linalg-to-kernels`.
struct KernelPipelineOptions
    : public PassPipelineOptions<KernelPipelineOptions> {
  AssumeDistinctArgumentsOption assumeDistinctArguments{*this};
  SharedOption<int64_t> chainBytes{*this, "chain-bytes", 0};
  SharedOption<int64_t> chainBlocks{*this, "chain-blocks", 0};
  ChipOption chip{*this};
  SharedOption<bool> dropAssertions{*this, "drop-assertions", false};
  SharedOption<bool> narrow{*this, "narrow", false};
};

/// Options of pipelines that make rings.
struct RingOptions {
  explicit RingOptions(::mlir::detail::PassOptions &parent, int64_t slots)
      : slots{
            parent, "slots",
            llvm::cl::desc("Number of slots of the rings that copies of loops "
                           "become, up to 8; none is formed for 1"),
            llvm::cl::init(slots)},
        engine{parent, "engine",
               llvm::cl::desc("How the copies of a ring run ahead"),
               llvm::cl::init(RingEngine::Auto), getRingEngineValues()},
        specializeWarps{
            parent, "specialize-warps",
            llvm::cl::desc("Threads that blocks get more to fill rings for "
                           "products of warp groups; 0 for none, -1 for as "
                           "many as the rings of a schedule ask for"),
            llvm::cl::init(-1)},
        persistGrid{
            parent, "persist-grid",
            llvm::cl::desc("Blocks that go through all tiles of a kernel with "
                           "such threads; 0 for a block for each tile, -1 for "
                           "as many as the rings of a schedule ask for"),
            llvm::cl::init(-1)},
        assumeDistinctArguments(parent) {}

  ::mlir::detail::PassOptions::Option<int64_t> slots;
  ::mlir::detail::PassOptions::Option<RingEngine> engine;
  ::mlir::detail::PassOptions::Option<int64_t> specializeWarps;
  ::mlir::detail::PassOptions::Option<int64_t> persistGrid;
  AssumeDistinctArgumentsOption assumeDistinctArguments;
};

/// Options of pipelines that share out contractions.
struct ContractionOptions {
  explicit ContractionOptions(::mlir::detail::PassOptions &parent)
      : tensorCores{parent, "tensor-cores", true}, tf32{parent, "tf32", false},
        warpGroups{parent, "warp-groups", true},
        storeRings{parent, "store-rings", true} {}

  SharedOption<bool> tensorCores;
  SharedOption<bool> tf32;
  SharedOption<bool> warpGroups;
  SharedOption<bool> storeRings;
};

/// Options of the pipeline `workgroup-pipeline-copies`.
struct CopyPipelineOptions : public PassPipelineOptions<CopyPipelineOptions> {
  RingOptions rings{*this, 2};
  ContractionOptions contractions{*this};
  ChipOption chip{*this};
  AssumeAlignmentOption assumeAlignment{*this};
};

/// The treatment of the barriers of a program.
enum class SyncMode { Insert, Keep, Minimize };

/// Options of the pipeline `workgroup-memory`.
struct MemoryPipelineOptions
    : public PassPipelineOptions<MemoryPipelineOptions> {
  ChipOption chip{*this};
  PassOptions::Option<SyncMode> sync{
      *this, "sync", llvm::cl::desc("What becomes of barriers"),
      llvm::cl::init(SyncMode::Insert),
      llvm::cl::values(
          clEnumValN(SyncMode::Insert, "insert",
                     "those that are there stay, and the fewest that are "
                     "missing are added"),
          clEnumValN(SyncMode::Keep, "keep",
                     "those that are there stay, and each pass adds what its "
                     "own rewrite needs"),
          clEnumValN(SyncMode::Minimize, "minimize",
                     "the fewest that are missing are added, and those that "
                     "order nothing are removed"))};
  PassOptions::Option<bool> namedBarriers{
      *this, "named-barriers",
      llvm::cl::desc("Let warps that take a branch region on their own meet "
                     "at a barrier of their own"),
      llvm::cl::init(false)};
  AssumeAlignmentOption assumeAlignment{*this};
  PassOptions::Option<CopyStrategy> copies{
      *this, "copies",
      llvm::cl::desc("How copies from global to workgroup memory are done"),
      llvm::cl::init(CopyStrategy::Auto), getCopyStrategyValues()};
  RingOptions rings{*this, 1};
  ContractionOptions contractions{*this};
  PassOptions::Option<bool> rotateLoops{
      *this, "rotate-loops",
      llvm::cl::desc(
          "Load what the next iteration of a loop of matrix products "
          "multiplies first"),
      llvm::cl::init(true)};
  PassOptions::Option<bool> resolveBankConflicts{
      *this, "resolve-bank-conflicts",
      llvm::cl::desc("Pad or swizzle rows of workgroup buffers"),
      llvm::cl::init(true)};
  PassOptions::Option<Swizzle> swizzle{
      *this, "swizzle", llvm::cl::desc("When rows are swizzled"),
      llvm::cl::init(Swizzle::Auto), getSwizzleValues()};
  PassOptions::Option<Reuse> reuse{
      *this, "reuse", llvm::cl::desc("Where workgroup buffers share bytes"),
      llvm::cl::init(Reuse::Auto), getReuseValues()};
  PassOptions::Option<DynamicMemory> dynamic{
      *this, "dynamic", llvm::cl::desc("When workgroup memory is dynamic"),
      llvm::cl::init(DynamicMemory::Auto), getDynamicMemoryValues()};
  PassOptions::Option<bool> verifyBarriers{
      *this, "verify-barriers",
      llvm::cl::desc("Prove that threads do not race, and reject barriers in "
                     "divergent control flow"),
      llvm::cl::init(true)};
  PassOptions::ListOption<std::string> fromSpaces{
      *this, "from-spaces", llvm::cl::desc(describeOption("from-spaces"))};
};

/// Options of the pipeline `workgroup-to-nvvm`.
struct ToNVVMPipelineOptions
    : public PassPipelineOptions<ToNVVMPipelineOptions> {
  ChipOption chip{*this};
  PassOptions::Option<bool> verifyBarriers{
      *this, "verify-barriers",
      llvm::cl::desc("Reject barriers in divergent control flow"),
      llvm::cl::init(true)};
  AssumeDistinctArgumentsOption assumeDistinctArguments{*this};
  PassOptions::Option<bool> assertBounds{
      *this, "assert-bounds",
      llvm::cl::desc("Assert that accesses and views are in bounds"),
      llvm::cl::init(false)};
  /// The kernels come from `workgroup-memory`, which has verified them.
  bool areVerified = false;
};

/// Options of the pipeline `workgroup-linalg-to-nvvm`.
struct LinalgToNVVMPipelineOptions
    : public PassPipelineOptions<LinalgToNVVMPipelineOptions> {
  ChipOption chip{*this};
  PassOptions::Option<int64_t> threads{
      *this, "threads",
      llvm::cl::desc("Threads of a block, where the program has no schedule"),
      llvm::cl::init(128)};
  AssumeAlignmentOption assumeAlignment{*this};
  AssumeDistinctArgumentsOption assumeDistinctArguments{*this};
  ContractionOptions contractions{*this};
  PassOptions::Option<bool> deviceMemory{
      *this, "device-memory",
      llvm::cl::desc("Give buffers of launches memory of the device, and fail "
                     "where that cannot be"),
      llvm::cl::init(false)};
};

/// From operations of linalg to a private function for each kernel, which the
/// host calls.
void buildKernelPipeline(OpPassManager &pm,
                         const KernelPipelineOptions &options);

/// From tensors to buffers: of the host, which passes them to the functions
/// that become kernels, and of the tiles in these.
void buildBufferizePipeline(OpPassManager &pm);

/// From copies in loops to copies that run ahead of their readers.
void buildCopyPipeline(OpPassManager &pm, const RingOptions &options,
                       const ContractionOptions &contractions, StringRef chip,
                       int64_t assumeAlignment);

/// What passes tell beside what they make of the program.
struct PipelineReport {
  /// Why there is each barrier.
  std::vector<BarrierReport> barriers;
  /// The workgroup memory of each kernel.
  MemoryReport memory;
  /// The interface of each kernel.
  SmallVector<KernelSignature> signatures;
};

/// From what promotion to workgroup memory leaves to outlined kernels that are
/// safe to lower: buffers in the kernel, copies spread over the block,
/// verified. `report`, if given, must outlive the run.
void buildMemoryPipeline(OpPassManager &pm,
                         const MemoryPipelineOptions &options,
                         PipelineReport *report = nullptr);

/// From such kernels to the NVVM dialect. Host functions are left as they are.
/// `report`, if given, must outlive the run.
void buildToNVVMPipeline(OpPassManager &pm,
                         const ToNVVMPipelineOptions &options,
                         PipelineReport *report = nullptr);

/// From programs of linalg to kernels in the NVVM dialect, by the schedule that
/// they carry or by default sizes.
void buildLinalgToNVVMPipeline(OpPassManager &pm,
                               const LinalgToNVVMPipelineOptions &options);

/// Registers the pipelines by name.
void registerPipelines();

/// Name and summary of each pipeline.
std::vector<std::pair<StringRef, StringRef>> getPipelineSummaries();

} // namespace mlir::workgroup

#endif // WORKGROUP_PIPELINES_H
