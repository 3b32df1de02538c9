//===- HostBranches.cpp - Branches of the host as regions -----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostBranches.h"
#include "Transforms/Linalg/SplitSwitches.h"
#include "mlir/Conversion/ControlFlowToSCF/ControlFlowToSCF.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "workgroup/Support/Kernel.h"

namespace mlir::workgroup {

namespace {
/// Carries on numbers, where nothing is carried on: plans have no values that
/// are none.
struct HostTransformation : ControlFlowToSCFTransformation {
  Value getUndefValue(Location loc, OpBuilder &builder, Type type) override {
    if (TypedAttr zero = builder.getZeroAttr(type);
        zero && type.isIntOrIndexOrFloat())
      return arith::ConstantOp::create(builder, loc, zero);
    return ControlFlowToSCFTransformation::getUndefValue(loc, builder, type);
  }
};
} // namespace

/// Structures `function`; one that upstream gives up on stays as it is.
static void structure(func::FuncOp function) {
  MLIRContext *context = function.getContext();
  context->getOrLoadDialect<scf::SCFDialect>();
  context->getOrLoadDialect<ub::UBDialect>();
  ScopedDiagnosticHandler quiet(context,
                                [](Diagnostic &) { return success(); });
  OwningOpRef<func::FuncOp> copy = function.clone();
  HostTransformation transformation;
  DominanceInfo dominance(*copy);
  if (failed(transformCFGToSCF(copy->getBody(), transformation, dominance)) ||
      !copy->getBody().hasOneBlock())
    return;
  splitSwitches(*copy);
  function.getBody().takeBody(copy->getBody());
}

void structureHostBranches(ModuleOp module) {
  DenseSet<Operation *> ofDevice;
  for (Operation *scope : collectDeviceScopes(module))
    ofDevice.insert(scope);
  module.walk([&](func::FuncOp function) {
    if (!function.isDeclaration() && !function.getBody().hasOneBlock() &&
        !ofDevice.contains(function) && !isDeviceFunction(function))
      structure(function);
  });
}

} // namespace mlir::workgroup
