//===- Report.cpp - Findings in words -------------------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report.h"
#include "Sentences.h"
#include "workgroup/Support/SymbolNames.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallSet.h"
#include <numeric>

namespace mlir::workgroup::emulator {

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
                      : "@" + getReadableName(object.name);
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

/// True if it is about a variable of the module, not an argument.
static bool isOfVariable(const FindingInstance &instance,
                         const ReportContext &context) {
  return instance.space == Space::Constant ||
         (instance.space == Space::Global &&
          instance.object > context.request.buffers.size());
}

static void addSize(FindingRecord &record, const FindingKey &key,
                    const FindingInstance &instance,
                    const ReportContext &context) {
  if (key.kind != FindingKind::OutOfBounds || instance.object == 0 ||
      isOfVariable(instance, context))
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
  if (!tables.sites[key.site].isProduct)
    place.verb = getDeed(key.kind);
}

/// Tells of the places that an access stands for besides its own.
static void addOtherLocations(FindingRecord &record, const Site &site) {
  for (const SourceLocation &other : site.otherLocations)
    record.notes.push_back(
        makeNote("one operation of the kernel stands for that at " +
                     printLocation(site.location) + " and for the one here",
                 other));
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
  else if (instance.space == Space::Global || instance.space == Space::Constant)
    describeGlobal(record, instance, context);
  else if (instance.space == Space::Private)
    record.buffer = "private memory";
  if (instance.space == Space::Constant)
    record.space = "constant";
  if (key.kind == FindingKind::ReadOnly && isOfVariable(instance, context))
    record.message = "write to a constant of the module";
  // Indices of what is in no row of the buffer are not those of the program.
  if (key.kind == FindingKind::OutOfBounds)
    record.indices.clear();
  addSize(record, key, instance, context);
  addAccesses(record, key, instance, context);
  for (uint32_t number : {key.site, key.otherSite})
    addOtherLocations(record, context.tables.sites[number]);
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
  // Whose registers are used too soon is told there.
  if (key.kind == FindingKind::NotWaitedAtEnd)
    return llvm::any_of(findings.getEntries(), [&](const auto &entry) {
      return entry.first.kind == FindingKind::RegistersInUse &&
             entry.first.otherSite == key.site;
    });
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

/// A product has many registers: the first use of any is told.
static Described *findSameProduct(std::vector<Described> &records,
                                  const FindingKey &key) {
  for (Described &other : records)
    if (other.key.kind == key.kind && other.key.otherSite == key.otherSite)
      return &other;
  return nullptr;
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
    Described *same = key.kind == FindingKind::RegistersInUse
                          ? findSameProduct(records, key)
                          : findSamePlaces(records, record);
    if (same) {
      same->record.count += record.count;
      same->record.blocks = std::max(same->record.blocks, record.blocks);
      continue;
    }
    records.push_back({key, entry.instance.block, std::move(record)});
  }
  return records;
}

} // namespace mlir::workgroup::emulator
