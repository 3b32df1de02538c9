//===- HostBranches.h - Branches of the host as regions ---------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Launch plans, schedules and bufferization work on structured control flow. A
// host function of several blocks (`cf.br`, `cf.cond_br`, `cf.switch`) is
// structured by upstream's transformation, kernels are left as they are.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_COMPILER_HOSTBRANCHES_H
#define WORKGROUP_LIB_COMPILER_HOSTBRANCHES_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::workgroup {

/// Structures the functions of the host in `module`, as far as upstream can.
void structureHostBranches(ModuleOp module);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_COMPILER_HOSTBRANCHES_H
