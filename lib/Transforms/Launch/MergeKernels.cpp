//===- MergeKernels.cpp - One kernel for all that are alike ---------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Networks repeat their layers, and outlining makes a kernel of each. Most of
// the time of a compilation is that of LLVM, kernel by kernel.
//
//===----------------------------------------------------------------------===//

#include "Support/Remarks.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "workgroup/Support/MemorySpace.h"
#include "workgroup/Transforms/Launch.h"
#include "llvm/ADT/Hashing.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_MERGEKERNELSPASS
#include "workgroup/Transforms/Launch.h.inc"

/// A number that is the same for modules of kernels that are alike.
static llvm::hash_code hashContents(gpu::GPUModuleOp kernels) {
  llvm::hash_code hash(0);
  kernels.getBodyRegion().walk([&](Operation *op) {
    hash = llvm::hash_combine(hash, op->getName(), op->getAttrDictionary(),
                              op->getResultTypes());
  });
  return hash;
}

/// True if the modules differ in nothing but their names and locations.
static bool areAlike(gpu::GPUModuleOp lhs, gpu::GPUModuleOp rhs) {
  auto getAttributes = [](gpu::GPUModuleOp kernels) {
    NamedAttrList attributes(kernels->getAttrDictionary());
    attributes.erase(SymbolTable::getSymbolAttrName());
    return attributes.getDictionary(kernels.getContext());
  };
  return getAttributes(lhs) == getAttributes(rhs) &&
         OperationEquivalence::isRegionEquivalentTo(
             &lhs.getBodyRegion(), &rhs.getBodyRegion(),
             OperationEquivalence::IgnoreLocations);
}

/// Lets each operation of `kept` tell of the places of those that it stands
/// for from now on, in modules that differ in nothing else.
static void fuseLocations(gpu::GPUModuleOp kept,
                          ArrayRef<gpu::GPUModuleOp> others) {
  auto collect = [](gpu::GPUModuleOp kernels) {
    SmallVector<Operation *> all;
    kernels.walk([&](Operation *op) { all.push_back(op); });
    return all;
  };
  SmallVector<SmallVector<Operation *>> theirs;
  for (gpu::GPUModuleOp other : others)
    theirs.push_back(collect(other));
  for (auto [number, op] : llvm::enumerate(collect(kept))) {
    SmallVector<Location> places = {op->getLoc()};
    for (ArrayRef<Operation *> all : theirs)
      places.push_back(all[number]->getLoc());
    op->setLoc(FusedLoc::get(op->getContext(), places));
  }
}

/// True if the module has no variables of its own that launches may change.
static bool isStateless(gpu::GPUModuleOp kernels) {
  return llvm::all_of(*kernels.getBody(), [](Operation &op) {
    auto variable = dyn_cast<memref::GlobalOp>(op);
    return isa<FunctionOpInterface>(op) ||
           (variable &&
            (variable.getConstant() || isWorkgroupMemory(variable.getType())));
  });
}

/// True if `user` only launches a kernel.
static bool isLaunch(Operation *user) { return isa<gpu::LaunchFuncOp>(user); }

static void launch(gpu::GPUModuleOp kernels, Operation *user) {
  auto launch = cast<gpu::LaunchFuncOp>(user);
  launch.setKernelAttr(SymbolRefAttr::get(
      kernels.getSymNameAttr(), launch.getKernelAttr().getNestedReferences()));
}

void mergeKernels(ModuleOp module) {
  auto all = module.getOps<gpu::GPUModuleOp>();
  if (all.empty() || llvm::hasSingleElement(all))
    return;
  SymbolTableCollection symbols;
  SymbolUserMap users(symbols, module);
  DenseMap<size_t, SmallVector<gpu::GPUModuleOp, 1>> kept;
  llvm::MapVector<gpu::GPUModuleOp, SmallVector<gpu::GPUModuleOp>> merged;
  for (auto kernels : all) {
    ArrayRef<Operation *> launches = users.getUsers(kernels);
    if (launches.empty() || !llvm::all_of(launches, isLaunch) ||
        !isStateless(kernels))
      continue; // others may ask for it by its name
    SmallVector<gpu::GPUModuleOp, 1> &others = kept[hashContents(kernels)];
    auto *same = llvm::find_if(others, [&](gpu::GPUModuleOp other) {
      return areAlike(other, kernels);
    });
    if (same == others.end()) {
      others.push_back(kernels);
      continue;
    }
    recordRemark(RemarkId::MergeKernels_MergedKernels, kernels)
        << ("kernels of '" + kernels.getName() + "' are those of '" +
            same->getName() + "'")
               .str();
    for (Operation *user : launches)
      launch(*same, user);
    merged[*same].push_back(kernels);
  }
  for (auto &[same, others] : merged) {
    fuseLocations(same, others);
    for (gpu::GPUModuleOp other : others)
      other.erase();
  }
}

namespace {
struct MergeKernelsPass final : impl::MergeKernelsPassBase<MergeKernelsPass> {
  using MergeKernelsPassBase::MergeKernelsPassBase;

  void runOnOperation() override { mergeKernels(getOperation()); }
};
} // namespace

} // namespace mlir::workgroup
