//===- AccessMasks.cpp - What masks of vectors are made of ----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AccessMasks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::workgroup {

MaskParts getMaskParts(Value mask) {
  MaskParts parts;
  SmallVector<Value> left = {mask};
  while (!left.empty()) {
    Value part = left.pop_back_val();
    if (auto both = part.getDefiningOp<arith::AndIOp>()) {
      left.append({both.getRhs(), both.getLhs()});
    } else if (auto same = part.getDefiningOp<vector::BroadcastOp>()) {
      if (same.getSource().getType().isInteger(1))
        parts.conditions.push_back(same.getSource());
    } else if (auto create = part.getDefiningOp<vector::CreateMaskOp>()) {
      if (create.getType().getRank() == 1 && !parts.count)
        parts.count = create.getOperands().front();
    }
  }
  return parts;
}

Value getMaskOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<vector::MaskedLoadOp, vector::MaskedStoreOp, vector::ExpandLoadOp,
            vector::CompressStoreOp>(
          [](auto access) { return access.getMask(); })
      .Default([](Operation *) { return Value(); });
}

} // namespace mlir::workgroup
