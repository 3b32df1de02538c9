//===- Rendezvous.cpp - Where threads wait for each other -----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Worker.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

namespace mlir::workgroup::emulator {

//===----------------------------------------------------------------------===//
// Warps
//===----------------------------------------------------------------------===//

static uint32_t getMask(const Operation &operation, const ThreadState &thread) {
  return operation.warp ? thread.registers[operation.warp->getMaskRegister()]
                        : ~0u;
}

static std::string printMask(uint32_t lanes) {
  return "0x" + llvm::utohexstr(lanes, /*LowerCase=*/true);
}

static bool canMeet(const Operation &a, const Operation &b) {
  if (a.kind != b.kind)
    return false;
  // What is not `.aligned` may meet from different places of the program.
  return a.warp ? *a.warp == *b.warp : a.site == b.site;
}

/// The lanes that `lane` waits for at a warp operation, itself included, if all
/// have come; else zero.
uint32_t Worker::getGroup(unsigned warp, unsigned lane) {
  const ThreadState &self = threads[warp * kWarpSize + lane];
  const Operation &operation = tables.operations[self.operation];
  uint32_t mask = getMask(operation, self) | 1u << lane;
  uint32_t members = 0;
  bool isComplete = true, isWhole = true;
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    unsigned other = llvm::countr_zero(rest);
    unsigned index = warp * kWarpSize + other;
    if (index >= threads.size() || threads[index].wait == Wait::Done) {
      // Only threads that have not exited are waited for. That lanes meet does
      // no harm to those that there never were.
      isWhole &= index >= threads.size() && operation.warp &&
                 operation.warp->getKind() == WarpOp::Kind::Sync;
      continue;
    }
    members |= 1u << other;
    const ThreadState &thread = threads[index];
    const Operation &theirs = tables.operations[thread.operation];
    isComplete &= thread.wait == Wait::Warp && canMeet(operation, theirs) &&
                  (getMask(theirs, thread) | 1u << other) == mask;
  }
  if (isComplete && !isWhole && operation.warp && launch.check == Check::All)
    report(threads[warp * kWarpSize + lane], FindingKind::ExitedLane,
           operation.site,
           {makeNote("it is for the lanes " + printMask(mask) +
                     ", of which there are " + printMask(members))});
  return isComplete ? members : 0;
}

/// Executes what lanes of a warp wait to do together. True if any can go on.
bool Worker::meetLanes(unsigned warp) {
  bool hasMet = false;
  unsigned first = warp * kWarpSize;
  unsigned count = std::min<size_t>(kWarpSize, threads.size() - first);
  for (unsigned lane = 0; lane < count; ++lane) {
    if (threads[first + lane].wait != Wait::Warp)
      continue;
    uint32_t lanes = getGroup(warp, lane);
    if (!lanes)
      continue;
    executeTogether(warp, lanes);
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
      threads[first + llvm::countr_zero(rest)].wait = Wait::None;
    hasMet = true;
  }
  return hasMet;
}

void Worker::executeTogether(unsigned warp, uint32_t lanes) {
  ++counters.warpOperations;
  unsigned first = warp * kWarpSize;
  ThreadState &leader = threads[first + llvm::countr_zero(lanes)];
  const Operation &operation = tables.operations[leader.operation];
  llvm::SmallVector<unsigned, kWarpSize> members;
  for (uint32_t rest = lanes; rest; rest &= rest - 1)
    members.push_back(first + llvm::countr_zero(rest));
  if (tables.hasValueOrder && launch.checksRaces())
    clocks.exchangeValues(members);
  if (operation.matrix)
    return executeMatrix(warp, lanes, operation);
  if (operation.warp->getKind() == WarpOp::Kind::Sync) {
    clocks.synchronize(members);
    return;
  }
  uint32_t *registers[kWarpSize] = {};
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    unsigned lane = llvm::countr_zero(rest);
    registers[lane] = threads[first + lane].registers;
  }
  uint32_t undefined = operation.warp->execute(lanes, registers);
  if (undefined && launch.check == Check::All)
    report(threads[first + llvm::countr_zero(undefined)],
           FindingKind::InactiveLane, operation.site);
}

/// Rows of `ldmatrix` and `stmatrix` have 16 bytes and are aligned to them.
void Worker::checkRow(ThreadState &thread, const Operation &operation) {
  constexpr uint64_t kRowBytes = 16;
  uint64_t address = uint64_t(thread.registers[1]) << 32 | thread.registers[0];
  if (launch.withStatistics)
    logAccess(thread, address, operation.accessSite);
  if (address % kRowBytes)
    report(thread, FindingKind::MisalignedRow, operation.site);
}

/// Whether a fragment lies as the hardware wants it. Arrays on a GPU begin at
/// multiples of 256 bytes; those of the host need not.
void Worker::checkFragment(ThreadState &thread, const Operation &operation) {
  uint64_t address = uint64_t(thread.registers[1]) << 32 | thread.registers[0];
  const Site &site = tables.sites[operation.accessSite];
  const Object &object = tables.objects[site.object];
  auto shared = reinterpret_cast<uintptr_t>(window);
  uint64_t origin = 0;
  if (site.space == Space::Generic && address - shared < kSharedWindow)
    origin = shared;
  else if (object.kind == Object::Kind::Argument)
    origin = reinterpret_cast<uintptr_t>(launch.arguments[object.offset].base);
  else if (site.space == Space::Generic)
    return; // nobody knows where what it points into begins
  if (!operation.matrix->isAligned(thread.registers, origin))
    report(thread, FindingKind::MisalignedMatrix, operation.site);
}

void Worker::executeMatrix(unsigned warp, uint32_t lanes,
                           const Operation &operation) {
  unsigned first = warp * kWarpSize;
  if (lanes != ~0u) { // it has no meaning without all of them
    report(threads[first + llvm::countr_zero(lanes)], FindingKind::Divergence,
           operation.site,
           {makeNote("only the lanes " + printMask(lanes) + " are here")});
    return;
  }
  for (unsigned lane = 0; lane < operation.numRows; ++lane)
    checkRow(threads[first + lane], operation);
  if (operation.matrix->getKind() != MatrixOp::Kind::Compute)
    checkFragment(threads[first], operation);
  uint32_t *registers[kWarpSize];
  for (unsigned lane = 0; lane < kWarpSize; ++lane)
    registers[lane] = threads[first + lane].registers;
  AccessKind kind = operation.matrix->getKind() == MatrixOp::Kind::Store
                        ? AccessKind::Write
                        : AccessKind::Read;
  auto access = [&](unsigned lane, uint64_t address, unsigned bytes) {
    ThreadState &thread = threads[first + lane];
    if (launch.withStatistics && operation.numRows == 0)
      logAccess(thread, address, operation.accessSite);
    return this->access(thread, kind, address, operation.accessSite, bytes);
  };
  operation.matrix->execute(registers, access);
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

void Worker::arriveAtBarrier(ThreadState &thread) {
  Arrivals &arrival = arrivals[thread.registers[0] % arrivals.size()];
  arrival.threads.push_back(thread.linear);
  clocks.release(thread.linear, arrival.meeting);
}

/// The case that is most common: all threads of the block are at one barrier.
bool Worker::openCommonBarrier() {
  const ThreadState &first = threads.front();
  if (first.wait != Wait::Barrier || first.registers[0] != 0 ||
      !arrivals[0].threads.empty())
    return false;
  const Operation &operation = tables.operations[first.operation];
  if (operation.kind != Operation::Kind::Barrier || operation.reduction)
    return false;
  bool isWhole = true;
  for (const ThreadState &thread : threads)
    isWhole &= thread.wait == Wait::Barrier &&
               thread.operation == first.operation && thread.registers[0] == 0;
  if (!isWhole)
    return false;
  ++counters.barriers;
  lastBarrier = operation.site;
  clocks.synchronizeAll();
  setTimes();
  for (ThreadState &thread : threads)
    thread.wait = Wait::None;
  return true;
}

/// Lets threads through barriers that all they wait for have reached.
bool Worker::openBarriers() {
  if (openCommonBarrier())
    return true;
  llvm::SmallVector<unsigned, 64> waiting[16];
  unsigned numLive = 0;
  for (const ThreadState &thread : threads) {
    numLive += thread.wait != Wait::Done;
    if (thread.wait == Wait::Barrier)
      waiting[thread.registers[0] % 16].push_back(thread.linear);
  }
  bool hasOpened = false;
  for (uint32_t id = 0; id < 16; ++id) {
    if (waiting[id].empty())
      continue;
    ThreadState &first = threads[waiting[id].front()];
    const Operation &operation = tables.operations[first.operation];
    bool isCounted = operation.kind == Operation::Kind::BarrierCount;
    size_t present = waiting[id].size() + arrivals[id].threads.size();
    size_t needed = isCounted ? first.registers[1] : numLive;
    bool isInvalid =
        first.registers[0] >= 16 ||
        (isCounted && (needed % kWarpSize || needed == 0 || present > needed));
    if (isInvalid)
      report(first, FindingKind::InvalidBarrier, operation.site,
             {makeNote(std::to_string(present) + " threads are at barrier " +
                       std::to_string(first.registers[0]) + ", which is for " +
                       std::to_string(needed))});
    if (present < needed)
      continue;
    if (!isCounted && numLive < threads.size())
      report(first, FindingKind::ExitedThread, operation.site,
             describeWaits(
                 llvm::to_vector(llvm::seq<unsigned>(0, threads.size()))));
    hasOpened |= openBarrier(id, waiting[id]);
  }
  return hasOpened;
}

bool Worker::openBarrier(uint32_t id, llvm::ArrayRef<unsigned> waiting) {
  ++counters.barriers;
  checkAlignedBarrier(waiting);
  reducePredicates(waiting);
  lastBarrier = tables.operations[threads[waiting.front()].operation].site;
  Arrivals &arrival = arrivals[id];
  if (arrival.threads.empty()) {
    clocks.synchronize(waiting);
  } else {
    for (unsigned thread : waiting)
      clocks.release(thread, arrival.meeting);
    for (unsigned thread : waiting)
      clocks.acquire(thread, arrival.meeting);
    arrival = {};
  }
  setTimes();
  for (unsigned thread : waiting)
    threads[thread].wait = Wait::None;
  return true;
}

/// The aligned form wants the lanes of a warp to be at one barrier in the
/// program. That warps are at different ones is only odd.
void Worker::checkAlignedBarrier(llvm::ArrayRef<unsigned> waiting) {
  ThreadState *first = nullptr;
  for (unsigned index : waiting) {
    ThreadState &thread = threads[index];
    const Operation &operation = tables.operations[thread.operation];
    if (!operation.isAligned)
      continue;
    if (!first || first->warp != thread.warp) {
      first = &thread;
      continue;
    }
    uint32_t site = tables.operations[first->operation].site;
    if (site == operation.site)
      continue;
    FindingKey key{FindingKind::Divergence, site, operation.site};
    FindingInstance instance = makeInstance(*first, Space::None, 0, 0, 0);
    instance.otherThread = thread.linear;
    instance.otherBlock = block;
    instance.notes = describeWaits(waiting);
    findings.add(key, std::move(instance));
    return;
  }
}

/// `barrier.cta.red`: every thread gets what the predicates of all come to.
void Worker::reducePredicates(llvm::ArrayRef<unsigned> waiting) {
  const Operation &operation =
      tables.operations[threads[waiting.front()].operation];
  if (!operation.reduction)
    return;
  unsigned source = operation.kind == Operation::Kind::BarrierCount ? 2 : 1;
  uint32_t count = llvm::count_if(waiting, [&](unsigned thread) {
    return threads[thread].registers[source] & 1;
  });
  uint32_t result = count;
  if (*operation.reduction == BarrierReduction::And)
    result = count == waiting.size();
  else if (*operation.reduction == BarrierReduction::Or)
    result = count != 0;
  for (unsigned thread : waiting)
    threads[thread].registers[0] = result;
}

//===----------------------------------------------------------------------===//
// Deadlocks
//===----------------------------------------------------------------------===//

static std::string printRanges(llvm::ArrayRef<unsigned> numbers) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (size_t i = 0; i < numbers.size();) {
    size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1)
      ++end;
    stream << (i ? ", " : "") << numbers[i];
    if (end > i + 1)
      stream << ".." << numbers[end - 1];
    i = end;
  }
  return text;
}

/// Where a thread waits, and for whom.
std::string Worker::describeWait(const ThreadState &thread,
                                 const Operation &operation) const {
  if (thread.wait == Wait::Phase) {
    uint64_t offset = uint64_t(thread.registers[1]) << 32 | thread.registers[0];
    auto it = mbarriers.find(offset);
    return " wait at this mbarrier, " + describeShared(offset) + ", of which " +
           (it == mbarriers.end() ? "there is none" : it->second.describe());
  }
  if (thread.wait == Wait::Warp)
    return " wait here for the lanes " + printMask(getMask(operation, thread)) +
           " of their warps";
  std::string text = " wait at this barrier";
  if (thread.registers[0] || operation.kind == Operation::Kind::BarrierCount)
    text += ", number " + std::to_string(thread.registers[0]) + ",";
  if (operation.kind == Operation::Kind::BarrierCount)
    return text + " for " + std::to_string(thread.registers[1]) + " threads";
  return text + " for all that have not left";
}

/// Who is where, a note per place.
std::vector<DiagnosticRecord>
Worker::describeWaits(llvm::ArrayRef<unsigned> which) {
  using Place = std::tuple<Wait, uint32_t, uint32_t>; // with ordinal and site
  std::map<Place, llvm::SmallVector<unsigned>> places;
  for (unsigned index : which) {
    const ThreadState &thread = threads[index];
    bool waits = thread.wait != Wait::None && thread.wait != Wait::Done;
    uint32_t site = waits ? tables.operations[thread.operation].site : 0;
    places[{thread.wait, tables.sites[site].ordinal, site}].push_back(index);
  }
  std::vector<DiagnosticRecord> notes;
  for (const auto &[place, numbers] : places) {
    auto [wait, ordinal, site] = place;
    const ThreadState &first = threads[numbers.front()];
    std::string text = "threads " + printRanges(numbers) + " (linear ids)";
    if (wait == Wait::Done)
      text += " have left the kernel";
    else if (wait == Wait::None)
      text += " go on";
    else
      text += describeWait(first, tables.operations[first.operation]);
    notes.push_back(makeNote(std::move(text), tables.sites[site].location));
  }
  return notes;
}

void Worker::reportDeadlock() {
  auto all = llvm::to_vector(llvm::seq<unsigned>(0, threads.size()));
  ThreadState *waiting = llvm::find_if(threads, [](ThreadState &thread) {
                           return thread.wait != Wait::Done;
                         }).base();
  uint32_t site = tables.operations[waiting->operation].site;
  giveUp(*waiting, FindingKind::Deadlock, site, describeWaits(all));
}

} // namespace mlir::workgroup::emulator
