//===- SymbolicTranslator.h - From values to linear forms -------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What one operation, or one argument of a block, means for a value. Arithmetic
// that has rules of its own is with them: bits, divisions, sums that may wrap,
// values that loops carry.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_INDEX_SYMBOLICTRANSLATOR_H
#define WORKGROUP_LIB_ANALYSIS_INDEX_SYMBOLICTRANSLATOR_H

#include "BitForms.h"
#include "CarriedForms.h"
#include "DivisionForms.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::workgroup {

struct LaunchValue;

/// Translates values, each by what defines it.
class SymbolicTranslator {
public:
  SymbolicTranslator(FormAlgebra &algebra, ValueForms &values,
                     AffineForms &affine, LoopForms &loopForms,
                     KnownForms &known)
      : algebra(algebra), values(values), affine(affine), loopForms(loopForms),
        wraps(algebra, values, loopForms), bits(algebra, values, wraps),
        divisions(algebra, values, wraps),
        carriedForms(algebra, values, loopForms, known) {}

  SymbolicForm translate(Value value);

private:
  using Form = SymbolicForm;

  std::optional<Form> translateId(Value value);
  Form translateLaunchValue(const LaunchValue &id);
  std::optional<Form> translateLaunchId(gpu::LaunchOp launch,
                                        BlockArgument value);
  std::optional<Form> translateArith(Operation *op);
  Form translateSelect(arith::SelectOp op);
  Form translateArgument(BlockArgument argument);
  Form translateExtent(Value memref, int64_t dim);
  Form getExtent(Value memref, int64_t dim);
  std::optional<Form> translateMetadata(memref::ExtractStridedMetadataOp op,
                                        unsigned result);
  Form translateResult(OpResult result);
  Form translateLoopResult(scf::ForOp counted, OpResult result);
  Form translateBranchResult(scf::IfOp op, unsigned result);

  FormAlgebra &algebra;
  ValueForms &values;
  AffineForms &affine;
  LoopForms &loopForms;
  WrapForms wraps;
  BitForms bits;
  DivisionForms divisions;
  CarriedForms carriedForms;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_INDEX_SYMBOLICTRANSLATOR_H
