//===- ArgumentFlattener.cpp - Flatten the arguments of a function --------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ArgumentFlattener.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// Decide
//===----------------------------------------------------------------------===//

namespace {
/// What a function needs to know of a memref argument besides its pointer.
struct Demand {
  explicit Demand(unsigned rank) : extents(rank), strides(rank) {}

  void setAll() {
    extents.set();
    setAddress();
  }
  /// What the address of an element depends on.
  void setAddress() {
    strides.set();
    offset = true;
  }

  llvm::SmallBitVector extents, strides;
  bool offset = false;
};
} // namespace

/// True if `use` is of the memref whose elements its owner accesses by their
/// address, and whose owner knows nothing else of it.
static bool needsOnlyAddress(OpOperand &use) {
  // What is stored may be a memref too.
  Value accessed =
      llvm::TypeSwitch<Operation *, Value>(use.getOwner())
          .Case<memref::LoadOp, memref::StoreOp, memref::AtomicRMWOp,
                memref::GenericAtomicRMWOp>(
              [](auto access) { return access.getMemref(); })
          .Case<vector::LoadOp, vector::StoreOp, vector::MaskedLoadOp,
                vector::MaskedStoreOp, vector::GatherOp, vector::ScatterOp>(
              [](auto access) { return access.getBase(); })
          .Case<nvgpu::LdMatrixOp>(
              [](auto access) { return access.getSrcMemref(); })
          .Case<nvgpu::DeviceAsyncCopyOp>(
              [](auto copy) { return copy.getSrc(); })
          .Default([](Operation *) { return Value(); });
  return accessed == use.get();
}

/// Adds to `demand` what the uses of `memref`, which has the extents, strides
/// and offset of an argument, need.
static void collectDemand(Value memref, Demand &demand) {
  for (OpOperand &use : memref.getUses()) {
    Operation *user = use.getOwner();
    if (auto dim = dyn_cast<memref::DimOp>(user)) {
      std::optional<int64_t> i = dim.getConstantIndex();
      if (i && *i >= 0 && *i < static_cast<int64_t>(demand.extents.size()))
        demand.extents.set(*i);
      else
        demand.extents.set();
    } else if (auto data = dyn_cast<memref::ExtractStridedMetadataOp>(user)) {
      demand.offset |= !data.getOffset().use_empty();
      for (auto [i, size] : llvm::enumerate(data.getSizes()))
        if (!size.use_empty())
          demand.extents.set(i);
      for (auto [i, stride] : llvm::enumerate(data.getStrides()))
        if (!stride.use_empty())
          demand.strides.set(i);
    } else if (isa<memref::SubViewOp>(user) || needsOnlyAddress(use)) {
      demand.setAddress(); // the extents of a subview are its own
    } else if (isa<memref::CastOp, memref::AssumeAlignmentOp>(user) &&
               isa<MemRefType>(user->getResult(0).getType())) {
      if (isa<memref::AssumeAlignmentOp>(user))
        demand.setAddress();
      collectDemand(user->getResult(0), demand);
    } else if (!isa<memref::ReinterpretCastOp>(user)) {
      demand.setAll();
    }
  }
}

/// The index parameters that memref argument number `index` of `function`
/// needs.
static SmallVector<ArgumentPart> getParts(FunctionOpInterface function,
                                          unsigned index) {
  using Kind = ArgumentPart::Kind;
  auto type = cast<MemRefType>(function.getArgumentTypes()[index]);
  unsigned rank = type.getRank();
  Demand demand(rank);
  collectDemand(function.getArgument(index), demand);
  SmallVector<int64_t> strides;
  int64_t offset;
  (void)type.getStridesAndOffset(strides, offset); // checked before
  if (type.getLayout().isIdentity()) {
    // The strides follow from the extents.
    for (unsigned i = 0; i < rank; ++i)
      if (demand.strides.test(i))
        demand.extents.set(i + 1, rank);
    demand.strides.reset();
  }
  SmallVector<ArgumentPart> parts;
  if (demand.offset && ShapedType::isDynamic(offset))
    parts.push_back({Kind::Offset, index});
  for (unsigned i = 0; i < rank; ++i)
    if (demand.extents.test(i) && type.isDynamicDim(i))
      parts.push_back({Kind::Extent, index, i});
  for (unsigned i = 0; i < rank; ++i)
    if (demand.strides.test(i) && ShapedType::isDynamic(strides[i]))
      parts.push_back({Kind::Stride, index, i});
  return parts;
}

//===----------------------------------------------------------------------===//
// Apply
//===----------------------------------------------------------------------===//

/// The operands of `site`, a launch or a call, that become arguments.
static OperandRange getArguments(Operation *site) {
  if (auto launch = dyn_cast<gpu::LaunchFuncOp>(site))
    return launch.getKernelOperands();
  return cast<func::CallOp>(site).getOperands();
}

namespace {
/// Flattens one function and its call sites.
class ArgumentFlattener {
public:
  ArgumentFlattener(RewriterBase &rewriter, const Callee &callee)
      : rewriter(rewriter), function(callee.function), sites(callee.sites) {}

  SmallVector<KernelParameter> flatten();

private:
  bool isFlat(unsigned index) { return isFlatArgument(getType(index)); }
  bool isMemRef(unsigned index) { return isa<MemRefType>(getType(index)); }
  SmallVector<SmallVector<Value>> getSiteValues(ArrayRef<ArgumentPart> parts);
  void addParameters(ArrayRef<ArgumentPart> parts);
  void rebuildArgument(unsigned index, ArrayRef<ArgumentPart> parts);
  void rebuildTensorMap(unsigned index);
  void updateSites(ArrayRef<SmallVector<Value>> siteValues);
  Value getPart(Operation *site, const ArgumentPart &part);
  memref::ExtractStridedMetadataOp getMetadata(Operation *site, Value memref);

  Type getType(unsigned index) { return function.getArgumentTypes()[index]; }

  RewriterBase &rewriter;
  FunctionOpInterface function;
  ArrayRef<Operation *> sites;
  SmallVector<KernelParameter> parameters;
  /// The position of the parameter for each part, in the order of the parts.
  SmallVector<unsigned> positions;
  /// What was made at the call sites already.
  DenseMap<std::pair<Operation *, Value>, memref::ExtractStridedMetadataOp>
      metadata;
  DenseMap<std::tuple<Operation *, Value, unsigned>, Value> extents;
};
} // namespace

static MemRefType getPointerType(MemRefType type) {
  return MemRefType::get({}, type.getElementType(), MemRefLayoutAttrInterface(),
                         type.getMemorySpace());
}

bool isFlatArgument(Type type) {
  if (auto memref = dyn_cast<MemRefType>(type))
    return memref == getPointerType(memref);
  return !isa<UnrankedMemRefType, nvgpu::TensorMapDescriptorType>(type);
}

static ArgumentPart::Kind getOwnKind(Type argument) {
  if (isa<MemRefType, LLVM::LLVMPointerType>(argument))
    return ArgumentPart::Kind::Pointer;
  return isa<nvgpu::TensorMapDescriptorType>(argument)
             ? ArgumentPart::Kind::TensorMap
             : ArgumentPart::Kind::Value;
}

memref::ExtractStridedMetadataOp ArgumentFlattener::getMetadata(Operation *site,
                                                                Value memref) {
  auto &data = metadata[{site, memref}];
  if (!data)
    data = memref::ExtractStridedMetadataOp::create(rewriter, site->getLoc(),
                                                    memref);
  return data;
}

/// The value at `site` for `part` of its argument.
Value ArgumentFlattener::getPart(Operation *site, const ArgumentPart &part) {
  Value memref = getArguments(site)[part.argument];
  Location loc = site->getLoc();
  switch (part.kind) {
  case ArgumentPart::Kind::Extent: {
    Value &extent = extents[{site, memref, part.dim}];
    if (!extent)
      extent = rewriter.createOrFold<memref::DimOp>(loc, memref, part.dim);
    return extent;
  }
  case ArgumentPart::Kind::Stride:
    return getMetadata(site, memref).getStrides()[part.dim];
  case ArgumentPart::Kind::Offset:
    return getMetadata(site, memref).getOffset();
  case ArgumentPart::Kind::Pointer:
    return getMetadata(site, memref).getBaseBuffer();
  case ArgumentPart::Kind::TensorMap: {
    auto pointer = LLVM::LLVMPointerType::get(rewriter.getContext());
    return UnrealizedConversionCastOp::create(rewriter, loc, pointer, memref)
        .getResult(0);
  }
  case ArgumentPart::Kind::Value:
    return memref;
  }
  llvm_unreachable("unknown kind of part");
}

/// For each part, the values that the call sites pass.
SmallVector<SmallVector<Value>>
ArgumentFlattener::getSiteValues(ArrayRef<ArgumentPart> parts) {
  SmallVector<SmallVector<Value>> values(parts.size());
  for (Operation *site : sites) {
    rewriter.setInsertionPoint(site);
    for (auto [part, value] : llvm::zip_equal(parts, values))
      value.push_back(getPart(site, part));
  }
  return values;
}

/// Adds an index parameter for each part; one for parts that all sites pass the
/// same value for.
void ArgumentFlattener::addParameters(ArrayRef<ArgumentPart> parts) {
  SmallVector<SmallVector<Value>> values = getSiteValues(parts);
  SmallVector<SmallVector<Value>> added;
  unsigned numArguments = function.getNumArguments();
  for (auto [part, value] : llvm::zip_equal(parts, values)) {
    unsigned position =
        sites.empty() ? added.size() : llvm::find(added, value) - added.begin();
    positions.push_back(numArguments + position);
    if (position < added.size()) {
      parameters[numArguments + position].push_back(part);
      continue;
    }
    added.push_back(value);
    parameters.push_back({part});
  }
  SmallVector<unsigned> indices(added.size(), numArguments);
  SmallVector<Type> types(added.size(), rewriter.getIndexType());
  SmallVector<DictionaryAttr> attributes(added.size());
  SmallVector<Location> locations(added.size(), function.getLoc());
  rewriter.modifyOpInPlace(function, [&] {
    (void)function.insertArguments(indices, types, attributes, locations);
  });
  updateSites(added);
}

/// Passes pointers instead of memrefs, and the values for the new parameters.
void ArgumentFlattener::updateSites(ArrayRef<SmallVector<Value>> siteValues) {
  for (auto [i, site] : llvm::enumerate(sites)) {
    rewriter.setInsertionPoint(site);
    SmallVector<Value> operands;
    for (auto [index, operand] : llvm::enumerate(getArguments(site)))
      operands.push_back(isFlat(index)
                             ? operand
                             : getPart(site, {getOwnKind(getType(index)),
                                              static_cast<unsigned>(index)}));
    for (const SmallVector<Value> &value : siteValues)
      operands.push_back(value[i]);
    rewriter.modifyOpInPlace(site, [&, site = site] {
      if (auto launch = dyn_cast<gpu::LaunchFuncOp>(site))
        launch.getKernelOperandsMutable().assign(operands);
      else
        cast<func::CallOp>(site).getOperandsMutable().assign(operands);
    });
  }
}

/// Gives argument `index` the type of a pointer, and builds the memref that the
/// body knows from it. What the body does not need is poison.
void ArgumentFlattener::rebuildArgument(unsigned index,
                                        ArrayRef<ArgumentPart> parts) {
  BlockArgument argument = function.getArgument(index);
  auto type = cast<MemRefType>(getType(index));
  Location loc = argument.getLoc();
  Value poison;
  auto getParameter = [&](ArgumentPart::Kind kind, unsigned dim) -> Value {
    for (auto [part, position] : llvm::zip_equal(parts, positions))
      if (part.kind == kind && part.argument == index && part.dim == dim)
        return function.getArgument(position);
    if (!poison)
      poison = ub::PoisonOp::create(rewriter, loc, rewriter.getIndexType());
    return poison;
  };
  auto getIndex = [&](int64_t constant, ArgumentPart::Kind kind, unsigned dim) {
    return ShapedType::isDynamic(constant)
               ? OpFoldResult(getParameter(kind, dim))
               : OpFoldResult(rewriter.getIndexAttr(constant));
  };

  SmallVector<int64_t> staticStrides;
  int64_t staticOffset;
  (void)type.getStridesAndOffset(staticStrides, staticOffset);
  unsigned rank = type.getRank();
  SmallVector<OpFoldResult> sizes(rank), strides(rank);
  for (unsigned i = 0; i < rank; ++i)
    sizes[i] = getIndex(type.getDimSize(i), ArgumentPart::Kind::Extent, i);
  for (unsigned i = rank; i-- > 0;) {
    bool followsFromExtents = ShapedType::isDynamic(staticStrides[i]) &&
                              type.getLayout().isIdentity();
    strides[i] =
        followsFromExtents
            ? OpFoldResult(rewriter.createOrFold<arith::MulIOp>(
                  loc,
                  getValueOrCreateConstantIndexOp(rewriter, loc, sizes[i + 1]),
                  getValueOrCreateConstantIndexOp(rewriter, loc,
                                                  strides[i + 1])))
            : getIndex(staticStrides[i], ArgumentPart::Kind::Stride, i);
  }
  OpFoldResult offset =
      getIndex(staticOffset, ArgumentPart::Kind::Offset, /*dim=*/0);

  argument.setType(getPointerType(type));
  Operation *cast = memref::ReinterpretCastOp::create(rewriter, loc, argument,
                                                      offset, sizes, strides);
  Value rebuilt = cast->getResult(0);
  if (rebuilt.getType() != type)
    rebuilt = memref::CastOp::create(rewriter, loc, type, rebuilt);
  rewriter.replaceAllUsesExcept(argument, rebuilt, cast);
}

/// Gives argument `index` the type of a pointer. To a kernel it points to the
/// parameter itself, which no one writes.
void ArgumentFlattener::rebuildTensorMap(unsigned index) {
  constexpr int64_t kWords = 16, kAlignment = 64; // those of CUtensorMap
  BlockArgument argument = function.getArgument(index);
  Type type = argument.getType();
  argument.setType(LLVM::LLVMPointerType::get(rewriter.getContext()));
  Operation *cast = UnrealizedConversionCastOp::create(
      rewriter, argument.getLoc(), type, argument);
  rewriter.replaceAllUsesExcept(argument, cast->getResult(0), cast);

  auto kernel = dyn_cast<gpu::GPUFuncOp>(function.getOperation());
  if (!kernel || !kernel.isKernel())
    return;
  auto words = LLVM::LLVMArrayType::get(rewriter.getI64Type(), kWords);
  function.setArgAttr(index, LLVM::LLVMDialect::getByValAttrName(),
                      TypeAttr::get(words));
  function.setArgAttr(index, LLVM::LLVMDialect::getReadonlyAttrName(),
                      rewriter.getUnitAttr());
  function.setArgAttr(index, LLVM::LLVMDialect::getAlignAttrName(),
                      rewriter.getI64IntegerAttr(kAlignment));
}

SmallVector<KernelParameter> ArgumentFlattener::flatten() {
  unsigned numArguments = function.getNumArguments();
  SmallVector<ArgumentPart> parts;
  for (unsigned i = 0; i < numArguments; ++i) {
    bool isByValue = function.getArgAttr(
                         i, LLVM::LLVMDialect::getByValAttrName()) != nullptr;
    parameters.push_back(
        {{isByValue ? ArgumentPart::Kind::Value : getOwnKind(getType(i)), i}});
    if (isMemRef(i) && !isFlat(i))
      llvm::append_range(parts, getParts(function, i));
  }
  addParameters(parts);

  rewriter.setInsertionPointToStart(&function.getFunctionBody().front());
  for (unsigned i = 0; i < numArguments; ++i)
    if (isMemRef(i) && !isFlat(i))
      rebuildArgument(i, parts);
    else if (!isFlat(i))
      rebuildTensorMap(i);
  // The arguments of a gpu.func's body include its attributions.
  ArrayRef<BlockArgument> arguments = function.getArguments();
  auto types = llvm::to_vector(
      ValueRange(arguments.take_front(function.getNumArguments())).getTypes());
  function.setType(rewriter.getFunctionType(types, function.getResultTypes()));
  return parameters;
}

SmallVector<KernelParameter> flattenArguments(RewriterBase &rewriter,
                                              const Callee &callee) {
  return ArgumentFlattener(rewriter, callee).flatten();
}

} // namespace mlir::workgroup
