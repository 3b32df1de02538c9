//===- AccessPointers.cpp - Accesses by pointers --------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AccessPointers.h"
#include "Analysis/Memory/PointerAddress.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::workgroup {

ThreadAccess *addPointer(ThreadAccess access, OpOperand &pointer,
                         std::optional<int64_t> bytes,
                         AccessRecorder &recorder) {
  using Shape = AccessRecorder::Shape;
  ThreadAccess *added = recorder.add(
      std::move(access), pointer, bytes ? Shape(AccessShape()) : std::nullopt);
  if (added && added->footprint)
    added->footprint->run = *bytes;
  return added;
}

/// Adds an access of LLVM's to a value of `type`. What is wider than a register
/// is several accesses, as is a vector: one for each of its elements.
static ThreadAccess *addValue(AccessKind kind, OpOperand &pointer, Type type,
                              AccessRecorder &recorder) {
  constexpr int64_t kMaxBytes = 8;
  ThreadAccess access = AccessRecorder::make(pointer.getOwner(), kind);
  std::optional<int64_t> bytes = getAccessBytes(type);
  std::optional<int64_t> atOnce = getAccessBytes(getElementTypeOrSelf(type));
  access.scope = std::nullopt;
  if (bytes && atOnce && (*bytes <= kMaxBytes || kind == AccessKind::Atomic)) {
    access.scope = getAtomicScope(pointer.getOwner());
    access.atomicBits = *atOnce * 8;
  }
  return addPointer(std::move(access), pointer, bytes, recorder);
}

ThreadAccess *addStore(LLVM::StoreOp store, AccessRecorder &recorder) {
  return addValue(AccessKind::Write, store.getAddrMutable(),
                  store.getValue().getType(), recorder);
}

/// Adds what a copy by TMA reads and writes of any size.
static void addBulk(OpOperand &source, OpOperand &target,
                    AccessRecorder &recorder) {
  Operation *op = source.getOwner();
  for (AccessKind kind : {AccessKind::Read, AccessKind::Write}) {
    ThreadAccess access = AccessRecorder::make(op, kind);
    access.isAsync = true;
    addPointer(access, kind == AccessKind::Read ? source : target, std::nullopt,
               recorder);
  }
}

/// Adds what a copy of a tile by TMA touches beside `tile`: what the tensor map
/// is of.
static void addTensor(AccessKind kind, Operation *op,
                      AccessRecorder &recorder) {
  ThreadAccess access = AccessRecorder::make(op, kind);
  access.isAsync = true;
  recorder.addAnywhere(access, MemorySpace::Global);
}

bool visitPointers(Operation *op, AccessRecorder &recorder) {
  auto addAsync = [&](AccessKind kind, OpOperand &pointer,
                      std::optional<int64_t> bytes) {
    ThreadAccess access = AccessRecorder::make(op, kind);
    access.isAsync = true;
    addPointer(std::move(access), pointer, bytes, recorder);
  };
  auto addMBarrier = [&](OpOperand &pointer) {
    addPointer(AccessRecorder::make(op, AccessKind::Atomic), pointer,
               std::nullopt, recorder);
  };
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](LLVM::LoadOp load) {
        addValue(AccessKind::Read, load.getAddrMutable(), load.getType(),
                 recorder);
        return true;
      })
      .Case<LLVM::AtomicRMWOp, LLVM::AtomicCmpXchgOp>([&](auto update) {
        addValue(AccessKind::Atomic, update.getPtrMutable(),
                 update.getVal().getType(), recorder);
        return true;
      })
      .Case([&](NVVM::CpAsyncOp copy) {
        std::optional<int64_t> bytes = copy.getSize();
        addAsync(AccessKind::Read, copy.getSrcMutable(),
                 copy.getCpSize() ? std::nullopt : bytes);
        addAsync(AccessKind::Write, copy.getDstMutable(), bytes);
        return true;
      })
      .Case([&](NVVM::CpAsyncBulkSharedCTAToGlobalOp copy) {
        addBulk(copy.getSrcMemMutable(), copy.getDstMemMutable(), recorder);
        return true;
      })
      .Case([&](NVVM::CpAsyncBulkGlobalToSharedClusterOp copy) {
        addBulk(copy.getSrcMemMutable(), copy.getDstMemMutable(), recorder);
        addMBarrier(copy.getMbarMutable());
        return true;
      })
      .Case<NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp,
            NVVM::CpAsyncBulkTensorReduceOp>([&](auto copy) {
        addAsync(AccessKind::Read, copy.getSrcMemMutable(), std::nullopt);
        addTensor(AccessKind::Write, op, recorder);
        return true;
      })
      .Case([&](NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp copy) {
        addTensor(AccessKind::Read, op, recorder);
        addAsync(AccessKind::Write, copy.getDstMemMutable(), std::nullopt);
        addMBarrier(copy.getMbarMutable());
        return true;
      })
      .Default([](Operation *) { return false; });
}

} // namespace mlir::workgroup
