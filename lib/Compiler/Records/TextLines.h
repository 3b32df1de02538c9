//===- TextLines.h - Which lines are made of which --------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Texts of MLIR, LLVM IR and PTX, with the places that each of their lines is
// made of.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_COMPILER_RECORDS_TEXTLINES_H
#define WORKGROUP_LIB_COMPILER_RECORDS_TEXTLINES_H

#include "mlir/IR/BuiltinOps.h"
#include "workgroup/Compiler/Explanation.h"

namespace llvm {
class Module;
} // namespace llvm

namespace mlir::workgroup {

/// The lines of a text on which operations begin, counted from 1.
using OperationLines = DenseMap<Operation *, std::pair<unsigned, unsigned>>;

/// The text of `module` and what its lines are made of.
std::string printWithLines(ModuleOp module, TextLinesRecord &record,
                           OperationLines &operations);

/// Gives the operations of the GPU modules of `module` their places in its text
/// as locations, so that what they become tells of them.
void relocate(ModuleOp module, const OperationLines &operations);

/// The text of `module` without its debug information, which is told in
/// `record`.
std::string printWithLines(const llvm::Module &module, TextLinesRecord &record);

/// `ptx` without directives of debug information, which are told in `record`.
std::string takeLines(StringRef ptx, TextLinesRecord &record);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_COMPILER_RECORDS_TEXTLINES_H
