//===- KernelFunctionBuilder.cpp - Functions of groups of operations ------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelFunctionBuilder.h"
#include "Transforms/Linalg/LinalgClasses.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/RegionUtils.h"

namespace mlir::workgroup {

KernelFunctionBuilder::KernelFunctionBuilder(const KernelGroup &group)
    : group(group), ops(group.getOps()) {
  for (linalg::LinalgOp op : ops)
    collectOperands(op);
  collectResults();
}

//===----------------------------------------------------------------------===//
// What goes in and out
//===----------------------------------------------------------------------===//

/// True if the kernel makes what `op` makes for itself rather than take it as
/// an argument: it is cheap, or a part that the host would have to copy.
static bool isMadeInside(Operation *op, bool isDirect) {
  if (isa<tensor::EmptyOp, tensor::ExtractSliceOp>(op))
    return true;
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return !isa<ShapedType>(constant.getType()) ||
           isa<SplatElementsAttr>(constant.getValue());
  linalg::LinalgOp generator = getTensorOp(op);
  // What reads it in another way could not be tiled along with it.
  return isDirect && generator &&
         classify(generator) == LinalgClass::Generator &&
         isReadInTiles(generator);
}

/// Takes what `value` is made of. `isDirect` if it is an operand of linalg.
void KernelFunctionBuilder::collectOperand(Value value, bool isDirect) {
  Operation *op = value.getDefiningOp();
  if (op && group.contains(op))
    return;
  if (!op || !isMadeInside(op, isDirect)) {
    captured.insert(value);
    return;
  }
  if (cloned.contains(op))
    return;
  collectOperands(op);
  cloned.insert(op);
}

void KernelFunctionBuilder::collectOperands(Operation *op) {
  for (Value operand : op->getOperands())
    collectOperand(operand, static_cast<bool>(getTensorOp(op)));
  llvm::SetVector<Value> above;
  getUsedValuesDefinedAbove(op->getRegions(), above);
  for (Value value : above)
    collectOperand(value, /*isDirect=*/false);
}

/// The operand by which the first of the operations that make `result` one
/// after the other takes the tensor that they put it into.
OpOperand &KernelFunctionBuilder::findFirstInit(OpResult result) const {
  for (;;) {
    auto op = cast<linalg::LinalgOp>(result.getOwner());
    OpOperand &init = *op.getTiedOpOperand(result);
    linalg::LinalgOp before = getTensorOp(init.get().getDefiningOp());
    if (!before || !(group.contains(before) || cloned.contains(before)))
      return init;
    result = cast<OpResult>(init.get());
  }
}

/// The tensor that `result` is put into if this has to be an argument of its
/// own: a new one, a part of one, or one that the kernel reads besides, which
/// it could not update in place.
Value KernelFunctionBuilder::getNewDestination(OpResult result) const {
  OpOperand &init = findFirstInit(result);
  Operation *source = init.get().getDefiningOp();
  if (source && isMadeInside(source, /*isDirect=*/true))
    return init.get();
  auto isOfKernel = [&](Operation *op) {
    for (; op; op = op->getParentOp())
      if (group.contains(op) || cloned.contains(op))
        return true;
    return false;
  };
  bool isReadBesides = llvm::any_of(init.get().getUses(), [&](OpOperand &use) {
    return &use != &init && isOfKernel(use.getOwner());
  });
  return isReadBesides ? init.get() : Value();
}

void KernelFunctionBuilder::collectResults() {
  for (linalg::LinalgOp op : ops)
    for (OpResult result : op->getResults())
      if (llvm::any_of(result.getUsers(),
                       [&](Operation *user) { return !group.contains(user); }))
        destinations.push_back({result, getNewDestination(result)});
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

func::FuncOp KernelFunctionBuilder::createFunction(func::FuncOp function,
                                                   StringRef name,
                                                   ValueRange arguments) {
  OpBuilder builder(function);
  SmallVector<Type> results;
  for (const Destination &destination : destinations)
    results.push_back(destination.result.getType());
  auto type = builder.getFunctionType(TypeRange(arguments), results);
  auto kernel = func::FuncOp::create(group.getRoot().getLoc(), name, type);
  kernel.setPrivate();
  SymbolTable(function->getParentOp())
      .insert(kernel, Block::iterator(function)); // by another name if taken
  kernel.addEntryBlock();
  return kernel;
}

/// Lets what becomes `result` be put into `destination`. What initialises it is
/// made anew if others are initialised by it, too.
void KernelFunctionBuilder::setDestination(OpBuilder &builder, Value result,
                                           Value destination) {
  auto op = cast<linalg::LinalgOp>(result.getDefiningOp());
  OpOperand *init = op.getTiedOpOperand(cast<OpResult>(result));
  while (auto initialiser = init->get().getDefiningOp<linalg::LinalgOp>()) {
    auto number = cast<OpResult>(init->get()).getResultNumber();
    if (!init->get().hasOneUse()) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPoint(initialiser);
      initialiser = cast<linalg::LinalgOp>(builder.clone(*initialiser));
      init->set(initialiser->getResult(number));
    }
    init = initialiser.getTiedOpOperand(initialiser->getResult(number));
  }
  init->set(destination);
}

void KernelFunctionBuilder::fillFunction(func::FuncOp kernel) {
  Block &entry = kernel.front();
  OpBuilder builder = OpBuilder::atBlockBegin(&entry);
  mapping.map(captured.getArrayRef(),
              entry.getArguments().take_front(captured.size()));
  for (Operation *op : cloned)
    builder.clone(*op, mapping);
  for (linalg::LinalgOp op : ops)
    builder.clone(*op, mapping);
  unsigned next = captured.size();
  SmallVector<Value> results;
  for (const Destination &destination : destinations) {
    Value result = mapping.lookup(destination.result);
    results.push_back(result);
    if (destination.into)
      setDestination(builder, result, entry.getArgument(next++));
  }
  func::ReturnOp::create(builder, kernel.getLoc(), results);
}

/// Makes nothing of what is not used: of a generator with several results each
/// kernel may need one, and all blocks would write the others.
static void eraseUnusedResults(func::FuncOp kernel) {
  SmallVector<Operation *> ops;
  for (auto op : kernel.getOps<linalg::GenericOp>())
    if (op->getNumResults() > 1 &&
        llvm::any_of(op->getResults(),
                     [](OpResult result) { return result.use_empty(); }))
      ops.push_back(op);
  if (ops.empty())
    return;
  RewritePatternSet patterns(kernel.getContext());
  linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
  (void)applyOpPatternsGreedily(ops, std::move(patterns));
}

/// Erases what only destinations that were replaced needed, and arguments that
/// are not used.
static void eraseUnused(func::FuncOp kernel, SmallVector<Value> &arguments) {
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(kernel.front())))
    if (isUnused(&op))
      op.erase();
  BitVector unused(arguments.size());
  for (BlockArgument argument : kernel.getArguments())
    unused[argument.getArgNumber()] = argument.use_empty();
  if (unused.none() || failed(kernel.eraseArguments(unused)))
    return;
  for (unsigned number = arguments.size(); number-- > 0;)
    if (unused[number])
      arguments.erase(arguments.begin() + number);
}

func::FuncOp KernelFunctionBuilder::outline(func::FuncOp function,
                                            StringRef name) {
  linalg::LinalgOp root = group.getRoot();
  OpBuilder builder(root);
  SmallVector<Value> arguments = llvm::to_vector(captured);
  for (const Destination &destination : destinations)
    if (auto empty = dyn_cast_or_null<tensor::EmptyOp>(
            destination.into ? destination.into.getDefiningOp() : nullptr))
      arguments.push_back(builder.clone(*empty)->getResult(0));
    else if (destination.into)
      arguments.push_back(destination.into);
  func::FuncOp kernel = createFunction(function, name, arguments);
  fillFunction(kernel);
  eraseUnusedResults(kernel);
  eraseUnused(kernel, arguments);
  auto call = func::CallOp::create(builder, root.getLoc(), kernel, arguments);
  for (auto [destination, result] :
       llvm::zip_equal(destinations, call.getResults()))
    destination.result.replaceUsesWithIf(result, [&](OpOperand &use) {
      return !group.contains(use.getOwner());
    });
  for (linalg::LinalgOp op : llvm::reverse(ops))
    op->erase();
  return kernel;
}

} // namespace mlir::workgroup
