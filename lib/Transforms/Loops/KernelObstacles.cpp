//===- KernelObstacles.cpp - What no kernel can do of a loop --------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block keeps what its operations make for each other in workgroup memory, of
// which there has to be enough, and a thread what it allocates on its stack.
// Sizes are upper bounds; a tensor that is part of what the loop makes takes no
// memory.
//
//===----------------------------------------------------------------------===//

#include "HostLoops.h"
#include "Transforms/Utils/BufferTypes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::workgroup {

/// Bytes that every chip has for a block, and what a stack should not exceed.
static constexpr int64_t kMaxBlockBytes = 48 << 10, kMaxThreadBytes = 1 << 10;
/// As many ids of blocks has a loop over blocks.
static constexpr unsigned kMaxLoopDims = 10;

namespace {

class ObstacleFinder {
public:
  explicit ObstacleFinder(Operation *loop) : loop(loop) {}

  std::string find();

private:
  std::string findInLoop() const;
  std::string findInValue(Value value) const;
  std::string findInOp(Operation *op);
  std::string addBytes(Operation *op);
  bool isOfThread(Operation *op) const;
  bool isInPlace(Value tensor) const;

  Operation *loop;
  int64_t blockBytes = 0, threadBytes = 0;
};

} // namespace

static bool isKnownDialect(Operation *op) {
  return isa_and_nonnull<arith::ArithDialect, math::MathDialect,
                         affine::AffineDialect, scf::SCFDialect,
                         memref::MemRefDialect, tensor::TensorDialect,
                         linalg::LinalgDialect, vector::VectorDialect>(
      op->getDialect());
}

static std::string nameOf(Operation *op) {
  return ("'" + op->getName().getStringRef() + "' op").str();
}

/// True for what a kernel takes as an argument.
static bool isKernelArgument(Type type) {
  if (auto memref = dyn_cast<MemRefType>(type))
    return !memref.getMemorySpace();
  return isa<RankedTensorType>(type) || type.isIndex() ||
         (type.isIntOrFloat() && type.getIntOrFloatBitWidth() <= 64);
}

static std::optional<int64_t> getMaxExtent(Value tensor, int64_t dim) {
  FailureOr<int64_t> bound = ValueBoundsConstraintSet::computeConstantBound(
      presburger::BoundType::UB, {tensor, dim}, /*stopCondition=*/nullptr,
      /*closedUB=*/true);
  return succeeded(bound) ? std::optional(*bound) : std::nullopt;
}

/// Bytes of a tensor, or of an allocation, at most; nothing if that is not
/// known.
static std::optional<int64_t> getMaxBytes(Operation *op, OpResult result) {
  auto type = cast<ShapedType>(result.getType());
  Type element = type.getElementType();
  if (!type.hasRank() || !element.isIntOrIndexOrFloat())
    return std::nullopt;
  SmallVector<Value> sizes;
  if (isa<memref::AllocOp, memref::AllocaOp>(op))
    sizes.assign(op->operand_begin(),
                 op->operand_begin() + type.getNumDynamicDims());
  int64_t bytes = element.isIndex()
                      ? 8
                      : llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  auto next = sizes.begin();
  for (auto [dim, extent] : llvm::enumerate(type.getShape())) {
    std::optional<int64_t> bound = extent;
    if (ShapedType::isDynamic(extent))
      bound = sizes.empty() ? getMaxExtent(result, dim)
                            : getUpperBound(OpFoldResult(*next++));
    if (!bound || llvm::MulOverflow(bytes, std::max<int64_t>(*bound, 0), bytes))
      return std::nullopt;
  }
  return bytes;
}

/// True if `tensor` is a part of what the loop makes, or has been.
bool ObstacleFinder::isInPlace(Value tensor) const {
  for (;;) {
    if (auto argument = dyn_cast<BlockArgument>(tensor)) {
      Operation *owner = argument.getOwner()->getParentOp();
      if (owner == loop)
        return true;
      auto around = dyn_cast<LoopLikeOpInterface>(owner);
      OpOperand *init = around ? around.getTiedLoopInit(argument) : nullptr;
      if (!init)
        return false;
      tensor = init->get();
      continue;
    }
    Operation *op = tensor.getDefiningOp();
    if (auto destination = dyn_cast<DestinationStyleOpInterface>(op))
      tensor = destination.getTiedOpOperand(cast<OpResult>(tensor))->get();
    else if (isa<tensor::ExtractSliceOp, tensor::CastOp, tensor::ExpandShapeOp,
                 tensor::CollapseShapeOp>(op))
      tensor = op->getOperand(0);
    else
      return false;
  }
}

/// True if a thread executes `op` by itself.
bool ObstacleFinder::isOfThread(Operation *op) const {
  if (isWorkOfThreads(loop))
    return true;
  for (Operation *around = op->getParentOp(); around != loop;
       around = around->getParentOp())
    if (isUnmappedLoop(around) && !hasStructuredWork(around))
      return true;
  return false;
}

/// Counts what memory `op` takes.
std::string ObstacleFinder::addBytes(Operation *op) {
  bool isView = isa<tensor::ExtractSliceOp, tensor::CastOp, tensor::EmptyOp,
                    tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op) ||
                isa<LoopLikeOpInterface>(op);
  bool isAlloc = isa<memref::AllocOp, memref::AllocaOp>(op);
  for (OpResult result : op->getResults()) {
    bool isTensor = isa<TensorType>(result.getType());
    if (!isAlloc && (!isTensor || isView || isInPlace(result)))
      continue;
    bool isStack = isOfThread(op);
    std::optional<int64_t> bytes = getMaxBytes(op, result);
    int64_t &total = isStack ? threadBytes : blockBytes;
    int64_t most = isStack ? kMaxThreadBytes : kMaxBlockBytes;
    bool isFixed =
        !isStack || cast<ShapedType>(result.getType()).hasStaticShape();
    if (!bytes || !isFixed)
      return nameOf(op) +
             " makes memory of a size that is not known to be small";
    total += *bytes;
    if (total > most)
      return "its iterations need more memory than " +
             std::string(isStack ? "a thread" : "a block") + " has";
  }
  return "";
}

std::string ObstacleFinder::findInOp(Operation *op) {
  if (isa<CallOpInterface>(op))
    return nameOf(op) + " calls a function";
  if (!isKnownDialect(op) ||
      isa<memref::ReallocOp, memref::AllocaScopeOp, vector::PrintOp>(op))
    return nameOf(op) + " is not done by kernels of such loops";
  if (isParallelLoop(op) && !isUnmappedLoop(op))
    return nameOf(op) + " is mapped to processors, and the loop around it not";
  if (isParallelLoop(op) && getNumDims(op) == 0)
    return nameOf(op) + " has no dimension";
  bool isOnBuffers =
      llvm::any_of(op->getOperandTypes(), llvm::IsaPred<BaseMemRefType>);
  if (isa<linalg::LinalgDialect>(op->getDialect()) && isOnBuffers &&
      !isa<linalg::LinalgOp>(op))
    return nameOf(op) + " on buffers stands for several operations";
  if (isa<memref::AllocOp, memref::AllocaOp>(op))
    for (Operation *user : op->getUsers())
      if (user->hasTrait<OpTrait::IsTerminator>() ||
          isa<RegionBranchOpInterface>(user))
        return nameOf(op) + " makes memory that is handed on";
  return addBytes(op);
}

std::string ObstacleFinder::findInLoop() const {
  unsigned rank = getNumDims(loop);
  if (rank == 0 || rank > kMaxLoopDims)
    return "it has " + std::to_string(rank) + " dimensions";
  if (isa<scf::ParallelOp>(loop) && loop->getNumResults())
    return "its iterations reduce results";
  return "";
}

std::string ObstacleFinder::findInValue(Value value) const {
  if (isKernelArgument(value.getType()))
    return "";
  std::string text = "it uses a value of type ";
  llvm::raw_string_ostream(text) << value.getType();
  return text;
}

std::string ObstacleFinder::find() {
  if (std::string obstacle = findInLoop(); !obstacle.empty())
    return obstacle;
  llvm::SetVector<Value> used;
  getUsedValuesDefinedAbove(loop->getRegions(), used);
  for (Value value : used)
    if (std::string obstacle = findInValue(value); !obstacle.empty())
      return obstacle;
  std::string obstacle;
  loop->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == loop)
      return WalkResult::advance();
    obstacle = findInOp(op);
    return obstacle.empty() ? WalkResult::advance() : WalkResult::interrupt();
  });
  return obstacle;
}

std::string getKernelObstacle(Operation *loop) {
  return ObstacleFinder(loop).find();
}

} // namespace mlir::workgroup
