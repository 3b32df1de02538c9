//===- ThreadEvaluator.cpp - Index arithmetic per thread ------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ThreadEvaluator.h"
#include "Analysis/Integers/IntegerArithmetic.h"
#include "Analysis/Program/LaunchValues.h"
#include "Support/IncomingValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "workgroup/Support/Kernel.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::workgroup {

/// Deep chains of operations are not worth the stack.
static constexpr unsigned kMaxEvaluationDepth = 256;

/// `fn` of each thread's values; nothing if it is undefined in one.
template <typename Fn>
static std::optional<ThreadValues> combine(const ThreadValues &lhs,
                                           const ThreadValues &rhs, Fn fn) {
  ThreadValues results;
  results.reserve(lhs.size());
  for (auto [a, b] : llvm::zip_equal(lhs, rhs)) {
    Number number = fn(a, b);
    if (!number)
      return std::nullopt;
    results.push_back(*number);
  }
  return results;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

ThreadEvaluator::ThreadEvaluator(Operation *scope, std::array<int64_t, 3> shape)
    : scope(scope), shape(shape) {
  llvm::append_range(threads, llvm::seq(shape[0] * shape[1] * shape[2]));
}

ThreadEvaluator::ThreadEvaluator(Operation *scope, std::array<int64_t, 3> shape,
                                 ArrayRef<int64_t> threads,
                                 Environment environment)
    : scope(scope), shape(shape), threads(threads),
      environment(std::move(environment)) {}

const ThreadValues *ThreadEvaluator::evaluate(Value value) {
  if (auto it = values.find(value); it != values.end())
    return it->second.get();
  if (depth == kMaxEvaluationDepth || getWidth(value.getType()) == 0)
    return nullptr;
  ++depth;
  Result computed = compute(value);
  if (!computed && environment)
    computed = environment(value, *this);
  --depth;
  auto &entry = values[value];
  if (computed)
    entry = std::make_unique<ThreadValues>(std::move(*computed));
  return entry.get();
}

ThreadEvaluator::Result
ThreadEvaluator::generate(function_ref<int64_t(int64_t)> getValue) const {
  return ThreadValues(llvm::map_range(threads, getValue));
}

ThreadEvaluator::Result ThreadEvaluator::compute(Value value) {
  IntegerAttr constant;
  if (matchPattern(value, m_Constant(&constant)))
    return splat(constant.getValue().getSExtValue());
  if (Result id = computeId(value))
    return id;
  if (Operation *op = value.getDefiningOp())
    return computeOp(op, cast<OpResult>(value).getResultNumber());
  Value only = getCommonIncoming(cast<BlockArgument>(value));
  const ThreadValues *values = only ? evaluate(only) : nullptr;
  return values ? Result(*values) : std::nullopt;
}

/// The values of `value` if it is an id of threads or a size of the block.
ThreadEvaluator::Result ThreadEvaluator::computeId(Value value) {
  auto ofDimension = [&](unsigned dim) {
    return generate([&](int64_t thread) { return getIds(thread)[dim]; });
  };
  if (auto launch = dyn_cast<gpu::LaunchOp>(scope)) {
    gpu::KernelDim3 ids = launch.getThreadIds();
    gpu::KernelDim3 sizes = launch.getBlockSize();
    for (auto [dim, id, size] :
         llvm::enumerate(std::array{ids.x, ids.y, ids.z},
                         std::array{sizes.x, sizes.y, sizes.z})) {
      if (value == id)
        return ofDimension(dim);
      if (value == size)
        return splat(shape[dim]);
    }
  }
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (std::optional<LaunchValue> id = getLaunchValue(op)) {
    if (id->kind == LaunchValue::ThreadId)
      return ofDimension(id->dim);
    return id->kind == LaunchValue::BlockSize ? Result(splat(shape[id->dim]))
                                              : std::nullopt;
  }
  if (isLaneId(op))
    return generate([](int64_t thread) { return thread % kWarpSize; });
  if (isa<gpu::SubgroupIdOp>(op))
    return generate([](int64_t thread) { return thread / kWarpSize; });
  if (isa<gpu::SubgroupSizeOp, NVVM::WarpSizeOp>(op))
    return splat(kWarpSize);
  return std::nullopt;
}

ThreadEvaluator::Result ThreadEvaluator::computeOp(Operation *op,
                                                   unsigned result) {
  if (BinaryFn fn = getBinaryFn(op)) {
    const ThreadValues *lhs = evaluate(op->getOperand(0));
    const ThreadValues *rhs = lhs ? evaluate(op->getOperand(1)) : nullptr;
    if (!rhs)
      return std::nullopt;
    unsigned width = getWidth(op->getOperand(0).getType());
    return combine(*lhs, *rhs, [&](int64_t a, int64_t b) -> Number {
      Number number = fn(a, b, width);
      return number ? Number(wrap(*number, width)) : number;
    });
  }
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp,
            arith::ExtUIOp, arith::TruncIOp>(
          [&](auto) { return computeCast(op); })
      .Case([&](arith::CmpIOp) { return computeCompare(op); })
      .Case([&](arith::SelectOp) { return computeSelect(op); })
      .Case([&](affine::AffineApplyOp apply) {
        return computeAffine(apply.getAffineMap(), apply.getOperands(), true);
      })
      .Case([&](affine::AffineMinOp min) {
        return computeAffine(min.getAffineMap(), min.getOperands(), true);
      })
      .Case([&](affine::AffineMaxOp max) {
        return computeAffine(max.getAffineMap(), max.getOperands(), false);
      })
      .Case([&](affine::AffineDelinearizeIndexOp delinearize) {
        return computeDelinearized(delinearize, result);
      })
      .Case([&](affine::AffineLinearizeIndexOp linearize) {
        return computeLinearized(linearize);
      })
      .Default([&](Operation *) { return fold(op, result); });
}

ThreadEvaluator::Result ThreadEvaluator::computeCast(Operation *op) {
  const ThreadValues *values = evaluate(op->getOperand(0));
  if (!values)
    return std::nullopt;
  unsigned from = getWidth(op->getOperand(0).getType());
  unsigned to = getWidth(op->getResult(0).getType());
  bool isUnsigned = isa<arith::IndexCastUIOp, arith::ExtUIOp>(op);
  return ThreadValues(llvm::map_range(*values, [&](int64_t value) {
    return wrap(isUnsigned ? toUnsigned(value, from) : value, to);
  }));
}

ThreadEvaluator::Result ThreadEvaluator::computeCompare(Operation *op) {
  const ThreadValues *lhs = evaluate(op->getOperand(0));
  const ThreadValues *rhs = lhs ? evaluate(op->getOperand(1)) : nullptr;
  if (!rhs)
    return std::nullopt;
  unsigned width = getWidth(op->getOperand(0).getType());
  arith::CmpIPredicate predicate = cast<arith::CmpIOp>(op).getPredicate();
  return combine(*lhs, *rhs, [&](int64_t a, int64_t b) {
    return Number(compare(predicate, a, b, width) ? -1 : 0); // as an i1
  });
}

ThreadEvaluator::Result ThreadEvaluator::computeSelect(Operation *op) {
  std::array<const ThreadValues *, 3> operands;
  for (auto [operand, value] : llvm::zip_equal(operands, op->getOperands()))
    if (!(operand = evaluate(value)))
      return std::nullopt;
  ThreadValues results;
  for (auto [condition, yes, no] :
       llvm::zip_equal(*operands[0], *operands[1], *operands[2]))
    results.push_back(condition ? yes : no);
  return results;
}

//===----------------------------------------------------------------------===//
// Affine operations
//===----------------------------------------------------------------------===//

/// The least, or greatest, of the results of `map`.
ThreadEvaluator::Result
ThreadEvaluator::computeAffine(AffineMap map, ValueRange operands, bool isMin) {
  Result results;
  for (AffineExpr expr : map.getResults()) {
    Result next = computeExpr(expr, operands, map.getNumDims());
    if (!next)
      return std::nullopt;
    if (results)
      next = combine(*results, *next, [&](int64_t a, int64_t b) {
        return Number(isMin ? std::min(a, b) : std::max(a, b));
      });
    results = std::move(next);
  }
  return results;
}

/// What `kind` computes of `a` and `b`; divisors have to be positive.
static Number computeBinary(AffineExprKind kind, int64_t a, int64_t b) {
  switch (kind) {
  case AffineExprKind::Add:
    return uint64_t(a) + uint64_t(b);
  case AffineExprKind::Mul:
    return uint64_t(a) * uint64_t(b);
  case AffineExprKind::Mod:
    return b > 0 ? Number(llvm::mod(a, b)) : Number();
  case AffineExprKind::FloorDiv:
    return b > 0 ? Number(llvm::divideFloorSigned(a, b)) : Number();
  case AffineExprKind::CeilDiv:
    return b > 0 ? Number(llvm::divideCeilSigned(a, b)) : Number();
  default:
    return std::nullopt;
  }
}

/// Combines each of `lhs` with the number that `getRhs` returns for its index.
template <typename Fn>
static bool combineInPlace(AffineExprKind kind, ThreadValues &lhs, Fn getRhs) {
  for (size_t i = 0, e = lhs.size(); i < e; ++i) {
    Number number = computeBinary(kind, lhs[i], getRhs(i));
    if (!number)
      return false;
    lhs[i] = *number;
  }
  return true;
}

/// The values of `expr` if it is an operand; null otherwise, or if it has none.
const ThreadValues *ThreadEvaluator::evaluateOperand(AffineExpr expr,
                                                     ValueRange operands,
                                                     unsigned numDims) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return evaluate(operands[dim.getPosition()]);
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return evaluate(operands[numDims + symbol.getPosition()]);
  return nullptr;
}

/// Makes `lhs` what `kind` computes of it and `rhs`; false if that is not
/// known.
bool ThreadEvaluator::applyBinary(AffineExprKind kind, ThreadValues &lhs,
                                  AffineExpr rhs, ValueRange operands,
                                  unsigned numDims) {
  if (auto constant = dyn_cast<AffineConstantExpr>(rhs)) {
    int64_t value = constant.getValue();
    // Shifts and masks are many times as fast as divisions.
    bool isPower = llvm::isPowerOf2_64(value) && value > 0;
    if (isPower && kind == AffineExprKind::FloorDiv) {
      for (int64_t &number : lhs)
        number >>= llvm::Log2_64(value);
      return true;
    }
    if (isPower && kind == AffineExprKind::Mod) {
      for (int64_t &number : lhs)
        number &= value - 1;
      return true;
    }
    return combineInPlace(kind, lhs, [&](size_t) { return value; });
  }
  if (const ThreadValues *found = evaluateOperand(rhs, operands, numDims))
    return combineInPlace(kind, lhs, [&](size_t i) { return (*found)[i]; });
  Result computed = computeExpr(rhs, operands, numDims);
  return computed &&
         combineInPlace(kind, lhs, [&](size_t i) { return (*computed)[i]; });
}

ThreadEvaluator::Result ThreadEvaluator::computeExpr(AffineExpr expr,
                                                     ValueRange operands,
                                                     unsigned numDims) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return splat(constant.getValue());
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary) {
    const ThreadValues *found = evaluateOperand(expr, operands, numDims);
    return found ? Result(*found) : std::nullopt;
  }
  Result values = computeExpr(binary.getLHS(), operands, numDims);
  if (!values ||
      !applyBinary(expr.getKind(), *values, binary.getRHS(), operands, numDims))
    return std::nullopt;
  return values;
}

ThreadEvaluator::Result ThreadEvaluator::evaluateMixed(OpFoldResult index) {
  if (!index)
    return std::nullopt;
  if (std::optional<int64_t> constant = getConstantIntValue(index))
    return splat(*constant);
  const ThreadValues *found = evaluate(cast<Value>(index));
  return found ? Result(*found) : std::nullopt;
}

ThreadEvaluator::Result
ThreadEvaluator::computeDelinearized(affine::AffineDelinearizeIndexOp op,
                                     unsigned result) {
  Result rest = evaluateMixed(op.getLinearIndex());
  // The extents of all results but the first, which takes what is left.
  SmallVector<OpFoldResult> basis = op.getEffectiveBasis();
  for (unsigned i = basis.size(); rest && i > 0; --i) {
    Result extent = evaluateMixed(basis[i - 1]);
    if (!extent)
      return std::nullopt;
    AffineExprKind kind =
        result == i ? AffineExprKind::Mod : AffineExprKind::FloorDiv;
    rest = combine(*rest, *extent, [&](int64_t a, int64_t b) {
      return computeBinary(kind, a, b);
    });
    if (result == i)
      return rest;
  }
  return rest;
}

ThreadEvaluator::Result
ThreadEvaluator::computeLinearized(affine::AffineLinearizeIndexOp op) {
  ThreadValues sum = splat(0);
  SmallVector<OpFoldResult> basis = op.getEffectiveBasis();
  for (auto [i, index] : llvm::enumerate(op.getMultiIndex())) {
    Result value = evaluateMixed(index);
    Result extent = i == 0 ? splat(1) : evaluateMixed(basis[i - 1]);
    if (!value || !extent)
      return std::nullopt;
    for (auto [into, a, size] : llvm::zip_equal(sum, *value, *extent))
      into = uint64_t(into) * uint64_t(size) + uint64_t(a);
  }
  return sum;
}

//===----------------------------------------------------------------------===//
// All else
//===----------------------------------------------------------------------===//

/// Lets `op` fold its operands, thread by thread.
ThreadEvaluator::Result ThreadEvaluator::fold(Operation *op, unsigned result) {
  if (op->getNumRegions() != 0 || op->getNumOperands() == 0 ||
      !isMemoryEffectFree(op))
    return std::nullopt;
  SmallVector<const ThreadValues *> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(evaluate(operand));
    if (!operands.back())
      return std::nullopt;
  }

  // The operation's own folding knows widths and overflow. It may change the
  // operation, so a copy is folded.
  OwningOpRef<Operation *> copy(op->clone());
  ThreadValues results;
  for (size_t i = 0, e = threads.size(); i < e; ++i) {
    SmallVector<Attribute> constants;
    for (auto [operand, values] :
         llvm::zip_equal(op->getOperands(), operands)) {
      unsigned width = getWidth(operand.getType());
      constants.push_back(IntegerAttr::get(
          operand.getType(), APInt(width, (*values)[i], /*isSigned=*/true)));
    }
    SmallVector<OpFoldResult> folded;
    if (failed(copy->fold(constants, folded)) || folded.size() <= result)
      return std::nullopt;
    if (auto value = dyn_cast<Value>(folded[result])) {
      const ThreadValues *same = evaluate(value);
      if (!same)
        return std::nullopt;
      results.push_back((*same)[i]);
      continue;
    }
    auto constant = dyn_cast<IntegerAttr>(cast<Attribute>(folded[result]));
    if (!constant)
      return std::nullopt;
    results.push_back(constant.getValue().getSExtValue());
  }
  return results;
}

} // namespace mlir::workgroup
