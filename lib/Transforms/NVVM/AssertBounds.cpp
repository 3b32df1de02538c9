//===- AssertBounds.cpp - Assert that accesses are in bounds --------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What an operation of memref promises is asserted by upstream's interface for
// that. Vectors have none: of each dimension that a vector is in bounds of, its
// first and its last element are.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/RuntimeVerifiableOpInterface.h"
#include "workgroup/Transforms/NVVM.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_ASSERTBOUNDSPASS
#include "workgroup/Transforms/NVVM.h.inc"

/// What is said of `op` if it is out of bounds.
static std::string getMessage(Operation *op, StringRef what) {
  return ("'" + op->getName().getStringRef() + "' op: " + what).str();
}

/// Asserts that `count` elements from `index` on are in dimension `dim` of
/// `memref`.
static void assertIn(OpBuilder &builder, Operation *op, Value memref,
                     unsigned dim, Value index, int64_t count) {
  Location loc = op->getLoc();
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value others = arith::ConstantIndexOp::create(builder, loc, count - 1);
  Value last = arith::AddIOp::create(builder, loc, index, others);
  Value extent = builder.createOrFold<memref::DimOp>(loc, memref, dim);
  Value isBehind = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::sge, index, zero);
  Value isBefore = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::slt, last, extent);
  Value isIn = arith::AndIOp::create(builder, loc, isBehind, isBefore);
  std::string what = "index of dimension " + std::to_string(dim) +
                     (count == 1 ? " is" : " or of its last element is") +
                     " out of bounds";
  cf::AssertOp::create(builder, loc, isIn, getMessage(op, what));
}

/// True if only the launch knows how far rows of `type` are apart: they are
/// taken not to overlap, and vectors to stay in them.
static bool hasDynamicRows(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  return failed(type.getStridesAndOffset(strides, offset)) ||
         llvm::any_of(strides, ShapedType::isDynamic);
}

/// Asserts that the first element of the vector `type` is in `memref`. The
/// others may be in the next row, where it is known how far that is.
static void assertVectorIn(Operation *op, Value memref, ValueRange indices,
                           VectorType type) {
  OpBuilder builder(op);
  bool staysInRow = hasDynamicRows(cast<MemRefType>(memref.getType()));
  for (auto [dim, index] : llvm::enumerate(indices)) {
    bool isAlong = staysInRow && dim + 1 == indices.size() &&
                   type.getRank() == 1 && !type.isScalable();
    assertIn(builder, op, memref, dim, index, isAlong ? type.getDimSize(0) : 1);
  }
}

/// Asserts what a transfer says of its dimensions.
static void assertTransferIn(VectorTransferOpInterface transfer) {
  Value memref = transfer.getBase();
  if (!isa<MemRefType>(memref.getType()) || transfer.getMask())
    return;
  OpBuilder builder(transfer);
  AffineMap map = transfer.getPermutationMap();
  for (auto [dim, index] : llvm::enumerate(transfer.getIndices())) {
    auto expr = builder.getAffineDimExpr(dim);
    std::optional<unsigned> along = map.getResultPosition(expr);
    if (!along)
      assertIn(builder, transfer, memref, dim, index, 1);
    else if (transfer.isDimInBounds(*along))
      assertIn(builder, transfer, memref, dim, index,
               transfer.getVectorType().getDimSize(*along));
  }
}

static void assertBoundsOf(Operation *op) {
  llvm::TypeSwitch<Operation *>(op)
      .Case<vector::LoadOp, vector::StoreOp>([](auto access) {
        assertVectorIn(access, access.getBase(), access.getIndices(),
                       access.getVectorType());
      })
      .Case([](VectorTransferOpInterface transfer) {
        assertTransferIn(transfer);
      })
      .Case([](RuntimeVerifiableOpInterface checked) {
        OpBuilder builder(checked);
        checked.generateRuntimeVerification(builder, checked.getLoc(),
                                            getMessage);
      });
}

void assertBounds(Operation *root) {
  SmallVector<Operation *> checked;
  root->walk([&](Operation *op) {
    if (isa_and_nonnull<memref::MemRefDialect, vector::VectorDialect>(
            op->getDialect()))
      checked.push_back(op);
  });
  llvm::for_each(checked, assertBoundsOf);
}

namespace {
struct AssertBoundsPass final : impl::AssertBoundsPassBase<AssertBoundsPass> {
  void runOnOperation() override { assertBounds(getOperation()); }
};
} // namespace

} // namespace mlir::workgroup
