//===- ContractionCluster.cpp - A sum and what is done with it ------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The uses of the accumulator are followed through its views: each has to be
// what fills it, updates it in the loops, or reads it element by element.
//
//===----------------------------------------------------------------------===//

#include "ContractionCluster.h"
#include "CarriedResult.h"
#include "Transforms/Utils/BufferViews.h"
#include "workgroup/Support/MemorySpace.h"
#include "workgroup/Target/AccessWidth.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::workgroup {

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

std::vector<ContractionCluster> collectClusters(Operation *root) {
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
  if (!isLeadingView(use.get(), cluster.accumulator) ||
      !isUpdate(op, isResult) || llvm::any_of(op->getOperands(), isOther))
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
  if (!isLeadingView(use.get(), cluster.accumulator) || !isPointwiseUse(use))
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

std::string findLoops(ContractionCluster &cluster) {
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

bool areFactors(ContractionCluster &cluster,
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

std::string describeCluster(ContractionCluster &cluster,
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

} // namespace mlir::workgroup
