//===- ClusterUse.h - Whether blocks of a cluster work together -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Blocks of a cluster that wait for each other, or use each other's memory,
// have to run together; all others run one after the other.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_TRANSLATE_CLUSTERUSE_H
#define WORKGROUP_LIB_EMULATOR_TRANSLATE_CLUSTERUSE_H

#include "LLVMNames.h"

namespace mlir::workgroup::emulator {

/// The mask of the blocks that a copy in bulk is to, and the flag that says
/// whether it counts; null if the copy has none.
std::pair<Value *, Value *> getBlockMask(const llvm::CallInst &call);

/// True if `instruction` is about other blocks of the cluster, or may be.
bool usesCluster(const llvm::Instruction &instruction);

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_TRANSLATE_CLUSTERUSE_H
