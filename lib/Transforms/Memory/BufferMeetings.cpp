//===- BufferMeetings.cpp - Whether threads meet in a buffer --------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BufferMeetings.h"

namespace mlir::workgroup {

void BufferMeeting::explain(InFlightDiagnostic &diagnostic) const {
  Diagnostic &note = diagnostic.attachNote(second->getLoc());
  note << "'" << second->getName()
       << "' of one thread touches what another one touches by '"
       << first->getName() << "'";
  if (!reason.empty())
    note << ", as far as is known: " << reason;
}

BufferMeetings::BufferMeetings(Operation *kernel)
    : arguments(kernel, /*areDistinct=*/false),
      block(kernel, UniformityUnit::Block, &arguments),
      warp(kernel, UniformityUnit::Warp, &arguments), loops(kernel),
      accesses(kernel, block, arguments),
      conflicts(kernel, accesses, loops, block, warp, arguments) {}

std::optional<BufferMeeting> BufferMeetings::find(unsigned first,
                                                  unsigned second) {
  const ThreadAccess &lhs = accesses.getAccesses()[first],
                     &rhs = accesses.getAccesses()[second];
  if (!lhs.isWrite() && !rhs.isWrite())
    return std::nullopt;
  if (lhs.isAsync || rhs.isAsync)
    return BufferMeeting{lhs.op, rhs.op, "it is asynchronous"};
  for (auto threads : {PairRelation::OfTwoWarps, PairRelation::OfOneWarp}) {
    PairRelation anyTime;
    anyTime.threads = threads;
    if (Conflict conflict = conflicts.find(first, second, anyTime))
      return BufferMeeting{lhs.op, rhs.op, std::move(conflict.reason)};
  }
  return std::nullopt;
}

std::optional<BufferMeeting> BufferMeetings::find(Value buffer) {
  auto isBuffer = [&](unsigned root) {
    return root != 0 && accesses.getRoot(root).value == buffer;
  };
  const ThreadAccess *known =
      llvm::find_if(accesses.getAccesses(), [&](const ThreadAccess &access) {
        return llvm::any_of(access.roots, isBuffer);
      });
  if (known == accesses.getAccesses().end())
    return std::nullopt;
  SmallVector<unsigned> found;
  for (auto [number, access] : llvm::enumerate(accesses.getAccesses()))
    if (accesses.mayAlias(*known, access))
      found.push_back(number);
  for (auto [count, second] : llvm::enumerate(found))
    for (unsigned first : ArrayRef(found).take_front(count + 1))
      if (std::optional<BufferMeeting> meeting = find(first, second))
        return meeting;
  return std::nullopt;
}

} // namespace mlir::workgroup
