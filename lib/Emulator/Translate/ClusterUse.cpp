//===- ClusterUse.cpp - Whether blocks of a cluster work together ---------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An address in the memory of a cluster may be of the block's own, as that of
// copies by TMA is as a rule.
//
//===----------------------------------------------------------------------===//

#include "ClusterUse.h"
#include "InstructionFacts.h"
#include "MemorySpaces.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace mlir::workgroup::emulator {

/// True if `pointer`, to memory of a cluster, is certain to be made from an
/// address in that of the thread's own block.
static bool isOfOwnBlock(const Value &pointer) {
  SmallVector<const Value *> worklist = {&pointer};
  SmallPtrSet<const Value *, 8> visited;
  while (!worklist.empty()) {
    const Value *value = worklist.pop_back_val();
    if (!visited.insert(value).second || isa<UndefValue>(value) ||
        getSpace(*value) != kClusterSpace)
      continue;
    if (isa<GEPOperator, AddrSpaceCastOperator>(value))
      worklist.push_back(cast<User>(value)->getOperand(0));
    else if (auto *merged = dyn_cast<PHINode>(value))
      append_range(worklist, merged->incoming_values());
    else if (auto *choice = dyn_cast<SelectInst>(value))
      worklist.append({choice->getTrueValue(), choice->getFalseValue()});
    else
      return false;
  }
  return true;
}

std::pair<Value *, Value *> getBlockMask(const CallInst &call) {
  StringRef name = getCalledName(call);
  bool isBox = name.contains(".g2s.tile.");
  if (call.isInlineAsm() || (!isBox && !name.contains("to.shared.cluster")))
    return {nullptr, nullptr};
  // Behind them are a hint for caches and its flag and, of boxes, a group of
  // blocks.
  unsigned flag = call.arg_size() - (isBox ? 3 : 2);
  return {call.getArgOperand(flag - 2), call.getArgOperand(flag)};
}

bool usesCluster(const Instruction &instruction) {
  StringRef name = getCalledName(instruction);
  constexpr StringLiteral parts[] = {"llvm.nvvm.barrier.cluster.",
                                     "llvm.nvvm.mapa", "llvm.nvvm.getctarank"};
  if (any_of(parts, [&](StringRef part) { return name.starts_with(part); }))
    return true;
  if (auto *call = dyn_cast<CallInst>(&instruction))
    if (auto *flag = dyn_cast_or_null<ConstantInt>(getBlockMask(*call).second);
        flag && flag->isOne())
      return true;
  return any_of(instruction.operands(), [](const Use &operand) {
    return operand->getType()->isPointerTy() &&
           getSpace(*operand) == kClusterSpace && !isOfOwnBlock(*operand);
  });
}

} // namespace mlir::workgroup::emulator
