//===- InsertBarriers.cpp - Order accesses by the fewest barriers ---------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pass puts in the fewest barriers that cover all hazards: find the
// hazards, place, insert. Waits for asynchronous copies and proxy fences come
// first, then barriers of the block, those of branch regions that only some
// warps take, and those of warps, each with the ones before in place. Called
// functions come before kernels. What no barrier can cover is reported as a
// race.
//
//===----------------------------------------------------------------------===//

#include "Analysis/Refinement/HazardCoverage.h"
#include "Analysis/Tree/SyncTreePoints.h"
#include "AsyncWaits.h"
#include "EdgeBlocks.h"
#include "HazardsAtCalls.h"
#include "KernelSync.h"
#include "ProxyFences.h"
#include "Support/Remarks.h"
#include "SyncHandover.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Transforms/Launch.h"
#include "workgroup/Transforms/Sync.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_INSERTBARRIERSPASS
#include "workgroup/Transforms/Sync.h.inc"

namespace {

/// Puts barriers into one kernel or function.
class BarrierEditor {
public:
  BarrierEditor(KernelSync &kernel, InlinedProgram &program,
                const HazardsAtCalls &atCalls, const SyncOptions &options,
                std::vector<BarrierReport> *reports)
      : kernel(kernel), program(program), atCalls(atCalls),
        rewriter(kernel.getScope()->getContext()), options(options),
        reports(reports), findings(kernel) {}

  LogicalResult insert();

private:
  LogicalResult insert(UniformityUnit unit);
  LogicalResult insert(const ThreadPart &part);
  LogicalResult insertAt(const SyncTree &tree, const SyncPlacement &placement,
                         ArrayRef<Hazard> hazards, UniformityUnit unit,
                         const ThreadPart *part = nullptr);
  LogicalResult report(Operation *op, const Twine &message);
  std::vector<Hazard> findHazards(const SyncTree &tree, UniformityUnit unit,
                                  HazardUse use = HazardUse::Insertion,
                                  ArrayRef<SyncHazard> covered = {});
  SyncPlacement place(const SyncTree &tree, ArrayRef<Hazard> hazards);
  SyncPlacement placeAll(const SyncTree &tree, ArrayRef<Hazard> hazards);
  bool orderWarps(const SyncTree &tree, const SyncPlacement &placement);
  Operation *insertBarrier(UniformityUnit unit, const ThreadPart *part,
                           Operation *before);
  void keepWaits(const SyncTree &tree, ArrayRef<Hazard> hazards,
                 SyncPlacement &placement, UniformityUnit unit);

  KernelSync &kernel;
  /// What the kernel is part of.
  InlinedProgram &program;
  const HazardsAtCalls &atCalls;
  IRRewriter rewriter;
  const SyncOptions &options;
  std::vector<BarrierReport> *reports;
  /// Shared, so that no pair is told of twice.
  SyncFindings findings;
  /// The barriers of the block order what threads of a warp do, too.
  bool areWarpsOrdered = false;
};

} // namespace

//===----------------------------------------------------------------------===//
// Insertion
//===----------------------------------------------------------------------===//

/// Puts a barrier before `next`, in the program itself and, if that is not what
/// is looked at, in its copy.
Operation *BarrierEditor::insertBarrier(UniformityUnit unit,
                                        const ThreadPart *part,
                                        Operation *next) {
  Operation *barrier = createBarrier(rewriter, unit, part, next);
  Operation *original = program.getOriginal(next);
  if (original == next)
    return barrier;
  Operation *inserted = createBarrier(rewriter, unit, part, original);
  program.addCopy(barrier, inserted);
  return inserted;
}

/// What has to be ordered here: of a function, what its calls ask for.
std::vector<Hazard> BarrierEditor::findHazards(const SyncTree &tree,
                                               UniformityUnit unit,
                                               HazardUse use,
                                               ArrayRef<SyncHazard> covered) {
  if (program.isSeenAtCalls(kernel.getScope()))
    return atCalls.find(kernel, program, tree, unit);
  // Where waits are in the way, all is told that is left unordered.
  return kernel.findHazards(
      tree, unit, use, /*isComplete=*/!kernel.findWaits().empty(), covered);
}

/// The fewest barriers of one kind.
SyncPlacement BarrierEditor::placeAll(const SyncTree &tree,
                                      ArrayRef<Hazard> hazards) {
  LeadingOrders leading(hazards);
  return leading.restore(placeBarriers(tree.getProgram(), leading.orders));
}

/// True if barriers of the block at the points of `placement` cover what
/// threads of a warp ask for, too. With these in place most of that need not be
/// asked.
bool BarrierEditor::orderWarps(const SyncTree &tree,
                               const SyncPlacement &placement) {
  SmallVector<Operation *> tried;
  for (SyncPoint point : placement.points)
    if (Operation *next = tree.getInsertionPoint(point))
      tried.push_back(createBarrier(rewriter, UniformityUnit::Block,
                                    /*part=*/nullptr, next));
  SyncTree warps = kernel.makeTree(UniformityUnit::Warp);
  bool areOrdered =
      findHazards(warps, UniformityUnit::Warp, HazardUse::Trial).empty();
  for (Operation *barrier : tried)
    rewriter.eraseOp(barrier);
  return areOrdered;
}

/// The orders, between steps of `warps`, that barriers of the block cover
/// wherever they are put to cover `hazards` of `block`, but for the
/// `uncovered`.
static SmallVector<SyncHazard> getCoveredOrders(const SyncTree &block,
                                                ArrayRef<Hazard> hazards,
                                                ArrayRef<unsigned> uncovered,
                                                const SyncTree &warps) {
  DenseMap<const KernelLoop *, unsigned> loops;
  for (unsigned node = 0; node < warps.getProgram().nodes.size(); ++node)
    if (const KernelLoop *loop = warps.getLoop(node))
      loops[loop] = node;
  SmallVector<SyncHazard> covered;
  for (auto [number, hazard] : llvm::enumerate(hazards)) {
    const SyncHazard &order = hazard.order;
    bool isPlain = order.from == block.getStep(hazard.first) &&
                   order.to == block.getStep(hazard.second) && !order.isFar &&
                   order.wholeIterations.empty() && order.taken.empty();
    if (!isPlain || llvm::is_contained(uncovered, number))
      continue;
    SyncHazard same{warps.getStep(hazard.first), warps.getStep(hazard.second),
                    std::nullopt, false};
    if (order.loop) {
      auto loop = loops.find(block.getLoop(*order.loop));
      if (loop == loops.end())
        continue;
      same.loop = loop->second;
    }
    covered.push_back(std::move(same));
  }
  return covered;
}

/// The best places for `hazards`, given that barriers of warps come on top.
SyncPlacement BarrierEditor::place(const SyncTree &tree,
                                   ArrayRef<Hazard> hazards) {
  constexpr size_t kMaxHazards = 1 << 13;
  const SyncProgram &program = tree.getProgram();
  LeadingOrders leading(hazards);
  ArrayRef<SyncHazard> orders = leading.orders;
  SyncPlacement best = placeAll(tree, hazards);
  if (!kernel.hasWarps() || best.points.empty() || orders.size() > kMaxHazards)
    return best;
  SyncTree warps = kernel.makeTree(UniformityUnit::Warp);
  if (warps.getUnstructured())
    return best;
  areWarpsOrdered = orderWarps(tree, best);
  if (areWarpsOrdered)
    return best;
  LeadingOrders leadingOfWarps(
      findHazards(warps, UniformityUnit::Warp, HazardUse::Insertion,
                  getCoveredOrders(tree, hazards, best.uncovered, warps)));
  ArrayRef<SyncHazard> ofWarps = leadingOfWarps.orders;
  SyncPointMap points = matchPoints(tree, warps);
  auto getPoint = [&](SyncPoint point) -> std::optional<SyncPoint> {
    auto it = points.find({point.sequence, point.index});
    if (it == points.end() || !tree.getInsertionPoint(point))
      return std::nullopt;
    return it->second;
  };
  SmallVector<SyncPoint> found;
  for (SyncPoint point : best.points)
    if (std::optional<SyncPoint> same = getPoint(point))
      found.push_back(*same);
  areWarpsOrdered = llvm::all_of(ofWarps, [&](const SyncHazard &order) {
    return isCovered(warps.getProgram(), order, found);
  });
  if (areWarpsOrdered || ofWarps.size() > kMaxHazards)
    return best;
  SyncPlacement both =
      placeBarriers(program, orders, {warps.getProgram(), ofWarps, getPoint});
  return both.isOptimal ? leading.restore(std::move(both)) : best;
}

/// Leaves out what stands behind places where threads wait for others: it might
/// hold those up forever.
void BarrierEditor::keepWaits(const SyncTree &tree, ArrayRef<Hazard> hazards,
                              SyncPlacement &placement, UniformityUnit unit) {
  ThreadWaits waits = kernel.findWaits();
  Operation *wait = nullptr;
  llvm::erase_if(placement.points, [&](SyncPoint point) {
    Operation *next = tree.getInsertionPoint(point);
    Operation *before = next ? waits.findBefore(next) : nullptr;
    wait = before ? before : wait;
    return before != nullptr;
  });
  if (!wait)
    return;
  std::vector<Hazard> open;
  for (auto [number, hazard] : llvm::enumerate(hazards)) {
    if (llvm::is_contained(placement.uncovered, number))
      continue;
    Hazard left = hazard;
    if (!isOrdered(left, tree, kernel.getConflicts(), placement.points))
      open.push_back(std::move(left));
  }
  findings.addRaces(tree, open, unit, wait);
}

/// Says why there are no places for barriers at `op`.
LogicalResult BarrierEditor::report(Operation *op, const Twine &message) {
  SyncFinding finding;
  finding.verdict = SyncVerdict::Unfixable;
  finding.at = getSite(op);
  finding.message = ("cannot synchronize accesses " + message).str();
  return emitFindings({finding}, options);
}

LogicalResult BarrierEditor::insert(UniformityUnit unit) {
  SyncTree tree = kernel.makeTree(unit);
  if (Operation *op = tree.getUnstructured())
    return report(op, "around branches that are no nest of loops with one way "
                      "out and of branches that meet again; structure them, "
                      "for example by --lift-cf-to-scf");
  findings.addDivergent(tree, unit);
  std::vector<SyncFinding> divergent = findings.take();
  if (!divergent.empty())
    return emitFindings(divergent, options);
  if (unit == UniformityUnit::Block && options.hasNamedBarriers)
    kernel.addParts(tree);

  if (unit == UniformityUnit::Warp && areWarpsOrdered)
    return success();
  std::vector<Hazard> hazards = findHazards(tree, unit);
  SyncPlacement placement = unit == UniformityUnit::Block
                                ? place(tree, hazards)
                                : placeAll(tree, hazards);
  size_t numPoints = placement.points.size();
  std::vector<Hazard> uncovered;
  for (unsigned number : placement.uncovered)
    uncovered.push_back(hazards[number]);
  findings.addRaces(tree, uncovered, unit);
  keepWaits(tree, hazards, placement, unit);
  areWarpsOrdered &= placement.points.size() == numPoints;
  if (failed(emitFindings(findings.take(), options)))
    return failure();
  return insertAt(tree, placement, hazards, unit);
}

/// Inserts what was placed: barriers of `part`, if that is given, or of `unit`.
LogicalResult BarrierEditor::insertAt(const SyncTree &tree,
                                      const SyncPlacement &placement,
                                      ArrayRef<Hazard> hazards,
                                      UniformityUnit unit,
                                      const ThreadPart *part) {
  SmallVector<Operation *> nexts;
  for (SyncPoint point : placement.points) {
    nexts.push_back(tree.getInsertionPoint(point));
    if (!nexts.back())
      return report(kernel.getScope(),
                    "where blocks are joined by an edge that a barrier would "
                    "have to stand on; split it, or use structured control "
                    "flow");
  }
  BarrierExplainer explainer(kernel, tree, hazards, placement, reports);
  for (auto [number, next] : llvm::enumerate(nexts))
    explainer.explain(insertBarrier(unit, part, next), number);
  return success();
}

/// Inserts barriers of `part` in its branch region, if there may be some.
LogicalResult BarrierEditor::insert(const ThreadPart &part) {
  SyncTree tree = kernel.makeTree(UniformityUnit::Block, &part);
  findings.addDivergent(tree, UniformityUnit::Block);
  std::vector<Hazard> hazards = findHazards(tree, UniformityUnit::Block);
  SyncPlacement placement;
  for (unsigned number = 0; number < hazards.size(); ++number)
    placement.uncovered.push_back(number);
  if (options.hasNamedBarriers && !hazards.empty() &&
      kernel.allocateBarrier(part))
    placement = placeAll(tree, hazards);
  std::vector<Hazard> uncovered;
  for (unsigned number : placement.uncovered)
    uncovered.push_back(hazards[number]);
  findings.addRaces(tree, uncovered, UniformityUnit::Block);
  keepWaits(tree, hazards, placement, UniformityUnit::Block);
  if (failed(emitFindings(findings.take(), options)))
    return failure();
  return insertAt(tree, placement, hazards, UniformityUnit::Block, &part);
}

/// In a function that some threads call on their own no barrier can stand; in
/// one that whole warps do, only theirs.
LogicalResult BarrierEditor::insert() {
  AsyncWaits(kernel, program).insert();
  ProxyFences(kernel, program).insert();
  if (kernel.isEnteredTogether(UniformityUnit::Block)) {
    if (failed(insert(UniformityUnit::Block)))
      return failure();
    for (const ThreadPart &part : kernel.getParts())
      if (failed(insert(part)))
        return failure();
  }
  bool areWarpsTogether =
      kernel.isEnteredTogether(UniformityUnit::Warp) ||
      (program.isSeenAtCalls(kernel.getScope()) &&
       atCalls.areWarpsTogether(program.getOriginal(kernel.getScope())));
  return kernel.hasWarps() && areWarpsTogether ? insert(UniformityUnit::Warp)
                                               : success();
}

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

LogicalResult insertBarriers(Operation *root, const SyncOptions &options,
                             std::vector<BarrierReport> *reports,
                             SyncHandover *handover) {
  inferLaunchSizes(root);
  EdgeBlocks places(root, options);
  HazardsAtCalls atCalls(root, options);
  // Functions get theirs first, which then stand in place of the calls.
  auto known = std::make_unique<KnownProgram>(root, options,
                                              /*isToBeKept=*/handover);
  InlinedProgram &program = known->getProgram();
  for (ArrayRef<Operation *> scopes : program.getScopesByDepth()) {
    for (Operation *scope : scopes)
      program.inlineInto(scope);
    SyncAnalyses &analyses = known->analyze();
    for (Operation *scope : scopes) {
      KernelSync kernel(scope, analyses);
      known->add(kernel);
      // What is possible in a function is told of where it is called.
      SyncOptions own = options;
      own.warns &= isKernel(scope) || !program.isSeenAtCalls(scope);
      // Which numbers others use where it is called is not known here.
      own.hasNamedBarriers &= isKernel(scope);
      if (failed(
              BarrierEditor(kernel, program, atCalls, own, reports).insert()))
        return failure();
    }
  }
  if (known->isKept())
    handover->leave(root, std::move(known));
  return success();
}

namespace {

struct InsertBarriersPass final
    : impl::InsertBarriersPassBase<InsertBarriersPass> {
  using InsertBarriersPassBase::InsertBarriersPassBase;

  void runOnOperation() override {
    if (failed(insertBarriers(
            getOperation(),
            {assumeDistinctArguments, strict, warns, refuses, namedBarriers},
            reports, handover.get())))
      signalPassFailure();
  }

  std::vector<BarrierReport> *reports = nullptr;
  std::shared_ptr<SyncHandover> handover;
};

} // namespace

std::unique_ptr<Pass>
createInsertBarriersPass(const SyncOptions &options,
                         std::vector<BarrierReport> *reports,
                         std::shared_ptr<SyncHandover> handover) {
  auto pass = std::make_unique<InsertBarriersPass>(InsertBarriersPassOptions{
      options.assumeDistinctArguments, options.isStrict, options.warns,
      options.refuses, options.hasNamedBarriers});
  pass->reports = reports;
  pass->handover = std::move(handover);
  return pass;
}

} // namespace mlir::workgroup
