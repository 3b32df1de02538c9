//===- AccessRecorder.h - Accesses by what operands are of ------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The recorder writes down an access by way of an operand: it finds the memory
// that the operand may be of and the footprint there, and leaves out memory
// that is not collected. Those who read operations (AccessCollector,
// AccessPointers.h, AccessWhole.h) tell it the kind of access and the shape.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_ACCESS_ACCESSRECORDER_H
#define WORKGROUP_LIB_ANALYSIS_ACCESS_ACCESSRECORDER_H

#include "AccessFootprint.h"
#include "Analysis/Memory/PointsTo.h"
#include "workgroup/Analysis/ThreadAccess.h"

namespace mlir::workgroup {

/// Records accesses of a kernel: to memory that threads share, or to that which
/// each of them has for itself.
class AccessRecorder {
public:
  using Shape = std::optional<AccessShape>;

  /// What is collected.
  struct Result {
    SmallVectorImpl<MemoryRoot> &roots;
    SmallVectorImpl<ThreadAccess> &accesses;
    /// False for two accesses that are known to be of different memory.
    llvm::function_ref<bool(const ThreadAccess &, const ThreadAccess &)>
        mayAlias;
  };
  enum class Memory { Shared, OfThread };

  /// Finds the memory of all operands in the body of `scope`.
  AccessRecorder(Operation *scope, const UniformityAnalysis &uniformity,
                 Result result, Memory memory);

  /// An access without its operand's memory and place.
  static ThreadAccess make(Operation *op, AccessKind kind);
  /// True if values of this type refer to memory.
  static bool isReference(Type type);

  /// Adds the access `access` by way of `operand`. `shape` says which elements
  /// of the memref are touched; nothing if they are not known. Returns what was
  /// added; null if the memory is left out.
  ThreadAccess *add(ThreadAccess access, OpOperand &operand,
                    const Shape &shape);
  ThreadAccess *addElement(AccessKind kind, OpOperand &operand,
                           ValueRange indices);
  ThreadAccess *addVector(AccessKind kind, OpOperand &operand, Type vector,
                          Shape shape);
  void addAll(ThreadAccess access, OpOperand &operand);
  /// Adds an access to any memory of `space`.
  void addAnywhere(ThreadAccess access, MemorySpace space);

  Operation *getScope() const { return scope; }
  const UniformityAnalysis &getUniformity() const { return uniformity; }
  const PointsTo::Target &getTarget(Value value) const {
    return pointsTo->getTarget(value);
  }
  Result &getResult() { return result; }

private:
  /// True for memory that is not collected.
  bool isLeftOut(const MemoryRoot &root) const;
  MemorySpace getSpace(Value value, ArrayRef<unsigned> roots) const;

  Operation *scope;
  const UniformityAnalysis &uniformity;
  Result result;
  Memory memory;
  std::unique_ptr<PointsTo> pointsTo;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_ACCESS_ACCESSRECORDER_H
