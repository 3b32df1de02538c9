//===- SyncFindings.cpp - What is wrong with synchronisation --------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Findings in words: a race names both operations, both threads, the place
// where they meet, and a remedy; a barrier in divergent control flow names a
// thread that reaches it and one that does not. Of each pair of operations one
// race is told, a certain one rather than a possible one, and at most a hundred
// of either kind.
//
//===----------------------------------------------------------------------===//

#include "KernelSync.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/SymbolTable.h"
#include "workgroup/Support/SymbolNames.h"

namespace mlir::workgroup {

SyncFindings::SyncFindings(KernelSync &kernel) : kernel(kernel) {}

SyncFinding::Site getSite(Operation *op) {
  return {op->getName().getStringRef().str(), op->getLoc()};
}

std::string printIds(StringRef what, const std::array<int64_t, 3> &ids) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << what << " (" << ids[0] << ", " << ids[1] << ", " << ids[2] << ")";
  return text;
}

static std::string printThread(const std::array<int64_t, 3> &ids) {
  return printIds("thread", ids);
}

/// The thread that does `access`, or the block if all of its threads do it
/// together.
static std::string printAgent(const ThreadAccess &access,
                              const std::array<int64_t, 3> &ids) {
  return access.accessScope == AccessScope::Block ? "the block"
                                                  : printThread(ids);
}

static StringRef getVerb(AccessKind kind) {
  constexpr StringRef verbs[] = {"reads", "writes", "updates"};
  return verbs[unsigned(kind)];
}

/// The memory that both accesses may be of, in words.
std::string SyncFindings::describeMemory(unsigned lhs, unsigned rhs) {
  const ThreadAccess &first = kernel.getAccess(lhs);
  const ThreadAccess &second = kernel.getAccess(rhs);
  std::string text;
  llvm::raw_string_ostream os(text);
  MemorySpace space =
      first.space == MemorySpace::Other ? second.space : first.space;
  constexpr StringRef spaces[] = {"global memory", "workgroup memory",
                                  "private memory", "memory"};
  os << spaces[unsigned(space)];
  unsigned common = 0;
  for (unsigned number : first.roots)
    if (llvm::is_contained(second.roots, number))
      common = std::max(common, number);
  if (common == 0)
    return text;
  const MemoryRoot &root = kernel.getAccesses().getRoot(common);
  if (root.global)
    os << " @" << getReadableName(SymbolTable::getSymbolName(root.global));
  if (root.global || !root.value)
    return text;
  if (!state) { // a launch is part of what its host's values have names in
    Operation *around = kernel.getScope();
    while (!around->hasTrait<OpTrait::IsIsolatedFromAbove>() &&
           around->getParentOp())
      around = around->getParentOp();
    state = std::make_unique<AsmState>(around);
  }
  os << ' ';
  root.value.printAsOperand(os, *state);
  return text;
}

/// What the two threads of `finding` do by both accesses, in words.
std::string SyncFindings::describeWho(unsigned lhs, unsigned rhs,
                                      const SyncFinding &finding) const {
  const ThreadAccess &first = kernel.getAccess(lhs);
  const ThreadAccess &second = kernel.getAccess(rhs);
  return printAgent(second, finding.threads[1]) + " " +
         getVerb(second.kind).str() + " what " +
         printAgent(first, finding.threads[0]) + " " +
         getVerb(first.kind).str();
}

/// What was reported of two operations, in however many calls they are.
SyncFindings::Report &SyncFindings::getReport(Operation *first,
                                              Operation *second) {
  first = kernel.getSource(first);
  second = kernel.getSource(second);
  if (second < first)
    std::swap(first, second);
  return reported[{first, second}];
}

void SyncFindings::addDivergent(Operation *barrier, UniformityUnit unit,
                                SyncVerdict verdict) {
  bool isBlock = unit == UniformityUnit::Block;
  SyncFinding finding;
  finding.verdict = verdict;
  finding.at = getSite(barrier);
  llvm::raw_string_ostream os(finding.message);
  auto threads = kernel.getConflicts().findParting(barrier, unit);
  os << "barrier in divergent control flow: '" << barrier->getName() << "' ";
  if (isa<NVVM::BarrierOp>(barrier) && !isBlockBarrier(barrier))
    os << "has a number that may differ between threads of the block, or is "
          "not reached by all of them; give it one number where all pass";
  else
    os << (threads ? "is not reached" : "is not known to be reached")
       << " by all threads of the " << (isBlock ? "block" : "warp")
       << " together; move it to where all of them pass";
  if (threads) {
    finding.threads.assign({threads->first, threads->second});
    finding.notes.push_back(
        {barrier->getLoc(), printThread(threads->first) + " gets here, " +
                                printThread(threads->second) + " does not"});
  }
  findings.push_back(std::move(finding));
}

void SyncFindings::addDivergent(const SyncTree &tree, UniformityUnit unit) {
  for (Operation *barrier : tree.getDivergentBarriers())
    addDivergent(barrier, unit);
}

void SyncFindings::addUneven(const SyncTree &tree) {
  if (!tree.hasOpenBarriers())
    return;
  std::vector<unsigned> counts;
  for (Operation *barrier : tree.getPartedBarriers()) {
    auto reaching = kernel.getConflicts().getReaching(barrier);
    if (!reaching || kernel.isRepeated(barrier))
      return; // not known
    counts.resize(reaching->size());
    for (auto [count, isReaching] : llvm::zip_equal(counts, *reaching))
      count += isReaching;
  }
  for (size_t thread = 0; thread < counts.size(); ++thread)
    if (counts[thread] != counts[thread - thread % kWarpSize]) {
      for (Operation *barrier : tree.getPartedBarriers())
        if (kernel.getConflicts().findParting(barrier, UniformityUnit::Warp))
          addDivergent(barrier, UniformityUnit::Warp);
      return;
    }
}

void SyncFindings::addUnknownWarps() {
  kernel.getScope()->walk([&](Operation *op) {
    if (isWarpBarrier(op) &&
        !kernel.isReachedTogether(op, UniformityUnit::Warp))
      addDivergent(op, UniformityUnit::Warp, SyncVerdict::Maybe);
  });
}

/// What can be done about accesses that are atomic, but not to each other;
/// empty for others.
static StringRef getAtomicRemedy(const ThreadAccess &first,
                                 const ThreadAccess &second) {
  if (!first.scope || !second.scope)
    return "";
  return areAtomic(first, second)
             ? "give both atomic operations a scope that includes the other "
               "thread"
             : "make both atomic operations of the very same bytes, of one "
               "width";
}

/// What can be done about accesses that no barrier can separate.
static StringRef getRemedy(const ThreadAccess &first,
                           const ThreadAccess &second, bool isOneWarp) {
  if (first.isAsync)
    return "wait for the asynchronous copy before, and then for all threads";
  if (StringRef remedy = getAtomicRemedy(first, second); !remedy.empty())
    return remedy;
  if (first.op == second.op)
    return "let one thread do it, give each thread a place of its own, or make "
           "it atomic";
  if (isOneWarp)
    return "split what is around them, so that a barrier of the warp fits "
           "between";
  return "split what is around them, so that a barrier fits between";
}

void SyncFindings::addRace(const SyncTree &tree, const Hazard &hazard,
                           bool isFixable, UniformityUnit unit) {
  const ThreadAccess &first = kernel.getAccess(hazard.first);
  const ThreadAccess &second = kernel.getAccess(hazard.second);
  const Conflict &conflict = hazard.conflict;
  bool isCertain = conflict.kind == Conflict::Certain;
  SyncFinding finding;
  finding.verdict = !isCertain  ? SyncVerdict::Maybe
                    : isFixable ? SyncVerdict::Race
                                : SyncVerdict::Unfixable;
  finding.at = getSite(second.op);
  finding.other = getSite(first.op);
  std::string who = "different threads touch the same bytes";
  if (isCertain && conflict.witness) {
    finding.threads.assign(conflict.witness->threads,
                           conflict.witness->threads + 2);
    finding.coordinates = conflict.witness->coordinates;
    who = describeWho(hazard.first, hazard.second, finding);
  }
  bool isOneWarp = unit == UniformityUnit::Warp;
  bool isUnwaited = hazard.isUntimed && !hazard.missed;
  llvm::raw_string_ostream os(finding.message);
  StringRef what = isOneWarp ? "barrier of the warp" : "barrier";
  if (finding.verdict == SyncVerdict::Unfixable)
    os << "cannot synchronize '" << first.op->getName() << "' and '"
       << second.op->getName() << "' on "
       << describeMemory(hazard.first, hazard.second) << ": " << who << ", and "
       << (isUnwaited ? "nothing waits for the copy"
                      : ("there is no place between for a " + what).str())
       << "; " << getRemedy(first, second, isOneWarp);
  else
    os << (isCertain ? "data race on " : "possible data race on ")
       << describeMemory(hazard.first, hazard.second) << ": "
       << (isCertain ? who : "different threads may touch the same bytes")
       << ", and no " << what << " is between";
  if (!isCertain)
    os << "; " << conflict.reason;
  std::string note = "the other access: '" +
                     first.op->getName().getStringRef().str() + "' " +
                     getVerb(first.kind).str();
  if (!finding.threads.empty() && first.accessScope != AccessScope::Block)
    note += " in " + printThread(finding.threads[0]);
  if (hazard.order.loop)
    note += hazard.order.isFar ? ", two iterations of the loop or more before"
                               : ", in the iteration before";
  finding.notes.push_back({first.op->getLoc(), note});
  if (const MissedPhase *missed = hazard.missed)
    finding.notes.push_back(
        {missed->wait->getLoc(),
         "this does not wait in iteration " +
             std::to_string(missed->iteration) +
             " of its loop, counted from 0: the parity is that of a phase that "
             "is over"});
  findings.push_back(std::move(finding));
}

/// True if one more race of that kind is told. What is possible leaves what is
/// certain its room, whichever is found first: it decides the verdict.
bool SyncFindings::countRace(Conflict::Kind kind) {
  return ++numRaces[kind == Conflict::Certain] <= kMaxRaces;
}

/// Says at the last race of that kind that is told that there are others.
void SyncFindings::noteMore(Conflict::Kind kind) {
  if (numRaces[kind == Conflict::Certain] == kMaxRaces)
    findings.back().notes.push_back(
        {findings.back().at.location,
         "there may be more such pairs of accesses in the kernel; they are not "
         "told"});
}

void SyncFindings::addRaces(const SyncTree &tree, ArrayRef<Hazard> hazards,
                            UniformityUnit unit, Operation *wait) {
  SmallVector<SyncHazard> orders = getOrders(hazards);
  SmallVector<unsigned> open = findOpen(tree.getProgram(), orders);
  if (open.empty())
    return;
  SmallVector<SyncHazard> openOrders = llvm::map_to_vector(
      open, [&](unsigned number) { return orders[number]; });
  llvm::BitVector isFixable(hazards.size(), true);
  for (unsigned uncovered : findUncovered(tree.getProgram(), openOrders))
    isFixable.reset(open[uncovered]);
  if (tree.isOfPart()) // not without leave
    isFixable.reset();
  for (Conflict::Kind kind : {Conflict::Certain, Conflict::Possible})
    for (unsigned number : open)
      if (hazards[number].conflict.kind == kind)
        tellRace(tree, hazards[number], isFixable[number], unit, wait);
}

/// Tells only the first hazard of a pair of operations, in however many calls
/// they are. But one that is certain takes the place of one that is not: of
/// lanes of a warp, where threads of two warps may meet.
void SyncFindings::tellRace(const SyncTree &tree, const Hazard &hazard,
                            bool isFixable, UniformityUnit unit,
                            Operation *wait) {
  bool isCertain = hazard.conflict.kind == Conflict::Certain;
  Report &report = getReport(kernel.getAccess(hazard.first).op,
                             kernel.getAccess(hazard.second).op);
  if (report.isCertain || (report.isTold && !isCertain))
    return;
  report.isTold = true;
  std::optional<size_t> replaced = std::exchange(report.finding, std::nullopt);
  report.isCertain = isCertain;
  if (!countRace(hazard.conflict.kind))
    return;
  addRace(tree, hazard, isFixable, unit);
  noteMore(hazard.conflict.kind);
  if (wait)
    findings.back().notes.push_back(
        {wait->getLoc(), "no barrier is put, as threads may wait for others "
                         "here, which it would hold up"});
  if (replaced) {
    findings[*replaced] = std::move(findings.back());
    findings.pop_back();
    --numRaces[0];
  } else if (!isCertain) {
    report.finding = findings.size() - 1;
  }
}

void SyncFindings::addParts() {
  for (const ThreadPart &part : kernel.getParts()) {
    SyncTree tree = kernel.makeTree(UniformityUnit::Block, &part);
    addDivergent(tree, UniformityUnit::Block);
    addRaces(tree,
             kernel.findHazards(tree, UniformityUnit::Block,
                                HazardUse::Verification),
             UniformityUnit::Block);
  }
}

void SyncFindings::addRace(const BlockRace &race) {
  const ThreadAccess &first = kernel.getAccess(race.first);
  const ThreadAccess &second = kernel.getAccess(race.second);
  const std::optional<Conflict::Witness> &witness = race.conflict.witness;
  bool isCertain = race.conflict.kind == Conflict::Certain;
  SyncFinding finding;
  finding.verdict = isCertain ? SyncVerdict::Unfixable : SyncVerdict::Maybe;
  finding.at = getSite(second.op);
  finding.other = getSite(first.op);
  auto printWho = [&](unsigned side) {
    return printThread(witness->threads[side]) + " of " +
           printIds("block", witness->blocks[side]);
  };
  std::string note = "the other access: '" +
                     first.op->getName().getStringRef().str() + "' " +
                     getVerb(first.kind).str();
  std::string memory = describeMemory(race.first, race.second);
  llvm::raw_string_ostream os(finding.message);
  if (isCertain) {
    finding.threads.assign(witness->threads, witness->threads + 2);
    finding.blocks.assign(witness->blocks, witness->blocks + 2);
    finding.coordinates = witness->coordinates;
    StringRef remedy = getAtomicRemedy(first, second);
    os << "cannot synchronize '" << first.op->getName() << "' and '"
       << second.op->getName() << "' on " << memory << ": " << printWho(1)
       << " " << getVerb(second.kind) << " what " << printWho(0) << " "
       << getVerb(first.kind) << ", and blocks do not wait for each other; "
       << (remedy.empty() ? "give each block a place of its own, make it "
                            "atomic, or do it in two kernels"
                          : remedy);
    note += " in " + printWho(0);
  } else {
    os << "possible data race on " << memory
       << ": threads of different blocks may touch the same bytes, and blocks "
          "do not wait for each other; "
       << race.conflict.reason;
  }
  finding.notes.push_back({first.op->getLoc(), note});
  findings.push_back(std::move(finding));
}

void SyncFindings::addBlockRaces() {
  for (const BlockRace &race : kernel.findBlockRaces())
    if (countRace(race.conflict.kind)) {
      addRace(race);
      noteMore(race.conflict.kind);
    }
}

LogicalResult emitFindings(ArrayRef<SyncFinding> findings,
                           const SyncOptions &options) {
  bool hasFailed = false;
  for (const SyncFinding &finding : findings) {
    bool isCertain = finding.verdict != SyncVerdict::Maybe;
    if (!isCertain && !options.warns && !options.isStrict)
      continue;
    bool isError = options.refuses && (isCertain || options.isStrict);
    hasFailed |= isError;
    InFlightDiagnostic diagnostic =
        isError ? emitError(finding.at.location, finding.message)
                : emitWarning(finding.at.location, finding.message);
    for (const auto &[location, text] : finding.notes)
      diagnostic.attachNote(Location(location)) << text;
  }
  return success(!hasFailed);
}

} // namespace mlir::workgroup
