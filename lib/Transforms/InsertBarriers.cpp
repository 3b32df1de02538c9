//===- InsertBarriers.cpp - Order accesses by the fewest barriers ---------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelSync.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"
#include "workgroup/Passes.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Support/Remarks.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_INSERTBARRIERSPASS
#include "workgroup/Passes.h.inc"

namespace {

/// Puts barriers into one kernel.
class BarrierEditor {
public:
  BarrierEditor(KernelSync &kernel, InlinedProgram &program,
                const SyncOptions &options)
      : kernel(kernel), program(program),
        rewriter(kernel.getScope()->getContext()), options(options),
        findings(kernel) {}

  LogicalResult insert();

private:
  LogicalResult insert(UniformityUnit unit);
  LogicalResult insert(const ThreadPart &part);
  LogicalResult insertAt(const SyncTree &tree, const SyncPlacement &placement,
                         ArrayRef<Hazard> hazards, UniformityUnit unit,
                         const ThreadPart *part = nullptr);
  LogicalResult report(Operation *op, const Twine &message);
  SyncPlacement place(const SyncTree &tree, ArrayRef<Hazard> hazards);
  void thinOut(const SyncTree &tree, ArrayRef<Hazard> hazards,
               SyncPlacement &placement);
  SmallVector<SyncHazard> findOrdersOfWarps(const SyncTree &block);
  Operation *insertBarrier(UniformityUnit unit, const ThreadPart *part,
                           Operation *before);
  void keepWaits(const SyncTree &tree, ArrayRef<Hazard> hazards,
                 SyncPlacement &placement, UniformityUnit unit);

  KernelSync &kernel;
  /// What the kernel is part of.
  InlinedProgram &program;
  IRRewriter rewriter;
  const SyncOptions &options;
  /// Shared, so that no pair is told of twice.
  SyncFindings findings;
};

} // namespace

//===----------------------------------------------------------------------===//
// Insertion
//===----------------------------------------------------------------------===//

/// Puts a barrier before `point`, in the program itself and, if that is not
/// what is looked at, in its copy.
Operation *BarrierEditor::insertBarrier(UniformityUnit unit,
                                        const ThreadPart *part,
                                        Operation *point) {
  Operation *barrier = createBarrier(rewriter, unit, part, point);
  Operation *original = program.getOriginal(point);
  if (original == point)
    return barrier;
  Operation *inserted = createBarrier(rewriter, unit, part, original);
  program.addCopy(barrier, inserted);
  return inserted;
}

/// How many barriers there are in loops that are 0, 1, ... deep.
static SmallVector<unsigned> getCost(const SyncTree &tree,
                                     const SyncPlacement &placement) {
  SmallVector<unsigned> cost;
  for (SyncGap gap : placement.gaps) {
    unsigned depth = tree.getDepth(gap.sequence);
    cost.resize(std::max<size_t>(cost.size(), depth + 1));
    ++cost[depth];
  }
  return cost;
}

/// What threads of one warp do to each other, as far as barriers of the block
/// can order it: in terms of `block`.
SmallVector<SyncHazard>
BarrierEditor::findOrdersOfWarps(const SyncTree &block) {
  SyncTree warp = kernel.makeTree(UniformityUnit::Warp);
  SmallVector<SyncHazard> orders;
  if (warp.getUnstructured())
    return orders;
  for (const Hazard &hazard : kernel.findHazards(warp, UniformityUnit::Warp)) {
    SyncHazard order = hazard.order;
    order.from = block.getStep(hazard.first);
    order.to = block.getStep(hazard.second);
    if (order.loop) {
      const KernelLoop *loop = warp.getLoop(*order.loop);
      auto around = block.getLoopsAround(order.from);
      auto *found = llvm::find_if(
          around, [&](unsigned node) { return block.getLoop(node) == loop; });
      if (found == around.end())
        continue;
      order.loop = *found;
    } else if (order.from == order.to) {
      continue;
    }
    orders.push_back(order);
  }
  return orders;
}

/// The best places for `hazards`. Where several are as good, those that spare
/// barriers of warps: which of them do so is tried, one after the other.
SyncPlacement BarrierEditor::place(const SyncTree &tree,
                                   ArrayRef<Hazard> hazards) {
  constexpr size_t kMaxTries = 64, kMaxHazards = 1000;
  const SyncProgram &program = tree.getProgram();
  SmallVector<SyncHazard> orders = getOrders(hazards);
  SyncPlacement best = placeBarriers(program, orders);
  if (!kernel.hasWarps() || best.gaps.empty() || hazards.size() > kMaxHazards)
    return best;
  SmallVector<unsigned> cost = getCost(tree, best);
  size_t tries = 0;
  for (const SyncHazard &order : findOrdersOfWarps(tree)) {
    if (isCut(program, order, best.gaps) || ++tries > kMaxTries)
      continue;
    orders.push_back(order);
    SyncPlacement other = placeBarriers(program, orders);
    bool isAsGood =
        getCost(tree, other) == cost && other.uncut.size() == best.uncut.size();
    if (isAsGood)
      best = std::move(other);
    else
      orders.pop_back();
  }
  // What spares barriers of warps is no reason for one of the block.
  llvm::erase_if(best.certificate,
                 [&](unsigned number) { return number >= hazards.size(); });
  return best;
}

/// Leaves out what is not needed because barriers in each turn of a loop order
/// all but its first, or last, turn with what is outside. Deepest first.
void BarrierEditor::thinOut(const SyncTree &tree, ArrayRef<Hazard> hazards,
                            SyncPlacement &placement) {
  // Only of what is in loops some turns may be in order.
  constexpr size_t kMaxSteps = 100000;
  bool isInLoops = llvm::any_of(hazards, [&](const Hazard &hazard) {
    return !tree.getLoopsAround(hazard.order.from).empty() ||
           !tree.getLoopsAround(hazard.order.to).empty();
  });
  if (!isInLoops || placement.gaps.size() * hazards.size() > kMaxSteps)
    return;
  SmallVector<SyncGap> order = placement.gaps;
  llvm::stable_sort(order, [&](SyncGap lhs, SyncGap rhs) {
    return tree.getDepth(lhs.sequence) > tree.getDepth(rhs.sequence);
  });
  DenseSet<unsigned> uncut(placement.uncut.begin(), placement.uncut.end());
  for (SyncGap gap : order) {
    SmallVector<SyncGap> others = llvm::filter_to_vector(
        placement.gaps, [&](SyncGap other) { return !(other == gap); });
    std::vector<Hazard> open;
    for (auto [number, hazard] : llvm::enumerate(hazards))
      if (!uncut.contains(number) &&
          !isCut(tree.getProgram(), hazard.order, others))
        open.push_back(hazard);
    removeOrdered(open, tree, kernel.getConflicts(), others);
    if (open.empty())
      placement.gaps = others;
  }
}

/// Leaves out what stands behind places where threads wait for others: it might
/// hold those up forever.
void BarrierEditor::keepWaits(const SyncTree &tree, ArrayRef<Hazard> hazards,
                              SyncPlacement &placement, UniformityUnit unit) {
  ThreadWaits waits = kernel.findWaits();
  Operation *wait = nullptr;
  llvm::erase_if(placement.gaps, [&](SyncGap gap) {
    Operation *point = tree.getInsertionPoint(gap);
    Operation *before = point ? waits.findBefore(point) : nullptr;
    wait = before ? before : wait;
    return before != nullptr;
  });
  if (!wait)
    return;
  std::vector<Hazard> open;
  for (auto [number, hazard] : llvm::enumerate(hazards))
    if (!llvm::is_contained(placement.uncut, number) &&
        !isCut(tree.getProgram(), hazard.order, placement.gaps))
      open.push_back(hazard);
  removeOrdered(open, tree, kernel.getConflicts(), placement.gaps);
  findings.addRaces(tree, open, unit, wait);
}

/// Says why there are no places for barriers at `op`.
LogicalResult BarrierEditor::report(Operation *op, const Twine &message) {
  SyncFinding finding;
  finding.verdict = SyncVerdict::Unfixable;
  finding.at = getPlace(op);
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

  std::vector<Hazard> hazards = kernel.findHazards(tree, unit);
  SyncPlacement placement =
      unit == UniformityUnit::Block
          ? place(tree, hazards)
          : placeBarriers(tree.getProgram(), getOrders(hazards));
  thinOut(tree, hazards, placement);
  // Nor are barriers needed for what is in order without one between.
  llvm::erase_if(placement.certificate, [&](unsigned number) {
    return !isCut(tree.getProgram(), hazards[number].order, placement.gaps);
  });
  std::vector<Hazard> uncut;
  for (unsigned number : placement.uncut)
    uncut.push_back(hazards[number]);
  findings.addRaces(tree, uncut, unit);
  keepWaits(tree, hazards, placement, unit);
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
  SmallVector<Operation *> points;
  for (SyncGap gap : placement.gaps) {
    points.push_back(tree.getInsertionPoint(gap));
    if (!points.back())
      return report(kernel.getScope(),
                    "where blocks are joined by an edge that a barrier would "
                    "have to stand on; split it, or use structured control "
                    "flow");
  }
  for (auto [gap, point] : llvm::zip_equal(placement.gaps, points))
    explainBarrier(insertBarrier(unit, part, point), kernel, tree, gap, hazards,
                   placement);
  return success();
}

/// Inserts barriers of `part` in its arm, if there may be some.
LogicalResult BarrierEditor::insert(const ThreadPart &part) {
  SyncTree tree = kernel.makeTree(UniformityUnit::Block, &part);
  findings.addDivergent(tree, UniformityUnit::Block);
  std::vector<Hazard> hazards = kernel.findHazards(tree, UniformityUnit::Block);
  SyncPlacement placement;
  for (unsigned number = 0; number < hazards.size(); ++number)
    placement.uncut.push_back(number);
  if (options.hasNamedBarriers && !hazards.empty() &&
      kernel.allocateBarrier(part))
    placement = placeBarriers(tree.getProgram(), getOrders(hazards));
  std::vector<Hazard> uncut;
  for (unsigned number : placement.uncut)
    uncut.push_back(hazards[number]);
  findings.addRaces(tree, uncut, UniformityUnit::Block);
  keepWaits(tree, hazards, placement, UniformityUnit::Block);
  if (failed(emitFindings(findings.take(), options)))
    return failure();
  return insertAt(tree, placement, hazards, UniformityUnit::Block, &part);
}

LogicalResult BarrierEditor::insert() {
  if (failed(insert(UniformityUnit::Block)))
    return failure();
  for (const ThreadPart &part : kernel.getParts())
    if (failed(insert(part)))
      return failure();
  return kernel.hasWarps() ? insert(UniformityUnit::Warp) : success();
}

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

LogicalResult insertBarriers(Operation *root, const SyncOptions &options) {
  inferLaunchSizes(root);
  // Functions get theirs first, which then stand in place of the calls.
  InlinedProgram program(root);
  for (ArrayRef<Operation *> scopes : program.getScopesByDepth()) {
    for (Operation *scope : scopes)
      program.inlineInto(scope);
    SyncAnalyses analyses(program, options);
    for (Operation *scope : scopes) {
      KernelSync kernel(scope, analyses);
      // What is possible in a function is told of where it is called.
      SyncOptions own = options;
      own.warns &= isKernel(scope) || !program.isSeenAtCalls(scope);
      // Which numbers others use where it is called is not known here.
      own.hasNamedBarriers &= isKernel(scope);
      // In a function that some threads call on their own none can stand.
      if (kernel.isEnteredTogether() &&
          failed(BarrierEditor(kernel, program, own).insert()))
        return failure();
    }
  }
  return success();
}

namespace {

struct InsertBarriersPass final
    : impl::InsertBarriersPassBase<InsertBarriersPass> {
  using InsertBarriersPassBase::InsertBarriersPassBase;

  void runOnOperation() override {
    if (failed(insertBarriers(getOperation(), {assumeDistinctArguments, strict,
                                               warns, refuses, namedBarriers})))
      signalPassFailure();
  }
};

} // namespace

} // namespace mlir::workgroup
