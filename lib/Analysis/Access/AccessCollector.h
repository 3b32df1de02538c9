//===- AccessCollector.h - The accesses of operations -----------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The collector walks a kernel and describes what each operation does to
// memory: kind of access, root, footprint, and access scope (one thread, the
// warp, the block). It tries the forms of operations one after the other:
// elements, vectors, matrices of a warp, whole memrefs, asynchronous copies,
// pointers, effects. An operation that is none of these is taken to access any
// memory that it can reach.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_ACCESS_ACCESSCOLLECTOR_H
#define WORKGROUP_LIB_ANALYSIS_ACCESS_ACCESSCOLLECTOR_H

#include "AccessFootprint.h"
#include "Analysis/Memory/PointsTo.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "workgroup/Analysis/ThreadAccess.h"

namespace mlir::workgroup {

/// Describes the accesses of all operations in a kernel: to memory that threads
/// share, or to that which each of them has for itself.
class AccessCollector {
public:
  /// What is collected.
  struct Result {
    SmallVectorImpl<MemoryRoot> &roots;
    SmallVectorImpl<ThreadAccess> &accesses;
    /// False for two accesses that are known to be of different memory.
    llvm::function_ref<bool(const ThreadAccess &, const ThreadAccess &)>
        mayAlias;
  };
  enum class Memory { Shared, OfThread };

  AccessCollector(Operation *scope, const UniformityAnalysis &uniformity,
                  Result result, Memory memory = Memory::Shared);

  void collect();

private:
  using Shape = std::optional<AccessShape>;

  /// True if values of this type refer to memory.
  static bool isReference(Type type);
  /// True for memory that is not collected.
  bool isLeftOut(const MemoryRoot &root) const;
  /// An access without its operand's memory and place.
  static ThreadAccess make(Operation *op, AccessKind kind);

  void visit(Operation *op);
  bool visitElements(Operation *op);
  bool visitVectors(Operation *op);
  bool visitWarp(Operation *op);
  void addWarpgroupStore(nvgpu::WarpgroupMmaStoreOp store);
  bool visitWhole(Operation *op);
  bool visitAsync(Operation *op);
  bool visitPointers(Operation *op);
  bool visitMBarrier(Operation *op);
  void visitLinalg(linalg::LinalgOp op);
  void visitCall(CallOpInterface call);
  void visitEffects(Operation *op);
  void visitUnknown(Operation *op);

  /// Adds the access `access` by way of `operand`. `shape` says which elements
  /// of the memref are touched; nothing if they are not known.
  void add(ThreadAccess access, OpOperand &operand, const Shape &shape);
  void addElement(AccessKind kind, OpOperand &operand, ValueRange indices);
  bool isDivergentInside(Operation *op) const;
  bool isMadeOnce(Value value) const;
  void setSameness(Operation *store, Value value, size_t numBefore);
  void addVector(AccessKind kind, OpOperand &operand, Type vector, Shape shape);
  void addAll(ThreadAccess access, OpOperand &operand);
  /// Adds an access to any memory of `space`.
  void addDense(const ThreadAccess &access, OpOperand &tile);
  void addAnywhere(ThreadAccess access, MemorySpace space);
  void addPointer(ThreadAccess access, OpOperand &pointer,
                  std::optional<int64_t> bytes);
  void addValue(AccessKind kind, OpOperand &pointer, Type type);
  void addBulk(OpOperand &source, OpOperand &target);
  void addTensor(AccessKind kind, Operation *op);
  void addMatrix(AccessKind kind, OpOperand &operand, ValueRange indices,
                 gpu::MMAMatrixType matrix, const APInt &lead,
                 bool isTransposed);

  bool isCollective(Operation *op) const;
  MemorySpace getSpace(Value value, ArrayRef<unsigned> roots) const;
  void collectReachable();

  Operation *scope;
  const UniformityAnalysis &uniformity;
  Result result;
  Memory memory;
  std::unique_ptr<PointsTo> pointsTo;
  /// The roots that callees may find.
  SmallVector<unsigned, 1> reachable;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_ACCESS_ACCESSCOLLECTOR_H
