//===- ArgumentFlattener.h - Flatten the arguments of a function -*- C++
//-*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A memref argument is a descriptor of rank * 2 + 3 fields. A flattened
// function takes the pointer, and only those extents, strides and offsets that
// its body uses. Parts for which all call sites pass the same value share a
// parameter.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_NVVM_ARGUMENTFLATTENER_H
#define WORKGROUP_LIB_TRANSFORMS_NVVM_ARGUMENTFLATTENER_H

#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "workgroup/Transforms/NVVM.h"

namespace mlir::workgroup {

/// A function of a `gpu.module` and the operations that call or launch it.
struct Callee {
  FunctionOpInterface function;
  SmallVector<Operation *, 1> sites;
};

/// True if an argument of `type` is passed as it is: a scalar, or a pointer
/// already.
bool isFlatArgument(Type type);

/// Gives the function of `callee` a parameter list of pointers, scalars and the
/// index values that its body needs, and its sites the operands for it. All
/// memref arguments are ranked and strided. Tensor maps become pointers too; a
/// kernel gets the 128 bytes themselves.
SmallVector<KernelParameter> flattenArguments(RewriterBase &rewriter,
                                              const Callee &callee);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_NVVM_ARGUMENTFLATTENER_H
