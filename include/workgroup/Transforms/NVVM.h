//===- NVVM.h - Kernels to the NVVM dialect ---------------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From kernels on memrefs to the NVVM dialect: a target for each module,
// arguments flattened to pointers and numbers, operations legalized that
// upstream's conversion does not take, the conversion itself, and a check of
// its result. What flattening made of the arguments is returned, for those who
// launch the kernels.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_TRANSFORMS_NVVM_H
#define WORKGROUP_TRANSFORMS_NVVM_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include <array>
#include <optional>
#include <string>

namespace mlir::workgroup {

/// Gives every `gpu.module` of `module` a `#nvvm.target` for `chip`. See pass
/// `workgroup-attach-target`.
LogicalResult attachTarget(ModuleOp module, StringRef chip);

/// A part of an original argument of a flattened kernel.
struct ArgumentPart {
  enum class Kind {
    /// The argument itself: a scalar or a vector.
    Value,
    /// The start of the argument's buffer.
    Pointer,
    /// The extent of the argument along `dim`.
    Extent,
    /// The stride of the argument along `dim`, in elements.
    Stride,
    /// The distance of the argument's first element from the start of its
    /// buffer, in elements.
    Offset,
    /// The argument itself, a tensor map: 128 bytes, passed by value.
    TensorMap,
  };
  Kind kind;
  /// Index among the original arguments.
  unsigned argument;
  /// Dimension of an extent or stride, else 0.
  unsigned dim = 0;
};

/// A parameter of a flattened kernel: the parts that it stands for. There are
/// several if all launches pass the same value for them.
using KernelParameter = SmallVector<ArgumentPart, 1>;

/// The interface of a kernel before and after its arguments were flattened.
struct KernelSignature {
  std::string name;
  SmallVector<Type> arguments;
  /// What accesses to the memory of each argument need it to be aligned to, in
  /// bytes; 1 if they ask for nothing.
  SmallVector<int64_t, 0> alignments;
  SmallVector<KernelParameter> parameters;
  /// The sizes that every launch has to have, if the kernel tells them.
  std::optional<std::array<int64_t, 3>> knownBlock, knownGrid;
  /// Bytes of dynamic workgroup memory that the kernel is known to need, and
  /// those that it needs whatever branches its threads take.
  int64_t dynamicBytes = 0, leastDynamicBytes = 0;
};

/// Flattens the arguments of all kernels of `module` and makes their names
/// unique. Appends the signature of each kernel to `signatures` if given. See
/// pass `workgroup-flatten-kernel-arguments`.
LogicalResult
flattenKernelArguments(ModuleOp module,
                       SmallVectorImpl<KernelSignature> *signatures = nullptr);

/// Lowers in kernels inside `root` what upstream's conversion to NVVM does not.
/// See pass `workgroup-legalize-for-nvvm`.
LogicalResult legalizeForNVVM(Operation *root);

/// Computes in f32 what kernels inside `root`, and structured operations of the
/// host, compute in floats of 8 bits and less. See pass
/// `workgroup-widen-floats`.
void widenFloats(Operation *root);

/// Asserts that accesses to memrefs inside `root`, and views of them, are in
/// bounds. See pass `workgroup-assert-bounds`.
void assertBounds(Operation *root);

/// Converts the kernels of `module` to NVVM. Upstream's conversion is a pass:
/// `run` runs passes on an operation, as `Pass::runPipeline` does. See pass
/// `workgroup-convert-kernels-to-nvvm`.
LogicalResult convertKernelsToNVVM(
    gpu::GPUModuleOp module,
    function_ref<LogicalResult(OpPassManager &, Operation *)> run);

/// Hands registers from product to product of warps inside `root`, without
/// vectors in between. See pass `workgroup-unpack-products`.
void unpackProducts(Operation *root);

/// Rejects what the conversion to NVVM left behind in the `gpu.module`s inside
/// `root`. See pass `workgroup-verify-nvvm`.
LogicalResult verifyNVVM(Operation *root);

/// The pass `workgroup-flatten-kernel-arguments`, which reports the interface
/// of each kernel to `signatures`; it must outlive the run.
std::unique_ptr<Pass>
createFlattenKernelArgumentsPass(SmallVectorImpl<KernelSignature> *signatures);

#define GEN_PASS_DECL
#include "workgroup/Transforms/NVVM.h.inc"

} // namespace mlir::workgroup

#endif // WORKGROUP_TRANSFORMS_NVVM_H
