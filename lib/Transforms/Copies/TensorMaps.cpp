//===- TensorMaps.cpp - What launches tell kernels of tensors -------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorMaps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Support/MemorySpace.h"

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// Questions
//===----------------------------------------------------------------------===//

gpu::GPUFuncOp getKernelOfArgument(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto kernel =
      argument ? dyn_cast<gpu::GPUFuncOp>(argument.getOwner()->getParentOp())
               : gpu::GPUFuncOp();
  bool isArgument = kernel && argument.getOwner()->isEntryBlock() &&
                    argument.getArgNumber() < kernel.getNumArguments();
  return isArgument && kernel.isKernel() ? kernel : gpu::GPUFuncOp();
}

SmallVector<Value> getOperands(ArrayRef<gpu::LaunchFuncOp> launches,
                               Value argument) {
  unsigned number = cast<BlockArgument>(argument).getArgNumber();
  return llvm::map_to_vector(launches, [&](gpu::LaunchFuncOp launch) {
    return launch.getKernelOperand(number);
  });
}

StringRef TensorMaps::getObstacle(Value memref) const {
  // A value from above the launches of `root` needs no kernel to be found.
  if (Operation *op = memref.getParentRegion()->getParentOp();
      !isInDeviceCode(op))
    return root->isAncestor(op) ? ""
                                : "the launch is outside of the operation that "
                                  "the pass runs on";
  gpu::GPUFuncOp kernel = getKernelOfArgument(memref);
  if (!kernel)
    return "the host does not know the source";
  auto site = sites.find(kernel);
  if (site == sites.end() || site->second.empty())
    return isa<ModuleOp>(root) ? "the module does not launch the kernel"
                               : "the launches are outside of the operation "
                                 "that the pass runs on";
  return "";
}

int64_t TensorMaps::getAlignment(Value memref,
                                 AlignmentAnalysis &alignment) const {
  int64_t known = alignment.getAlignment(memref);
  gpu::GPUFuncOp kernel = getKernelOfArgument(memref);
  if (!kernel)
    return known;
  int64_t atLaunches = AlignmentAnalysis::kMaxDivisor;
  for (Value operand : getOperands(sites.lookup(kernel), memref))
    atLaunches = std::min(atLaunches, alignment.getAlignment(operand));
  return std::max(known, atLaunches);
}

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

static nvgpu::TensorMapDescriptorType
getMapType(Value memref, ArrayRef<int64_t> box,
           nvgpu::TensorMapSwizzleKind swizzle) {
  MLIRContext *context = memref.getContext();
  auto tile =
      MemRefType::get(box, cast<MemRefType>(memref.getType()).getElementType(),
                      MemRefLayoutAttrInterface(), getWorkgroupSpace(context));
  return nvgpu::TensorMapDescriptorType::get(
      context, tile, swizzle, nvgpu::TensorMapL2PromoKind::L2PROMO_128B,
      nvgpu::TensorMapOOBKind::OOB_ZERO,
      nvgpu::TensorMapInterleaveKind::INTERLEAVE_NONE);
}

/// `memref` with nothing but its dimensions `dims`; the others have one
/// element.
static Value dropUnitDims(OpBuilder &builder, Location loc, Value memref,
                          ArrayRef<unsigned> dims) {
  auto type = cast<MemRefType>(memref.getType());
  if (dims.size() == size_t(type.getRank()))
    return memref;
  SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0)),
      sizes, ones(type.getRank(), builder.getIndexAttr(1));
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (type.isDynamicDim(dim))
      sizes.push_back(
          memref::DimOp::create(builder, loc, memref, dim).getResult());
    else
      sizes.push_back(builder.getIndexAttr(type.getDimSize(dim)));
  }
  SmallVector<int64_t> shape = llvm::map_to_vector(
      dims, [&](unsigned dim) { return type.getDimSize(dim); });
  MemRefType reduced = memref::SubViewOp::inferRankReducedResultType(
      shape, type, offsets, sizes, ones);
  return memref::SubViewOp::create(builder, loc, reduced, memref, offsets,
                                   sizes, ones);
}

/// Makes the map of type `type` of `memref`, a value of the host.
static Value createMap(OpBuilder &builder, Location loc, Value memref,
                       ArrayRef<unsigned> dims,
                       nvgpu::TensorMapDescriptorType type) {
  Value tensor = dropUnitDims(builder, loc, memref, dims);
  auto ranked = cast<MemRefType>(tensor.getType());
  auto unranked =
      UnrankedMemRefType::get(ranked.getElementType(), ranked.getMemorySpace());
  tensor = memref::CastOp::create(builder, loc, unranked, tensor);
  SmallVector<Value> box;
  for (int64_t extent : type.getTensor().getShape())
    box.push_back(arith::ConstantIndexOp::create(builder, loc, extent));
  return nvgpu::TmaCreateDescriptorOp::create(builder, loc, type, tensor, box);
}

BlockArgument appendArgument(gpu::GPUFuncOp kernel, Type type, Location loc) {
  Builder builder(kernel.getContext());
  SmallVector<Type> types(kernel.getArgumentTypes());
  SmallVector<DictionaryAttr> attributes;
  for (unsigned i = 0; i < types.size(); ++i)
    attributes.push_back(kernel.getArgAttrDict(i));
  BlockArgument argument =
      kernel.front().insertArgument(types.size(), type, loc);
  types.push_back(type);
  attributes.push_back(builder.getDictionaryAttr({}));
  kernel.setFunctionType(
      builder.getFunctionType(types, kernel.getFunctionType().getResults()));
  if (llvm::any_of(attributes,
                   [](DictionaryAttr dict) { return dict && !dict.empty(); }))
    kernel.setAllArgAttrs(attributes);
  return argument;
}

Value TensorMaps::createForLaunch(RewriterBase &rewriter, Location loc,
                                  const Key &key) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(key.kernel);
  return createMap(rewriter, loc, key.memref, key.dims,
                   cast<nvgpu::TensorMapDescriptorType>(key.type));
}

Value TensorMaps::createForFunction(RewriterBase &rewriter, Location loc,
                                    const Key &key) {
  gpu::GPUFuncOp kernel = getKernelOfArgument(key.memref);
  OpBuilder::InsertionGuard guard(rewriter);
  SmallVector<gpu::LaunchFuncOp, 1> &launches = sites.find(kernel)->second;
  SmallVector<Value> operands = getOperands(launches, key.memref);
  for (auto [launch, operand] : llvm::zip_equal(launches, operands)) {
    rewriter.setInsertionPoint(launch);
    Value map = createMap(rewriter, loc, operand, key.dims,
                          cast<nvgpu::TensorMapDescriptorType>(key.type));
    launch.getKernelOperandsMutable().append(map);
  }
  return appendArgument(kernel, key.type, loc);
}

Value TensorMaps::getMap(RewriterBase &rewriter, Location loc, Value memref,
                         ArrayRef<unsigned> dims, ArrayRef<int64_t> box,
                         nvgpu::TensorMapSwizzleKind swizzle) {
  Operation *kernel =
      getExecutionScope(rewriter.getInsertionBlock()->getParentOp());
  Key key{kernel, memref, getMapType(memref, box, swizzle),
          llvm::to_vector(dims)};
  for (auto &[known, map] : maps)
    if (known == key)
      return map;
  Value map = isa<gpu::LaunchOp>(kernel)
                  ? createForLaunch(rewriter, loc, key)
                  : createForFunction(rewriter, loc, key);
  maps.emplace_back(key, map);
  return map;
}

} // namespace mlir::workgroup
