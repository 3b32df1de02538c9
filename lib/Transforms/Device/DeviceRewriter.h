//===- DeviceRewriter.h - Buffers of launches to the device -----*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Carries out what is planned for the buffers of a function.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_DEVICE_DEVICEREWRITER_H
#define WORKGROUP_LIB_TRANSFORMS_DEVICE_DEVICEREWRITER_H

#include "DeviceMirror.h"
#include "DevicePlan.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::workgroup {

class DeviceRewriter {
public:
  DeviceRewriter(FunctionOpInterface function, const DevicePlan &plan)
      : function(function), plan(plan), rewriter(function->getContext()) {}

  void run();

private:
  /// A use of a buffer with a mirror that becomes one of the mirror: in a
  /// launch, or where it meets others in memory of the device.
  struct MirroredUse {
    Value value;
    Operation *user;
  };

  void move(unsigned number);
  void mirror(unsigned number);
  SmallVector<Value> getRoots(const HostBuffer &buffer) const;
  SmallVector<MirroredUse> collectUses(ArrayRef<Value> roots) const;
  Operation *findStart(const BufferPlan &plan, ArrayRef<CopyPlace> places,
                       ArrayRef<MirroredUse> uses) const;
  Value getHostValue(const HostBuffer &buffer, Operation *start);
  Value getMirrored(Value value);
  void placeCopy(const HostBuffer &buffer, const DeviceMirror &mirror,
                 Value host, Sides to, const CopyPlace &place);
  void convertHostUses();
  void stage(Operation *op, ArrayRef<OpOperand *> uses);
  void freeAll();

  FunctionOpInterface function;
  const DevicePlan &plan;
  IRRewriter rewriter;
  /// What stands for values of mirrored buffers on the device.
  DenseMap<Value, Value> mirrored;
  /// Memory to free behind its last use, where the program does not.
  SmallVector<std::pair<Value, Block *>> unfreed;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_DEVICE_DEVICEREWRITER_H
