//===- Kernel.h - Kernels, device code and block shapes ---------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Questions that every pass asks about kernels, and that have one answer before
// outlining (`gpu.launch`) and after (`gpu.func`).
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_SUPPORT_KERNEL_H
#define WORKGROUP_SUPPORT_KERNEL_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include <array>
#include <optional>

namespace mlir::workgroup {

/// Threads of a warp, on every supported chip.
constexpr int64_t kWarpSize = 32;

/// The number of threads of a block along x, y and z, where known.
struct BlockShape {
  std::array<std::optional<int64_t>, 3> sizes;

  /// Threads per block, if all three sizes are known.
  std::optional<int64_t> getNumThreads() const;

  /// True if the ids of a thread tell which lane of its warp it is.
  bool hasLanes() const { return sizes[0] && sizes[1]; }

  /// True if the block is known to consist of one thread.
  bool isSingleThread() const { return getNumThreads() == 1; }
};

/// True for a kernel: a `gpu.launch`, a `gpu.func` marked `kernel`, or an
/// `llvm.func` marked `nvvm.kernel`.
bool isKernel(Operation *op);

/// The closest `gpu.launch` or function around `op`, which may be `op` itself:
/// the scope in which a thread runs. Null if there is none.
Operation *getExecutionScope(Operation *op);

/// True if the function runs on the device: it stands in a `gpu.module`, or it
/// reads processor ids or synchronises outside of any `gpu.launch` (the form in
/// which kernels written as `func.func` come).
bool isDeviceFunction(FunctionOpInterface function);

/// True if `op` is executed by the threads of a kernel.
bool isInDeviceCode(Operation *op);

/// True if `op` is executed by the host, as far as it matters to kernels: it
/// stands in a function that launches some. A function that does not may be
/// called by a kernel, whatever it holds.
bool isInLaunchingCode(Operation *op);

/// The kernels and device functions inside `root`, and the functions inside
/// `root` that they call, directly or not: all that threads execute, in an
/// order that does not depend on addresses. `calls`, if given, receives the
/// calls among them with their callees.
SmallVector<Operation *> collectDeviceScopes(
    Operation *root,
    SmallVectorImpl<std::pair<CallOpInterface, FunctionOpInterface>> *calls =
        nullptr);

/// The functions inside `root` that can call themselves, directly or not.
DenseSet<Operation *> findRecursiveFunctions(Operation *root);

/// The block shape of the kernel or device function `scope`, from the constant
/// launch operands or from `known_block_size`.
BlockShape getBlockShape(Operation *scope);

/// The number of blocks along x, y and z that the kernel `scope` is launched
/// with, from the constant launch operands or from `known_grid_size`; nothing
/// where that is not known.
std::array<std::optional<int64_t>, 3> getGridSizes(Operation *scope);

/// A name for `scope` in diagnostics and remarks: the function's symbol, or the
/// name of the function that holds the launch.
StringRef getScopeName(Operation *scope);

/// The region whose entry block runs first in `scope`; null for a declaration.
Region *getBody(Operation *scope);

/// True for an operation that only threads of a kernel can execute.
bool isThreadOp(Operation *op);

/// True for an operation at which all threads of the block must meet.
bool isBlockBarrier(Operation *op);

/// True if `op` may be executed more than once in one run of `scope`, an
/// ancestor: it stands in a loop, structured or not.
bool isInLoop(Operation *op, Operation *scope);

} // namespace mlir::workgroup

#endif // WORKGROUP_SUPPORT_KERNEL_H
