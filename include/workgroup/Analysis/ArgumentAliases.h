//===- ArgumentAliases.h - Arguments that do not overlap --------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two arguments of a function may be the same memory, unless an attribute
// (`llvm.noalias`), all launches in sight, or the client say that they are not.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_ANALYSIS_ARGUMENTALIASES_H
#define WORKGROUP_ANALYSIS_ARGUMENTALIASES_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Interfaces/CallInterfaces.h"

namespace mlir::workgroup {

class ArgumentAliases {
public:
  /// Arguments of a kernel share memory if, in a launch inside `root`, what is
  /// passed for them may do so. With `areDistinct`, different memref arguments
  /// of a host function share none, but for what calls inside `root` pass, nor
  /// do those of a kernel without launches.
  ArgumentAliases(Operation *root, bool areDistinct);

  /// True if two memrefs, or tensor maps of some, may share memory.
  bool mayAlias(Value lhs, Value rhs) const;

  /// True if `argument`, of a kernel, may be any value, whatever the others
  /// are: as far as is in sight, the host does not compute it.
  bool isFree(BlockArgument argument) const;

  /// The constant that all launches in sight pass for `argument`, of a kernel;
  /// null if there is none.
  Attribute getConstant(BlockArgument argument) const;

  /// True if `value`, of the host, is not computed there: what a caller out of
  /// sight passes, what is loaded, or an extent of what such a caller passes.
  bool isChosen(Value value) const;

  /// The launches of `kernel` inside `root`.
  ArrayRef<gpu::LaunchFuncOp> getLaunches(Operation *kernel) const {
    auto it = launches.find(kernel);
    return it == launches.end() ? ArrayRef<gpu::LaunchFuncOp>() : it->second;
  }

private:
  bool isOfEntry(Value value) const;
  bool mayAlias(Value lhs, Value rhs, unsigned depth) const;
  bool mayAliasOnHost(Value lhs, Value rhs, unsigned depth) const;

  bool areDistinct;
  DenseMap<Operation *, SmallVector<gpu::LaunchFuncOp, 1>> launches;
  DenseMap<Operation *, SmallVector<CallOpInterface, 1>> calls;
  /// Functions whose address is taken: who calls them is not known.
  DenseSet<Operation *> referred;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_ANALYSIS_ARGUMENTALIASES_H
