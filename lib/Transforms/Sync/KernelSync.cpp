//===- KernelSync.cpp - What barriers of a kernel have to order -----------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelSync.h"
#include "Analysis/Program/WarpRules.h"
#include "Analysis/Tree/SyncTreeBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "workgroup/IR/Workgroup.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::workgroup {

/// True if `op` may order what threads do before and behind it without a
/// barrier: an atomic access that is not relaxed, a fence.
static bool isOrdering(Operation *op) {
  auto isOrdered = [](LLVM::AtomicOrdering ordering) {
    return ordering != LLVM::AtomicOrdering::not_atomic;
  };
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<LLVM::LoadOp, LLVM::StoreOp>(
          [&](auto access) { return isOrdered(access.getOrdering()); })
      .Case<LLVM::AtomicRMWOp, LLVM::AtomicCmpXchgOp>([](auto) { return true; })
      .Default([](Operation *op) {
        OpKind kind = getOpKind(op);
        return kind == OpKind::Fence || kind == OpKind::Assembly;
      });
}

/// True if threads wait for each other at `op` in a way that is not followed.
static bool isOtherBarrier(Operation *op) {
  switch (getOpKind(op)) {
  case OpKind::Barrier:
    return !isBlockBarrier(op);
  case OpKind::WarpBarrier:
    return !isWarpBarrier(op);
  case OpKind::Call: // stands for what was not inlined
    return !isMemoryEffectFree(op);
  case OpKind::RingUse: // slots are waited for
    return isa<PutOp, GetOp>(op);
  case OpKind::BarrierArrival:
  case OpKind::ClusterWait:
    return true;
  default:
    return isOrdering(op);
  }
}

/// True if `op`, at which threads wait in a way that is not followed, may order
/// what threads of different blocks do.
static bool mayOrderBlocks(Operation *op) {
  if (auto fence = dyn_cast<NVVM::MembarOp>(op))
    return fence.getScope() != NVVM::MemScopeKind::CTA;
  if (std::optional<AtomicScope> scope = getAtomicScope(op))
    return *scope > AtomicScope::Block && !isRelaxedAtomic(op);
  return !isBarrierInBlock(op) && getOpKind(op) != OpKind::RingUse;
}

/// True if `op` waits for a phase of an mbarrier.
static bool isPhaseWait(Operation *op) {
  return getOpKind(op) == OpKind::MBarrierWait;
}

/// True if a thread may end a phase of an mbarrier by `op`, and so tell those
/// that wait for it of what it has done before.
static bool mayArrive(Operation *op) {
  switch (getOpKind(op)) {
  case OpKind::MBarrierArrival:
  case OpKind::BulkLoad:
    return true;
  case OpKind::Storage:
  case OpKind::MBarrierInit:
  case OpKind::MBarrierWait:
    return false;
  default: // a call
    return llvm::any_of(op->getOperandTypes(),
                        llvm::IsaPred<nvgpu::MBarrierGroupType>);
  }
}

KernelSync::KernelSync(Operation *scope, const SyncAnalyses &analyses,
                       std::shared_ptr<KernelFacts> known)
    : scope(scope), analyses(analyses), facts(std::move(known)),
      loops(facts->loops), accesses(facts->accesses),
      conflicts(facts->conflicts) {
  auto isNamed = [](NVVM::BarrierOp barrier) {
    return barrier.getNumberOfThreads() ? WalkResult::interrupt()
                                        : WalkResult::advance();
  };
  if (scope->walk(isNamed).wasInterrupted())
    addParts(makeTree(UniformityUnit::Block));
  scope->walk([&](Operation *op) {
    bool isOther = isOtherBarrier(op) && !parts.isBarrier(op);
    hasOtherBarriers |= isOther;
    hasOtherOrders |= isOther && !isRelaxedAtomic(op);
    hasOrdersOfBlocks |= isOther && mayOrderBlocks(op);
    hasPhaseWaits |= isPhaseWait(op);
    if (mayArrive(op))
      arrivals.push_back(op);
  });
}

void KernelSync::addParts(const SyncTree &block) {
  parts = WarpRegions(scope, block, conflicts);
  parts.eraseIf([&](const ThreadPart &part) {
    return makeTree(UniformityUnit::Block, &part).getUnstructured() != nullptr;
  });
}

bool KernelSync::isReachedTogether(Operation *op, UniformityUnit unit) const {
  if (conflicts.getIndex().getUniformity(unit).isUniformPoint(op))
    return true;
  for (; op != scope; op = op->getParentOp()) {
    bool isTaken = op->getParentOp() == scope
                       ? isEnteredTogether(unit)
                       : conflicts.takesOnePath(op->getParentOp(), unit);
    if (!isTaken || !op->getParentRegion()->hasOneBlock())
      return false;
  }
  return true;
}

bool KernelSync::isEnteredTogether(UniformityUnit unit) const {
  Region *body = getBody(scope);
  return body && conflicts.getIndex().getUniformity(unit).isUniformPoint(
                     &body->front().front());
}

ThreadWaits KernelSync::findWaits() const {
  auto isPartBarrier = [&](Operation *op) { return parts.isBarrier(op); };
  return ThreadWaits(scope, analyses.block, loops, isPartBarrier);
}

SyncTree KernelSync::makeTree(UniformityUnit unit,
                              const ThreadPart *part) const {
  auto hasIteration = [&](const KernelLoop *loop) {
    return conflicts.getIndex().getLoopForms().hasIteration(loop);
  };
  auto getNumIterations = [&](const KernelLoop *loop) {
    return conflicts.getIndex().getLoopForms().getNumIterations(loop);
  };
  auto takesOnePath = [&](Operation *op) {
    return conflicts.takesOnePath(op, unit);
  };
  auto isDead = [&](Operation *op) { return conflicts.isDead(op); };
  auto isNeverTaken = [&](Operation *branch, unsigned region) {
    return conflicts.isNeverTaken(branch, region);
  };
  auto isReachedBySome = [&](Operation *op) {
    return conflicts.isReachedBySome(op);
  };
  auto getStartOfCall = [&](Operation *op) {
    return analyses.entersCalls ? nullptr : analyses.program.getStartOfCall(op);
  };
  auto partsWarps = [&](Operation *op) {
    return conflicts.findParting(op, UniformityUnit::Warp).has_value();
  };
  auto isPartBarrier = [&](Operation *op) { return parts.isBarrier(op); };
  SyncScope sync{unit,
                 unit == UniformityUnit::Block ? analyses.block : analyses.warp,
                 analyses.block,
                 loops,
                 takesOnePath,
                 hasIteration,
                 getNumIterations,
                 isDead,
                 isNeverTaken,
                 isReachedBySome,
                 partsWarps,
                 getStartOfCall,
                 isPartBarrier,
                 part ? part->region : nullptr};
  return SyncTreeBuilder(scope, accesses, sync).build();
}

/// True if for all that arrives at mbarriers it is known which wait waits for
/// it: one that comes later, for all threads.
bool KernelSync::arePhasesFollowed(const SyncTree &tree) const {
  DenseSet<Operation *> followed;
  for (auto [number, access] : llvm::enumerate(accesses.getAccesses()))
    if (const AsyncCompletion *done = tree.getCompletion(number))
      if (done->isForAll)
        followed.insert(access.op);
  return llvm::all_of(arrivals,
                      [&](Operation *op) { return followed.contains(op); });
}

/// True if phases of mbarriers may order the two accesses: the thread of the
/// first one may arrive behind it; or that of the second one does, and the
/// other one may have waited for it.
bool KernelSync::mayOrderByPhases(const Hazard &hazard,
                                  bool arePhasesFollowed) const {
  const ThreadAccess &first = getAccess(hazard.first);
  if (!hasPhaseWaits || hazard.missed)
    return false;
  if (first.isAsync || first.accessScope != AccessScope::Thread ||
      getAccess(hazard.second).accessScope != AccessScope::Thread ||
      !hazard.conflict.witness)
    return true;
  const std::array<int64_t, 3> *threads = hazard.conflict.witness->threads;
  return llvm::any_of(arrivals, [&](Operation *op) {
    return conflicts.mayReach(op, threads[0]) ||
           (!arePhasesFollowed && conflicts.mayReach(op, threads[1]));
  });
}

/// True if two lanes of a warp may be about to write one value, of which that
/// is not known.
bool KernelSync::mayWriteSame(const Hazard &hazard, UniformityUnit unit) const {
  Operation *op = getAccess(hazard.first).op;
  if (hazard.first != hazard.second || hazard.relation.carrier ||
      unit != UniformityUnit::Warp)
    return false;
  Value value =
      llvm::TypeSwitch<Operation *, Value>(op)
          .Case<LLVM::StoreOp, memref::StoreOp>(
              [](auto store) { return store.getValue(); })
          .Case([](vector::StoreOp store) { return store.getValueToStore(); })
          .Default(Value());
  return value && isMadeOfExchange(value);
}

/// Makes a hazard uncertain where threads wait for each other in other ways.
void KernelSync::weaken(Hazard &hazard, bool hasOpenBarriers, bool hasParts,
                        bool arePhasesFollowed) const {
  auto isOfMBarrier = [&](unsigned access) {
    OpOperand *operand = getAccess(access).operand;
    return operand && isa<nvgpu::MBarrierGroupType>(operand->get().getType());
  };
  bool isWeak = hasOtherOrders ||
                (!isOfMBarrier(hazard.first) && !isOfMBarrier(hazard.second) &&
                 mayOrderByPhases(hazard, arePhasesFollowed));
  isWeak |= !isKernel(scope) || hasOpenBarriers || hasParts;
  if (!isWeak || hazard.conflict.kind != Conflict::Certain)
    return;
  hazard.conflict.kind = Conflict::Possible;
  hazard.conflict.witness = std::nullopt;
  if (!isKernel(scope))
    hazard.conflict.reason =
        "it is not known from where this function is called";
  else if (hasOpenBarriers)
    hazard.conflict.reason =
        "barriers where threads of a warp or of a part of the block go "
        "different paths are not followed";
  else if (hasOtherOrders || hasParts)
    hazard.conflict.reason =
        "barriers of a part of the block, fences and rings are not followed";
  else
    hazard.conflict.reason = "waits for mbarriers are not followed";
}

std::vector<Hazard> KernelSync::findHazards(const SyncTree &tree,
                                            UniformityUnit unit, HazardUse use,
                                            bool isComplete,
                                            ArrayRef<SyncHazard> covered) {
  // What a part does in one iteration its own barriers order.
  bool isOfAll = unit == UniformityUnit::Block && !tree.isOfPart();
  auto isOfPart = [&](unsigned first, unsigned second) {
    const ThreadPart *part = parts.getPart(getAccess(first).op);
    return isOfAll && part && part == parts.getPart(getAccess(second).op);
  };
  // What mbarriers order may rest on barriers, none of which is to go.
  const ProtocolOrders *known =
      use == HazardUse::Elimination ? nullptr : getProtocol();
  auto isOrdered = [&](unsigned first, unsigned second) {
    return known && known->isOrdered(first, second);
  };
  std::vector<Hazard> hazards = mlir::workgroup::findHazards(
      accesses, tree, conflicts,
      unit == UniformityUnit::Block ? PairRelation::OfTwoWarps
                                    : PairRelation::OfOneWarp,
      use, isOfPart, isComplete || tree.isOfPart(), covered, isOrdered);
  bool areFollowed = arePhasesFollowed(tree);
  for (Hazard &hazard : hazards)
    if (mayWriteSame(hazard, unit)) {
      hazard.conflict.kind = Conflict::Possible;
      hazard.conflict.witness = std::nullopt;
      hazard.conflict.reason = "what they write is made of what lanes have "
                               "exchanged, and may be the same";
    }
  for (Hazard &hazard : hazards)
    weaken(hazard, tree.hasOpenBarriers(), isOfAll && parts.haveBarriers(),
           areFollowed);
  return hazards;
}

const ProtocolOrders *KernelSync::getProtocol() {
  if ((hasPhaseWaits || hasBulkCopies()) && !protocol)
    protocol = std::make_unique<ProtocolOrders>(scope, accesses, loops,
                                                analyses.block);
  return protocol.get();
}

/// That the second access of `race` is in the iterations that are told, and the
/// first one in those that are; nothing if that cannot be said.
static std::optional<PairRelation>
makeRelation(const ProtocolOrders::Race &race, const KernelLoops &loops) {
  PairRelation relation;
  for (const ProtocolIteration &own : race.ofSecond)
    relation.iterations.push_back(
        {loops.getLoopOf(own.loop), own.number, own.number, nullptr});
  for (const ProtocolIteration &own : race.ofFirst) {
    const KernelLoop *loop = loops.getLoopOf(own.loop);
    const auto *common =
        llvm::find_if(race.ofSecond, [&](const ProtocolIteration &other) {
          return other.loop == own.loop;
        });
    if (race.ofSecond.empty())
      return std::nullopt;
    int64_t distance = race.ofSecond.back().number - own.number;
    if (common == race.ofSecond.end()) {
      relation.iterations.push_back({loops.getLoopOf(race.ofSecond.back().loop),
                                     distance, distance, loop});
    } else if (common->number == own.number) {
      relation.sameIteration.push_back(loop);
    } else if (common->number < own.number || relation.carrier) {
      return std::nullopt;
    } else {
      relation.carrier = loop;
      relation.least = common->number - own.number;
      relation.most = relation.least;
    }
  }
  return relation;
}

Conflict KernelSync::findConflict(const ProtocolOrders::Race &race) {
  std::optional<PairRelation> relation = makeRelation(race, loops);
  if (!relation || !isKernel(scope))
    return {};
  bool isOneWarp = race.threads[0] / kWarpSize == race.threads[1] / kWarpSize;
  relation->threads =
      isOneWarp ? PairRelation::OfOneWarp : PairRelation::OfTwoWarps;
  relation->mayBeSame = race.threads[0] == race.threads[1];
  Conflict conflict = conflicts.find(race.first, race.second, *relation);
  if (conflict.kind != Conflict::Certain || !conflict.witness)
    return {};
  // That there are such iterations is known: threads meet in them.
  BlockShape shape = getBlockShape(scope);
  for (auto [ids, thread] :
       llvm::zip_equal(conflict.witness->threads, race.threads))
    ids = {thread % *shape.sizes[0], thread / *shape.sizes[0] % *shape.sizes[1],
           thread / *shape.sizes[0] / *shape.sizes[1]};
  conflict.witness->coordinates.assign(1, race.byte);
  return conflict;
}

std::vector<BlockRace> KernelSync::findBlockRaces() {
  // A function is looked at where kernels call it.
  if (!isKernel(scope))
    return {};
  std::vector<BlockRace> races =
      mlir::workgroup::findBlockRaces(scope, accesses, conflicts);
  for (BlockRace &race : races)
    if (hasOrdersOfBlocks && race.conflict.kind == Conflict::Certain) {
      race.conflict = Conflict();
      race.conflict.kind = Conflict::Possible;
      race.conflict.reason = "fences and flags between blocks are not followed";
    }
  return races;
}

Operation *createBarrier(RewriterBase &rewriter, UniformityUnit unit,
                         const ThreadPart *part, Operation *before) {
  Location loc = before->getLoc();
  rewriter.setInsertionPoint(before);
  auto makeNumber = [&](int64_t number) -> Value {
    return arith::ConstantOp::create(rewriter, loc,
                                     rewriter.getI32IntegerAttr(number));
  };
  if (part) {
    Value number = makeNumber(part->numbers.front());
    Value count = makeNumber(part->getNumThreads());
    return NVVM::BarrierOp::create(rewriter, loc, TypeRange(), number, count,
                                   {}, Value());
  }
  if (unit == UniformityUnit::Block)
    return gpu::BarrierOp::create(rewriter, loc);
  return NVVM::SyncWarpOp::create(rewriter, loc, makeNumber(-1));
}

SmallVector<SyncHazard> getOrders(ArrayRef<Hazard> hazards) {
  return llvm::map_to_vector(hazards,
                             [](const Hazard &hazard) { return hazard.order; });
}

LeadingOrders::LeadingOrders(ArrayRef<Hazard> hazards) {
  for (auto [number, hazard] : llvm::enumerate(hazards)) {
    if (hazard.isImplied)
      continue;
    orders.push_back(hazard.order);
    numbers.push_back(number);
  }
}

SyncPlacement LeadingOrders::restore(SyncPlacement placement) const {
  for (unsigned &number : placement.uncovered)
    number = numbers[number];
  for (unsigned &number : placement.certificate)
    number = numbers[number];
  return placement;
}

} // namespace mlir::workgroup
