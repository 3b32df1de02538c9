//===- KernelChecks.h - The larger checks of verify-kernels -----*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks that need more than the operation itself, each in a file of its own:
// MatrixOperands (values per thread), ElementTypes, AccessAlignment,
// WorkgroupMemory (attributions, capacity). VerifyKernels.cpp calls them; each
// emits its own errors.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_VERIFY_KERNELCHECKS_H
#define WORKGROUP_LIB_TRANSFORMS_VERIFY_KERNELCHECKS_H

#include "Support/Remarks.h"
#include "Transforms/Utils/KernelBuffers.h"
#include "workgroup/Analysis/Uniformity.h"
#include "workgroup/Transforms/Verify.h"

namespace mlir::workgroup {

/// Emits an error for each access that loads an operand of a matrix instruction
/// of kernel `scope`, or stores its result, with an index that is outside of
/// the memref in some thread of a block of known shape, and for each `ldmatrix`
/// row that is not aligned. Upstream's rewriting takes `threadIdx.x` for the
/// lane, so that the second warp of a block 64 wide addresses rows 8 to 23 of a
/// tile of 16.
LogicalResult verifyMatrixOperands(Operation *scope,
                                   const UniformityAnalysis &uniformity);

/// Emits an error if `op` computes in a type that GPUs do not compute in, or
/// accesses by vectors memory whose elements do not lie as those of a vector.
LogicalResult verifyElementTypes(Operation *op);

/// Emits an error if `op` promises or needs a larger alignment than its buffer
/// in workgroup memory has.
LogicalResult verifyAccessAlignment(Operation *op,
                                    const VerifyKernelsOptions &options);

/// Emits an error if `buffer`, which is accessed at `reportAt`, is a workgroup
/// buffer without a stated alignment.
LogicalResult verifyBufferAlignment(Value buffer, Operation *reportAt,
                                    const VerifyKernelsOptions &options);

/// Emits an error for each attribution of `scope`, a `gpu.launch` or
/// `gpu.func`, that upstream makes another thing of than its type says.
LogicalResult verifyAttributions(Operation *scope);

/// Emits the error, and the remark `id`, that `kernel` takes `bytes` of
/// workgroup memory where it can have `limit`, with a note for each of its
/// `buffers`. Returns what the error says.
MemoryShortage emitCapacityError(RemarkId id, Operation *kernel,
                                 ArrayRef<KernelBuffer> buffers, int64_t bytes,
                                 int64_t limit, int64_t dynamicBytes = 0);

/// Emits an error for each kernel of `scopes` whose dynamic memory upstream
/// would put over its static buffers, and for each that needs more memory than
/// `options` or its chip allow, which is appended to `shortages`.
LogicalResult verifyWorkgroupMemory(ModuleOp module,
                                    ArrayRef<Operation *> scopes,
                                    const VerifyKernelsOptions &options,
                                    std::vector<MemoryShortage> &shortages);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_VERIFY_KERNELCHECKS_H
