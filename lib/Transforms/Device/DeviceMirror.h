//===- DeviceMirror.h - A buffer's copy on the device -----------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `gpu.memcpy` copies contiguous memory. The mirror of a buffer with gaps is
// contiguous if its type lets it be, else it has the gaps, too; either way
// elements go by way of a buffer of the host that is laid out as the mirror is.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_DEVICE_DEVICEMIRROR_H
#define WORKGROUP_LIB_TRANSFORMS_DEVICE_DEVICEMIRROR_H

#include "Analysis/Device/CopyPlacement.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::workgroup {

class DeviceMirror {
public:
  /// Allocates memory for a mirror of `host`, which is strided.
  DeviceMirror(OpBuilder &builder, Location loc, Value host);

  /// The mirror as a memref of the type of the buffer.
  Value getView() const { return mirror.view; }
  /// The contiguous memory that it is in.
  Value getMemory() const { return mirror.memory; }

  /// Copies all elements to `to`, from or to the buffer `host`.
  void copy(OpBuilder &builder, Location loc, Value host, Sides to) const;

private:
  /// Contiguous memory, and a view of it.
  struct Storage {
    Value memory, view;
  };
  using Allocate = function_ref<Value(MemRefType type, ValueRange sizes)>;
  static Storage makeLike(OpBuilder &builder, Location loc, Value host,
                          Allocate allocate);

  Storage mirror;
};

/// Allocates memory of the device.
Value createDeviceAlloc(OpBuilder &builder, Location loc, MemRefType type,
                        ValueRange sizes);

/// Allocates memory of the host of the shape that `like` has, which is
/// contiguous.
Value createHostAlloc(OpBuilder &builder, Location loc, Value like);

/// Copies contiguous memory, on whichever side it is.
void createDeviceCopy(OpBuilder &builder, Location loc, Value target,
                      Value source);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_DEVICE_DEVICEMIRROR_H
