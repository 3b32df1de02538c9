//===- PlanWriter.h - The steps of a host function --------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One walk over a host function writes a step for each operation: views,
// allocations, control flow, calls and launches. Numbers are in PlanScalars.h,
// and when buffers are freed, in PlanLifetimes.h.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_COMPILER_PLAN_PLANWRITER_H
#define WORKGROUP_LIB_COMPILER_PLAN_PLANWRITER_H

#include "PlanLifetimes.h"
#include "PlanValues.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::workgroup {

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
  bool writeLaunch(gpu::LaunchFuncOp launch, Array &steps);
  bool writeCall(func::CallOp call, Array &steps);
  bool writeInline(scf::ExecuteRegionOp op, Array &steps);
  bool writeData(Operation *op, Array &steps);
  bool writeRegion(Region &region, Object &step, StringRef name);
  void writeFrees(Operation *op, Array &steps);

  llvm::json::Array &data;
  DenseMap<StringAttr, int64_t> &dataOf;
  const DenseSet<Operation *> &recursive;
  unsigned &numLaunches;
  PlanValues values;
  FreesAfter freesAfter;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_COMPILER_PLAN_PLANWRITER_H
