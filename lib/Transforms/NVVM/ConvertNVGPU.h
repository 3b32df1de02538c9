//===- ConvertNVGPU.h - Operations of nvgpu as those of NVVM ----*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upstream's `convert-nvgpu-to-nvvm` looks at all operations of a kernel, and
// folds those that it does not know, as values that loops carry may be of
// types that it converts. Where only operations of nvgpu have such values, its
// patterns need to be shown no others.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_NVVM_CONVERTNVGPU_H
#define WORKGROUP_LIB_TRANSFORMS_NVVM_CONVERTNVGPU_H

#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::workgroup {

/// Converts operations of nvgpu in functions of kernels inside `root` to those
/// of NVVM. `run` runs passes on an operation, as `Pass::runPipeline` does.
LogicalResult
convertNVGPUOps(Operation *root,
                function_ref<LogicalResult(OpPassManager &, Operation *)> run);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_NVVM_CONVERTNVGPU_H
