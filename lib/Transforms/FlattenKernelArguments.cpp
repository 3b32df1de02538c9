//===- FlattenKernelArguments.cpp - Flatten kernel arguments --------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The interface between a kernel and whoever launches it. A parameter list that
// MLIR's memref descriptors dictate would be long, redundant, and known to MLIR
// only; here parameter i is argument i, a pointer for a memref, and after them
// come the index values that the kernel cannot do without.
//
// Collect finds functions and their call sites, decide follows every memref
// argument through its uses to see which extents, strides and offsets are
// needed, apply changes functions and call sites together.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "workgroup/Passes.h"
#include "workgroup/Target/Chip.h"
#include "workgroup/Transforms.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_FLATTENKERNELARGUMENTSPASS
#include "workgroup/Passes.h.inc"

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

/// A function of a `gpu.module` and the operations that call or launch it.
struct Callee {
  FunctionOpInterface function;
  SmallVector<Operation *, 1> sites;
};

} // namespace

//===----------------------------------------------------------------------===//
// Collect
//===----------------------------------------------------------------------===//

/// The operands of `site`, a launch or a call, that become arguments.
static OperandRange getArguments(Operation *site) {
  if (auto launch = dyn_cast<gpu::LaunchFuncOp>(site))
    return launch.getKernelOperands();
  return cast<func::CallOp>(site).getOperands();
}

static SmallVector<Callee> collectCallees(ModuleOp module) {
  llvm::MapVector<Operation *, SmallVector<Operation *, 1>> sites;
  for (auto kernels : module.getOps<gpu::GPUModuleOp>())
    for (auto function : kernels.getOps<FunctionOpInterface>())
      if (isa<gpu::GPUFuncOp, func::FuncOp>(function) && !function.isExternal())
        sites.try_emplace(function);
  SymbolTableCollection symbols;
  module.walk([&](Operation *op) {
    SymbolRefAttr name;
    if (auto launch = dyn_cast<gpu::LaunchFuncOp>(op))
      name = launch.getKernelAttr();
    else if (auto call = dyn_cast<func::CallOp>(op))
      name = call.getCalleeAttr();
    else
      return;
    auto it = sites.find(symbols.lookupNearestSymbolFrom(op, name));
    if (it != sites.end())
      it->second.push_back(op);
  });
  SmallVector<Callee> callees;
  for (auto &[function, callSites] : sites)
    callees.push_back({cast<FunctionOpInterface>(function), callSites});
  return callees;
}

static void rename(gpu::GPUFuncOp kernel, ArrayRef<Operation *> launches,
                   StringRef name) {
  kernel.setName(name);
  auto parent = kernel->getParentOfType<gpu::GPUModuleOp>();
  auto leaf = FlatSymbolRefAttr::get(kernel.getContext(), name);
  for (Operation *launch : launches)
    cast<gpu::LaunchFuncOp>(launch).setKernelAttr(
        SymbolRefAttr::get(parent.getNameAttr(), {leaf}));
}

/// One PTX text will hold all kernels: none may have a name that PTX cannot
/// hold, and no two the same.
static void makeNamesUnique(MutableArrayRef<Callee> callees) {
  llvm::StringSet<> taken;
  for (Callee &callee : callees)
    taken.insert(callee.function.getName());
  llvm::StringSet<> seen;
  for (Callee &callee : callees) {
    auto kernel = dyn_cast<gpu::GPUFuncOp>(callee.function.getOperation());
    if (!kernel)
      continue;
    std::string base = getPTXName(kernel.getName());
    bool isValid = base == kernel.getName();
    if (seen.insert(kernel.getName()).second && isValid)
      continue;
    std::string name = base;
    for (unsigned i = 0; taken.contains(name); ++i)
      name = base + "_" + std::to_string(i);
    taken.insert(name);
    seen.insert(name);
    rename(kernel, callee.sites, name);
  }
}

//===----------------------------------------------------------------------===//
// Decide
//===----------------------------------------------------------------------===//

/// True if `user` accesses elements of its memref operands by their address and
/// knows nothing else of them.
static bool needsOnlyAddresses(Operation *user) {
  return isa<memref::LoadOp, memref::StoreOp, memref::AtomicRMWOp,
             memref::GenericAtomicRMWOp, memref::AssumeAlignmentOp,
             vector::LoadOp, vector::StoreOp, vector::MaskedLoadOp,
             vector::MaskedStoreOp, vector::GatherOp, vector::ScatterOp,
             nvgpu::LdMatrixOp, nvgpu::DeviceAsyncCopyOp>(user);
}

/// Adds to `demand` what the uses of `memref`, which has the extents, strides
/// and offset of an argument, need.
static void collectDemand(Value memref, Demand &demand) {
  for (Operation *user : memref.getUsers()) {
    if (needsOnlyAddresses(user))
      demand.setAddress();
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
    } else if (isa<memref::SubViewOp>(user)) {
      demand.setAddress(); // its extents are its own
    } else if (isa<memref::CastOp, memref::AssumeAlignmentOp>(user) &&
               isa<MemRefType>(user->getResult(0).getType())) {
      collectDemand(user->getResult(0), demand);
    } else if (!isa<memref::ReinterpretCastOp>(user) &&
               !needsOnlyAddresses(user)) {
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

static LogicalResult checkArguments(FunctionOpInterface function) {
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
    if (isa<UnrankedMemRefType>(type))
      return function.emitOpError("has an unranked memref as argument ")
             << i
             << ", whose shape no launch can pass; cast it to a ranked type";
    auto memref = dyn_cast<MemRefType>(type);
    if (memref && !memref.isStrided())
      return function.emitOpError("has argument ")
             << i << " of type " << type
             << " with a layout that is not strided; normalize its layout map";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Apply
//===----------------------------------------------------------------------===//

namespace {
/// Flattens one function and its call sites.
class ArgumentFlattener {
public:
  ArgumentFlattener(RewriterBase &rewriter, Callee &callee)
      : rewriter(rewriter), function(callee.function), sites(callee.sites) {}

  SmallVector<KernelParameter> flatten();

private:
  bool isFlat(unsigned index);
  SmallVector<SmallVector<Value>> getSiteValues(ArrayRef<ArgumentPart> parts);
  void addParameters(ArrayRef<ArgumentPart> parts);
  void rebuildArgument(unsigned index, ArrayRef<ArgumentPart> parts);
  void updateSites(ArrayRef<SmallVector<Value>> siteValues);
  Value getPart(Operation *site, const ArgumentPart &part);
  memref::ExtractStridedMetadataOp getMetadata(Operation *site, Value memref);

  MemRefType getMemRefType(unsigned index) {
    return cast<MemRefType>(function.getArgumentTypes()[index]);
  }

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

/// True if argument `index` needs no change: a scalar, or a pointer already.
bool ArgumentFlattener::isFlat(unsigned index) {
  auto type = dyn_cast<MemRefType>(function.getArgumentTypes()[index]);
  return !type || type == getPointerType(type);
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
                             : getPart(site, {ArgumentPart::Kind::Pointer,
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
  MemRefType type = getMemRefType(index);
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

SmallVector<KernelParameter> ArgumentFlattener::flatten() {
  unsigned numArguments = function.getNumArguments();
  SmallVector<ArgumentPart> parts;
  for (unsigned i = 0; i < numArguments; ++i) {
    bool isMemRef = isa<MemRefType>(function.getArgumentTypes()[i]);
    parameters.push_back(
        {{isMemRef ? ArgumentPart::Kind::Pointer : ArgumentPart::Kind::Value,
          i}});
    if (!isFlat(i))
      llvm::append_range(parts, getParts(function, i));
  }
  addParameters(parts);

  rewriter.setInsertionPointToStart(&function.getFunctionBody().front());
  for (unsigned i = 0; i < numArguments; ++i)
    if (!isFlat(i))
      rebuildArgument(i, parts);
  // The arguments of a gpu.func's body include its attributions.
  ArrayRef<BlockArgument> arguments = function.getArguments();
  auto types = llvm::to_vector(
      ValueRange(arguments.take_front(function.getNumArguments())).getTypes());
  function.setType(rewriter.getFunctionType(types, function.getResultTypes()));
  return parameters;
}

LogicalResult
flattenKernelArguments(ModuleOp module,
                       SmallVectorImpl<KernelSignature> *signatures) {
  SmallVector<Callee> callees = collectCallees(module);
  for (Callee &callee : callees)
    if (failed(checkArguments(callee.function)))
      return failure();
  makeNamesUnique(callees);

  IRRewriter rewriter(module.getContext());
  for (Callee &callee : callees) {
    KernelSignature signature;
    signature.name = callee.function.getName().str();
    signature.arguments = llvm::to_vector(callee.function.getArgumentTypes());
    signature.parameters = ArgumentFlattener(rewriter, callee).flatten();
    auto kernel = dyn_cast<gpu::GPUFuncOp>(callee.function.getOperation());
    if (signatures && kernel && kernel.isKernel())
      signatures->push_back(std::move(signature));
  }
  return success();
}

namespace {
struct FlattenKernelArgumentsPass final
    : impl::FlattenKernelArgumentsPassBase<FlattenKernelArgumentsPass> {
  using FlattenKernelArgumentsPassBase::FlattenKernelArgumentsPassBase;

  void runOnOperation() override {
    if (failed(flattenKernelArguments(getOperation(), signatures)))
      signalPassFailure();
  }

  SmallVectorImpl<KernelSignature> *signatures = nullptr;
};
} // namespace

std::unique_ptr<Pass>
createFlattenKernelArgumentsPass(SmallVectorImpl<KernelSignature> *signatures) {
  auto pass = std::make_unique<FlattenKernelArgumentsPass>();
  pass->signatures = signatures;
  return pass;
}

} // namespace mlir::workgroup
