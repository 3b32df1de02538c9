//===- ValueOrder.cpp - Writes of what was made of reads ------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Both are asked backwards: from what is stored to matrix operations, and from
// their operands to the read. Operations are only followed that nobody computes
// without their operands: a sum of integers with its negation is no number that
// was read, but one of floats, where nothing allows to say so, is.
//
//===----------------------------------------------------------------------===//

#include "ValueOrder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::workgroup {

/// True for what all lanes of a warp do together, with the values of all.
static bool isMatrixProduct(Operation *op) {
  return isa<gpu::SubgroupMmaComputeOp, nvgpu::MmaSyncOp, NVVM::MmaOp>(op);
}

/// True if nobody knows the result of `op` who does not have all its operands.
static bool takesAllOperands(Operation *op) {
  if (isMatrixProduct(op))
    return true;
  if (auto elementwise = dyn_cast<gpu::SubgroupMmaElementwiseOp>(op))
    return isa<FloatType>(
        cast<gpu::MMAMatrixType>(elementwise.getType()).getElementType());
  if (isa<arith::ExtFOp, arith::TruncFOp, arith::BitcastOp, arith::ExtSIOp,
          arith::ExtUIOp, vector::BitCastOp, vector::BroadcastOp,
          vector::ShapeCastOp>(op))
    return true;
  auto math = dyn_cast<arith::ArithFastMathInterface>(op);
  return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp,
             arith::NegFOp>(op) &&
         math.getFastMathFlagsAttr().getValue() == arith::FastMathFlags::none;
}

/// The value that the region of `op`, of the results of a loop or branch, hands
/// on as `result`.
static Value getYielded(Region &region, OpResult result) {
  return region.front().getTerminator()->getOperand(result.getResultNumber());
}

namespace {
/// The walk from a value to what it is made of.
class Origins {
public:
  /// True if `value` is made of what `read` reads, each time that is read.
  bool isMadeOf(Value value, Operation *read);
  /// Adds the matrix operations that `value` is made of.
  void addProducts(Value value, SmallVectorImpl<Operation *> &products);

private:
  bool isInserted(vector::InsertOp insert, Operation *read);

  llvm::SmallDenseSet<Value> seen;
};
} // namespace

/// True if an element that is made of what was read is inserted by `insert`, or
/// before it into its target, and nothing takes its place.
bool Origins::isInserted(vector::InsertOp insert, Operation *read) {
  SmallVector<ArrayRef<int64_t>> filled;
  for (; insert; insert = insert.getDest().getDefiningOp<vector::InsertOp>()) {
    ArrayRef<int64_t> position = insert.getStaticPosition();
    bool isPlace =
        insert.getDynamicPosition().empty() &&
        llvm::none_of(filled, [&](ArrayRef<int64_t> other) {
          size_t common = std::min(position.size(), other.size());
          return position.take_front(common) == other.take_front(common);
        });
    if (!isPlace)
      return false;
    if (isMadeOf(insert.getValueToStore(), read))
      return true;
    filled.push_back(position);
  }
  return false;
}

bool Origins::isMadeOf(Value value, Operation *read) {
  Operation *op = value.getDefiningOp();
  if (op == read)
    return true;
  if (!op || !seen.insert(value).second)
    return false;
  if (auto insert = dyn_cast<vector::InsertOp>(op))
    return isInserted(insert, read);
  // Where only some lanes read, the others have something else.
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return llvm::any_of(branch->getRegions(), [&](Region &region) {
      return isMadeOf(getYielded(region, cast<OpResult>(value)), read);
    });
  bool isElements = isa<vector::FromElementsOp>(op);
  return (isElements || (takesAllOperands(op) && !isMatrixProduct(op))) &&
         llvm::any_of(op->getOperands(),
                      [&](Value operand) { return isMadeOf(operand, read); });
}

void Origins::addProducts(Value value, SmallVectorImpl<Operation *> &products) {
  Operation *op = value.getDefiningOp();
  if (!op || !seen.insert(value).second)
    return;
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return addProducts(getYielded(loop.getRegion(), cast<OpResult>(value)),
                       products);
  if (isMatrixProduct(op))
    products.push_back(op);
  // Parts of what a matrix operation gives are made of all that it takes.
  bool isPart = isa<vector::ExtractOp, vector::ExtractStridedSliceOp>(op);
  if (isPart || takesAllOperands(op))
    for (Value operand : op->getOperands())
      addProducts(operand, products);
}

/// What a write that comes after its operands stores; null if it is none.
static Value getStored(Operation *write) {
  if (auto store = dyn_cast<memref::StoreOp>(write))
    return store.getValueToStore();
  if (auto store = dyn_cast<vector::StoreOp>(write))
    return store.getValueToStore();
  if (auto store = dyn_cast<gpu::SubgroupMmaStoreMatrixOp>(write))
    return store.getSrc();
  return {};
}

bool isMadeOfRead(Operation *read, Operation *write) {
  if (!isa<memref::LoadOp, vector::LoadOp, nvgpu::LdMatrixOp,
           gpu::SubgroupMmaLoadMatrixOp>(read))
    return false;
  Value stored = getStored(write);
  if (!stored)
    return false;
  SmallVector<Operation *> products;
  Origins().addProducts(stored, products);
  return llvm::any_of(products, [&](Operation *product) {
    // Whoever reads gets to the product then: no loop and no branch is between,
    // but for one that the value comes out of.
    Operation *ancestor = product->getBlock()->findAncestorOpInBlock(*read);
    return ancestor && llvm::any_of(product->getOperands(), [&](Value operand) {
             return Origins().isMadeOf(operand, read);
           });
  });
}

/// True if `lhs` and `rhs` are the same in all iterations of `carrier`, or in
/// the same one if there is none.
static bool isSameValue(Value lhs, Value rhs, const KernelLoop *carrier) {
  std::optional<int64_t> constant = getConstantIntValue(lhs);
  if (constant)
    return constant == getConstantIntValue(rhs);
  if (lhs != rhs)
    return false;
  return !carrier || (carrier->op && !carrier->op->isAncestor(
                                         lhs.getParentRegion()->getParentOp()));
}

namespace {
/// A matrix in memory, which lanes of a warp load or store together.
struct Matrix {
  gpu::MMAMatrixType type;
  Value memory;
  ValueRange indices;
  APInt lead;
  bool isTransposed;

  static std::optional<Matrix> of(Operation *op) {
    if (auto load = dyn_cast<gpu::SubgroupMmaLoadMatrixOp>(op))
      return Matrix{cast<gpu::MMAMatrixType>(load.getType()),
                    load.getSrcMemref(), load.getIndices(),
                    load.getLeadDimension(),
                    load.getTranspose().value_or(false)};
    if (auto store = dyn_cast<gpu::SubgroupMmaStoreMatrixOp>(op))
      return Matrix{cast<gpu::MMAMatrixType>(store.getSrc().getType()),
                    store.getDstMemref(), store.getIndices(),
                    store.getLeadDimension(),
                    store.getTranspose().value_or(false)};
    return std::nullopt;
  }
};
} // namespace

bool areOfSameFragment(Operation *first, Operation *second,
                       const PairRelation &relation) {
  std::optional<Matrix> lhs = Matrix::of(first), rhs = Matrix::of(second);
  if (!lhs || !rhs || lhs->type != rhs->type || lhs->lead != rhs->lead ||
      lhs->isTransposed != rhs->isTransposed)
    return false;
  // Rows that overlap are of several lanes.
  ArrayRef<int64_t> shape = lhs->type.getShape();
  const KernelLoop *carrier = relation.carrier;
  return lhs->lead.sge(std::max(shape[0], shape[1])) &&
         isSameValue(lhs->memory, rhs->memory, carrier) &&
         llvm::all_of(llvm::zip(lhs->indices, rhs->indices), [&](auto pair) {
           auto [left, right] = pair;
           return isSameValue(left, right, carrier);
         });
}

} // namespace mlir::workgroup
