//===- Registration.h - What programs may be made of ------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs and schedules may use the dialects and passes of upstream MLIR but
// for those that serve something else than a host with NVIDIA GPUs: other
// hardware (AMDGPU, AMX, Arm's vectors, ROCDL, SPIR-V, X86Vector, XeGPU, XeVM),
// other languages (EmitC, OpenACC, OpenMP, WasmSSA) and distributed memory
// (MPI, Shard). With all of `mlir/InitAll*.h`, the Python extension would be
// larger by a fifth.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_COMPILER_REGISTRATION_H
#define WORKGROUP_LIB_COMPILER_REGISTRATION_H

#include "mlir/IR/DialectRegistry.h"

namespace mlir::workgroup {

/// All dialects that programs may use, with their interfaces and extensions;
/// they are loaded when they are used.
const DialectRegistry &getRegistry();

/// Registers all passes, of MLIR and of this project, once.
void registerPassesOnce();

/// Adds upstream's dialects.
void registerUpstreamDialects(DialectRegistry &registry);

/// Adds the interfaces that upstream's dialects implement outside themselves.
void registerUpstreamInterfaces(DialectRegistry &registry);

/// Adds how upstream's dialects are converted to the LLVM dialect, the
/// operations that they add to the transform dialect, and how they are
/// translated to LLVM IR.
void registerUpstreamExtensions(DialectRegistry &registry);

/// Registers upstream's passes and pipelines.
void registerUpstreamPasses();

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_COMPILER_REGISTRATION_H
