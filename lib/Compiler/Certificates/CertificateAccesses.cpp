//===- CertificateAccesses.cpp - Accesses of a kernel in LLVM IR ----------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Accesses are loads, stores, copies by `cp.async` and matrices that a warp
// loads or stores. A pointer is followed to the variables that it is made of.
//
//===----------------------------------------------------------------------===//

#include "KernelFacts.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"

namespace mlir::workgroup {

static constexpr unsigned kWorkgroupSpace = 3;
static constexpr uint64_t kMatrixRowBytes = 16;

static llvm::StringRef getIntrinsicName(const llvm::Instruction &instruction) {
  auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  const llvm::Function *callee = call ? call->getCalledFunction() : nullptr;
  return callee && callee->isIntrinsic() ? callee->getName() : "";
}

static uint64_t getArgument(const llvm::Instruction &call, unsigned number) {
  auto *constant = llvm::dyn_cast<llvm::ConstantInt>(call.getOperand(number));
  return constant ? constant->getZExtValue() : 0;
}

std::optional<OrderFact> getOrder(const llvm::Instruction &instruction) {
  llvm::StringRef name = getIntrinsicName(instruction);
  using Kind = OrderFact::Kind;
  if (name == "llvm.nvvm.barrier.cta.sync.aligned.all")
    return OrderFact{Kind::Barrier};
  bool isOfWholeWarp =
      name == "llvm.nvvm.bar.warp.sync" &&
      llvm::isa<llvm::ConstantInt>(instruction.getOperand(0)) &&
      uint32_t(getArgument(instruction, 0)) == ~uint32_t(0);
  if (isOfWholeWarp)
    return OrderFact{Kind::Warp};
  if (name == "llvm.nvvm.cp.async.commit.group")
    return OrderFact{Kind::Commit};
  if (name == "llvm.nvvm.cp.async.wait.group")
    return OrderFact{Kind::Wait, 0, unsigned(getArgument(instruction, 0))};
  return std::nullopt;
}

bool hasOwnOrder(const llvm::Instruction &instruction) {
  auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  if (call && call->isInlineAsm())
    return llvm::cast<llvm::InlineAsm>(call->getCalledOperand())
        ->hasSideEffects();
  llvm::StringRef name = getIntrinsicName(instruction);
  return !getOrder(instruction) && name.consume_front("llvm.nvvm.") &&
         llvm::any_of(
             llvm::ArrayRef<llvm::StringRef>{"mbarrier.", "cp.async.bulk.",
                                             "wgmma.", "fence.", "elect.sync",
                                             "setmaxnreg.", "barrier.cta."},
             [&](llvm::StringRef start) { return name.starts_with(start); });
}

/// The pointers that `pointer` is made of.
static llvm::SmallVector<const llvm::Value *>
getSources(const llvm::Value *pointer) {
  if (auto *address = llvm::dyn_cast<llvm::GEPOperator>(pointer))
    return {address->getPointerOperand()};
  if (auto *cast = llvm::dyn_cast<llvm::AddrSpaceCastOperator>(pointer))
    return {cast->getPointerOperand()};
  if (auto *choice = llvm::dyn_cast<llvm::SelectInst>(pointer))
    return {choice->getTrueValue(), choice->getFalseValue()};
  if (auto *phi = llvm::dyn_cast<llvm::PHINode>(pointer))
    return {phi->value_op_begin(), phi->value_op_end()};
  if (auto *frozen = llvm::dyn_cast<llvm::FreezeInst>(pointer))
    return {frozen->getOperand(0)};
  return {};
}

/// Adds the variables of workgroup memory that the pointer of `access` may
/// point into.
static void findVariables(AccessFact &access) {
  llvm::SmallSetVector<const llvm::Value *, 8> seen;
  seen.insert(access.pointer);
  for (unsigned next = 0; next < seen.size(); ++next) {
    auto *variable = llvm::dyn_cast<llvm::GlobalVariable>(seen[next]);
    if (variable && variable->getAddressSpace() == kWorkgroupSpace)
      access.variables.insert(variable);
    for (const llvm::Value *source : getSources(seen[next]))
      seen.insert(source);
  }
}

/// Reads what a call does to workgroup memory; false if it is no such call.
static bool readCall(const llvm::Instruction &call, AccessFact &access) {
  llvm::StringRef name = getIntrinsicName(call);
  if (name.consume_front("llvm.nvvm.cp.async.c") &&
      name.drop_front().consume_front(".shared.global.")) {
    access.kind = AccessFact::Kind::Copy;
    access.pointer = call.getOperand(0);
    name = name.drop_front().drop_front(StringRef(".shared.global.").size());
    return !name.consumeInteger(10, access.bytes);
  }
  bool isLoad = name.starts_with("llvm.nvvm.ldmatrix.sync.aligned.m8n8.");
  if (!isLoad && !name.starts_with("llvm.nvvm.stmatrix.sync.aligned.m8n8."))
    return false;
  access.kind = isLoad ? AccessFact::Kind::Read : AccessFact::Kind::Write;
  access.isOfWarp = true;
  access.bytes = kMatrixRowBytes;
  for (const llvm::Use &operand : call.operands())
    if (operand->getType()->isPointerTy() && !access.pointer)
      access.pointer = operand;
  return access.pointer != nullptr;
}

static bool readAccess(const llvm::Instruction &instruction,
                       const llvm::DataLayout &layout, AccessFact &access) {
  if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
    access.kind = AccessFact::Kind::Read;
    access.pointer = load->getPointerOperand();
    access.bytes = layout.getTypeStoreSize(load->getType());
  } else if (auto *store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
    access.kind = AccessFact::Kind::Write;
    access.pointer = store->getPointerOperand();
    access.bytes = layout.getTypeStoreSize(store->getValueOperand()->getType());
  } else if (!readCall(instruction, access)) {
    return false;
  }
  findVariables(access);
  return true;
}

/// True if `value` is made of parameters, constants and ids of blocks, of which
/// there are some in `hasId`.
static bool isOfLaunch(const llvm::Value *value, bool &hasId, unsigned depth) {
  if (llvm::isa<llvm::Argument, llvm::ConstantInt>(value))
    return true;
  auto *instruction = llvm::dyn_cast<llvm::Instruction>(value);
  if (!instruction || depth == 0)
    return false;
  llvm::StringRef name = getIntrinsicName(*instruction);
  if (name.starts_with("llvm.nvvm.read.ptx.sreg.ctaid."))
    return hasId = true;
  bool isChoice = llvm::isa<llvm::MinMaxIntrinsic>(instruction);
  if (!isChoice && !llvm::isa<llvm::BinaryOperator, llvm::ZExtInst,
                              llvm::SExtInst, llvm::TruncInst, llvm::FreezeInst,
                              llvm::SelectInst, llvm::ICmpInst>(instruction))
    return false;
  unsigned numOperands = isChoice ? 2 : instruction->getNumOperands();
  for (unsigned number = 0; number < numOperands; ++number)
    if (!isOfLaunch(instruction->getOperand(number), hasId, depth - 1))
      return false;
  return true;
}

std::vector<const llvm::Instruction *>
findBlockExtents(const llvm::Function &kernel) {
  constexpr unsigned kMaxDepth = 12;
  std::vector<const llvm::Instruction *> found;
  for (const llvm::Instruction &instruction : llvm::instructions(kernel)) {
    bool hasId = false;
    if (instruction.getOpcode() == llvm::Instruction::Sub &&
        llvm::isa<llvm::Argument>(instruction.getOperand(0)) &&
        isOfLaunch(&instruction, hasId, kMaxDepth) && hasId)
      found.push_back(&instruction);
  }
  return found;
}

KernelFacts collectFacts(const llvm::Function &kernel,
                         const LineNumbers &lines) {
  KernelFacts facts;
  for (const llvm::Instruction &instruction : llvm::instructions(kernel)) {
    unsigned line = lines.lookup(&instruction);
    if (std::optional<OrderFact> order = getOrder(instruction)) {
      order->line = line;
      facts.orders.push_back(*order);
      continue;
    }
    AccessFact access;
    access.at = &instruction;
    access.line = line;
    if (readAccess(instruction, kernel.getDataLayout(), access)) {
      if (!access.variables.empty())
        facts.accesses.push_back(std::move(access));
      continue;
    }
    bool isOther =
        instruction.mayReadOrWriteMemory() &&
        !llvm::isa<llvm::AssumeInst, llvm::LifetimeIntrinsic>(instruction);
    llvm::StringRef name = getIntrinsicName(instruction);
    if (isOther && !name.starts_with("llvm.nvvm.shfl.") &&
        !name.starts_with("llvm.masked."))
      facts.others.push_back(line);
  }
  return facts;
}

} // namespace mlir::workgroup
