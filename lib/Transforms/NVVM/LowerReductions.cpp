//===- LowerReductions.cpp - Reductions over blocks and warps -------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block of several warps reduces through workgroup memory. Two barriers are
// enough, also for the next iteration of a loop and for another reduction in
// the same buffer, because the result has a place of its own:
//
//   first lane of each warp    stores what its warp has to buffer[warp]
//   barrier                    everybody has read the last result
//   threads < number of warps  load buffer[thread] and reduce; the first one
//                              stores the result to buffer[end]
//   barrier                    everybody has read what the warps had
//   all threads                load buffer[end]
//
//===----------------------------------------------------------------------===//

#include "LowerReductions.h"
#include "Transforms/Utils/LaneReducer.h"
#include "Transforms/Utils/ReductionBuffers.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/SymbolTable.h"
#include "workgroup/Support/MemorySpace.h"
#include "workgroup/Target/LaunchLimits.h"

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// What can be lowered, and what it takes
//===----------------------------------------------------------------------===//

StringRef getReductionObstacle(gpu::AllReduceOp op, Operation *root) {
  if (!op.getUniform())
    return "is not marked uniform; mark it if all threads of the block reach "
           "it together";
  if (!op.getType().isIntOrFloat() || op.getType().getIntOrFloatBitWidth() > 64)
    return "reduces numbers of more than 64 bits, which no shuffle moves; "
           "truncate them";
  Operation *scope = getExecutionScope(op);
  if (!isa<gpu::LaunchOp, gpu::GPUFuncOp>(scope) &&
      !root->isAncestor(SymbolTable::getNearestSymbolTable(scope)))
    return "stands in a function whose module, which its buffer belongs to, is "
           "outside of the operation that the pass runs on; move it into the "
           "kernel";
  return "";
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

namespace {

/// The buffers of reductions, one for each function and type.
class ReductionBuffers {
public:
  explicit ReductionBuffers(RewriterBase &rewriter) : rewriter(rewriter) {}

  Value get(gpu::AllReduceOp op) {
    Operation *scope = getExecutionScope(op);
    MemRefType type = getReductionBufferType(op);
    Value &buffer = buffers[{scope, type}];
    if (!buffer)
      buffer = create(scope, type, op.getLoc());
    return buffer;
  }

private:
  Value create(Operation *scope, MemRefType type, Location loc);

  RewriterBase &rewriter;
  DenseMap<std::pair<Operation *, Type>, Value> buffers;
};

/// Emits one reduction over a block before its op.
class BlockReduction {
public:
  BlockReduction(RewriterBase &rewriter, gpu::AllReduceOp op)
      : rewriter(rewriter), op(op), loc(op.getLoc()), index{rewriter, loc},
        block(getBlockShape(getExecutionScope(op))),
        combiner{op.getOp(), &op.getBody()}, id(index.threadId(block)) {}

  Value emit(ReductionBuffers &buffers);

private:
  Value emitForWarps(Value buffer);
  OpFoldResult getNumWarps();
  /// Runs `body` where `lhs` and `rhs` compare as `predicate`.
  void emitIf(arith::CmpIPredicate predicate, OpFoldResult lhs,
              OpFoldResult rhs, function_ref<void()> body);

  RewriterBase &rewriter;
  gpu::AllReduceOp op;
  Location loc;
  IndexBuilder index;
  BlockShape block;
  Combiner combiner;
  OpFoldResult id;
};

} // namespace

Value ReductionBuffers::create(Operation *scope, MemRefType type,
                               Location loc) {
  if (auto launch = dyn_cast<gpu::LaunchOp>(scope))
    return launch.addWorkgroupAttribution(type, loc);
  if (auto function = dyn_cast<gpu::GPUFuncOp>(scope))
    return function.addWorkgroupAttribution(type, loc);
  OpBuilder detached(loc.getContext()); // the table inserts it, renamed
  auto global = memref::GlobalOp::create(
      detached, loc, (getScopeName(scope) + "_reduction").str(),
      rewriter.getStringAttr("private"), type,
      /*initial_value=*/rewriter.getUnitAttr(), /*constant=*/false,
      /*alignment=*/nullptr);
  SymbolTable(SymbolTable::getNearestSymbolTable(scope))
      .insert(global, scope->getIterator());
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(&getBody(scope)->front());
  return memref::GetGlobalOp::create(rewriter, loc, type, global.getSymName());
}

void BlockReduction::emitIf(arith::CmpIPredicate predicate, OpFoldResult lhs,
                            OpFoldResult rhs, function_ref<void()> body) {
  Value left = index.value(lhs), right = index.value(rhs);
  Value condition =
      arith::CmpIOp::create(rewriter, loc, predicate, left, right);
  auto ifOp = scf::IfOp::create(rewriter, loc, condition);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(ifOp.thenBlock());
  body();
}

OpFoldResult BlockReduction::getNumWarps() {
  if (block.getNumThreads())
    return rewriter.getIndexAttr(getMaxWarps(block));
  OpFoldResult above =
      index.add(index.numThreads(block), rewriter.getIndexAttr(kWarpSize - 1));
  return index.div(above, rewriter.getIndexAttr(kWarpSize));
}

Value BlockReduction::emitForWarps(Value buffer) {
  using Predicate = arith::CmpIPredicate;
  OpFoldResult zero = rewriter.getIndexAttr(0);
  OpFoldResult warpSize = rewriter.getIndexAttr(kWarpSize);
  int64_t maxWarps = getMaxWarps(block);
  Value end = index.value(rewriter.getIndexAttr(maxWarps));

  LaneReducer ofLanes(index, combiner, getLanesOfWarp(index, block, id));
  Value ofWarp = ofLanes.reduceToFirst(op.getValue());
  emitIf(Predicate::eq, index.rem(id, warpSize), zero, [&] {
    Value warp = index.value(index.div(id, warpSize));
    memref::StoreOp::create(rewriter, loc, ofWarp, buffer, warp);
  });
  gpu::BarrierOp::create(rewriter, loc);
  OpFoldResult numWarps = getNumWarps();
  emitIf(Predicate::ult, id, numWarps, [&] {
    Value loaded =
        memref::LoadOp::create(rewriter, loc, buffer, index.value(id));
    LaneReducer ofWarps(index, combiner,
                        getFirstLanes(index, numWarps, maxWarps));
    Value ofBlock = ofWarps.reduceToFirst(loaded);
    emitIf(Predicate::eq, id, zero, [&] {
      memref::StoreOp::create(rewriter, loc, ofBlock, buffer, end);
    });
  });
  gpu::BarrierOp::create(rewriter, loc);
  return memref::LoadOp::create(rewriter, loc, buffer, end);
}

Value BlockReduction::emit(ReductionBuffers &buffers) {
  if (getReductionBufferType(op))
    return emitForWarps(buffers.get(op));
  LaneReducer lanes(index, combiner, getLanesOfWarp(index, block, id));
  return lanes.reduceToAll(op.getValue(), id);
}

//===----------------------------------------------------------------------===//
// Warps
//===----------------------------------------------------------------------===//

/// True if the block of `op` may have threads for a part of a warp only.
static bool mayBeInPartialWarp(gpu::SubgroupReduceOp op) {
  BlockShape block = getBlockShape(getExecutionScope(op));
  return block.getNumThreads().value_or(1) % kWarpSize != 0;
}

/// Lowers a reduction over lanes that need not exist. It is left if no shuffle
/// moves its elements.
static void lowerPartial(gpu::SubgroupReduceOp op, RewriterBase &rewriter) {
  if (getElementTypeOrSelf(op.getType()).getIntOrFloatBitWidth() > 64)
    return;
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  IndexBuilder index{rewriter, loc};
  BlockShape block = getBlockShape(getExecutionScope(op));
  OpFoldResult id = index.threadId(block);
  Combiner combiner{op.getOp()};
  Cluster cluster{op.getClusterSize().value_or(kWarpSize),
                  op.getClusterStride()};
  LaneReducer lanes(index, combiner, getLanesOfWarp(index, block, id), cluster);
  auto type = dyn_cast<VectorType>(op.getType());
  if (!type)
    return rewriter.replaceOp(op, lanes.reduceToAll(op.getValue(), id));
  Value result = ub::PoisonOp::create(rewriter, loc, type);
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    Value element = vector::ExtractOp::create(rewriter, loc, op.getValue(), i);
    Value reduced = lanes.reduceToAll(element, id);
    result = vector::InsertOp::create(rewriter, loc, reduced, result, i);
  }
  rewriter.replaceOp(op, result);
}

static LogicalResult verifyCluster(gpu::SubgroupReduceOp op) {
  int64_t size = op.getClusterSize().value_or(1);
  if (size * op.getClusterStride() <= kWarpSize)
    return success();
  return op.emitOpError("reduces over clusters that reach beyond the 32 lanes "
                        "of a warp; make their size or stride smaller");
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

LogicalResult lowerReductions(Operation *root, ArrayRef<Operation *> scopes,
                              RewriterBase &rewriter) {
  SmallVector<gpu::AllReduceOp> ofBlocks;
  SmallVector<gpu::SubgroupReduceOp> ofWarps;
  bool hasFailed = false;
  for (Operation *scope : scopes)
    scope->walk([&](Operation *op) {
      if (auto reduce = dyn_cast<gpu::AllReduceOp>(op)) {
        if (getReductionObstacle(reduce, root).empty())
          ofBlocks.push_back(reduce);
      } else if (auto reduce = dyn_cast<gpu::SubgroupReduceOp>(op)) {
        hasFailed |= failed(verifyCluster(reduce));
        if (mayBeInPartialWarp(reduce))
          ofWarps.push_back(reduce);
      }
    });
  if (hasFailed)
    return failure();
  for (gpu::SubgroupReduceOp op : ofWarps)
    lowerPartial(op, rewriter);
  ReductionBuffers buffers(rewriter);
  for (gpu::AllReduceOp op : ofBlocks) {
    rewriter.setInsertionPoint(op);
    rewriter.replaceOp(op, BlockReduction(rewriter, op).emit(buffers));
  }
  return success();
}

} // namespace mlir::workgroup
