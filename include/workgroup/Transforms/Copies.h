//===- Copies.h - Copies in kernels -----------------------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A copy in a kernel is an operation (`memref.copy`, `linalg.copy`,
// `linalg.fill`) until it is lowered, so that its width, engine and place can
// be chosen as a whole. Hoisting moves copies out of loops; lowering makes
// loads and stores, `cp.async` or TMA of them, shared out to the threads of the
// block.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_TRANSFORMS_COPIES_H
#define WORKGROUP_TRANSFORMS_COPIES_H

#include "mlir/Pass/Pass.h"
#include "workgroup/Target/AccessWidth.h"
#include "workgroup/Target/LaunchLimits.h"
#include "llvm/Support/CommandLine.h"
#include <string>

namespace mlir::workgroup {

struct HoistCopiesOptions {
  /// Different memref arguments of a kernel or host function do not overlap.
  bool assumeDistinctArguments = false;
  /// Largest number of bytes of workgroup memory that copies are hoisted for; 0
  /// for that of the chip.
  int64_t maxBytes = kMaxStaticWorkgroupBytes;
  /// The chip to compile for; empty for that of the `gpu.module`'s target.
  std::string chip = "";
};

/// Hoists copies in device code inside `root` out of loops that do not change
/// their sources. Fails if the chip is unknown. See pass
/// `workgroup-hoist-copies`.
LogicalResult hoistCopies(Operation *root,
                          const HoistCopiesOptions &options = {});

/// The engine of copies from global to workgroup memory: loads and stores,
/// cp.async, TMA, or whichever of them chip and operands allow and is a gain.
enum class CopyStrategy { Auto, Sync, CpAsync, TMA };

struct LowerCopiesOptions {
  /// Surround copies done by the whole block by barriers.
  bool insertBarriers = true;
  /// Alignment in bytes that memref arguments may be assumed to have.
  int64_t assumeAlignment = 1;
  /// Different memref arguments of a kernel or host function do not overlap.
  bool assumeDistinctArguments = false;
  /// Accesses per thread up to which a copy becomes straight-line code.
  int64_t unrollLimit = 8;
  /// Widest access in bytes.
  int64_t vectorBytes = kWidestAccessBytes;
  CopyStrategy strategy = CopyStrategy::Auto;
  /// Whether what is copied by cp.async does not stay in the L1 cache.
  bool bypassL1 = true;
  /// The chip to compile for; empty for that of the `gpu.module`'s target.
  std::string chip = "";
  /// Whether a copy that cannot be lowered is an error, or stays.
  bool isStrict = true;
  /// Threads of a block along x, y and z that kernels shall be launched with if
  /// they do not say themselves; empty if that is not known.
  SmallVector<int64_t> blockSize = {};
};

/// Lowers copies in device code inside `root` to loads and stores. See pass
/// `workgroup-lower-copies`.
LogicalResult lowerCopies(Operation *root,
                          const LowerCopiesOptions &options = {});

inline llvm::cl::ValuesClass getCopyStrategyValues() {
  return llvm::cl::values(
      clEnumValN(CopyStrategy::Auto, "auto",
                 "by TMA or cp.async where chip and operands allow and it is a "
                 "gain"),
      clEnumValN(CopyStrategy::Sync, "sync", "by loads and stores"),
      clEnumValN(CopyStrategy::CpAsync, "cp-async",
                 "by cp.async where chip and operands allow, with a remark "
                 "where they do not"),
      clEnumValN(CopyStrategy::TMA, "tma",
                 "by TMA where chip and operands allow, with a remark where "
                 "they do not; then as cp-async"));
}

#define GEN_PASS_DECL
#include "workgroup/Transforms/Copies.h.inc"

} // namespace mlir::workgroup

#endif // WORKGROUP_TRANSFORMS_COPIES_H
