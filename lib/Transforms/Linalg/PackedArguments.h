//===- PackedArguments.h - Integers of four bits, two a byte ----*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Weights of four bits come two a byte, the first in its low bits: memory has
// `tensor<128x96xi4>` as 128 x 48 bytes. Of an odd row the last byte has one.
// LLVM, and so a buffer of MLIR, has one element a byte, whatever its bits.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_LINALG_PACKEDARGUMENTS_H
#define WORKGROUP_LIB_TRANSFORMS_LINALG_PACKEDARGUMENTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::workgroup {

/// Has the tensors of i4 that `function`, which nothing in the module calls,
/// takes be tensors of bytes. A generic takes these apart, into a tensor with
/// an element in the low bits of each byte; the bodies of generics that read it
/// truncate what they read. Fails after an error where an argument is one that
/// the caller finds a result in.
LogicalResult unpackArguments(func::FuncOp function);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_LINALG_PACKEDARGUMENTS_H
