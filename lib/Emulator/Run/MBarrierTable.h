//===- MBarrierTable.h - The mbarriers of a block ------------- -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The mbarriers that lie in the workgroup memory of a block, and what threads
// do to them. Where none can be, or what is done to one makes no sense, the
// launch ends with a finding.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_RUN_MBARRIERTABLE_H
#define WORKGROUP_LIB_EMULATOR_RUN_MBARRIERTABLE_H

#include "AccessChecker.h"
#include "MBarriers.h"

namespace mlir::workgroup::emulator {

class MBarrierTable {
public:
  MBarrierTable(Launch &launch, BlockState &block, FindingCollector &findings,
                AccessChecker &memory)
      : launch(launch), block(block), findings(findings), memory(memory) {}

  void endBlock();

  //===--------------------------------------------------------------------===//
  // Operations of a thread on the mbarrier at `offset`
  //===--------------------------------------------------------------------===//

  void init(ThreadState &thread, const Operation &operation, uint64_t offset,
            uint64_t count);
  void invalidate(ThreadState &thread, const Operation &operation,
                  uint64_t offset);
  void arrive(ThreadState &thread, const Operation &operation, uint64_t offset,
              uint64_t operand);
  void countBytes(ThreadState &thread, const Operation &operation,
                  uint64_t offset, int64_t bytes);
  /// Lets the asynchronous proxy know of the mbarriers that `thread` has made.
  void fence(const ThreadState &thread);

  //===--------------------------------------------------------------------===//
  // What copies and waits need of one
  //===--------------------------------------------------------------------===//

  /// The mbarrier at `offset`; null, after a finding, if there is none.
  MBarrier *find(const ThreadState &thread, const Operation &operation,
                 uint64_t offset);
  /// Tells of an operation on an mbarrier that may come before it is made. If
  /// it is `byProxy`, a fence has to come in between.
  void checkOrder(const ThreadState &thread, const Operation &operation,
                  const MBarrier &barrier, uint64_t offset,
                  bool byProxy = false);
  /// False, after a finding, if there is a complaint.
  bool accept(const ThreadState &thread, const Operation &operation,
              llvm::StringRef complaint);
  /// Keeps the bytes of an mbarrier up to date, so that it shows if anything
  /// else is written there.
  void writeBack(uint64_t offset, const MBarrier &barrier);

  /// What the mbarrier at `offset` lacks, for who waits for it.
  std::string describe(uint64_t offset) const;

private:
  void refuse(const ThreadState &thread, const Operation &operation,
              std::string why);
  bool canHold(const ThreadState &thread, const Operation &operation,
               uint64_t offset);
  void reportInit(const ThreadState &thread, const Operation &operation,
                  const MBarrier &barrier, uint64_t offset, FindingKind kind);

  Launch &launch;
  BlockState &block;
  FindingCollector &findings;
  AccessChecker &memory;
  /// By their offsets in the window.
  llvm::DenseMap<uint64_t, MBarrier> mbarriers;
  /// Those of which the asynchronous proxy does not know yet.
  std::vector<uint64_t> unfenced;
};

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_RUN_MBARRIERTABLE_H
