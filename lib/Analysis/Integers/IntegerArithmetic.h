//===- IntegerArithmetic.h - Arithmetic on numbers of a width ---*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What `arith` operations compute on integers of a width, for those who
// evaluate IR with numbers: by thread, by iteration, or as a constant. A number
// is a signed 64-bit one whose low `width` bits count; `index` has 64 bits. An
// operation has no result where MLIR leaves it undefined: a division by zero, a
// shift by the width or more.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_INTEGERS_INTEGERARITHMETIC_H
#define WORKGROUP_LIB_ANALYSIS_INTEGERS_INTEGERARITHMETIC_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"
#include <optional>

namespace mlir::workgroup {

/// The bits of integers of `type`; 0 if it is none that is evaluated.
unsigned getWidth(Type type);

/// The low `width` bits of `value`, as a signed and as an unsigned number.
inline int64_t wrap(uint64_t value, unsigned width) {
  return llvm::SignExtend64(value, width);
}
inline uint64_t toUnsigned(int64_t value, unsigned width) {
  return static_cast<uint64_t>(value) & llvm::maskTrailingOnes<uint64_t>(width);
}

using Number = std::optional<int64_t>;
/// The result of an operation on two integers of a width; nothing where it is
/// undefined. The caller wraps it.
using BinaryFn = Number (*)(int64_t lhs, int64_t rhs, unsigned width);

/// The function that computes `op` from its two operands; null if `op` is no
/// arithmetic on integers.
BinaryFn getBinaryFn(Operation *op);

/// True if numbers `a` and `b` of `width` bits are in relation `predicate`.
bool compare(arith::CmpIPredicate predicate, int64_t a, int64_t b,
             unsigned width);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_INTEGERS_INTEGERARITHMETIC_H
