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

#include "ContractionCluster.h"
#include "GroupProductEmitter.h"
#include "MatrixProductEmitter.h"
#include "PointwiseEmitter.h"
#include "ProductEmitter.h"
#include "RegisterChainEmitter.h"
#include "Support/Remarks.h"
#include "Transforms/Rings/TensorRings.h"
#include "Transforms/Utils/AssumedAlignment.h"
#include "Transforms/Utils/CarriedValues.h"
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

//===----------------------------------------------------------------------===//
// Apply
//===----------------------------------------------------------------------===//

/// The value that `init` fills all of the accumulator with; null if it is not
/// the same for all elements.
static Value getFilling(OpOperand *init) {
  auto fill = dyn_cast<linalg::LinalgOp>(init->getOwner());
  if (!fill || !llvm::hasSingleElement(*fill.getBlock()))
    return {};
  Value value = fill.getBlock()->getTerminator()->getOperand(0);
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != fill.getBlock())
    return value;
  OpOperand *input = fill.getMatchingOpOperand(argument);
  return isa<MemRefType>(input->get().getType()) ? Value() : input->get();
}

/// The sums that the loops carry to the contraction, which are `initial` at
/// first, and changed on the way.
static SmallVector<Value> carry(ContractionCluster &cluster, ValueRange initial,
                                PointwiseEmitter &pointwise,
                                RewriterBase &rewriter) {
  SmallVector<Value> sums(initial);
  for (scf::ForOp &loop : cluster.loops) {
    loop = addCarriedValues(rewriter, loop, sums);
    sums.assign(loop.getRegionIterArgs().end() - initial.size(),
                loop.getRegionIterArgs().end());
    for (Operation &op : llvm::make_early_inc_range(*loop.getBody())) {
      OpOperand **update =
          llvm::find_if(cluster.updates, [&](OpOperand *output) {
            return output->getOwner() == &op;
          });
      if (update == cluster.updates.end())
        continue;
      rewriter.setInsertionPoint(&op);
      sums = pointwise.update(Pointwise(&op, *update), sums);
    }
  }
  return sums;
}

/// Lets the loops carry `sums` on, which become what is left of them behind the
/// outermost one. Goes there.
static void yield(ContractionCluster &cluster, SmallVector<Value> &sums,
                  std::optional<GroupProductEmitter> &groups,
                  RewriterBase &rewriter) {
  for (scf::ForOp loop : llvm::reverse(cluster.loops)) {
    yieldLast(rewriter, loop, sums);
    ResultRange results = loop.getResults().take_back(sums.size());
    sums.assign(results.begin(), results.end());
    rewriter.setInsertionPointAfter(loop);
    if (groups && loop == cluster.loops.back())
      sums = groups->await(sums);
  }
}

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

static void apply(ContractionCluster &cluster, AlignmentAnalysis &alignment,
                  RewriterBase &rewriter) {
  report(cluster);
  linalg::LinalgOp op = cluster.contraction.op;
  // Others may have changed the loops.
  (void)findLoops(cluster);
  Operation *init = cluster.init->getOwner();
  rewriter.setInsertionPoint(init);
  ContractionPart part(cluster.contraction, cluster.tile, cluster.sharers,
                       rewriter, alignment);
  std::optional<MatrixProductEmitter> matrices;
  std::optional<GroupProductEmitter> groups;
  if (cluster.group)
    groups.emplace(part, *cluster.group);
  else if (cluster.matrix)
    matrices.emplace(part, *cluster.matrix);
  Value filling = getFilling(cluster.init);
  // What is read before as another thread's would have to be waited for.
  PointwiseEmitter pointwise(part, /*mayExchange=*/cluster.matrix && filling &&
                                       cluster.updates.empty());
  SmallVector<Value> sums =
      filling ? pointwise.fill(filling)
              : pointwise.initialize(Pointwise(init, cluster.init));

  // What changes the sums in the loops has them as they are.
  bool isPacked = groups && cluster.updates.empty();
  if (isPacked)
    sums = groups->pack(sums);
  sums = carry(cluster, sums, pointwise, rewriter);
  rewriter.setInsertionPoint(op);
  if (groups && !isPacked)
    sums = groups->unpack(groups->multiply(groups->pack(sums)));
  else if (groups)
    sums = groups->multiply(sums);
  else if (matrices)
    sums = matrices->multiply(sums);
  else
    sums = ProductEmitter(part).multiply(sums);
  yield(cluster, sums, groups, rewriter);
  if (isPacked)
    sums = groups->unpack(sums);
  for (OpOperand *sink : cluster.sinks) {
    rewriter.setInsertionPoint(sink->getOwner());
    pointwise.finish(Pointwise(sink->getOwner(), sink), sums);
  }

  for (ArrayRef<OpOperand *> uses : {cluster.updates, cluster.sinks})
    for (OpOperand *use : uses)
      rewriter.eraseOp(use->getOwner());
  rewriter.eraseOp(op);
  rewriter.eraseOp(init);
  for (Operation *view : llvm::reverse(cluster.views))
    rewriter.eraseOp(view);
  rewriter.eraseOp(cluster.accumulator);
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

LogicalResult lowerContractions(Operation *root,
                                const LowerContractionsOptions &options) {
  if (failed(verifyAssumedAlignment(root, options.assumeAlignment)))
    return failure();
  for (Operation *scope : collectDeviceScopes(root))
    if (failed(lowerChains(scope, options)))
      return failure();
  std::vector<ContractionCluster> clusters = collectClusters(root);
  if (clusters.empty())
    return success();
  SharerAnalysis analysis(root);
  std::optional<TensorRings> rings;
  auto getRings = [&]() -> TensorRings & {
    if (!rings)
      rings.emplace(root, getRingOptions(options));
    return *rings;
  };
  std::vector<ContractionCluster> shared;
  bool hasFailed = false;
  for (ContractionCluster &cluster : clusters) {
    std::string why = describeCluster(cluster, analysis);
    if (!why.empty()) {
      if (isOfBlock(cluster.contraction.op))
        recordRemark(RemarkId::LowerContractions_NotShared,
                     cluster.contraction.op)
            << "contraction that each thread does all of"
            << remark::reason("{0}", why);
      continue;
    }
    hasFailed |= failed(chooseTile(cluster, getRings, options));
    shared.push_back(std::move(cluster));
  }
  if (hasFailed)
    return failure();
  IRRewriter rewriter(root->getContext());
  for (ContractionCluster &cluster : shared) {
    AlignmentAnalysis alignment(
        {options.assumeAlignment, kWidestAccessBytes, root});
    apply(cluster, alignment, rewriter);
  }
  return success();
}

namespace {

struct LowerContractionsPass
    : impl::LowerContractionsPassBase<LowerContractionsPass> {
  using LowerContractionsPassBase::LowerContractionsPassBase;

  void runOnOperation() override {
    if (failed(lowerContractions(getOperation(),
                                 {assumeAlignment, chip, tensorCores, tf32,
                                  warpGroups, assumeDistinctArguments})))
      signalPassFailure();
  }
};

} // namespace

} // namespace mlir::workgroup
