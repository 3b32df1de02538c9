//===- ThreadMapper.h - Structured operations as loops of threads -*- C++ -*-=//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One structured operation after the other becomes a loop over threads: each
// thread computes points of the parallel loops, in vectors where memory allows,
// and sums serially; a reduction with few results is done by threads together.
// A fill before an operation is absorbed, as the value that sums start from.
// Where alignment is known only at run time, the loop is made twice, behind a
// condition.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_THREADS_THREADMAPPER_H
#define WORKGROUP_LIB_TRANSFORMS_THREADS_THREADMAPPER_H

#include "CooperativeReduction.h"
#include "KeptRows.h"
#include "ThreadVectors.h"

namespace mlir::workgroup {

/// Replaces structured operations on buffers by loops over `threads` threads.
class ThreadMapper {
public:
  /// Of `kept` rows each thread has its parts.
  ThreadMapper(RewriterBase &rewriter, const KeptRows &kept, int64_t threads,
               int64_t alignment)
      : rewriter(rewriter), kept(kept), threads(threads),
        argumentAlignment(alignment) {}

  /// Replaces `ops`, which are in the order of the program.
  void map(ArrayRef<linalg::LinalgOp> ops);

private:
  /// One operation on its way.
  struct Work {
    linalg::LinalgOp op;
    SmallVector<OpFoldResult> extents;
    SmallVector<unsigned> shared;
    SmallVector<Value> starts; // what results start from, if that is known
  };

  void absorbFills(linalg::LinalgOp op);
  void map(linalg::LinalgOp op);
  void mapReduction(const Work &work, CooperativeReduction &reduction,
                    AlignmentAnalysis &alignment);
  void mapPoints(const Work &work, const ThreadVector &vector);
  void mapParts(const Work &work);
  void mapChecked(const Work &work, const ThreadVector &vector);
  void emitForThread(const Work &work);
  void emitVector(const Work &work, const ThreadVector &vector, ValueRange ivs);
  void emitPoints(const Work &work, ArrayRef<Value> ivs, int64_t length);

  RewriterBase &rewriter;
  const KeptRows &kept;
  int64_t threads, argumentAlignment;
  /// The values that results start from, if they are known.
  DenseMap<Operation *, SmallVector<Value>> startsOf;
  DenseSet<Operation *> absorbed;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_THREADS_THREADMAPPER_H
