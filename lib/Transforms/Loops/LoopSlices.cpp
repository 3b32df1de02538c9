//===- LoopSlices.cpp - What iterations of loops use of a buffer ----------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopSlices.h"
#include "mlir/Analysis/FlatLinearValueConstraints.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::workgroup {

LoopNest getNestInBlock(Operation *op) {
  LoopNest nest;
  Operation *scope = getExecutionScope(op);
  for (Operation *parent = op->getParentOp(); parent && parent != scope;
       parent = parent->getParentOp()) {
    std::optional<ParallelLoop> loop = ParallelLoop::getMapped(parent);
    if (loop && !loop->goesTo(ProcessorLevel::Blocks))
      nest.insert(nest.begin(), std::move(*loop));
  }
  return nest;
}

//===----------------------------------------------------------------------===//
// Terms
//===----------------------------------------------------------------------===//

/// The number of `value` among the induction variables of `nest`, with the
/// range that it goes through.
static std::optional<std::pair<unsigned, LoopRange>>
findVariable(Value value, const LoopNest &nest) {
  unsigned number = 0;
  for (const ParallelLoop &loop : nest) {
    auto variables = cast<LoopLikeOpInterface>(loop.op).getLoopInductionVars();
    for (auto [variable, range] : llvm::zip_equal(*variables, loop.ranges)) {
      if (variable == value)
        return std::pair(number, range);
      ++number;
    }
  }
  return std::nullopt;
}

static bool isInside(Value value, const LoopNest &nest) {
  return !nest.empty() &&
         nest.front().op->isAncestor(value.getParentRegion()->getParentOp());
}

/// An operand of an affine function: a variable as its number of iteration, or
/// a symbol.
std::optional<AffineExpr>
SliceReader::getOperand(Value value, const LoopNest &nest, std::string &why) {
  MLIRContext *context = value.getContext();
  if (auto variable = findVariable(value, nest)) {
    auto lower = getConstantIntValue(variable->second.lower);
    auto step = getConstantIntValue(variable->second.step);
    AffineExpr number = getAffineDimExpr(variable->first, context);
    if (lower && step)
      return number * *step + *lower;
    why = "its loop does not begin, or step, by constants";
    return std::nullopt;
  }
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return getAffineConstantExpr(*constant, context);
  if (isInside(value, nest)) {
    Operation *op = value.getDefiningOp();
    why = llvm::formatv("where its slice is follows from {0}",
                        op ? op->getName().getStringRef()
                           : StringRef("another loop"))
              .str();
    return std::nullopt;
  }
  auto *found = llvm::find(symbols, value);
  if (found == symbols.end()) {
    symbols.push_back(value);
    found = symbols.end() - 1;
  }
  return getAffineSymbolExpr(found - symbols.begin(), context);
}

std::optional<SliceTerm> SliceReader::getTerm(OpFoldResult index,
                                              const LoopNest &nest,
                                              std::string &why) {
  auto value = dyn_cast<Value>(index);
  if (!value) {
    auto number = cast<IntegerAttr>(cast<Attribute>(index));
    return SliceTerm{
        getAffineConstantExpr(number.getInt(), number.getContext())};
  }
  AffineMap map = AffineMap::getMultiDimIdentityMap(1, value.getContext());
  SmallVector<Value> operands = {value};
  if (auto least = value.getDefiningOp<affine::AffineMinOp>()) {
    map = least.getAffineMap();
    operands = llvm::to_vector(least.getOperands());
  }
  affine::fullyComposeAffineMapAndOperands(&map, &operands);
  SmallVector<AffineExpr> dims, ofSymbols;
  for (auto [i, operand] : llvm::enumerate(operands)) {
    std::optional<AffineExpr> expr = getOperand(operand, nest, why);
    if (!expr)
      return std::nullopt;
    (i < map.getNumDims() ? dims : ofSymbols).push_back(*expr);
  }
  SliceTerm term;
  unsigned numDims = 0;
  for (const ParallelLoop &loop : nest)
    numDims += loop.ranges.size();
  for (AffineExpr result : map.getResults())
    term.push_back(
        simplifyAffineExpr(result.replaceDimsAndSymbols(dims, ofSymbols),
                           numDims, symbols.size()));
  return term;
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

/// Moves `slice`, inwards from which everything is known, by what `op` takes.
bool SliceReader::addSlice(ProcessorSlice &slice, Operation *op,
                           const LoopNest &nest, std::string &why) {
  auto part = cast<OffsetSizeAndStrideOpInterface>(op);
  if (!areAllConstantIntValue(part.getMixedStrides(), 1)) {
    why = "its slice takes steps";
    return false;
  }
  bool isFirst = slice.offsets.empty();
  for (auto [i, offset] : llvm::enumerate(part.getMixedOffsets())) {
    std::optional<SliceTerm> term = getTerm(offset, nest, why);
    if (!term)
      return false;
    if (isFirst) {
      slice.offsets.push_back(*term);
      continue;
    }
    if (i >= slice.offsets.size() || term->size() != 1 ||
        slice.offsets[i].size() != 1) {
      why = "its slice is put together from several in no plain way";
      return false;
    }
    slice.offsets[i] = {term->front() + slice.offsets[i].front()};
  }
  if (!isFirst)
    return true;
  for (OpFoldResult size : part.getMixedSizes()) {
    std::optional<SliceTerm> term = getTerm(size, nest, why);
    if (!term)
      return false;
    slice.sizes.push_back(*term);
  }
  return true;
}

/// All of `whole` as a slice.
static void setWhole(ProcessorSlice &slice) {
  auto type = cast<ShapedType>(slice.whole.getType());
  MLIRContext *context = slice.whole.getContext();
  for (int64_t extent : type.getShape()) {
    slice.offsets.push_back({getAffineConstantExpr(0, context)});
    slice.sizes.push_back({getAffineConstantExpr(extent, context)});
  }
}

/// What `value`, in a nest, is made of as the same memory: the operand that an
/// operation in destination style writes, what a loop starts from.
static Value getStart(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop =
        dyn_cast<LoopLikeOpInterface>(argument.getOwner()->getParentOp());
    OpOperand *init = loop ? loop.getTiedLoopInit(argument) : nullptr;
    return init ? init->get() : Value();
  }
  Operation *op = value.getDefiningOp();
  if (isa<memref::CastOp, tensor::CastOp>(op))
    return op->getOperand(0);
  auto result = cast<OpResult>(value);
  if (auto style = dyn_cast<DestinationStyleOpInterface>(op))
    return style.getTiedOpOperand(result)->get();
  if (auto loop = dyn_cast<LoopLikeOpInterface>(op))
    if (OpOperand *init = loop.getTiedLoopInit(result))
      return init->get();
  return {};
}

std::optional<ProcessorSlice>
SliceReader::read(Value view, const LoopNest &nest, std::string &why) {
  ProcessorSlice slice;
  while (isInside(view, nest)) {
    Operation *op = view.getDefiningOp();
    if (isa_and_nonnull<memref::SubViewOp, tensor::ExtractSliceOp>(op)) {
      Value source = op->getOperand(0);
      if (cast<ShapedType>(source.getType()).getRank() !=
          cast<ShapedType>(view.getType()).getRank()) {
        why = "its slice has other dimensions than what it is of";
        return std::nullopt;
      }
      if (!addSlice(slice, op, nest, why))
        return std::nullopt;
      view = source;
      continue;
    }
    view = getStart(view);
    if (!view) {
      why = llvm::formatv("what it uses comes from {0}",
                          op ? op->getName().getStringRef()
                             : StringRef("the argument of a region"))
                .str();
      return std::nullopt;
    }
  }
  slice.whole = view;
  if (slice.offsets.empty())
    setWhole(slice);
  return slice;
}

std::optional<ProcessorSlice> SliceReader::read(Operation *op, Value whole,
                                                const LoopNest &nest,
                                                std::string &why) {
  ProcessorSlice slice{whole};
  if (!addSlice(slice, op, nest, why))
    return std::nullopt;
  return slice;
}

//===----------------------------------------------------------------------===//
// Partitions
//===----------------------------------------------------------------------===//

/// A loop variable in an offset: it goes `count` times by `stride`.
struct VariableStride {
  int64_t stride, count;
};

/// Finds the variables in `offset`, which `counts` go through. False if it is
/// not a sum of multiples of them.
static bool getStrides(AffineExpr offset, ArrayRef<int64_t> counts,
                       SmallVectorImpl<VariableStride> &strides,
                       llvm::SmallBitVector &used) {
  SmallVector<int64_t> flat;
  bool hasSymbol = false;
  offset.walk(
      [&](AffineExpr expr) { hasSymbol |= isa<AffineSymbolExpr>(expr); });
  if (hasSymbol ||
      failed(getFlattenedAffineExpr(offset, counts.size(), 0, &flat)) ||
      flat.size() != counts.size() + 1 || flat.back() != 0)
    return false;
  for (auto [i, count] : llvm::enumerate(counts)) {
    if (flat[i] == 0 || count == 1)
      continue;
    // A variable in two dimensions goes along a diagonal.
    if (used.test(i) || flat[i] < 0)
      return false;
    used.set(i);
    strides.push_back({flat[i], count});
  }
  return true;
}

bool isPartition(const ProcessorSlice &slice, const LoopNest &nest) {
  SmallVector<int64_t> counts;
  for (const ParallelLoop &loop : nest)
    for (const LoopRange &range : loop.ranges) {
      std::optional<int64_t> count = getNumIterations(range);
      if (!count || *count < 1)
        return false;
      counts.push_back(*count);
    }
  auto type = cast<ShapedType>(slice.whole.getType());
  llvm::SmallBitVector used(counts.size());
  for (auto [offset, size, extent] :
       llvm::zip_equal(slice.offsets, slice.sizes, type.getShape())) {
    SmallVector<VariableStride> strides;
    auto length = size.size() == 1 ? dyn_cast<AffineConstantExpr>(size.front())
                                   : AffineConstantExpr();
    if (!length || offset.size() != 1 ||
        !getStrides(offset.front(), counts, strides, used))
      return false;
    llvm::sort(strides,
               [](auto &lhs, auto &rhs) { return lhs.stride < rhs.stride; });
    int64_t covered = length.getValue();
    for (const VariableStride &variable : strides) {
      if (variable.stride != covered)
        return false;
      covered *= variable.count;
    }
    if (covered != extent)
      return false;
  }
  // Iterations that nothing tells apart would share their slice.
  return llvm::all_of(llvm::enumerate(counts), [&](auto item) {
    return item.value() == 1 || used.test(item.index());
  });
}

} // namespace mlir::workgroup
