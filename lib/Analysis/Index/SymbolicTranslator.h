//===- SymbolicTranslator.h - From values to linear forms -------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_INDEX_SYMBOLICTRANSLATOR_H
#define WORKGROUP_LIB_ANALYSIS_INDEX_SYMBOLICTRANSLATOR_H

#include "SymbolicIndex.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::workgroup {

/// The numbers that fit into `type`.
Interval getTypeRange(Type type);

/// No loop has as many iterations, which would take weeks. So what starts near
/// zero and goes on by small steps stays far from the ends of 64 bits.
constexpr int64_t kMaxIterations = int64_t(1) << 50;
constexpr int64_t kMaxStep = int64_t(1) << 10;
constexpr int64_t kMaxStart = int64_t(1) << 60;

/// When lhs < rhs as unsigned numbers, where one of them is known not to be
/// negative; nothing if none is.
std::optional<SymbolicCondition> isBelowUnsigned(const SymbolicForm &lhs,
                                                 bool isLhsPlain,
                                                 const SymbolicForm &rhs,
                                                 bool isRhsPlain);

/// y, if `condition ? lhs : rhs` is y < n ? y : y - n, where y is taken not to
/// be negative. Finds n.
std::optional<SymbolicForm> matchWrapping(const SymbolicForm &lhs,
                                          const SymbolicForm &rhs,
                                          const SymbolicCondition &condition,
                                          int64_t &size);

/// What one operation means for its results.
class SymbolicTranslator {
public:
  explicit SymbolicTranslator(SymbolicIndex &index) : index(index) {}

  SymbolicForm translate(Value value);
  SymbolicForm translate(AffineExpr expr, ValueRange operands,
                         unsigned numDims);
  SymbolicForm translateExtremum(AffineMap map, ValueRange operands,
                                 bool isMinimum);
  /// `form` where the iteration of `loop` is `iterations`.
  std::optional<SymbolicForm> substitute(const SymbolicForm &form,
                                         const KernelLoop *loop,
                                         const SymbolicForm &iterations);
  std::optional<SymbolicCondition>
  substitute(const SymbolicCondition &condition, const KernelLoop *loop,
             const SymbolicForm &iterations);

private:
  using Form = SymbolicForm;

  Form fit(const Form &form, Value value);
  bool isWithinAt(const Form &form, Interval range, Operation *op);
  std::optional<Form> getWhole(Value value);
  Form makeConstant(const APInt &number, Value value);
  SymbolicForm translateUnsigned(Operation *op);
  /// What `value` is as an unsigned number; nothing if that is not known.
  std::optional<Form> getUnsigned(Value value);
  std::optional<Form> getUnsignedCount(BlockArgument argument);
  bool isNonNegative(const Form &form) const;
  bool isQuotient(Operation *op) const;
  bool isPositive(const Form &form) const;
  bool isDivisor(const Form &form) const;
  std::optional<Form> translateId(Value value);
  std::optional<Form> translateLaunchId(gpu::LaunchOp launch,
                                        BlockArgument value);
  std::optional<Form> translateArith(Operation *op);
  Form translateSelect(arith::SelectOp op);
  Form translateDivision(Operation *op);
  Form translateRounded(Operation *op, const Form &lhs, const Form &rhs);
  std::optional<Form> translateWrapped(arith::RemSIOp op, const Form &divisor);
  std::optional<Form> translateExpandedQuotient(arith::SelectOp op);
  std::optional<Form> translateUnsignedDivision(Operation *op, const Form &lhs,
                                                const Form &rhs);
  Form getWrapping(Value value, unsigned depth = 0);
  Form translateBits(Operation *op);
  Form translateMixture(Operation *op, Form lhs, Form rhs);
  Form translateFunction(Operation *op, const Form &lhs, const Form &rhs);
  Form makeExtremum(bool isMinimum, const Form &lhs, const Form &rhs);
  std::optional<Form> translateAffine(Operation *op, unsigned result);

  Form translateArgument(BlockArgument argument);
  Form translateResult(OpResult result);
  Form translateBranchResult(scf::IfOp op, unsigned result);
  Form translateCarried(BlockArgument argument, const CarriedValue &carried);
  /// What it is by what it is in the next iteration, if it is `self` in this
  /// one.
  std::optional<Form> advance(BlockArgument argument,
                              const CarriedValue &carried,
                              const SymbolicAtom *self, bool isCounted);
  std::optional<Form> matchToggle(const CarriedValue &carried, const Form &next,
                                  const SymbolicAtom *start);
  std::optional<Form> matchAdvance(const Form &form, const SymbolicAtom *start,
                                   int64_t &size);
  std::optional<Form> matchWrap(const SymbolicAtom &atom,
                                const SymbolicAtom *start, int64_t &size);
  std::optional<Form> matchSubtraction(const SymbolicAtom &atom,
                                       const SymbolicAtom *start,
                                       int64_t &size);
  Interval getTestedRange(Value value, const KernelLoop &loop, Interval range);
  Form getNext(BlockArgument argument, const CarriedValue &carried,
               const Form &self);
  Form getTotal(const KernelLoop *loop, const Form &increment);
  Form getSum(const KernelLoop *loop, const Form &increment);
  std::optional<Form> substitute(const SymbolicAtom *atom,
                                 const KernelLoop *loop,
                                 const Form &iterations);

  SymbolicIndex &index;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_INDEX_SYMBOLICTRANSLATOR_H
