//===- Report.cpp - Findings in words -------------------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallSet.h"
#include <numeric>

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

//===----------------------------------------------------------------------===//
// Sentences
//===----------------------------------------------------------------------===//

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
  if (first == second && a.kind == AccessKind::Write && !a.isAsync)
    return "two writes";
  return first + " and " + second;
}

static std::string getVerb(const Site &site) {
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

static std::string getMessage(const FindingKey &key,
                              const KernelTables &tables) {
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

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

static ThreadId makeThread(const LaunchRequest &request, uint64_t block,
                           uint32_t thread) {
  auto split = [](uint64_t linear, const std::array<uint32_t, 3> &sizes) {
    uint64_t x = sizes[0], y = sizes[1];
    return std::array<uint32_t, 3>{uint32_t(linear % x),
                                   uint32_t(linear / x % y),
                                   uint32_t(linear / x / y)};
  };
  return {split(block, request.grid), split(thread, request.block),
          thread / kWarpSize, thread % kWarpSize};
}

/// The indices of the element at `offset` bytes after element zero; empty if
/// the shape does not tell.
static std::vector<int64_t> getIndices(int64_t offset, uint64_t elementBytes,
                                       const std::vector<int64_t> &shape,
                                       const std::vector<int64_t> &strides) {
  if (offset < 0 || shape.empty() || elementBytes == 0)
    return {};
  int64_t element = offset / int64_t(elementBytes);
  std::vector<unsigned> dims(shape.size());
  std::iota(dims.begin(), dims.end(), 0);
  llvm::stable_sort(
      dims, [&](unsigned a, unsigned b) { return strides[a] > strides[b]; });
  std::vector<int64_t> indices(shape.size());
  for (unsigned dim : dims) {
    if (strides[dim] <= 0)
      continue;
    indices[dim] = element / strides[dim];
    element -= indices[dim] * strides[dim];
  }
  if (element != 0)
    return {};
  return indices;
}

/// The buffers that have the byte at `offset` of `symbol`; where it is outside
/// of all, the only one that there is.
static std::vector<const SharedBuffer *>
findSharedBuffers(const ReportContext &context, const std::string &symbol,
                  int64_t offset) {
  std::vector<const SharedBuffer *> all, found;
  for (const SharedBuffer &buffer : context.sharedBuffers) {
    if (buffer.symbol != symbol)
      continue;
    all.push_back(&buffer);
    if (offset >= int64_t(buffer.offset) &&
        offset < int64_t(buffer.offset + buffer.bytes))
      found.push_back(&buffer);
  }
  return found.empty() && all.size() == 1 ? all : found;
}

static void describeShared(FindingRecord &record,
                           const FindingInstance &instance,
                           const ReportContext &context) {
  const Object &object = context.tables.objects[instance.object];
  record.space = "shared";
  record.byteOffset = instance.offset;
  record.buffer = object.kind == Object::Kind::Dynamic
                      ? "dynamic workgroup memory"
                      : "@" + object.name;
  if (instance.object == 0)
    record.buffer = "workgroup memory";
  std::vector<const SharedBuffer *> buffers =
      findSharedBuffers(context, object.name, instance.offset);
  for (const SharedBuffer *buffer : buffers) {
    bool isFirst = buffer == buffers.front();
    record.buffer =
        isFirst ? buffer->name : record.buffer + " or " + buffer->name;
    if (buffer->location.line)
      record.notes.push_back(
          makeNote(buffer->name + " is allocated here", buffer->location));
  }
  if (buffers.size() != 1)
    return;
  const SharedBuffer &buffer = *buffers.front();
  int64_t offset = instance.offset - int64_t(buffer.offset);
  record.byteOffset = offset;
  record.indices =
      getIndices(offset, buffer.elementBytes, buffer.shape, buffer.strides);
}

static void describeGlobal(FindingRecord &record,
                           const FindingInstance &instance,
                           const ReportContext &context) {
  record.space = "global";
  size_t number = instance.object;
  if (number == 0) {
    record.buffer = "an address in no buffer";
    return;
  }
  record.byteOffset = instance.offset;
  if (number > context.request.buffers.size()) {
    record.buffer = "a variable of the module";
    return;
  }
  const BufferView &buffer = context.request.buffers[number - 1];
  record.buffer = buffer.name;
  record.indices =
      getIndices(instance.offset - int64_t(buffer.origin), buffer.elementBytes,
                 buffer.shape, buffer.strides);
}

static void addSize(FindingRecord &record, const FindingKey &key,
                    const FindingInstance &instance,
                    const ReportContext &context) {
  if (key.kind != FindingKind::OutOfBounds || instance.object == 0)
    return;
  uint64_t bytes = 0;
  if (instance.space == Space::Shared) {
    const Object &object = context.tables.objects[instance.object];
    bytes = object.kind == Object::Kind::Dynamic
                ? context.request.dynamicSharedBytes
                : object.bytes;
  } else if (instance.object <= context.request.buffers.size()) {
    bytes = context.request.buffers[instance.object - 1].bytes;
  }
  record.notes.push_back(
      makeNote(std::to_string(instance.bytes) + " bytes at byte " +
               std::to_string(instance.offset) + " of " + record.buffer +
               ", which has " + std::to_string(bytes) + " bytes"));
}

/// What a thread does where the finding is no access to memory.
static std::string getDeed(FindingKind kind) {
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

static void addAccesses(FindingRecord &record, const FindingKey &key,
                        const FindingInstance &instance,
                        const ReportContext &context) {
  const KernelTables &tables = context.tables;
  auto add = [&](uint32_t number, uint64_t block, uint32_t thread,
                 uint64_t bytes) {
    const Site &site = tables.sites[number];
    bool isAccess = site.kind != AccessKind::None;
    record.accesses.push_back(
        {getVerb(site), makeThread(context.request, block, thread),
         site.location, isAccess ? std::max<uint64_t>(bytes, 1) : uint64_t(0)});
  };
  if (key.otherSite)
    add(key.otherSite, instance.otherBlock, instance.otherThread,
        tables.sites[key.otherSite].bytes);
  add(key.site, instance.block, instance.thread,
      key.otherSite ? tables.sites[key.site].bytes : instance.bytes);
  if (key.otherSite || instance.space != Space::None)
    return;
  AccessRecord &place = record.accesses.back();
  place.bytes = 0;
  place.verb = getDeed(key.kind);
}

/// What has to be done, in one sentence; empty where the finding says it.
static std::string getRemedy(const FindingKey &key,
                             const FindingInstance &instance,
                             const KernelTables &tables) {
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

static FindingRecord describe(const FindingKey &key, const FindingEntry &entry,
                              const ReportContext &context) {
  const FindingInstance &instance = entry.instance;
  FindingRecord record;
  record.kind = getKindName(key.kind).str();
  record.severity = "error";
  record.message = getMessage(key, context.tables);
  record.count = entry.count;
  record.blocks = entry.blocks;
  if (instance.space == Space::Shared)
    describeShared(record, instance, context);
  else if (instance.space == Space::Global)
    describeGlobal(record, instance, context);
  else if (instance.space == Space::Private)
    record.buffer = "private memory";
  // Indices of what is in no row of the buffer are not those of the program.
  if (key.kind == FindingKind::OutOfBounds)
    record.indices.clear();
  addSize(record, key, instance, context);
  addAccesses(record, key, instance, context);
  llvm::append_range(record.notes, instance.notes);
  if (key.kind == FindingKind::StepLimit)
    record.notes.push_back(
        makeNote("it has made " + std::to_string(context.request.stepLimit) +
                 " loop iterations, the limit of this launch"));
  if (std::string remedy = getRemedy(key, instance, context.tables);
      !remedy.empty())
    record.notes.push_back(makeNote(std::move(remedy)));
  if (instance.barrier && key.otherSite)
    record.notes.push_back(
        makeNote("the last barrier before both is here",
                 context.tables.sites[instance.barrier].location));
  return record;
}

/// True if the read at `key` would be a read of what a race keeps from being
/// written: whether the writer came first is chance.
static bool isConsequence(const FindingKey &key, const FindingTable &findings) {
  if (key.kind != FindingKind::Uninitialized)
    return false;
  return llvm::any_of(findings.getEntries(), [&](const auto &entry) {
    const FindingKey &other = entry.first;
    return (other.kind == FindingKind::SharedRace ||
            other.kind == FindingKind::NotWaited ||
            other.kind == FindingKind::NotPublished ||
            other.kind == FindingKind::ProxyFence) &&
           (other.site == key.site || other.otherSite == key.site);
  });
}

static bool isSamePlace(const SourceLocation &a, const SourceLocation &b) {
  return a.line && a.line == b.line && a.column == b.column && a.file == b.file;
}

/// One operation may have become several instructions: what is told of one of
/// them is told of all.
static Described *findSamePlaces(std::vector<Described> &records,
                                 const FindingRecord &record) {
  auto *it =
      llvm::find_if(records, [&](const Described &other) {
        return other.record.kind == record.kind &&
               llvm::equal(other.record.accesses, record.accesses,
                           [](const AccessRecord &a, const AccessRecord &b) {
                             return isSamePlace(a.location, b.location);
                           });
      }).base();
  return it == records.data() + records.size() ? nullptr : it;
}

std::vector<Described> describeFindings(const FindingTable &findings,
                                        const ReportContext &context) {
  std::vector<std::pair<FindingKey, FindingEntry>> entries(
      findings.getEntries().begin(), findings.getEntries().end());
  // In the order of the program, not of the sites.
  auto getPlace = [&](const FindingKey &key) {
    const std::vector<Site> &sites = context.tables.sites;
    return std::make_tuple(key.kind, sites[key.site].ordinal,
                           sites[key.otherSite].ordinal);
  };
  llvm::stable_sort(entries, [&](const auto &a, const auto &b) {
    return getPlace(a.first) < getPlace(b.first);
  });
  std::vector<Described> records;
  for (const auto &[key, entry] : entries) {
    if (isConsequence(key, findings))
      continue;
    FindingRecord record = describe(key, entry, context);
    if (Described *same = findSamePlaces(records, record)) {
      same->record.count += record.count;
      same->record.blocks = std::max(same->record.blocks, record.blocks);
      continue;
    }
    records.push_back({key, entry.instance.block, std::move(record)});
  }
  return records;
}

} // namespace mlir::workgroup::emulator
