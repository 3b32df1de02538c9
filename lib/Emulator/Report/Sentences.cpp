//===- Sentences.cpp - Words for findings ---------------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sentences.h"
#include "Report.h"
#include "llvm/Support/ErrorHandling.h"

namespace mlir::workgroup::emulator {

llvm::StringRef getKindName(FindingKind kind) {
  switch (kind) {
  case FindingKind::SharedRace:
    return "race.shared";
  case FindingKind::GlobalRace:
    return "race.global";
  case FindingKind::BlockRace:
    return "race.blocks";
  case FindingKind::SameValue:
    return "race.same-value";
  case FindingKind::NotWaited:
    return "async.not-waited";
  case FindingKind::NotPublished:
    return "async.not-published";
  case FindingKind::NotWaitedAtEnd:
    return "async.not-waited";
  case FindingKind::ProxyFence:
    return "async.proxy";
  case FindingKind::OutOfBounds:
    return "out-of-bounds";
  case FindingKind::ReadOnly:
    return "read-only";
  case FindingKind::Misaligned:
    return "misaligned";
  case FindingKind::Uninitialized:
    return "uninitialized";
  case FindingKind::Divergence:
    return "divergence";
  case FindingKind::ExitedThread:
    return "exited-thread";
  case FindingKind::InvalidBarrier:
    return "invalid-barrier";
  case FindingKind::MisalignedRow:
  case FindingKind::MisalignedMatrix:
  case FindingKind::MisalignedTile:
    return "misaligned";
  case FindingKind::Deadlock:
    return "deadlock";
  case FindingKind::Division:
  case FindingKind::DivisionOverflow:
    return "division";
  case FindingKind::StepLimit:
    return "step-limit";
  case FindingKind::TooManyCopies:
    return "async.too-many";
  case FindingKind::MBarrier:
    return "mbarrier";
  case FindingKind::TensorMap:
  case FindingKind::BulkSize:
    return "bulk-copy";
  case FindingKind::InactiveLane:
    return "inactive-lane";
  case FindingKind::ExitedLane:
    return "exited-lane";
  case FindingKind::Assertion:
    return "assertion";
  case FindingKind::Trap:
    return "trap";
  }
  llvm_unreachable("unknown kind of finding");
}

static std::string getNoun(const Site &site) {
  if (site.isAsync)
    return site.kind == AccessKind::Read ? "an asynchronous copy's read"
                                         : "an asynchronous copy";
  return site.kind == AccessKind::Read          ? "a read"
         : site.kind == AccessKind::Write       ? "a write"
         : site.kind == AccessKind::AtomicRead  ? "an atomic read"
         : site.kind == AccessKind::AtomicWrite ? "an atomic write"
                                                : "an atomic update";
}

static std::string getPair(const Site &a, const Site &b) {
  std::string first = getNoun(a), second = getNoun(b);
  if (first == second && !a.isAsync)
    return a.kind == AccessKind::Write         ? "two writes"
           : a.kind == AccessKind::AtomicWrite ? "two atomic writes"
                                               : "two atomic updates";
  return first + " and " + second;
}

std::string getVerb(const Site &site) {
  if (site.isAsync)
    return site.kind == AccessKind::Read ? "copies from" : "copies into";
  switch (site.kind) {
  case AccessKind::Read:
    return "reads";
  case AccessKind::Write:
    return "writes";
  case AccessKind::Update:
    return "updates";
  case AccessKind::AtomicRead:
    return "reads atomically";
  case AccessKind::AtomicWrite:
    return "writes atomically";
  case AccessKind::None:
    return "waits";
  }
  llvm_unreachable("unknown kind of access");
}

std::string getMessage(const FindingKey &key, const KernelTables &tables) {
  const Site &site = tables.sites[key.site];
  const Site &other = tables.sites[key.otherSite];
  // The earlier access first, though which comes first is chance.
  std::string pair = getPair(other, site);
  switch (key.kind) {
  case FindingKind::SharedRace:
    return "data race on workgroup memory: nothing orders " + pair;
  case FindingKind::GlobalRace:
    return "data race on global memory: nothing orders " + pair +
           " of one block";
  case FindingKind::BlockRace:
    return "data race on global memory: " + pair + " of different blocks, " +
           (tables.ordersBlocks ? "which no fences and atomic operations order"
                                : "which nothing can order");
  case FindingKind::SameValue:
    return "threads write the same value to the same bytes, and nothing orders "
           "them";
  case FindingKind::NotWaited:
    return "bytes of an asynchronous copy are used before the copy is waited "
           "for";
  case FindingKind::NotPublished:
    return "an asynchronous copy is waited for, but no barrier lets other "
           "threads see it";
  case FindingKind::NotWaitedAtEnd:
    return "a block ends while an asynchronous copy, for which no thread has "
           "waited, uses its workgroup memory";
  case FindingKind::ProxyFence:
    return "nothing makes " + getNoun(other) +
           " known to the asynchronous proxy before " + getNoun(site);
  case FindingKind::OutOfBounds:
    return "access out of bounds";
  case FindingKind::ReadOnly:
    return "write to a read-only argument";
  case FindingKind::Misaligned:
    return "address is not a multiple of " + std::to_string(site.alignment) +
           " bytes, which the access promises";
  case FindingKind::Uninitialized:
    return "read of workgroup memory that no thread of the block has written";
  case FindingKind::Divergence:
    return key.otherSite ? "threads of a warp wait at different barriers"
                         : "matrix operation without all lanes of the warp";
  case FindingKind::ExitedThread:
    return "barrier that threads of the block skip by leaving the kernel";
  case FindingKind::InvalidBarrier:
    return "barrier of more threads than it counts, of a count that is not a "
           "multiple of 32, or of a number from 16 on";
  case FindingKind::MisalignedRow:
    return "address of a row of a matrix is not a multiple of 16 bytes";
  case FindingKind::MisalignedMatrix:
    return "a matrix for wmma begins at an address, or has rows at a distance, "
           "that is not a multiple of what the operation wants (the bytes of a "
           "lane, or 32 and 16 if those are fewer)";
  case FindingKind::Deadlock:
    return "threads wait for each other forever";
  case FindingKind::Division:
    return "integer division by zero";
  case FindingKind::DivisionOverflow:
    return "integer division overflows: the least number by -1";
  case FindingKind::StepLimit:
    return "a thread exceeds the limit of loop iterations";
  case FindingKind::TooManyCopies:
    return "a thread begins asynchronous copies and never waits for them: "
           "too many are under way";
  case FindingKind::MBarrier:
    return "an mbarrier is used as it must not be";
  case FindingKind::TensorMap:
    return "a copy of a box does not fit its tensor map";
  case FindingKind::BulkSize:
    return "a copy in bulk is not of a multiple of 16 bytes";
  case FindingKind::MisalignedTile:
    return "address in workgroup memory of a copy in bulk is not aligned";
  case FindingKind::InactiveLane:
    return "shuffle of a value from a lane that takes no part in it";
  case FindingKind::ExitedLane:
    return "warp operation for lanes that do not exist or have left the kernel";
  case FindingKind::Assertion:
    return "assertion failed";
  case FindingKind::Trap:
    return "the kernel executes a trap";
  }
  llvm_unreachable("unknown kind of finding");
}

/// The verb for what a thread does where the finding is no access to memory.
std::string getDeed(FindingKind kind) {
  switch (kind) {
  case FindingKind::Division:
  case FindingKind::DivisionOverflow:
    return "divides";
  case FindingKind::StepLimit:
    return "loops";
  case FindingKind::TooManyCopies:
  case FindingKind::NotWaitedAtEnd:
  case FindingKind::BulkSize:
    return "copies";
  default:
    return "executes this";
  }
}

static bool isRace(FindingKind kind) {
  return kind == FindingKind::SharedRace || kind == FindingKind::GlobalRace ||
         kind == FindingKind::BlockRace;
}

/// Why two atomic operations are at odds.
static std::string explainAtomics(const Site &site, const Site &other) {
  if (site.order.width != other.order.width)
    return "atomic operations are atomic to each other only if both are of the "
           "very same bytes; these are of " +
           std::to_string(other.order.width) + " and " +
           std::to_string(site.order.width);
  return "atomic operations are atomic to each other only if each is of a "
         "scope that the other's thread is in; the narrower scope of these is "
         "'" +
         getName(std::min(site.order.scope, other.order.scope)).str() + "'";
}

/// The remedy, or what has to be known, in one sentence; empty where the
/// finding says it.
std::string getRemedy(const FindingKey &key, const FindingInstance &instance,
                      const KernelTables &tables) {
  const Site &site = tables.sites[key.site];
  if (isRace(key.kind) && isAtomic(site.kind) &&
      isAtomic(tables.sites[key.otherSite].kind))
    return explainAtomics(site, tables.sites[key.otherSite]);
  if (key.kind == FindingKind::ProxyFence) {
    bool isGlobal = instance.space == Space::Global;
    return "the thread of the first access has to execute nvvm.fence.proxy "
           "{kind = #nvvm.proxy_kind<" +
           std::string(isGlobal ? "async.global>"
                                : "async.shared>, space = "
                                  "#nvvm.shared_space<cta>") +
           "} after it, before the barrier that leads to the copy";
  }
  if (key.kind == FindingKind::NotWaitedAtEnd)
    return "a load is waited for at its mbarrier, a store by "
           "nvvm.cp.async.bulk.wait_group";
  if (key.kind != FindingKind::NotWaited)
    return "";
  const Site &other = tables.sites[key.otherSite];
  if (!other.isBulk)
    return "the thread that copies has to wait in between, by "
           "nvgpu.device_async_wait or nvvm.cp.async.wait.group";
  return other.isLoad
             ? "the mbarrier of the copy has to be waited for in between"
             : "the thread that copies has to wait in between, by "
               "nvvm.cp.async.bulk.wait_group, and to let others know by a "
               "barrier";
}

} // namespace mlir::workgroup::emulator
