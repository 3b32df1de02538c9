//===- RaiseLinalg.cpp - Linalg on buffers as linalg on tensors -----------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block is walked from its begin, with the tensor known that each buffer
// holds. An operation of linalg reads and makes such tensors. Anything else
// that may read a buffer needs it in memory, and what it may write is no longer
// known. A buffer that may overlap another one is written by copies only:
// whoever fuses or bufferizes the tensors cannot see that the memory is the
// same.
//
//===----------------------------------------------------------------------===//

#include "RaiseLinalg.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Support/MemorySpace.h"

namespace mlir::workgroup {

/// True for a buffer of which a tensor can be made and bufferized again.
static bool isRaisable(Value operand) {
  auto type = dyn_cast<BaseMemRefType>(operand.getType());
  return !type || (isa<MemRefType>(type) && !type.getMemorySpace() &&
                   TensorType::isValidElementType(type.getElementType()));
}

/// True if all that the body of `op` does to memory is to load from buffers
/// that are not its own.
static bool onlyLoadsInside(Operation *op) {
  auto isAllowed = [&](Operation *inner) {
    if (inner == op || isMemoryEffectFree(inner))
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

bool isLinalgOnBuffers(Operation *op) {
  if (!isa_and_nonnull<linalg::LinalgDialect>(op->getDialect()) ||
      isInDeviceCode(op))
    return false;
  auto destination = dyn_cast<DestinationStyleOpInterface>(op);
  return destination && destination.hasPureBufferSemantics() &&
         !op->getParentOfType<scf::ForallOp>() &&
         !op->getParentOfType<scf::ParallelOp>() &&
         llvm::all_of(op->getOperands(), isRaisable) && onlyLoadsInside(op);
}

namespace {

class BlockRaiser {
public:
  BlockRaiser(FunctionOpInterface function, const ArgumentAliases &aliases);

  void raise(Block &block);

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
  void pass(Operation *op);
  void storeBefore(Operation *op, Value buffer = {});
  void forget(Value buffer = {});

  const ArgumentAliases &aliases;
  OpBuilder builder;
  DenseSet<Value> overlapping; // with another buffer
  DenseSet<Value> scratch;     // seen by nothing but linalg of one block
  llvm::MapVector<Value, Content> contents;
};

} // namespace

static bool isScratch(Value buffer) {
  Operation *allocation = buffer.getDefiningOp<memref::AllocOp>();
  return allocation && llvm::all_of(buffer.getUsers(), [&](Operation *user) {
           return user->getBlock() == allocation->getBlock() &&
                  (isLinalgOnBuffers(user) ||
                   isa<memref::DeallocOp, memref::DimOp>(user));
         });
}

BlockRaiser::BlockRaiser(FunctionOpInterface function,
                         const ArgumentAliases &aliases)
    : aliases(aliases), builder(function) {
  llvm::SetVector<Value> buffers;
  function.walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (isa<BaseMemRefType>(operand.getType()))
        buffers.insert(operand);
  });
  for (Value buffer : buffers) {
    if (llvm::any_of(buffers, [&](Value other) {
          return other != buffer && aliases.mayAlias(buffer, other);
        }))
      overlapping.insert(buffer);
    else if (isScratch(buffer))
      scratch.insert(buffer);
  }
}

/// What `buffer` holds here.
Value BlockRaiser::read(Value buffer) {
  Content &content = contents[buffer];
  if (!content.tensor)
    content.tensor = content.inMemory = bufferization::ToTensorOp::create(
        builder, buffer.getLoc(),
        memref::getTensorTypeFromMemRefType(buffer.getType()), buffer,
        /*restrict=*/true, /*writable=*/!overlapping.contains(buffer));
  return content.tensor;
}

/// What `op` gets to write `init` into.
Value BlockRaiser::getDestination(Operation *op, OpOperand &init) {
  Value buffer = init.get();
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  bool isRead = !linalgOp || linalgOp.payloadUsesValueFromOperand(&init);
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
    if (overlapping.contains(init))
      forget(init);
    Content &content = contents[init];
    content.tensor = result;
    content.isInMemory = scratch.contains(init);
    if (overlapping.contains(init))
      store(init, content);
  }
  op->erase();
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
  put.setRestrict(true);
  put.setWritable(true);
  content.inMemory = content.tensor;
  content.isInMemory = true;
}

void BlockRaiser::storeBefore(Operation *op, Value buffer) {
  builder.setInsertionPoint(op);
  for (auto &[other, content] : contents)
    if (!buffer || other == buffer || aliases.mayAlias(buffer, other))
      store(other, content);
}

void BlockRaiser::forget(Value buffer) {
  for (auto &[other, content] : contents)
    if (!buffer || other == buffer || aliases.mayAlias(buffer, other))
      content = Content();
}

/// Goes over an operation that is not raised.
void BlockRaiser::pass(Operation *op) {
  if (isMemoryEffectFree(op) && !op->hasTrait<OpTrait::IsTerminator>())
    return;
  auto interface = dyn_cast<MemoryEffectOpInterface>(op);
  if (!interface || op->getNumRegions()) {
    storeBefore(op);
    return forget();
  }
  SmallVector<MemoryEffects::EffectInstance> effects;
  interface.getEffects(effects);
  for (const MemoryEffects::EffectInstance &effect : effects) {
    bool isOnBuffer =
        effect.getValue() && isa<MemRefType>(effect.getValue().getType());
    Value buffer = isOnBuffer ? effect.getValue() : Value();
    if (isa<MemoryEffects::Allocate>(effect.getEffect()))
      continue;
    storeBefore(op, buffer);
    if (!isa<MemoryEffects::Read>(effect.getEffect()))
      forget(buffer);
  }
}

void BlockRaiser::raise(Block &block) {
  contents.clear();
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (isLinalgOnBuffers(&op))
      raise(cast<DestinationStyleOpInterface>(&op));
    else if (block.mightHaveTerminator() && &op == block.getTerminator())
      storeBefore(&op);
    else
      pass(&op);
  }
}

void raiseLinalg(FunctionOpInterface function, const ArgumentAliases &aliases) {
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
