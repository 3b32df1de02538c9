//===- Device.h - Memory of the device for what launches use ----*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Buffers of the host that launches use get memory of the device, and the
// copies that this takes.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_TRANSFORMS_DEVICE_H
#define WORKGROUP_TRANSFORMS_DEVICE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::workgroup {

struct AllocateDeviceMemoryOptions {
  /// Different memref arguments of a function do not overlap.
  bool assumeDistinctArguments = false;
  /// Fail where launches go on using memory of the host.
  bool strict = false;
};

/// Gives the buffers of the host that launches inside `module` use memory of
/// the device. See pass `workgroup-allocate-device-memory`.
LogicalResult
allocateDeviceMemory(ModuleOp module,
                     const AllocateDeviceMemoryOptions &options = {});

#define GEN_PASS_DECL
#include "workgroup/Transforms/Device.h.inc"

} // namespace mlir::workgroup

#endif // WORKGROUP_TRANSFORMS_DEVICE_H
