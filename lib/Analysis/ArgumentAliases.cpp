//===- ArgumentAliases.cpp - Arguments that do not overlap ----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "workgroup/Analysis/ArgumentAliases.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Support/MemorySpace.h"

namespace mlir::workgroup {

ArgumentAliases::ArgumentAliases(Operation *root, bool areDistinct)
    : areDistinct(areDistinct) {
  if (!areDistinct)
    return;
  SymbolTableCollection symbols;
  root->walk([&](gpu::LaunchFuncOp launch) {
    Operation *kernel =
        symbols.lookupNearestSymbolFrom(launch, launch.getKernelAttr());
    if (kernel && root->isAncestor(kernel))
      launches[kernel].push_back(launch);
  });
}

/// The function of which `root` is an argument that a launch, or who calls the
/// host function, passes; null if it is anything else.
static FunctionOpInterface getEntry(Value root) {
  auto argument = dyn_cast<BlockArgument>(root);
  if (!argument || !argument.getOwner()->isEntryBlock())
    return {};
  auto function =
      dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
  if (!function || argument.getArgNumber() >= function.getNumArguments())
    return {};
  return isKernel(function) || !isDeviceFunction(function)
             ? function
             : FunctionOpInterface();
}

bool ArgumentAliases::mayAlias(Value lhs, Value rhs) const {
  if (!workgroup::mayAlias(lhs, rhs))
    return false;
  if (!areDistinct)
    return true;
  Value left = getRootBuffer(lhs), right = getRootBuffer(rhs);
  FunctionOpInterface function = getEntry(left);
  if (left == right || !function || function != getEntry(right))
    return true;
  auto sites = launches.find(function);
  if (sites == launches.end())
    return false;
  unsigned first = cast<BlockArgument>(left).getArgNumber();
  unsigned second = cast<BlockArgument>(right).getArgNumber();
  return llvm::any_of(sites->second, [&](gpu::LaunchFuncOp launch) {
    return mayAlias(launch.getKernelOperand(first),
                    launch.getKernelOperand(second));
  });
}

} // namespace mlir::workgroup
