//===- RuntimeFunctions.cpp - What generated code calls -------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions by whose names generated code calls the parts of the worker that
// runs it: which part does what, and nothing else.
//
//===----------------------------------------------------------------------===//

#include "RuntimeFunctions.h"
#include "Emulator/State/RuntimeNames.h"
#include "Printf.h"
#include "Worker.h"

namespace mlir::workgroup::emulator {

template <AccessKind kind>
static uint8_t *accessShared(ThreadState *thread, uint64_t address,
                             uint32_t site, uint64_t bytes) {
  return thread->worker->memory.accessShared(
      *thread, kind, getPlace(*thread, address), site, bytes);
}

template <AccessKind kind>
static uint8_t *accessOther(ThreadState *thread, uint64_t address,
                            uint32_t site, uint64_t bytes) {
  return thread->worker->memory.access(*thread, kind, address, site, bytes);
}

static void finishAtomic(ThreadState *thread, uint64_t address, uint32_t site) {
  thread->worker->order.finishAtomic(*thread, address, site);
}

static void fence(ThreadState *thread, bool isDeviceWide) {
  thread->worker->order.fence(*thread, isDeviceWide);
}

static uint8_t *fault(ThreadState *thread, uint64_t address, uint32_t site) {
  return thread->worker->memory.fault(*thread, address, site);
}

static void copyBytes(ThreadState *thread, uint64_t target, uint64_t source,
                      uint64_t bytes, uint32_t site) {
  thread->worker->memory.copyBytes(*thread, target, source, bytes, site);
}

static void setBytes(ThreadState *thread, uint64_t target, uint8_t value,
                     uint64_t bytes, uint32_t site) {
  thread->worker->memory.setBytes(*thread, target, value, bytes, site);
}

static void logAccess(ThreadState *thread, uint64_t address, uint32_t site) {
  thread->worker->memory.log(*thread, address, site);
}

static void *getFrame(ThreadState *thread, uint64_t bytes) {
  return thread->worker->scheduler.getFrame(*thread, bytes);
}

static uint32_t poll(ThreadState *thread, uint32_t site) {
  return thread->worker->scheduler.poll(*thread, site);
}

static void delay(ThreadState *thread) {
  thread->worker->scheduler.delay(*thread);
}

static void divideFault(ThreadState *thread, uint32_t site, bool isByZero) {
  thread->worker->findings.report(
      *thread, isByZero ? FindingKind::Division : FindingKind::DivisionOverflow,
      site);
}

static void failAssertion(ThreadState *thread, const char *message,
                          uint32_t site) {
  thread->worker->findings.giveUp(*thread, FindingKind::Assertion, site,
                                  {makeNote(message ? message : "")});
}

static void trap(ThreadState *thread, uint32_t site) {
  thread->worker->findings.giveUp(*thread, FindingKind::Trap, site);
}

static void beginCopy(ThreadState *thread, uint64_t target, uint64_t source,
                      uint64_t sourceBytes, uint32_t site) {
  thread->worker->async.getThreadCopies().begin(
      *thread, getPlace(*thread, target), source, sourceBytes, site);
}

static void commitCopies(ThreadState *thread) {
  thread->worker->async.getThreadCopies().commit(*thread);
}

static void waitForCopies(ThreadState *thread, uint32_t newerGroups) {
  thread->worker->async.getThreadCopies().wait(*thread, newerGroups);
}

static void waitForAllCopies(ThreadState *thread) {
  thread->worker->async.getThreadCopies().waitForAll(*thread);
}

static void executeAsync(ThreadState *thread, uint32_t operation) {
  thread->worker->async.execute(*thread, operation);
}

static void fenceProxy(ThreadState *thread, uint32_t fence) {
  thread->worker->async.fenceProxy(*thread, ProxyFence::decode(fence));
}

static void arriveAtCluster(ThreadState *thread, uint32_t operation) {
  thread->worker->clusters.arrive(*thread, operation);
}

static void useRegisters(ThreadState *thread, uint32_t use) {
  thread->worker->warpgroups.useRegisters(*thread, use);
}

static void arrive(ThreadState *thread) {
  thread->worker->barriers.arrive(*thread);
}

static void printFormat(ThreadState *thread, const char *format,
                        const uint8_t *arguments, uint64_t bytes) {
  print(thread->worker->output, format, {arguments, bytes});
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
      {runtime::kDelay, address(delay)},
      {runtime::kDivideFault, address(divideFault)},
      {runtime::kFailAssertion, address(failAssertion)},
      {runtime::kTrap, address(trap)},
      {runtime::kBeginCopy, address(beginCopy)},
      {runtime::kCommitCopies, address(commitCopies)},
      {runtime::kWaitForCopies, address(waitForCopies)},
      {runtime::kWaitForAllCopies, address(waitForAllCopies)},
      {runtime::kExecute, address(executeAsync)},
      {runtime::kFenceProxy, address(fenceProxy)},
      {runtime::kArriveAtCluster, address(arriveAtCluster)},
      {runtime::kUseRegisters, address(useRegisters)},
      {runtime::kArrive, address(arrive)},
      {runtime::kPrint, address(printFormat)},
  };
  return functions;
}

} // namespace mlir::workgroup::emulator
