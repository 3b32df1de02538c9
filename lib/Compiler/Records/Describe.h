//===- Describe.h - Kernels and their launches as data -------- -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What was compiled as records: kernels with their parameters and launch sizes,
// host functions with their arguments, workgroup memory with the places of its
// buffers. Records hold strings and numbers only, so that callers need no MLIR.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_COMPILER_RECORDS_DESCRIBE_H
#define WORKGROUP_LIB_COMPILER_RECORDS_DESCRIBE_H

#include "mlir/IR/BuiltinOps.h"
#include "workgroup/Compiler/Compile.h"
#include "workgroup/Transforms/Memory.h"
#include "workgroup/Transforms/NVVM.h"

namespace mlir::workgroup {

/// The kernel with this signature in the flattened `module`; memref arguments
/// have `alignment` bytes of alignment.
KernelRecord describeKernel(ModuleOp module, const KernelSignature &signature,
                            int64_t alignment);

/// The host functions of the outlined `module` that launch kernels or, if none
/// does, that others can call.
std::vector<EntryRecord> describeEntries(ModuleOp module, int64_t alignment);

/// The workgroup memory of a kernel.
MemoryRecord describeMemory(const MemoryPlacement &placement);

/// What a kernel lacks.
ShortageRecord describeShortage(const MemoryShortage &shortage);

/// The buffers of the outlined `module` in workgroup memory.
std::vector<SharedBuffer> describeSharedBuffers(ModuleOp module);

/// How many loads by TMA there are in `module`.
int64_t countTensorLoads(ModuleOp module);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_COMPILER_RECORDS_DESCRIBE_H
