//===- RaiseLinalg.h - Linalg on buffers as linalg on tensors ---*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operations of linalg on buffers become operations on tensors, where it is
// plain who reads what. A block of the host is gone through in order: what an
// operation leaves in a buffer is a tensor from there on, and it is stored into
// memory before anything else may read it. Operations that overlap in ways that
// tensors cannot say stay on buffers.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_LINALG_RAISELINALG_H
#define WORKGROUP_LIB_TRANSFORMS_LINALG_RAISELINALG_H

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "workgroup/Analysis/ArgumentAliases.h"

namespace mlir::workgroup {

/// True for an operation of the host, outside of loops that are shared out,
/// that computes from buffers into buffers and can be one on tensors.
bool isLinalgOnBuffers(Operation *op);

/// Turns linalg on buffers in `function` into linalg on tensors. The result
/// that an operation leaves in a buffer is handed to the next ones as a tensor,
/// and put into memory before anything else may read it.
void raiseLinalg(FunctionOpInterface function, const ArgumentAliases &aliases);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_LINALG_RAISELINALG_H
