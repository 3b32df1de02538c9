//===- ThreadLoops.h - Loops over threads and in threads --------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The loops that mapping to threads creates: an `scf.forall` mapped to linear
// thread ids, and serial nests within it. The last dimension runs fastest, so
// that neighbouring threads access neighbouring elements and global accesses
// coalesce.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_THREADS_THREADLOOPS_H
#define WORKGROUP_LIB_TRANSFORMS_THREADS_THREADLOOPS_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::workgroup {

using LoopBody = function_ref<void(ValueRange ivs)>;

/// Creates a loop whose iterations the threads of a block share out, the last
/// dimension fastest. Dimensions of one iteration are left out of it.
void createThreadLoop(OpBuilder &builder, Location loc,
                      ArrayRef<OpFoldResult> counts, LoopBody body);

/// Creates a nest of loops. Those of one iteration are left out.
void createSerialLoops(OpBuilder &builder, Location loc,
                       ArrayRef<OpFoldResult> counts, LoopBody body);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_THREADS_THREADLOOPS_H
