//===- LowerContractions.cpp - Contractions to registers ------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A contraction of tiles in workgroup memory adds to an accumulator in private
// memory, that is, each thread does all of it. As no thread needs more of the
// accumulator than what it stores in the end, the threads share it out: each
// keeps a part in registers, from what it is filled with to what is computed of
// it.
//
//===----------------------------------------------------------------------===//

#include "ClusterEmitter.h"
#include "RegisterChainEmitter.h"
#include "Support/Remarks.h"
#include "Transforms/Rings/TensorRings.h"
#include "Transforms/Utils/AssumedAlignment.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "workgroup/Support/MemorySpace.h"
#include "workgroup/Target/AccessWidth.h"
#include "workgroup/Transforms/Contractions.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_LOWERCONTRACTIONSPASS
#include "workgroup/Transforms/Contractions.h.inc"

//===----------------------------------------------------------------------===//
// Decide
//===----------------------------------------------------------------------===//

/// Chooses whether tensor cores compute the contraction, and says why not where
/// they might. Fails after an error if the chip is unknown.
static LogicalResult
chooseTensorCores(ContractionCluster &cluster,
                  function_ref<TensorRings &()> getRings,
                  const LowerContractionsOptions &options) {
  linalg::LinalgOp op = cluster.contraction.op;
  const Chip *chip = resolveChip(getExecutionScope(op), options.chip);
  if (!chip)
    return failure();
  if (!options.tensorCores)
    return success();
  std::string why;
  cluster.matrix = chooseMatrixForm(cluster.contraction, *chip, options.tf32,
                                    cluster.sharers.numThreads, why);
  if (!cluster.matrix && !why.empty())
    recordRemark(RemarkId::LowerContractions_TensorCoresNotUsed, op)
        << "contraction that tensor cores do not compute"
        << remark::reason("{0}", why);
  if (!cluster.matrix || !options.warpGroups ||
      cluster.sharers.unit != Sharers::Unit::Block)
    return success();
  cluster.group = chooseGroupForm(cluster.contraction, *cluster.matrix, *chip,
                                  cluster.sharers.numThreads, getRings, why);
  // What changes the sums has to wait for them.
  if (cluster.group && cluster.updates.empty() && !cluster.loops.empty())
    cluster.group->numPending =
        chooseNumPending(*cluster.group, cluster.loops.back());
  if (!cluster.group && !why.empty())
    recordRemark(RemarkId::LowerContractions_WarpGroupsNotUsed, op)
        << "tiles that warp groups do not multiply where they are"
        << remark::reason("{0}", why);
  return success();
}

/// Chooses what each thread of a block or a warp computes.
static LogicalResult chooseTile(ContractionCluster &cluster,
                                function_ref<TensorRings &()> getRings,
                                const LowerContractionsOptions &options) {
  linalg::LinalgOp op = cluster.contraction.op;
  Sharers &sharers = cluster.sharers;
  if (sharers.unit == Sharers::Unit::Block) {
    std::optional<int64_t> numThreads =
        getBlockShape(getExecutionScope(op)).getNumThreads();
    if (!numThreads)
      return op.emitOpError("cannot be shared out to threads: how many a block "
                            "has is not known; give the launch constant sizes, "
                            "or the kernel known_block_size");
    sharers.numThreads = *numThreads;
  }
  bool isStaged = areFactors(cluster, [](Value factor) {
    return isWorkgroupMemory(factor.getType());
  });
  if (isStaged && sharers.unit != Sharers::Unit::Thread &&
      failed(chooseTensorCores(cluster, getRings, options)))
    return failure();
  if (cluster.group)
    cluster.tile = cluster.group->tile;
  else if (cluster.matrix)
    cluster.tile = cluster.matrix->tile;
  // Who shares less than a block has a tile already.
  if (cluster.matrix || sharers.unit != Sharers::Unit::Block)
    return success();
  std::string why =
      chooseThreadTile(cluster.contraction, sharers.numThreads, cluster.tile);
  if (why.empty())
    return success();
  return op.emitOpError("cannot be shared out to threads: ")
         << why << "; use more threads, or a smaller tile";
}

static LowerRingsOptions
getRingOptions(const LowerContractionsOptions &options) {
  LowerRingsOptions rings;
  rings.copies.assumeAlignment = options.assumeAlignment;
  rings.copies.chip = options.chip;
  rings.copies.assumeDistinctArguments = options.assumeDistinctArguments;
  return rings;
}

/// True if `op` could be work of the block: it reads workgroup memory.
static bool isOfBlock(linalg::LinalgOp op) {
  return llvm::any_of(op.getDpsInputs(), [](Value input) {
    return isWorkgroupMemory(input.getType());
  });
}

static void reportNotShared(ContractionCluster &cluster, StringRef why) {
  linalg::LinalgOp op = cluster.contraction.op;
  if (isOfBlock(op))
    recordRemark(RemarkId::LowerContractions_NotShared, op)
        << "contraction that each thread does all of"
        << remark::reason("{0}", why);
}

/// The contractions in `root` that threads share out, with all that is decided
/// about them.
static FailureOr<std::vector<ContractionCluster>>
decide(Operation *root, const LowerContractionsOptions &options) {
  std::vector<ContractionCluster> shared;
  std::vector<ContractionCluster> clusters = collectClusters(root);
  if (clusters.empty())
    return shared;
  SharerAnalysis analysis(root);
  std::optional<TensorRings> rings;
  auto getRings = [&]() -> TensorRings & {
    if (!rings)
      rings.emplace(root, getRingOptions(options));
    return *rings;
  };
  bool hasFailed = false;
  for (ContractionCluster &cluster : clusters) {
    std::string why = describeCluster(cluster, analysis);
    if (!why.empty()) {
      reportNotShared(cluster, why);
      continue;
    }
    hasFailed |= failed(chooseTile(cluster, getRings, options));
    shared.push_back(std::move(cluster));
  }
  if (hasFailed)
    return failure();
  return shared;
}

//===----------------------------------------------------------------------===//
// Apply
//===----------------------------------------------------------------------===//

/// The name of the instruction of tensor cores in remarks.
static std::string getInstruction(ContractionCluster &cluster) {
  const MatrixForm &matrix = *cluster.matrix;
  if (!cluster.group)
    return matrix.getName();
  return llvm::formatv("m{0}n{1}k{2}.{3}.{4}", GroupProductOp::kRows,
                       cluster.contraction.columns.getSize(),
                       2 * matrix.lhs.getChunk(),
                       NVVM::stringifyMMATypes(matrix.lhs.type),
                       NVVM::stringifyMMATypes(matrix.rhs.type))
      .str();
}

static void report(ContractionCluster &cluster) {
  auto remark = recordRemark(RemarkId::LowerContractions_LoweredContraction,
                             cluster.contraction.op);
  remark << (cluster.sharers.unit == Sharers::Unit::Thread
                 ? "contraction of a thread done in registers"
                 : "contraction of tiles shared out to threads")
         << remark::metric("Tile",
                           llvm::formatv("{0}x{1}x{2}",
                                         cluster.contraction.rows.getSize(),
                                         cluster.contraction.columns.getSize(),
                                         cluster.contraction.sums.getSize())
                               .str())
         << remark::metric("Thread", llvm::formatv("{0}x{1}", cluster.tile.rows,
                                                   cluster.tile.columns)
                                         .str())
         << remark::metric("Threads", cluster.tile.getNumThreads());
  if (cluster.matrix)
    remark << remark::metric("Instruction", getInstruction(cluster))
           << remark::metric(
                  "Warp", llvm::formatv("{0}x{1}", cluster.tile.getGroupRows(),
                                        cluster.tile.getGroupColumns())
                              .str());
}

static void erase(ContractionCluster &cluster, RewriterBase &rewriter) {
  for (ArrayRef<OpOperand *> uses : {cluster.updates, cluster.sinks})
    for (OpOperand *use : uses)
      rewriter.eraseOp(use->getOwner());
  rewriter.eraseOp(cluster.contraction.op);
  rewriter.eraseOp(cluster.init->getOwner());
  for (Operation *view : llvm::reverse(cluster.views))
    rewriter.eraseOp(view);
  rewriter.eraseOp(cluster.accumulator);
}

static void apply(ContractionCluster &cluster, AlignmentAnalysis &alignment,
                  std::optional<StoreContext> stores, RewriterBase &rewriter) {
  report(cluster);
  // Others may have changed the loops.
  (void)findLoops(cluster);
  rewriter.setInsertionPoint(cluster.init->getOwner());
  ClusterEmitter(cluster, rewriter, alignment, stores).run();
  erase(cluster, rewriter);
}

//===----------------------------------------------------------------------===//
// Chains
//===----------------------------------------------------------------------===//

/// True if `op` multiplies what threads have for themselves.
static bool multipliesPrivate(linalg::LinalgOp op) {
  return op.getNumReductionLoops() != 0 && op.getNumDpsInputs() == 2 &&
         llvm::any_of(op.getDpsInputs(), [](Value input) {
           return isPrivateMemory(input.getType());
         });
}

static void reportChain(RegisterChain &chain) {
  auto remark =
      recordRemark(RemarkId::LowerContractions_LoweredChain, chain.second.op);
  remark << "contraction of what another one makes, done in registers"
         << remark::metric("Rows", chain.second.rows.getSize())
         << remark::metric("Threads", chain.ofSecond.tile.getNumThreads())
         << remark::metric("Instruction", chain.ofSecond.getName());
}

/// Lowers contractions in `scope` of what others make, where warps have whole
/// rows.
static LogicalResult lowerChains(Operation *scope,
                                 const LowerContractionsOptions &options) {
  bool isWorthIt = false;
  scope->walk([&](linalg::LinalgOp op) { isWorthIt |= multipliesPrivate(op); });
  std::optional<int64_t> numThreads = getBlockShape(scope).getNumThreads();
  if (!isWorthIt || !options.tensorCores || !numThreads)
    return success();
  const Chip *chip = resolveChip(scope, options.chip);
  if (!chip)
    return failure();
  SharerAnalysis analysis(scope);
  IRRewriter rewriter(scope->getContext());
  for (RegisterChain &chain : findRegisterChains(scope, *chip, *numThreads)) {
    bool isPrivate = llvm::all_of(chain.buffers, [](const auto &entry) {
      return isPrivateMemory(entry.first.getType());
    });
    if (!isPrivate || !analysis.getBlockDivergence(chain.ops).empty())
      continue;
    reportChain(chain);
    AlignmentAnalysis alignment(
        {options.assumeAlignment, kWidestAccessBytes, scope});
    Sharers sharers{Sharers::Unit::Block, *numThreads};
    RegisterChainEmitter(chain, sharers, rewriter, alignment).run();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

LogicalResult lowerContractions(Operation *root,
                                const LowerContractionsOptions &options) {
  if (failed(verifyAssumedAlignment(root, options.assumeAlignment)))
    return failure();
  for (Operation *scope : collectDeviceScopes(root))
    if (failed(lowerChains(scope, options)))
      return failure();
  FailureOr<std::vector<ContractionCluster>> clusters = decide(root, options);
  if (failed(clusters))
    return failure();
  IRRewriter rewriter(root->getContext());
  TensorMaps maps(root);
  ArgumentAliases aliases(root, options.assumeDistinctArguments);
  for (ContractionCluster &cluster : *clusters) {
    AlignmentAnalysis alignment(
        {options.assumeAlignment, kWidestAccessBytes, root});
    std::optional<StoreContext> stores;
    if (options.storeRings && cluster.group)
      stores.emplace(StoreContext{
          *resolveChip(getExecutionScope(cluster.contraction.op), options.chip),
          maps, aliases});
    apply(cluster, alignment, stores, rewriter);
  }
  return success();
}

namespace {

struct LowerContractionsPass
    : impl::LowerContractionsPassBase<LowerContractionsPass> {
  using LowerContractionsPassBase::LowerContractionsPassBase;

  void runOnOperation() override {
    if (failed(lowerContractions(
            getOperation(), {assumeAlignment, chip, tensorCores, tf32,
                             warpGroups, assumeDistinctArguments, storeRings})))
      signalPassFailure();
  }
};

} // namespace

} // namespace mlir::workgroup
