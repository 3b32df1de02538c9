//===- MatrixOperands.cpp - Bounds of matrix operands ---------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MatrixOperands.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "workgroup/Support/Kernel.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::workgroup {

namespace {

/// Evaluates index arithmetic for every thread of a block.
class ThreadEvaluator {
public:
  ThreadEvaluator(Operation *scope, std::array<int64_t, 3> shape)
      : scope(scope), shape(shape), numThreads(shape[0] * shape[1] * shape[2]) {
  }

  /// One value per thread, in the order of linear ids; null if `value` depends
  /// on more than constants and thread ids.
  const SmallVector<int64_t> *evaluate(Value value) {
    auto [it, isNew] = values.try_emplace(value);
    if (isNew) {
      std::optional<SmallVector<int64_t>> computed = compute(value);
      values[value] = computed; // the iterator may be stale
    }
    auto &entry = values[value];
    return entry ? &*entry : nullptr;
  }

  /// The ids of thread number `linear`.
  std::array<int64_t, 3> getIds(int64_t linear) const {
    return {linear % shape[0], linear / shape[0] % shape[1],
            linear / shape[0] / shape[1]};
  }

private:
  std::optional<SmallVector<int64_t>> compute(Value value);
  std::optional<SmallVector<int64_t>> computeMap(AffineMap map,
                                                 ValueRange operands);
  std::optional<SmallVector<int64_t>>
  computeBinary(Operation *op, function_ref<int64_t(int64_t, int64_t)> apply,
                bool isDivision = false);
  SmallVector<int64_t> computeIds(unsigned dim) const {
    SmallVector<int64_t> ids;
    for (int64_t i = 0; i < numThreads; ++i)
      ids.push_back(getIds(i)[dim]);
    return ids;
  }

  Operation *scope;
  std::array<int64_t, 3> shape;
  int64_t numThreads;
  DenseMap<Value, std::optional<SmallVector<int64_t>>> values;
};

/// An access to memory on behalf of a matrix instruction.
struct MatrixAccess {
  Operation *op;
  Value memref;
  ValueRange indices;
};

} // namespace

std::optional<SmallVector<int64_t>> ThreadEvaluator::compute(Value value) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return SmallVector<int64_t>(numThreads, *constant);
  if (auto launch = dyn_cast<gpu::LaunchOp>(scope)) {
    gpu::KernelDim3 ids = launch.getThreadIds();
    for (auto [dim, id] : llvm::enumerate(std::array{ids.x, ids.y, ids.z}))
      if (value == id)
        return computeIds(dim);
  }
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  return llvm::TypeSwitch<Operation *, std::optional<SmallVector<int64_t>>>(op)
      .Case<gpu::ThreadIdOp>([&](gpu::ThreadIdOp id) {
        return computeIds(static_cast<unsigned>(id.getDimension()));
      })
      .Case<affine::AffineApplyOp>([&](affine::AffineApplyOp apply) {
        return computeMap(apply.getAffineMap(), apply.getOperands());
      })
      .Case<arith::AddIOp>(
          [&](auto) { return computeBinary(op, std::plus<int64_t>()); })
      .Case<arith::SubIOp>(
          [&](auto) { return computeBinary(op, std::minus<int64_t>()); })
      .Case<arith::MulIOp>(
          [&](auto) { return computeBinary(op, std::multiplies<int64_t>()); })
      .Case<arith::DivUIOp, arith::DivSIOp>([&](auto) {
        return computeBinary(op, std::divides<int64_t>(), /*isDivision=*/true);
      })
      .Case<arith::RemUIOp, arith::RemSIOp>([&](auto) {
        return computeBinary(op, std::modulus<int64_t>(), /*isDivision=*/true);
      })
      .Case<arith::IndexCastOp, arith::IndexCastUIOp>(
          [&](auto) -> std::optional<SmallVector<int64_t>> {
            const SmallVector<int64_t> *operand = evaluate(op->getOperand(0));
            return operand ? std::optional(*operand) : std::nullopt;
          })
      .Default([](Operation *) { return std::nullopt; });
}

std::optional<SmallVector<int64_t>>
ThreadEvaluator::computeMap(AffineMap map, ValueRange operands) {
  SmallVector<SmallVector<int64_t>> inputs;
  for (Value operand : operands) {
    const SmallVector<int64_t> *input = evaluate(operand);
    if (!input)
      return std::nullopt;
    inputs.push_back(*input);
  }
  SmallVector<int64_t> results;
  Builder builder(map.getContext());
  for (int64_t thread = 0; thread < numThreads; ++thread) {
    SmallVector<Attribute> constants;
    for (const SmallVector<int64_t> &input : inputs)
      constants.push_back(builder.getIndexAttr(input[thread]));
    SmallVector<Attribute> folded;
    if (failed(map.constantFold(constants, folded)))
      return std::nullopt;
    results.push_back(cast<IntegerAttr>(folded.front()).getInt());
  }
  return results;
}

std::optional<SmallVector<int64_t>>
ThreadEvaluator::computeBinary(Operation *op,
                               function_ref<int64_t(int64_t, int64_t)> apply,
                               bool isDivision) {
  const SmallVector<int64_t> *left = evaluate(op->getOperand(0));
  if (!left)
    return std::nullopt;
  SmallVector<int64_t> lhs = *left; // the next evaluation may move it
  const SmallVector<int64_t> *rhs = evaluate(op->getOperand(1));
  if (!rhs)
    return std::nullopt;
  SmallVector<int64_t> results;
  for (auto [a, b] : llvm::zip_equal(lhs, *rhs)) {
    if (isDivision && (b <= 0 || a < 0))
      return std::nullopt; // signed and unsigned division differ
    results.push_back(apply(a, b));
  }
  return results;
}

/// Adds the loads that `value`, an operand of a matrix instruction, is made of.
static void collectLoads(Value value, SmallVectorImpl<MatrixAccess> &accesses) {
  SetVector<Value> worklist;
  worklist.insert(value);
  for (unsigned i = 0; i < worklist.size(); ++i) {
    Operation *op = worklist[i].getDefiningOp();
    if (auto load = dyn_cast_or_null<memref::LoadOp>(op))
      accesses.push_back({op, load.getMemref(), load.getIndices()});
    else if (auto load = dyn_cast_or_null<vector::LoadOp>(op))
      accesses.push_back({op, load.getBase(), load.getIndices()});
    else if (isa_and_nonnull<vector::VectorDialect>(op ? op->getDialect()
                                                       : nullptr) &&
             isMemoryEffectFree(op))
      worklist.insert(op->operand_begin(), op->operand_end());
  }
}

/// Adds the stores that the parts of `value`, a result of a matrix instruction,
/// end in.
static void collectStores(Value value,
                          SmallVectorImpl<MatrixAccess> &accesses) {
  SetVector<Value> worklist;
  worklist.insert(value);
  for (unsigned i = 0; i < worklist.size(); ++i)
    for (Operation *op : worklist[i].getUsers()) {
      if (auto store = dyn_cast<memref::StoreOp>(op))
        accesses.push_back({op, store.getMemref(), store.getIndices()});
      else if (auto store = dyn_cast<vector::StoreOp>(op))
        accesses.push_back({op, store.getBase(), store.getIndices()});
      else if (isa<vector::ExtractOp, vector::ExtractStridedSliceOp>(op))
        worklist.insert(op->result_begin(), op->result_end());
    }
}

static SmallVector<MatrixAccess> collectAccesses(Operation *scope) {
  SmallVector<MatrixAccess> accesses;
  scope->walk([&](Operation *op) {
    if (auto load = dyn_cast<nvgpu::LdMatrixOp>(op)) {
      accesses.push_back({op, load.getSrcMemref(), load.getIndices()});
    } else if (auto mma = dyn_cast<nvgpu::MmaSyncOp>(op)) {
      for (Value operand : mma->getOperands())
        collectLoads(operand, accesses);
      collectStores(mma.getResult(), accesses);
    }
  });
  return accesses;
}

static LogicalResult verifyAccess(const MatrixAccess &access,
                                  ThreadEvaluator &evaluator) {
  auto type = cast<MemRefType>(access.memref.getType());
  for (auto [dim, index] : llvm::enumerate(access.indices)) {
    if (type.isDynamicDim(dim))
      continue;
    const SmallVector<int64_t> *values = evaluator.evaluate(index);
    if (!values)
      continue;
    for (auto [thread, value] : llvm::enumerate(*values)) {
      if (value >= 0 && value < type.getDimSize(dim))
        continue;
      std::array<int64_t, 3> ids = evaluator.getIds(thread);
      return access.op->emitOpError("for a matrix instruction has index ")
             << value << " in dimension " << dim << " of size "
             << type.getDimSize(dim) << " in thread (" << ids[0] << ", "
             << ids[1] << ", " << ids[2]
             << "); the lane is the linear thread id modulo 32, not "
                "threadIdx.x: launch blocks 32 wide in x, or compute it so";
    }
  }
  return success();
}

LogicalResult verifyMatrixOperands(Operation *scope,
                                   const UniformityAnalysis &uniformity) {
  BlockShape shape = getBlockShape(scope);
  std::optional<int64_t> numThreads = shape.getNumThreads();
  constexpr int64_t kMaxThreads = 1024;
  if (!numThreads || *numThreads > kMaxThreads)
    return success();
  SmallVector<MatrixAccess> accesses = collectAccesses(scope);
  ThreadEvaluator evaluator(
      scope, {*shape.sizes[0], *shape.sizes[1], *shape.sizes[2]});
  bool hasFailed = false;
  for (const MatrixAccess &access : accesses) {
    // In divergent code the threads in question may not get here.
    if (uniformity.isUniformPoint(access.op))
      hasFailed |= failed(verifyAccess(access, evaluator));
  }
  return failure(hasFailed);
}

} // namespace mlir::workgroup
