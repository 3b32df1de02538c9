//===- InstrumentSpaces.cpp - Memories that a kernel may access -----------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Addresses of the host are generic ones: what a kernel calls constant, private
// or cluster memory has to be that, and what the emulator has none of is
// refused.
//
//===----------------------------------------------------------------------===//

#include "Emulator/State/ThreadState.h"
#include "Instrument.h"
#include "MemorySpaces.h"
#include "llvm/IR/Operator.h"
#include <cstddef>

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

/// Why the emulator cannot do an access of `operand`; empty if it can.
std::string Instrumenter::checkSpace(const Instruction &instruction,
                                     const Use &operand) const {
  using Kind = Provenance::Kind;
  std::string fault = findSpaceFault(instruction, operand);
  if (!fault.empty())
    return fault;
  auto it = provenances.find({&instruction, operand.getOperandNo()});
  Provenance source = it == provenances.end() ? Provenance() : it->second;
  bool isKnown = true;
  switch (unsigned space = getSpace(*operand)) {
  case NVPTXAS::ADDRESS_SPACE_CONST:
    isKnown = source.kind == Kind::Variable && getSpace(*source.base) == space;
    return isKnown ? ""
                   : "reads constant memory at an address that is of no "
                     "variable in constant memory; use global memory";
  case NVPTXAS::ADDRESS_SPACE_LOCAL:
    isKnown = source.kind == Kind::Private ||
              (source.kind == Kind::Unknown && !source.buffers.empty() &&
               !isa<CallInst>(instruction));
    return isKnown ? ""
                   : "accesses private memory at an address that is of no "
                     "memory of the thread's own";
  case NVPTXAS::ADDRESS_SPACE_SHARED_CLUSTER:
    return isOfOwnBlock(*operand)
               ? ""
               : "accesses memory of other blocks of a cluster, which is not "
                 "emulated";
  default:
    return "";
  }
}

/// Refuses accesses to memories that they cannot be to.
bool Instrumenter::checkSpaces() {
  return checkAccesses(
      *function,
      [&](const Instruction &instruction, const Use &operand) {
        return checkSpace(instruction, operand);
      },
      errors);
}

/// `isspacep`: from where an address is made it is known what it points to, or
/// else whether that is in the window of workgroup memory.
bool Instrumenter::instrumentSpaceQuery(IntrinsicInst &call, StringRef name) {
  using Kind = Provenance::Kind;
  if (!name.consume_front("llvm.nvvm.isspacep."))
    return false;
  IRBuilder<> builder(&call);
  const Provenance &source = provenances[{&call, 0}];
  bool isConstant = source.kind == Kind::Variable &&
                    getSpace(*source.base) == NVPTXAS::ADDRESS_SPACE_CONST;
  StringRef known = source.kind == Kind::Shared    ? "shared"
                    : source.kind == Kind::Private ? "local"
                    : isConstant                   ? "const"
                    : source.kind == Kind::Unknown ? ""
                                                   : "global";
  name.consume_back(".cluster") || name.consume_back("_cluster");
  if (!known.empty()) {
    replace(call, builder.getInt1(name == known));
    return true;
  }
  bool mayBeConstant = any_of(module.globals(), [](GlobalVariable &variable) {
    return variable.getAddressSpace() == NVPTXAS::ADDRESS_SPACE_CONST;
  });
  if (name != "shared" && (!source.buffers.empty() || mayBeConstant))
    return refuse(call, "intrinsic 'llvm.nvvm.isspacep." + name +
                            "' of an address that may be in one of several "
                            "memories is not emulated");
  Value *window = getField(builder, i64, thread, offsetof(ThreadState, shared));
  Value *isShared = builder.CreateICmpULT(
      builder.CreateSub(getOffset(builder, call.getArgOperand(0)), window),
      builder.getInt64(kSharedWindow));
  replace(call, name == "shared"   ? isShared
                : name == "global" ? builder.CreateNot(isShared)
                                   : builder.getFalse());
  return true;
}

} // namespace mlir::workgroup::emulator
