//===- ChainLimits.h - Which chains are worth one kernel --------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One kernel of two contractions needs workgroup memory for what is between
// them: for whole rows, or for some columns at a time if that will do.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_KERNELS_CHAINLIMITS_H
#define WORKGROUP_LIB_TRANSFORMS_KERNELS_CHAINLIMITS_H

#include "ChainStream.h"
#include "workgroup/Transforms/Kernels.h"

namespace mlir::workgroup {

/// The rows that a block has at least, and the columns that it has at a time
/// where it goes through them.
constexpr int64_t kChainRows = 16, kStreamColumns = 64;

/// True if `chain`, a softmax between, has fewer rows than kChainRows.
bool hasFewRows(const ContractionChain &chain);

/// True if factors have the 16 bits that tensor cores multiply: of few rows,
/// tiles have kChainRows then, of which the last are zeros.
bool isForMatrices(const ContractionChain &chain);

/// True if `chain`, which has no row, would be one kernel if it had one.
bool mayHaveRow(const ContractionChain &chain,
                const FormKernelsOptions &limits);

/// Why a kernel of `chain` would be too large, or slower than one for each
/// contraction.
std::optional<StringRef> getObstacle(const ContractionChain &chain,
                                     const FormKernelsOptions &limits);

/// Workgroup memory of a block: for each row, and for tiles of what all rows
/// are multiplied with.
struct ChainBytes {
  int64_t perRow = 0, ofTiles = 0;
};

/// What whole rows take; nothing if their length is not known.
std::optional<ChainBytes> getRowBytes(const ContractionChain &chain);

/// What some columns at a time take; nothing if that will not do, or if tiles
/// of wide elements would be ragged.
std::optional<ChainBytes> getStreamBytes(const ContractionChain &chain);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_KERNELS_CHAINLIMITS_H
