//===- KnownCallees.h - Calls by addresses that are known -------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where all functions are known that the address of a call may be of, as it is
// chosen among them by branches, the same choice is made by numbers: the
// program calls each by its name then, and no address is left.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_COMPILER_KNOWNCALLEES_H
#define WORKGROUP_LIB_COMPILER_KNOWNCALLEES_H

namespace llvm {
class Module;
} // namespace llvm

namespace mlir::workgroup {

/// Calls by name what is called by an address of which that is known, and
/// compares numbers where such addresses are. What is called by an address of
/// no function is an assertion that fails. True if there is a new call.
bool callByName(llvm::Module &llvmModule);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_COMPILER_KNOWNCALLEES_H
