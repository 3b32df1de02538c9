//===- DevicePlan.h - What becomes of the buffers of a function -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each buffer of a host function that launches use is left where it is, moves
// to the device, or gets a second copy there, its mirror. What a value with
// several origins is, launches decide: if one uses it, or a view of it, it is
// memory of the device on every way to it, and what the host does with it is
// done with a copy of it.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_DEVICE_DEVICEPLAN_H
#define WORKGROUP_LIB_TRANSFORMS_DEVICE_DEVICEPLAN_H

#include "Analysis/Device/CopyProgram.h"
#include "Analysis/Device/HostMemory.h"
#include "DeviceArguments.h"
#include "llvm/ADT/BitVector.h"

namespace mlir::workgroup {

/// What becomes of a buffer, and why.
struct BufferPlan {
  enum class Outcome {
    /// Launches do not use it, or it is in memory of the device.
    None,
    /// Launches go on using memory of the host; `reason` says why.
    Left,
    /// It is in memory of the device.
    Moved,
    /// There is a second copy of it in memory of the device.
    Mirrored,
  };
  Outcome outcome = Outcome::None;
  std::string reason;
  /// The operation that the reason is about, if any.
  Operation *culprit = nullptr;
  /// By their operations, in the order in which they were found.
  llvm::MapVector<Operation *, BufferEvent> events;
  /// Of a mirror: the block in and below which the buffer is used, and the
  /// copies.
  Block *scope = nullptr;
  std::unique_ptr<CopyProgram> program;
  std::unique_ptr<CopyPlacement> placement;

  bool isLaunched() const;
  bool isFreed() const;
};

class DevicePlan {
public:
  DevicePlan(FunctionOpInterface function, const DeviceArguments &arguments,
             KernelUses &kernels, bool areDistinct);

  const HostMemory &getMemory() const { return memory; }
  ArrayRef<BufferPlan> getPlans() const { return plans; }

  /// True if `value` is memory of the device in the program that is planned.
  bool isOnDevice(Value value) const;
  /// True if `value` of a buffer with a mirror meets others in a value that is
  /// memory of the device.
  bool isJoinedOnDevice(Value value) const;
  /// Uses of memory of the device by the host.
  ArrayRef<OpOperand *> getHostUses() const { return hostUses; }

private:
  using Outcome = BufferPlan::Outcome;

  void collect();
  void collectLaunch(Operation *launch);
  void collectHostUse(OpOperand &use);
  void collectUnknown();
  void spreadOverlaps();
  BufferEvent &getEvent(unsigned number, Operation *op);
  bool isWhole(Value value) const;
  bool isJoinedFamily(unsigned number) const {
    return joinedOnDevice.contains(memory.getFamily(number));
  }

  void decide();
  void leave(unsigned number, const Twine &reason,
             Operation *culprit = nullptr);
  void leaveFamilies();
  void checkType(unsigned number);
  void checkViews(unsigned number);
  void checkConflicts();
  void checkHostUses();
  void checkSharedUses();
  bool canMove(unsigned number) const;
  bool isMovableCopy(unsigned number, Operation *op) const;
  void placeCopies(unsigned number);

  FunctionOpInterface function;
  HostMemory memory;
  KernelUses &kernels;
  std::vector<BufferPlan> plans;
  llvm::BitVector escaped;
  /// Families of buffers of which a launch uses a joined value.
  DenseSet<unsigned> joinedOnDevice;
  SmallVector<Operation *> unknownOps;
  SmallVector<OpOperand *> hostUses;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_DEVICE_DEVICEPLAN_H
