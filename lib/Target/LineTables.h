//===- LineTables.h - Source lines in LLVM IR -------------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX has line tables (`.loc`), by which tools find the source of an
// instruction. LLVM makes them from debug scopes: each function gets a
// subprogram, and each operation one location in it. A fused location has
// several locations, which are written as a chain of inlined calls.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TARGET_LINETABLES_H
#define WORKGROUP_LIB_TARGET_LINETABLES_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Location.h"

namespace llvm {
class DILocation;
} // namespace llvm

namespace mlir::workgroup {

/// The locations that `loc` tells of: the innermost one or, of a fused
/// location, that of each part.
SmallVector<FileLineColRange> getLocations(Location loc);

/// Gives every function of `kernels` what its translation needs to keep the
/// locations of its operations: a debug scope. Upstream's
/// `ensure-debug-info-scope-on-llvm-func` does not look into a `gpu.module`.
///
/// An operation gets the innermost location of its location, in the file that
/// the location is in. Of a fused location the further locations follow as if
/// the first had been inlined there, which `isFurtherLocation` tells from
/// calls.
///
/// Debug information that imported code brings along is reduced to lines, all
/// that is used of it.
void addLineTables(gpu::GPUModuleOp kernels);

/// True if `location`, where another one is inlined, stands beside it.
bool isFurtherLocation(const llvm::DILocation &location);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TARGET_LINETABLES_H
