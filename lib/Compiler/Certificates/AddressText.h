//===- AddressText.h - Addresses of LLVM IR as formulas ---------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An address as a sum of multiples of ids, of counters, and of bits of these:
// `@buffer + 144 * (tid.x >> 3) + 4 * %k`. All of it counts modulo 2^64.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_COMPILER_CERTIFICATES_ADDRESSTEXT_H
#define WORKGROUP_LIB_COMPILER_CERTIFICATES_ADDRESSTEXT_H

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Value.h"
#include <map>
#include <string>

namespace mlir::workgroup {

/// A sum of multiples of terms, by the text of each; that of the constant is
/// empty.
using TermSums = std::map<std::string, uint64_t>;

class AddressWriter {
public:
  explicit AddressWriter(const llvm::DataLayout &layout) : layout(layout) {}

  /// The text of what `value`, a pointer or an integer, is.
  std::string write(const llvm::Value *value) {
    return print(expand(value, 0));
  }

  /// The values that stand for themselves in what was written.
  const llvm::SetVector<const llvm::Value *> &getNamed() const { return named; }

private:
  TermSums expand(const llvm::Value *value, unsigned depth);
  bool expandOperation(const llvm::Value *value, unsigned depth,
                       TermSums &sums);
  TermSums expandPointer(const llvm::Value *value, unsigned depth);
  std::string print(const TermSums &sums);
  std::string enclose(const TermSums &sums);
  std::string name(const llvm::Value *value);

  const llvm::DataLayout &layout;
  llvm::SetVector<const llvm::Value *> named;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_COMPILER_CERTIFICATES_ADDRESSTEXT_H
