//===- AccessPointers.cpp - Accesses by pointers --------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What loads and stores of LLVM access, its atomic operations, and copies that
// NVVM has.
//
//===----------------------------------------------------------------------===//

#include "AccessCollector.h"
#include "Analysis/Memory/PointerAddress.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::workgroup {

/// Adds an access to the `bytes` bytes that `pointer` points to, or to any of
/// its memory.
void AccessCollector::addPointer(ThreadAccess access, OpOperand &pointer,
                                 std::optional<int64_t> bytes) {
  size_t before = result.accesses.size();
  add(std::move(access), pointer, bytes ? Shape(AccessShape()) : std::nullopt);
  if (result.accesses.size() == before)
    return;
  std::optional<AccessFootprint> &footprint = result.accesses.back().footprint;
  if (footprint)
    footprint->run = *bytes;
}

/// Adds an access of LLVM's to a value of `type`. What is wider than a register
/// is several accesses, as is a vector: one for each of its elements.
void AccessCollector::addValue(AccessKind kind, OpOperand &pointer, Type type) {
  constexpr int64_t kMaxBytes = 8;
  ThreadAccess access = make(pointer.getOwner(), kind);
  std::optional<int64_t> bytes = getAccessBytes(type);
  std::optional<int64_t> atOnce = getAccessBytes(getElementTypeOrSelf(type));
  access.scope = std::nullopt;
  if (bytes && atOnce && (*bytes <= kMaxBytes || kind == AccessKind::Atomic)) {
    access.scope = getAtomicScope(pointer.getOwner());
    access.atomicBits = *atOnce * 8;
  }
  addPointer(std::move(access), pointer, bytes);
}

/// Adds what a copy by TMA reads and writes of any size.
void AccessCollector::addBulk(OpOperand &source, OpOperand &target) {
  Operation *op = source.getOwner();
  for (AccessKind kind : {AccessKind::Read, AccessKind::Write}) {
    ThreadAccess access = make(op, kind);
    access.isAsync = true;
    addPointer(access, kind == AccessKind::Read ? source : target,
               std::nullopt);
  }
}

/// Adds what a copy of a tile by TMA touches beside `tile`: what the tensor map
/// is of.
void AccessCollector::addTensor(AccessKind kind, Operation *op) {
  ThreadAccess access = make(op, kind);
  access.isAsync = true;
  addAnywhere(access, MemorySpace::Global);
}

bool AccessCollector::visitPointers(Operation *op) {
  auto addAsync = [&](AccessKind kind, OpOperand &pointer,
                      std::optional<int64_t> bytes) {
    ThreadAccess access = make(op, kind);
    access.isAsync = true;
    addPointer(std::move(access), pointer, bytes);
  };
  auto addMBarrier = [&](OpOperand &pointer) {
    addPointer(make(op, AccessKind::Atomic), pointer, std::nullopt);
  };
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](LLVM::LoadOp load) {
        addValue(AccessKind::Read, load.getAddrMutable(), load.getType());
        return true;
      })
      .Case([&](LLVM::StoreOp store) {
        addValue(AccessKind::Write, store.getAddrMutable(),
                 store.getValue().getType());
        return true;
      })
      .Case<LLVM::AtomicRMWOp, LLVM::AtomicCmpXchgOp>([&](auto update) {
        addValue(AccessKind::Atomic, update.getPtrMutable(),
                 update.getVal().getType());
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
        addBulk(copy.getSrcMemMutable(), copy.getDstMemMutable());
        return true;
      })
      .Case([&](NVVM::CpAsyncBulkGlobalToSharedClusterOp copy) {
        addBulk(copy.getSrcMemMutable(), copy.getDstMemMutable());
        addMBarrier(copy.getMbarMutable());
        return true;
      })
      .Case<NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp,
            NVVM::CpAsyncBulkTensorReduceOp>([&](auto copy) {
        addAsync(AccessKind::Read, copy.getSrcMemMutable(), std::nullopt);
        addTensor(AccessKind::Write, op);
        return true;
      })
      .Case([&](NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp copy) {
        addTensor(AccessKind::Read, op);
        addAsync(AccessKind::Write, copy.getDstMemMutable(), std::nullopt);
        addMBarrier(copy.getMbarMutable());
        return true;
      })
      .Default([](Operation *) { return false; });
}

} // namespace mlir::workgroup
