//===- MatrixOperands.cpp - Bounds of matrix operands ---------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelChecks.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "workgroup/Analysis/Alignment.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Support/MemorySpace.h"

namespace mlir::workgroup {

namespace {

/// An integer per thread of a block, in the order of linear ids.
using ThreadValues = SmallVector<Attribute>;

/// Evaluates index arithmetic for every thread of a block.
class ThreadEvaluator {
public:
  ThreadEvaluator(Operation *scope, std::array<int64_t, 3> shape)
      : scope(scope), shape(shape), numThreads(shape[0] * shape[1] * shape[2]) {
  }

  /// Null if `value` depends on more than constants and thread ids.
  const ThreadValues *evaluate(Value value);

  /// The ids of thread number `linear`.
  std::array<int64_t, 3> getIds(int64_t linear) const {
    return {linear % shape[0], linear / shape[0] % shape[1],
            linear / shape[0] / shape[1]};
  }

private:
  std::optional<ThreadValues> compute(Value value);
  std::optional<ThreadValues> fold(Operation *op, unsigned result);
  ThreadValues generate(function_ref<int64_t(int64_t)> getIndex) const;

  Operation *scope;
  std::array<int64_t, 3> shape;
  int64_t numThreads;
  unsigned depth = 0;
  // By pointer, so that what `evaluate` returns stays where it is.
  DenseMap<Value, std::unique_ptr<ThreadValues>> values;
};

/// An access to memory on behalf of a matrix instruction.
struct MatrixAccess {
  Operation *op;
  Value memref;
  ValueRange indices;
  /// How many lanes of a warp have an address that is used.
  int64_t numLanes = kWarpSize;
  /// What the address has to be a multiple of, in bytes.
  int64_t alignment = 1;
};

} // namespace

const ThreadValues *ThreadEvaluator::evaluate(Value value) {
  if (auto it = values.find(value); it != values.end())
    return it->second.get();
  // Deep chains of operations are not worth the stack.
  constexpr unsigned kMaxDepth = 256;
  if (depth == kMaxDepth)
    return nullptr;
  ++depth;
  std::optional<ThreadValues> computed = compute(value);
  --depth;
  auto &entry = values[value];
  if (computed)
    entry = std::make_unique<ThreadValues>(std::move(*computed));
  return entry.get();
}

ThreadValues
ThreadEvaluator::generate(function_ref<int64_t(int64_t)> getIndex) const {
  Builder builder(scope->getContext());
  ThreadValues results;
  for (int64_t thread = 0; thread < numThreads; ++thread)
    results.push_back(builder.getIndexAttr(getIndex(thread)));
  return results;
}

std::optional<ThreadValues> ThreadEvaluator::compute(Value value) {
  IntegerAttr constant;
  if (matchPattern(value, m_Constant(&constant)))
    return ThreadValues(numThreads, constant);
  if (auto launch = dyn_cast<gpu::LaunchOp>(scope)) {
    gpu::KernelDim3 ids = launch.getThreadIds();
    gpu::KernelDim3 sizes = launch.getBlockSize();
    for (auto [dim, id, size] :
         llvm::enumerate(std::array{ids.x, ids.y, ids.z},
                         std::array{sizes.x, sizes.y, sizes.z})) {
      if (value == id)
        return generate([&](int64_t thread) { return getIds(thread)[dim]; });
      if (value == size)
        return generate([&](int64_t) { return shape[dim]; });
    }
  }
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (auto id = dyn_cast<gpu::ThreadIdOp>(op)) {
    auto dim = static_cast<unsigned>(id.getDimension());
    return generate([&](int64_t thread) { return getIds(thread)[dim]; });
  }
  if (auto size = dyn_cast<gpu::BlockDimOp>(op))
    return generate([&](int64_t) {
      return shape[static_cast<unsigned>(size.getDimension())];
    });
  if (isa<gpu::LaneIdOp>(op))
    return generate([](int64_t thread) { return thread % kWarpSize; });
  return fold(op, cast<OpResult>(value).getResultNumber());
}

std::optional<ThreadValues> ThreadEvaluator::fold(Operation *op,
                                                  unsigned result) {
  if (op->getNumRegions() != 0 || op->getNumOperands() == 0 ||
      !isMemoryEffectFree(op))
    return std::nullopt;
  SmallVector<const ThreadValues *> operands;
  for (Value operand : op->getOperands()) {
    if (!operand.getType().isIntOrIndex())
      return std::nullopt;
    operands.push_back(evaluate(operand));
    if (!operands.back())
      return std::nullopt;
  }

  // The operation's own folding knows widths and overflow. It may change the
  // operation, so a copy is folded.
  OwningOpRef<Operation *> copy(op->clone());
  ThreadValues results;
  for (int64_t thread = 0; thread < numThreads; ++thread) {
    SmallVector<Attribute> constants;
    for (const ThreadValues *operand : operands)
      constants.push_back((*operand)[thread]);
    SmallVector<OpFoldResult> folded;
    if (failed(copy->fold(constants, folded)) || folded.size() <= result)
      return std::nullopt;
    Attribute constant = dyn_cast<Attribute>(folded[result]);
    if (auto value = dyn_cast<Value>(folded[result]))
      if (const ThreadValues *same = evaluate(value))
        constant = (*same)[thread];
    if (!isa_and_nonnull<IntegerAttr>(constant))
      return std::nullopt;
    results.push_back(constant);
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
      // A tile has eight rows of 16 bytes; a lane gives the address of one.
      accesses.push_back({op, load.getSrcMemref(), load.getIndices(),
                          /*numLanes=*/8 * int64_t(load.getNumTiles()),
                          /*alignment=*/16});
    } else if (auto mma = dyn_cast<nvgpu::MmaSyncOp>(op)) {
      for (Value operand : mma->getOperands())
        collectLoads(operand, accesses);
      collectStores(mma.getResult(), accesses);
    }
  });
  return accesses;
}

/// Checks the index of `access` in `dim`, which has the values `indices`.
static LogicalResult verifyBounds(const MatrixAccess &access, unsigned dim,
                                  const ThreadValues &indices,
                                  const ThreadEvaluator &evaluator) {
  int64_t extent = cast<MemRefType>(access.memref.getType()).getDimSize(dim);
  for (auto [thread, index] : llvm::enumerate(indices)) {
    int64_t value = cast<IntegerAttr>(index).getInt();
    bool isUsed = static_cast<int64_t>(thread) % kWarpSize < access.numLanes;
    if (!isUsed || (value >= 0 && value < extent))
      continue;
    std::array<int64_t, 3> ids = evaluator.getIds(thread);
    return access.op->emitOpError("for a matrix instruction has index ")
           << value << " in dimension " << dim << " of size " << extent
           << " in thread (" << ids[0] << ", " << ids[1] << ", " << ids[2]
           << "); the lane is the linear thread id modulo 32, not "
              "threadIdx.x: launch blocks 32 wide in x, or compute it so";
  }
  return success();
}

/// Checks that the addresses of `access`, whose indices have the values
/// `indices`, are aligned as its instruction needs them.
static LogicalResult verifyAlignment(const MatrixAccess &access,
                                     ArrayRef<const ThreadValues *> indices,
                                     const ThreadEvaluator &evaluator) {
  // What is the same for all threads, verifyAccessAlignment sees.
  auto type = cast<MemRefType>(access.memref.getType());
  std::optional<int64_t> place = getConstantPlace(access.memref);
  std::optional<int64_t> bytes = getElementBytes(type, access.op);
  SmallVector<int64_t> strides;
  int64_t offset;
  bool isConstant = llvm::all_of(access.indices, [](Value index) {
    return getConstantIntValue(index).has_value();
  });
  if (isConstant || !place || !bytes ||
      failed(type.getStridesAndOffset(strides, offset)) ||
      llvm::any_of(strides, ShapedType::isDynamic))
    return success();
  for (size_t thread = 0, e = indices.front()->size(); thread < e; ++thread) {
    int64_t byte = *place;
    for (auto [index, stride] : llvm::zip_equal(indices, strides))
      byte += cast<IntegerAttr>((*index)[thread]).getInt() * stride * *bytes;
    bool isUsed = static_cast<int64_t>(thread) % kWarpSize < access.numLanes;
    if (!isUsed || byte % access.alignment == 0)
      continue;
    std::array<int64_t, 3> ids = evaluator.getIds(thread);
    return access.op->emitOpError("needs rows aligned to ")
           << access.alignment << " bytes, but reads from byte " << byte
           << " of its buffer in thread (" << ids[0] << ", " << ids[1] << ", "
           << ids[2] << "); pad the rows to a multiple of it";
  }
  return success();
}

static LogicalResult verifyAccess(const MatrixAccess &access,
                                  ThreadEvaluator &evaluator) {
  auto type = cast<MemRefType>(access.memref.getType());
  SmallVector<const ThreadValues *> indices;
  for (auto [dim, index] : llvm::enumerate(access.indices)) {
    indices.push_back(evaluator.evaluate(index));
    if (indices.back() && !type.isDynamicDim(dim) &&
        failed(verifyBounds(access, dim, *indices.back(), evaluator)))
      return failure();
  }
  if (access.alignment == 1 || indices.empty() ||
      llvm::is_contained(indices, nullptr) ||
      !isWorkgroupMemory(access.memref.getType()))
    return success();
  return verifyAlignment(access, indices, evaluator);
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
  DenseSet<Value> reported;
  for (const MatrixAccess &access : accesses) {
    // In divergent code the threads in question may not get here. The accesses
    // to one operand are wrong together.
    if (uniformity.isUniformPoint(access.op) &&
        !reported.contains(access.memref) &&
        failed(verifyAccess(access, evaluator)))
      reported.insert(access.memref);
  }
  return success(reported.empty());
}

} // namespace mlir::workgroup
