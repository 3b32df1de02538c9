//===- AccessChecker.cpp - What becomes of an access ----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bounds, then alignment, then races; where an access must not be done, it goes
// to bytes that are nobody's.
//
//===----------------------------------------------------------------------===//

#include "AccessChecker.h"
#include <cstring>

namespace mlir::workgroup::emulator {

/// Where accesses go that must not be done. As large as any of them.
alignas(64) static thread_local uint8_t nowhere[kMaxAccessBytes];

AccessChecker::AccessChecker(Launch &launch, BlockState &block,
                             FindingCollector &findings, MemoryOrder &order)
    : launch(launch), tables(launch.tables), block(block), findings(findings),
      order(order), window(block.window), checksRaces(launch.checksRaces()),
      sites(tables.sites), siteBounds(launch.siteBounds),
      shadow(launch.tables, block.clocks, block.getNumBlocks()),
      reached(launch.tables.sites.size()), swizzles(launch.tables.sites.size()),
      accessLog(launch.tables, block.threads.size()) {}

/// Tells of an access that must not be done; returns where it may go.
uint8_t *AccessChecker::refuse(const ThreadState &thread, FindingKind kind,
                               uint32_t site, Space space, uint32_t object,
                               int64_t offset, uint64_t bytes) {
  findings.add({kind, site, 0},
               findings.makeInstance(thread, space, object, offset, bytes));
  return nowhere;
}

//===----------------------------------------------------------------------===//
// Workgroup memory
//===----------------------------------------------------------------------===//

/// Tells of an access that is out of bounds, or only misaligned. True if it may
/// be done.
bool AccessChecker::refuseShared(const ThreadState &thread, uint64_t place,
                                 uint32_t site, uint64_t bytes) {
  const SiteBounds &bounds = siteBounds[site];
  uint32_t object = sites[site].object;
  uint64_t offset = getOffset(place);
  if (getRank(place) >= block.getNumBlocks()) {
    refuse(thread, FindingKind::OutOfBounds, site, Space::Shared, 0, place,
           bytes);
    return false;
  }
  bool isInside = bounds.contains(offset, bytes);
  refuse(thread, isInside ? FindingKind::Misaligned : FindingKind::OutOfBounds,
         site, Space::Shared, object, offset - (object ? bounds.begin : 0),
         bytes);
  return isInside;
}

bool AccessChecker::checkShared(const ThreadState &thread, uint64_t place,
                                uint32_t site, uint64_t bytes) {
  const SiteBounds &bounds = siteBounds[site];
  uint64_t offset = getOffset(place);
  if (bounds.contains(offset, bytes) && !(offset & bounds.misaligned) &&
      getRank(place) < block.getNumBlocks())
    return true;
  return refuseShared(thread, place, site, bytes);
}

/// Makes findings of `conflicts` of an access to workgroup memory.
void AccessChecker::addSharedConflicts(const ThreadState &thread,
                                       uint64_t place, uint32_t site,
                                       uint64_t bytes) {
  if (conflicts.empty())
    return;
  uint32_t known = sites[site].object;
  uint32_t object = known ? known : block.findObject(place);
  uint64_t origin = tables.objects[object].offset + place - getOffset(place);
  findings.addConflicts({thread, site, bytes, Space::Shared, object, origin,
                         place, tables.sharedGrain, window + place},
                        conflicts);
}

uint8_t *AccessChecker::accessShared(ThreadState &thread, AccessKind kind,
                                     uint64_t place, uint32_t site,
                                     uint64_t bytes) {
  reached[site] = 1;
  if (!checkShared(thread, place, site, bytes))
    return nowhere;
  useOther(thread, place, site);
  uint8_t *address = window + place;
  if (!checksRaces)
    return address;
  findings.settle();
  shadow.access(kind, thread.linear, place, site, bytes, conflicts);
  addSharedConflicts(thread, place, site, bytes);
  if (isAtomic(kind) && tables.ordersMemory)
    order.orderShared(thread, place, sites[site].order);
  return address;
}

//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

/// The number of the buffer that an access is to, plus one; 0 if there is none.
uint32_t AccessChecker::findBuffer(const uint8_t *address,
                                   uint32_t site) const {
  if (uint32_t known = siteBounds[site].buffer)
    return known;
  for (uint32_t i = 0; i < launch.buffers.size(); ++i)
    if (launch.buffers[i].contains(address))
      return i + 1;
  return 0;
}

uint8_t *AccessChecker::accessGlobal(ThreadState &thread, AccessKind kind,
                                     uint8_t *address, uint32_t site,
                                     uint64_t bytes, const Access *agent) {
  const Site &info = sites[site];
  reached[site] = 1;
  uint32_t number = findBuffer(address, site);
  if (number == 0)
    return refuse(thread, FindingKind::OutOfBounds, site, Space::Global, 0,
                  reinterpret_cast<intptr_t>(address), bytes);
  Buffer &buffer = launch.buffers[number - 1];
  int64_t offset = address - buffer.base;
  if (uint64_t(offset) > buffer.bytes ||
      bytes > buffer.bytes - uint64_t(offset))
    return refuse(thread, FindingKind::OutOfBounds, site, Space::Global, number,
                  offset, bytes);
  if (reinterpret_cast<uintptr_t>(address) & (info.alignment - 1))
    refuse(thread, FindingKind::Misaligned, site, Space::Global, number, offset,
           bytes);
  if (writes(kind) && !buffer.isWritable)
    return refuse(thread, FindingKind::ReadOnly, site, Space::Global, number,
                  offset, bytes);
  if (!buffer.shadow)
    return address;
  findings.settle();
  buffer.shadow->access(
      {block.clocks, block.number, thread.linear, launch.publications,
       launch.grid, block.getNumBlocks() > 1, /*isByProxy=*/agent != nullptr},
      kind, offset + buffer.shadowOffset, site, bytes, conflicts, agent);
  if (!conflicts.empty())
    findings.addConflicts({thread, site, bytes, Space::Global, number,
                           buffer.shadowOffset, offset + buffer.shadowOffset,
                           buffer.shadow->getGrain(), address},
                          conflicts);
  if (isAtomic(kind) && tables.ordersMemory)
    order.orderGlobal(thread, address, info.order);
  return address;
}

//===----------------------------------------------------------------------===//
// Any memory
//===----------------------------------------------------------------------===//

uint8_t *AccessChecker::access(ThreadState &thread, AccessKind kind,
                               uint64_t address, uint32_t site,
                               uint64_t bytes) {
  if (bytes == 0)
    return nowhere;
  if (sites[site].space == Space::Private) // proved to be in bounds
    return reinterpret_cast<uint8_t *>(address);
  if (sites[site].space == Space::Shared)
    return accessShared(thread, kind, getPlace(thread, address), site, bytes);
  // A generic address may lie in the window.
  uint64_t place = address - reinterpret_cast<uintptr_t>(window);
  if (place < block.getNumBlocks() * kSharedWindow)
    return accessShared(thread, kind, place, site, bytes);
  return accessGlobal(thread, kind, reinterpret_cast<uint8_t *>(address), site,
                      bytes);
}

uint8_t *AccessChecker::fault(ThreadState &thread, uint64_t address,
                              uint32_t site) {
  const Site &info = sites[site];
  if (info.space == Space::Private)
    return refuse(thread, FindingKind::OutOfBounds, site, Space::Private, 0, 0,
                  info.bytes);
  // Beyond a variable lies another, which is none of the access's business.
  if (info.isVariable)
    return refuse(thread, FindingKind::OutOfBounds, site,
                  info.space == Space::Constant ? Space::Constant
                                                : Space::Global,
                  launch.request.buffers.size() + 1, 0, info.bytes);
  return access(thread, info.kind, address, site, info.bytes);
}

void AccessChecker::copyBytes(ThreadState &thread, uint64_t target,
                              uint64_t source, uint64_t bytes, uint32_t site) {
  uint8_t *from = access(thread, AccessKind::Read, source, site + 1, bytes);
  uint8_t *to = access(thread, AccessKind::Write, target, site, bytes);
  if (from != nowhere && to != nowhere)
    std::memmove(to, from, bytes);
}

void AccessChecker::setBytes(ThreadState &thread, uint64_t target,
                             uint8_t value, uint64_t bytes, uint32_t site) {
  uint8_t *to = access(thread, AccessKind::Write, target, site, bytes);
  if (to != nowhere)
    std::memset(to, value, bytes);
}

/// Arrays on a GPU begin at multiples of 256 bytes; those of the host need not.
void AccessChecker::log(const ThreadState &thread, uint64_t address,
                        uint32_t site) {
  reached[site] = 1;
  const Object &object = tables.objects[sites[site].object];
  if (object.kind == Object::Kind::Argument)
    address -=
        reinterpret_cast<uintptr_t>(launch.arguments[object.offset].base);
  accessLog.add(thread.linear, site, address);
}

//===----------------------------------------------------------------------===//
// Asynchronous copies
//===----------------------------------------------------------------------===//

void AccessChecker::beginCopy(const ThreadState &thread, uint64_t offset,
                              uint32_t site, uint64_t bytes) {
  if (!checksRaces)
    return;
  shadow.beginCopy(thread.linear, offset, site, bytes, conflicts);
  addSharedConflicts(thread, offset, site, bytes);
}

void AccessChecker::endCopy(uint64_t offset, uint64_t bytes, Access writer) {
  if (checksRaces)
    shadow.endCopy(offset, bytes, writer);
}

void AccessChecker::accessInBulk(const ThreadState &thread, AccessKind kind,
                                 Access agent, uint64_t offset, uint32_t site,
                                 uint64_t bytes,
                                 std::optional<unsigned> knower) {
  if (!checksRaces)
    return;
  findings.settle();
  unsigned issuer = knower.value_or(thread.linear);
  if (writes(kind))
    shadow.writeByAgent(issuer, agent, offset, bytes, conflicts);
  else
    shadow.readByAgent(issuer, agent, offset, bytes, conflicts);
  addSharedConflicts(thread, offset, site, bytes);
}

void AccessChecker::holdSource(const uint8_t *source, uint64_t bytes,
                               bool begins) {
  if (!checksRaces || bytes == 0)
    return;
  for (Buffer &buffer : launch.buffers)
    if (buffer.contains(source) && buffer.shadow) {
      uint64_t offset = source - buffer.base;
      buffer.shadow->hold(offset + buffer.shadowOffset,
                          std::min(bytes, buffer.bytes - offset), begins);
      return;
    }
}

void AccessChecker::useOther(const ThreadState &thread, uint64_t place,
                             uint32_t site) {
  unsigned rank = getRank(place);
  if (rank == thread.rank || !checksRaces)
    return;
  usesOfOthers[{thread.linear, rank}] =
      Access::make(block.clocks.getTime(thread.linear), thread.linear, site);
}

void AccessChecker::endBlock(bool isComplete) {
  for (auto [who, use] : usesOfOthers)
    if (isComplete && !block.isKnownIn(who.second, use))
      findings.report(block.threads[who.first], FindingKind::ExitedBlock,
                      use.getSite(),
                      {makeNote("no thread of the block of rank " +
                                std::to_string(who.second) +
                                " in the cluster comes to know of it before "
                                "that block ends")});
  usesOfOthers.clear();
}

void AccessChecker::addConflict(const ThreadState &thread,
                                const Conflict &conflict, uint64_t place,
                                uint32_t site, uint64_t bytes) {
  uint32_t object = block.findObject(place);
  uint64_t origin = tables.objects[object].offset + place - getOffset(place);
  conflicts.push_back({place, conflict});
  findings.addConflicts({thread, site, bytes, Space::Shared, object, origin,
                         place, tables.sharedGrain, window + place},
                        conflicts);
}

} // namespace mlir::workgroup::emulator
