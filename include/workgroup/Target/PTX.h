//===- PTX.h - From the NVVM dialect to PTX ---------------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All GPU modules of a program become one LLVM module and one PTX text.
// Mathematical functions come from NVIDIA's libdevice, a file of LLVM bitcode
// that is linked in where a kernel needs it.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_TARGET_PTX_H
#define WORKGROUP_TARGET_PTX_H

#include "mlir/IR/BuiltinOps.h"
#include "workgroup/Target/LLVMDiagnostics.h"
#include <memory>
#include <string>

namespace llvm {
class LLVMContext;
class Module;
class TargetMachine;
} // namespace llvm

namespace mlir::workgroup {

/// The memory of its block that a kernel takes.
struct KernelMemory {
  std::string kernel;
  /// Bytes of static workgroup memory, as ptxas counts them.
  int64_t staticBytes = 0;
};

/// A module of LLVM, in a context that keeps its errors.
struct LLVMProgram {
  LLVMProgram();
  ~LLVMProgram();

  /// Leaves everything allocated, after a crash of LLVM: nothing of it can be
  /// relied on, not even that it can be destroyed.
  void abandon();

  std::unique_ptr<llvm::LLVMContext> context;
  std::shared_ptr<const LLVMErrors> errors;
  /// Null before it is translated.
  std::unique_ptr<llvm::Module> module;
};

/// Translates the GPU modules of `module`, which hold nothing but LLVM and NVVM
/// operations, links them and `libdevice` (a path; empty if there is none), and
/// optimises the result for the chip of their target. After an error,
/// `lacksLibdevice`, if given, tells whether it was that no libdevice was given
/// and one is needed. `bitcode`, if given, receives the linked IR with source
/// lines, before libdevice and optimisation: what an emulator executes. The
/// result knows its lines only if `keepsLines`.
LogicalResult translateToLLVM(ModuleOp module, LLVMProgram &program,
                              StringRef libdevice,
                              bool *lacksLibdevice = nullptr,
                              std::string *bitcode = nullptr,
                              bool keepsLines = false);

/// The PTX for `program`, which `translateToLLVM` made of `module` and
/// `libdevice`; `bitcode` tells where errors are.
FailureOr<std::string> translateToPTX(ModuleOp module, LLVMProgram &program,
                                      StringRef libdevice,
                                      const std::string &bitcode);

/// LLVM's target machine for the GPUs of `chip`; null if it has no such target.
std::unique_ptr<llvm::TargetMachine> createTargetMachineForChip(StringRef chip);

/// Optimises `llvmModule` as `translateToLLVM` does for `chip`. False if LLVM
/// has no such target.
bool optimizeForChip(llvm::Module &llvmModule, StringRef chip);

/// The memory of its block that each kernel of `llvmModule` takes.
SmallVector<KernelMemory> getKernelMemory(llvm::Module &llvmModule);

} // namespace mlir::workgroup

#endif // WORKGROUP_TARGET_PTX_H
