//===- Worker.h - Runs blocks, one after the other ------------ -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_RUN_WORKER_H
#define WORKGROUP_LIB_EMULATOR_RUN_WORKER_H

#include "AsyncCopies.h"
#include "Emulator/Shadow/ShadowMemory.h"
#include "Emulator/Shadow/Statistics.h"
#include "Emulator/State/Clocks.h"
#include "Emulator/State/Findings.h"
#include "Emulator/State/Tables.h"
#include "Emulator/State/ThreadState.h"
#include "MBarriers.h"
#include <random>

namespace mlir::workgroup::emulator {

/// A buffer in global memory. Buffers that overlap share a shadow.
struct Buffer {
  uint8_t *base = nullptr;
  uint64_t bytes = 0;
  bool isWritable = true;
  std::shared_ptr<GlobalShadow> shadow;
  /// Where it begins in the shadow.
  uint64_t shadowOffset = 0;

  bool contains(const uint8_t *address) const {
    return address >= base && address < base + bytes;
  }
};

/// Where the accesses of a site have to be, if it is in workgroup memory.
struct SiteBounds {
  uint64_t begin = kSharedBase, end = 0;
  /// Bits of an address that have to be zero.
  uint32_t misaligned = 0;
};

/// The grid of a launch; without clusters, each block is one.
inline BlockGrid getGrid(const KernelTables &tables,
                         const LaunchRequest &request) {
  constexpr std::array<uint32_t, 3> kOne = {1, 1, 1};
  return {request.grid,
          request.cluster.value_or(tables.cluster.value_or(kOne))};
}

/// What all workers of a launch share.
struct Launch {
  Launch(const KernelTables &tables, const LaunchRequest &request,
         LaunchProgress &progress)
      : tables(tables), request(request), progress(progress),
        grid(getGrid(tables, request)) {}

  const KernelTables &tables;
  const LaunchRequest &request;
  LaunchProgress &progress;
  BlockGrid grid;
  Check check = Check::None;
  bool withStatistics = false;
  /// Starts a thread: returns when the thread waits or is done.
  void *(*entry)(ThreadState *) = nullptr;
  std::vector<uint8_t> parameters;
  /// What each argument that is a pointer points to.
  std::vector<Bounds> arguments;
  /// The buffer of each of them.
  std::vector<uint32_t> argumentBuffers;
  std::vector<Buffer> buffers;
  /// Those that parameters are, which point to them.
  std::deque<TensorMap> tensorMaps;
  Publications publications;
  uint64_t sharedEnd = 0;
  std::vector<SiteBounds> siteBounds;
  unsigned threadsPerBlock = 0;
  uint64_t numBlocks = 0;
  /// The blocks to run; empty means those that the two numbers below tell.
  std::vector<uint64_t> blocks;
  /// The i-th block is (first + i * step) modulo their number: any order in
  /// which the step has no divisor in common with it.
  uint64_t firstBlock = 0, blockStep = 1, allBlocks = 1;
  std::atomic<uint64_t> nextBlock{0};
  /// A finding after which nothing sensible can follow.
  std::atomic<bool> isOver{false};

  bool checksRaces() const { return check != Check::None; }

  uint64_t getBlock(uint64_t number) const {
    if (!blocks.empty())
      return blocks[number];
    using Wide = unsigned __int128;
    return uint64_t((Wide(number) * blockStep + firstBlock) % allBlocks);
  }
};

/// Runs blocks of a launch. Everything in it belongs to one host thread.
class Worker {
public:
  explicit Worker(Launch &launch);
  ~Worker();

  /// False if there is no memory for it.
  bool isReady() { return window && shadow.getCells(); }

  /// Takes blocks until there is none, or the launch is over.
  void run();

  FindingTable findings;
  BlockCounters counters;
  AccessLog accessLog;
  std::vector<uint8_t> reached;
  uint64_t blocksRun = 0;
  uint64_t mostIterations = 0;
  std::string output;

  //===--------------------------------------------------------------------===//
  // What generated code calls, by way of RuntimeFunctions.cpp
  //===--------------------------------------------------------------------===//

  /// Checks and records an access; returns the host address to use for it.
  uint8_t *access(ThreadState &thread, AccessKind kind, uint64_t address,
                  uint32_t site, uint64_t bytes);
  uint8_t *accessShared(ThreadState &thread, AccessKind kind, uint64_t offset,
                        uint32_t site, uint64_t bytes);
  uint8_t *accessGlobal(ThreadState &thread, AccessKind kind, uint8_t *address,
                        uint32_t site, uint64_t bytes,
                        std::optional<Access> agent = {});
  /// The atomic operation at `site` has been done.
  void finishAtomic(ThreadState &thread, uint64_t address, uint32_t site);
  void fence(ThreadState &thread, bool isDeviceWide);
  /// Tells of an access that generated code found to be out of bounds or
  /// misaligned; returns an address that does no harm.
  uint8_t *fault(ThreadState &thread, uint64_t address, uint32_t site);

  /// Copies or sets bytes for a memory intrinsic.
  void copyBytes(ThreadState &thread, uint64_t target, uint64_t source,
                 uint64_t bytes, uint32_t site);
  void setBytes(ThreadState &thread, uint64_t target, uint8_t value,
                uint64_t bytes, uint32_t site);

  void *getFrame(ThreadState &thread, uint64_t bytes);
  /// The thread has made the iterations of loops that it might; returns how
  /// many more it may, or none if it has to end.
  uint32_t poll(ThreadState &thread, uint32_t site);
  /// Ends the launch for a reason that `kind` tells.
  void giveUp(ThreadState &thread, FindingKind kind, uint32_t site,
              std::vector<DiagnosticRecord> notes = {});
  void report(ThreadState &thread, FindingKind kind, uint32_t site,
              std::vector<DiagnosticRecord> notes = {});

  void beginCopy(ThreadState &thread, uint64_t target, uint64_t source,
                 uint64_t sourceBytes, uint32_t site);
  void commitCopies(ThreadState &thread);
  void waitForCopies(ThreadState &thread, uint64_t newerGroups);
  void arriveAtBarrier(ThreadState &thread);
  /// Does what an operation says that is for no other threads to join in.
  void executeAsync(ThreadState &thread, uint32_t operation);
  void fenceProxy(ThreadState &thread, ProxyFence fence);
  /// `vprintf`: `arguments` are laid out as in a struct.
  void print(const char *format, llvm::ArrayRef<uint8_t> arguments);
  /// Counts an access for statistics.
  void logAccess(ThreadState &thread, uint64_t address, uint32_t site);

private:
  bool runBlock();
  void beginBlock(uint64_t block);
  void placeBlock();
  void endBlock(bool isComplete);
  void shuffle();
  bool runLanes(unsigned warp);
  void resume(ThreadState &thread);
  uint32_t getIterations(const ThreadState &thread) const;
  bool meetLanes(unsigned warp);
  uint32_t getGroup(unsigned warp, unsigned lane);
  void executeTogether(unsigned warp, uint32_t lanes);
  void executeMatrix(unsigned warp, uint32_t lanes, const Operation &operation);
  void checkRow(ThreadState &thread, const Operation &operation);
  void checkFragment(ThreadState &thread, const Operation &operation);
  bool openBarriers();
  bool openCommonBarrier();
  bool openBarrier(uint32_t id, llvm::ArrayRef<unsigned> waiting);
  void checkAlignedBarrier(llvm::ArrayRef<unsigned> waiting);
  void reducePredicates(llvm::ArrayRef<unsigned> waiting);
  void setTimes();
  void reportDeadlock();
  std::vector<DiagnosticRecord> describeWaits(llvm::ArrayRef<unsigned> threads);
  std::string describeWait(const ThreadState &thread,
                           const Operation &operation) const;

  // WorkerMBarriers.cpp
  std::string describeShared(uint64_t offset) const;
  void refuseMBarrier(ThreadState &thread, const Operation &operation,
                      std::string why);
  bool canHoldMBarrier(ThreadState &thread, const Operation &operation,
                       uint64_t offset);
  MBarrier *findMBarrier(ThreadState &thread, const Operation &operation,
                         uint64_t offset);
  bool accept(ThreadState &thread, const Operation &operation,
              llvm::StringRef complaint);
  void checkOrder(ThreadState &thread, const Operation &operation,
                  const MBarrier &barrier, uint64_t offset,
                  bool byProxy = false);
  void reportInit(ThreadState &thread, const Operation &operation,
                  const MBarrier &barrier, uint64_t offset, FindingKind kind);
  void writeBack(uint64_t offset, const MBarrier &barrier);
  void initMBarrier(ThreadState &thread, const Operation &operation,
                    uint64_t offset, uint64_t count);
  void invalidate(ThreadState &thread, const Operation &operation,
                  uint64_t offset);
  void arrive(ThreadState &thread, const Operation &operation, uint64_t offset,
              uint64_t operand);
  void countBytes(ThreadState &thread, const Operation &operation,
                  uint64_t offset, int64_t bytes);
  bool wakeWaiters();
  bool endTests();
  bool advancePhases(bool isMoving);

  // WorkerCopies.cpp
  bool arrivesAtOnce();
  BulkCopy makeBulkCopy(const ThreadState &thread,
                        const Operation &operation) const;
  bool checkBulkCopy(ThreadState &thread, const BulkCopy &copy,
                     const Operation &operation);
  bool accessInBulk(ThreadState &thread, const BulkCopy &copy, bool isLoad);
  void beginLoad(ThreadState &thread, uint32_t operation);
  void beginStore(ThreadState &thread, const Operation &operation);
  void readSource(StoreQueue::Store &store);
  void finishStore(StoreQueue::Store &store);
  void commitStores(ThreadState &thread);
  void waitForStores(ThreadState &thread, uint64_t newerGroups, bool onlyReads);
  void trackCopies(ThreadState &thread, uint32_t operation);
  void land(const AsyncCopy &copy, Access writer);
  void land(size_t flight);
  void landFlightOf(Access agent);
  void landSome();
  void endCopies(bool isComplete);
  void addConflicts(ThreadState &thread, Space space, uint32_t object,
                    uint64_t origin, uint64_t first, unsigned logGrain,
                    uint32_t site, uint64_t bytes, const uint8_t *address);
  void holdSource(const AsyncCopy &copy, bool begins);
  void settle();
  FindingInstance makeInstance(const ThreadState &thread, Space space,
                               uint32_t object, int64_t offset,
                               uint64_t bytes) const;
  uint8_t *reportAccess(ThreadState &thread, FindingKind kind, uint32_t site,
                        Space space, uint32_t object, int64_t offset,
                        uint64_t bytes);
  uint8_t *refuseShared(ThreadState &thread, uint64_t offset, uint32_t site,
                        uint64_t bytes);
  uint32_t findObject(uint64_t offset) const;

  Launch &launch;
  const KernelTables &tables;
  std::vector<ThreadState> threads;
  std::vector<unsigned> warpOrder, laneOrder;
  unsigned numWarps;
  BlockIds ids = {};
  uint64_t block = 0;
  Clocks clocks;
  SharedShadow shadow;
  uint8_t *window;
  std::optional<CellArray<uint8_t>> frames;
  uint64_t frameBytes = 0;
  uint32_t lastBarrier = 0;
  std::vector<AsyncQueue> copies;
  std::vector<StoreQueue> stores;
  std::deque<Flight> flights;
  /// The last load of each agent, and the place of its operation.
  llvm::MapVector<unsigned, std::pair<Access, uint32_t>> lastLoads;
  /// By their offsets in the window.
  llvm::DenseMap<uint64_t, MBarrier> mbarriers;
  /// Those of which the asynchronous proxy does not know yet.
  std::vector<uint64_t> unfenced;
  /// Rounds in a row in which nothing happened but tests of phases, and in
  /// which threads ran but no phase that is waited for was over.
  unsigned idleRounds = 0, busyRounds = 0;
  std::mt19937_64 random;
  /// What a thread has to do with other blocks, as stamps of Publications.
  struct Knowledge {
    /// What it will know of after a fence.
    uint32_t seen = 0;
    /// What its last fence covers.
    uint32_t covered = 0;
  };
  std::vector<Knowledge> knowledge;
  /// Threads that arrived at a barrier without waiting for it.
  struct Arrivals {
    std::vector<unsigned> threads;
    std::vector<uint32_t> meeting;
  };
  std::array<Arrivals, 16> arrivals;
  /// A write that conflicts with another, whose values are still to be
  /// compared.
  struct Unsettled {
    FindingKey key;
    FindingInstance instance;
    const uint8_t *address;
    llvm::SmallVector<uint8_t, 16> before;
    bool isTold = false;
  };
  std::vector<Unsettled> unsettled;
  llvm::SmallVector<std::pair<uint64_t, Conflict>, 4> conflicts;
};

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_RUN_WORKER_H
