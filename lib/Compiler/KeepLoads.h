//===- KeepLoads.h - Loads whose value nobody uses --------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A load races whether or not something comes of what is loaded. Whoever
// simplifies a program drops it if nothing does. So such a value is used: by
// the intrinsic `llvm.fake.use`, which is nothing to a machine and is taken
// away before PTX is made.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_COMPILER_KEEPLOADS_H
#define WORKGROUP_LIB_COMPILER_KEEPLOADS_H

namespace llvm {
class Module;
} // namespace llvm

namespace mlir::workgroup {

/// Uses the value of each load of memory that is not private.
void useLoads(llvm::Module &llvmModule);

/// Leaves of these uses those of values from which nothing else follows.
void dropOtherUses(llvm::Module &llvmModule);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_COMPILER_KEEPLOADS_H
