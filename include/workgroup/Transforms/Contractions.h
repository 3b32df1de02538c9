//===- Contractions.h - Sums of products in blocks --------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How a block computes a sum of products: by gathering the windows that a
// convolution multiplies, by copying tiles of the operands to workgroup memory,
// where many threads read them, and by giving each thread a tile of the result,
// whose sums it keeps in registers.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_TRANSFORMS_CONTRACTIONS_H
#define WORKGROUP_TRANSFORMS_CONTRACTIONS_H

#include "mlir/Pass/Pass.h"
#include <string>

namespace mlir::workgroup {

struct DecomposeIm2colOptions {
  /// The chip to compile for; empty for that of the `gpu.module`'s target.
  std::string chip = "";
  /// Different memref arguments of a function do not overlap.
  bool assumeDistinctArguments = false;
};

/// Makes contractions of tiles of the convolutions of blocks inside `root`. See
/// pass `workgroup-decompose-im2col`.
LogicalResult decomposeIm2col(Operation *root,
                              const DecomposeIm2colOptions &options = {});

struct StageOperandsOptions {
  /// Largest number of bytes of workgroup memory for the tiles of a
  /// contraction; 0 for that of the chip.
  int64_t maxBytes = 0;
  /// The chip to compile for; empty for that of the `gpu.module`'s target.
  std::string chip = "";
  /// Different memref arguments of a function do not overlap.
  bool assumeDistinctArguments = false;
};

/// Copies operands of contractions of blocks inside `root` to workgroup memory.
/// See pass `workgroup-stage-operands`.
LogicalResult stageOperands(Operation *root,
                            const StageOperandsOptions &options = {});

struct KeepChainsOptions {
  /// Threads of a block.
  int64_t threads = 128;
  /// The chip to compile for; empty for that of the `gpu.module`'s target.
  std::string chip = "";
};

/// Makes buffers of threads of what is between two contractions of blocks
/// inside `root`, where warps can have whole rows. See pass
/// `workgroup-keep-chains`.
LogicalResult keepChains(Operation *root,
                         const KeepChainsOptions &options = {});

/// Makes buffers of threads of results in device code inside `root` while these
/// are added to. See pass `workgroup-keep-accumulators`.
void keepAccumulators(Operation *root, bool assumeDistinctArguments = false);

struct LowerContractionsOptions {
  /// The alignment in bytes that memref arguments have.
  int64_t assumeAlignment = 1;
  /// The chip to compile for; empty for that of the `gpu.module`'s target.
  std::string chip = "";
  /// Tensor cores compute what they can.
  bool tensorCores = true;
  /// Factors in f32 are rounded to tf32, and tensor cores multiply them.
  bool tf32 = false;
  /// Warp groups multiply tiles of rings where they are, on chips that have the
  /// instructions, and TMA fills them.
  bool warpGroups = true;
  /// Different memref arguments of a kernel or host function do not overlap.
  bool assumeDistinctArguments = false;
  /// TMA stores results of 16 bits of warp groups, where it can.
  bool storeRings = true;
};

/// Shares out contractions of tiles in device code inside `root` to threads.
/// See pass `workgroup-lower-contractions`.
LogicalResult lowerContractions(Operation *root,
                                const LowerContractionsOptions &options = {});

#define GEN_PASS_DECL
#include "workgroup/Transforms/Contractions.h.inc"

} // namespace mlir::workgroup

#endif // WORKGROUP_TRANSFORMS_CONTRACTIONS_H
