//===- AccessWhole.h - Operations on whole memrefs --------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `memref.copy`, `workgroup.copy` and linalg operations access whole memrefs.
// If all threads of the block reach the operation together, with the same
// operands, the access is the block's: the operation is to be spread over the
// threads, each doing a part of it. Otherwise each thread does all of it by
// itself.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_ACCESS_ACCESSWHOLE_H
#define WORKGROUP_LIB_ANALYSIS_ACCESS_ACCESSWHOLE_H

#include "AccessRecorder.h"

namespace mlir::workgroup {

/// Adds the accesses of `op` if it accesses whole memrefs; false if not.
bool visitWhole(Operation *op, AccessRecorder &recorder);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_ACCESS_ACCESSWHOLE_H
