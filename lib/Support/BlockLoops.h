//===- BlockLoops.h - Loops the iterations of which are blocks --*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An `scf.forall` whose mapping is of blocks, such as `#gpu.block<x>`, is the
// grid of a kernel before there is a launch. A mapping is of one kind in all of
// its dimensions, so that the first one tells.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_SUPPORT_BLOCKLOOPS_H
#define WORKGROUP_LIB_SUPPORT_BLOCKLOOPS_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::workgroup {

/// True if the iterations of `loop` are blocks.
inline bool isMappedToBlocks(scf::ForallOp loop) {
  std::optional<ArrayAttr> mapping = loop.getMapping();
  return mapping && !mapping->empty() &&
         isa<gpu::GPUBlockMappingAttr>((*mapping)[0]);
}

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_SUPPORT_BLOCKLOOPS_H
