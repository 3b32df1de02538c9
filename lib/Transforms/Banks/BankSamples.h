//===- BankSamples.h - What warps address -----------------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The requests that warps make by an access, for some warps and some iterations
// of the loops around it. What is the same for all threads of a block but not
// known (ids of blocks, arguments, values carried by loops) is given sample
// values: zero and the first multiples of what is known to divide it.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_BANKS_BANKSAMPLES_H
#define WORKGROUP_LIB_TRANSFORMS_BANKS_BANKSAMPLES_H

#include "Analysis/Index/ThreadEvaluator.h"
#include "BankBuffers.h"
#include "workgroup/Analysis/Alignment.h"
#include "workgroup/Analysis/Uniformity.h"
#include <array>

namespace mlir::workgroup {

/// The offsets that the lanes of a warp address at once; `lanes` tells which
/// do.
struct RowRequest {
  uint32_t lanes = 0;
  /// In rows and, within a row, in elements.
  std::array<uint32_t, 32> rows, columns;
};

/// The requests of an access.
struct SampledAccess {
  const BankAccess *access = nullptr;
  /// Bytes that a lane accesses, and the most that one instruction can do.
  int64_t bytes = 0, pieceBytes = 0;
  /// The number of times that it is executed, as far as constant trip counts
  /// tell, divided by the samples that the requests are taken from.
  uint64_t weight = 0;
  SmallVector<RowRequest, 0> requests;
};

/// Samples the accesses of a kernel. An instance must not outlive a change of
/// the IR it has looked at.
class BankSampler {
public:
  BankSampler(Operation *root, Operation *scope, std::array<int64_t, 3> shape);

  /// The requests of `access` to `buffer`; nothing if its addresses are not
  /// known.
  std::optional<SampledAccess> sample(const BankBuffer &buffer,
                                      const BankAccess &access);

  /// By how much weighted counts exceed those of the kernel, and by how much
  /// the kernel exceeds the sampled warps.
  static constexpr uint64_t kWeightUnit = 12;
  uint64_t getWarpFactor() const { return numWarps; }
  uint64_t getWarpDivisor() const { return warps.size(); }

private:
  /// The values that evaluators know beside thread ids: iterations of loops
  /// with constant bounds, or all uniform values.
  enum Knowledge { Iterations, Samples };

  std::optional<ThreadValues> getIteration(Operation *loop, unsigned iteration,
                                           ThreadEvaluator &evaluator);
  std::optional<ThreadValues> supply(Value value, unsigned sample,
                                     Knowledge knowledge,
                                     ThreadEvaluator &evaluator);
  std::optional<ThreadValues> getOffsets(const LinearIndex &offset,
                                         unsigned sample);
  ArrayRef<bool> getActiveThreads(Block *block, unsigned sample);
  std::optional<int64_t> getTripCount(Operation *loop);
  uint64_t getWeight(Operation *op);
  void addRequests(SampledAccess &sampled, const BankBuffer &buffer,
                   const ThreadValues &offsets, ArrayRef<bool> isActive);
  void addMatrixRequests(SampledAccess &sampled, const BankBuffer &buffer,
                         int64_t offset);
  ThreadEvaluator &getEvaluator(unsigned sample, Knowledge knowledge);
  const UniformityAnalysis &getUniformity();

  static constexpr unsigned kMaxSamples = 4, kMaxWarps = 8;

  Operation *root, *scope;
  std::array<int64_t, 3> shape;
  uint64_t numWarps;
  SmallVector<int64_t> warps, threads;
  std::optional<UniformityAnalysis> uniformity;
  AlignmentAnalysis alignments;
  std::array<std::array<std::unique_ptr<ThreadEvaluator>, 2>, kMaxSamples>
      evaluators;
  std::array<DenseMap<Block *, SmallVector<bool, 0>>, kMaxSamples>
      activeThreads;
  DenseMap<Operation *, std::optional<int64_t>> tripCounts;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_BANKS_BANKSAMPLES_H
