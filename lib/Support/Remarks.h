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
// regular expression selects a pass or all of them.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_SUPPORT_REMARKS_H
#define WORKGROUP_LIB_SUPPORT_REMARKS_H

#include "mlir/IR/Remarks.h"
#include "workgroup/Support/Kernel.h"

namespace mlir::workgroup {

/// The pass that emits a remark.
enum class RemarkSource {
  DistributeLoops,
  EliminateBarriers,
  FormKernels,
  FormLaunches,
  FormRings,
  SinkAllocs,
  HoistAllocs,
  HoistCopies,
  InsertBarriers,
  LowerContractions,
  LowerCopies,
  LowerDynamicMemory,
  LowerRings,
  MapToThreads,
  MergeKernels,
  NormalizeLinalg,
  PackMemory,
  PlaceBuffers,
  ResolveBankConflicts,
  StageOperands,
  TileKernel,
  VerifyKernels,
  VerifySync
};

/// Name, category and enclosing kernel of a remark about `op`.
remark::RemarkOpts remarkOptions(RemarkSource source, StringRef name,
                                 Operation *op);

/// A remark that the decision `name` was taken for `op`.
inline remark::detail::InFlightRemark
passedRemark(RemarkSource source, StringRef name, Operation *op) {
  return remark::passed(op->getLoc(), remarkOptions(source, name, op));
}

/// A remark that `name` did not happen for `op`; stream the reason.
inline remark::detail::InFlightRemark
missedRemark(RemarkSource source, StringRef name, Operation *op) {
  return remark::missed(op->getLoc(), remarkOptions(source, name, op));
}

/// A remark on what was found out about `op`.
inline remark::detail::InFlightRemark
analysisRemark(RemarkSource source, StringRef name, Operation *op) {
  return remark::analysis(op->getLoc(), remarkOptions(source, name, op));
}

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_SUPPORT_REMARKS_H
