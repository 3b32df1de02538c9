//===- BulkCopies.h - Copies by the asynchronous proxy -------- -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Copies in bulk, of bytes or of boxes of tensors: loads, which an mbarrier
// tracks, so that they are flights, and stores, which their thread waits for.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_RUN_BULKCOPIES_H
#define WORKGROUP_LIB_EMULATOR_RUN_BULKCOPIES_H

#include "CopyFlights.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::workgroup::emulator {

class BulkCopies {
public:
  BulkCopies(Launch &launch, BlockState &block, FindingCollector &findings,
             AccessChecker &memory, MBarrierTable &mbarriers,
             CopyFlights &flights)
      : launch(launch), tables(launch.tables), block(block), findings(findings),
        memory(memory), mbarriers(mbarriers), flights(flights),
        queues(launch.tables.hasAgents ? block.threads.size() : 0) {}

  /// Tells of loads that no thread has waited for; the block may have run to
  /// its end, or not.
  void endLoads(bool isComplete);
  /// Ends stores that no thread has waited for, and tells of them.
  void endStores(bool isComplete);

  /// Begin the copy that operation `number` names, with its operands in the
  /// thread's registers.
  void beginLoad(ThreadState &thread, uint32_t number);
  void beginStore(ThreadState &thread, uint32_t number);

  /// Makes a group of the stores that the thread has begun since the last one.
  void commitStores(const ThreadState &thread);
  /// Waits for all groups but the newest ones, or only until they have read
  /// what they copy.
  void waitForStores(const ThreadState &thread, uint64_t newerGroups,
                     bool onlyReads);

private:
  BulkCopy makeCopy(const ThreadState &thread,
                    const Operation &operation) const;
  bool check(const ThreadState &thread, const BulkCopy &copy,
             const Operation &operation);
  bool checkShape(const ThreadState &thread, const BulkCopy &copy,
                  const Operation &operation);
  void checkAlignment(const ThreadState &thread, const BulkCopy &copy,
                      uint32_t site);
  bool access(ThreadState &thread, const BulkCopy &copy, bool isLoad);
  llvm::SmallVector<unsigned> getTargets(const ThreadState &thread,
                                         const Operation &operation);
  bool beginLoad(ThreadState &thread, uint32_t number, BulkCopy copy,
                 uint64_t address);
  std::optional<BulkElement> getElement(const BulkCopy &copy) const;
  bool checkReduction(const ThreadState &thread, const BulkCopy &copy,
                      const Operation &operation);
  void readSource(StoreQueue::Store &store);
  void finish(StoreQueue::Store &store);

  Launch &launch;
  const KernelTables &tables;
  BlockState &block;
  FindingCollector &findings;
  AccessChecker &memory;
  MBarrierTable &mbarriers;
  CopyFlights &flights;
  /// The stores of each thread.
  std::vector<StoreQueue> queues;
  struct Load {
    Access access;
    /// The site of the operation, and the rank of the block that it is to.
    uint32_t site = 0;
    unsigned rank = 0;
  };
  /// The last load of each agent.
  llvm::MapVector<unsigned, Load> lastLoads;
};

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_RUN_BULKCOPIES_H
