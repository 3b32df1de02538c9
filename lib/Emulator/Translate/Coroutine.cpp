//===- Coroutine.cpp - Loops that end and threads that wait ---------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loops are limited first, as that may suspend threads, too.
//
//===----------------------------------------------------------------------===//

#include "Coroutine.h"
#include "Emulator/State/RuntimeNames.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include <cstddef>

using namespace llvm;

namespace mlir::workgroup::emulator {

/// Lets other threads run, then goes on where `from` went.
static void yieldAfter(EmissionContext &context, BasicBlock &from,
                       BasicBlock *next) {
  auto *yield = BasicBlock::Create(context.context, "yield", &context.function);
  from.getTerminator()->replaceSuccessorWith(next, yield);
  next->replacePhiUsesWith(&from, yield);
  IRBuilder<> builder(yield);
  context.addSuspension(*context.setThreadField(
      builder, offsetof(ThreadState, wait), uint32_t(Wait::None)));
  builder.CreateBr(next);
}

/// Counts the iterations of all loops down in one variable, which becomes a
/// register: at zero the thread asks how many more it may make. If it may wait
/// for what another thread stores, that thread gets its chance, too.
static void limitLoops(EmissionContext &context) {
  Function &function = context.function;
  SmallVector<std::pair<const BasicBlock *, const BasicBlock *>> edges;
  FindFunctionBackedges(function, edges);
  if (edges.empty())
    return;
  BasicBlock *end = context.getEnd();
  IRBuilder<> entry(&*function.getEntryBlock().getFirstInsertionPt());
  AllocaInst *budget = entry.CreateAlloca(context.i32, nullptr, "budget");
  entry.SetInsertPoint(
      &*function.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
  entry.CreateStore(
      context.getThreadField(entry, context.i32,
                             offsetof(ThreadState, iterationsAllowed)),
      budget);
  SmallSetVector<BasicBlock *, 8> sources;
  for (auto [from, to] : edges)
    sources.insert(const_cast<BasicBlock *>(from));
  for (BasicBlock *source : sources) {
    Instruction *terminator = source->getTerminator();
    uint32_t site = context.addSite(*terminator);
    IRBuilder<> builder(terminator);
    Value *left = builder.CreateSub(builder.CreateLoad(context.i32, budget),
                                    builder.getInt32(1));
    builder.CreateStore(left, budget);
    Instruction *then = SplitBlockAndInsertIfThen(
        builder.CreateIsNull(left), terminator, false,
        MDBuilder(context.context).createUnlikelyBranchWeights());
    IRBuilder<> cold(then);
    Value *allowed = context.callRuntime(cold, runtime::kPoll, context.i32,
                                         {cold.getInt32(site)});
    cold.CreateStore(allowed, budget);
    BasicBlock *next = then->getSuccessor(0);
    cold.CreateCondBr(cold.CreateIsNull(allowed), end, next);
    BasicBlock *poll = then->getParent();
    then->eraseFromParent();
    if (context.tables.mayWaitInLoops)
      yieldAfter(context, *poll, next);
  }
}

/// A branch on a value that is not defined goes somewhere on a GPU; on the host
/// it must not go anywhere at all.
static void freezeBranches(Function &function) {
  for (BasicBlock &block : function) {
    Instruction *branch = block.getTerminator();
    bool isConditional = isa_and_nonnull<SwitchInst>(branch) ||
                         (isa_and_nonnull<BranchInst>(branch) &&
                          cast<BranchInst>(branch)->isConditional());
    if (isConditional && !isa<Constant>(branch->getOperand(0)))
      branch->setOperand(
          0, IRBuilder<>(branch).CreateFreeze(branch->getOperand(0)));
  }
}

/// Lets all ways out of the function lead to its end, where the thread is done.
static void joinEnds(EmissionContext &context) {
  BasicBlock *end = context.getEnd();
  for (BasicBlock &block : context.function) {
    if (isa_and_nonnull<ReturnInst, UnreachableInst>(block.getTerminator())) {
      block.getTerminator()->eraseFromParent();
      IRBuilder<>(&block).CreateBr(end);
    }
  }
  IRBuilder<> ending(end);
  context.setThreadField(ending, offsetof(ThreadState, wait),
                         uint32_t(Wait::Done));
}

/// Every suspension returns to the scheduler, which calls the function that the
/// frame begins with.
static void splitAtSuspensions(EmissionContext &context) {
  Function &function = context.function;
  function.addFnAttr(Attribute::PresplitCoroutine);
  Value *none = ConstantPointerNull::get(context.ptr);
  IRBuilder<> begin(&*function.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
  Value *id = begin.CreateIntrinsic(Intrinsic::coro_id, {},
                                    {begin.getInt32(0), none, none, none});
  Value *size = begin.CreateIntrinsic(Intrinsic::coro_size, {context.i64}, {});
  Value *memory =
      context.callRuntime(begin, runtime::kGetFrame, context.ptr, {size});
  Value *handle =
      begin.CreateIntrinsic(Intrinsic::coro_begin, {}, {id, memory});

  auto *leave = BasicBlock::Create(context.context, "leave", &function);
  auto *destroy = BasicBlock::Create(context.context, "destroy", &function);
  IRBuilder<> destroying(destroy);
  destroying.CreateIntrinsic(Intrinsic::coro_free, {}, {id, handle});
  destroying.CreateBr(leave);
  IRBuilder<> leaving(leave);
  auto *noToken = ConstantTokenNone::get(context.context);
  leaving.CreateIntrinsic(Intrinsic::coro_end, {},
                          {handle, leaving.getFalse(), noToken});
  leaving.CreateRet(handle);

  auto suspend = [&](IRBuilder<> &builder, BasicBlock *next, bool isFinal) {
    Value *outcome = builder.CreateIntrinsic(
        Intrinsic::coro_suspend, {}, {noToken, builder.getInt1(isFinal)});
    SwitchInst *branch = builder.CreateSwitch(outcome, leave, 2);
    branch->addCase(builder.getInt8(0), next);
    branch->addCase(builder.getInt8(1), destroy);
  };
  for (Instruction *last : context.getSuspensions()) {
    BasicBlock *block = last->getParent();
    BasicBlock *next = SplitBlock(block, last->getNextNode());
    block->getTerminator()->eraseFromParent();
    IRBuilder<> builder(block);
    suspend(builder, next, /*isFinal=*/false);
  }
  auto *never = BasicBlock::Create(context.context, "never", &function);
  new UnreachableInst(context.context, never);
  IRBuilder<> ending(context.getEnd());
  suspend(ending, never, /*isFinal=*/true);
}

void makeCoroutine(EmissionContext &context) {
  freezeBranches(context.function);
  limitLoops(context);
  joinEnds(context);
  if (!context.getSuspensions().empty())
    return splitAtSuspensions(context);
  IRBuilder<>(context.getEnd())
      .CreateRet(ConstantPointerNull::get(context.ptr));
}

} // namespace mlir::workgroup::emulator
