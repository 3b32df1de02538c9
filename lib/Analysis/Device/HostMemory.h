//===- HostMemory.h - The buffers of a host function ------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which buffer a memref of a host function is, followed through views,
// selections, loops and branches; the bodies of launches are none of it. What
// the function allocates is memory of its own; what it gets from elsewhere may
// be any memory from elsewhere.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_DEVICE_HOSTMEMORY_H
#define WORKGROUP_LIB_ANALYSIS_DEVICE_HOSTMEMORY_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::workgroup {

/// A buffer that a host function makes or is given.
struct HostBuffer {
  enum class Kind {
    /// `memref.alloc`, `memref.alloca`.
    Allocation,
    /// An argument of the function.
    Argument,
    /// A `memref.global`.
    Global,
    /// Made by something else, as a call.
    Other,
  };
  Kind kind;
  /// The value that is all of the buffer; of a global, the first
  /// `memref.get_global`.
  Value value;
  memref::GlobalOp global;
  /// It is in memory of the device: `gpu.alloc`, or of a memory space.
  bool isOfDevice = false;

  MemRefType getType() const { return dyn_cast<MemRefType>(value.getType()); }
  /// The block that the value is made in.
  Block *getBlock() const { return Value(value).getParentBlock(); }
  bool isConstant() const {
    return global && memref::GlobalOp(global).getConstant();
  }
};

/// True for a memref, and for a tensor map of one.
bool isMemoryType(Type type);

/// The memory that result `op` is of gives another view of; null if it is none.
Value getViewedMemory(Operation *op);

/// The values of its function through which the memory of `use` goes on.
SmallVector<Value> getNextValues(OpOperand &use);

class HostMemory {
public:
  /// With `areDistinct`, arguments share no memory with each other or with
  /// globals. Of arguments,
  /// `isOfDevice` tells which are in memory of the device.
  HostMemory(FunctionOpInterface function, bool areDistinct,
             function_ref<bool(Value)> isOfDevice);

  ArrayRef<HostBuffer> getBuffers() const { return buffers; }

  /// The buffers that `value` may be of, as numbers in ascending order.
  ArrayRef<unsigned> getBuffers(Value value) const;

  /// True if `value` is not just a view of a buffer: which one it is of, or how
  /// it is, depends on the way that control took.
  bool isJoined(Value value) const { return joined.contains(value); }

  /// The number that buffers share whose values meet in one.
  unsigned getFamily(unsigned buffer) const;

  /// True if two buffers of the host may share memory. `hasEscaped` tells
  /// whether others may have kept a reference to a buffer.
  bool mayOverlap(unsigned lhs, unsigned rhs,
                  function_ref<bool(unsigned)> hasEscaped) const;

private:
  void collect(FunctionOpInterface function);
  void addValue(Value value);
  void addBuffer(Value value);
  void solve();

  bool areDistinct;
  SmallVector<HostBuffer> buffers;
  /// Where values come from, in the order of the program; buffers from nowhere.
  llvm::MapVector<Value, SmallVector<Value, 2>> sources;
  DenseMap<Value, SmallVector<unsigned, 1>> numbers;
  DenseSet<Value> joined;
  DenseMap<StringAttr, unsigned> globals;
  llvm::EquivalenceClasses<unsigned> families;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_DEVICE_HOSTMEMORY_H
