//===- LLVMPasses.h - Run passes of LLVM on a module ------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM's passes take four managers of analyses that know each other. They are
// made here, for all who run passes.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TARGET_LLVMPASSES_H
#define WORKGROUP_LIB_TARGET_LLVMPASSES_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Passes/PassBuilder.h"

namespace mlir::workgroup {

/// Runs the passes that `build` returns on `llvmModule`. Those that ask for a
/// machine have `machine`; null means any.
inline void runLLVMPasses(
    llvm::Module &llvmModule, llvm::TargetMachine *machine,
    llvm::function_ref<llvm::ModulePassManager(llvm::PassBuilder &)> build,
    llvm::PipelineTuningOptions tuning = llvm::PipelineTuningOptions()) {
  llvm::PassBuilder builder(machine, tuning);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  build(builder).run(llvmModule, modules);
}

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TARGET_LLVMPASSES_H
