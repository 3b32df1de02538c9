//===- LLVMModules.h - Modules of LLVM for NVIDIA's GPUs --------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The steps from an LLVM module to PTX, for whole programs and for single
// kernels alike: the common target of all GPU modules, LLVM's machine for it,
// linking of `libdevice`, and optimisation. Errors of LLVM are reported at the
// MLIR location that their debug location names.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TARGET_LLVMMODULES_H
#define WORKGROUP_LIB_TARGET_LLVMMODULES_H

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "workgroup/Target/LLVMDiagnostics.h"

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace mlir::workgroup {

/// The target that all GPU modules agree on; null after an error.
NVVM::NVVMTargetAttr getCommonTarget(ModuleOp module);

/// Null if LLVM has no such target.
std::unique_ptr<llvm::TargetMachine> createTargetMachine(StringRef chip,
                                                         StringRef features);

/// Links what `llvmModule`, of `module`, needs of `libdevice`, and optimises.
LogicalResult finishModule(ModuleOp module, llvm::Module &llvmModule,
                           llvm::TargetMachine &machine, StringRef libdevice);

/// Emits `errors` at their locations in `module`: `what`, then what LLVM says.
void reportErrors(ModuleOp module, const LLVMErrors &errors, const Twine &what);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TARGET_LLVMMODULES_H
