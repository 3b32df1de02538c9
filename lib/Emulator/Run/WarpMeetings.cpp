//===- WarpMeetings.cpp - What lanes of a warp do together ----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// First who meets whom, then what they do: votes and shuffles, and matrix
// operations, which access memory row by row.
//
//===----------------------------------------------------------------------===//

#include "WarpMeetings.h"
#include "WaitReport.h"
#include "llvm/ADT/bit.h"

namespace mlir::workgroup::emulator {

//===----------------------------------------------------------------------===//
// Who meets
//===----------------------------------------------------------------------===//

static bool canMeet(const Operation &a, const Operation &b) {
  if (a.kind != b.kind)
    return false;
  // What is not `.aligned` may meet from different places of the program.
  return a.warp ? *a.warp == *b.warp : a.site == b.site;
}

/// The lanes that are with `lane` where it asks for that: those that have come
/// to the same place while nobody went on from there. Nothing makes lanes come
/// together, so that by a seed it is any part of them.
uint32_t WarpMeetings::getConverged(unsigned warp, unsigned lane) {
  const std::vector<ThreadState> &threads = block.threads;
  uint32_t site =
      tables.operations[threads[warp * kWarpSize + lane].operation].site;
  bool isAnyPart = launch.request.order == Order::Seeded;
  uint32_t lanes = 1u << lane;
  for (unsigned other = 0; other < kWarpSize; ++other) {
    unsigned index = warp * kWarpSize + other;
    if (other == lane || index >= threads.size() ||
        threads[index].wait != Wait::Warp ||
        tables.operations[threads[index].operation].site != site)
      continue;
    if (!isAnyPart || block.random() % 2 == 0)
      lanes |= 1u << other;
  }
  return lanes;
}

/// The lanes that `lane` waits for at a warp operation, itself included, if all
/// have come; else zero.
uint32_t WarpMeetings::getGroup(unsigned warp, unsigned lane) {
  const std::vector<ThreadState> &threads = block.threads;
  const ThreadState &self = threads[warp * kWarpSize + lane];
  const Operation &operation = tables.operations[self.operation];
  if (operation.warp && operation.warp->getKind() == WarpOp::Kind::ActiveMask)
    return getConverged(warp, lane);
  uint32_t mask = getMask(operation, self) | 1u << lane;
  uint32_t members = 0;
  bool isComplete = true, isWhole = true;
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    unsigned other = llvm::countr_zero(rest);
    unsigned index = warp * kWarpSize + other;
    if (index >= threads.size() || threads[index].wait == Wait::Done) {
      // Only threads that have not exited are waited for. That lanes meet does
      // no harm to those that there never were.
      bool isThere = index < threads.size() && !threads[index].isAbsent;
      isWhole &= !isThere && operation.warp &&
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
    findings.report(self, FindingKind::ExitedLane, operation.site,
                    {makeNote("it is for the lanes " + printMask(mask) +
                              ", of which there are " + printMask(members))});
  return isComplete ? members : 0;
}

bool WarpMeetings::meet(unsigned warp) {
  std::vector<ThreadState> &threads = block.threads;
  bool hasMet = false;
  unsigned first = warp * kWarpSize;
  unsigned count = std::min<size_t>(kWarpSize, threads.size() - first);
  for (unsigned lane = 0; lane < count; ++lane) {
    if (threads[first + lane].wait != Wait::Warp)
      continue;
    uint32_t lanes = getGroup(warp, lane);
    if (!lanes)
      continue;
    execute(warp, lanes);
    // Registers may be waited for still.
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
      if (Wait &wait = threads[first + llvm::countr_zero(rest)].wait;
          wait == Wait::Warp)
        wait = Wait::None;
    hasMet = true;
  }
  return hasMet;
}

//===----------------------------------------------------------------------===//
// What they do
//===----------------------------------------------------------------------===//

void WarpMeetings::execute(unsigned warp, uint32_t lanes) {
  ++counters.warpOperations;
  unsigned first = warp * kWarpSize;
  ThreadState *threads = &block.threads[first];
  const Operation &operation =
      tables.operations[threads[llvm::countr_zero(lanes)].operation];
  llvm::SmallVector<unsigned, kWarpSize> members;
  for (uint32_t rest = lanes; rest; rest &= rest - 1)
    members.push_back(first + llvm::countr_zero(rest));
  if (tables.hasValueOrder && launch.checksRaces()) {
    llvm::SmallVector<uint32_t, kWarpSize> exchanges;
    for (unsigned member : members)
      exchanges.push_back(
          tables.operations[block.threads[member].operation].exchange);
    block.clocks.exchangeValues(members, exchanges);
  }
  if (operation.matrix)
    return executeMatrix(warp, lanes, operation);
  if (operation.warpgroup)
    return warpgroups.execute(warp, lanes, operation);
  if (operation.warp->getKind() == WarpOp::Kind::Sync) {
    block.clocks.synchronize(members);
    return;
  }
  uint32_t *registers[kWarpSize] = {};
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    unsigned lane = llvm::countr_zero(rest);
    registers[lane] = threads[lane].registers;
  }
  uint32_t undefined = operation.warp->execute(lanes, registers);
  if (undefined && launch.check == Check::All)
    findings.report(threads[llvm::countr_zero(undefined)],
                    FindingKind::InactiveLane, operation.site);
}

/// Rows of `ldmatrix` and `stmatrix` have 16 bytes and are aligned to them.
void WarpMeetings::checkRow(const ThreadState &thread,
                            const Operation &operation) {
  constexpr uint64_t kRowBytes = 16;
  uint64_t address = getWide(thread, 0);
  if (launch.withStatistics)
    memory.log(thread, address, operation.accessSite);
  if (address % kRowBytes)
    findings.report(thread, FindingKind::MisalignedRow, operation.site);
}

/// Whether a fragment lies as the hardware wants it. Arrays on a GPU begin at
/// multiples of 256 bytes; those of the host need not.
void WarpMeetings::checkFragment(const ThreadState &thread,
                                 const Operation &operation) {
  uint64_t address = getWide(thread, 0);
  const Site &site = tables.sites[operation.accessSite];
  const Object &object = tables.objects[site.object];
  auto shared = reinterpret_cast<uintptr_t>(block.window);
  uint64_t origin = 0;
  if (site.space == Space::Generic &&
      address - shared < block.getNumBlocks() * kSharedWindow)
    origin = shared;
  else if (object.kind == Object::Kind::Argument)
    origin = reinterpret_cast<uintptr_t>(launch.arguments[object.offset].base);
  else if (site.space == Space::Generic)
    return; // nobody knows where what it points into begins
  if (!operation.matrix->isAligned(thread.registers, origin))
    findings.report(thread, FindingKind::MisalignedMatrix, operation.site);
}

void WarpMeetings::executeMatrix(unsigned warp, uint32_t lanes,
                                 const Operation &operation) {
  ThreadState *threads = &block.threads[warp * kWarpSize];
  if (lanes != ~0u) { // it has no meaning without all of them
    findings.report(
        threads[llvm::countr_zero(lanes)], FindingKind::Divergence,
        operation.site,
        {makeNote("only the lanes " + printMask(lanes) + " are here")});
    return;
  }
  for (unsigned lane = 0; lane < operation.numRows; ++lane)
    checkRow(threads[lane], operation);
  if (operation.matrix->getKind() != MatrixOp::Kind::Compute)
    checkFragment(threads[0], operation);
  if (operation.isIdle)
    return;
  uint32_t *registers[kWarpSize];
  for (unsigned lane = 0; lane < kWarpSize; ++lane)
    registers[lane] = threads[lane].registers;
  AccessKind kind = operation.matrix->getKind() == MatrixOp::Kind::Store
                        ? AccessKind::Write
                        : AccessKind::Read;
  auto access = [&](unsigned lane, uint64_t address, unsigned bytes) {
    if (launch.withStatistics && operation.numRows == 0)
      memory.log(threads[lane], address, operation.accessSite);
    return memory.access(threads[lane], kind, address, operation.accessSite,
                         bytes);
  };
  operation.matrix->execute(registers, access);
}

} // namespace mlir::workgroup::emulator
