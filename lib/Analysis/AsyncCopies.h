//===- AsyncCopies.h - When asynchronous copies are done --------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_ASYNCCOPIES_H
#define WORKGROUP_LIB_ANALYSIS_ASYNCCOPIES_H

#include "mlir/IR/Operation.h"

namespace mlir::workgroup {

/// The operation behind which what `copy`, a `cp.async`, does is done, in the
/// thread that executes both: a wait for all groups, on every way from the copy
/// and after it was committed. Null if there is none, or it is no such copy.
Operation *findCompletion(Operation *copy, Operation *scope);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_ASYNCCOPIES_H
