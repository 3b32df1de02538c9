//===- MemoryUses.h - What operations do to buffers -------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the host does to the memory of an operand, and what a kernel does to
// what it is launched with. What is not known is done: read, written and kept.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_DEVICE_MEMORYUSES_H
#define WORKGROUP_LIB_ANALYSIS_DEVICE_MEMORYUSES_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::workgroup {

/// What is done to the memory of a value.
struct MemoryUse {
  bool reads = false;
  bool writes = false;
  /// All elements that the value refers to are written.
  bool overwrites = false;
  bool frees = false;
  /// A reference to the memory may be kept.
  bool keeps = false;

  static MemoryUse anything() { return {true, true, false, false, true}; }
  MemoryUse &operator|=(const MemoryUse &other);
};

/// What the host does by `use`, which is no part of a launch.
MemoryUse getHostUse(OpOperand &use);

/// True if `op`, of the host, may access memory that none of its operands is:
/// a call, or an operation that does not tell.
bool mayAccessAnything(Operation *op);

/// What kernels do to what they are launched with.
class KernelUses {
public:
  /// What the launch `op`, a `gpu.launch` or `gpu.launch_func`, does to the
  /// memory of `value`, which it uses.
  MemoryUse get(Operation *op, Value value);

private:
  MemoryUse getOfArgument(FunctionOpInterface kernel, unsigned number);

  SymbolTableCollection symbols;
  DenseMap<Value, MemoryUse> ofArguments;
};

/// True for a `gpu.launch` or a `gpu.launch_func`.
bool isLaunchOp(Operation *op);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_DEVICE_MEMORYUSES_H
