//===- CarriedValues.cpp - Values handed through loops --------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CarriedValues.h"

namespace mlir::workgroup {

scf::ForOp addCarriedValues(RewriterBase &rewriter, scf::ForOp loop,
                            ValueRange initial) {
  FailureOr<LoopLikeOpInterface> extended = loop.replaceWithAdditionalYields(
      rewriter, initial, /*replaceInitOperandUsesInLoop=*/false,
      [](OpBuilder &, Location, ArrayRef<BlockArgument> arguments) {
        return SmallVector<Value>(arguments.begin(), arguments.end());
      });
  return cast<scf::ForOp>(extended->getOperation());
}

void yieldLast(RewriterBase &rewriter, scf::ForOp loop, ValueRange values) {
  Operation *yield = loop.getBody()->getTerminator();
  rewriter.modifyOpInPlace(yield, [&] {
    yield->setOperands(yield->getNumOperands() - values.size(), values.size(),
                       values);
  });
}

scf::IfOp addResults(RewriterBase &rewriter, scf::IfOp branch,
                     ValueRange values) {
  rewriter.setInsertionPoint(branch);
  SmallVector<Type> types(branch.getResultTypes());
  llvm::append_range(types, values.getTypes());
  auto extended =
      scf::IfOp::create(rewriter, branch.getLoc(), types, branch.getCondition(),
                        /*withElseRegion=*/true);
  extended->setDiscardableAttrs(branch->getDiscardableAttrDictionary());
  for (auto [from, to] :
       llvm::zip_equal(branch->getRegions(), extended->getRegions())) {
    if (from.empty()) {
      rewriter.setInsertionPointToEnd(&to.front());
      scf::YieldOp::create(rewriter, branch.getLoc(), values);
      continue;
    }
    rewriter.eraseBlock(&to.front());
    rewriter.inlineRegionBefore(from, to, to.end());
    Operation *yield = to.front().getTerminator();
    rewriter.modifyOpInPlace(
        yield, [&] { yield->insertOperands(yield->getNumOperands(), values); });
  }
  rewriter.replaceOp(branch, extended.getResults().drop_back(values.size()));
  return extended;
}

} // namespace mlir::workgroup
