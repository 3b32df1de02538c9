//===- AccessWidth.h - How wide a thread accesses memory --------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The same on every supported chip.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_TARGET_ACCESSWIDTH_H
#define WORKGROUP_TARGET_ACCESSWIDTH_H

#include <cstdint>

namespace mlir::workgroup {

/// The bytes of the widest access of a thread to memory: `ld.v4.b32` and
/// `st.v4.b32` (PTX ISA, "Data Movement and Conversion Instructions: ld"). Its
/// address is a multiple of as many.
constexpr int64_t kWidestAccessBytes = 16;

} // namespace mlir::workgroup

#endif // WORKGROUP_TARGET_ACCESSWIDTH_H
