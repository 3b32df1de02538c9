//===- Overruns.h - Accesses beyond private variables -----------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An access beyond a private variable is undefined to LLVM, which takes it away
// where it makes registers of variables, and all that follows with it. The
// emulator is to find it: such a variable stays memory.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_COMPILER_OVERRUNS_H
#define WORKGROUP_LIB_COMPILER_OVERRUNS_H

namespace llvm {
class Module;
} // namespace llvm

namespace mlir::workgroup {

/// Keeps private variables that something beyond their ends is accessed by, as
/// far as constants tell: by `llvm.fake.use` of their addresses.
void keepOverrun(llvm::Module &llvmModule);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_COMPILER_OVERRUNS_H
