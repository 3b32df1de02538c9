//===- WorkerCopies.cpp - Copies that go on by themselves -----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `cp.async`, which is waited for by its thread or tracked by an mbarrier, and
// copies in bulk by the asynchronous proxy: loads, which an mbarrier tracks,
// and stores, which their thread waits for.
//
//===----------------------------------------------------------------------===//

#include "Worker.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>

namespace mlir::workgroup::emulator {

//===----------------------------------------------------------------------===//
// Asynchronous copies
//===----------------------------------------------------------------------===//

/// Whether a copy shall arrive now, as early as it may.
bool Worker::arrivesAtOnce() {
  AsyncMode mode = launch.request.asyncMode;
  return mode == AsyncMode::Eager ||
         (mode == AsyncMode::Seeded && (random() & 1));
}

static void landBytes(uint8_t *target, const AsyncCopy &copy) {
  std::memcpy(target, copy.source, copy.sourceBytes);
  std::memset(target + copy.sourceBytes, 0, copy.bytes - copy.sourceBytes);
}

void Worker::beginCopy(ThreadState &thread, uint64_t target, uint64_t source,
                       uint64_t sourceBytes, uint32_t site) {
  const Site &info = tables.sites[site];
  AsyncCopy copy;
  copy.target = target;
  copy.bytes = info.bytes;
  copy.sourceBytes = std::min<uint64_t>(sourceBytes, info.bytes);
  copy.site = site;
  copy.source =
      access(thread, AccessKind::Read, source, site + 1, copy.sourceBytes);
  reached[site] = 1;
  if (launch.withStatistics) {
    logAccess(thread, target, site);
    logAccess(thread, source, site + 1);
  }
  const SiteBounds &bounds = launch.siteBounds[site];
  if (target < bounds.begin || target > bounds.end ||
      copy.bytes > bounds.end - target || (target & bounds.misaligned))
    if (refuseShared(thread, target, site, copy.bytes))
      return;
  if (launch.checksRaces()) {
    shadow.beginCopy(thread.linear, target, site, copy.bytes, conflicts);
    if (!conflicts.empty()) {
      uint32_t found = info.object ? info.object : findObject(target);
      addConflicts(thread, Space::Shared, found, tables.objects[found].offset,
                   target, tables.sharedGrain, site, copy.bytes,
                   window + target);
    }
  }
  holdSource(copy, /*begins=*/true);
  copy.hasLanded = arrivesAtOnce();
  if (copy.hasLanded)
    landBytes(window + target, copy);
  if (!copies[thread.linear].add(copy) && !launch.isOver)
    giveUp(thread, FindingKind::TooManyCopies, site);
}

/// Marks the bytes that a copy reads until it has landed.
void Worker::holdSource(const AsyncCopy &copy, bool begins) {
  if (!launch.checksRaces() || copy.sourceBytes == 0)
    return;
  for (Buffer &buffer : launch.buffers)
    if (buffer.contains(copy.source) && buffer.shadow) {
      uint64_t offset = copy.source - buffer.base;
      uint64_t bytes = std::min(copy.sourceBytes, buffer.bytes - offset);
      buffer.shadow->hold(offset + buffer.shadowOffset, bytes, begins);
      return;
    }
}

/// Lands a copy, after which its bytes are written by `writer`.
void Worker::land(const AsyncCopy &copy, Access writer) {
  holdSource(copy, /*begins=*/false);
  if (!copy.hasLanded)
    landBytes(window + copy.target, copy);
  if (launch.checksRaces())
    shadow.endCopy(copy.target, copy.bytes,
                   Access::make(writer.time, writer.getActor(), copy.site,
                                /*isAsync=*/true));
}

void Worker::commitCopies(ThreadState &thread) {
  copies[thread.linear].commit();
}

void Worker::waitForCopies(ThreadState &thread, uint64_t newerGroups) {
  copies[thread.linear].wait(newerGroups, [&](const AsyncCopy &copy) {
    if (copy.agent) {
      landFlightOf(*copy.agent);
      clocks.learn(thread.linear, *copy.agent);
      return;
    }
    land(copy,
         Access::make(clocks.getTime(thread.linear), thread.linear, copy.site));
  });
}

//===----------------------------------------------------------------------===//
// Bytes of bulk copies
//===----------------------------------------------------------------------===//

void BulkCopy::load(uint8_t *window) const {
  if (!map) {
    std::memcpy(window + shared, global, bytes);
    return;
  }
  std::vector<uint8_t> row(map->getRowBytes());
  map->forEachRow(getCoordinates(), [&](const TensorMap::Row &place) {
    std::fill(row.begin(), row.end(), map->getFill());
    if (place.begin != place.end)
      std::memcpy(row.data() + place.begin, map->address + place.offset,
                  place.end - place.begin);
    for (uint64_t at = 0; at < row.size(); at += TensorMap::kChunk)
      std::memcpy(window + map->swizzle(shared + place.tileOffset + at),
                  row.data() + at, TensorMap::kChunk);
  });
}

std::vector<uint8_t> BulkCopy::gather(const uint8_t *window) const {
  std::vector<uint8_t> result(getBytes());
  for (uint64_t at = 0; at < result.size(); at += TensorMap::kChunk) {
    uint64_t from = map ? map->swizzle(shared + at) : shared + at;
    std::memcpy(result.data() + at, window + from, TensorMap::kChunk);
  }
  return result;
}

void BulkCopy::store(const uint8_t *bytes) const {
  if (!map) {
    std::memcpy(global, bytes, getBytes());
    return;
  }
  map->forEachRow(getCoordinates(), [&](const TensorMap::Row &row) {
    if (row.begin != row.end)
      std::memcpy(map->address + row.offset, bytes + row.tileOffset + row.begin,
                  row.end - row.begin);
  });
}

//===----------------------------------------------------------------------===//
// Beginning bulk copies
//===----------------------------------------------------------------------===//

BulkCopy Worker::makeBulkCopy(const ThreadState &thread,
                              const Operation &operation) const {
  constexpr unsigned kGlobal = 4, kRest = 6; // registers
  BulkCopy copy;
  copy.site = operation.accessSite;
  copy.shared = getWide(thread, 0);
  if (operation.async->rank == 0) {
    copy.global = reinterpret_cast<uint8_t *>(getWide(thread, kGlobal));
    copy.bytes = thread.registers[kRest];
    return copy;
  }
  copy.map = reinterpret_cast<const TensorMap *>(getWide(thread, kGlobal));
  for (unsigned dim = 0; dim < operation.async->rank; ++dim)
    copy.coordinates[dim] = thread.registers[kRest + dim];
  return copy;
}

/// Checks what does not depend on other accesses. False if the copy cannot be
/// made.
bool Worker::checkBulkCopy(ThreadState &thread, const BulkCopy &copy,
                           const Operation &operation) {
  const AsyncOp &op = *operation.async;
  uint32_t sharedSite = op.isLoad() ? copy.site : copy.site + 1;
  if (copy.map && copy.map->getRank() != op.rank) {
    giveUp(thread, FindingKind::TensorMap, operation.site,
           {makeNote("the copy has " + std::to_string(op.rank) +
                     " coordinates, but the tensor map has " +
                     std::to_string(copy.map->getRank()) + " dimensions")});
    return false;
  }
  if (!copy.map && copy.bytes % TensorMap::kChunk) {
    giveUp(thread, FindingKind::BulkSize, operation.site,
           {makeNote("it is of " + std::to_string(copy.bytes) + " bytes")});
    return false;
  }
  // A swizzle moves chunks within its span, in which rows begin.
  uint64_t span = copy.map ? copy.map->getSpan() : 1;
  uint64_t bytes = llvm::alignTo(copy.getBytes(), span);
  const SiteBounds &bounds = launch.siteBounds[sharedSite];
  if (copy.shared < bounds.begin || copy.shared > bounds.end ||
      bytes > bounds.end - copy.shared) {
    refuseShared(thread, copy.shared, sharedSite, bytes);
    launch.isOver = true;
    return false;
  }
  uint64_t alignment = copy.map ? copy.map->getAlignment() : TensorMap::kChunk;
  if (copy.shared % alignment) {
    FindingInstance instance =
        makeInstance(thread, Space::Shared, tables.sites[sharedSite].object,
                     copy.shared - bounds.begin, copy.getBytes());
    instance.notes.push_back(makeNote("it has to be a multiple of " +
                                      std::to_string(alignment) + " bytes"));
    findings.add({FindingKind::MisalignedTile, sharedSite, 0},
                 std::move(instance));
  }
  return true;
}

/// Calls `run` with the bytes of global memory that a copy touches.
template <typename Function>
static void forEachGlobalPart(const BulkCopy &copy, Function run) {
  if (!copy.map)
    return run(copy.global, copy.bytes);
  copy.map->forEachRow(copy.getCoordinates(), [&](const TensorMap::Row &row) {
    if (row.begin != row.end)
      run(copy.map->address + row.offset, row.end - row.begin);
  });
}

/// Checks and records what a copy does to memory. False if it must not be made.
bool Worker::accessInBulk(ThreadState &thread, const BulkCopy &copy,
                          bool isLoad) {
  uint32_t sharedSite = isLoad ? copy.site : copy.site + 1;
  uint32_t globalSite = isLoad ? copy.site + 1 : copy.site;
  reached[sharedSite] = reached[globalSite] = 1;
  if (copy.getBytes() == 0)
    return true;
  bool isPossible = true;
  forEachGlobalPart(copy, [&](uint8_t *address, uint64_t bytes) {
    isPossible &=
        accessGlobal(thread, isLoad ? AccessKind::Read : AccessKind::Write,
                     address, globalSite, bytes,
                     isLoad ? copy.reader : copy.writer) == address;
  });
  if (!isPossible)
    launch.isOver = true;
  if (!launch.checksRaces() || !isPossible)
    return isPossible;
  if (!unsettled.empty())
    settle();
  uint64_t bytes = copy.getBytes();
  if (isLoad)
    shadow.writeByAgent(thread.linear, copy.writer, copy.shared, bytes,
                        conflicts);
  else
    shadow.readByAgent(thread.linear, copy.reader, copy.shared, bytes,
                       conflicts);
  if (!conflicts.empty()) {
    uint32_t known = tables.sites[sharedSite].object;
    uint32_t object = known ? known : findObject(copy.shared);
    addConflicts(thread, Space::Shared, object, tables.objects[object].offset,
                 copy.shared, tables.sharedGrain, sharedSite, bytes,
                 window + copy.shared);
  }
  return true;
}

void Worker::beginLoad(ThreadState &thread, uint32_t number) {
  const Operation &operation = tables.operations[number];
  uint64_t address = getWide(thread, 2);
  BulkCopy copy = makeBulkCopy(thread, operation);
  MBarrier *barrier = findMBarrier(thread, operation, address);
  if (!barrier || !checkBulkCopy(thread, copy, operation))
    return;
  checkOrder(thread, operation, *barrier, address, /*byProxy=*/true);
  Access agent = clocks.beginAgent(thread.linear, copy.site);
  copy.writer = agent;
  copy.reader = Access::make(agent.time, agent.getActor(), copy.site + 1,
                             /*isAsync=*/true);
  if (!accessInBulk(thread, copy, /*isLoad=*/true))
    return;
  if (copy.getBytes())
    lastLoads[agent.getActor()] = {agent, operation.site};
  flights.push_back({thread.linear, address, number, agent, copy});
  if (arrivesAtOnce())
    land(flights.size() - 1);
}

void Worker::beginStore(ThreadState &thread, const Operation &operation) {
  BulkCopy copy = makeBulkCopy(thread, operation);
  if (!checkBulkCopy(thread, copy, operation))
    return;
  copy.writer = clocks.beginAgent(thread.linear, copy.site);
  copy.reader = clocks.beginAgent(thread.linear, copy.site + 1);
  if (!accessInBulk(thread, copy, /*isLoad=*/false))
    return;
  StoreQueue::Store store{copy};
  if (arrivesAtOnce())
    finishStore(store);
  stores[thread.linear].open.push_back(std::move(store));
}

//===----------------------------------------------------------------------===//
// Completing them
//===----------------------------------------------------------------------===//

void Worker::readSource(StoreQueue::Store &store) {
  if (!store.hasRead)
    store.bytes = store.copy.gather(window);
  store.hasRead = true;
}

void Worker::finishStore(StoreQueue::Store &store) {
  readSource(store);
  if (!store.isDone)
    store.copy.store(store.bytes.data());
  store.isDone = true;
}

void Worker::commitStores(ThreadState &thread) {
  StoreQueue &queue = stores[thread.linear];
  queue.groups.push_back(std::move(queue.open));
  queue.open.clear();
}

void Worker::waitForStores(ThreadState &thread, uint64_t newerGroups,
                           bool onlyReads) {
  auto &groups = stores[thread.linear].groups;
  for (size_t i = 0; i + newerGroups < groups.size(); ++i)
    for (StoreQueue::Store &store : groups[i]) {
      readSource(store);
      store.isReadWaitedFor = true;
      clocks.learn(thread.linear, store.copy.reader);
      if (onlyReads)
        continue;
      finishStore(store);
      clocks.learn(thread.linear, store.copy.writer);
    }
  while (!onlyReads && groups.size() > newerGroups)
    groups.pop_front();
}

void Worker::trackCopies(ThreadState &thread, uint32_t number) {
  const Operation &operation = tables.operations[number];
  uint64_t address = getWide(thread, 0);
  MBarrier *barrier = findMBarrier(thread, operation, address);
  if (!barrier)
    return;
  checkOrder(thread, operation, *barrier, address);
  if (!operation.async->isCounted &&
      !accept(thread, operation, barrier->expectArrival()))
    return;
  Flight flight{thread.linear,
                address,
                number,
                clocks.beginAgent(thread.linear, operation.site),
                {}};
  copies[thread.linear].forEach([&](AsyncCopy &copy) {
    if (copy.agent)
      return;
    copy.agent = flight.agent;
    flight.copies.push_back(copy);
  });
  writeBack(address, *barrier);
  flights.push_back(std::move(flight));
  if (arrivesAtOnce())
    land(flights.size() - 1);
}

/// Completes what is under way, and tells its mbarrier.
void Worker::land(size_t index) {
  Flight flight = std::move(flights[index]);
  flights.erase(flights.begin() + index);
  if (flight.load)
    flight.load->load(window);
  for (const AsyncCopy &copy : flight.copies)
    land(copy, flight.agent);
  const Operation &operation = tables.operations[flight.operation];
  ThreadState &thread = threads[flight.thread];
  MBarrier *barrier = findMBarrier(thread, operation, flight.barrier);
  if (!barrier)
    return;
  clocks.finishAgent(flight.agent, barrier->getArriving());
  llvm::StringRef complaint =
      flight.load ? barrier->completeBytes(flight.load->getBytes())
                  : barrier->arrive(1, *operation.async);
  if (accept(thread, operation, complaint))
    writeBack(flight.barrier, *barrier);
}

/// Lands the copies that `agent` completes, if they have not landed.
void Worker::landFlightOf(Access agent) {
  for (size_t i = 0; i < flights.size(); ++i)
    if (flights[i].agent.time == agent.time)
      return land(i);
}

void Worker::landSome() {
  for (size_t i = 0; i < flights.size();)
    if (random() & 1)
      land(i);
    else
      ++i;
}

/// What is still under way when the block ends, with nobody to wait for it.
void Worker::endCopies(bool isComplete) {
  for (auto [agent, load] : lastLoads)
    if (isComplete && !clocks.isKnownToAny(load.first))
      report(threads[clocks.getThread(load.first)], FindingKind::NotWaitedAtEnd,
             load.second);
  lastLoads.clear();
  for (Flight &flight : flights)
    for (const AsyncCopy &copy : flight.copies)
      land(copy, flight.agent);
  flights.clear();
  for (unsigned thread = 0; thread < stores.size(); ++thread) {
    StoreQueue &queue = stores[thread];
    if (queue.open.empty() && queue.groups.empty())
      continue;
    commitStores(threads[thread]);
    for (std::vector<StoreQueue::Store> &group : queue.groups)
      for (StoreQueue::Store &store : group) {
        finishStore(store);
        if (isComplete && !store.isReadWaitedFor)
          report(threads[thread], FindingKind::NotWaitedAtEnd, store.copy.site);
      }
    queue = {};
  }
}

} // namespace mlir::workgroup::emulator
