//===- RaiseAtomics.cpp - Scoped atomics of NVVM to LLVM's ----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RaiseAtomics.h"
#include "llvm/ADT/StringSwitch.h"

namespace mlir::workgroup {

using LLVM::AtomicBinOp;

/// What `atom` of PTX does by the name of the intrinsic. Integers are signed
/// in minima and maxima: that is what PTX is made of these intrinsics.
static std::optional<AtomicBinOp> findOperation(StringRef name, bool isFloat) {
  using Operation = std::optional<AtomicBinOp>;
  if (isFloat)
    return name == "add" ? Operation(AtomicBinOp::fadd) : std::nullopt;
  return llvm::StringSwitch<Operation>(name)
      .Case("add", AtomicBinOp::add)
      .Case("exch", AtomicBinOp::xchg)
      .Case("min", AtomicBinOp::min)
      .Case("max", AtomicBinOp::max)
      .Case("and", AtomicBinOp::_and)
      .Case("or", AtomicBinOp::_or)
      .Case("xor", AtomicBinOp::_xor)
      .Case("inc", AtomicBinOp::uinc_wrap)
      .Case("dec", AtomicBinOp::udec_wrap)
      .Default(std::nullopt);
}

bool raiseAtomic(LLVM::CallIntrinsicOp op, StringRef name,
                 RewriterBase &rewriter) {
  // As `atomic.add.gen.i.cta.i32.p0`: what, i or f, scope, types.
  SmallVector<StringRef> parts;
  name.split(parts, '.');
  if (parts.size() < 5 || parts[0] != "atomic" || parts[2] != "gen" ||
      (parts[4] != "cta" && parts[4] != "sys"))
    return false;
  StringRef scope = parts[4] == "cta" ? "block" : "";
  ValueRange arguments = op.getArgs();
  constexpr auto kRelaxed = LLVM::AtomicOrdering::monotonic;
  if (parts[1] == "cas" && arguments.size() == 3) {
    auto swap = LLVM::AtomicCmpXchgOp::create(
        rewriter, op.getLoc(), arguments[0], arguments[1], arguments[2],
        kRelaxed, kRelaxed, scope);
    rewriter.replaceOpWithNewOp<LLVM::ExtractValueOp>(op, swap, 0);
    return true;
  }
  std::optional<AtomicBinOp> operation =
      findOperation(parts[1], parts[3] == "f");
  if (!operation || arguments.size() != 2)
    return false;
  rewriter.replaceOpWithNewOp<LLVM::AtomicRMWOp>(op, *operation, arguments[0],
                                                 arguments[1], kRelaxed, scope);
  return true;
}

} // namespace mlir::workgroup
