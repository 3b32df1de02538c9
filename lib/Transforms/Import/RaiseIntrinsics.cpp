//===- RaiseIntrinsics.cpp - Intrinsics of LLVM to NVVM -------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RaiseIntrinsics.h"
#include "RaiseAtomics.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringSwitch.h"

namespace mlir::workgroup {

namespace {

/// The call of an intrinsic of NVVM, by its name behind `llvm.nvvm.`.
struct IntrinsicCall {
  LLVM::CallIntrinsicOp op;
  StringRef name;
  RewriterBase &rewriter;

  Value get(unsigned number) { return op.getArgs()[number]; }
  size_t count() { return op.getArgs().size(); }

  bool raiseBarrier();
  bool raiseReduction();
  bool raiseFence();
  bool raiseShuffle();
  bool raiseVote();
  bool raiseCopy();
  bool raiseMatrixLoad();
};

} // namespace

bool IntrinsicCall::raiseBarrier() {
  if (name == "bar.warp.sync" && count() == 1) {
    rewriter.replaceOpWithNewOp<NVVM::SyncWarpOp>(op, get(0));
    return true;
  }
  if (name == "barrier.cta.arrive.aligned.count" && count() == 2) {
    rewriter.replaceOpWithNewOp<NVVM::BarrierArriveOp>(op, get(0), get(1));
    return true;
  }
  bool isOfAll = name == "barrier.cta.sync.aligned.all" && count() == 1;
  bool isOfSome = name == "barrier.cta.sync.aligned.count" && count() == 2;
  if (!isOfAll && !isOfSome)
    return false;
  // Without a number it is the one that others of this project are.
  Value number = matchPattern(get(0), m_Zero()) && isOfAll ? Value() : get(0);
  rewriter.replaceOpWithNewOp<NVVM::BarrierOp>(
      op, TypeRange(), number, isOfSome ? get(1) : Value(),
      NVVM::BarrierReductionAttr(), Value());
  return true;
}

/// A barrier with a reduction: NVVM has its predicate and its result as numbers
/// of 32 bits, and none of another number than zero.
bool IntrinsicCall::raiseReduction() {
  if (!name.consume_front("barrier.cta.red.") ||
      !name.consume_back(".aligned.all") || count() != 2)
    return false;
  auto kind = NVVM::symbolizeBarrierReduction(name);
  if (!kind || !matchPattern(get(0), m_Zero()))
    return false;
  Location loc = op.getLoc();
  Type i32 = rewriter.getI32Type(), wanted = op->getResultTypes().front();
  Value predicate = arith::ExtUIOp::create(rewriter, loc, i32, get(1));
  Value result =
      NVVM::BarrierOp::create(
          rewriter, loc, TypeRange(i32), Value(), Value(),
          NVVM::BarrierReductionAttr::get(op.getContext(), *kind), predicate)
          .getRes();
  if (wanted != i32) // a truth
    result = arith::TruncIOp::create(rewriter, loc, wanted, result);
  rewriter.replaceOp(op, result);
  return true;
}

bool IntrinsicCall::raiseFence() {
  using Scope = std::optional<NVVM::MemScopeKind>;
  Scope scope = llvm::StringSwitch<Scope>(name)
                    .Case("membar.cta", NVVM::MemScopeKind::CTA)
                    .Case("membar.gl", NVVM::MemScopeKind::GPU)
                    .Case("membar.sys", NVVM::MemScopeKind::SYS)
                    .Default(std::nullopt);
  if (!scope)
    return false;
  rewriter.replaceOpWithNewOp<NVVM::MembarOp>(op, *scope);
  return true;
}

bool IntrinsicCall::raiseShuffle() {
  if (!name.consume_front("shfl.sync.") || count() != 4)
    return false;
  auto [way, type] = name.split('.');
  std::optional<NVVM::ShflKind> kind = NVVM::symbolizeShflKind(way);
  bool tellsValid = type.consume_back("p");
  if (!kind || (type != "i32" && type != "f32"))
    return false;
  rewriter.replaceOpWithNewOp<NVVM::ShflOp>(
      op, op->getResultTypes().front(), get(0), get(1), get(2), get(3), *kind,
      tellsValid ? rewriter.getUnitAttr() : UnitAttr());
  return true;
}

bool IntrinsicCall::raiseVote() {
  if (!name.consume_front("vote.") || !name.consume_back(".sync") ||
      count() != 2)
    return false;
  std::optional<NVVM::VoteSyncKind> kind = NVVM::symbolizeVoteSyncKind(name);
  if (!kind)
    return false;
  rewriter.replaceOpWithNewOp<NVVM::VoteSyncOp>(
      op, op->getResultTypes().front(), get(0), get(1), *kind);
  return true;
}

/// Copies of `cp.async`, their groups, and waits for them.
bool IntrinsicCall::raiseCopy() {
  if (!name.consume_front("cp.async."))
    return false;
  if (name == "commit.group") {
    rewriter.replaceOpWithNewOp<NVVM::CpAsyncCommitGroupOp>(op);
    return true;
  }
  APInt pending;
  if (name == "wait.group" && count() == 1 &&
      matchPattern(get(0), m_ConstantInt(&pending))) {
    rewriter.replaceOpWithNewOp<NVVM::CpAsyncWaitGroupOp>(
        op, int32_t(pending.getZExtValue()));
    return true;
  }
  StringRef way = name.take_front(2);
  bool isPartial = name.consume_back(".s");
  unsigned bytes = 0;
  bool isCopy = name.drop_front(2).consume_front(".shared.global.") &&
                !name.rsplit('.').second.getAsInteger(10, bytes);
  if (!isCopy || (way != "ca" && way != "cg") ||
      count() != (isPartial ? 3u : 2u))
    return false;
  rewriter.replaceOpWithNewOp<NVVM::CpAsyncOp>(
      op, get(0), get(1), bytes,
      way == "ca" ? NVVM::LoadCacheModifierKind::CA
                  : NVVM::LoadCacheModifierKind::CG,
      isPartial ? get(2) : Value());
  return true;
}

/// Loads of matrices of 8 by 8 elements of 16 bits from workgroup memory.
bool IntrinsicCall::raiseMatrixLoad() {
  constexpr unsigned kRows = 8;
  unsigned count = 0;
  name.consume_back(".p3");
  if (!name.consume_front("ldmatrix.sync.aligned.m8n8.x") ||
      name.consumeInteger(10, count))
    return false;
  bool isTransposed = name.consume_front(".trans");
  if (name != ".b16")
    return false;
  rewriter.replaceOpWithNewOp<NVVM::LdMatrixOp>(
      op, op->getResultTypes().front(), get(0), count,
      isTransposed ? NVVM::MMALayout::col : NVVM::MMALayout::row,
      NVVM::LdStMatrixShapeAttr::get(op.getContext(), kRows, kRows),
      NVVM::LdStMatrixEltType::B16);
  return true;
}

void raiseIntrinsics(Region &region, RewriterBase &rewriter) {
  SmallVector<LLVM::CallIntrinsicOp> calls;
  region.walk([&](LLVM::CallIntrinsicOp op) { calls.push_back(op); });
  for (LLVM::CallIntrinsicOp op : calls) {
    StringRef name = op.getIntrin();
    if (!name.consume_front("llvm.nvvm."))
      continue;
    rewriter.setInsertionPoint(op);
    if (raiseAtomic(op, name, rewriter))
      continue;
    using Raise = bool (IntrinsicCall::*)();
    for (Raise raise :
         {&IntrinsicCall::raiseBarrier, &IntrinsicCall::raiseReduction,
          &IntrinsicCall::raiseFence, &IntrinsicCall::raiseShuffle,
          &IntrinsicCall::raiseVote, &IntrinsicCall::raiseCopy,
          &IntrinsicCall::raiseMatrixLoad}) {
      IntrinsicCall call{op, name, rewriter};
      if ((call.*raise)())
        break;
    }
  }
}

} // namespace mlir::workgroup
