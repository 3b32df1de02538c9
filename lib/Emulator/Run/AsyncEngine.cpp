//===- AsyncEngine.cpp - What goes on by itself ---------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which part does which operation, and in which order the parts end a block.
//
//===----------------------------------------------------------------------===//

#include "AsyncEngine.h"
#include "llvm/Support/ErrorHandling.h"

namespace mlir::workgroup::emulator {

AsyncEngine::AsyncEngine(Launch &launch, BlockState &block,
                         FindingCollector &findings, AccessChecker &memory)
    : tables(launch.tables), block(block),
      mbarriers(launch, block, findings, memory),
      flights(launch, block, memory, mbarriers),
      threadCopies(launch, block, findings, memory, mbarriers, flights),
      bulkCopies(launch, block, findings, memory, mbarriers, flights),
      phases(launch, block, mbarriers, flights) {}

void AsyncEngine::endBlock(bool isComplete) {
  bulkCopies.endLoads(isComplete);
  flights.endBlock();
  bulkCopies.endStores(isComplete);
  mbarriers.endBlock();
  threadCopies.endBlock();
}

void AsyncEngine::execute(ThreadState &thread, uint32_t number) {
  using Kind = AsyncOp::Kind;
  const Operation &operation = tables.operations[number];
  uint64_t offset = getPlace(thread, getWide(thread, 0));
  uint64_t operand = getWide(thread, 2);
  switch (operation.async->kind) {
  case Kind::Init:
    return mbarriers.init(thread, operation, offset, operand);
  case Kind::Invalidate:
    return mbarriers.invalidate(thread, operation, offset);
  case Kind::Arrive:
    return mbarriers.arrive(thread, operation, offset, operand);
  case Kind::ExpectBytes:
    return mbarriers.countBytes(thread, operation, offset, operand);
  case Kind::CompleteBytes:
    return mbarriers.countBytes(thread, operation, offset, -int64_t(operand));
  case Kind::CopiesArrive:
    return threadCopies.track(thread, number);
  case Kind::LoadTensor:
  case Kind::LoadBytes:
    return bulkCopies.beginLoad(thread, number);
  case Kind::StoreTensor:
  case Kind::StoreBytes:
    return bulkCopies.beginStore(thread, number);
  case Kind::CommitStores:
    return bulkCopies.commitStores(thread);
  case Kind::WaitForStores:
    return bulkCopies.waitForStores(thread, thread.registers[0],
                                    /*onlyReads=*/false);
  case Kind::WaitForStoreReads:
    return bulkCopies.waitForStores(thread, thread.registers[0],
                                    /*onlyReads=*/true);
  case Kind::Test:
  case Kind::Wait:
    break;
  }
  llvm_unreachable("threads are suspended at waits");
}

void AsyncEngine::fenceProxy(const ThreadState &thread, ProxyFence fence) {
  if (fence.ofMBarriers)
    mbarriers.fence(thread);
  if (fence.ofShared)
    block.clocks.fenceProxy(thread.linear, ProxyMemory::Shared);
  if (fence.ofGlobal)
    block.clocks.fenceProxy(thread.linear, ProxyMemory::Global);
}

} // namespace mlir::workgroup::emulator
