//===- AccessRecorder.cpp - Accesses by what operands are of --------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AccessRecorder.h"
#include "Analysis/Memory/PointerAddress.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "workgroup/Support/Kernel.h"

namespace mlir::workgroup {

AccessRecorder::AccessRecorder(Operation *scope,
                               const UniformityAnalysis &uniformity,
                               Result result, Memory memory)
    : scope(scope), uniformity(uniformity), result(result), memory(memory) {
  SmallVector<Value> references;
  if (Region *body = getBody(scope))
    body->walk([&](Operation *op) {
      llvm::copy_if(op->getOperands(), std::back_inserter(references),
                    [](Value value) { return isReference(value.getType()); });
    });
  pointsTo =
      std::make_unique<PointsTo>(scope, uniformity, references, result.roots);
}

bool AccessRecorder::isReference(Type type) {
  return isa<BaseMemRefType, nvgpu::MBarrierGroupType,
             nvgpu::TensorMapDescriptorType,
             nvgpu::WarpgroupMatrixDescriptorType, LLVM::LLVMPointerType>(type);
}

/// What a kernel allocates is its thread's, whatever memory the type names.
bool AccessRecorder::isLeftOut(const MemoryRoot &root) const {
  if (memory == Memory::Shared)
    return root.space == MemorySpace::Private;
  Operation *op = root.value ? root.value.getDefiningOp() : nullptr;
  return !isa_and_nonnull<memref::AllocOp, memref::AllocaOp>(op) ||
         !scope->isProperAncestor(op) || root.space == MemorySpace::Workgroup;
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

ThreadAccess AccessRecorder::make(Operation *op, AccessKind kind) {
  ThreadAccess access;
  access.op = op;
  access.kind = kind;
  if (kind == AccessKind::Atomic)
    access.scope = AtomicScope::System;
  return access;
}

/// The memory space that the type of `value` names.
static Attribute getSpaceAttribute(Value value) {
  auto type = dyn_cast<BaseMemRefType>(value.getType());
  return type ? type.getMemorySpace() : Attribute();
}

/// True for NVPTX's constant memory, which no kernel writes.
static bool isConstantMemory(Value value) {
  if (auto pointer = dyn_cast<LLVM::LLVMPointerType>(value.getType()))
    return pointer.getAddressSpace() ==
           unsigned(NVVM::NVVMMemorySpace::Constant);
  Attribute space = getSpaceAttribute(value);
  if (auto number = dyn_cast_or_null<IntegerAttr>(space))
    return number.getInt() == int64_t(NVVM::NVVMMemorySpace::Constant);
  auto named = dyn_cast_or_null<NVVM::NVVMMemorySpaceAttr>(space);
  return named && named.getValue() == NVVM::NVVMMemorySpace::Constant;
}

/// The space of memory that `value` refers to and that is one of `roots`: that
/// of its type or, if this says nothing, the one that all roots are of.
MemorySpace AccessRecorder::getSpace(Value value,
                                     ArrayRef<unsigned> roots) const {
  if (isa<nvgpu::MBarrierGroupType>(value.getType()))
    return MemorySpace::Workgroup;
  if (getSpaceAttribute(value))
    if (MemorySpace space = getMemorySpace(value); space != MemorySpace::Other)
      return space;
  if (MemorySpace space = getPointerSpace(value); space != MemorySpace::Other)
    return space;
  MemorySpace space = result.roots[roots.front()].space;
  bool isOne = llvm::all_of(roots, [&](unsigned number) {
    return number != 0 && result.roots[number].space == space;
  });
  return isOne ? space : MemorySpace::Other;
}

ThreadAccess *AccessRecorder::add(ThreadAccess access, OpOperand &operand,
                                  const Shape &shape) {
  Value value = operand.get();
  const PointsTo::Target &target = pointsTo->getTarget(value);
  access.operand = &operand;
  access.roots = target.roots;
  llvm::erase_if(access.roots, [&](unsigned number) {
    return isLeftOut(result.roots[number]);
  });
  if (access.roots.empty() || isConstantMemory(value))
    return nullptr; // of one thread, never reached, or never written
  access.space = memory == Memory::OfThread ? MemorySpace::Private
                                            : getSpace(value, access.roots);
  if (memory == Memory::Shared && access.space == MemorySpace::Private)
    return nullptr;
  auto isNothing = [](const AccessShape::Dimension &dimension) {
    return dimension.count && getConstantIntValue(dimension.count) == 0;
  };
  if (shape && llvm::any_of(shape->dimensions, isNothing))
    return nullptr;
  if (shape && target.address &&
      shape->dimensions.size() == target.address->dimensions.size()) {
    AccessShape touched = *shape;
    if (isa<vector::MaskOp>(access.op->getParentOp()))
      touched.setMasked();
    access.footprint = getFootprint(*target.address, touched);
  }
  result.accesses.push_back(std::move(access));
  return &result.accesses.back();
}

ThreadAccess *AccessRecorder::addElement(AccessKind kind, OpOperand &operand,
                                         ValueRange indices) {
  ThreadAccess access = make(operand.getOwner(), kind);
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  if (access.scope && type && type.getElementType().isIntOrFloat())
    access.atomicBits = type.getElementTypeBitWidth();
  return add(std::move(access), operand, AccessShape::ofElement(indices));
}

ThreadAccess *AccessRecorder::addVector(AccessKind kind, OpOperand &operand,
                                        Type vector, Shape shape) {
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  if (!type || (shape && !shape->setVector(vector, type)))
    shape = std::nullopt;
  return add(make(operand.getOwner(), kind), operand, shape);
}

void AccessRecorder::addAll(ThreadAccess access, OpOperand &operand) {
  const PointsTo::Target &target = pointsTo->getTarget(operand.get());
  add(std::move(access), operand,
      target.address ? AccessShape::ofAll(*target.address) : std::nullopt);
}

void AccessRecorder::addAnywhere(ThreadAccess access, MemorySpace space) {
  if (space == MemorySpace::Private || memory == Memory::OfThread)
    return;
  access.space = space;
  access.roots.assign(1, 0);
  result.accesses.push_back(std::move(access));
}

} // namespace mlir::workgroup
