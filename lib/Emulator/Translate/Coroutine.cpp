//===- Coroutine.cpp - Loops that end and threads that wait ---------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emulator/State/RuntimeNames.h"
#include "Emulator/State/ThreadState.h"
#include "Instrument.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include <cstddef>

using namespace llvm;

namespace mlir::workgroup::emulator {

/// Lets other threads run, then goes on where `from` went.
void Instrumenter::yieldAfter(BasicBlock &from, BasicBlock *next) {
  auto *yield = BasicBlock::Create(context, "yield", function);
  from.getTerminator()->replaceSuccessorWith(next, yield);
  next->replacePhiUsesWith(&from, yield);
  IRBuilder<> builder(yield);
  suspensions.push_back(
      builder.CreateStore(builder.getInt32(uint32_t(Wait::None)),
                          builder.CreateConstInBoundsGEP1_64(
                              i8, thread, offsetof(ThreadState, wait))));
  builder.CreateBr(next);
}

/// Counts the iterations of all loops down in one variable, which becomes a
/// register: at zero the thread asks how many more it may make. If it may wait
/// for what another thread stores, that thread gets its iteration, too.
void Instrumenter::limitLoops() {
  SmallVector<std::pair<const BasicBlock *, const BasicBlock *>> edges;
  FindFunctionBackedges(*function, edges);
  if (edges.empty())
    return;
  if (!end)
    end = BasicBlock::Create(context, "end", function);
  IRBuilder<> entry(&*function->getEntryBlock().getFirstInsertionPt());
  AllocaInst *budget = entry.CreateAlloca(i32, nullptr, "budget");
  entry.SetInsertPoint(
      &*function->getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
  entry.CreateStore(
      getField(entry, i32, thread, offsetof(ThreadState, iterationsAllowed)),
      budget);
  SmallSetVector<BasicBlock *, 8> sources;
  for (auto [from, to] : edges)
    sources.insert(const_cast<BasicBlock *>(from));
  for (BasicBlock *source : sources) {
    Instruction *terminator = source->getTerminator();
    uint32_t site = addSite(*terminator);
    IRBuilder<> builder(terminator);
    Value *left =
        builder.CreateSub(builder.CreateLoad(i32, budget), builder.getInt32(1));
    builder.CreateStore(left, budget);
    Instruction *then = SplitBlockAndInsertIfThen(
        builder.CreateIsNull(left), terminator, false,
        MDBuilder(context).createUnlikelyBranchWeights());
    IRBuilder<> cold(then);
    Value *allowed =
        callRuntime(cold, runtime::kPoll, i32, {cold.getInt32(site)});
    cold.CreateStore(allowed, budget);
    BasicBlock *next = then->getSuccessor(0);
    cold.CreateCondBr(cold.CreateIsNull(allowed), end, next);
    BasicBlock *poll = then->getParent();
    then->eraseFromParent();
    if (tables.mayWaitInLoops)
      yieldAfter(*poll, next);
  }
}

/// A branch on a value that is not defined goes somewhere on a GPU; on the host
/// it must not go anywhere at all.
void Instrumenter::freezeBranches() {
  for (BasicBlock &block : *function) {
    Instruction *branch = block.getTerminator();
    bool isConditional = isa_and_nonnull<SwitchInst>(branch) ||
                         (isa_and_nonnull<BranchInst>(branch) &&
                          cast<BranchInst>(branch)->isConditional());
    if (isConditional && !isa<Constant>(branch->getOperand(0)))
      branch->setOperand(
          0, IRBuilder<>(branch).CreateFreeze(branch->getOperand(0)));
  }
}

/// Every suspension returns to the scheduler, which calls the function that the
/// frame begins with. Without any, the function stays one.
void Instrumenter::makeCoroutine() {
  if (!end)
    end = BasicBlock::Create(context, "end", function);
  for (BasicBlock &block : *function) {
    if (isa_and_nonnull<ReturnInst, UnreachableInst>(block.getTerminator())) {
      block.getTerminator()->eraseFromParent();
      IRBuilder<>(&block).CreateBr(end);
    }
  }
  IRBuilder<> ending(end);
  ending.CreateStore(ending.getInt32(uint32_t(Wait::Done)),
                     ending.CreateConstInBoundsGEP1_64(
                         i8, thread, offsetof(ThreadState, wait)));
  Value *none = ConstantPointerNull::get(ptr);
  if (suspensions.empty()) {
    ending.CreateRet(none);
    return;
  }

  function->addFnAttr(Attribute::PresplitCoroutine);
  IRBuilder<> begin(&*function->getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
  Value *id = begin.CreateIntrinsic(Intrinsic::coro_id, {},
                                    {begin.getInt32(0), none, none, none});
  Value *size = begin.CreateIntrinsic(Intrinsic::coro_size, {i64}, {});
  Value *memory = callRuntime(begin, runtime::kGetFrame, ptr, {size});
  Value *handle =
      begin.CreateIntrinsic(Intrinsic::coro_begin, {}, {id, memory});

  auto *leave = BasicBlock::Create(context, "leave", function);
  auto *destroy = BasicBlock::Create(context, "destroy", function);
  IRBuilder<> destroying(destroy);
  destroying.CreateIntrinsic(Intrinsic::coro_free, {}, {id, handle});
  destroying.CreateBr(leave);
  IRBuilder<> leaving(leave);
  leaving.CreateIntrinsic(
      Intrinsic::coro_end, {},
      {handle, leaving.getFalse(), ConstantTokenNone::get(context)});
  leaving.CreateRet(handle);

  auto suspend = [&](IRBuilder<> &builder, BasicBlock *next, bool isFinal) {
    Value *outcome = builder.CreateIntrinsic(
        Intrinsic::coro_suspend, {},
        {ConstantTokenNone::get(context), builder.getInt1(isFinal)});
    SwitchInst *branch = builder.CreateSwitch(outcome, leave, 2);
    branch->addCase(builder.getInt8(0), next);
    branch->addCase(builder.getInt8(1), destroy);
  };
  for (Instruction *last : suspensions) {
    BasicBlock *block = last->getParent();
    BasicBlock *next = SplitBlock(block, last->getNextNode());
    block->getTerminator()->eraseFromParent();
    IRBuilder<> builder(block);
    suspend(builder, next, /*isFinal=*/false);
  }
  auto *never = BasicBlock::Create(context, "never", function);
  new UnreachableInst(context, never);
  suspend(ending, never, /*isFinal=*/true);
}

} // namespace mlir::workgroup::emulator
