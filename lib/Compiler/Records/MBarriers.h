//===- MBarriers.h - Who uses which mbarrier --------------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The mbarriers of kernels for a reader: what ends their phases, and which
// threads arrive and wait.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_COMPILER_RECORDS_MBARRIERS_H
#define WORKGROUP_LIB_COMPILER_RECORDS_MBARRIERS_H

#include "mlir/IR/BuiltinOps.h"
#include "workgroup/Compiler/Explanation.h"

namespace mlir::workgroup {

/// Describes the mbarriers of the outlined `module`, in order; `operations` has
/// the number of each operation that has a record, and `records` these, which
/// are told their mbarriers.
std::vector<MBarriersRecord>
describeMBarriers(ModuleOp module,
                  const DenseMap<Operation *, int64_t> &operations,
                  std::vector<SyncOperationRecord> &records);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_COMPILER_RECORDS_MBARRIERS_H
