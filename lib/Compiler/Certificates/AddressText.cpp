//===- AddressText.cpp - Addresses of LLVM IR as formulas -----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is no sum, product by a constant or operation on bits, or may overflow
// in less than 64 bits, stands for itself, by the name that the text of the
// module has for it.
//
//===----------------------------------------------------------------------===//

#include "AddressText.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Operator.h"
#include <algorithm>

namespace mlir::workgroup {

/// How many operations deep an address is expanded.
static constexpr unsigned kMaxDepth = 24;
/// The most terms of a sum that is taken apart.
static constexpr size_t kMaxTerms = 12;

/// Adds `factor` times `sums` to `to`.
static void addScaled(TermSums &to, const TermSums &sums, uint64_t factor) {
  for (const auto &[term, count] : sums)
    if ((to[term] += count * factor) == 0)
      to.erase(term);
}

/// True if `sums` is a term as it is.
static bool isOneTerm(const TermSums &sums) {
  return sums.size() == 1 && !sums.begin()->first.empty() &&
         sums.begin()->second == 1;
}

static std::optional<uint64_t> getConstant(const TermSums &sums) {
  if (sums.empty())
    return 0;
  if (sums.size() == 1 && sums.begin()->first.empty())
    return sums.begin()->second;
  return std::nullopt;
}

/// True if the result of `op` is what it would be in 64 bits.
static bool isExact(const llvm::Operator *op) {
  if (op->getType()->isIntegerTy(64))
    return true;
  if (auto *overflowing = llvm::dyn_cast<llvm::OverflowingBinaryOperator>(op))
    return overflowing->hasNoUnsignedWrap();
  return true; // bits do not overflow, nor do quotients
}

static llvm::StringRef getIdName(const llvm::Value *value) {
  auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(value);
  switch (call ? call->getIntrinsicID() : llvm::Intrinsic::not_intrinsic) {
  case llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x:
    return "tid.x";
  case llvm::Intrinsic::nvvm_read_ptx_sreg_tid_y:
    return "tid.y";
  case llvm::Intrinsic::nvvm_read_ptx_sreg_tid_z:
    return "tid.z";
  default:
    return "";
  }
}

/// The operator of an operation on bits, or a quotient; empty for others.
static llvm::StringRef getSign(unsigned opcode) {
  switch (opcode) {
  case llvm::Instruction::And:
    return "&";
  case llvm::Instruction::Or:
    return "|";
  case llvm::Instruction::Xor:
    return "^";
  case llvm::Instruction::LShr:
    return ">>";
  case llvm::Instruction::UDiv:
    return "//";
  case llvm::Instruction::URem:
    return "%";
  default:
    return "";
  }
}

std::string AddressWriter::name(const llvm::Value *value) {
  if (llvm::StringRef id = getIdName(value); !id.empty())
    return id.str();
  named.insert(value);
  std::string text;
  llvm::raw_string_ostream stream(text);
  value->printAsOperand(stream, /*PrintType=*/false);
  return text;
}

std::string AddressWriter::print(const TermSums &sums) {
  std::string text;
  // Variables come first, and the constant last.
  llvm::SmallVector<std::pair<llvm::StringRef, uint64_t>> terms;
  for (const auto &[term, count] : sums)
    if (!term.empty())
      terms.emplace_back(term, count);
  std::stable_partition(terms.begin(), terms.end(), [](const auto &term) {
    return term.first.starts_with("@");
  });
  for (auto [term, count] : terms) {
    auto number = int64_t(count);
    text += text.empty() ? "" : number < 0 ? " - " : " + ";
    if (text.empty() && number < 0)
      text += "-";
    uint64_t size = number < 0 ? -count : count;
    if (size != 1)
      text += std::to_string(size) + " * ";
    text += term.str();
  }
  auto constant = sums.find("");
  if (constant == sums.end())
    return text.empty() ? "0" : text;
  auto number = int64_t(constant->second);
  if (text.empty())
    return std::to_string(number);
  uint64_t size = number < 0 ? -constant->second : constant->second;
  return text + (number < 0 ? " - " : " + ") + std::to_string(size);
}

/// The text of `sums`, in parentheses unless it is one name or number.
std::string AddressWriter::enclose(const TermSums &sums) {
  std::string text = print(sums);
  return llvm::StringRef(text).contains(' ') && !isOneTerm(sums)
             ? "(" + text + ")"
             : text;
}

TermSums AddressWriter::expandPointer(const llvm::Value *value,
                                      unsigned depth) {
  if (auto *address = llvm::dyn_cast<llvm::GEPOperator>(value)) {
    unsigned width = layout.getIndexTypeSizeInBits(address->getType());
    llvm::SmallMapVector<llvm::Value *, llvm::APInt, 4> variable;
    llvm::APInt constant(width, 0);
    if (address->collectOffset(layout, width, variable, constant)) {
      TermSums sums = expand(address->getPointerOperand(), depth + 1);
      for (const auto &[index, factor] : variable)
        addScaled(sums,
                  index->getType()->isIntegerTy(64)
                      ? expand(index, depth + 1)
                      : TermSums{{name(index), 1}},
                  factor.getSExtValue());
      addScaled(sums, {{"", 1}}, constant.getSExtValue());
      return sums;
    }
  }
  if (auto *cast = llvm::dyn_cast<llvm::AddrSpaceCastOperator>(value))
    return expand(cast->getPointerOperand(), depth + 1);
  return {{name(value), 1}};
}

/// Expands an operation of integers; false if it stands for itself.
bool AddressWriter::expandOperation(const llvm::Value *value, unsigned depth,
                                    TermSums &sums) {
  auto *op = llvm::dyn_cast<llvm::Operator>(value);
  if (!op || !isExact(op))
    return false;
  unsigned opcode = op->getOpcode();
  if (opcode == llvm::Instruction::ZExt) {
    sums = expand(op->getOperand(0), depth + 1);
    return true;
  }
  if (op->getNumOperands() != 2)
    return false;
  auto *disjoint = llvm::dyn_cast<llvm::PossiblyDisjointInst>(value);
  bool isSum = opcode == llvm::Instruction::Add ||
               opcode == llvm::Instruction::Sub ||
               (disjoint && disjoint->isDisjoint());
  bool isProduct =
      opcode == llvm::Instruction::Mul || opcode == llvm::Instruction::Shl;
  if (!isSum && !isProduct && getSign(opcode).empty())
    return false;
  TermSums first = expand(op->getOperand(0), depth + 1);
  TermSums second = expand(op->getOperand(1), depth + 1);
  std::optional<uint64_t> factor = getConstant(second);
  if (isSum) {
    sums = std::move(first);
    addScaled(sums, second, opcode == llvm::Instruction::Sub ? -1 : 1);
  } else if (isProduct) {
    if (!factor || (opcode == llvm::Instruction::Shl && *factor > 63))
      return false;
    addScaled(sums, first,
              opcode == llvm::Instruction::Shl ? uint64_t(1) << *factor
                                               : *factor);
  } else {
    std::string term = "(" + enclose(first) + " " + getSign(opcode).str() +
                       " " + enclose(second) + ")";
    sums = {{std::move(term), 1}};
  }
  return sums.size() <= kMaxTerms;
}

TermSums AddressWriter::expand(const llvm::Value *value, unsigned depth) {
  if (auto *constant = llvm::dyn_cast<llvm::ConstantInt>(value))
    if (constant->getBitWidth() <= 64)
      return constant->isZero() ? TermSums{}
                                : TermSums{{"", constant->getZExtValue()}};
  if (depth < kMaxDepth) {
    if (value->getType()->isPointerTy())
      return expandPointer(value, depth);
    TermSums sums;
    if (value->getType()->isIntegerTy() && expandOperation(value, depth, sums))
      return sums;
  }
  return {{name(value), 1}};
}

} // namespace mlir::workgroup
