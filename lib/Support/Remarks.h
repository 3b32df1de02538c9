//===- Remarks.h - Optimisation remarks of this project ---------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every decision of a pass is an MLIR remark: `passed` for what was done,
// `missed` with a reason for what was not. They work in a release `mlir-opt`
// (`--remarks-filter='workgroup.*' --remark-format=emitRemark`), in YAML, and
// from Python. The category of a remark is the name of its pass, so that one
// regular expression selects a pass or all of them. Which remarks there are is
// declared beside the passes.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_SUPPORT_REMARKS_H
#define WORKGROUP_LIB_SUPPORT_REMARKS_H

#include "mlir/IR/Remarks.h"
#include "workgroup/Support/Kernel.h"

namespace mlir::workgroup {

/// The remarks that there are, by pass and name: those that the `.td` files of
/// the passes declare (include/workgroup/Remarks.td).
#define GET_RemarkId_DECL
#include "workgroup/Tables.inc"

/// Records remark `id` about `op`, which is at `loc`; stream what is to be
/// said.
remark::detail::InFlightRemark recordRemark(RemarkId id, Operation *op,
                                            Location loc);

inline remark::detail::InFlightRemark recordRemark(RemarkId id, Operation *op) {
  return recordRemark(id, op, op->getLoc());
}

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_SUPPORT_REMARKS_H
