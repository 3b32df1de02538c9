//===- LaunchPlan.h - What the host does, as data ---------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The host functions of a program as a document that any language can read: in
// which order kernels are launched, with which buffers and sizes, and how long
// buffers live. docs/launch-plan.md has the schema.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_COMPILER_PLAN_LAUNCHPLAN_H
#define WORKGROUP_LIB_COMPILER_PLAN_LAUNCHPLAN_H

#include "Requirements.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/JSON.h"

namespace mlir::workgroup {

/// An expression as `["+", lhs, rhs]`, `["d", number]`, `["s", number]` or an
/// integer.
llvm::json::Value describeExpression(AffineExpr expr);

/// The plan of a module. Launches name kernels by their number among all
/// launches of the host, as lowering may rename kernels.
class LaunchPlan {
public:
  /// Takes the plan from the outlined `module`; its functions have these
  /// requirements.
  LaunchPlan(ModuleOp module, const RequirementsOf &requirements);

  /// Gives the kernels the names that they have in `module` by now.
  void nameKernels(ModuleOp module);

  std::string print(StringRef chip) const;

private:
  llvm::json::Array kernels, functions, data;
};

/// Writes down one host function.
class PlanWriter {
public:
  PlanWriter(llvm::json::Array &data, DenseMap<StringAttr, int64_t> &dataOf,
             const DenseSet<Operation *> &recursive, unsigned &numLaunches)
      : data(data), dataOf(dataOf), recursive(recursive),
        numLaunches(numLaunches) {}

  llvm::json::Object write(func::FuncOp function);

private:
  using Object = llvm::json::Object;
  using Array = llvm::json::Array;

  bool writeBlock(Block &block, Array &steps);
  bool writeOp(Operation *op, Array &steps);
  bool writeView(Operation *op, Array &steps);
  bool writeMemory(Operation *op, Array &steps);
  bool writeControl(Operation *op, Array &steps);
  bool writeScalar(Operation *op, Array &steps);
  bool writeLaunch(gpu::LaunchFuncOp launch, Array &steps);
  bool writeCall(func::CallOp call, Array &steps);
  bool writeInline(scf::ExecuteRegionOp op, Array &steps);
  bool writeData(Operation *op, Array &steps);
  bool writeRegion(Region &region, Object &step, StringRef name);
  void writeFrees(Operation *op, Array &steps);
  void findLifetimes(Block &block);

  bool refuse(Operation *op, const Twine &reason);
  int64_t number(Value value);
  llvm::json::Value operand(Value value);
  Array operands(ValueRange values);
  Array mixed(ArrayRef<OpFoldResult> values);
  Array numbers(ValueRange values);
  Object makeStep(Operation *op);

  llvm::json::Array &data;
  DenseMap<StringAttr, int64_t> &dataOf;
  const DenseSet<Operation *> &recursive;
  unsigned &numLaunches;
  DenseMap<Value, int64_t> numberOf;
  /// Allocations that nobody needs behind an operation.
  DenseMap<Operation *, SmallVector<Value>> freesAfter;
  Object refusal;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_COMPILER_PLAN_LAUNCHPLAN_H
