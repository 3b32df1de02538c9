//===- Remarks.cpp - Optimisation remarks of this project -----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Remarks.h"

namespace mlir::workgroup {

namespace {

enum class RemarkKind { Passed, Missed, Failed, Analysis };

struct RemarkEntry {
  RemarkId id;
  RemarkKind kind;
  StringLiteral category, name;
};

} // namespace

#define GET_RemarkTable_IMPL
#include "workgroup/Tables.inc"

static constexpr bool isInOrder() {
  size_t number = 0;
  for (const RemarkEntry &entry : RemarkTable)
    if (entry.id != number++)
      return false;
  return true;
}
static_assert(isInOrder(), "remarks are looked up by number");

remark::detail::InFlightRemark recordRemark(RemarkId id, Operation *op,
                                            Location loc) {
  const RemarkEntry &entry = RemarkTable[id];
  remark::RemarkOpts options =
      remark::RemarkOpts::name(entry.name)
          .category(entry.category)
          .function(getScopeName(getExecutionScope(op)));
  switch (entry.kind) {
  case RemarkKind::Passed:
    return remark::passed(loc, options);
  case RemarkKind::Missed:
    return remark::missed(loc, options);
  case RemarkKind::Failed:
    return remark::failed(loc, options);
  case RemarkKind::Analysis:
    return remark::analysis(loc, options);
  }
  llvm_unreachable("unknown kind of remark");
}

} // namespace mlir::workgroup
