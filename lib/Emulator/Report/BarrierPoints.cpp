//===- BarrierPoints.cpp - Where a barrier is missing ---------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BarrierPoints.h"
#include "workgroup/Target/Chip.h"
#include "workgroup/Target/LLVMDiagnostics.h"
#include "workgroup/Target/PTX.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/Analysis/UniformityAnalysis.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;

namespace mlir::workgroup::emulator {

struct BarrierPoints::Analyses {
  std::unique_ptr<TargetMachine> machine;
  LoopAnalysisManager loopManager;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  DominatorTree *dominators = nullptr;
  PostDominatorTree *postDominators = nullptr;
  LoopInfo *loops = nullptr;
  UniformityInfo *uniformity = nullptr;

  void compute(Function &function) {
    PassBuilder builder(machine.get());
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(components);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loopManager);
    builder.crossRegisterProxies(loopManager, functions, components, modules);
    dominators = &functions.getResult<DominatorTreeAnalysis>(function);
    postDominators = &functions.getResult<PostDominatorTreeAnalysis>(function);
    loops = &functions.getResult<LoopAnalysis>(function);
    uniformity = &functions.getResult<UniformityInfoAnalysis>(function);
  }
};

BarrierPoints::BarrierPoints(const std::string &bitcode,
                             const std::string &name)
    : context(std::make_unique<LLVMContext>()),
      analyses(std::make_unique<Analyses>()) {
  collectErrors(*context);
  std::vector<DiagnosticRecord> errors;
  kernel = prepareKernel(*context, bitcode, name, /*chip=*/"", errors);
  if (!kernel.module)
    return;
  analyses->machine = createTargetMachineForChip(getDefaultChip().name);
  // Arguments of a kernel are the same for all threads.
  kernel.function->setCallingConv(CallingConv::PTX_Kernel);
  analyses->compute(*kernel.function);
}

BarrierPoints::~BarrierPoints() = default;

static bool isBarrier(const Instruction &instruction) {
  auto *call = dyn_cast<IntrinsicInst>(&instruction);
  return call && call->getCalledFunction()->getName().starts_with(
                     "llvm.nvvm.barrier.cta.");
}

/// True if `loop` or a loop around it has both instructions in it.
static bool isAround(const Loop *loop, const Instruction &a,
                     const Instruction &b) {
  return loop && loop->contains(a.getParent()) && loop->contains(b.getParent());
}

/// True if control gets from behind `from` to `to` without a barrier; in one
/// iteration of the loops around both, unless `inLaterIterations`.
static bool reaches(const Instruction &from, const Instruction &to,
                    bool inLaterIterations, const LoopInfo &loops) {
  SmallPtrSet<const BasicBlock *, 16> seen;
  SmallVector<const Instruction *> worklist = {from.getNextNode()};
  while (!worklist.empty()) {
    const Instruction *at = worklist.pop_back_val();
    for (; at; at = at->getNextNode()) {
      if (at == &to)
        return true;
      if (isBarrier(*at))
        break;
      if (!at->isTerminator())
        continue;
      for (const BasicBlock *next : successors(at->getParent())) {
        const Loop *loop = loops.getLoopFor(next);
        bool isNextIteration = loop && loop->getHeader() == next &&
                               loop->contains(at->getParent()) &&
                               isAround(loop, from, to);
        if ((!isNextIteration || inLaterIterations) && seen.insert(next).second)
          worklist.push_back(&next->front());
      }
    }
  }
  return false;
}

/// A block is uniform if it is on no path from a branch that threads take
/// differently to where all of them come together again.
bool BarrierPoints::isUniform(const BasicBlock &block) const {
  for (BasicBlock &other : *kernel.function) {
    if (!analyses->uniformity->hasDivergentTerminator(other))
      continue;
    auto *node = analyses->postDominators->getNode(&other);
    auto *meeting =
        node && node->getIDom() ? node->getIDom()->getBlock() : nullptr;
    if (meeting == &block)
      continue;
    SmallPtrSet<BasicBlock *, 1> behind;
    if (meeting)
      behind.insert(meeting);
    for (BasicBlock *next : successors(&other))
      if (next != meeting &&
          isPotentiallyReachable(next, &block, &behind, analyses->dominators))
        return false;
  }
  return true;
}

BarrierPoint BarrierPoints::makePoint(const Instruction &at,
                                      const Instruction &named,
                                      std::string words) const {
  BarrierPoint point;
  auto it = llvm::find(kernel.instructions, &at);
  point.ordinal = it - kernel.instructions.begin();
  point.location = getLocation(named);
  point.words = std::move(words);
  point.isUniform = isUniform(*at.getParent());
  return point;
}

/// The point of the operation that became `loop`: it branches there.
static const Instruction *getPoint(const Loop &loop) {
  const BasicBlock *before = loop.getLoopPredecessor();
  return before && before->getSingleSuccessor()
             ? before->getTerminator()
             : loop.getHeader()->getTerminator();
}

/// The last point before `at` on the way from `from` that all threads come by;
/// `at` itself if there is none.
const Instruction &BarrierPoints::moveToUniform(const Instruction &from,
                                                const Instruction &at) const {
  const DominatorTree &dominators = *analyses->dominators;
  for (auto *node = dominators.getNode(at.getParent()); node;
       node = node->getIDom()) {
    const BasicBlock &block = *node->getBlock();
    const Instruction &point =
        &block == at.getParent() ? at : *block.getTerminator();
    // What comes before `from` on all paths is not between the two.
    if (!dominators.dominates(&from, &point) &&
        dominators.dominates(&block, from.getParent()))
      break;
    if (isUniform(block))
      return point;
  }
  return at;
}

std::optional<BarrierPoint>
BarrierPoints::findOnPath(const Instruction &from,
                          const Instruction &to) const {
  const LoopInfo &loops = *analyses->loops;
  if (reaches(from, to, /*inLaterIterations=*/false, loops)) {
    // Not inside of loops that `from` is not in: once is enough.
    const Instruction *at = &to, *named = &to;
    for (const Loop *loop = loops.getLoopFor(to.getParent());
         loop && !loop->contains(from.getParent());
         loop = loop->getParentLoop())
      if (const BasicBlock *before = loop->getLoopPredecessor()) {
        at = before->getTerminator();
        named = getPoint(*loop);
      }
    const Instruction &uniform = moveToUniform(from, *at);
    return makePoint(uniform, &uniform == at ? *named : uniform, "before");
  }
  if (!reaches(from, to, /*inLaterIterations=*/true, loops))
    return std::nullopt;
  const Loop *common = loops.getLoopFor(from.getParent());
  while (common && !common->contains(to.getParent()))
    common = common->getParentLoop();
  // The innermost loop whose iterations `from` and `to` are in.
  const BasicBlock *latch = common ? common->getLoopLatch() : nullptr;
  if (!latch)
    return std::nullopt;
  return makePoint(*latch->getTerminator(), *getPoint(*common),
                   "at the end of the loop at");
}

std::vector<BarrierPoint> BarrierPoints::find(uint32_t ordinal,
                                              uint32_t otherOrdinal) const {
  std::vector<BarrierPoint> points;
  size_t count = kernel.instructions.size();
  if (ordinal >= count || otherOrdinal >= count)
    return points;
  const Instruction &a = *kernel.instructions[ordinal];
  const Instruction &b = *kernel.instructions[otherOrdinal];
  for (auto point : {findOnPath(a, b), findOnPath(b, a)})
    if (point && none_of(points, [&](const BarrierPoint &other) {
          return other.ordinal == point->ordinal;
        }))
      points.push_back(*point);
  return points;
}

} // namespace mlir::workgroup::emulator
