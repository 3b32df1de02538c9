//===- SymbolNames.h - Symbols as their authors know them -------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compilers of C++ give functions and variables names that linkers tell apart.
// People know them by others.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_SUPPORT_SYMBOLNAMES_H
#define WORKGROUP_SUPPORT_SYMBOLNAMES_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace mlir::workgroup {

/// The name that the author of `symbol` knows it by: `f(float*)::tile` of
/// `_ZZ1fPfE4tile`; the symbol itself if it is not mangled.
std::string getReadableName(llvm::StringRef symbol);

/// True if `name` is that of `symbol`, as it is, as its author knows it, or
/// without its parameters.
bool isCalled(llvm::StringRef symbol, llvm::StringRef name);

} // namespace mlir::workgroup

#endif // WORKGROUP_SUPPORT_SYMBOLNAMES_H
