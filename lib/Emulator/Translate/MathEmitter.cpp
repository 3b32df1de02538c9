//===- MathEmitter.cpp - Arithmetic of the device -------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions of the library are those of Emulator/Math.
//
//===----------------------------------------------------------------------===//

#include "MathEmitter.h"
#include "Emulator/Math/MathLibrary.h"
#include "Emulator/State/RuntimeNames.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace mlir::workgroup::emulator {

void MathEmitter::emitDivision(BinaryOperator &division) {
  IRBuilder<> builder(&division);
  Value *left = division.getOperand(0), *right = division.getOperand(1);
  Type *type = right->getType();
  bool isSigned = division.getOpcode() == Instruction::SDiv ||
                  division.getOpcode() == Instruction::SRem;
  Value *isZero = builder.CreateICmpEQ(right, Constant::getNullValue(type));
  Value *isBad = isZero;
  if (isSigned) {
    APInt least = APInt::getSignedMinValue(type->getScalarSizeInBits());
    Value *overflows = builder.CreateAnd(
        builder.CreateICmpEQ(left, ConstantInt::get(type, least)),
        builder.CreateICmpEQ(right, Constant::getAllOnesValue(type)));
    isBad = builder.CreateOr(isBad, overflows);
  }
  if (match(isBad, PatternMatch::m_Zero()))
    return;
  division.setOperand(
      1, builder.CreateSelect(isBad, ConstantInt::get(type, 1), right));
  auto isAny = [&](IRBuilder<> &builder, Value *values) {
    return type->isVectorTy() ? builder.CreateOrReduce(values) : values;
  };
  uint32_t site = context.addSite(division);
  Instruction *then = SplitBlockAndInsertIfThen(
      isAny(builder, isBad), &division, false,
      MDBuilder(context.context).createUnlikelyBranchWeights());
  IRBuilder<> cold(then);
  context.callRuntime(cold, runtime::kDivideFault, context.voidType,
                      {cold.getInt32(site), isAny(cold, isZero)});
}

bool MathEmitter::bind(CallInst &call, StringRef name) {
  if (!findMathFunction(name))
    return false;
  // Names of intrinsics are LLVM's own.
  FunctionCallee host = context.module.getOrInsertFunction(
      ("emulator.math." + name).str(), call.getFunctionType());
  auto *callee = cast<Function>(host.getCallee());
  callee->setDoesNotThrow();
  callee->setWillReturn();
  bool takesMemory = false;
  for (const Use &operand : call.args()) {
    takesMemory |= operand->getType()->isPointerTy();
    // The host writes there unseen, which only private memory is for.
    if (operand->getType()->isPointerTy() && !isa<AllocaInst>(operand))
      return context.refuse(call, "'" + name +
                                      "' that writes to memory of more than "
                                      "its thread is not emulated");
  }
  if (!takesMemory)
    callee->setDoesNotAccessMemory();
  call.setCalledFunction(host);
  call.setAttributes({});
  return true;
}

} // namespace mlir::workgroup::emulator
