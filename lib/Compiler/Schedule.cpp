//===- Schedule.cpp - Applying transform dialect schedules ----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Schedule.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/TransformOps/LinalgTransformOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/IR/Remarks.h"
#include "workgroup/Pipelines.h"
#include "workgroup/Support/Kernel.h"

namespace mlir::workgroup {

bool hasWork(ModuleOp module) {
  auto isTensor = llvm::IsaPred<RankedTensorType>;
  auto isWork = [&](Operation *op) {
    return isa_and_nonnull<linalg::LinalgDialect>(op->getDialect()) ||
           isa<memref::CopyOp>(op) ||
           llvm::any_of(op->getResultTypes(), isTensor) ||
           llvm::any_of(op->getOperandTypes(), isTensor);
  };
  auto walk = [&](Operation *op) {
    return isWork(op) && !isInDeviceCode(op) ? WalkResult::interrupt()
                                             : WalkResult::advance();
  };
  return llvm::any_of(module.getOps<FunctionOpInterface>(),
                      [&](Operation *function) {
                        return function->walk(walk).wasInterrupted();
                      });
}

bool formsKernels(ModuleOp schedule) {
  return schedule
      .walk([](transform::ApplyRegisteredPassOp op) {
        StringRef name = op.getPassName();
        return name == kKernelPipeline || name == getFormKernelsName()
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

bool dropKernelFormation(ModuleOp schedule) {
  return schedule
      .walk([](transform::ApplyRegisteredPassOp op) {
        if (op.getPassName() != kKernelPipeline)
          return WalkResult::advance();
        op.getResult().replaceAllUsesWith(op.getTarget());
        op.erase();
        return WalkResult::interrupt();
      })
      .wasInterrupted();
}

LogicalResult checkAllScheduled(ModuleOp module) {
  auto check = [](linalg::LinalgOp op) {
    if (isInDeviceCode(op))
      return WalkResult::advance();
    auto function = op->getParentOfType<FunctionOpInterface>();
    auto isSpecial = [](Value operand) {
      auto type = dyn_cast<MemRefType>(operand.getType());
      return type && type.getMemorySpace();
    };
    if (llvm::any_of(op->getOperands(), isSpecial))
      op.emitOpError("is in no kernel, and none is formed of what works on "
                     "memory with a memory space; leave it out of the types of "
                     "the function: arguments of kernels are global memory");
    else
      op.emitOpError("is in no kernel: the schedule neither tiles nor launches "
                     "what is in '@")
          << (function ? function.getName() : StringRef("?"))
          << "', or workgroup-form-kernels can make no kernel of it; write it "
             "on tensors, or launch it by scf.forall mapped to blocks";
    return WalkResult::interrupt();
  };
  return failure(module.walk(check).wasInterrupted());
}

void reportHostWork(ModuleOp module, bool warns) {
  module.walk([&](linalg::LinalgOp op) {
    if (isInDeviceCode(op))
      return;
    remark::missed(op->getLoc(),
                   remark::RemarkOpts::name("LeftOnHost")
                       .category("workgroup-compile")
                       .function(getScopeName(getExecutionScope(op))))
        << remark::reason("it is outside of all kernels");
    if (warns)
      op->emitWarning("'")
          << op->getName()
          << "' op stays on the host: for a module that has kernels no "
             "schedule "
             "is chosen; put it into a module of its own, or give a schedule "
             "by --schedule FILE";
  });
}

void reportUnknownFunctions(ModuleOp module, ModuleOp schedule) {
  schedule.walk([&](transform::MatchOp op) {
    DictionaryAttr attributes = op.getOpAttrsAttr();
    auto name =
        attributes
            ? attributes.getAs<StringAttr>(SymbolTable::getSymbolAttrName())
            : StringAttr();
    if (!name || module.lookupSymbol(name))
      return;
    InFlightDiagnostic error = op.emitError("there is no function '@")
                               << name.getValue() << "' to match";
    auto functions = llvm::to_vector(module.getOps<func::FuncOp>());
    error << "; there are ";
    llvm::interleaveComma(functions, error, [&](func::FuncOp function) {
      error << '@' << function.getName();
    });
  });
}

OwningOpRef<ModuleOp> unwrapProgram(OwningOpRef<ModuleOp> module) {
  while (llvm::hasSingleElement(*module->getBody())) {
    auto inner = dyn_cast<ModuleOp>(module->getBody()->front());
    if (!inner)
      break;
    inner->remove();
    module = inner;
  }
  return module;
}

} // namespace mlir::workgroup
