//===- ProductCalls.cpp - Assembly that multiplies ------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operands count through the results first, then through the arguments.
//
//===----------------------------------------------------------------------===//

#include "ProductCalls.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InlineAsm.h"

using namespace llvm;

namespace mlir::workgroup::emulator {

namespace {
/// The arguments of inline assembly, by the numbers that its text has for them.
class AssemblyArguments {
public:
  explicit AssemblyArguments(const CallInst &call)
      : call(call),
        constraints(
            cast<InlineAsm>(call.getCalledOperand())->ParseConstraints()) {
    for (const InlineAsm::ConstraintInfo &info : constraints)
      numResults += info.Type == InlineAsm::isOutput && !info.isIndirect;
  }

  unsigned getNumResults() const { return numResults; }

  /// The value of an argument, or a constant; null if there is none.
  Value *get(const AssemblyValue &value) const {
    if (!value.operand)
      return ConstantInt::getSigned(Type::getInt32Ty(call.getContext()),
                                    value.constant);
    unsigned number = *value.operand;
    if (number < numResults || number - numResults >= call.arg_size())
      return nullptr;
    return call.getArgOperand(number - numResults);
  }
  /// What the register of a result held before.
  Value *getTied(unsigned result) const {
    if (!constraints[result].hasMatchingInput())
      return nullptr;
    AssemblyValue value;
    value.operand = constraints[result].MatchingInput;
    return get(value);
  }
  std::optional<int64_t>
  getConstant(const std::optional<AssemblyValue> &value) const {
    if (!value)
      return 0;
    auto *constant = dyn_cast_or_null<ConstantInt>(get(*value));
    return constant ? std::optional(constant->getSExtValue()) : std::nullopt;
  }

private:
  const CallInst &call;
  InlineAsm::ConstraintInfoVector constraints;
  unsigned numResults = 0;
};
} // namespace

/// True if all values are there, each a register wide.
static bool areRegisters(ArrayRef<Value *> values, unsigned bits) {
  return all_of(values, [&](Value *value) {
    return value && value->getType()->getPrimitiveSizeInBits() == bits;
  });
}

static bool readConstants(const AssemblyArguments &arguments,
                          const WgmmaAssembly &assembly, WgmmaOp &op) {
  auto signA = arguments.getConstant(assembly.signA),
       signB = arguments.getConstant(assembly.signB),
       transposeA = arguments.getConstant(assembly.transposeA),
       transposeB = arguments.getConstant(assembly.transposeB);
  if (!signA || !signB || !transposeA || !transposeB)
    return false;
  op.negatesA = *signA == -1;
  op.negatesB = *signB == -1;
  op.isTransposedA = *transposeA != 0;
  op.isTransposedB = *transposeB != 0;
  return true;
}

std::optional<ProductCall> ProductCall::get(const CallInst &call) {
  constexpr unsigned kRegister = 32, kDescriptor = 64;
  auto *assembly = dyn_cast<InlineAsm>(call.getCalledOperand());
  auto text =
      assembly ? WgmmaAssembly::decode(assembly->getAsmString()) : std::nullopt;
  if (!text)
    return std::nullopt;
  AssemblyArguments arguments(call);
  ProductCall found{text->op, {}, {}};
  if (arguments.getNumResults() != text->d.size() ||
      !readConstants(arguments, *text, found.op))
    return std::nullopt;
  for (auto [number, value] : enumerate(text->d)) {
    if (value.operand != number)
      return std::nullopt;
    found.accumulators.push_back(arguments.getTied(number));
  }
  for (const AssemblyValue &value : text->a)
    found.fragment.push_back(arguments.get(value));
  found.b = arguments.get(text->b);
  found.scale = arguments.get(text->scale);
  if (!found.op.hasFragmentA)
    found.a = found.fragment.pop_back_val();
  bool isKnown =
      areRegisters(found.accumulators, kRegister) &&
      areRegisters(found.fragment, kRegister) &&
      areRegisters(found.b, kDescriptor) &&
      (found.op.hasFragmentA || areRegisters(found.a, kDescriptor)) &&
      found.scale && found.scale->getType()->isIntegerTy();
  return isKnown ? std::optional(found) : std::nullopt;
}

} // namespace mlir::workgroup::emulator
