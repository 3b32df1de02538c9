//===- Records.h - Diagnostics, remarks and snapshots as data ---*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What MLIR says while it compiles, as records: diagnostics with their notes,
// remarks with their metrics, and the text of each operation before and after a
// pass that changes it. The recorder registers handlers with the context and
// takes them out again at its end.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_COMPILER_RECORDS_RECORDS_H
#define WORKGROUP_LIB_COMPILER_RECORDS_RECORDS_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "workgroup/Compiler/Compile.h"
#include "workgroup/Transforms/Loops.h"
#include "workgroup/Transforms/Sync.h"
#include "llvm/Support/SourceMgr.h"

namespace mlir::workgroup {

/// Collects the diagnostics and remarks of `context` into `result` as long as
/// it lives: as data, and rendered with the source lines of `sources`.
class Recorder {
public:
  Recorder(MLIRContext &context, llvm::SourceMgr &sources, bool useColor,
           CompileResult &result);
  ~Recorder();

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

/// Makes `manager` append what each pass changes to `snapshots`.
void recordSnapshots(PassManager &manager,
                     std::vector<SnapshotRecord> &snapshots);

/// Appends what each pass changes to `snapshots` as long as it lives, whoever
/// runs it in `context`: schedules have pass managers of their own.
class SnapshotScope {
public:
  SnapshotScope(MLIRContext &context, std::vector<SnapshotRecord> &snapshots);
  ~SnapshotScope();
  SnapshotScope(const SnapshotScope &) = delete;
  SnapshotScope &operator=(const SnapshotScope &) = delete;

private:
  MLIRContext &context;
};

/// `text` with what is not UTF-8 replaced: names in a program may be any bytes.
std::string toUTF8(StringRef text);

/// The first place in a source text that `loc` tells of.
SourceLocation getSourceLocation(Location loc);

/// An operation by its name and place.
SyncPlaceRecord describePlace(Operation *op);

/// The findings on the synchronisation of a kernel.
SyncRecord describeSync(const SyncReport &report);

/// Whether processors go on with what they have left themselves.
DistributionRecord describeDistribution(const DistributionFinding &finding);

/// Why there is a barrier.
BarrierRecord describeBarrier(const BarrierReport &report);

std::string printType(Type type);

/// The description of kernel argument `type`, relied on to have `alignment`
/// bytes of alignment if it is a memref.
ArgumentRecord describeArgument(Type type, int64_t alignment);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_COMPILER_RECORDS_RECORDS_H
