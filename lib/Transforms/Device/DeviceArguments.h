//===- DeviceArguments.h - Arguments in memory of the device ----*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Arguments of host functions to which calls in the module pass what
// `gpu.alloc` has made, directly or through other functions. Of all other
// arguments nothing is known, and they are memory of the host.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_DEVICE_DEVICEARGUMENTS_H
#define WORKGROUP_LIB_TRANSFORMS_DEVICE_DEVICEARGUMENTS_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::workgroup {

class DeviceArguments {
public:
  explicit DeviceArguments(ModuleOp module);

  bool contains(Value argument) const { return arguments.contains(argument); }

private:
  DenseSet<Value> arguments;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_DEVICE_DEVICEARGUMENTS_H
