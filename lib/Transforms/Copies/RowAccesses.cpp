//===- RowAccesses.cpp - Who accesses a buffer along rows -----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowAccesses.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::workgroup {

/// True if lanes differ at most in the last of `indices`.
template <typename Range>
static bool differInLast(Range &&indices, const UniformityAnalysis &warps) {
  auto values = llvm::to_vector(indices);
  return llvm::all_of(ArrayRef(values).drop_back(values.empty() ? 0 : 1),
                      [&](OpFoldResult index) {
                        auto value = dyn_cast<Value>(index);
                        return !value || warps.isUniform(value);
                      });
}

/// True if the user of `use` accesses the memref along rows, or not at all.
/// What is a view of it is added to `views`.
static bool visitUse(OpOperand &use, const UniformityAnalysis &warps,
                     SmallVectorImpl<Value> &views) {
  auto follow = [&](Operation *view) {
    views.push_back(view->getResult(0));
    return true;
  };
  auto access = [&](auto op) {
    return op.getIndices().empty() || differInLast(op.getIndices(), warps);
  };
  return llvm::TypeSwitch<Operation *, bool>(use.getOwner())
      .Case<memref::CopyOp, linalg::CopyOp, linalg::FillOp, memref::DeallocOp,
            memref::DimOp>([](auto) { return true; })
      .Case<memref::CastOp, memref::MemorySpaceCastOp,
            memref::AssumeAlignmentOp>([&](auto op) { return follow(op); })
      .Case([&](memref::ViewOp op) {
        return warps.isUniform(op.getByteShift()) && follow(op);
      })
      .Case([&](memref::SubViewOp op) {
        return differInLast(op.getMixedOffsets(), warps) && follow(op);
      })
      .Case<memref::LoadOp, vector::LoadOp, vector::StoreOp>(access)
      .Case([&](memref::StoreOp op) {
        return op.getValueToStore() != use.get() && access(op);
      })
      .Default([](Operation *) { return false; });
}

bool isAccessedAlongRows(Value buffer, const UniformityAnalysis &warps) {
  SmallVector<Value> aliases = {buffer};
  for (unsigned i = 0; i < aliases.size(); ++i) {
    Value alias = aliases[i];
    for (OpOperand &use : alias.getUses())
      if (!visitUse(use, warps, aliases))
        return false;
  }
  return true;
}

} // namespace mlir::workgroup
