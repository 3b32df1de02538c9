//===- PassOptions.h - Options of passes and pipelines ----------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What pipelines take as passes do: names and descriptions are those of
// PassOptions.td.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_PASSOPTIONS_H
#define WORKGROUP_PASSOPTIONS_H

#include "mlir/Pass/PassOptions.h"

namespace mlir::workgroup {

/// What the `.td` file says of the shared option `name`.
StringRef describeOption(StringRef name);

/// An option by which passes and pipelines share what they say of it.
template <typename T>
struct SharedOption : ::mlir::detail::PassOptions::Option<T> {
  using Base = ::mlir::detail::PassOptions::Option<T>;
  SharedOption(::mlir::detail::PassOptions &parent, StringRef name, T initial)
      : Base(parent, name, llvm::cl::desc(describeOption(name)),
             llvm::cl::init(std::move(initial))) {}
  using Base::operator=;
};

struct ChipOption : SharedOption<std::string> {
  explicit ChipOption(::mlir::detail::PassOptions &parent)
      : SharedOption(parent, "chip", "") {}
  using SharedOption::operator=;
};

struct AssumeAlignmentOption : SharedOption<int64_t> {
  explicit AssumeAlignmentOption(::mlir::detail::PassOptions &parent)
      : SharedOption(parent, "assume-alignment", 1) {}
  using SharedOption::operator=;
};

struct AssumeDistinctArgumentsOption : SharedOption<bool> {
  explicit AssumeDistinctArgumentsOption(::mlir::detail::PassOptions &parent)
      : SharedOption(parent, "assume-distinct-arguments", false) {}
  using SharedOption::operator=;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_PASSOPTIONS_H
