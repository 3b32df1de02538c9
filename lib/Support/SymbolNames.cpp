//===- SymbolNames.cpp - Symbols as their authors know them ---------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "workgroup/Support/SymbolNames.h"
#include "llvm/Demangle/Demangle.h"

namespace mlir::workgroup {

std::string getReadableName(llvm::StringRef symbol) {
  return symbol.starts_with("_Z") ? llvm::demangle(symbol) : symbol.str();
}

bool isCalled(llvm::StringRef symbol, llvm::StringRef name) {
  if (symbol == name)
    return true;
  std::string readable = getReadableName(symbol);
  if (readable == name)
    return true;
  std::string mangled = symbol.str(); // the parts refer to it
  llvm::ItaniumPartialDemangler parts;
  if (!symbol.starts_with("_Z") || parts.partialDemangle(mangled.c_str()))
    return false;
  char *base = parts.getFunctionName(nullptr, nullptr);
  bool isSame = base && name == base;
  std::free(base);
  return isSame;
}

} // namespace mlir::workgroup
