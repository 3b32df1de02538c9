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

#include "CarriedResult.h"
#include "MatrixProductEmitter.h"
#include "PointwiseEmitter.h"
#include "ProductEmitter.h"
#include "Support/Remarks.h"
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

namespace {

/// A contraction with all that is done with its accumulator.
struct ContractionCluster {
  Contraction contraction;
  memref::AllocaOp accumulator;
  /// The loops around the contraction, the outermost one first.
  SmallVector<scf::ForOp> loops = {};
  /// What the accumulator starts from.
  OpOperand *init = nullptr;
  /// What is made of it, in order.
  SmallVector<OpOperand *> sinks = {};
  /// Outputs that change the accumulator in the loops, before the sum.
  SmallVector<OpOperand *> updates = {};
  SmallVector<Operation *> views = {};
  ThreadTile tile = {};
  Sharers sharers = {};
  /// How tensor cores compute it, if they do.
  std::optional<MatrixForm> matrix = std::nullopt;

  /// The loops as one operation, or the contraction if there are none.
  Operation *getRoot() {
    return loops.empty() ? contraction.op.getOperation()
                         : loops.front().getOperation();
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Collect
//===----------------------------------------------------------------------===//

/// True if `op` sums up into a private buffer of the kernel.
static bool isSum(linalg::LinalgOp op) {
  if (op.getNumReductionLoops() == 0 || op.getNumDpsInits() != 1 ||
      !op.hasPureBufferSemantics())
    return false;
  Value result = op.getDpsInits()[0];
  return getRootBuffer(result).getDefiningOp<memref::AllocaOp>() &&
         getMemorySpace(result) == MemorySpace::Private;
}

/// True if `op` could be work of the block: it reads workgroup memory.
static bool isOfBlock(linalg::LinalgOp op) {
  return llvm::any_of(op.getDpsInputs(), [](Value input) {
    return isWorkgroupMemory(input.getType());
  });
}

static std::vector<ContractionCluster> collect(Operation *root) {
  std::vector<ContractionCluster> clusters;
  for (Operation *scope : collectDeviceScopes(root))
    scope->walk([&](linalg::LinalgOp op) {
      // What threads do of a loop is known when it has been distributed.
      if (!isSum(op) || isInLoopOverThreads(op))
        return;
      Value buffer = getRootBuffer(op.getDpsInits()[0]);
      clusters.push_back(
          {Contraction{op}, buffer.getDefiningOp<memref::AllocaOp>()});
    });
  return clusters;
}

//===----------------------------------------------------------------------===//
// Decide
//===----------------------------------------------------------------------===//

/// True if `view` is the accumulator, or of its first elements in each
/// dimension.
static bool isLeading(Value view, Value accumulator) {
  while (view != accumulator) {
    auto part = view.getDefiningOp<memref::SubViewOp>();
    if (!part || part.getType().getRank() != part.getSourceType().getRank() ||
        !areAllConstantIntValue(part.getMixedOffsets(), 0) ||
        !areAllConstantIntValue(part.getMixedStrides(), 1))
      return false;
    view = part.getSource();
  }
  return true;
}

static std::string describeUse(Operation *op, StringRef what) {
  return llvm::formatv("{0} {1} its accumulator", op->getName().getStringRef(),
                       what)
      .str();
}

/// True if `op`, which uses the accumulator by `use`, is done element by
/// element on all loops that go along it.
static bool isPointwiseUse(OpOperand &use) {
  Operation *op = use.getOwner();
  if (isa<memref::CopyOp, linalg::CopyOp>(op)) {
    auto from = cast<MemRefType>(op->getOperand(0).getType());
    auto to = cast<MemRefType>(op->getOperand(1).getType());
    return from.getElementType() == to.getElementType() &&
           isDenseElement(to.getElementType());
  }
  auto generic = dyn_cast<linalg::LinalgOp>(op);
  return generic && generic.hasPureBufferSemantics() && isPointwise(generic) &&
         generic.getMatchingIndexingMap(&use).isPermutation();
}

static bool isWritten(OpOperand &use) {
  if (auto generic = dyn_cast<linalg::LinalgOp>(use.getOwner()))
    return generic.isDpsInit(&use);
  return use.getOperandNumber() == 1;
}

/// The operation that goes on adding in the body of loop number `number`.
static Operation *getNext(ContractionCluster &cluster, unsigned number) {
  if (number + 1 < cluster.loops.size())
    return cluster.loops[number + 1];
  return cluster.contraction.op;
}

/// Adds a use of the accumulator in a loop around the contraction. Returns why
/// it cannot be, or empty.
static std::string addUpdate(ContractionCluster &cluster, OpOperand &use) {
  Operation *op = use.getOwner();
  auto isResult = [&](Value value) { return value == use.get(); };
  auto isOther = [&](Value value) {
    return value != use.get() && isa<BaseMemRefType>(value.getType()) &&
           getRootBuffer(value) == cluster.accumulator.getResult();
  };
  if (!isLeading(use.get(), cluster.accumulator) || !isUpdate(op, isResult) ||
      llvm::any_of(op->getOperands(), isOther))
    return describeUse(op, "stands in another block and uses");
  for (auto [number, loop] : llvm::enumerate(cluster.loops)) {
    if (op->getBlock() != loop.getBody())
      continue;
    if (!op->isBeforeInBlock(getNext(cluster, number)))
      return describeUse(op, "changes, behind the sum,");
    if (isWritten(use))
      cluster.updates.push_back(&use);
    return "";
  }
  return describeUse(op, "stands in another block and uses");
}

/// Adds a use of the accumulator. Returns why it cannot be, or empty.
static std::string addUse(ContractionCluster &cluster, OpOperand &use) {
  Operation *op = use.getOwner(), *root = cluster.getRoot();
  if (op == cluster.contraction.op)
    return use.getOperandNumber() ==
                   cluster.contraction.getResult()->getOperandNumber()
               ? ""
               : describeUse(op, "reads and writes");
  if (isa<memref::SubViewOp>(op)) {
    cluster.views.push_back(op);
    return "";
  }
  if (op->getBlock() != root->getBlock())
    return addUpdate(cluster, use);
  if (!isLeading(use.get(), cluster.accumulator) || !isPointwiseUse(use))
    return describeUse(op, "does more than element-wise work with");
  bool isBefore = op->isBeforeInBlock(root);
  if (isBefore != isWritten(use))
    return describeUse(op,
                       isBefore ? "reads, before the sum," : "writes again");
  if (!isBefore) {
    cluster.sinks.push_back(&use);
    return "";
  }
  if (cluster.init)
    return describeUse(op, "once more fills");
  cluster.init = &use;
  if (auto generic = dyn_cast<linalg::LinalgOp>(op))
    if (generic.getNumDpsInits() != 1 ||
        generic.payloadUsesValueFromOperand(&use))
      return describeUse(op, "does more than fill");
  return "";
}

/// Finds the loops around the contraction that go on adding.
static std::string findLoops(ContractionCluster &cluster) {
  Operation *op = cluster.contraction.op;
  Block *home = cluster.accumulator->getBlock();
  cluster.loops.clear();
  while (op->getBlock() != home) {
    auto loop = dyn_cast<scf::ForOp>(op->getParentOp());
    if (!loop)
      return llvm::formatv("it stands in {0}, which is no loop over its sums",
                           op->getParentOp()->getName().getStringRef())
          .str();
    cluster.loops.insert(cluster.loops.begin(), loop);
    op = loop;
  }
  return "";
}

static std::string collectUses(ContractionCluster &cluster) {
  SmallVector<Value> names = {cluster.accumulator};
  for (unsigned i = 0; i < names.size(); ++i)
    for (OpOperand &use : names[i].getUses()) {
      std::string why = addUse(cluster, use);
      if (!why.empty())
        return why;
      if (isa<memref::SubViewOp>(use.getOwner()))
        names.push_back(use.getOwner()->getResult(0));
    }
  if (!cluster.init)
    return "nothing fills its accumulator";
  auto isBefore = [](OpOperand *lhs, OpOperand *rhs) {
    return lhs->getOwner()->isBeforeInBlock(rhs->getOwner());
  };
  llvm::stable_sort(cluster.sinks, isBefore);
  // Who reads it more than once reads the same element each time.
  for (unsigned i = 1; i < cluster.sinks.size(); ++i) {
    Operation *op = cluster.sinks[i]->getOwner();
    if (op != cluster.sinks[i - 1]->getOwner())
      continue;
    auto generic = cast<linalg::LinalgOp>(op);
    if (generic.getMatchingIndexingMap(cluster.sinks[i]) !=
            generic.getMatchingIndexingMap(cluster.sinks[i - 1]) ||
        cluster.sinks[i]->get() != cluster.sinks[i - 1]->get())
      return describeUse(op, "reads several elements of");
    cluster.sinks.erase(cluster.sinks.begin() + i--);
  }
  return "";
}

static std::string checkOperands(ContractionCluster &cluster) {
  linalg::LinalgOp op = cluster.contraction.op;
  if (op.getDpsInits()[0] != cluster.accumulator.getResult() ||
      !cluster.accumulator.getType().hasStaticShape() ||
      !cluster.accumulator.getType().getLayout().isIdentity())
    return "its accumulator is not all of a private buffer of constant size";
  if (ShapedType::isDynamicShape(op.getStaticLoopRanges()))
    return "its tiles have no constant sizes; let workgroup-stage-operands "
           "make them";
  std::string why = describe(cluster.contraction, op.getStaticLoopRanges());
  if (!why.empty())
    return why;
  for (OpOperand *factor : {cluster.contraction.lhs, cluster.contraction.rhs})
    if (!cast<MemRefType>(factor->get().getType()).isStrided())
      return "its operands are not both tiles with strides";
  return "";
}

static bool areFactors(ContractionCluster &cluster,
                       function_ref<bool(Value)> condition) {
  return condition(cluster.contraction.lhs->get()) &&
         condition(cluster.contraction.rhs->get());
}

/// Finds who shares out the contraction: the largest unit that executes it
/// together. Returns why only one thread with too little room does, or empty.
static std::string findSharers(ContractionCluster &cluster,
                               SharerAnalysis &analysis) {
  SmallVector<Operation *> ops = {cluster.contraction.op,
                                  cluster.init->getOwner()};
  for (ArrayRef<OpOperand *> uses : {cluster.updates, cluster.sinks})
    for (OpOperand *use : uses)
      ops.push_back(use->getOwner());
  std::string why = analysis.getBlockDivergence(ops);
  if (why.empty() && areFactors(cluster, [](Value factor) {
        return isWorkgroupMemory(factor.getType());
      }))
    return "";
  if (why.empty())
    why = "its operands are not both tiles with strides in workgroup memory";
  else if (areFactors(cluster,
                      [](Value factor) {
                        return getMemorySpace(factor) != MemorySpace::Private;
                      }) &&
           analysis.areOfWarp(ops))
    cluster.sharers = {Sharers::Unit::Warp, kWarpSize};
  if (cluster.sharers.unit == Sharers::Unit::Block)
    cluster.sharers = {Sharers::Unit::Thread, 1};
  std::string noTile = chooseThreadTile(
      cluster.contraction, cluster.sharers.numThreads, cluster.tile);
  if (noTile.empty())
    return "";
  return why + ", and " + noTile;
}

/// Returns why `cluster` is no contraction to be shared out, or empty.
static std::string decide(ContractionCluster &cluster,
                          SharerAnalysis &analysis) {
  std::string why = checkOperands(cluster);
  if (why.empty())
    why = findLoops(cluster);
  if (why.empty())
    why = collectUses(cluster);
  if (why.empty())
    why = findSharers(cluster, analysis);
  return why;
}

/// Chooses whether tensor cores compute the contraction, and says why not where
/// they might. Fails after an error if the chip is unknown.
static LogicalResult
chooseTensorCores(ContractionCluster &cluster,
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
  return success();
}

/// Chooses what each thread of a block or a warp computes.
static LogicalResult chooseTile(ContractionCluster &cluster,
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
      failed(chooseTensorCores(cluster, options)))
    return failure();
  if (cluster.matrix)
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
    remark << remark::metric("Instruction", cluster.matrix->getName())
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
  if (cluster.matrix)
    matrices.emplace(part, *cluster.matrix);
  PointwiseEmitter pointwise(part);
  Value filling = getFilling(cluster.init);
  SmallVector<Value> sums =
      filling ? pointwise.fill(filling)
              : pointwise.initialize(Pointwise(init, cluster.init));

  sums = carry(cluster, sums, pointwise, rewriter);
  rewriter.setInsertionPoint(op);
  sums =
      matrices ? matrices->multiply(sums) : ProductEmitter(part).multiply(sums);
  for (scf::ForOp loop : llvm::reverse(cluster.loops)) {
    yieldLast(rewriter, loop, sums);
    ResultRange results = loop.getResults().take_back(sums.size());
    sums.assign(results.begin(), results.end());
  }
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

LogicalResult lowerContractions(Operation *root,
                                const LowerContractionsOptions &options) {
  if (failed(verifyAssumedAlignment(root, options.assumeAlignment)))
    return failure();
  std::vector<ContractionCluster> clusters = collect(root);
  if (clusters.empty())
    return success();
  SharerAnalysis analysis(root);
  std::vector<ContractionCluster> shared;
  bool hasFailed = false;
  for (ContractionCluster &cluster : clusters) {
    std::string why = decide(cluster, analysis);
    if (!why.empty()) {
      if (isOfBlock(cluster.contraction.op))
        recordRemark(RemarkId::LowerContractions_NotShared,
                     cluster.contraction.op)
            << "contraction that each thread does all of"
            << remark::reason("{0}", why);
      continue;
    }
    hasFailed |= failed(chooseTile(cluster, options));
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
                                 {assumeAlignment, chip, tensorCores, tf32})))
      signalPassFailure();
  }
};

} // namespace

} // namespace mlir::workgroup
