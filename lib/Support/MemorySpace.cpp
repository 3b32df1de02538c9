//===- MemorySpace.cpp - Memory spaces of buffers in kernels --------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "workgroup/Support/MemorySpace.h"
#include "AddressSpaces.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "workgroup/Support/Kernel.h"

namespace mlir::workgroup {

int64_t getAddressSpace(Attribute attribute) {
  if (!attribute)
    return kGenericSpace;
  if (auto number = dyn_cast<IntegerAttr>(attribute))
    return number.getValue().isIntN(31)
               ? static_cast<int64_t>(number.getValue().getZExtValue())
               : -1;
  if (auto space = dyn_cast<LLVM::LLVMAddrSpaceAttrInterface>(attribute))
    return space.getAddressSpace();
  if (auto space = dyn_cast<NVVM::NVVMMemorySpaceAttr>(attribute))
    return static_cast<int64_t>(space.getValue());
  if (auto space = dyn_cast<gpu::AddressSpaceAttr>(attribute)) {
    switch (space.getValue()) {
    case gpu::AddressSpace::Global:
      return static_cast<int64_t>(NVVM::NVVMMemorySpace::Global);
    case gpu::AddressSpace::Workgroup:
      return static_cast<int64_t>(NVVM::NVVMMemorySpace::Shared);
    case gpu::AddressSpace::Private:
      return static_cast<int64_t>(NVVM::NVVMMemorySpace::Local);
    }
  }
  return -1;
}

std::optional<int64_t> getAddressSpace(Type type) {
  if (auto memref = dyn_cast<BaseMemRefType>(type))
    return getAddressSpace(memref.getMemorySpace());
  if (auto pointer = dyn_cast<LLVM::LLVMPointerType>(type))
    return pointer.getAddressSpace();
  return std::nullopt;
}

bool isWorkgroupSpace(Attribute attribute) {
  return getAddressSpace(attribute) ==
         static_cast<int64_t>(NVVM::NVVMMemorySpace::Shared);
}

bool isWorkgroupMemory(Type type) {
  auto memref = dyn_cast<BaseMemRefType>(type);
  return memref && isWorkgroupSpace(memref.getMemorySpace());
}

bool isPrivateMemory(Type type) {
  auto memref = dyn_cast<BaseMemRefType>(type);
  auto space =
      memref ? dyn_cast_or_null<gpu::AddressSpaceAttr>(memref.getMemorySpace())
             : gpu::AddressSpaceAttr();
  return space && space.getValue() == gpu::AddressSpace::Private;
}

Attribute getWorkgroupSpace(MLIRContext *context) {
  return gpu::AddressSpaceAttr::get(context, gpu::AddressSpace::Workgroup);
}

BaseMemRefType withMemorySpace(BaseMemRefType type, Attribute space) {
  if (auto ranked = dyn_cast<MemRefType>(type))
    return MemRefType::Builder(ranked).setMemorySpace(space);
  return UnrankedMemRefType::get(type.getElementType(), space);
}

Value getViewSource(Operation *op) {
  Value source;
  if (auto view = dyn_cast<ViewLikeOpInterface>(op))
    source = view.getViewSource();
  else if (auto transpose = dyn_cast<memref::TransposeOp>(op))
    source = transpose.getIn(); // a view in all but its interface
  return source && isa<BaseMemRefType>(source.getType()) ? source : Value();
}

Value getRootBuffer(Value memref) {
  while (Operation *op = memref.getDefiningOp()) {
    Value source = getViewSource(op);
    if (!source)
      break;
    memref = source;
  }
  return memref;
}

/// True if `op`, which defines what `memref` is a view of, is host code that
/// launches kernels. A view that is made in a launch tells without a search.
static bool isOfLaunchingCode(Value memref, Operation *op) {
  auto launch = memref.getParentRegion()->getParentOfType<gpu::LaunchOp>();
  Operation *scope = getExecutionScope(op);
  if (launch && scope && scope->isProperAncestor(launch) &&
      !isa<gpu::LaunchOp, gpu::GPUFuncOp>(scope) &&
      !scope->getParentOfType<gpu::GPUModuleOp>())
    return true;
  return isInLaunchingCode(op);
}

MemorySpace getMemorySpace(Value memref) {
  int64_t space =
      getAddressSpace(cast<BaseMemRefType>(memref.getType()).getMemorySpace());
  switch (space) {
  case static_cast<int64_t>(NVVM::NVVMMemorySpace::Global):
    return MemorySpace::Global;
  case static_cast<int64_t>(NVVM::NVVMMemorySpace::Shared):
    return MemorySpace::Workgroup;
  case static_cast<int64_t>(NVVM::NVVMMemorySpace::Local):
    return MemorySpace::Private;
  case 0:
    break;
  default:
    return MemorySpace::Other;
  }

  // The default space: decided by where the memory comes from.
  Value root = getRootBuffer(memref);
  if (root.getType() != memref.getType() &&
      getAddressSpace(cast<BaseMemRefType>(root.getType()).getMemorySpace()))
    return getMemorySpace(root);
  if (Operation *definition = root.getDefiningOp()) {
    if (isa<memref::AllocOp, memref::AllocaOp>(definition))
      return isOfLaunchingCode(memref, definition) ? MemorySpace::Global
                                                   : MemorySpace::Private;
    if (isa<memref::GetGlobalOp>(definition) ||
        isOfLaunchingCode(memref, definition))
      return MemorySpace::Global;
    return MemorySpace::Other;
  }
  // Arguments of kernels and values from the host are global; arguments of
  // loops, branches and device functions may be any memory.
  Block *block = cast<BlockArgument>(root).getOwner();
  Operation *owner = block->getParentOp();
  if ((isKernel(owner) && block->isEntryBlock()) ||
      isOfLaunchingCode(memref, owner))
    return MemorySpace::Global;
  return MemorySpace::Other;
}

//===----------------------------------------------------------------------===//
// Aliasing
//===----------------------------------------------------------------------===//

namespace {
/// What is known of the memory behind a root buffer.
enum class Origin {
  Allocation, ///< its own, whatever else there is
  Global,     ///< a `memref.global`
  Dynamic,    ///< the dynamic workgroup memory of the launch
  Argument,   ///< the caller's: none of the callee's allocations
  NoAlias,    ///< the caller's, and no other argument's or global's
  Unknown,    ///< any of the above
};
} // namespace

static Origin getOrigin(Value root) {
  if (Operation *op = root.getDefiningOp()) {
    if (isa<memref::AllocOp, memref::AllocaOp, gpu::AllocOp>(op))
      return Origin::Allocation;
    if (isa<gpu::DynamicSharedMemoryOp>(op))
      return Origin::Dynamic;
    auto get = dyn_cast<memref::GetGlobalOp>(op);
    if (!get)
      return Origin::Unknown;
    bool isDynamic = isWorkgroupMemory(get.getType()) &&
                     get.getType().hasStaticShape() &&
                     get.getType().getNumElements() == 0;
    return isDynamic ? Origin::Dynamic : Origin::Global;
  }
  auto argument = cast<BlockArgument>(root);
  Operation *owner = argument.getOwner()->getParentOp();
  unsigned number = argument.getArgNumber();
  if (!argument.getOwner()->isEntryBlock())
    return Origin::Unknown;
  if (auto launch = dyn_cast<gpu::LaunchOp>(owner))
    return number >= launch.getNumConfigRegionAttributes() ? Origin::Allocation
                                                           : Origin::Unknown;
  auto function = dyn_cast<FunctionOpInterface>(owner);
  if (!function)
    return Origin::Unknown;
  if (number >= function.getNumArguments())
    return Origin::Allocation;
  return function.getArgAttr(number, LLVM::LLVMDialect::getNoAliasAttrName())
             ? Origin::NoAlias
             : Origin::Argument;
}

bool mayAlias(Value lhs, Value rhs) {
  Value lhsRoot = getRootBuffer(lhs), rhsRoot = getRootBuffer(rhs);
  if (lhsRoot == rhsRoot)
    return true;
  Origin lhsOrigin = getOrigin(lhsRoot), rhsOrigin = getOrigin(rhsRoot);
  bool isKnown = lhsOrigin != Origin::Unknown && rhsOrigin != Origin::Unknown;
  auto isOwn = [](Origin origin) {
    return origin == Origin::Allocation || origin == Origin::NoAlias;
  };
  if (isKnown && (isOwn(lhsOrigin) || isOwn(rhsOrigin)))
    return false;
  if (lhsOrigin == Origin::Global && rhsOrigin == Origin::Global)
    return lhsRoot.getDefiningOp<memref::GetGlobalOp>().getNameAttr() ==
           rhsRoot.getDefiningOp<memref::GetGlobalOp>().getNameAttr();
  // Last, as it may have to look far around.
  MemorySpace lhsSpace = getMemorySpace(lhs), rhsSpace = getMemorySpace(rhs);
  return lhsSpace == rhsSpace || lhsSpace == MemorySpace::Other ||
         rhsSpace == MemorySpace::Other;
}

} // namespace mlir::workgroup
