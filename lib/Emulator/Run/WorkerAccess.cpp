//===- WorkerAccess.cpp - What becomes of an access -----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Worker.h"
#include "llvm/ADT/STLExtras.h"
#include <cstring>

namespace mlir::workgroup::emulator {

/// Where accesses go that must not be done. As large as any of them.
alignas(64) static thread_local uint8_t nowhere[kMaxAccessBytes];

//===----------------------------------------------------------------------===//
// Findings
//===----------------------------------------------------------------------===//

FindingInstance Worker::makeInstance(const ThreadState &thread, Space space,
                                     uint32_t object, int64_t offset,
                                     uint64_t bytes) const {
  FindingInstance instance;
  instance.block = instance.otherBlock = block;
  instance.thread = instance.otherThread = thread.linear;
  instance.space = space;
  instance.object = object;
  instance.offset = offset;
  instance.bytes = bytes;
  instance.barrier = lastBarrier;
  return instance;
}

void Worker::report(ThreadState &thread, FindingKind kind, uint32_t site,
                    std::vector<DiagnosticRecord> notes) {
  FindingInstance instance = makeInstance(thread, Space::None, 0, 0, 0);
  instance.notes = std::move(notes);
  findings.add({kind, site, 0}, std::move(instance));
}

void Worker::giveUp(ThreadState &thread, FindingKind kind, uint32_t site,
                    std::vector<DiagnosticRecord> notes) {
  report(thread, kind, site, std::move(notes));
  launch.isOver = true;
}

uint8_t *Worker::reportAccess(ThreadState &thread, FindingKind kind,
                              uint32_t site, Space space, uint32_t object,
                              int64_t offset, uint64_t bytes) {
  findings.add({kind, site, 0},
               makeInstance(thread, space, object, offset, bytes));
  return nowhere;
}

/// True for what only something within a block can order, as a rule.
static bool isRaceOfBlock(FindingKind kind) {
  return kind == FindingKind::SharedRace || kind == FindingKind::GlobalRace ||
         kind == FindingKind::NotPublished;
}

/// Turns `conflicts` into findings. Writes that may have stored the same
/// value are put aside until the later one has been done.
void Worker::addConflicts(ThreadState &thread, Space space, uint32_t object,
                          uint64_t origin, uint64_t first, unsigned logGrain,
                          uint32_t site, uint64_t bytes,
                          const uint8_t *address) {
  uint64_t grain = uint64_t(1) << logGrain;
  llvm::SmallVector<FindingKey, 4> told; // one access is one time
  for (const auto &[offset, conflict] : conflicts) {
    FindingInstance instance =
        makeInstance(thread, space, object, offset - origin, bytes);
    instance.otherThread = clocks.getThread(conflict.other);
    instance.otherBlock = conflict.otherBlock.value_or(block);
    // What one block did another may have passed on to a thread of the first.
    if (isRaceOfBlock(conflict.kind) &&
        launch.publications.isKnown(block, conflict.other,
                                    clocks.getKnown(thread.linear)))
      continue;
    FindingKey key{conflict.kind, site, conflict.other.getSite()};
    bool isSymmetric = conflict.kind == FindingKind::SharedRace ||
                       conflict.kind == FindingKind::GlobalRace ||
                       conflict.kind == FindingKind::BlockRace;
    // Which access comes first is chance, and no second finding.
    if (isSymmetric &&
        tables.sites[key.site].ordinal < tables.sites[key.otherSite].ordinal) {
      std::swap(key.site, key.otherSite);
      std::swap(instance.thread, instance.otherThread);
      std::swap(instance.block, instance.otherBlock);
    }
    if (!conflict.mayBeSameValue) {
      if (!llvm::is_contained(told, key))
        findings.add(key, std::move(instance));
      told.push_back(key);
      continue;
    }
    // The bytes of this cell, of which the access may have but a part.
    uint64_t start = uint64_t(instance.offset) + origin - first;
    uint64_t size = std::min(bytes - start, grain - (offset & (grain - 1)));
    const uint8_t *at = address + start;
    llvm::SmallVector<uint8_t, 16> before(at, at + size);
    unsettled.push_back({key, std::move(instance), at, std::move(before)});
  }
  conflicts.clear();
}

/// Tells writes that changed nothing from races.
void Worker::settle() {
  // Of one access, what differs in one byte differs; else all is the same.
  for (bool isDifferent : {true, false})
    for (Unsettled &write : unsettled) {
      bool differs = std::memcmp(write.address, write.before.data(),
                                 write.before.size()) != 0;
      if (differs != isDifferent || write.isTold)
        continue;
      FindingKey key = write.key;
      if (!differs)
        key.kind = FindingKind::SameValue;
      if (differs || launch.check == Check::All)
        findings.add(key, write.instance);
      for (Unsettled &other : unsettled)
        other.isTold |= other.key == write.key;
    }
  unsettled.clear();
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

uint32_t Worker::findObject(uint64_t offset) const {
  for (uint32_t i = 1; i < tables.objects.size(); ++i) {
    const Object &object = tables.objects[i];
    bool isShared = object.kind == Object::Kind::Shared ||
                    object.kind == Object::Kind::Dynamic;
    uint64_t bytes = i == tables.dynamicObject
                         ? launch.request.dynamicSharedBytes
                         : object.bytes;
    if (isShared && offset - object.offset < bytes)
      return i;
  }
  return 0;
}

/// Tells of an access to workgroup memory that is out of bounds or misaligned;
/// returns where it may go.
uint8_t *Worker::refuseShared(ThreadState &thread, uint64_t offset,
                              uint32_t site, uint64_t bytes) {
  const SiteBounds &bounds = launch.siteBounds[site];
  uint32_t object = tables.sites[site].object;
  bool isOutside = offset < bounds.begin || offset > bounds.end ||
                   bytes > bounds.end - offset;
  reportAccess(
      thread, isOutside ? FindingKind::OutOfBounds : FindingKind::Misaligned,
      site, Space::Shared, object, offset - (object ? bounds.begin : 0), bytes);
  return isOutside ? nowhere : nullptr;
}

uint8_t *Worker::accessShared(ThreadState &thread, AccessKind kind,
                              uint64_t offset, uint32_t site, uint64_t bytes) {
  const SiteBounds &bounds = launch.siteBounds[site];
  reached[site] = 1;
  if (offset < bounds.begin || offset > bounds.end ||
      bytes > bounds.end - offset || (offset & bounds.misaligned))
    if (uint8_t *elsewhere = refuseShared(thread, offset, site, bytes))
      return elsewhere;
  uint8_t *address = window + offset;
  if (!launch.checksRaces())
    return address;
  if (!unsettled.empty())
    settle();
  shadow.access(kind, thread.linear, offset, site, bytes, conflicts);
  if (!conflicts.empty()) {
    uint32_t known = tables.sites[site].object;
    uint32_t object = known ? known : findObject(offset);
    addConflicts(thread, Space::Shared, object, tables.objects[object].offset,
                 offset, tables.sharedGrain, site, bytes, address);
  }
  if (tables.ordersMemory && isAtomic(kind))
    clocks.orderAt(offset, thread.linear, tables.sites[site].order);
  return address;
}

uint8_t *Worker::accessGlobal(ThreadState &thread, AccessKind kind,
                              uint8_t *address, uint32_t site, uint64_t bytes,
                              std::optional<Access> agent) {
  const Site &info = tables.sites[site];
  reached[site] = 1;
  const Object &object = tables.objects[info.object];
  uint32_t number = 0; // of the buffer, plus one
  if (object.kind == Object::Kind::Argument)
    number = launch.argumentBuffers[object.offset] + 1;
  for (uint32_t i = 0; number == 0 && i < launch.buffers.size(); ++i)
    if (launch.buffers[i].contains(address))
      number = i + 1;
  if (number == 0)
    return reportAccess(thread, FindingKind::OutOfBounds, site, Space::Global,
                        0, reinterpret_cast<intptr_t>(address), bytes);
  Buffer &buffer = launch.buffers[number - 1];
  int64_t offset = address - buffer.base;
  if (uint64_t(offset) > buffer.bytes ||
      bytes > buffer.bytes - uint64_t(offset))
    return reportAccess(thread, FindingKind::OutOfBounds, site, Space::Global,
                        number, offset, bytes);
  if (reinterpret_cast<uintptr_t>(address) & (info.alignment - 1))
    reportAccess(thread, FindingKind::Misaligned, site, Space::Global, number,
                 offset, bytes);
  if (writes(kind) && !buffer.isWritable)
    return reportAccess(thread, FindingKind::ReadOnly, site, Space::Global,
                        number, offset, bytes);
  if (!buffer.shadow)
    return address;
  if (!unsettled.empty())
    settle();
  buffer.shadow->access(
      {clocks, block, thread.linear, launch.publications, launch.grid,
       /*isByProxy=*/agent.has_value()},
      kind, offset + buffer.shadowOffset, site, bytes, conflicts, agent);
  if (!conflicts.empty())
    addConflicts(thread, Space::Global, number, buffer.shadowOffset,
                 offset + buffer.shadowOffset, buffer.shadow->getGrain(), site,
                 bytes, address);
  if (tables.ordersMemory && isAtomic(kind)) {
    auto where = reinterpret_cast<uintptr_t>(address);
    uint32_t time = clocks.getTime(thread.linear);
    clocks.orderAt(where, thread.linear, info.order);
    if (info.order.writes && info.order.isDeviceWide())
      launch.publications.publish(
          where, info.order.releases ? launch.publications.release(
                                           block, thread.linear, time, clocks)
                                     : knowledge[thread.linear].covered);
  }
  return address;
}

uint8_t *Worker::access(ThreadState &thread, AccessKind kind, uint64_t address,
                        uint32_t site, uint64_t bytes) {
  if (bytes == 0)
    return nowhere;
  if (tables.sites[site].space == Space::Private) // proved to be in bounds
    return reinterpret_cast<uint8_t *>(address);
  if (tables.sites[site].space == Space::Shared)
    return accessShared(thread, kind, address, site, bytes);
  // A generic address may lie in the window.
  uint64_t offset = address - reinterpret_cast<uintptr_t>(window);
  if (offset < kSharedWindow)
    return accessShared(thread, kind, offset, site, bytes);
  return accessGlobal(thread, kind, reinterpret_cast<uint8_t *>(address), site,
                      bytes);
}

void Worker::finishAtomic(ThreadState &thread, uint64_t address,
                          uint32_t site) {
  uint32_t stamp = launch.publications.see(address);
  uint32_t &seen = knowledge[thread.linear].seen;
  if (tables.sites[site].order.acquires)
    clocks.raiseKnown(thread.linear, stamp);
  else
    seen = std::max(seen, stamp);
}

void Worker::fence(ThreadState &thread, bool isDeviceWide) {
  Knowledge &own = knowledge[thread.linear];
  if (isDeviceWide)
    clocks.raiseKnown(thread.linear, own.seen);
  uint32_t time = clocks.getTime(thread.linear);
  clocks.fence(thread.linear);
  if (isDeviceWide)
    own.covered =
        launch.publications.release(block, thread.linear, time, clocks);
}

uint8_t *Worker::fault(ThreadState &thread, uint64_t address, uint32_t site) {
  const Site &info = tables.sites[site];
  if (info.space == Space::Private)
    return reportAccess(thread, FindingKind::OutOfBounds, site, Space::Private,
                        0, 0, info.bytes);
  // Beyond a variable lies another, which is none of the access's business.
  if (info.isVariable)
    return reportAccess(thread, FindingKind::OutOfBounds, site,
                        info.space == Space::Constant ? Space::Constant
                                                      : Space::Global,
                        launch.request.buffers.size() + 1, 0, info.bytes);
  return access(thread, info.kind, address, site, info.bytes);
}

/// Counts an access. Arrays on a GPU begin at multiples of 256 bytes; those of
/// the host need not.
void Worker::logAccess(ThreadState &thread, uint64_t address, uint32_t site) {
  reached[site] = 1;
  const Object &object = tables.objects[tables.sites[site].object];
  if (object.kind == Object::Kind::Argument)
    address -=
        reinterpret_cast<uintptr_t>(launch.arguments[object.offset].base);
  accessLog.add(thread.linear, site, address);
}

void Worker::copyBytes(ThreadState &thread, uint64_t target, uint64_t source,
                       uint64_t bytes, uint32_t site) {
  uint8_t *from = access(thread, AccessKind::Read, source, site + 1, bytes);
  uint8_t *to = access(thread, AccessKind::Write, target, site, bytes);
  if (from != nowhere && to != nowhere)
    std::memmove(to, from, bytes);
}

void Worker::setBytes(ThreadState &thread, uint64_t target, uint8_t value,
                      uint64_t bytes, uint32_t site) {
  uint8_t *to = access(thread, AccessKind::Write, target, site, bytes);
  if (to != nowhere)
    std::memset(to, value, bytes);
}

} // namespace mlir::workgroup::emulator
