//===- KeepReads.cpp - Reads whose value nobody uses ----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KeepReads.h"
#include "mlir/Analysis/DataFlow/LivenessAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Support/MemorySpace.h"

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// What is used
//===----------------------------------------------------------------------===//

/// True for what threads execute, now or once loops are kernels.
static bool isForThreads(Operation *op) {
  return isInDeviceCode(op) || op->getParentOfType<scf::ForallOp>() ||
         op->getParentOfType<scf::ParallelOp>();
}

static bool onlyReads(Operation *op) {
  return op->getNumRegions() == 0 && op->getNumResults() == 1 &&
         hasSingleEffect<MemoryEffects::Read>(op);
}

/// True if nobody reads `buffer`, a variable of one thread, through any view.
static bool isNeverRead(Value buffer) {
  return llvm::all_of(buffer.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (getViewSource(user) == buffer && user->getNumResults() == 1)
      return isNeverRead(user->getResult(0));
    return isa<memref::DeallocOp, memref::StoreOp, vector::StoreOp>(user) &&
           !(isa<memref::StoreOp, vector::StoreOp>(user) &&
             use.getOperandNumber() == 0);
  });
}

/// What `op` puts into a variable that nobody reads; null for anything else.
static Value getStoredForNothing(Operation *op) {
  Value value, buffer;
  if (auto store = dyn_cast<memref::StoreOp>(op)) {
    value = store.getValue();
    buffer = store.getMemRef();
  } else if (auto store = dyn_cast<vector::StoreOp>(op)) {
    value = store.getValueToStore();
    buffer = store.getBase();
  } else {
    return nullptr;
  }
  Value root = getRootBuffer(buffer);
  bool isVariable = isa_and_nonnull<memref::AllocaOp>(root.getDefiningOp());
  return isVariable && isNeverRead(root) ? value : Value();
}

namespace {

/// A value, and the operation behind which it is used.
struct UnusedRead {
  Value value;
  Operation *op;
};

} // namespace

static SmallVector<UnusedRead> collectUnusedReads(ModuleOp program) {
  SmallVector<UnusedRead> unused;
  dataflow::RunLivenessAnalysis liveness(program);
  program.walk([&](Operation *op) {
    if (Value value = getStoredForNothing(op); value && isForThreads(op)) {
      unused.push_back({value, op});
    } else if (onlyReads(op) && isForThreads(op)) {
      const dataflow::Liveness *life = liveness.getLiveness(op->getResult(0));
      if (!life || !life->isLive)
        unused.push_back({op->getResult(0), op});
    }
  });
  return unused;
}

//===----------------------------------------------------------------------===//
// Using it
//===----------------------------------------------------------------------===//

/// The type that LLVM has for values of type `element`; null if there is none.
static Type getLLVMType(Type element) {
  MLIRContext *context = element.getContext();
  if (element.isIndex())
    return IntegerType::get(context, 64);
  if (LLVM::isCompatibleType(element))
    return element;
  if (isa<FloatType>(element))
    return IntegerType::get(context, element.getIntOrFloatBitWidth());
  return nullptr; // of tensor cores, or a memref
}

/// `value` as one that LLVM has; null if it has none.
static Value toLLVM(OpBuilder &builder, Value value) {
  Type element = value.getType();
  auto vector = dyn_cast<VectorType>(element);
  if (vector)
    element = vector.getElementType();
  Type wanted = getLLVMType(element);
  if (!wanted || (vector && vector.isScalable()))
    return nullptr;
  Location loc = value.getLoc();
  Type type = vector ? vector.clone(wanted) : wanted;
  if (element.isIndex())
    value = arith::IndexCastOp::create(builder, loc, type, value);
  else if (wanted != element)
    value = arith::BitcastOp::create(builder, loc, type, value);
  if (!vector || vector.getRank() == 1)
    return value;
  auto flat = VectorType::get({vector.getNumElements()}, wanted);
  return vector::ShapeCastOp::create(builder, loc, flat, value);
}

void useReads(ModuleOp program) {
  program.getContext()
      ->loadDialect<LLVM::LLVMDialect, arith::ArithDialect,
                    vector::VectorDialect>();
  for (auto [value, op] : collectUnusedReads(program)) {
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    if (Value used = toLLVM(builder, value))
      LLVM::CallIntrinsicOp::create(builder, op->getLoc(),
                                    builder.getStringAttr("llvm.fake.use"),
                                    ValueRange(used));
  }
}

} // namespace mlir::workgroup
