//===- PointerAddress.h - Where a pointer points to -------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Pointers of LLVM that are made of memrefs, by way of an address, and of other
// pointers: each is a view of one byte, without an end.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_MEMORY_POINTERADDRESS_H
#define WORKGROUP_LIB_ANALYSIS_MEMORY_POINTERADDRESS_H

#include "workgroup/Analysis/LinearIndex.h"
#include "workgroup/Support/MemorySpace.h"

namespace mlir::workgroup {

/// The memref or pointer that `pointer` is made of; null if there is none.
Value getPointerSource(Value pointer);

/// The address in bytes that `pointer` points to, if what it is made of points
/// to `source`; nothing if that is not known.
std::optional<LinearIndex> getPointerAddress(Value pointer,
                                             const LinearIndex &source);

/// The memory that the type of `pointer` says it points to.
MemorySpace getPointerSpace(Value pointer);

/// The number of bytes that an access of `type` by a pointer touches; nothing
/// if that is not known.
std::optional<int64_t> getAccessBytes(Type type);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_MEMORY_POINTERADDRESS_H
