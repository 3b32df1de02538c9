//===- RaiseAtomics.h - Scoped atomics of NVVM to LLVM's ------ -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Intrinsics of NVVM name the scope of an atomic operation in words of their
// own. In LLVM's own operations the scope is an attribute, which proofs, the
// emulator and PTX go by.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_IMPORT_RAISEATOMICS_H
#define WORKGROUP_LIB_TRANSFORMS_IMPORT_RAISEATOMICS_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::workgroup {

/// Replaces `op`, a call of the intrinsic `llvm.nvvm.` with `name`, by
/// `llvm.atomicrmw` or `llvm.cmpxchg`. False if it is no atomic operation of
/// the scope of a block or of the system.
bool raiseAtomic(LLVM::CallIntrinsicOp op, StringRef name,
                 RewriterBase &rewriter);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_IMPORT_RAISEATOMICS_H
