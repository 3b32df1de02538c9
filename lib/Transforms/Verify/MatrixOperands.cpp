//===- MatrixOperands.cpp - Bounds of matrix operands ---------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For a block of known shape each index of an access that feeds a matrix
// instruction is computed for all threads. An index outside of the memref is an
// error with the thread and the value, and so is a row of `ldmatrix` at an
// address that is no multiple of 16 (PTX ISA, `ldmatrix`). Code that only some
// threads reach is left out.
//
//===----------------------------------------------------------------------===//

#include "Analysis/Index/ThreadEvaluator.h"
#include "KernelChecks.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "workgroup/Analysis/Alignment.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Support/MemorySpace.h"
#include "workgroup/Target/LaunchLimits.h"

namespace mlir::workgroup {

namespace {

/// An access to memory on behalf of a matrix instruction, or one that promises
/// an alignment.
struct MatrixAccess {
  Operation *op;
  Value memref;
  ValueRange indices;
  /// The number of lanes of a warp whose address is used.
  int64_t numLanes = kWarpSize;
  /// What the address has to be a multiple of, in bytes.
  int64_t alignment = 1;
  /// Whether a matrix instruction takes part.
  bool isOfMatrix = true;
};

} // namespace

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
    } else {
      for (const AlignedAccess &access : getAlignedAccesses(op))
        if (access.alignment > 1 && isWorkgroupMemory(access.memref.getType()))
          accesses.push_back({op, access.memref, access.indices, kWarpSize,
                              access.alignment, /*isOfMatrix=*/false});
    }
  });
  return accesses;
}

/// Checks the index of `access` in `dim`, which has the values `indices`.
static LogicalResult verifyBounds(const MatrixAccess &access, unsigned dim,
                                  const ThreadValues &indices,
                                  const ThreadEvaluator &evaluator) {
  int64_t extent = cast<MemRefType>(access.memref.getType()).getDimSize(dim);
  for (auto [thread, value] : llvm::enumerate(indices)) {
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

namespace {

/// The offsets of a memref's elements, in bytes.
struct ElementOffsets {
  int64_t first = 0;
  SmallVector<int64_t> strides;
};

/// For each memref, what all accesses to it share; nothing if it is not known.
using OffsetsOf = DenseMap<Value, std::optional<ElementOffsets>>;

} // namespace

static std::optional<ElementOffsets> findOffsets(Value memref, Operation *op) {
  auto type = cast<MemRefType>(memref.getType());
  std::optional<int64_t> place = getConstantOffset(memref);
  std::optional<int64_t> bytes = getElementBytes(type, op);
  ElementOffsets offsets;
  int64_t offset;
  if (!place || !bytes ||
      failed(type.getStridesAndOffset(offsets.strides, offset)) ||
      llvm::any_of(offsets.strides, ShapedType::isDynamic))
    return std::nullopt;
  offsets.first = *place;
  for (int64_t &stride : offsets.strides)
    stride *= *bytes;
  return offsets;
}

/// Checks that the addresses of `access`, whose indices have the values
/// `indices`, are aligned as its instruction needs them.
static LogicalResult verifyAlignment(const MatrixAccess &access,
                                     ArrayRef<const ThreadValues *> indices,
                                     const ThreadEvaluator &evaluator,
                                     OffsetsOf &offsetsOf) {
  // What is the same for all threads, verifyAccessAlignment sees.
  bool isConstant = llvm::all_of(access.indices, [](Value index) {
    return getConstantIntValue(index).has_value();
  });
  if (isConstant)
    return success();
  auto [it, isNew] = offsetsOf.try_emplace(access.memref);
  if (isNew)
    it->second = findOffsets(access.memref, access.op);
  const std::optional<ElementOffsets> &offsets = it->second;
  if (!offsets)
    return success();
  for (size_t thread = 0, e = indices.front()->size(); thread < e; ++thread) {
    int64_t byte = offsets->first;
    for (auto [index, stride] : llvm::zip_equal(indices, offsets->strides))
      byte += (*index)[thread] * stride;
    bool isUsed = static_cast<int64_t>(thread) % kWarpSize < access.numLanes;
    if (!isUsed || byte % access.alignment == 0)
      continue;
    std::array<int64_t, 3> ids = evaluator.getIds(thread);
    return access.op->emitOpError()
           << (access.isOfMatrix ? "needs rows aligned to "
                                 : "has to be aligned to ")
           << access.alignment << " bytes, but "
           << (access.isOfMatrix ? "reads from" : "accesses") << " byte "
           << byte << " of its buffer in thread (" << ids[0] << ", " << ids[1]
           << ", " << ids[2] << "); pad the rows to a multiple of it"
           << (access.isOfMatrix ? "" : ", or promise less");
  }
  return success();
}

static LogicalResult verifyAccess(const MatrixAccess &access,
                                  ThreadEvaluator &evaluator,
                                  OffsetsOf &offsetsOf) {
  auto type = dyn_cast<MemRefType>(access.memref.getType());
  if (!type)
    return success();
  SmallVector<const ThreadValues *> indices;
  for (auto [dim, index] : llvm::enumerate(access.indices)) {
    indices.push_back(evaluator.evaluate(index));
    if (access.isOfMatrix && indices.back() && !type.isDynamicDim(dim) &&
        failed(verifyBounds(access, dim, *indices.back(), evaluator)))
      return failure();
  }
  if (access.alignment == 1 || indices.empty() ||
      llvm::is_contained(indices, nullptr) ||
      !isWorkgroupMemory(access.memref.getType()))
    return success();
  return verifyAlignment(access, indices, evaluator, offsetsOf);
}

LogicalResult verifyMatrixOperands(Operation *scope,
                                   const UniformityAnalysis &uniformity) {
  BlockShape shape = getBlockShape(scope);
  std::optional<int64_t> numThreads = shape.getNumThreads();
  if (!numThreads || *numThreads > kMaxBlockThreads)
    return success();
  SmallVector<MatrixAccess> accesses = collectAccesses(scope);
  ThreadEvaluator evaluator(
      scope, {*shape.sizes[0], *shape.sizes[1], *shape.sizes[2]});
  OffsetsOf offsetsOf;
  DenseSet<Value> reported;
  for (const MatrixAccess &access : accesses) {
    // In divergent code the threads in question may not get here. The accesses
    // to one operand are wrong together.
    if (uniformity.isUniformPoint(access.op) &&
        !reported.contains(access.memref) &&
        failed(verifyAccess(access, evaluator, offsetsOf)))
      reported.insert(access.memref);
  }
  return success(reported.empty());
}

} // namespace mlir::workgroup
