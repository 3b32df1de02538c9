//===- Sync.h - Barriers in, out, and proved --------------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Three passes over one analysis of hazards: insertion covers all hazards (RAW,
// WAR, WAW between threads) by the fewest barriers, elimination removes
// barriers that cover nothing which others do not, and verification proves that
// no hazard is left, or names two threads and a byte. docs/synchronization.md
// explains the analysis.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_TRANSFORMS_SYNC_H
#define WORKGROUP_TRANSFORMS_SYNC_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mlir::workgroup {

/// Says by remarks who touches which memory in kernels inside `root`. See pass
/// `workgroup-print-accesses`.
void printAccesses(Operation *root);

/// Says by remarks what the threads of blocks and warps agree on in kernels
/// inside `root`. See pass `workgroup-print-uniformity`.
void printUniformity(Operation *root);

struct SyncOptions {
  /// Different memref arguments of a kernel or host function do not overlap.
  bool assumeDistinctArguments = false;
  /// A kernel that is not known to be free of races is an error.
  bool isStrict = false;
  /// Insertion warns of what may race and no barrier can order.
  bool warns = true;
  /// Insertion fails where no barrier can order; otherwise it only warns.
  bool refuses = true;
  /// Insertion may use barriers of a part of the block's warps.
  bool hasNamedBarriers = false;
};

/// The verdict on the synchronisation of a kernel; the graver, the larger.
enum class SyncVerdict { Safe, Maybe, Race, Unfixable, Divergent, Deadlock };

/// Something that is wrong with it.
struct SyncFinding {
  SyncVerdict verdict = SyncVerdict::Maybe;
  /// An operation, by its name, and where it stands.
  struct Site {
    std::string op;
    LocationAttr location;
  };
  /// The operation that is wrong, and the other access if there is one. The
  /// operations may be copies of those of the program, in place of calls.
  Site at;
  std::optional<Site> other;
  std::string message;
  SmallVector<std::pair<LocationAttr, std::string>, 1> notes;
  /// Two threads for which it happens, by their ids: that of `other` first, or
  /// that which gets to a barrier. Empty if none are known.
  SmallVector<std::array<int64_t, 3>, 2> threads;
  /// The blocks that those are of, if they are of different ones.
  SmallVector<std::array<int64_t, 3>, 2> blocks;
  /// The place where they meet, in bytes from where the buffer begins or, if
  /// its strides are not constants, as indices.
  SmallVector<int64_t, 1> coordinates;
};

struct SyncReport {
  std::string kernel;
  LocationAttr location;
  SyncVerdict verdict = SyncVerdict::Safe;
  std::vector<SyncFinding> findings;
  /// It is safe if all accesses are in bounds, and not known to be otherwise.
  bool assumesInBounds = false;
};

/// A pair of accesses that a barrier orders.
struct OrderedPair {
  SyncFinding::Site first, second;
  /// The second one is of a later iteration of a loop around both.
  bool isInLaterIteration = false;
  /// Two threads that touch the same memory, by their ids, and where they meet:
  /// in bytes or, if `isInBytes` is not set, as indices. Empty if none are
  /// known.
  SmallVector<std::array<int64_t, 3>, 2> threads;
  SmallVector<int64_t, 1> coordinates;
  bool isInBytes = false;
  /// Why it is not known whether there are such threads.
  std::string reason;
};

/// Why a barrier was inserted.
struct BarrierReport {
  /// The barrier, as long as nothing has changed the kernel.
  Operation *barrier = nullptr;
  /// Barriers that were inserted together.
  size_t numBarriers = 0;
  /// Pairs no two of which one barrier could help to order.
  size_t numNeeded = 0;
  /// No fewer barriers would do.
  bool isOptimal = false;
  /// The pairs that the barrier orders, and the first ones of them.
  size_t numPairs = 0;
  std::vector<OrderedPair> pairs;
  /// That of the needed ones which this barrier orders, if any.
  std::optional<OrderedPair> certificate;
};

/// What insertion has found out of accesses, for the verification of the same
/// program: what does not depend on where barriers stand.
class SyncHandover;
std::shared_ptr<SyncHandover> makeSyncHandover();

/// Inserts the fewest barriers that order what different threads do in the
/// kernels inside `root`. Fails, with a diagnostic, where none can. Appends why
/// there is each to `reports`, and leaves what verification may ask again in
/// `handover`, if given.
LogicalResult insertBarriers(Operation *root, const SyncOptions &options = {},
                             std::vector<BarrierReport> *reports = nullptr,
                             SyncHandover *handover = nullptr);

/// The pass `workgroup-insert-barriers`, which reports why there is each
/// barrier to `reports`; it must outlive the run.
std::unique_ptr<Pass>
createInsertBarriersPass(const SyncOptions &options,
                         std::vector<BarrierReport> *reports,
                         std::shared_ptr<SyncHandover> handover = nullptr);

/// Removes barriers that order nothing which others do not order.
void eliminateBarriers(Operation *root, const SyncOptions &options = {});

/// Reports accesses that nothing orders: by diagnostics and, if it is given, in
/// `reports`, one for each kernel and each function that no kernel calls. Fails
/// if there are some for sure. Asks what was left in `handover`, if that is
/// given, for what it needs to know of the accesses of an unchanged program.
LogicalResult verifySync(Operation *root, const SyncOptions &options = {},
                         std::vector<SyncReport> *reports = nullptr,
                         SyncHandover *handover = nullptr);

/// The pass `workgroup-verify-sync`, behind an insertion with that `handover`.
std::unique_ptr<Pass>
createVerifySyncPass(const SyncOptions &options,
                     std::shared_ptr<SyncHandover> handover);

/// A barrier of the block in a kernel, and what would be wrong without it.
struct BarrierNeed {
  Operation *barrier = nullptr;
  /// Whether that is known.
  bool isTried = false;
  /// The gravest of the findings.
  SyncVerdict verdict = SyncVerdict::Safe;
  /// What is wrong without the barrier, and is not with it.
  std::vector<SyncFinding> findings = {};
};

/// What verification says of the kernels of a module, and what each barrier in
/// them is for.
struct SyncExplanation {
  std::vector<SyncReport> reports;
  std::vector<BarrierNeed> needs;
};

/// Verifies the kernels of `module`, and says what the barriers in its GPU
/// modules are for; of each the first `maxTried` are tried to be left out.
/// Diagnostics are not held back.
SyncExplanation explainSync(ModuleOp module, const SyncOptions &options,
                            unsigned maxTried);

#define GEN_PASS_DECL
#include "workgroup/Transforms/Sync.h.inc"

} // namespace mlir::workgroup

#endif // WORKGROUP_TRANSFORMS_SYNC_H
