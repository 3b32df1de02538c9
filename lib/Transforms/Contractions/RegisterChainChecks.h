//===- RegisterChainChecks.h - Whether a chain can be kept ------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each operation of a chain has to have a role that the emitter knows, all of
// its buffers, and operands that were filled before.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_REGISTERCHAINCHECKS_H
#define WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_REGISTERCHAINCHECKS_H

#include "RegisterChain.h"

namespace mlir::workgroup {

/// True if `op`, a copy or a structured operation, writes to `view`.
bool isWriting(Operation *op, Value view);

/// Makes `ops`, in order, those of `chain`. Returns why they have none, or
/// empty.
std::string sortOps(RegisterChain &chain, ArrayRef<Operation *> ops);

/// Why an operation of `chain`, in its place, cannot be done on registers;
/// empty if all can.
std::string checkRoles(const RegisterChain &chain);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_CONTRACTIONS_REGISTERCHAINCHECKS_H
