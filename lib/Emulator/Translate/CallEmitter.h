//===- CallEmitter.h - Intrinsics and functions of the device - -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rewrites calls, each by the emitter that knows it, and does itself what is
// left: traps, assertions, printing. What nobody knows is an error that names
// it.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_TRANSLATE_CALLEMITTER_H
#define WORKGROUP_LIB_EMULATOR_TRANSLATE_CALLEMITTER_H

#include "AccessEmitter.h"
#include "AsyncEmitter.h"
#include "MathEmitter.h"
#include "MeetingEmitter.h"
#include "RegisterEmitter.h"
#include "WarpgroupEmitter.h"

namespace mlir::workgroup::emulator {

class CallEmitter {
public:
  CallEmitter(EmissionContext &context, AddressEmitter &addresses,
              AccessEmitter &accesses, MathEmitter &math)
      : context(context), accesses(accesses), math(math), registers(context),
        meetings(context, addresses), warpgroups(context),
        async(context, addresses) {}

  void emit(llvm::CallInst &call);

private:
  void emitIntrinsic(llvm::IntrinsicInst &call);
  bool emitTrap(llvm::IntrinsicInst &call);
  bool emitDeviceIntrinsic(llvm::IntrinsicInst &call, llvm::StringRef name);
  bool emitControl(llvm::IntrinsicInst &call, llvm::StringRef name);
  void emitAssembly(llvm::CallInst &call);
  void emitPrint(llvm::CallInst &call);

  EmissionContext &context;
  AccessEmitter &accesses;
  MathEmitter &math;
  RegisterEmitter registers;
  MeetingEmitter meetings;
  WarpgroupEmitter warpgroups;
  AsyncEmitter async;
};

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_TRANSLATE_CALLEMITTER_H
