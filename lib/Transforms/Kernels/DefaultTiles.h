//===- DefaultTiles.h - Tiles where nobody chooses any ----------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One rule for each class of kernels, whatever its extents and the chip: right
// for all, best for few. Schedules (docs/schedules.md) choose better ones.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_KERNELS_DEFAULTTILES_H
#define WORKGROUP_LIB_TRANSFORMS_KERNELS_DEFAULTTILES_H

#include "KernelGroups.h"
#include "workgroup/Transforms/Kernels.h"

namespace mlir::workgroup {

/// Tiles of `group` for blocks of `threads` threads.
TileKernelOptions getDefaultTiles(const KernelGroup &group, int64_t threads);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_KERNELS_DEFAULTTILES_H
