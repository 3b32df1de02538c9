//===- PassOptions.h - Options of passes and pipelines ----------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the command line says of options that a pass and a pipeline have, or
// several pipelines.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_PASSOPTIONS_H
#define WORKGROUP_PASSOPTIONS_H

namespace mlir::workgroup {

constexpr char kChipText[] = "The chip to compile for, as `sm_90a`; empty "
                             "means the target of the gpu.module, else sm_80";
constexpr char kAssumeAlignmentText[] =
    "Alignment in bytes that memref arguments of kernels and of the host may "
    "be assumed to have, a power of two; whoever launches must see to it";
constexpr char kAssumeDistinctArgumentsText[] =
    "Take different memref arguments of a function not to overlap";

} // namespace mlir::workgroup

#endif // WORKGROUP_PASSOPTIONS_H
