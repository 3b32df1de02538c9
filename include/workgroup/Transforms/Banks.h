//===- Banks.h - Layouts against bank conflicts -----------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Workgroup memory has 32 banks of 4 bytes; lanes of a warp that access
// different rows of one bank wait for each other. The pass gives each buffer
// the layout, padded or swizzled, in which its accesses take the fewest
// wavefronts.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_TRANSFORMS_BANKS_H
#define WORKGROUP_TRANSFORMS_BANKS_H

#include "mlir/Pass/Pass.h"
#include "llvm/Support/CommandLine.h"
#include <string>

namespace mlir::workgroup {

/// When rows of workgroup buffers are swizzled.
enum class Swizzle { Always, Auto };

struct ResolveBankConflictsOptions {
  /// Whether wavefronts alone count, or the arithmetic of a swizzle as well.
  Swizzle swizzle = Swizzle::Always;
  /// Workgroup memory in bytes that a kernel may have when its rows are padded;
  /// 0 means what static memory can have.
  int64_t maxBytes = 0;
  /// The chip of kernels without a target.
  std::string chip;
};

/// Gives workgroup buffers in device code inside `root` layouts with fewer bank
/// conflicts. See pass `workgroup-resolve-bank-conflicts`.
LogicalResult
resolveBankConflicts(Operation *root,
                     const ResolveBankConflictsOptions &options = {});

inline llvm::cl::ValuesClass getSwizzleValues() {
  return llvm::cl::values(
      clEnumValN(Swizzle::Always, "always", "where it saves wavefronts"),
      clEnumValN(Swizzle::Auto, "auto", "where they are worth its arithmetic"));
}

#define GEN_PASS_DECL
#include "workgroup/Transforms/Banks.h.inc"

} // namespace mlir::workgroup

#endif // WORKGROUP_TRANSFORMS_BANKS_H
