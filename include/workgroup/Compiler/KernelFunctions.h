//===- KernelFunctions.h - What becomes kernels, as data --------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The structure of the functions that `workgroup-form-kernels` makes, for those
// who choose tiles and sizes of blocks. What is to be chosen is not said here.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_COMPILER_KERNELFUNCTIONS_H
#define WORKGROUP_COMPILER_KERNELFUNCTIONS_H

#include "workgroup/Support/SourceLocation.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mlir::workgroup {

/// An operand that an operation reads or writes.
struct KernelOperandRecord {
  /// As `f32`.
  std::string elementType;
  /// Bits of an element.
  unsigned bits = 0;
  /// Extents; nothing where only the launch knows.
  std::vector<std::optional<int64_t>> shape;
  /// For each dimension, which is contiguous if it is the last one, the loop
  /// that goes along it; nothing for an index of any other form.
  std::vector<std::optional<unsigned>> loops;
};

/// The loops of a sum of products, in order; of a convolution, pixels and
/// features are `m` and `n`.
struct ContractionRecord {
  /// In both operands and the result; in the left one and the result; in the
  /// right one and the result; in both operands only.
  std::vector<unsigned> batch, m, n, k;
};

/// A structured operation.
struct KernelOpRecord {
  /// `fill`, `elementwise`, `reduction`, `contraction` or `window`; of a
  /// parallel loop `points` if an iteration is the work of a thread, or
  /// `tiles`.
  std::string kind;
  SourceLocation location;
  /// For each loop whether it is parallel rather than a sum or the like.
  std::vector<bool> isParallel;
  /// Iterations of each loop; nothing where only the launch knows.
  std::vector<std::optional<int64_t>> extents;
  /// For each loop the one of the root that blocks share out and that goes
  /// along with it.
  std::vector<std::optional<unsigned>> rows;
  std::vector<KernelOperandRecord> inputs, results;
  /// Operations on each element, and whether there is none: a transposition, a
  /// broadcast.
  unsigned numBodyOps = 0;
  bool isCopy = false;
  /// Whether partial results can be combined: each by a known operation that no
  /// other result depends on.
  bool isCombinable = false;
  /// Whether blocks can share its sums: the only ones of the kernel.
  bool isSplittable = false;
  /// The structure of the operation if it is a contraction.
  std::optional<ContractionRecord> contraction;
};

/// Two contractions of a kernel, the second of which multiplies what is made of
/// the result of the first.
struct KernelChainRecord {
  /// Numbers of the contractions among the operations.
  unsigned first = 0, second = 0;
  /// The loop of the root that goes along the rows of both results.
  unsigned row = 0;
  /// Workgroup memory for each row, and for all of them; 0 if rows are of no
  /// known length.
  int64_t rowBytes = 0, tileBytes = 0;
  /// The same, if some columns of the first result are made and multiplied at a
  /// time; 0 if the second contraction needs whole rows.
  int64_t streamRowBytes = 0, streamTileBytes = 0;
};

/// A function that becomes one kernel.
struct KernelFunctionRecord {
  std::string name;
  /// The name as an attribute of MLIR spells it, with quotes.
  std::string symbol;
  /// The kind of most of the work, as `KernelOpRecord::kind`.
  std::string kind;
  /// In order; the last one is the root, the loops of which are tiled.
  std::vector<KernelOpRecord> ops;
  /// For each loop of the root whether blocks may share it out.
  std::vector<bool> isShared;
  std::optional<KernelChainRecord> chain;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_COMPILER_KERNELFUNCTIONS_H
