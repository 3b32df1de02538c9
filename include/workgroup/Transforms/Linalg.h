//===- Linalg.h - Linalg as front ends write it -----------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Front ends write linalg in many forms: named operations, on buffers or
// tensors, with dimensions of one element. Normalization makes one form of
// them, `linalg.generic` on tensors with element-wise operations fused, which
// schedules and kernel formation match.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_TRANSFORMS_LINALG_H
#define WORKGROUP_TRANSFORMS_LINALG_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::workgroup {

/// Facts about the program: see pass `workgroup-normalize-linalg`.
struct NormalizeLinalgOptions {
  bool dropAssertions = false;
  bool assumeDistinctArguments = false;
  bool narrow = false;
};

/// Brings linalg of the host in `module` into the form that schedules match.
/// See pass `workgroup-normalize-linalg`.
LogicalResult normalizeLinalg(ModuleOp module,
                              const NormalizeLinalgOptions &options = {});

#define GEN_PASS_DECL
#include "workgroup/Transforms/Linalg.h.inc"

} // namespace mlir::workgroup

#endif // WORKGROUP_TRANSFORMS_LINALG_H
