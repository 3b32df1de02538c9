//===- NestedLaunches.cpp - Kernels that would start kernels --------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NestedLaunches.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "workgroup/Support/Kernel.h"

namespace mlir::workgroup {

static Operation *findExecuted(Operation *scope,
                               llvm::function_ref<bool(Operation *)> isFound,
                               DenseSet<Operation *> &visited) {
  Operation *found = nullptr;
  scope->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != scope && isFound(op))
      found = op;
    if (auto call = dyn_cast<CallOpInterface>(op))
      if (Operation *callee = call.resolveCallable();
          callee && visited.insert(callee).second)
        found = found ? found : findExecuted(callee, isFound, visited);
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found;
}

Operation *findExecuted(Operation *scope,
                        llvm::function_ref<bool(Operation *)> isFound) {
  DenseSet<Operation *> visited;
  return findExecuted(scope, isFound, visited);
}

LogicalResult checkNestedLaunches(Operation *root) {
  auto isLaunch = llvm::IsaPred<gpu::LaunchOp, gpu::LaunchFuncOp>;
  DenseSet<Operation *> reported;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    bool isDeviceCode = isa<gpu::LaunchOp>(op) ||
                        (isa<FunctionOpInterface>(op) &&
                         isa_and_nonnull<gpu::GPUModuleOp>(op->getParentOp()));
    if (!isDeviceCode)
      return WalkResult::advance();
    Operation *inner = findExecuted(op, isLaunch);
    if (inner && reported.insert(inner).second) {
      InFlightDiagnostic error = inner->emitOpError(
          "is executed by the threads of a kernel, and kernels cannot launch "
          "kernels; launch it from the host, or make a loop over threads of "
          "it");
      error.attachNote(op->getLoc()) << "the kernel around it";
    }
    return WalkResult::skip();
  });
  return success(reported.empty());
}

} // namespace mlir::workgroup
