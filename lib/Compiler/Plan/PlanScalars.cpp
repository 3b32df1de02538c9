//===- PlanScalars.cpp - Numbers that the host computes -------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Steps of a plan that compute numbers: an operation of `arith` or `math` on
// scalars is a step of the same name, and an affine map is written as nested
// lists, as `["+", ["d", 0], 1]`. The reader of a plan evaluates these names;
// an operation that it does not know is refused when the plan is written.
//
//===----------------------------------------------------------------------===//

#include "PlanScalars.h"
#include "Compiler/Records/Records.h"
#include "PlanExpressions.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::workgroup {

using llvm::json::Array;
using llvm::json::Object;

/// Whoever reads a plan knows these by their names in MLIR.
static bool isKnownScalar(StringRef name) {
  static const llvm::StringSet<> known = {
      "arith.addi",       "arith.subi",       "arith.muli",
      "arith.divsi",      "arith.divui",      "arith.remsi",
      "arith.remui",      "arith.ceildivsi",  "arith.ceildivui",
      "arith.floordivsi", "arith.minsi",      "arith.minui",
      "arith.maxsi",      "arith.maxui",      "arith.andi",
      "arith.ori",        "arith.xori",       "arith.shli",
      "arith.shrsi",      "arith.shrui",      "arith.cmpi",
      "arith.select",     "arith.index_cast", "arith.index_castui",
      "arith.extsi",      "arith.extui",      "arith.trunci",
      "arith.addf",       "arith.subf",       "arith.mulf",
      "arith.divf",       "arith.negf",       "arith.maximumf",
      "arith.minimumf",   "arith.maxnumf",    "arith.minnumf",
      "arith.cmpf",       "arith.extf",       "arith.truncf",
      "arith.sitofp",     "arith.uitofp",     "arith.fptosi",
      "arith.fptoui",     "arith.bitcast",    "math.absf",
      "math.ceil",        "math.cos",         "math.erf",
      "math.exp",         "math.exp2",        "math.expm1",
      "math.floor",       "math.log",         "math.log10",
      "math.log1p",       "math.log2",        "math.powf",
      "math.rsqrt",       "math.sin",         "math.sqrt",
      "math.tan",         "math.tanh"};
  return known.contains(name);
}

static Object getMap(AffineMap map) {
  Array results;
  for (AffineExpr expr : map.getResults())
    results.push_back(describeExpression(expr));
  return Object{{"dims", static_cast<int64_t>(map.getNumDims())},
                {"results", std::move(results)}};
}

static bool isScalar(Type type) {
  return type.isIndex() || (isa<IntegerType, FloatType>(type) &&
                            type.getIntOrFloatBitWidth() <= 64);
}

bool writeScalar(Operation *op, PlanValues &values, Array &steps) {
  StringRef name = op->getName().getStringRef();
  Object step = values.makeStep(op);
  step["args"] = values.operands(op->getOperands());
  if (op->getNumResults() == 1)
    step["type"] = printType(op->getResult(0).getType());
  bool isKnown =
      llvm::TypeSwitch<Operation *, bool>(op)
          .Case<affine::AffineApplyOp, affine::AffineMinOp,
                affine::AffineMaxOp>([&](auto affine) {
            step["map"] = getMap(affine.getAffineMap());
            return true;
          })
          .Case<cf::AssertOp>([&](cf::AssertOp assertion) {
            step["text"] = assertion.getMsg();
            return true;
          })
          .Case<arith::CmpIOp>([&](arith::CmpIOp compare) {
            step["predicate"] = stringifyCmpIPredicate(compare.getPredicate());
            return true;
          })
          .Case<arith::CmpFOp>([&](arith::CmpFOp compare) {
            step["predicate"] = stringifyCmpFPredicate(compare.getPredicate());
            return true;
          })
          .Case<arith::SelectOp>([](auto) { return true; })
          .Default([&](Operation *) {
            return isKnownScalar(name) &&
                   llvm::all_of(op->getResultTypes(), isScalar);
          });
  if (!isKnown)
    return values.refuse(
        op, "'" + name +
                "' op is work of the host that a launch plan cannot "
                "express; do it in a kernel, or before the call");
  if (op->getNumOperands() && isScalar(op->getOperand(0).getType()))
    step["from"] =
        printType(op->getOperand(op->getNumOperands() - 1).getType());
  steps.push_back(std::move(step));
  return true;
}

} // namespace mlir::workgroup
