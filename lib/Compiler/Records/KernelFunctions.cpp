//===- KernelFunctions.cpp - What becomes kernels, as data ----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelFunctions.h"
#include "Records.h"
#include "Transforms/Kernels/ChainLimits.h"
#include "Transforms/Kernels/Combiners.h"
#include "Transforms/Kernels/LoopKernels.h"
#include "Transforms/Kernels/SplitReduction.h"
#include "Transforms/Loops/HostLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::workgroup {

static unsigned countBits(Type type) {
  constexpr unsigned kIndexBits = 64;
  return type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : kIndexBits;
}

static std::vector<std::optional<int64_t>> getIfKnown(ArrayRef<int64_t> sizes) {
  std::vector<std::optional<int64_t>> known;
  for (int64_t size : sizes)
    known.push_back(ShapedType::isDynamic(size) ? std::nullopt
                                                : std::optional(size));
  return known;
}

static KernelOperandRecord describeOperand(linalg::LinalgOp op,
                                           OpOperand &operand) {
  Type element = getElementTypeOrSelf(operand.get());
  KernelOperandRecord record;
  llvm::raw_string_ostream(record.elementType) << element;
  record.bits = countBits(element);
  record.shape = getIfKnown(op.getShape(&operand));
  for (AffineExpr index : op.getMatchingIndexingMap(&operand).getResults()) {
    auto loop = dyn_cast<AffineDimExpr>(index);
    record.loops.push_back(loop ? std::optional(loop.getPosition())
                                : std::nullopt);
  }
  return record;
}

static std::vector<unsigned> toVector(ArrayRef<unsigned> loops) {
  return std::vector<unsigned>(loops.begin(), loops.end());
}

/// True if the body of `op` sums up products.
static bool sumsProducts(linalg::LinalgOp op) {
  return linalg::detail::isContractionBody(
      *op.getBlock(), [](Operation *product, Operation *sum) {
        return (isa<arith::MulFOp>(product) && isa<arith::AddFOp>(sum)) ||
               (isa<arith::MulIOp>(product) && isa<arith::AddIOp>(sum));
      });
}

/// The parallel loops that the image goes along in strides, with a window of
/// one tap, which is no loop any more: `inferConvolutionDims` has them nowhere.
static SmallVector<unsigned, 2> findStridedLoops(linalg::LinalgOp op) {
  SmallVector<unsigned, 2> loops;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  for (AffineExpr index : maps.front().getResults()) {
    auto product = dyn_cast<AffineBinaryOpExpr>(index);
    if (!product || product.getKind() != AffineExprKind::Mul)
      continue;
    auto loop = dyn_cast<AffineDimExpr>(product.getLHS());
    if (loop && !maps[1].isFunctionOfDim(loop.getPosition()) &&
        op.getIteratorTypesArray()[loop.getPosition()] ==
            utils::IteratorType::parallel)
      loops.push_back(loop.getPosition());
  }
  return loops;
}

/// The loops of a convolution as those of a contraction: pixels are its rows,
/// features its columns.
static std::optional<ContractionRecord>
describeConvolution(linalg::LinalgOp op) {
  FailureOr<linalg::ConvolutionDimensions> dims =
      linalg::inferConvolutionDims(op);
  if (failed(dims) || !sumsProducts(op))
    return std::nullopt;
  SmallVector<unsigned, 2> pixels = llvm::to_vector<2>(dims->outputImage);
  llvm::append_range(pixels, findStridedLoops(op));
  auto join = [](ArrayRef<unsigned> first, ArrayRef<unsigned> second) {
    std::vector<unsigned> loops = toVector(first);
    llvm::append_range(loops, second);
    llvm::sort(loops);
    return loops;
  };
  return ContractionRecord{toVector(dims->depth), join(dims->batch, pixels),
                           toVector(dims->outputChannel),
                           join(dims->filterLoop, dims->inputChannel)};
}

static std::optional<ContractionRecord>
describeContraction(linalg::LinalgOp op) {
  if (classify(op) == LinalgClass::Window)
    return describeConvolution(op);
  FailureOr<linalg::ContractionDimensions> dims =
      linalg::inferContractionDims(op);
  if (classify(op) != LinalgClass::Contraction || failed(dims))
    return std::nullopt;
  return ContractionRecord{toVector(dims->batch), toVector(dims->m),
                           toVector(dims->n), toVector(dims->k)};
}

/// What is known of `op` wherever it stands.
static KernelOpRecord describeAlone(linalg::LinalgOp op) {
  KernelOpRecord record;
  record.kind = getClassName(classify(op)).str();
  record.location = getSourceLocation(op.getLoc());
  for (utils::IteratorType kind : op.getIteratorTypesArray())
    record.isParallel.push_back(kind == utils::IteratorType::parallel);
  record.extents = getIfKnown(op.getStaticLoopRanges());
  record.rows.resize(op.getNumLoops());
  for (OpOperand *input : op.getDpsInputOperands())
    record.inputs.push_back(describeOperand(op, *input));
  for (OpOperand &init : op.getDpsInitsMutable())
    record.results.push_back(describeOperand(op, init));
  record.numBodyOps = llvm::range_size(op.getBlock()->without_terminator());
  record.isCopy = isCopyLike(op);
  record.isCombinable = isCombinable(op);
  record.contraction = describeContraction(op);
  return record;
}

static KernelOpRecord describeOp(linalg::LinalgOp op,
                                 const KernelGroup &group) {
  KernelOpRecord record = describeAlone(op);
  record.rows = {};
  for (std::optional<unsigned> row : group.getRowOf(op))
    record.rows.push_back(row && group.getRows()[*row] ? row : std::nullopt);
  const std::optional<ContractionChain> &chain = group.getChain();
  record.isSplittable = op == getSplittable(group) ||
                        (chain && op == chain->second && hasFewRows(*chain));
  return record;
}

static std::optional<KernelChainRecord>
describeChain(const KernelGroup &group) {
  const std::optional<ContractionChain> &chain = group.getChain();
  if (!chain)
    return std::nullopt;
  SmallVector<linalg::LinalgOp> ops = group.getOps();
  auto find = [&](linalg::LinalgOp op) -> unsigned {
    return llvm::find(ops, op) - ops.begin();
  };
  ChainBytes whole;
  if (!hasFewRows(*chain))
    whole = getRowBytes(*chain).value_or(ChainBytes());
  ChainBytes streamed = getStreamBytes(*chain).value_or(ChainBytes());
  return KernelChainRecord{find(chain->first),
                           find(chain->second),
                           *group.getRowOf(chain->second)[chain->row],
                           whole.perRow,
                           whole.ofTiles,
                           streamed.perRow,
                           streamed.ofTiles};
}

static KernelOpRecord describeLoop(Operation *loop) {
  KernelOpRecord record;
  record.kind = getLoopKind(loop).str();
  record.location = getSourceLocation(loop->getLoc());
  for (std::optional<int64_t> count : getStaticCounts(loop)) {
    record.rows.push_back(record.extents.size());
    record.isParallel.push_back(true);
    record.extents.push_back(count);
  }
  return record;
}

/// The operations of `function`, which is one parallel loop: those in it, then
/// the loop.
static void describeLoopKernel(Operation *loop, KernelFunctionRecord &record) {
  record.kind = getLoopKind(loop).str();
  loop->walk([&](Operation *op) {
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
      record.ops.push_back(describeAlone(linalgOp));
    else if (op != loop && isUnmappedLoop(op))
      record.ops.push_back(describeLoop(op));
  });
  record.ops.push_back(describeLoop(loop));
  record.isShared.assign(getNumDims(loop), true);
}

static KernelFunctionRecord &addRecord(func::FuncOp function,
                                       std::vector<KernelFunctionRecord> &to) {
  KernelFunctionRecord &record = to.emplace_back();
  record.name = toUTF8(function.getName());
  llvm::raw_string_ostream(record.symbol) << function.getSymNameAttr();
  return record;
}

std::vector<KernelFunctionRecord> describeKernelFunctions(ModuleOp module) {
  std::vector<KernelFunctionRecord> records;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function.isPrivate() || !function.getBody().hasOneBlock())
      continue;
    if (Operation *loop = getKernelLoop(function)) {
      describeLoopKernel(loop, addRecord(function, records));
      continue;
    }
    std::vector<KernelGroup> groups = groupOps(function.front());
    if (groups.size() != 1)
      continue;
    const KernelGroup &group = groups.front();
    KernelFunctionRecord &record = addRecord(function, records);
    record.kind = getClassName(group.getClass()).str();
    for (linalg::LinalgOp op : group.getOps())
      record.ops.push_back(describeOp(op, group));
    for (unsigned loop : llvm::seq(group.getRoot().getNumLoops()))
      record.isShared.push_back(group.getRows()[loop]);
    record.chain = describeChain(group);
  }
  return records;
}

} // namespace mlir::workgroup
