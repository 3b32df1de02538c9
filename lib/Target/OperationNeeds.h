//===- OperationNeeds.h - What operations need of a chip --------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From which chip, and which version of PTX, on each operation of the dialects
// gpu, nvgpu and nvvm has an instruction that LLVM selects and ptxas takes.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TARGET_OPERATIONNEEDS_H
#define WORKGROUP_LIB_TARGET_OPERATIONNEEDS_H

#include "Needs.h"

namespace mlir::workgroup {

/// The needs of `op`, with its attributes and types.
OperationNeeds getNeeds(Operation *op);

/// The oldest version of PTX, times ten, that has all operations in `root`
/// that `chip` has.
unsigned getNeededPTXVersion(Operation *root, const Chip &chip);

/// Fails after errors at the operations of `module` that the chip of its target
/// does not have, or not in the version of PTX that the target asks for.
LogicalResult verifyOperations(gpu::GPUModuleOp module);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TARGET_OPERATIONNEEDS_H
