//===- SourceLocation.h - Texts, and places in them -------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the compiler and the emulator say to clients that are not compilers.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_SUPPORT_SOURCELOCATION_H
#define WORKGROUP_SUPPORT_SOURCELOCATION_H

#include <string>
#include <vector>

namespace mlir::workgroup {

/// A text and the name that locations in it have.
struct SourceText {
  std::string text;
  std::string name;
};

/// A place in a source text; line and column are 0 if unknown.
struct SourceLocation {
  std::string file;
  unsigned line = 0;
  unsigned column = 0;
};

struct DiagnosticRecord {
  /// `error`, `warning`, `remark` or `note`.
  std::string severity;
  std::string message;
  SourceLocation location;
  std::vector<DiagnosticRecord> notes;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_SUPPORT_SOURCELOCATION_H
