//===- AccessPointers.h - Accesses by pointers ------------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What loads and stores of LLVM access, its atomic operations, and copies that
// NVVM has.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_ACCESS_ACCESSPOINTERS_H
#define WORKGROUP_LIB_ANALYSIS_ACCESS_ACCESSPOINTERS_H

#include "AccessRecorder.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::workgroup {

/// Adds an access to the `bytes` bytes that `pointer` points to, or to any of
/// its memory. Returns what was added, if anything.
ThreadAccess *addPointer(ThreadAccess access, OpOperand &pointer,
                         std::optional<int64_t> bytes,
                         AccessRecorder &recorder);

/// Adds what `store` writes. Returns what was added, if anything.
ThreadAccess *addStore(LLVM::StoreOp store, AccessRecorder &recorder);

/// Adds the accesses of `op` if it is an operation on pointers; false if not.
bool visitPointers(Operation *op, AccessRecorder &recorder);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_ACCESS_ACCESSPOINTERS_H
