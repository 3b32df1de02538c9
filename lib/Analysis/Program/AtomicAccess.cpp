//===- AtomicAccess.cpp - How far atomic accesses reach -------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two atomic accesses do not race if each includes the thread of the other in
// its scope: then they are morally strong (PTX ISA, Memory Consistency Model).
//
//===----------------------------------------------------------------------===//

#include "workgroup/Analysis/AtomicAccess.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::workgroup {

static AtomicScope getScope(std::optional<StringRef> name) {
  return getScopeNamed(name.value_or(""));
}

std::optional<AtomicScope> getAtomicScope(Operation *op) {
  using Result = std::optional<AtomicScope>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case<LLVM::LoadOp, LLVM::StoreOp>([](auto access) -> Result {
        if (access.getOrdering() != LLVM::AtomicOrdering::not_atomic)
          return getScope(access.getSyncscope());
        // PTX ISA: like a relaxed one of the scope of the system.
        return access.getVolatile_() ? Result(AtomicScope::System)
                                     : std::nullopt;
      })
      .Case<LLVM::AtomicRMWOp, LLVM::AtomicCmpXchgOp, LLVM::FenceOp>(
          [](auto access) -> Result { return getScope(access.getSyncscope()); })
      .Default([](Operation *) { return std::nullopt; });
}

/// True for an order by which nothing else is ordered.
static bool isRelaxed(LLVM::AtomicOrdering ordering) {
  return ordering == LLVM::AtomicOrdering::not_atomic ||
         ordering == LLVM::AtomicOrdering::unordered ||
         ordering == LLVM::AtomicOrdering::monotonic;
}

bool isRelaxedAtomic(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<LLVM::LoadOp, LLVM::StoreOp>(
          [](auto access) { return isRelaxed(access.getOrdering()); })
      // Whatever its order, LLVM makes a relaxed `atom` of it.
      .Case([](LLVM::AtomicRMWOp) { return true; })
      .Case([](LLVM::AtomicCmpXchgOp exchange) {
        return isRelaxed(exchange.getSuccessOrdering()) &&
               isRelaxed(exchange.getFailureOrdering());
      })
      .Default([](Operation *) { return false; });
}

} // namespace mlir::workgroup
