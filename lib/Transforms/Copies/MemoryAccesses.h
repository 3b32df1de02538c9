//===- MemoryAccesses.h - What operations read and write --------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Who may write what is to be copied decides when it may be copied, and by what
// proxy.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_COPIES_MEMORYACCESSES_H
#define WORKGROUP_LIB_TRANSFORMS_COPIES_MEMORYACCESSES_H

#include "workgroup/Analysis/ArgumentAliases.h"
#include "llvm/ADT/MapVector.h"
#include <optional>

namespace mlir::workgroup {

/// The memory that an operation itself reads and writes.
struct Accesses {
  SmallVector<Value> read, written;
};

/// The memory that `op` accesses; nothing if that is not known.
std::optional<Accesses> getAccesses(Operation *op);

/// True if `op`, or what is in it but for `except`, may read or write `memref`.
bool mayTouch(Operation *op, Value memref, const ArgumentAliases &aliases,
              Operation *except = nullptr);

/// True if `op`, or what is in it, may write `memref`.
bool mayWrite(Operation *op, Value memref, const ArgumentAliases &aliases);

/// `op` in the text of a remark about another one: its name, and its line.
std::string nameInRemark(Operation *op);

/// The writes of the threads of a block to memory other than workgroup and
/// private memory.
class GlobalWrites {
public:
  /// Collects the writes of the operations inside `op`.
  explicit GlobalWrites(Operation *op);

  /// An atomic, fence, or unknown operation, which may write anything, or after
  /// which memory may hold what another block wrote; null if there is none.
  Operation *getUnknown() const {
    return unknown.empty() ? nullptr : unknown.front();
  }

  /// An operation of a known effect that may write `memref`; null if there is
  /// none. `aliases` knows of arguments.
  Operation *findWriter(Value memref, const ArgumentAliases &aliases) const;

  /// An operation that may be executed before `op`, and after which `memref`
  /// may hold what threads of this block or of another wrote; null if there is
  /// none.
  Operation *findWriterBefore(Operation *op, Value memref,
                              const ArgumentAliases &aliases) const;

private:
  SmallVector<Operation *> unknown;
  /// By the roots of what is written.
  llvm::MapVector<Value, SmallVector<Operation *>> writers;
};

/// The writes of each kernel, computed where they are asked for.
class KernelWrites {
public:
  /// As of `GlobalWrites`. In a function that kernels call, whose callers are
  /// not looked at, the function itself.
  Operation *findWriterBefore(Operation *op, Value memref,
                              const ArgumentAliases &aliases);

private:
  llvm::DenseMap<Operation *, std::unique_ptr<GlobalWrites>> writes;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_COPIES_MEMORYACCESSES_H
