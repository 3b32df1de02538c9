//===- NoKernels.cpp - Why nothing of a program is a kernel ---------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NoKernels.h"
#include "Transforms/Linalg/LinalgClasses.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/SmallSet.h"

namespace mlir::workgroup {

/// Why `op` is no kernel; empty for what does nothing by itself.
static StringRef getReason(Operation *op) {
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return isEmpty(linalgOp) ? "has no elements"
                             : "has no effect on what the function returns";
  if (isa<tensor::InsertSliceOp, tensor::ConcatOp, memref::CopyOp,
          bufferization::MaterializeInDestinationOp>(op))
    return "is a copy, which is the host's work";
  if (isa<tensor::ExtractOp, tensor::InsertOp, memref::LoadOp, memref::StoreOp>(
          op))
    return "is about one element at a time, which is the host's work";
  if (isa<LoopLikeOpInterface>(op))
    return "goes from one iteration to the next, which is the host's work "
           "unless it "
           "is mapped to blocks";
  return "";
}

/// The first operation of `function` that each reason goes for.
static SmallVector<std::pair<Operation *, StringRef>>
collectReasons(FunctionOpInterface function) {
  SmallVector<std::pair<Operation *, StringRef>> reasons;
  llvm::SmallSet<StringRef, 4> seen;
  function->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (StringRef reason = getReason(op);
        !reason.empty() && seen.insert(reason).second)
      reasons.emplace_back(op, reason);
    return isa<linalg::LinalgOp>(op) ? WalkResult::skip()
                                     : WalkResult::advance();
  });
  return reasons;
}

void warnOfNoKernels(ModuleOp module) {
  for (auto function : module.getOps<FunctionOpInterface>()) {
    if (function.isExternal())
      continue;
    auto reasons = collectReasons(function);
    InFlightDiagnostic warning = function.emitWarning("nothing of '@")
                                 << function.getName() << "' became a kernel: ";
    if (reasons.empty())
      warning << "there is nothing in it to compute";
    else
      warning << "the host does all of it; write what blocks of threads shall "
                 "do as operations of linalg";
    for (auto [op, reason] : reasons)
      warning.attachNote(op->getLoc())
          << "'" << op->getName() << "' op " << reason;
  }
}

} // namespace mlir::workgroup
