//===- RaiseLinalg.cpp - Linalg on buffers as linalg on tensors -----------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block is walked from its begin, with the tensor known that each buffer
// holds. An operation of linalg reads and makes such tensors, until anything
// else touches memory: then all of them are put there, and nothing is known of
// them any more. A buffer that may overlap another one is written by copies
// only: whoever fuses or bufferizes the tensors cannot see that the memory is
// the same.
//
//===----------------------------------------------------------------------===//

#include "RaiseLinalg.h"
#include "Analysis/Program/OpEffects.h"
#include "ResultPlaces.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Support/MemorySpace.h"

namespace mlir::workgroup {

/// True for a buffer of which a tensor can be made and bufferized again.
static bool isRaisable(Value operand) {
  auto type = dyn_cast<BaseMemRefType>(operand.getType());
  return !type || (isa<MemRefType>(type) && !type.getMemorySpace() &&
                   TensorType::isValidElementType(type.getElementType()));
}

/// True if all that the body of `op` does but compute is to load from buffers
/// that are not its own, and to assert.
static bool onlyLoadsInside(Operation *op) {
  auto isAllowed = [&](Operation *inner) {
    if (inner == op || isMemoryEffectFree(inner) || isa<cf::AssertOp>(inner))
      return true;
    auto load = dyn_cast<memref::LoadOp>(inner);
    return load && isRaisable(load.getMemRef()) &&
           !op->isAncestor(load.getMemRef().getParentRegion()->getParentOp());
  };
  return !op->walk([&](Operation *inner) {
              return isAllowed(inner) ? WalkResult::advance()
                                      : WalkResult::interrupt();
            }).wasInterrupted();
}

/// True for a copy that changes no element: as tensors, source and target would
/// be one, and what is written to either would go to both.
static bool isPlainCopy(Operation *op) {
  auto copy = dyn_cast<linalg::CopyOp>(op);
  return copy && copy.hasPureBufferSemantics() &&
         llvm::all_of(copy->getOperands(), isRaisable) &&
         getElementTypeOrSelf(copy.getInputs()[0]) ==
             getElementTypeOrSelf(copy.getOutputs()[0]);
}

bool isLinalgOnBuffers(Operation *op) {
  if (!isa_and_nonnull<linalg::LinalgDialect>(op->getDialect()) ||
      isInDeviceCode(op))
    return false;
  auto destination = dyn_cast<DestinationStyleOpInterface>(op);
  if (isPlainCopy(op))
    return false;
  return destination && destination.hasPureBufferSemantics() &&
         !op->getParentOfType<scf::ForallOp>() &&
         !op->getParentOfType<scf::ParallelOp>() &&
         llvm::all_of(op->getOperands(), isRaisable) && onlyLoadsInside(op);
}

namespace {

class BlockRaiser : public OpBuilder::Listener {
public:
  BlockRaiser(FunctionOpInterface function, const ArgumentAliases &aliases);

  void raise(Block &block);
  void notifyOperationInserted(Operation *op,
                               OpBuilder::InsertPoint previous) override {
    if (op->getBlock() == raised)
      segment.push_back(op);
  }

private:
  struct Content {
    Value tensor;           // null if not known
    Value inMemory;         // what the memory held before
    bool isInMemory = true; // or nobody will look for it there
  };

  Value read(Value buffer);
  Value getDestination(Operation *op, OpOperand &init);
  void raise(DestinationStyleOpInterface op);
  void raiseLoads(Operation *op);
  void store(Value buffer, Content &content);
  bool writesShared(Operation *op) const;
  bool isScratch(Value buffer) const;
  void close(Operation *op);

  OpBuilder builder;
  DenseSet<Value> overlapping; // with another buffer
  DenseSet<Value> scratch;     // seen by nothing but linalg of one block
  llvm::MapVector<Value, Content> contents;
  Block *raised = nullptr;
  /// The operations that have been made since memory was last touched by
  /// anything else.
  SmallVector<Operation *> segment;
  bool hasSegments = false;
};

} // namespace

/// True if `op`, which is not raised, may do more to memory than allocate it.
static bool touchesMemory(Operation *op) {
  return hasOtherEffects<MemoryEffects::Allocate>(op);
}

/// True if `op` writes to a buffer that overlaps another one.
bool BlockRaiser::writesShared(Operation *op) const {
  return llvm::any_of(cast<DestinationStyleOpInterface>(op).getDpsInits(),
                      [&](Value init) { return overlapping.contains(init); });
}

/// True if nothing but linalg sees the memory of `buffer`, and nothing else
/// touches memory between.
bool BlockRaiser::isScratch(Value buffer) const {
  Operation *allocation = buffer.getDefiningOp<memref::AllocOp>();
  if (!allocation)
    return false;
  Operation *last = allocation;
  for (Operation *user : buffer.getUsers()) {
    if (user->getBlock() != allocation->getBlock() ||
        !(isLinalgOnBuffers(user) ||
          isa<memref::DeallocOp, memref::DimOp>(user)))
      return false;
    if (isLinalgOnBuffers(user) && last->isBeforeInBlock(user))
      last = user;
  }
  for (Operation *op = allocation; op != last; op = op->getNextNode())
    if (isLinalgOnBuffers(op) ? writesShared(op) : touchesMemory(op))
      return false;
  return true;
}

BlockRaiser::BlockRaiser(FunctionOpInterface function,
                         const ArgumentAliases &aliases)
    : builder(function->getContext(), this) {
  llvm::SetVector<Value> buffers;
  function.walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (isa<BaseMemRefType>(operand.getType()))
        buffers.insert(operand);
  });
  for (Value buffer : buffers)
    if (llvm::any_of(buffers, [&](Value other) {
          return other != buffer && aliases.mayAlias(buffer, other);
        }))
      overlapping.insert(buffer);
  for (Value buffer : buffers)
    if (!overlapping.contains(buffer) && isScratch(buffer))
      scratch.insert(buffer);
}

/// The tensor that `buffer` holds here.
Value BlockRaiser::read(Value buffer) {
  Content &content = contents[buffer];
  if (!content.tensor)
    content.tensor = content.inMemory = bufferization::ToTensorOp::create(
        builder, buffer.getLoc(),
        memref::getTensorTypeFromMemRefType(buffer.getType()), buffer,
        /*restrict=*/true, /*writable=*/!overlapping.contains(buffer));
  return content.tensor;
}

/// The tensor that `op` gets to write `init` into.
Value BlockRaiser::getDestination(Operation *op, OpOperand &init) {
  Value buffer = init.get();
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  bool isRead = !linalgOp || linalgOp.payloadUsesValueFromOperand(&init) ||
                !isWrittenWhole(linalgOp, init);
  bool isOverlapping = overlapping.contains(buffer);
  if (isRead && !isOverlapping)
    return read(buffer);
  if (!isOverlapping && !scratch.contains(buffer)) {
    read(buffer);
    return contents[buffer].inMemory;
  }
  Location loc = op->getLoc();
  auto type = cast<RankedTensorType>(
      memref::getTensorTypeFromMemRefType(buffer.getType()));
  if (isRead)
    return bufferization::AllocTensorOp::create(builder, loc, type,
                                                ValueRange(), read(buffer));
  SmallVector<Value> sizes;
  for (auto [dim, size] : llvm::enumerate(type.getShape()))
    if (ShapedType::isDynamic(size))
      sizes.push_back(memref::DimOp::create(builder, loc, buffer, dim));
  if (isOverlapping)
    return bufferization::AllocTensorOp::create(builder, loc, type, sizes);
  return tensor::EmptyOp::create(builder, loc, type, sizes);
}

/// Lets the body of `op` read tensors.
void BlockRaiser::raiseLoads(Operation *op) {
  SmallVector<memref::LoadOp> loads;
  op->walk([&](memref::LoadOp load) { loads.push_back(load); });
  for (memref::LoadOp load : loads) {
    builder.setInsertionPoint(op);
    Value tensor = read(load.getMemRef());
    builder.setInsertionPoint(load);
    auto extract = tensor::ExtractOp::create(builder, load.getLoc(), tensor,
                                             load.getIndices());
    load.replaceAllUsesWith(extract.getResult());
    load.erase();
  }
}

void BlockRaiser::raise(DestinationStyleOpInterface op) {
  raiseLoads(op);
  builder.setInsertionPoint(op);
  SmallVector<Value> operands;
  SmallVector<Type> results;
  for (OpOperand &operand : op->getOpOperands()) {
    Value value = operand.get();
    if (isa<MemRefType>(value.getType()))
      value =
          op.isDpsInit(&operand) ? getDestination(op, operand) : read(value);
    operands.push_back(value);
    if (op.isDpsInit(&operand))
      results.push_back(value.getType());
  }
  Operation *onTensors = clone(builder, op, results, operands);
  for (auto [init, result] :
       llvm::zip_equal(op.getDpsInits(), onTensors->getResults())) {
    Content &content = contents[init];
    content.tensor = result;
    content.isInMemory = scratch.contains(init);
  }
  bool isShared = writesShared(op);
  Operation *next = op->getNextNode();
  op->erase();
  if (isShared)
    close(next);
}

/// Puts into memory what `buffer` holds.
void BlockRaiser::store(Value buffer, Content &content) {
  if (content.isInMemory)
    return;
  Location loc = content.tensor.getLoc();
  // Whoever makes the tensor sees where it ends up.
  if (!overlapping.contains(buffer))
    content.tensor = bufferization::MaterializeInDestinationOp::create(
                         builder, loc, content.tensor.getType(), content.tensor,
                         content.inMemory)
                         .getResult();
  auto put = bufferization::MaterializeInDestinationOp::create(
      builder, loc, /*result=*/Type(), content.tensor, buffer);
  // Nothing is computed in memory that others of the block read by another
  // name.
  put.setRestrict(!overlapping.contains(buffer));
  put.setWritable(true);
  content.inMemory = content.tensor;
  content.isInMemory = true;
}

/// Puts all results into memory before `op`, and forgets what memory holds. The
/// operations made up to here get a region of their own, so that nobody moves
/// them past `op`, or takes equal operations before and behind it for one:
/// tensors do not show that memory is between them.
void BlockRaiser::close(Operation *op) {
  builder.setInsertionPoint(op);
  for (auto &[buffer, content] : contents)
    store(buffer, content);
  contents.clear();
  bool isOnlyOne = op == raised->getTerminator() && !hasSegments;
  hasSegments = true;
  if (segment.empty() || isOnlyOne)
    return segment.clear();
  SmallVector<Operation *> ops = std::move(segment);
  segment.clear();
  auto region = scf::ExecuteRegionOp::create(builder, op->getLoc(), TypeRange(),
                                             /*no_inline=*/true);
  segment.clear();
  Block *body = &region.getRegion().emplaceBlock();
  for (Operation *inner : ops)
    inner->moveBefore(body, body->end());
  OpBuilder inside = OpBuilder::atBlockEnd(body);
  scf::YieldOp::create(inside, op->getLoc());
}

void BlockRaiser::raise(Block &block) {
  contents.clear();
  raised = &block;
  hasSegments = false;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (isLinalgOnBuffers(&op))
      raise(cast<DestinationStyleOpInterface>(&op));
    else if (&op == block.getTerminator() || touchesMemory(&op))
      close(&op);
  }
}

/// Turns copies of the host that are linalg into ones that are not.
static void replaceCopies(FunctionOpInterface function) {
  SmallVector<linalg::CopyOp> copies;
  function.walk([&](linalg::CopyOp op) {
    if (isPlainCopy(op) && !isInDeviceCode(op) &&
        !op->getParentOfType<scf::ForallOp>() &&
        !op->getParentOfType<scf::ParallelOp>())
      copies.push_back(op);
  });
  for (linalg::CopyOp op : copies) {
    OpBuilder builder(op);
    memref::CopyOp::create(builder, op.getLoc(), op.getInputs()[0],
                           op.getOutputs()[0]);
    op.erase();
  }
}

void raiseLinalg(FunctionOpInterface function, const ArgumentAliases &aliases) {
  replaceCopies(function);
  SmallVector<Block *> blocks;
  function.walk([&](Block *block) {
    if (llvm::any_of(*block,
                     [](Operation &op) { return isLinalgOnBuffers(&op); }))
      blocks.push_back(block);
  });
  if (blocks.empty())
    return;
  BlockRaiser raiser(function, aliases);
  for (Block *block : blocks)
    raiser.raise(*block);
}

} // namespace mlir::workgroup
