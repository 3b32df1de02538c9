//===- RuntimeFunctions.cpp - What generated code calls -------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuntimeFunctions.h"
#include "Emulator/State/RuntimeNames.h"
#include "Worker.h"

namespace mlir::workgroup::emulator {

template <AccessKind kind>
static uint8_t *accessShared(ThreadState *thread, uint64_t offset,
                             uint32_t site, uint64_t bytes) {
  return thread->worker->accessShared(*thread, kind, offset, site, bytes);
}

template <AccessKind kind>
static uint8_t *accessOther(ThreadState *thread, uint64_t address,
                            uint32_t site, uint64_t bytes) {
  return thread->worker->access(*thread, kind, address, site, bytes);
}

static void finishAtomic(ThreadState *thread, uint64_t address, uint32_t site) {
  thread->worker->finishAtomic(*thread, address, site);
}

static void fence(ThreadState *thread, bool isDeviceWide) {
  thread->worker->fence(*thread, isDeviceWide);
}

static uint8_t *fault(ThreadState *thread, uint64_t address, uint32_t site) {
  return thread->worker->fault(*thread, address, site);
}

static void copyBytes(ThreadState *thread, uint64_t target, uint64_t source,
                      uint64_t bytes, uint32_t site) {
  thread->worker->copyBytes(*thread, target, source, bytes, site);
}

static void setBytes(ThreadState *thread, uint64_t target, uint8_t value,
                     uint64_t bytes, uint32_t site) {
  thread->worker->setBytes(*thread, target, value, bytes, site);
}

static void logAccess(ThreadState *thread, uint64_t address, uint32_t site) {
  thread->worker->logAccess(*thread, address, site);
}

static void *getFrame(ThreadState *thread, uint64_t bytes) {
  return thread->worker->getFrame(*thread, bytes);
}

static uint32_t poll(ThreadState *thread, uint32_t site) {
  return thread->worker->poll(*thread, site);
}

static void divideFault(ThreadState *thread, uint32_t site, bool isByZero) {
  thread->worker->report(
      *thread, isByZero ? FindingKind::Division : FindingKind::DivisionOverflow,
      site);
}

static void failAssertion(ThreadState *thread, const char *message,
                          uint32_t site) {
  thread->worker->giveUp(*thread, FindingKind::Assertion, site,
                         {makeNote(message ? message : "")});
}

static void trap(ThreadState *thread, uint32_t site) {
  thread->worker->giveUp(*thread, FindingKind::Trap, site);
}

static void beginCopy(ThreadState *thread, uint64_t target, uint64_t source,
                      uint64_t sourceBytes, uint32_t site) {
  thread->worker->beginCopy(*thread, target, source, sourceBytes, site);
}

static void commitCopies(ThreadState *thread) {
  thread->worker->commitCopies(*thread);
}

static void waitForCopies(ThreadState *thread, uint32_t newerGroups) {
  thread->worker->waitForCopies(*thread, newerGroups);
}

static void waitForAllCopies(ThreadState *thread) {
  thread->worker->commitCopies(*thread);
  thread->worker->waitForCopies(*thread, 0);
}

static void executeAsync(ThreadState *thread, uint32_t operation) {
  thread->worker->executeAsync(*thread, operation);
}

static void fenceProxy(ThreadState *thread, uint32_t fence) {
  thread->worker->fenceProxy(*thread, ProxyFence::decode(fence));
}

static void arrive(ThreadState *thread) {
  thread->worker->arriveAtBarrier(*thread);
}

static void print(ThreadState *thread, const char *format,
                  const uint8_t *arguments, uint64_t bytes) {
  thread->worker->print(format, {arguments, bytes});
}

template <typename Function>
static void *address(Function *function) {
  return reinterpret_cast<void *>(function);
}

llvm::ArrayRef<std::pair<const char *, void *>> getRuntimeFunctions() {
  static const std::pair<const char *, void *> functions[] = {
      {runtime::kReadShared, address(accessShared<AccessKind::Read>)},
      {runtime::kWriteShared, address(accessShared<AccessKind::Write>)},
      {runtime::kUpdateShared, address(accessShared<AccessKind::Update>)},
      {runtime::kReadSharedAtomically,
       address(accessShared<AccessKind::AtomicRead>)},
      {runtime::kWriteSharedAtomically,
       address(accessShared<AccessKind::AtomicWrite>)},
      {runtime::kReadAtomically, address(accessOther<AccessKind::AtomicRead>)},
      {runtime::kWriteAtomically,
       address(accessOther<AccessKind::AtomicWrite>)},
      {runtime::kReadOther, address(accessOther<AccessKind::Read>)},
      {runtime::kWriteOther, address(accessOther<AccessKind::Write>)},
      {runtime::kUpdateOther, address(accessOther<AccessKind::Update>)},
      {runtime::kFinishAtomic, address(finishAtomic)},
      {runtime::kFence, address(fence)},
      {runtime::kFault, address(fault)},
      {runtime::kCopyBytes, address(copyBytes)},
      {runtime::kSetBytes, address(setBytes)},
      {runtime::kLogAccess, address(logAccess)},
      {runtime::kGetFrame, address(getFrame)},
      {runtime::kPoll, address(poll)},
      {runtime::kDivideFault, address(divideFault)},
      {runtime::kFailAssertion, address(failAssertion)},
      {runtime::kTrap, address(trap)},
      {runtime::kBeginCopy, address(beginCopy)},
      {runtime::kCommitCopies, address(commitCopies)},
      {runtime::kWaitForCopies, address(waitForCopies)},
      {runtime::kWaitForAllCopies, address(waitForAllCopies)},
      {runtime::kExecute, address(executeAsync)},
      {runtime::kFenceProxy, address(fenceProxy)},
      {runtime::kArrive, address(arrive)},
      {runtime::kPrint, address(print)},
  };
  return functions;
}

} // namespace mlir::workgroup::emulator
