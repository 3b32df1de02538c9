//===- AddressSpaces.h - Numbers of memory spaces ---------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The memory space of a memref is spelled by attributes of the GPU, NVVM and
// LLVM dialects or as a number; all mean one of the address spaces of NVPTX
// (LLVM, "User Guide for NVPTX Back-end", address spaces). This is the one
// place that translates them.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_SUPPORT_ADDRESSSPACES_H
#define WORKGROUP_LIB_SUPPORT_ADDRESSSPACES_H

#include "mlir/IR/Types.h"
#include <optional>

namespace mlir::workgroup {

/// The address spaces of NVPTX that kernels have memory in.
enum AddressSpace : int64_t {
  kGenericSpace = 0,
  kGlobalSpace = 1,
  kSharedSpace = 3,
  kConstantSpace = 4,
  kLocalSpace = 5,
  kTensorSpace = 6,
  kClusterSpace = 7,
  kParameterSpace = 101,
};

/// The NVPTX address space that `attribute`, the memory space of a memref,
/// stands for in any of its spellings; -1 if it stands for none.
int64_t getAddressSpace(Attribute attribute);

/// The address space of `type`, a memref or a pointer; nothing for others.
std::optional<int64_t> getAddressSpace(Type type);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_SUPPORT_ADDRESSSPACES_H
