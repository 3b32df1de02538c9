//===- ProductNeeds.h - What products of matrices need ----------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Architecture and PTX version that products of matrices need, by their shapes
// and element types, as the tables of the PTX ISA have them ("Target ISA Notes"
// and "PTX ISA Notes" of `mma`, `mma.sp`, `wmma`, `wgmma`). Other operations
// are in OperationNeeds.h.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TARGET_PRODUCTNEEDS_H
#define WORKGROUP_LIB_TARGET_PRODUCTNEEDS_H

#include "Needs.h"

namespace mlir::workgroup {

/// The needs of `op` if it is an operation on matrices whose parts are in the
/// registers of a warp.
std::optional<OperationNeeds> findNeedsOfProduct(Operation *op);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TARGET_PRODUCTNEEDS_H
