//===- IterationBuffers.h - Memory that iterations allocate -----*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// No iteration uses what others allocated, so that one buffer does for all, as
// long as none of its uses is after the first of the next iteration, and none
// hands it on. The first is what a rotation sees to, which moves no access past
// another; the second is decided here.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_RINGS_ITERATIONBUFFERS_H
#define WORKGROUP_LIB_TRANSFORMS_RINGS_ITERATIONBUFFERS_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::workgroup {

/// True if `op` makes memory, which is other memory each time.
bool makesMemory(Operation *op);

/// Operations of the body of a loop that may be done in the iteration before,
/// and what they allocate.
class IterationBuffers {
public:
  explicit IterationBuffers(scf::ForOp loop) : loop(loop) {}

  /// Decides whether the memory that `op` of the body makes can be the same in
  /// all iterations, if others than `early` access it. Returns the reason why
  /// not, or empty.
  std::string add(Operation *op, ArrayRef<Operation *> early);
  bool contains(Operation *op) const { return buffers.contains(op); }
  /// Lets the iterations share their memory.
  void hoist();

private:
  scf::ForOp loop;
  llvm::SmallSetVector<Operation *, 4> buffers;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_RINGS_ITERATIONBUFFERS_H
