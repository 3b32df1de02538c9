//===- KernelFunctionBuilder.h - Functions of groups -----*- C++
//-*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The arguments of a kernel's function are collected first: what the group
// reads, then a destination for each result that updates nothing that is read.
// Cheap operations and views that the host would have to copy are cloned into
// the function instead. The group is then moved into it, and values that turn
// out to be unused are erased.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_KERNELS_KERNELFUNCTIONBUILDER_H
#define WORKGROUP_LIB_TRANSFORMS_KERNELS_KERNELFUNCTIONBUILDER_H

#include "KernelGroups.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::workgroup {

/// Moves a group into a function of its own, in destination-passing style: what
/// it reads comes first among the arguments, then, for each result that is not
/// an update of what is read, a tensor to put it into. The result of the root
/// is the last.
class KernelFunctionBuilder {
public:
  explicit KernelFunctionBuilder(const KernelGroup &group);

  /// Replaces the operations by a call of a new private function of name `name`
  /// next to `function`.
  func::FuncOp outline(func::FuncOp function, StringRef name);

private:
  struct Destination {
    Value result;
    /// The tensor that the result is put into; null if that is an argument
    /// already, which nothing else reads.
    Value into;
  };

  void collectResults();
  void collectOperands(Operation *op);
  void collectOperand(Value value, bool isDirect);
  OpOperand &findFirstInit(OpResult result) const;
  Value getNewDestination(OpResult result) const;
  func::FuncOp createFunction(func::FuncOp function, StringRef name,
                              ValueRange arguments);
  void fillFunction(func::FuncOp kernel);
  void setDestination(OpBuilder &builder, Value result, Value destination);

  const KernelGroup &group;
  SmallVector<linalg::LinalgOp> ops;
  SmallVector<Destination> destinations;
  llvm::SetVector<Value> captured;
  /// The operations that the kernel does for itself, in an order in which it
  /// can.
  llvm::SetVector<Operation *> cloned;
  IRMapping mapping;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_KERNELS_KERNELFUNCTIONBUILDER_H
