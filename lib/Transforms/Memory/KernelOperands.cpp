//===- KernelOperands.cpp - Buffers passed to outlined kernels ------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelOperands.h"
#include "Support/Remarks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "workgroup/Analysis/Alignment.h"
#include "workgroup/Support/MemorySpace.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>

namespace mlir::workgroup {

/// What the launches of a kernel have for one value in it, one of each launch.
using SiteValues = SmallVector<Value, 2>;

bool isAllocation(Operation *op) {
  return isa<memref::AllocOp, memref::AllocaOp, memref::GetGlobalOp>(op);
}

bool isPlainView(Operation *op) {
  Value source = getViewSource(op);
  return source && op->getNumResults() == 1 &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return operand == source || operand.getType().isIntOrIndex();
         });
}

Operation *cloneIntoKernel(OpBuilder &builder, Operation *op) {
  auto alloc = dyn_cast<memref::AllocOp>(op);
  if (!alloc || !isPrivateMemory(alloc.getType()))
    return builder.clone(*op);
  auto alloca = memref::AllocaOp::create(
      builder, op->getLoc(), alloc.getType(), alloc.getDynamicSizes(),
      alloc.getSymbolOperands(), alloc.getAlignmentAttr());
  alloca->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  return alloca;
}

//===----------------------------------------------------------------------===//
// Comparison of launches
//===----------------------------------------------------------------------===//

/// What keeps `other` from being the same allocation or view as `op`; empty if
/// nothing does.
static std::string getDifference(Operation *op, Operation *other) {
  auto isBuffer = [](Operation *op) {
    return op && (isAllocation(op) || isPlainView(op));
  };
  if (!isBuffer(op) || !isBuffer(other))
    return "one of them is no allocation next to its launch";
  if (op->getName() != other->getName())
    return llvm::formatv("one is made by {0}, one by {1}", op->getName(),
                         other->getName());
  if (op->getResultTypes() != other->getResultTypes())
    return llvm::formatv("one is of type {0}, one of {1}",
                         op->getResult(0).getType(),
                         other->getResult(0).getType());
  if (isa<memref::GetGlobalOp>(op)) {
    auto get = cast<memref::GetGlobalOp>(op);
    auto otherGet = cast<memref::GetGlobalOp>(other);
    return getGlobal(get) == getGlobal(otherGet) ? ""
                                                 : "they are different globals";
  }
  DictionaryAttr attributes = op->getAttrDictionary();
  DictionaryAttr otherAttributes = other->getAttrDictionary();
  auto differsIn = [](DictionaryAttr lhs, DictionaryAttr rhs) {
    return llvm::find_if(lhs, [&](NamedAttribute attribute) {
      return rhs.get(attribute.getName()) != attribute.getValue();
    });
  };
  const NamedAttribute *name = differsIn(attributes, otherAttributes);
  if (name == attributes.end()) {
    name = differsIn(otherAttributes, attributes);
    if (name == otherAttributes.end())
      return "";
  }
  return llvm::formatv("'{0}' of their {1} differs", name->getName().getValue(),
                       op->getName());
}

/// Operand `i` of the operations that define `values`.
static SiteValues getOperands(ArrayRef<Value> values, unsigned i) {
  return llvm::map_to_vector<2>(values, [&](Value value) {
    return value.getDefiningOp()->getOperand(i);
  });
}

static SiteValues getArguments(ArrayRef<gpu::LaunchFuncOp> launches,
                               unsigned index) {
  return llvm::map_to_vector<2>(launches, [&](gpu::LaunchFuncOp launch) {
    return launch.getKernelOperand(index);
  });
}

static RebuildObstacle makeDifference(const Twine &difference,
                                      gpu::LaunchFuncOp launch) {
  return {
      ("launches of the kernel pass different buffers: " + difference).str(),
      launch};
}

static std::optional<RebuildObstacle>
compare(ArrayRef<Value> values, ArrayRef<gpu::LaunchFuncOp> launches) {
  Operation *op = values.front().getDefiningOp();
  for (auto [value, launch] : llvm::zip_equal(values, launches))
    if (std::string why = getDifference(op, value.getDefiningOp());
        !why.empty())
      return makeDifference(why, launch);
  if (auto get = dyn_cast<memref::GetGlobalOp>(op)) {
    memref::GlobalOp global = getGlobal(get);
    if (global && (global.isExternal() || global.isUninitialized()))
      return std::nullopt;
    return RebuildObstacle{"its global has an initial value, which memory of "
                           "this kind cannot have",
                           {}};
  }
  Value source = getViewSource(op);
  for (unsigned i = 0, e = op->getNumOperands(); i < e; ++i)
    if (op->getOperand(i) == source)
      return compare(getOperands(values, i), launches);
  return std::nullopt;
}

/// True if `lhs` and `rhs`, operands of one launch, are the same buffer or
/// views of it.
static bool shareBuffer(Value lhs, Value rhs) {
  lhs = getRootBuffer(lhs);
  rhs = getRootBuffer(rhs);
  auto get = lhs.getDefiningOp<memref::GetGlobalOp>();
  auto other = rhs.getDefiningOp<memref::GetGlobalOp>();
  return get && other ? get.getNameAttr() == other.getNameAttr() : lhs == rhs;
}

/// True if `value` is a view of a global of the host, and the module of the
/// kernel that `launch` launches uses one of the same name and type.
static bool isGlobalOfBoth(Value value, gpu::LaunchFuncOp launch) {
  auto get = getRootBuffer(value).getDefiningOp<memref::GetGlobalOp>();
  auto kernel = SymbolTable::lookupNearestSymbolFrom<gpu::GPUFuncOp>(
      launch, launch.getKernelAttr());
  auto module =
      kernel ? kernel->getParentOfType<gpu::GPUModuleOp>() : gpu::GPUModuleOp();
  if (!get || !module)
    return false;
  auto found = module.lookupSymbol<memref::GlobalOp>(
      get.getNameAttr().getLeafReference());
  return found && found.getType() == get.getType() &&
         !SymbolTable::symbolKnownUseEmpty(found, module);
}

std::optional<RebuildObstacle>
findRebuildObstacle(ArrayRef<gpu::LaunchFuncOp> launches, unsigned index) {
  SiteValues values = getArguments(launches, index);
  if (std::optional<RebuildObstacle> obstacle = compare(values, launches))
    return obstacle;
  gpu::LaunchFuncOp first = launches.front();
  if (isGlobalOfBoth(values.front(), first))
    return RebuildObstacle{
        "the kernel uses a global of the same name in its own "
        "module, and it cannot be told whether that is the "
        "same buffer",
        {}};
  unsigned numOperands = first.getNumKernelOperands();
  for (unsigned i = 0; i < numOperands; ++i) {
    SiteValues others = getArguments(launches, i);
    bool isShared = shareBuffer(values.front(), others.front());
    for (auto [value, other, launch] :
         llvm::zip_equal(values, others, launches))
      if (shareBuffer(value, other) != isShared)
        return makeDifference("operands " + Twine(std::min(i, index)) +
                                  " and " + Twine(std::max(i, index)) +
                                  " are one buffer at only some of them",
                              launch);
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Globals
//===----------------------------------------------------------------------===//

StringAttr KernelGlobals::getCopy(memref::GlobalOp global,
                                  gpu::GPUModuleOp module) {
  if (global->getParentOp() == module)
    return global.getSymNameAttr();
  memref::GlobalOp &copy = copies[{global, module}];
  if (copy)
    return copy.getSymNameAttr();
  SymbolTable &table = symbols.getSymbolTable(module);
  // Outlining names its copies like the originals. One that was made here for
  // another original is not this one's.
  auto found = table.lookup<memref::GlobalOp>(global.getSymName());
  bool isTaken = llvm::any_of(
      copies, [&](const auto &entry) { return entry.second == found; });
  if (found && !isTaken && found.getType() == global.getType() &&
      found.getAlignment() == global.getAlignment() &&
      found.getInitialValueAttr() == global.getInitialValueAttr()) {
    copy = found;
    return copy.getSymNameAttr();
  }
  auto clone = cast<memref::GlobalOp>(global->clone());
  if (!clone.isExternal())
    clone.setPrivate();
  table.insert(clone, module.getBody()->begin());
  copy = clone;
  return copy.getSymNameAttr();
}

void KernelGlobals::eraseUnusedOriginals(Operation *root) {
  llvm::SmallSetVector<Operation *, 2> originals;
  for (auto &[key, copy] : copies)
    originals.insert(key.first);
  for (Operation *original : originals) {
    auto global = cast<memref::GlobalOp>(original);
    if (global.isPrivate() && root->isProperAncestor(global) &&
        SymbolTable::symbolKnownUseEmpty(global, global->getParentOp()))
      global.erase();
  }
}

//===----------------------------------------------------------------------===//
// Rebuilding
//===----------------------------------------------------------------------===//

namespace {
/// Builds in a kernel what its launches pass to it.
class KernelRebuilder {
public:
  KernelRebuilder(gpu::GPUFuncOp kernel, ArrayRef<gpu::LaunchFuncOp> launches,
                  KernelGlobals &globals)
      : kernel(kernel), launches(launches), globals(globals),
        builder(OpBuilder::atBlockBegin(&kernel.front())) {}

  void run(const llvm::BitVector &sunk);

private:
  Value rebuild(const SiteValues &values);
  Value rebuildNumber(const SiteValues &values);
  Value rebuildBuffer(const SiteValues &values);
  void changeSignature(const llvm::BitVector &sunk);

  gpu::GPUFuncOp kernel;
  ArrayRef<gpu::LaunchFuncOp> launches;
  KernelGlobals &globals;
  OpBuilder builder;
  /// What was rebuilt already. Two values of the kernel are one if they are one
  /// at every launch.
  std::map<SmallVector<void *, 2>, Value> done;
  SmallVector<SiteValues> newArguments;
};
} // namespace

Value KernelRebuilder::rebuild(const SiteValues &values) {
  auto key = llvm::map_to_vector<2>(
      values, [](Value value) { return value.getAsOpaquePointer(); });
  Value &result = done[key];
  if (!result)
    result = values.front().getType().isIntOrIndex() ? rebuildNumber(values)
                                                     : rebuildBuffer(values);
  return result;
}

Value KernelRebuilder::rebuildNumber(const SiteValues &values) {
  Type type = values.front().getType();
  Location loc = values.front().getLoc();
  std::optional<int64_t> constant = getConstantIntValue(values.front());
  if (constant && llvm::all_of(values, [&](Value value) {
        return getConstantIntValue(value) == constant;
      }))
    return arith::ConstantOp::create(builder, loc,
                                     builder.getIntegerAttr(type, *constant));
  // The kernel's own buffers stand behind its arguments.
  unsigned position = kernel.getNumArguments() + newArguments.size();
  newArguments.push_back(values);
  return kernel.front().insertArgument(position, type, loc);
}

Value KernelRebuilder::rebuildBuffer(const SiteValues &values) {
  Operation *op = values.front().getDefiningOp();
  SmallVector<Value> operands;
  for (unsigned i = 0, e = op->getNumOperands(); i < e; ++i)
    operands.push_back(rebuild(getOperands(values, i)));
  Operation *copy = cloneIntoKernel(builder, op);
  copy->setOperands(operands);
  if (auto get = dyn_cast<memref::GetGlobalOp>(op))
    cast<memref::GetGlobalOp>(copy).setName(globals.getCopy(
        getGlobal(get), kernel->getParentOfType<gpu::GPUModuleOp>()));
  return copy->getResult(0);
}

/// The interface's methods do not reckon with the buffers of the kernel, which
/// follow the arguments in its entry block.
void KernelRebuilder::changeSignature(const llvm::BitVector &sunk) {
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> attributes;
  for (auto [i, type] : llvm::enumerate(kernel.getArgumentTypes()))
    if (!sunk.test(i)) {
      types.push_back(type);
      attributes.push_back(kernel.getArgAttrDict(i));
    }
  for (const SiteValues &values : newArguments) {
    types.push_back(values.front().getType());
    attributes.push_back(builder.getDictionaryAttr({}));
  }
  kernel.setFunctionType(
      builder.getFunctionType(types, kernel.getFunctionType().getResults()));
  kernel.setAllArgAttrs(attributes);
  llvm::BitVector ofBlock = sunk;
  ofBlock.resize(kernel.front().getNumArguments());
  kernel.front().eraseArguments(ofBlock);
}

void KernelRebuilder::run(const llvm::BitVector &sunk) {
  for (unsigned i : sunk.set_bits()) {
    kernel.getArgument(i).replaceAllUsesWith(
        rebuild(getArguments(launches, i)));
    recordRemark(RemarkId::SinkAllocs_SunkIntoKernel, kernel)
        << "buffer of the host made a buffer of the kernel"
        << remark::metric("Argument", i);
  }
  changeSignature(sunk);
  if (!newArguments.empty())
    recordRemark(RemarkId::SinkAllocs_PassedToKernel, kernel)
        << "sizes and places of buffers made arguments of the kernel"
        << remark::metric("Arguments", newArguments.size());
  for (auto [k, launch] : llvm::enumerate(launches)) {
    gpu::LaunchFuncOp site = launch;
    for (int i = sunk.find_last(); i >= 0; i = sunk.find_prev(i))
      site.getKernelOperandsMutable().erase(i);
    for (const SiteValues &values : newArguments)
      site.getKernelOperandsMutable().append(values[k]);
  }
}

void rebuildArguments(gpu::GPUFuncOp kernel,
                      ArrayRef<gpu::LaunchFuncOp> launches,
                      const llvm::BitVector &sunk, KernelGlobals &globals) {
  KernelRebuilder(kernel, launches, globals).run(sunk);
}

} // namespace mlir::workgroup
