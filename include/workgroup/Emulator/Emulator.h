//===- Emulator.h - Run and check kernels on the CPU ------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels run on the host from the LLVM IR that becomes PTX. Every GPU thread
// is a coroutine that gives way at barriers and warp operations; every access
// goes by a shadow of the memory that knows who touched it last. What is
// checked, and what is not, is in docs/emulator.md.
//
// Nothing is printed, nothing is thrown, and a fault in a kernel is a finding.
// It is a dynamic tool: it tells what happened in one launch.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_EMULATOR_EMULATOR_H
#define WORKGROUP_EMULATOR_EMULATOR_H

#include "workgroup/Support/SourceLocation.h"
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mlir::workgroup {

/// The extent to which a launch is checked.
enum class Check {
  /// Errors that no GPU survives: accesses out of bounds or misaligned,
  /// barriers that not all threads reach, division by zero, threads that never
  /// end.
  None,
  /// Also data races, asynchronous copies that are not waited for, and reads of
  /// workgroup memory that nobody wrote.
  Races,
  /// Also what is harmless as a rule: writes of the same value, values shuffled
  /// from lanes that do not take part.
  All,
};

/// The order in which the threads of a block, and the blocks, get to run. A
/// kernel without races computes the same in all of them.
enum class Order { Forward, Reverse, Seeded };

/// When the bytes of an asynchronous copy arrive: as late as it may be, at
/// once, or at some time in between.
enum class AsyncMode { OnWait, Eager, Seeded };

/// Memory that a launch gives to a kernel.
struct BufferView {
  void *address = nullptr;
  uint64_t bytes = 0;
  /// The name in reports.
  std::string name;
  /// The element type, as `f32`, its bytes, and extents and strides in
  /// elements, for the indices in reports. Element zero is `origin` bytes after
  /// `address`.
  std::string elementType;
  uint64_t elementBytes = 1;
  std::vector<int64_t> shape, strides;
  uint64_t origin = 0;
  bool isWritable = true;
};

enum class TensorSwizzle { None, Bytes32, Bytes64, Bytes128 };
enum class TensorInterleave { None, Bytes16, Bytes32 };
/// The value of elements out of bounds.
enum class TensorFill { Zero, NaN };

/// A tensor map, as `cuTensorMapEncodeTiled` makes them: a tensor in global
/// memory, and the box of it that one copy moves. Dimensions count from the
/// innermost.
struct TensorMapView {
  /// The buffer that holds the tensor, and where element zero is in it.
  unsigned buffer = 0;
  int64_t offset = 0;
  /// Extents in elements, and strides of all dimensions but the first in bytes.
  std::vector<uint64_t> dims, strides;
  std::vector<uint32_t> box, elementStrides;
  unsigned elementBytes = 1;
  TensorSwizzle swizzle = TensorSwizzle::None;
  TensorInterleave interleave = TensorInterleave::None;
  TensorFill oobFill = TensorFill::Zero;
};

/// The value of a parameter: an address in a buffer, a tensor map, or plain
/// bytes.
struct ParameterValue {
  std::optional<unsigned> buffer;
  /// The distance of the address of a buffer from its first byte.
  int64_t offset = 0;
  /// Little-endian bytes of a value; missing ones are zero.
  std::string bytes;
  std::optional<TensorMapView> tensorMap;
};

/// What is known of a buffer in workgroup memory besides its symbol, of which
/// several buffers may have parts, in turns.
struct SharedBuffer {
  std::string symbol;
  /// The place in the symbol's memory.
  uint64_t offset = 0, bytes = 0;
  std::string name;
  std::string elementType;
  uint64_t elementBytes = 1;
  std::vector<int64_t> shape, strides;
  SourceLocation location;
};

struct LaunchRequest {
  std::array<uint32_t, 3> grid = {1, 1, 1}, block = {1, 1, 1};
  /// Blocks per cluster, if the launch asks for clusters.
  std::optional<std::array<uint32_t, 3>> cluster;
  uint64_t dynamicSharedBytes = 0;
  std::vector<BufferView> buffers;
  std::vector<ParameterValue> parameters;
  Order order = Order::Forward;
  AsyncMode asyncMode = AsyncMode::OnWait;
  /// The seed of the seeded order and asynchronous mode.
  uint64_t seed = 0;
  /// Loop iterations after which a thread counts as stuck; 0 means never.
  uint64_t stepLimit = uint64_t(1) << 30;
  /// Host threads to use; 0 means one per core.
  unsigned workers = 0;
  /// Run only this many blocks, chosen by the seed; 0 means all.
  uint64_t blockLimit = 0;
  /// Look for barriers that would mend the races that were found, and try them.
  bool findFixes = true;
};

struct ThreadId {
  std::array<uint32_t, 3> block = {}, thread = {};
  unsigned warp = 0, lane = 0;
};

/// One side of a finding.
struct AccessRecord {
  /// `writes`, `reads`, `updates`, `copies into`, ...
  std::string verb;
  ThreadId thread;
  SourceLocation location;
  /// 0 if it is not an access.
  uint64_t bytes = 0;
};

/// A place where a barrier would mend a race.
struct FixRecord {
  SourceLocation location;
  /// `before`, or `at the end of the loop at`.
  std::string place;
  /// The launch was run again with all fixes, and the race was gone.
  bool isVerified = false;
  /// Whether all threads are known to come by together.
  bool isUniform = false;
};

struct FindingRecord {
  /// As `race.shared`; docs/emulator.md lists them.
  std::string kind;
  /// `error`, `warning` or `remark`.
  std::string severity;
  /// One sentence without a full stop.
  std::string message;
  /// `shared`, `global` or empty.
  std::string space;
  /// The buffer and the indices into it, or, without a shape, the byte offset.
  std::string buffer;
  std::vector<int64_t> indices;
  std::optional<int64_t> byteOffset;
  std::vector<AccessRecord> accesses;
  /// More to know, each where it belongs, if there is such a place.
  std::vector<DiagnosticRecord> notes;
  /// The number of times that it was seen, and of blocks in which it was.
  uint64_t count = 0, blocks = 0;
  std::vector<FixRecord> fixes;
};

/// The cost of the accesses of one operation.
struct AccessStatistics {
  SourceLocation location;
  /// `shared` or `global`.
  std::string space;
  /// `read`, `write`, `update`.
  std::string kind;
  uint64_t bytes = 0;
  /// Warp-wide requests and accesses by threads.
  uint64_t requests = 0, accesses = 0;
  /// For workgroup memory: passes over its banks, and the fewest that would do.
  uint64_t wavefronts = 0, idealWavefronts = 0;
  /// For global memory: 32-byte sectors touched, and the fewest that would do.
  uint64_t sectors = 0, denseSectors = 0;
};

struct LaunchStatistics {
  /// IR instructions and accesses executed by all threads.
  uint64_t instructions = 0, accesses = 0;
  /// Barriers executed by all blocks, and warp operations by all warps.
  uint64_t barriers = 0, warpOperations = 0;
  std::vector<AccessStatistics> perAccess;
};

struct LaunchResult {
  std::vector<FindingRecord> findings;
  /// The findings as diagnostics, and as text with source lines.
  std::vector<DiagnosticRecord> diagnostics;
  std::string rendered;
  /// Blocks that ran to their end, and blocks in the grid.
  uint64_t blocksRun = 0, blocks = 0;
  /// Accesses that no thread executed.
  std::vector<SourceLocation> unreached;
  /// The text that the kernel printed.
  std::string output;
  std::optional<LaunchStatistics> statistics;
  /// The stop flag ended the launch.
  bool wasStopped = false;
  /// A defect of the emulator ended the launch; what is known of it.
  std::optional<std::string> crash;
};

/// The progress of a launch, for another thread to look at and to end it.
struct LaunchProgress {
  std::atomic<uint64_t> blocksDone{0};
  std::atomic<bool> stop{false};
};

struct EmulatorOptions {
  Check check = Check::Races;
  /// Count what accesses cost; only without checks.
  bool statistics = false;
  /// Threads stop for random times, by the seed of the launch, where they order
  /// memory: at atomic operations, volatile accesses and fences.
  bool delays = false;
  /// Nobody looks at what is computed: it is left out of a kernel whose
  /// accesses, ways and waits do not depend on what memory holds. Launches have
  /// the same statistics then, and no findings if there were none; that writes
  /// store the same value is not known, and they race.
  bool forgetsValues = false;
  /// The chip, whose features decide how statistics see accesses.
  std::string chip;
};

/// A kernel that can be launched on the host any number of times, from one
/// thread at a time.
class EmulatedKernel {
public:
  ~EmulatedKernel();

  /// Prepares kernel `name` of `bitcode`, which is CompileResult::bitcode.
  /// `sources` are the texts that its locations refer to. Null after an error,
  /// which `errors` then tells.
  static std::unique_ptr<EmulatedKernel>
  create(const std::string &bitcode, const std::string &name,
         const EmulatorOptions &options, std::vector<SourceText> sources,
         std::vector<SharedBuffer> sharedBuffers,
         std::vector<DiagnosticRecord> &errors);

  /// Whether values are computed though they were to be left out, because
  /// something depends on what memory holds: what all kernels write counts
  /// then.
  bool needsValues() const;

  /// Why the kernel cannot be launched so, as its sizes do not fit; empty if it
  /// can.
  std::string refuse(const LaunchRequest &request) const;

  /// Runs the kernel on the memory that `request` names, in place; it must not
  /// be refused.
  LaunchResult launch(const LaunchRequest &request, LaunchProgress &progress);

private:
  struct Implementation;
  explicit EmulatedKernel(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_EMULATOR_EMULATOR_H
