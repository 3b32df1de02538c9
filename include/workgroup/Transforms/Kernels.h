//===- Kernels.h - Which operations share a kernel --------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From tensors of the host to loops over blocks: operations that can share
// their blocks become a function, the function is tiled into a loop over
// blocks, and its tensors are made ready for bufferization.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_TRANSFORMS_KERNELS_H
#define WORKGROUP_TRANSFORMS_KERNELS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::workgroup {

/// Which chains of contractions become one kernel: see pass
/// `workgroup-form-kernels`.
struct FormKernelsOptions {
  /// Workgroup memory for the rows that a block keeps between contractions, and
  /// tiles of what it multiplies; 0 for a kernel of each contraction.
  int64_t chainBytes = 0;
  /// The least number of blocks that are worth it, if each has much to do.
  int64_t chainBlocks = 0;
  /// The chip that chains are compiled for; empty for the default.
  std::string chip = "";
  /// Weights of f32 are rounded to the 16 bits of values.
  bool narrow = false;
};

/// Makes private functions, which become kernels, of the operations on tensors
/// in `module`. See pass `workgroup-form-kernels`.
LogicalResult formKernels(ModuleOp module,
                          const FormKernelsOptions &options = {});

/// Tiles of a kernel: see pass `workgroup-tile-kernel`.
struct TileKernelOptions {
  /// Iterations of each parallel loop that a block does; 0 for all.
  SmallVector<int64_t> block;
  /// Iterations of the loops over sums that are done at a time; 0 for all.
  SmallVector<int64_t> reduction;
  /// Iterations of each loop of the one reduction that a block does, if blocks
  /// share its sums; 0 for all.
  SmallVector<int64_t> split;
  /// Columns of the first of two chained contractions that are made at a time;
  /// 0 for all.
  int64_t columns = 0;
  /// Columns of the first of two chained contractions that are made and
  /// multiplied at a time, so that no rows are kept; 0 for whole rows.
  int64_t stream = 0;
  /// Whether columns that a mask hides from all rows of a block are left out of
  /// a stream; what the second contraction multiplies has to be finite.
  bool skipsMasked = false;
  /// Whether every user of an element-wise result computes it for itself.
  bool recompute = false;
  /// If it is not 0, sizes are chosen for blocks of so many threads, and all
  /// else is ignored.
  int64_t defaultThreads = 0;
};

/// Makes a loop over blocks of `function`, of which the operations are tiled.
LogicalResult tileKernel(func::FuncOp function,
                         const TileKernelOptions &options);

/// How kernels are scheduled where a program does not say it.
struct ScheduleKernelsOptions {
  /// Threads of a block.
  int64_t threads = 128;
  /// The chip to compile for; empty for the default.
  std::string chip;
  /// Alignment in bytes that memref arguments have.
  int64_t assumeAlignment = 1;
  /// Different memref arguments of a function do not overlap.
  bool assumeDistinctArguments = false;
};

/// Makes launches of what `module` computes on tensors and buffers. See pass
/// `workgroup-schedule-kernels`.
LogicalResult scheduleKernels(ModuleOp module,
                              const ScheduleKernelsOptions &options = {});

/// Makes tensors of `module` fit for upstream's one-shot bufferization. See
/// pass `workgroup-prepare-bufferization`.
LogicalResult prepareBufferization(ModuleOp module);

/// The name of the pass, by which schedules apply it.
StringRef getFormKernelsName();

#define GEN_PASS_DECL
#include "workgroup/Transforms/Kernels.h.inc"

} // namespace mlir::workgroup

#endif // WORKGROUP_TRANSFORMS_KERNELS_H
