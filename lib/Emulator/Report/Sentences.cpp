//===- Sentences.cpp - Words for findings ---------------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One table for what a finding is called, and functions for what depends on the
// accesses that it is about.
//
//===----------------------------------------------------------------------===//

#include "Sentences.h"
#include "llvm/Support/ErrorHandling.h"

namespace mlir::workgroup::emulator {

namespace {
/// A kind of finding, as reports name it, and in one sentence without a full
/// stop; that is empty if it depends on more than the kind.
struct Words {
  FindingKind kind;
  llvm::StringLiteral name;
  llvm::StringLiteral message;
};
} // namespace

static constexpr Words kWords[] = {
    {FindingKind::SharedRace, "race.shared", ""},
    {FindingKind::GlobalRace, "race.global", ""},
    {FindingKind::BlockRace, "race.blocks", ""},
    {FindingKind::SameValue, "race.same-value",
     "threads write the same value to the same bytes, and nothing orders them"},
    {FindingKind::NotWaited, "async.not-waited",
     "bytes of an asynchronous copy are used before the copy is waited for"},
    {FindingKind::NotPublished, "async.not-published",
     "an asynchronous copy is waited for, but no barrier lets other threads "
     "see it"},
    {FindingKind::NotWaitedAtEnd, "async.not-waited",
     "a block ends while an asynchronous copy, for which no thread has waited, "
     "uses its workgroup memory"},
    {FindingKind::ProxyFence, "async.proxy", ""},
    {FindingKind::RegistersInUse, "async.not-waited",
     "registers of a wgmma are used before it is waited for"},
    {FindingKind::RegisterFence, "async.register-fence", ""},
    {FindingKind::OutOfBounds, "out-of-bounds", "access out of bounds"},
    {FindingKind::ReadOnly, "read-only", "write to a read-only argument"},
    {FindingKind::Misaligned, "misaligned", ""},
    {FindingKind::Uninitialized, "uninitialized",
     "read of workgroup memory that no thread of the block has written"},
    {FindingKind::Divergence, "divergence", ""},
    {FindingKind::ExitedThread, "exited-thread",
     "barrier that threads of the block skip by leaving the kernel"},
    {FindingKind::InvalidBarrier, "invalid-barrier",
     "barrier of more threads than it counts, of a count that is not a "
     "multiple of 32, or of a number from 16 on"},
    {FindingKind::ClusterBarrier, "invalid-barrier",
     "a barrier of the cluster is used as it must not be"},
    {FindingKind::ExitedBlock, "exited-block",
     "use of workgroup memory of another block, which may have ended before"},
    {FindingKind::MisalignedRow, "misaligned",
     "address of a row of a matrix is not a multiple of 16 bytes"},
    {FindingKind::MisalignedMatrix, "misaligned",
     "a matrix for wmma begins at an address, or has rows at a distance, that "
     "is not a multiple of what the operation wants (the bytes of a lane, or "
     "32 and 16 if those are fewer)"},
    {FindingKind::Deadlock, "deadlock", "threads wait for each other forever"},
    {FindingKind::Division, "division", "integer division by zero"},
    {FindingKind::DivisionOverflow, "division",
     "integer division overflows: the least number by -1"},
    {FindingKind::StepLimit, "step-limit",
     "a thread exceeds the limit of loop iterations"},
    {FindingKind::TooManyCopies, "async.too-many",
     "a thread begins asynchronous copies and never waits for them: too many "
     "are under way"},
    {FindingKind::MBarrier, "mbarrier",
     "an mbarrier is used as it must not be"},
    {FindingKind::TensorMap, "bulk-copy",
     "a copy of a box does not fit its tensor map"},
    {FindingKind::BulkSize, "bulk-copy",
     "a copy in bulk is not of a multiple of 16 bytes"},
    {FindingKind::BlockMask, "bulk-copy",
     "a copy is to blocks that the cluster does not have"},
    {FindingKind::MisalignedTile, "misaligned",
     "address in workgroup memory of a copy in bulk is not aligned"},
    {FindingKind::Warpgroup, "divergence", ""},
    {FindingKind::MatrixDescriptor, "matrix-descriptor",
     "the descriptor of a matrix does not tell how it lies in workgroup "
     "memory"},
    {FindingKind::RegisterCount, "registers",
     "setmaxnreg asks for what cannot be"},
    {FindingKind::InactiveLane, "inactive-lane",
     "shuffle of a value from a lane that takes no part in it"},
    {FindingKind::ExitedLane, "exited-lane",
     "warp operation for lanes that do not exist or have left the kernel"},
    {FindingKind::Assertion, "assertion", "assertion failed"},
    {FindingKind::Trap, "trap", "the kernel executes a trap"},
};

static constexpr bool areInOrder() {
  for (size_t i = 0; i < std::size(kWords); ++i)
    if (kWords[i].kind != FindingKind(i))
      return false;
  return true;
}
static_assert(areInOrder() &&
              std::size(kWords) == size_t(FindingKind::Trap) + 1);

static const Words &getWords(FindingKind kind) { return kWords[size_t(kind)]; }

llvm::StringRef getKindName(FindingKind kind) { return getWords(kind).name; }

static std::string getNoun(const Site &site) {
  if (site.isProduct)
    return "a wgmma's read";
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
  if (site.isOfRegisters)
    return "uses registers of it";
  if (site.isProduct)
    return site.kind == AccessKind::Read ? "reads by wgmma" : "executes this";
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

/// What is said of a wgmma in the place of a copy.
static llvm::StringRef getWordsOfProduct(FindingKind kind) {
  switch (kind) {
  case FindingKind::NotWaited:
    return "bytes are written that a wgmma reads which is not waited for";
  case FindingKind::NotPublished:
    return "a wgmma is waited for, but nothing lets the thread know that "
           "writes "
           "what it reads";
  default:
    return "a block ends while a wgmma, for which no warp has waited, goes on";
  }
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
  case FindingKind::ProxyFence:
    return "nothing makes " + getNoun(other) +
           " known to the asynchronous proxy before " + getNoun(site);
  case FindingKind::Misaligned:
    return "address is not a multiple of " + std::to_string(site.alignment) +
           " bytes, which the access promises";
  case FindingKind::NotWaited:
  case FindingKind::NotPublished:
  case FindingKind::NotWaitedAtEnd:
    return (key.kind == FindingKind::NotWaitedAtEnd ? site : other).isProduct
               ? getWordsOfProduct(key.kind).str()
               : getWords(key.kind).message.str();
  case FindingKind::RegisterFence:
    return key.otherSite
               ? "no wgmma.fence comes between the use of registers and a "
                 "wgmma that has them for operands"
               : "a wgmma comes before any wgmma.fence of its warp";
  case FindingKind::Warpgroup:
    return key.otherSite ? "warps of a warpgroup do not execute the same"
                         : "an operation of a warpgroup without all four warps";
  case FindingKind::Divergence:
    return key.otherSite ? "threads of a warp wait at different barriers"
                         : "matrix operation without all lanes of the warp";
  default:
    return getWords(key.kind).message.str();
  }
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
  case FindingKind::BlockMask:
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
  if (key.kind == FindingKind::RegistersInUse ||
      (key.kind == FindingKind::NotWaited &&
       tables.sites[key.otherSite].isProduct))
    return "the warp has to commit its group and to wait for it, by "
           "nvvm.wgmma.commit.group.sync.aligned and "
           "nvvm.wgmma.wait.group.sync.aligned, in between";
  if (key.kind == FindingKind::ExitedBlock)
    return "blocks of a cluster have to wait for each other before they end, "
           "by "
           "nvvm.cluster.arrive and nvvm.cluster.wait";
  if (key.kind == FindingKind::RegisterFence)
    return std::string("nvvm.wgmma.fence.aligned has to come ") +
           (key.otherSite ? "between them" : "before it") +
           ", in all warps of the warpgroup";
  if (key.kind == FindingKind::NotWaitedAtEnd && site.isProduct)
    return "it is waited for by nvvm.wgmma.commit.group.sync.aligned and "
           "nvvm.wgmma.wait.group.sync.aligned";
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
