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

#include "AccessRecorder.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "workgroup/Analysis/Alignment.h"

namespace mlir::workgroup {

/// Describes the accesses of all operations in a kernel.
class AccessCollector {
public:
  AccessCollector(
      Operation *scope, const UniformityAnalysis &uniformity,
      AccessRecorder::Result result,
      AccessRecorder::Memory memory = AccessRecorder::Memory::Shared)
      : scope(scope), uniformity(uniformity),
        recorder(scope, uniformity, result, memory), result(result) {}

  void collect();

private:
  using Shape = AccessRecorder::Shape;

  void visit(Operation *op);
  bool visitStore(Operation *op);
  bool visitElements(Operation *op);
  bool visitVectors(Operation *op);
  bool visitWarp(Operation *op);
  void addWarpgroupStore(nvgpu::WarpgroupMmaStoreOp store);
  bool visitAsync(Operation *op);
  bool visitMBarrier(Operation *op);
  void visitCall(CallOpInterface call);
  void visitEffects(Operation *op);
  void visitUnknown(Operation *op);

  bool isMadeOnce(Value value) const;
  bool isOfMultiples(const ThreadAccess &access);
  bool isSameByByte(Value value, const ThreadAccess &access);
  void setSameness(Operation *store, Value value, ThreadAccess *access);
  void addDense(const ThreadAccess &access, OpOperand &tile);
  void addLdMatrix(nvgpu::LdMatrixOp load);
  void addMatrix(AccessKind kind, OpOperand &operand, ValueRange indices,
                 gpu::MMAMatrixType matrix, const APInt &lead,
                 bool isTransposed);
  void collectReachable();

  Operation *scope;
  const UniformityAnalysis &uniformity;
  AccessRecorder recorder;
  AccessRecorder::Result result;
  /// What is known of indices.
  AlignmentAnalysis alignment;
  /// The roots that callees may find.
  SmallVector<unsigned, 1> reachable;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_ACCESS_ACCESSCOLLECTOR_H
