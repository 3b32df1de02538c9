//===- Uniformity.h - What all threads of a block agree on ------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A value is block-uniform if all threads of a block that reach its definition
// together hold the same value; a program point is block-uniform if all threads
// of the block reach it together or none does. Work may be spread over a block,
// and a barrier may stand, only at block-uniform points. Warp-uniformity is the
// same with the 32 threads of each warp in the place of the block: warps hold
// threads in the order of x, then y, then z.
//
// The analysis is a forward fixed point over the SSA graph, in the manner of
// Karrenberg and Hack, "Improving Performance of OpenCL on CPUs" (CC 2012): it
// starts from the sources of divergence (thread ids, memory that the kernel
// writes, unknown operations) and spreads along operands. Control counts as
// much as data: a value that a divergent branch selects is divergent even if
// all its candidates are uniform, and so is every value and point that follows
// a divergent exit. What cannot be decided is divergent.
//
// Device functions take part: their arguments and their entry are as uniform as
// the calls to them. A function that is not only called by kernels inside the
// analysed operation is assumed to be called divergently.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_ANALYSIS_UNIFORMITY_H
#define WORKGROUP_ANALYSIS_UNIFORMITY_H

#include "mlir/IR/Dominance.h"
#include "mlir/IR/Operation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::workgroup {

class ArgumentAliases;

/// The threads that are to agree.
enum class UniformityUnit { Block, Warp };

/// Why something diverges.
struct Divergence {
  /// True if threads are told apart by their ids: they differ, and are meant
  /// to. Otherwise it is only not known that they agree.
  bool isByThreadId() const;

  /// The operation whose condition or bounds differ between threads, or the
  /// call that not all threads execute. Null if it is the value itself.
  Operation *control = nullptr;
  /// The value where the divergence starts: a thread id, a load, the result of
  /// an operation that is not understood. Null if nothing is known of a caller.
  Value source;

  /// Adds one note per party to `diagnostic`.
  void explain(InFlightDiagnostic &diagnostic) const;
};

/// Uniformity of the values and points in all kernels and device functions
/// inside an operation. Usable through an AnalysisManager. The result stays
/// valid while operations are only inserted or erased. Below, "block" stands
/// for the unit.
class UniformityAnalysis {
public:
  /// `arguments`, if given, says which memory of a kernel overlaps: what nobody
  /// writes is uniform where it is loaded.
  explicit UniformityAnalysis(Operation *root,
                              UniformityUnit unit = UniformityUnit::Block,
                              const ArgumentAliases *arguments = nullptr);

  /// True if all threads of the block hold the same `value`.
  bool isUniform(Value value) const;

  /// The reason why `value` is not uniform; nothing if it is.
  std::optional<Divergence> getDivergence(Value value) const;

  /// True if all threads of the block execute `op` together, or none does.
  bool isUniformPoint(Operation *op) const;

  /// The reason why `op` is not a uniform point; nothing if it is one.
  std::optional<Divergence> getDivergence(Operation *op) const;

private:
  /// The roots of memory that is written; whether any other may be.
  struct Writes {
    llvm::SmallSetVector<Value, 8> roots;
    bool isAnything = false;
  };

  void findKnownFunctions(Operation *root);
  void initialize(Operation *scope, const ArgumentAliases *arguments);
  void initializeOp(Operation *op, const ArgumentAliases *arguments);
  void initializeRegionBranch(Operation *op);
  void addCall(Operation *op);
  void collectWrites(Operation *scope);
  bool isInvariantLoad(Operation *op, const ArgumentAliases *arguments) const;
  bool isUniformThreadId(unsigned dim, Operation *scope) const;
  bool isUniformFunction(Operation *op) const;
  bool isUniformWhatever(OpOperand &use) const;
  void propagate();
  void visitUse(OpOperand &use);

  void markDivergent(Value value, Value cause);
  void markResultsDivergent(Operation *op, Value cause);
  void markBlockDivergent(Block *block, Operation *control, Value cause);
  void markControlDivergent(Operation *op, Value cause);
  void markUnstructuredDivergent(Operation *branch, Value cause);
  void markEntryDivergent(Operation *function, Operation *call);

  Value getSource(Value value) const;

  UniformityUnit unit;
  /// Divergent values; the value that each got it from (itself at a source).
  DenseMap<Value, Value> divergentValues;
  /// Blocks that threads do not enter together; why.
  DenseMap<Block *, Divergence> divergentBlocks;
  /// The values that a value flows to besides the results of the operations
  /// that use it: region arguments, results of region operations, callees'
  /// arguments.
  DenseMap<OpOperand *, SmallVector<Value, 2>> flows;
  /// Calls in device code to functions inside the analysed operation.
  DenseMap<Operation *, FunctionOpInterface> callees;
  /// The calls that a return may lead back to.
  DenseMap<Operation *, SmallVector<Operation *, 1>> callsOfReturns;
  /// Functions of which `callees` holds every use.
  DenseSet<Operation *> knownFunctions;
  /// The writes of each kernel and, under null, those of functions.
  DenseMap<Operation *, Writes> writes;
  SmallVector<Value> worklist;
  PostDominanceInfo postDominance;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_ANALYSIS_UNIFORMITY_H
