//===- TensorCopyLowering.h - Runs of copies by TMA -------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Copies that `workgroup-lower-copies` hands to TMA. The copies of a run share
// an mbarrier: one thread tells it how many bytes to expect and asks for them,
// and every thread waits until they are there. The wait makes them visible to
// the thread, so that no barrier is due behind it.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_COPIES_TENSORCOPYLOWERING_H
#define WORKGROUP_LIB_TRANSFORMS_COPIES_TENSORCOPYLOWERING_H

#include "CopyEmitter.h"
#include "MBarriers.h"
#include "MemoryAccesses.h"
#include "TensorCopies.h"
#include "workgroup/Analysis/Uniformity.h"

namespace mlir::workgroup {

/// Lowers the copies inside an operation that TMA does. In the order of the
/// methods.
class TensorCopyLowering {
public:
  TensorCopyLowering(Operation *root, const LowerCopiesOptions &options)
      : root(root), options(options), maps(root),
        aliases(root, options.assumeDistinctArguments) {}

  /// Decides which of the copies that are candidates TMA does.
  void decide(MutableArrayRef<Copy> copies);

  /// Prepares for `run`, some copies of which TMA does. Barriers that surround
  /// it stand already.
  void addRun(ArrayRef<Copy> run, RewriterBase &rewriter);

  /// Creates the mbarriers of the runs.
  void createBarriers(RewriterBase &rewriter);

  /// Emits the copies of `run`, the next one that was added, that TMA does,
  /// before the last of them.
  void issue(ArrayRef<Copy> run, RewriterBase &rewriter);

  /// Waits for what was issued last.
  void wait(Location loc, RewriterBase &rewriter);

  /// Lets every wait know its phase, and erases views that no thread uses now.
  void finish(RewriterBase &rewriter);

private:
  std::string getObstacle(Copy &copy, AlignmentAnalysis &alignment);
  std::string getDrawback(const Copy &copy);
  void eraseDeadViews(RewriterBase &rewriter);

  Operation *root;
  const LowerCopiesOptions &options;
  TensorMaps maps;
  ArgumentAliases aliases;
  KernelWrites writes;
  /// The uniformity of warps; computed when it is first asked for.
  std::unique_ptr<UniformityAnalysis> warps;
  /// For each kernel, the number of runs, the number of those that have been
  /// issued, and the mbarriers, one for each run.
  struct KernelRuns {
    explicit KernelRuns(Location loc) : loc(loc) {}
    Location loc;
    int64_t count = 0, issued = 0;
    /// Whether a barrier stands before each.
    bool areOrdered = true;
    Value group;
  };
  llvm::MapVector<Operation *, KernelRuns> kernels;
  MBarrier current;
  SmallVector<Value> sources;
  SmallVector<nvgpu::MBarrierTryWaitParityOp> waits;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_COPIES_TENSORCOPYLOWERING_H
