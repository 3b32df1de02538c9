//===- SymbolicIndex.cpp - Index arithmetic as linear forms ---------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each value is translated once. While it is found out what a loop carries,
// values are known tentatively, and guards, which would remember them, are not
// asked.
//
//===----------------------------------------------------------------------===//

#include "SymbolicIndex.h"

namespace mlir::workgroup {

/// Deep chains of operations are not worth the stack.
static constexpr unsigned kMaxFormDepth = 128;

SymbolicForm SymbolicIndex::getForm(Value value) {
  if (auto it = known.forms.find(value); it != known.forms.end())
    return it->second;
  if (depth == kMaxFormDepth)
    return makeOpaque(value);
  ++depth;
  SymbolicForm form = translator.translate(value);
  --depth;
  known.forms[value] = form;
  return form;
}

bool SymbolicIndex::isNonNegativeAt(const SymbolicForm &form, Operation *op) {
  return isNonNegative(form) || (known.tentative.empty() &&
                                 guards.implyNonNegative(op->getBlock(), form));
}

} // namespace mlir::workgroup
