//===- CallEmitter.cpp - Intrinsics and functions of the device -----------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Intrinsics of LLVM stay what they are if the host executes them as a GPU
// does. Those of NVVM are offered to one emitter after the other.
//
//===----------------------------------------------------------------------===//

#include "CallEmitter.h"
#include "Emulator/State/RuntimeNames.h"
#include "InstructionFacts.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InlineAsm.h"

using namespace llvm;

namespace mlir::workgroup::emulator {

/// True for an intrinsic of LLVM that the host executes as a GPU does: it has
/// nothing but its result, and one for all operands.
static bool isPure(const IntrinsicInst &call) {
  if (call.isAssumeLikeIntrinsic() ||
      call.getIntrinsicID() == Intrinsic::prefetch)
    return true;
  StringRef name = call.getCalledFunction()->getName();
  bool divides = isa<VPIntrinsic>(call) || name.contains("div.fix");
  return !Intrinsic::isTargetIntrinsic(call.getIntrinsicID()) && !divides &&
         !call.mayReadOrWriteMemory();
}

/// True for what blocks of a cluster wait for each other by, or access each
/// other's memory.
static bool isOfCluster(StringRef name) {
  constexpr StringLiteral parts[] = {
      "barrier.cluster.", ".mapa",          ".getctarank",
      "scope.cluster",    "cta.to.cluster", "clusterlaunchcontrol"};
  return any_of(parts, [&](StringRef part) { return name.contains(part); });
}

/// Ends the thread with a finding. False if `call` is no trap.
bool CallEmitter::emitTrap(IntrinsicInst &call) {
  if (call.getIntrinsicID() != Intrinsic::trap &&
      call.getIntrinsicID() != Intrinsic::debugtrap &&
      call.getIntrinsicID() != Intrinsic::ubsantrap)
    return false;
  IRBuilder<> builder(&call);
  context.callRuntime(builder, runtime::kTrap, context.voidType,
                      {builder.getInt32(context.addSite(call))});
  context.endThreadAfter(call);
  return true;
}

/// Fences, and what ends the thread or lets it sleep.
bool CallEmitter::emitControl(IntrinsicInst &call, StringRef name) {
  if (name == "llvm.nvvm.exit") {
    context.endThreadAfter(call);
    return true;
  }
  bool isOfMemory = isFence(call);
  if (!isOfMemory && name != "llvm.nvvm.nanosleep")
    return false;
  if (isOfMemory)
    accesses.emitFence(call, getScope(call));
  call.eraseFromParent();
  return true;
}

bool CallEmitter::emitDeviceIntrinsic(IntrinsicInst &call, StringRef name) {
  return registers.emitRegister(call, name) ||
         meetings.emitBarrier(call, name) ||
         warpgroups.emitIntrinsic(call, name) ||
         async.emitIntrinsic(call, name) || async.emitThreadCopy(call, name) ||
         meetings.emitWarp(call, name) || meetings.emitMatrix(call, name) ||
         registers.emitSpaceQuery(call, name) ||
         registers.emitClusterQuery(call, name) || emitControl(call, name) ||
         math.bind(call, name);
}

void CallEmitter::emitIntrinsic(IntrinsicInst &call) {
  if (emitTrap(call))
    return;
  if (call.getIntrinsicID() == Intrinsic::fake_use) { // of what was checked
    call.eraseFromParent();
    return;
  }
  StringRef name = call.getCalledFunction()->getName();
  if (!name.starts_with("llvm.nvvm.")) {
    if (!isPure(call))
      context.refuse(call, "intrinsic '" + name + "' is not emulated");
    return;
  }
  size_t before = context.errors.size();
  if (emitDeviceIntrinsic(call, name) || context.errors.size() != before)
    return;
  context.refuse(call, "intrinsic '" + name +
                           (isOfCluster(name)
                                ? "' is for the blocks of a cluster to work "
                                  "together, which is not emulated"
                                : "' is not emulated"));
}

void CallEmitter::emitAssembly(CallInst &call) {
  StringRef text = cast<InlineAsm>(call.getCalledOperand())->getAsmString();
  if (!meetings.emitAssembly(call, text) && !warpgroups.emitAssembly(call) &&
      !async.emitAssembly(call, text))
    context.refuse(call, "inline assembly '" + text + "' is not emulated");
}

/// The text has to be a constant, the arguments a private buffer.
void CallEmitter::emitPrint(CallInst &call) {
  auto *text =
      dyn_cast<GlobalVariable>(getUnderlyingObject(call.getArgOperand(0)));
  auto *values =
      dyn_cast<AllocaInst>(getUnderlyingObject(call.getArgOperand(1)));
  bool isConstant = text && text->isConstant() && text->hasInitializer();
  bool hasNone = isa<ConstantPointerNull>(call.getArgOperand(1));
  if (!isConstant || (!values && !hasNone)) {
    context.refuse(call, "printing a text that is no constant is not emulated");
    return;
  }
  uint64_t bytes = 0;
  if (values)
    bytes = values->getAllocationSize(context.getLayout())->getFixedValue();
  IRBuilder<> builder(&call);
  context.callRuntime(
      builder, runtime::kPrint, context.voidType,
      {builder.CreateAddrSpaceCast(call.getArgOperand(0), context.ptr),
       call.getArgOperand(1), builder.getInt64(bytes)});
  context.replace(call, builder.getInt32(0));
}

void CallEmitter::emit(CallInst &call) {
  if (call.isInlineAsm())
    return emitAssembly(call);
  if (auto *intrinsic = dyn_cast<IntrinsicInst>(&call))
    return emitIntrinsic(*intrinsic);
  StringRef name = call.getCalledFunction()->getName();
  if (name == "__assertfail") {
    IRBuilder<> builder(&call);
    context.callRuntime(
        builder, runtime::kFailAssertion, context.voidType,
        {call.getArgOperand(0), builder.getInt32(context.addSite(call))});
    return context.endThreadAfter(call);
  }
  if (name == "vprintf")
    return emitPrint(call);
  if (name.starts_with("emulator.") || math.bind(call, name))
    return;
  context.refuse(call, "function '" + name + "' is not emulated");
}

} // namespace mlir::workgroup::emulator
