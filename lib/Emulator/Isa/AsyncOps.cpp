//===- AsyncOps.cpp - Mbarriers and bulk copies ---------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AsyncOps.h"
#include "llvm/ADT/StringSwitch.h"

using llvm::StringRef;

namespace mlir::workgroup::emulator {

using Kind = AsyncOp::Kind;

/// What follows `llvm.nvvm.mbarrier.arrive`.
static AsyncOp decodeArrival(StringRef name) {
  AsyncOp op{Kind::Arrive};
  op.drops = name.consume_front(".drop");
  op.mayNotComplete = name.starts_with(".noComplete");
  op.expectsBytes = name.consume_front(".expect.tx");
  op.isRelaxed = name.starts_with(".relaxed");
  return op;
}

/// What follows `llvm.nvvm.mbarrier.test.wait` or `try.wait`.
static AsyncOp decodeTest(StringRef name) {
  AsyncOp op{Kind::Test};
  op.isParity = name.starts_with(".parity");
  op.isRelaxed = name.contains(".relaxed");
  return op;
}

static std::optional<AsyncOp> decodeMBarrier(StringRef name) {
  if (name.consume_front("arrive"))
    return decodeArrival(name);
  if (name.consume_front("test.wait") || name.consume_front("try.wait"))
    return decodeTest(name);
  if (name == "init" || name == "init.shared")
    return AsyncOp{Kind::Init};
  if (name == "inval" || name == "inval.shared")
    return AsyncOp{Kind::Invalidate};
  if (name.starts_with("expect.tx."))
    return AsyncOp{Kind::ExpectBytes};
  if (name.starts_with("complete.tx."))
    return AsyncOp{Kind::CompleteBytes};
  return std::nullopt;
}

/// `tile.3d`, behind what tells the direction.
static std::optional<AsyncOp> decodeTile(Kind kind, StringRef name) {
  AsyncOp op{kind};
  if (!name.consume_front("tile.") || !name.consume_back("d") ||
      name.getAsInteger(10, op.rank))
    return std::nullopt;
  return op;
}

/// `add.tile.2d`.
static std::optional<AsyncOp> decodeTileReduction(StringRef name) {
  auto [word, tile] = name.split('.');
  auto reduction = llvm::StringSwitch<std::optional<BulkReduction>>(word)
                       .Case("add", BulkReduction::Add)
                       .Case("min", BulkReduction::Min)
                       .Case("max", BulkReduction::Max)
                       .Case("inc", BulkReduction::Inc)
                       .Case("dec", BulkReduction::Dec)
                       .Case("and", BulkReduction::And)
                       .Case("or", BulkReduction::Or)
                       .Case("xor", BulkReduction::Xor)
                       .Default(std::nullopt);
  std::optional<AsyncOp> op = decodeTile(Kind::StoreTensor, tile);
  if (op)
    op->reduction = reduction;
  return reduction ? op : std::nullopt;
}

static std::optional<AsyncOp> decodeBulk(StringRef name) {
  if (name.consume_front("tensor.g2s.")) {
    name.consume_front("cta.");
    return decodeTile(Kind::LoadTensor, name);
  }
  if (name.consume_front("tensor.s2g."))
    return decodeTile(Kind::StoreTensor, name);
  if (name.consume_front("tensor.reduce."))
    return decodeTileReduction(name);
  auto kind = llvm::StringSwitch<std::optional<Kind>>(name)
                  .Cases({"global.to.shared.cluster", "global.to.shared.cta"},
                         Kind::LoadBytes)
                  .Case("shared.cta.to.global", Kind::StoreBytes)
                  .Case("commit.group", Kind::CommitStores)
                  .Case("wait.group", Kind::WaitForStores)
                  .Case("wait.group.read", Kind::WaitForStoreReads)
                  .Default(std::nullopt);
  if (!kind)
    return std::nullopt;
  return AsyncOp{*kind};
}

std::optional<AsyncOp> AsyncOp::decode(StringRef name) {
  if (!name.consume_front("llvm.nvvm."))
    return std::nullopt;
  if (name.consume_front("mbarrier."))
    return decodeMBarrier(name);
  if (name.consume_front("cp.async.bulk."))
    return decodeBulk(name);
  if (name.consume_front("cp.async.mbarrier.arrive")) {
    AsyncOp op{Kind::CopiesArrive};
    op.isCounted = name.starts_with(".noinc");
    return op;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Assembly
//===----------------------------------------------------------------------===//

/// `2d.shared::cluster.global.mbarrier::complete_tx::bytes`, or the way back.
static std::optional<AsyncOp> decodeTensorCopy(StringRef opcode) {
  AsyncOp op{Kind::LoadTensor};
  auto [rank, form] = opcode.split('.');
  if (!rank.consume_back("d") || rank.getAsInteger(10, op.rank))
    return std::nullopt;
  form.consume_back(".L2::cache_hint");
  if (form == "global.shared::cta.bulk_group")
    op.kind = Kind::StoreTensor;
  else if (form != "shared::cluster.global.mbarrier::complete_tx::bytes")
    return std::nullopt;
  return op;
}

/// The loop that waits for a phase.
static bool isWaitLoop(StringRef text) {
  return text.starts_with("{") && text.contains("LAB_WAIT:") &&
         text.contains("bra.uni     LAB_WAIT;") &&
         (text.contains("mbarrier.try_wait.parity.shared.b64 P1, [$0], $1, "
                        "$2;") ||
          text.contains("mbarrier.try_wait.parity.b64 P1, [$0], $1, $2;"));
}

/// Takes `@$4 ` from the front of `text`.
static std::optional<unsigned> consumePredicate(StringRef &text) {
  unsigned operand = 0;
  if (!text.consume_front("@$") || text.consumeInteger(10, operand) ||
      !text.consume_front(" "))
    return std::nullopt;
  return operand;
}

std::optional<AsyncAssembly> AsyncAssembly::decode(StringRef text) {
  AsyncAssembly assembly{{Kind::Wait}, std::nullopt};
  if (isWaitLoop(text)) {
    assembly.op.isParity = true;
    return assembly;
  }
  assembly.predicate = consumePredicate(text);
  auto [opcode, operands] = text.split(' ');
  opcode.consume_back(".b64") && opcode.consume_back(".shared");
  if (opcode == "mbarrier.init" && operands == "[$0], $1;") {
    assembly.op.kind = Kind::Init;
  } else if (opcode == "mbarrier.arrive.expect_tx" &&
             operands == "_, [$0], $1;") {
    assembly.op.kind = Kind::Arrive;
    assembly.op.expectsBytes = true;
  } else if (opcode.consume_front("cp.async.bulk.tensor.")) {
    std::optional<AsyncOp> copy = decodeTensorCopy(opcode);
    if (!copy)
      return std::nullopt;
    assembly.op = *copy;
  } else {
    return std::nullopt;
  }
  return assembly;
}

std::optional<ProxyFence> ProxyFence::decode(StringRef name) {
  if (name.starts_with("llvm.nvvm.fence.mbarrier_init."))
    return ProxyFence{false, false, /*ofMBarriers=*/true};
  if (!name.consume_front("llvm.nvvm.fence.proxy.async"))
    return std::nullopt;
  bool isOfGlobal = name == ".global", isOfShared = name.starts_with(".shared");
  return ProxyFence{!isOfGlobal, !isOfShared, !isOfGlobal};
}

bool isAsyncHint(StringRef name) {
  if (name.consume_front("llvm.nvvm."))
    return name.starts_with("prefetch.") ||
           name.starts_with("cp.async.bulk.prefetch.") ||
           name.starts_with("cp.async.bulk.tensor.prefetch.") ||
           name.starts_with("fence.proxy.tensormap");
  consumePredicate(name);
  return name == "prefetch.tensormap [$0];";
}

} // namespace mlir::workgroup::emulator
