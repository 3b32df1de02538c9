//===- ProducerSlice.h - What fills rings, by itself ------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of a kernel, what it takes to fill its rings: the loops and branches around
// the copies, and what these and their operands are computed of.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_RINGS_PRODUCERSLICE_H
#define WORKGROUP_LIB_TRANSFORMS_RINGS_PRODUCERSLICE_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"
#include <string>

namespace mlir::workgroup {

/// A part of a block that computes what some of its operations need.
class ProducerSlice {
public:
  explicit ProducerSlice(Block &body) : body(body) {}

  /// Adds `op`, inside the block, with all that it takes. Returns why that is
  /// not possible: what has effects, or depends on memory, is not to be
  /// executed twice. Empty if it is.
  std::string add(Operation *op);

  /// Clones what was added to where `builder` stands.
  void clone(OpBuilder &builder) const;

private:
  std::string addAround(Operation *op);
  std::string addValue(Value value);
  std::string addCarried(scf::ForOp loop, unsigned number);
  std::string addResult(scf::IfOp branch, unsigned number);
  void cloneBlock(Block &block, OpBuilder &builder, IRMapping &mapping) const;
  void cloneLoop(scf::ForOp loop, OpBuilder &builder, IRMapping &mapping) const;
  void cloneBranch(scf::IfOp branch, OpBuilder &builder,
                   IRMapping &mapping) const;
  SmallVector<unsigned> getNumbers(Operation *op) const;

  Block &body;
  DenseSet<Operation *> ops;
  /// What loops carry, and branches result in, by number.
  llvm::SetVector<std::pair<Operation *, unsigned>> handedOn;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_RINGS_PRODUCERSLICE_H
