//===- WaitReport.cpp - Who waits where -----------------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Threads that wait at one place are told of together.
//
//===----------------------------------------------------------------------===//

#include "WaitReport.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

namespace mlir::workgroup::emulator {

uint32_t getMask(const Operation &operation, const ThreadState &thread) {
  return operation.warp ? thread.registers[operation.warp->getMaskRegister()]
                        : ~0u;
}

std::string printMask(uint32_t lanes) {
  return "0x" + llvm::utohexstr(lanes, /*LowerCase=*/true);
}

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
std::string WaitReport::describeWait(const ThreadState &thread,
                                     const Operation &operation) const {
  if (thread.wait == Wait::Phase)
    return " wait at this mbarrier, " +
           mbarriers.describe(getPlace(thread, getWide(thread, 0)));
  if (thread.wait == Wait::Cluster)
    return " wait here for all threads of the cluster to arrive";
  if (thread.wait == Wait::Registers)
    return " wait here " + registers.describe(thread.linear / kWarpSize);
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

std::vector<DiagnosticRecord>
WaitReport::describe(llvm::ArrayRef<unsigned> which) const {
  // With the rank of the block, ordinal and site.
  using Place = std::tuple<unsigned, Wait, uint32_t, uint32_t>;
  std::map<Place, llvm::SmallVector<unsigned>> places;
  for (unsigned index : which) {
    const ThreadState &thread = block.threads[index];
    if (thread.isAbsent)
      continue;
    bool waits = thread.wait != Wait::None && thread.wait != Wait::Done;
    uint32_t site = waits ? tables.operations[thread.operation].site : 0;
    places[{thread.rank, thread.wait, tables.sites[site].ordinal, site}]
        .push_back(thread.local);
  }
  std::vector<DiagnosticRecord> notes;
  for (const auto &[place, numbers] : places) {
    auto [rank, wait, ordinal, site] = place;
    const ThreadState &first =
        block.threads[rank * block.getThreadsPerBlock() + numbers.front()];
    std::string text = "threads " + printRanges(numbers) + " (linear ids)";
    if (block.getNumBlocks() > 1)
      text += " of the block of rank " + std::to_string(rank);
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

std::vector<DiagnosticRecord> WaitReport::describeAll() const {
  return describe(
      llvm::to_vector(llvm::seq<unsigned>(0, block.threads.size())));
}

} // namespace mlir::workgroup::emulator
