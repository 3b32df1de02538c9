//===- MBarriers.cpp - Barriers that are objects in memory ----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How arrivals and bytes count, and when a phase is over.
//
//===----------------------------------------------------------------------===//

#include "MBarriers.h"

namespace mlir::workgroup::emulator {

void MBarrier::completePhase() {
  if (pending != 0 || bytes != 0)
    return;
  pending = expected;
  ++phase;
  passed.resize(arriving.size());
  for (size_t i = 0; i < arriving.size(); ++i)
    passed[i] = std::max(passed[i], arriving[i]);
  arriving.clear();
}

llvm::StringRef MBarrier::arrive(uint32_t count, const AsyncOp &op) {
  if (count == 0)
    return "an arrival counts as none";
  if (count > pending)
    return "more arrive than the phase waits for";
  if (op.mayNotComplete && count == pending)
    return "an arrival ends the phase that said it would not";
  if (op.drops && count > expected)
    return "more arrivals are dropped than the phases to come wait for";
  pending -= count;
  if (op.drops)
    expected -= count;
  completePhase();
  return "";
}

llvm::StringRef MBarrier::expectBytes(int64_t more) {
  bytes += more;
  if (bytes > int64_t(kMaxCount) || bytes < -int64_t(kMaxCount))
    return "the bytes that the phase waits for are more than 1048575";
  completePhase();
  return "";
}

llvm::StringRef MBarrier::expectArrival() {
  if (pending >= kMaxCount)
    return "the phase waits for more than 1048575 arrivals";
  ++pending;
  return "";
}

std::string MBarrier::describe() const {
  std::string text = "phase " + std::to_string(phase);
  if (pending)
    text += " lacks " + std::to_string(pending) + " of " +
            std::to_string(expected) + " arrivals";
  if (bytes == 0)
    return text;
  text += pending ? " and" : "";
  if (bytes > 0)
    return text + " lacks " + std::to_string(bytes) + " bytes";
  return text + " has got " + std::to_string(-bytes) +
         " bytes more than it expects";
}

} // namespace mlir::workgroup::emulator
