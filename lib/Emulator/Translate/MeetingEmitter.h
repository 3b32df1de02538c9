//===- MeetingEmitter.h - What threads do together ------------ -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rewrites what threads wait for others at: barriers, and operations of a warp,
// on its lanes or on matrices. The thread leaves its operands in its registers,
// is suspended, and takes the result from there.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_TRANSLATE_MEETINGEMITTER_H
#define WORKGROUP_LIB_EMULATOR_TRANSLATE_MEETINGEMITTER_H

#include "AddressEmitter.h"
#include "llvm/IR/IntrinsicInst.h"

namespace mlir::workgroup::emulator {

/// Each function is false if the intrinsic `name` is none of its kind, or an
/// error was added.
class MeetingEmitter {
public:
  MeetingEmitter(EmissionContext &context, AddressEmitter &addresses)
      : context(context), addresses(addresses) {}

  bool emitBarrier(llvm::IntrinsicInst &call, llvm::StringRef name);
  bool emitWarp(llvm::IntrinsicInst &call, llvm::StringRef name);
  bool emitMatrix(llvm::IntrinsicInst &call, llvm::StringRef name);
  /// The same for the text of inline assembly.
  bool emitAssembly(llvm::CallInst &call, llvm::StringRef text);

private:
  void suspendAt(llvm::CallInst &call, Operation operation);
  void arriveAt(llvm::CallInst &call);
  void emitClusterBarrier(llvm::IntrinsicInst &call, llvm::StringRef name);

  EmissionContext &context;
  AddressEmitter &addresses;
};

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_TRANSLATE_MEETINGEMITTER_H
