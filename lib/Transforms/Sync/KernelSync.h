//===- KernelSync.h - What barriers of a kernel have to order ---*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All that synchronisation of one kernel is decided by, in one object:
// accesses, conflicts of threads, parts of the block, and other ways in which
// threads wait. Passes ask it for a tree and for the hazards in that tree:
// insertion covers them, elimination keeps barriers that do, and verification
// reports those that no barrier covers.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_SYNC_KERNELSYNC_H
#define WORKGROUP_LIB_TRANSFORMS_SYNC_KERNELSYNC_H

#include "Analysis/Conflict/BlockRaces.h"
#include "Analysis/Protocol/ProtocolOrders.h"
#include "Analysis/Sync/Hazards.h"
#include "Analysis/Sync/WarpRegions.h"
#include "InlinedProgram.h"
#include "ThreadWaits.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/PatternMatch.h"
#include "workgroup/Analysis/ArgumentAliases.h"
#include "workgroup/Transforms/Sync.h"

namespace mlir::workgroup {

/// The analyses of a program that the synchronisation of each of its kernels
/// follows from.
struct SyncAnalyses {
  SyncAnalyses(const InlinedProgram &program, const SyncOptions &options)
      : program(program),
        arguments(program.getRoot(), options.assumeDistinctArguments),
        block(program.getRoot(), UniformityUnit::Block, &arguments),
        warp(program.getRoot(), UniformityUnit::Warp, &arguments) {}

  const InlinedProgram &program;
  /// Barriers may be put into functions that are called.
  bool entersCalls = false;
  ArgumentAliases arguments;
  UniformityAnalysis block, warp;
};

/// The accesses of one kernel or device function, and which of them meet:
/// nothing that depends on where barriers stand.
struct KernelFacts {
  KernelFacts(Operation *scope, const SyncAnalyses &analyses, bool areInBounds)
      : loops(scope),
        accesses(scope, analyses.block, analyses.arguments, areInBounds),
        conflicts(scope, accesses, loops, analyses.block, analyses.warp,
                  analyses.arguments) {}

  KernelLoops loops;
  ThreadAccesses accesses;
  ThreadConflicts conflicts;
};

/// One kernel or device function: its accesses, and what of them barriers have
/// to order.
class KernelSync {
public:
  /// What follows from accesses being in bounds is known if `areInBounds`.
  KernelSync(Operation *scope, const SyncAnalyses &analyses,
             bool areInBounds = true)
      : KernelSync(
            scope, analyses,
            std::make_shared<KernelFacts>(scope, analyses, areInBounds)) {}
  /// The `facts` are those of `scope`.
  KernelSync(Operation *scope, const SyncAnalyses &analyses,
             std::shared_ptr<KernelFacts> facts);

  /// A kernel as barriers of the block, or of warps, see it, as it is now; or
  /// the region of `part`, as barriers of the block's part see it.
  SyncTree makeTree(UniformityUnit unit,
                    const ThreadPart *part = nullptr) const;
  /// Parts of the block that have a barrier of their own.
  ArrayRef<ThreadPart> getParts() const { return parts.getParts(); }
  /// Takes all parts into account that could have one.
  void addParts(const SyncTree &block);
  /// Gives `part` a barrier if it has none; false if none is left.
  bool allocateBarrier(const ThreadPart &part) { return parts.allocate(part); }
  /// The hazards that barriers have to order; for a tree of a part of the block
  /// those of the part, or all if `isComplete`. Of what follows from `covered`,
  /// which is ordered anyway, some are left out.
  std::vector<Hazard> findHazards(const SyncTree &tree, UniformityUnit unit,
                                  HazardUse use, bool isComplete = false,
                                  ArrayRef<SyncHazard> covered = {});
  /// Whether barriers of warps can be told from those of the block.
  bool hasWarps() const {
    return conflicts.getIndex().getShape().getNumThreads().has_value();
  }

  /// True if threads wait for each other, or for copies, in ways that are not
  /// followed.
  bool hasOtherWaits() const { return hasOtherBarriers || hasPhaseWaits; }

  /// What mbarriers order of what warps do on paths of their own; null if
  /// nobody waits for one, and nothing is copied by TMA.
  const ProtocolOrders *getProtocol();
  /// Whether two threads touch the same bytes when they do what no mbarrier
  /// orders: certain, with threads that do, or nothing is known.
  Conflict findConflict(const ProtocolOrders::Race &race);
  /// True if threads wait for each other by fences or flags, or in calls.
  bool hasUnfollowedOrders() const { return hasOtherOrders; }

  /// True if copies are made by TMA.
  bool hasBulkCopies() const {
    return llvm::any_of(accesses.getAccesses(), isOfAsyncProxy);
  }

  /// The points where threads wait for others, besides barriers of all threads.
  ThreadWaits findWaits() const;

  /// True if all threads of a unit that get to `op` do so together.
  bool isReachedTogether(Operation *op, UniformityUnit unit) const;
  /// True if a thread may get to `op` more than once.
  bool isRepeated(Operation *op) const { return loops.getLoop(op) != nullptr; }
  /// True if all threads of the block, or of each warp, get to its entry
  /// together.
  bool isEnteredTogether(UniformityUnit unit) const;

  Operation *getScope() const { return scope; }
  /// The operation that `op`, which may stand in place of a call, was written
  /// as.
  Operation *getSource(Operation *op) const {
    return analyses.program.getSource(op);
  }
  const ThreadAccess &getAccess(unsigned number) const {
    return accesses.getAccesses()[number];
  }
  const ThreadAccesses &getAccesses() const { return accesses; }
  ThreadConflicts &getConflicts() { return conflicts; }
  const std::shared_ptr<KernelFacts> &getFacts() const { return facts; }

  /// The races between threads of different blocks.
  std::vector<BlockRace> findBlockRaces();

private:
  bool arePhasesFollowed(const SyncTree &tree) const;
  bool mayOrderByPhases(const Hazard &hazard, bool arePhasesFollowed) const;
  bool mayWriteSame(const Hazard &hazard, UniformityUnit unit) const;
  void weaken(Hazard &hazard, bool hasOpenBarriers, bool hasParts,
              bool arePhasesFollowed) const;

  Operation *scope;
  const SyncAnalyses &analyses;
  std::shared_ptr<KernelFacts> facts;
  const KernelLoops &loops;
  const ThreadAccesses &accesses;
  ThreadConflicts &conflicts;
  WarpRegions parts;
  bool hasOtherBarriers = false, hasPhaseWaits = false;
  /// Some of the other barriers, and of those between blocks, order something:
  /// relaxed atomic operations do not.
  bool hasOtherOrders = false, hasOrdersOfBlocks = false;
  /// The operations by which threads may arrive at mbarriers.
  SmallVector<Operation *> arrivals;
  std::unique_ptr<ProtocolOrders> protocol;
};

SyncFinding::Site getSite(Operation *op);

/// `what (x, y, z)`
std::string printIds(StringRef what, const std::array<int64_t, 3> &ids);

/// Makes a barrier before `before`: of `part`, if that is given, or of `unit`.
Operation *createBarrier(RewriterBase &rewriter, UniformityUnit unit,
                         const ThreadPart *part, Operation *before);

/// Says why barriers of a placement are there: which hazards they order, and
/// which of these show that as many barriers are needed. By remarks, of which
/// one is for people and one is JSON (docs/synchronization.md), and in
/// `reports` if given.
class BarrierExplainer {
public:
  BarrierExplainer(const KernelSync &kernel, const SyncTree &tree,
                   ArrayRef<Hazard> hazards, const SyncPlacement &placement,
                   std::vector<BarrierReport> *reports)
      : kernel(kernel), tree(tree), hazards(hazards), placement(placement),
        reports(reports) {}

  /// Explains a `barrier` at a point of the placement, by number.
  void explain(Operation *barrier, unsigned point);

private:
  SmallVector<unsigned, 0> findOrdered(unsigned point);
  BarrierReport makeReport(unsigned point);

  const KernelSync &kernel;
  const SyncTree &tree;
  ArrayRef<Hazard> hazards;
  const SyncPlacement &placement;
  std::vector<BarrierReport> *reports;
  /// The hazards that each point orders by itself; empty until somebody asks.
  std::vector<SmallVector<unsigned, 0>> orderedBy;
};

/// The orders that hazards ask for.
SmallVector<SyncHazard> getOrders(ArrayRef<Hazard> hazards);

/// Those that do not follow from others.
struct LeadingOrders {
  explicit LeadingOrders(ArrayRef<Hazard> hazards);

  /// Makes what a placement says of them say it of the hazards.
  SyncPlacement restore(SyncPlacement placement) const;

  SmallVector<SyncHazard> orders;
  /// The hazard that each is of.
  SmallVector<unsigned> numbers;
};

/// The findings on the synchronisation of a kernel.
class SyncFindings {
public:
  explicit SyncFindings(KernelSync &kernel);

  /// Adds barriers that not all threads of a unit reach, of `tree`.
  void addDivergent(const SyncTree &tree, UniformityUnit unit);
  /// Adds barriers of warps, of `tree`, of which some lanes reach more than
  /// others do.
  void addUneven(const SyncTree &tree);
  /// Adds barriers of warps that not all lanes may reach, where nothing is
  /// known of the warps.
  void addUnknownWarps();
  /// Adds hazards that are not covered; because of `wait`, if that is given,
  /// behind which no barrier is put.
  void addRaces(const SyncTree &tree, ArrayRef<Hazard> hazards,
                UniformityUnit unit, Operation *wait = nullptr);
  /// Adds what is wrong in the branch regions of parts of the block.
  void addParts();

  /// Adds what is wrong where threads wait for mbarriers.
  void addProtocol();

  /// Adds what threads of different blocks do to each other.
  void addBlockRaces();

  /// Removes them from here.
  std::vector<SyncFinding> take() { return std::exchange(findings, {}); }

private:
  void addRace(const SyncTree &tree, const Hazard &hazard, bool isFixable,
               UniformityUnit unit);
  void addRace(const BlockRace &race);
  void addRace(const ProtocolOrders::Race &race);
  bool countRace(Conflict::Kind kind);
  void tellRace(const SyncTree &tree, const Hazard &hazard, bool isFixable,
                UniformityUnit unit, Operation *wait);
  void noteMore(Conflict::Kind kind);
  void addDivergent(Operation *barrier, UniformityUnit unit,
                    SyncVerdict verdict = SyncVerdict::Divergent);
  std::string describeMemory(unsigned first, unsigned second);
  std::string describeWho(unsigned first, unsigned second,
                          const SyncFinding &finding) const;

  KernelSync &kernel;
  std::unique_ptr<AsmState> state;
  std::vector<SyncFinding> findings;
  /// The report on two operations; the number of the finding, if that is only
  /// possible.
  struct Report {
    bool isTold = false, isCertain = false;
    std::optional<size_t> finding;
  };
  DenseMap<std::pair<Operation *, Operation *>, Report> reported;
  Report &getReport(Operation *first, Operation *second);
  /// More would not be read.
  static constexpr unsigned kMaxRaces = 100;
  unsigned numRaces[2] = {}; // possible ones, and certain ones
};

/// Verifies a kernel; whether that it is safe rests on accesses being in bounds
/// takes as long again, and is told if `tellsAssumptions`.
SyncReport reportSync(KernelSync &kernel, const SyncAnalyses &analyses,
                      bool tellsAssumptions);

/// Emits what was found, as `options` ask for. Fails if it emits an error.
LogicalResult emitFindings(ArrayRef<SyncFinding> findings,
                           const SyncOptions &options);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_SYNC_KERNELSYNC_H
