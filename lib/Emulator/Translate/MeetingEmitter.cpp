//===- MeetingEmitter.cpp - What threads do together ----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One table of operations says what threads do where they meet; a suspension
// names its number there.
//
//===----------------------------------------------------------------------===//

#include "MeetingEmitter.h"
#include "Emulator/State/RuntimeNames.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace mlir::workgroup::emulator {

/// Puts the operands where the others find them, lets the thread wait, and
/// takes the result from where the last of them put it.
void MeetingEmitter::suspendAt(CallInst &call, Operation operation) {
  bool isWarp = operation.warp || operation.matrix;
  bool isIdle = operation.isIdle;
  operation.exchange = context.facts.exchanges.numbers.lookup(&call);
  uint32_t number = context.addOperation(call, std::move(operation));
  IRBuilder<> builder(&call);
  SmallVector<Value *> operands(call.args());
  if (!isIdle)
    context.storeRegisters(builder, operands);
  context.suspend(builder, number, isWarp ? Wait::Warp : Wait::Barrier);
  if (call.getType()->isVoidTy() || isIdle) {
    call.eraseFromParent();
    return;
  }
  unsigned index = 0;
  context.replace(call, context.loadRegisters(builder, call.getType(), index));
}

/// Tells of the thread at a barrier, for which it does not wait.
void MeetingEmitter::arriveAt(CallInst &call) {
  IRBuilder<> builder(&call);
  SmallVector<Value *> operands(call.args());
  context.storeRegisters(builder, operands);
  context.callRuntime(builder, runtime::kArrive, context.voidType, {});
  call.eraseFromParent();
}

bool MeetingEmitter::emitAssembly(CallInst &call, StringRef text) {
  if (text != "bar.arrive $0, $1;" && text != "bar.arrive $0, $1")
    return false;
  arriveAt(call);
  return true;
}

/// `barrier.cluster`: an arrival does not wait, a wait has nothing to say.
void MeetingEmitter::emitClusterBarrier(IntrinsicInst &call, StringRef name) {
  Operation operation;
  operation.kind = Operation::Kind::Cluster;
  operation.isAligned = name.contains("aligned");
  operation.isRelaxed = name.contains("relaxed");
  uint32_t number = context.addOperation(call, std::move(operation));
  IRBuilder<> builder(&call);
  if (name.starts_with("wait"))
    context.suspend(builder, number, Wait::Cluster);
  else
    context.callRuntime(builder, runtime::kArriveAtCluster, context.voidType,
                        {builder.getInt32(number)});
  call.eraseFromParent();
}

bool MeetingEmitter::emitBarrier(IntrinsicInst &call, StringRef name) {
  if (name.consume_front("llvm.nvvm.barrier.cluster.")) {
    emitClusterBarrier(call, name);
    return true;
  }
  if (!name.consume_front("llvm.nvvm.barrier.cta."))
    return false;
  Operation operation;
  operation.isAligned = name.contains("aligned");
  bool isCounted = name.ends_with("count");
  operation.kind =
      isCounted ? Operation::Kind::BarrierCount : Operation::Kind::Barrier;
  if (name.starts_with("arrive")) {
    arriveAt(call);
    return true;
  }
  if (name.consume_front("red."))
    operation.reduction = StringSwitch<BarrierReduction>(name.split('.').first)
                              .Case("popc", BarrierReduction::Count)
                              .Case("and", BarrierReduction::And)
                              .Default(BarrierReduction::Or);
  suspendAt(call, std::move(operation));
  return true;
}

bool MeetingEmitter::emitWarp(IntrinsicInst &call, StringRef name) {
  std::optional<WarpOp> warp = WarpOp::decode(name);
  if (!warp)
    return false;
  Operation operation;
  operation.kind = Operation::Kind::Warp;
  operation.isAligned = false;
  operation.warp = warp;
  suspendAt(call, std::move(operation));
  return true;
}

static unsigned countRegisters(const DataLayout &layout, Type *type) {
  if (auto *record = dyn_cast<StructType>(type)) {
    unsigned count = 0;
    for (Type *element : record->elements())
      count += countRegisters(layout, element);
    return count;
  }
  return type->isVoidTy()
             ? 0
             : divideCeil(layout.getTypeStoreSize(type).getFixedValue(), 4);
}

bool MeetingEmitter::emitMatrix(IntrinsicInst &call, StringRef name) {
  std::optional<MatrixOp> matrix = MatrixOp::decode(name);
  if (!matrix)
    return false;
  const DataLayout &layout = context.getLayout();
  unsigned numOperands = 0;
  for (Value *operand : call.args())
    numOperands += countRegisters(layout, operand->getType());
  if (numOperands > kRegisters ||
      numOperands != matrix->getNumOperandRegisters() ||
      countRegisters(layout, call.getType()) != matrix->getNumResultRegisters())
    return context.refuse(call,
                          "intrinsic '" + name +
                              "' has other operands than the emulator knows");
  Operation operation;
  operation.kind = Operation::Kind::Matrix;
  if (matrix->getKind() == MatrixOp::Kind::Compute) {
    operation.isIdle = context.idle.kept.contains(&call);
  } else {
    bool isLoad = matrix->getKind() == MatrixOp::Kind::Load;
    operation.accessSite = addresses.addAccess(
        call, 0, isLoad ? AccessKind::Read : AccessKind::Write,
        /*bytes=*/4, Align(1)); // a register of a lane
  }
  if (name.contains("matrix.sync")) {
    StringRef count = name.substr(name.find(".x") + 2, 1);
    operation.numRows = 8 * (count == "4" ? 4 : count == "2" ? 2 : 1);
    context.tables.sites[operation.accessSite].bytes = 16;
  }
  operation.matrix = std::move(matrix);
  suspendAt(call, std::move(operation));
  return true;
}

} // namespace mlir::workgroup::emulator
