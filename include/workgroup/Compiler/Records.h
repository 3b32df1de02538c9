//===- Records.h - What a compilation tells ---------------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Data without behaviour: kernels and their arguments, where buffers have their
// bytes, remarks, and what is known of synchronisation.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_COMPILER_RECORDS_H
#define WORKGROUP_COMPILER_RECORDS_H

#include "workgroup/Support/SourceLocation.h"
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mlir::workgroup {

struct RemarkRecord {
  /// `passed`, `missed`, `failed` or `analysis`.
  std::string kind;
  std::string name;
  /// The pass.
  std::string category;
  std::string function;
  std::string message;
  SourceLocation location;
  /// Metrics and reasons, in order.
  std::vector<std::pair<std::string, std::string>> arguments;
};

/// The change that one pass made to one operation.
struct SnapshotRecord {
  std::string pass;
  std::string op;
  std::string before;
  std::string after;
};

/// The tensor map that a kernel wants to be made.
struct TensorMapRecord {
  /// As `f16`.
  std::string elementType;
  /// Extents of the box that one copy moves, in elements, innermost first.
  std::vector<int64_t> box;
  /// As MLIR spells them: `none`, `swizzle_128b`; `none`, `interleave_16b`;
  /// `none`, `l2promo_128b`; `zero`, `nan`.
  std::string swizzle, interleave, l2promo, oob;
};

/// An argument of a kernel as its author wrote it.
struct ArgumentRecord {
  /// The type as MLIR prints it.
  std::string type;
  bool isMemRef = false;
  /// The element type of a memref, else the type itself, as `f32`; of a
  /// structure without pointers that is passed by value, `bytes<24>`.
  std::string elementType;
  /// Extents, strides and offset of a memref, in elements; nothing where only
  /// the launch knows.
  std::vector<std::optional<int64_t>> shape, strides;
  std::optional<int64_t> offset;
  /// Alignment in bytes that the code relies on; 1 for a scalar.
  int64_t alignment = 1;
  /// The description of a tensor map, if the argument is one.
  std::optional<TensorMapRecord> tensorMap;
};

/// Part `kind` (`value`, `pointer`, `extent`, `stride`, `offset`, `tensormap`)
/// of argument number `argument`, along `dim`.
struct PartRecord {
  std::string kind;
  unsigned argument;
  unsigned dim;
};

/// A parameter of the PTX: parts that are equal in every launch.
struct ParameterRecord {
  std::vector<PartRecord> parts;
};

struct KernelRecord {
  std::string name;
  std::vector<ArgumentRecord> arguments;
  std::vector<ParameterRecord> parameters;
  /// Threads per block and blocks per grid, if all launches agree on constants.
  std::optional<std::array<int64_t, 3>> block, grid;
  /// Those that every launch has to have, because the code relies on them.
  std::optional<std::array<int64_t, 3>> knownBlock, knownGrid;
  /// Blocks per cluster; ones if no launch asks for clusters, nothing if
  /// launches do not agree on constants.
  std::optional<std::array<int64_t, 3>> cluster;
  /// Bytes of dynamic workgroup memory that the kernel is known to use,
  /// whatever branches its threads take.
  int64_t leastDynamicSharedBytes = 0;
  /// Bytes of workgroup memory; dynamic only if all launches agree.
  int64_t staticSharedBytes = 0;
  std::optional<int64_t> dynamicSharedBytes;
};

/// A host function, and which of its arguments are memory that it may write.
struct EntryRecord {
  std::string name;
  std::vector<ArgumentRecord> arguments;
  std::vector<bool> written;
};

/// From when to when a workgroup buffer is in use: between positions in the
/// order of its kernel, before the one operation until behind the other, or, if
/// these have no name, the beginning and the end of the kernel.
struct BufferLifeRecord {
  unsigned first, last;
  std::string beginOp;
  SourceLocation begin;
  std::string endOp;
  SourceLocation end;
};

/// The bytes that a workgroup buffer is placed at.
struct BufferPlacementRecord {
  /// As in `64x64xf32`; empty for what the lowering of an operation takes.
  std::string type;
  /// Nothing if only the launch knows.
  std::optional<int64_t> bytes;
  int64_t alignment;
  /// In the memory that buffers are packed into; nothing for one of its own.
  std::optional<int64_t> offset;
  bool isShared;
  SourceLocation location;
  /// Nothing if it lives as long as its kernel.
  std::optional<BufferLifeRecord> life;
};

/// The workgroup memory of a kernel, as packing leaves it; sizes in bytes.
struct MemoryRecord {
  std::string kernel;
  int64_t staticBytes, dynamicBytes, maxBytes;
  bool isPackedDynamic;
  std::vector<BufferPlacementRecord> buffers;
};

/// A kernel that takes more workgroup memory than it can have; in bytes.
struct ShortageRecord {
  std::string kernel;
  int64_t requiredBytes, limitBytes;
};

/// An operation, by its name, and where it stands.
struct SyncPlaceRecord {
  std::string op;
  SourceLocation location;
};

/// A pair of accesses that a barrier orders: docs/synchronization.md.
struct OrderedPairRecord {
  SyncPlaceRecord first, second;
  bool isInLaterIteration;
  /// Ids of two threads that touch the same memory, and where they meet: in
  /// bytes or, if `isInBytes` is not set, as indices. Empty if none are known;
  /// then `reason` says why.
  std::vector<std::array<int64_t, 3>> threads;
  std::vector<int64_t> place;
  bool isInBytes;
  std::string reason;
};

/// Why a barrier was inserted: docs/synchronization.md.
struct BarrierRecord {
  std::vector<OrderedPairRecord> pairs;
  int64_t barriers, needed;
  std::optional<OrderedPairRecord> certificate;
  bool isOptimal;
};

/// Something that is wrong, or may be, with the synchronisation of a kernel.
struct SyncFindingRecord {
  /// `MAYBE`, `RACE`, `UNFIXABLE`, `DIVERGENT` or `DEADLOCK`.
  std::string verdict;
  std::string message;
  /// Where it is wrong, and the other access if there is one.
  SyncPlaceRecord at;
  std::optional<SyncPlaceRecord> other;
  /// Ids of two threads for which it happens, that of the other access first;
  /// none if they are not known.
  std::vector<std::array<int64_t, 3>> threads;
  /// The blocks that those are of, if they are of different ones.
  std::vector<std::array<int64_t, 3>> blocks;
  /// The place where they meet: a byte of the buffer or, if the buffer has
  /// strides that only the launch knows, indices.
  std::vector<int64_t> place;
};

/// The verdict and the findings on the synchronisation of a kernel.
struct SyncRecord {
  std::string kernel;
  SourceLocation location;
  /// `SAFE` or the gravest of the findings.
  std::string verdict;
  std::vector<SyncFindingRecord> findings;
  /// It is safe if all accesses are in bounds, and not known to be otherwise.
  bool assumesInBounds = false;
};

/// Whether processors go on, in `second`, with what they have left themselves
/// in `first`: see pass `workgroup-compare-distributions`.
struct DistributionRecord {
  /// `AGREE`, `UNDECIDED` or `DIFFER`.
  std::string verdict;
  std::string message;
  SyncPlaceRecord first, second;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_COMPILER_RECORDS_H
