//===- RuntimeNames.h - Names of what generated code calls ------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Generated code calls the runtime by these names, each with its signature in
// LLVM's types. Translation declares the functions, and the runtime defines
// them under the same names.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_STATE_RUNTIMENAMES_H
#define WORKGROUP_LIB_EMULATOR_STATE_RUNTIMENAMES_H

/// The names of the functions; all take the ThreadState first.
namespace mlir::workgroup::emulator::runtime {

/// `ptr (ptr, i64 address, i32 site, i64 bytes)`: check an access and return
/// the host address to use.
inline constexpr char kReadShared[] = "emulator.read.shared";
inline constexpr char kWriteShared[] = "emulator.write.shared";
inline constexpr char kUpdateShared[] = "emulator.update.shared";
inline constexpr char kReadSharedAtomically[] = "emulator.read.shared.atomic";
inline constexpr char kWriteSharedAtomically[] = "emulator.write.shared.atomic";
inline constexpr char kReadAtomically[] = "emulator.read.atomic";
inline constexpr char kWriteAtomically[] = "emulator.write.atomic";
inline constexpr char kReadOther[] = "emulator.read";
inline constexpr char kWriteOther[] = "emulator.write";
inline constexpr char kUpdateOther[] = "emulator.update";
/// `void (ptr, i64 address, i32 site)`: an atomic operation is done.
inline constexpr char kFinishAtomic[] = "emulator.finish.atomic";
/// `void (ptr, i1 for other blocks too)`: order by what is atomic.
inline constexpr char kFence[] = "emulator.fence";
/// `ptr (ptr, i64 address, i32 site)`: an access must not be done.
inline constexpr char kFault[] = "emulator.fault";
/// `void (ptr, i64 target, i64 source, i64 bytes, i32 site)`: copy bytes; the
/// source has the next site.
inline constexpr char kCopyBytes[] = "emulator.copy.bytes";
/// `void (ptr, i64 target, i8 value, i64 bytes, i32 site)`: set bytes.
inline constexpr char kSetBytes[] = "emulator.set.bytes";
/// `void (ptr, i64 address, i32 site)`: count an access.
inline constexpr char kLogAccess[] = "emulator.log.access";
/// `ptr (ptr, i64 bytes)`: the memory of a coroutine.
inline constexpr char kGetFrame[] = "emulator.get.frame";
/// `i32 (ptr, i32 site)`: how many iterations of loops the thread may make
/// until it asks again; none if it has to end.
inline constexpr char kPoll[] = "emulator.poll";
/// `void (ptr)`: the thread is to stop for some time.
inline constexpr char kDelay[] = "emulator.delay";
/// `void (ptr, i32 site, i1 by zero)`: a division has no result.
inline constexpr char kDivideFault[] = "emulator.divide.fault";
/// `void (ptr, i32 site)`.
inline constexpr char kTrap[] = "emulator.trap";
/// `void (ptr, ptr message, i32 site)`.
inline constexpr char kFailAssertion[] = "emulator.fail.assertion";
/// `void (ptr, i64 target, i64 source, i64 source bytes, i32 site)`.
inline constexpr char kBeginCopy[] = "emulator.begin.copy";
/// `void (ptr)`.
inline constexpr char kCommitCopies[] = "emulator.commit.copies";
inline constexpr char kWaitForAllCopies[] = "emulator.wait.for.all.copies";
/// `void (ptr, i32 newer groups)`.
inline constexpr char kWaitForCopies[] = "emulator.wait.for.copies";
/// `void (ptr, i32 operation)`: do it with the operands in the registers.
inline constexpr char kExecute[] = "emulator.execute";
/// `void (ptr)`: order what was done before what the asynchronous proxy does.
inline constexpr char kFenceProxy[] = "emulator.fence.proxy";
/// `void (ptr, i32 use)`: touch registers of products.
inline constexpr char kUseRegisters[] = "emulator.use.registers";
/// `void (ptr, i32 operation)`: arrive at the barrier of the cluster.
inline constexpr char kArriveAtCluster[] = "emulator.arrive.cluster";
/// `void (ptr)`: arrive at a barrier without waiting.
inline constexpr char kArrive[] = "emulator.arrive";
/// `void (ptr, ptr format, ptr arguments, i64 bytes of them)`.
inline constexpr char kPrint[] = "emulator.print";

} // namespace mlir::workgroup::emulator::runtime

#endif // WORKGROUP_LIB_EMULATOR_STATE_RUNTIMENAMES_H
