//===- MemoryOrder.h - What fences and atomics order ---------- -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the atomic operations and fences of the threads of a block order: within
// the block by its clocks, and for other blocks by what the launch publishes.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_RUN_MEMORYORDER_H
#define WORKGROUP_LIB_EMULATOR_RUN_MEMORYORDER_H

#include "BlockState.h"

namespace mlir::workgroup::emulator {

class MemoryOrder {
public:
  MemoryOrder(Launch &launch, BlockState &block)
      : launch(launch), block(block), knowledge(block.threads.size()) {}

  void beginBlock() {
    std::fill(knowledge.begin(), knowledge.end(), Knowledge());
  }

  /// An atomic operation on workgroup memory at `offset` is about to be done.
  void orderShared(const ThreadState &thread, uint64_t offset,
                   AtomicOrder order) {
    block.clocks.orderAt(offset, thread.linear, order);
  }
  /// The same in global memory.
  void orderGlobal(const ThreadState &thread, const uint8_t *address,
                   AtomicOrder order);
  /// The atomic operation at `site`, which other blocks may take part in, has
  /// been done.
  void finishAtomic(const ThreadState &thread, uint64_t address, uint32_t site);
  void fence(const ThreadState &thread, bool isDeviceWide);

private:
  /// What a thread has to do with other blocks, as stamps of Publications.
  struct Knowledge {
    /// What it will know of after a fence.
    uint32_t seen = 0;
    /// What its last fence covers.
    uint32_t covered = 0;
  };

  Launch &launch;
  BlockState &block;
  std::vector<Knowledge> knowledge;
};

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_RUN_MEMORYORDER_H
