//===- Transforms.h - The functions behind the passes -----------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a pass does, as a function that another project can call. Each touches
// nothing outside of the operation it is given. On failure it has emitted
// diagnostics, and the IR may only be discarded.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_TRANSFORMS_H
#define WORKGROUP_TRANSFORMS_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::workgroup {

/// Moves workgroup allocations of host code inside `root` into the kernels that
/// use them. See pass `workgroup-sink-allocs`.
LogicalResult sinkAllocs(Operation *root);

struct HoistAllocsOptions {
  /// Smallest alignment in bytes of buffers of a `gpu.func`.
  int64_t defaultAlignment = 16;
  /// Put a barrier where a loop allocates a buffer again.
  bool insertBarriers = false;
};

/// Turns workgroup allocations in device code inside `root` into buffers of
/// their kernel. See pass `workgroup-hoist-allocs`.
LogicalResult hoistAllocs(Operation *root,
                          const HoistAllocsOptions &options = {});

struct LowerCopiesOptions {
  /// Surround copies done by the whole block by barriers.
  bool insertBarriers = true;
  /// Alignment in bytes that memref arguments may be assumed to have.
  int64_t assumeAlignment = 1;
  /// Accesses per thread up to which a copy becomes straight-line code.
  int64_t unrollLimit = 8;
  /// Widest access in bytes.
  int64_t vectorBytes = 16;
};

/// Lowers copies in device code inside `root` to loads and stores. See pass
/// `workgroup-lower-copies`.
LogicalResult lowerCopies(Operation *root,
                          const LowerCopiesOptions &options = {});

/// Lowers `gpu.dynamic_shared_memory` in the `gpu.module`s inside `root` to an
/// extern symbol. See pass `workgroup-lower-dynamic-memory`.
void lowerDynamicMemory(Operation *root);

struct ResolveBankConflictsOptions {
  /// Workgroup memory in bytes that a kernel may have when its rows are padded;
  /// 0 means what static memory can have or, for a kernel that has more, the
  /// chip.
  int64_t maxBytes = 0;
  /// The chip to compile for; empty means the module's target, else sm_80.
  std::string chip;
};

/// Gives workgroup buffers in device code inside `root` layouts with fewer bank
/// conflicts. See pass `workgroup-resolve-bank-conflicts`.
LogicalResult
resolveBankConflicts(Operation *root,
                     const ResolveBankConflictsOptions &options = {});

struct VerifyKernelsOptions {
  /// Reject barriers in divergent control flow.
  bool verifyBarriers = true;
  /// Largest number of bytes of static workgroup memory of a kernel.
  int64_t maxStaticBytes = 49152;
  /// Alignment in bytes that a later pass will give every static buffer.
  int64_t assumeBufferAlignment = 1;
};

/// Rejects what the lowering to NVVM would miscompile. See pass
/// `workgroup-verify-kernels`.
LogicalResult verifyKernels(ModuleOp module,
                            const VerifyKernelsOptions &options = {});

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
  SmallVector<KernelParameter> parameters;
  /// The sizes that every launch has to have, if the kernel tells them.
  std::optional<std::array<int64_t, 3>> knownBlock, knownGrid;
};

/// Flattens the arguments of all kernels of `module` and makes their names
/// unique. Appends the signature of each kernel to `signatures` if given. See
/// pass `workgroup-flatten-kernel-arguments`.
LogicalResult
flattenKernelArguments(ModuleOp module,
                       SmallVectorImpl<KernelSignature> *signatures = nullptr);

} // namespace mlir::workgroup

#endif // WORKGROUP_TRANSFORMS_H
