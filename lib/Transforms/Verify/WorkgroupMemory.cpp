//===- WorkgroupMemory.cpp - Static and dynamic workgroup memory ----------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attributions that upstream would lower to something else than their type
// says, and the bytes of workgroup memory of a kernel, static and dynamic,
// against what a block of its chip can have. An error of capacity has a note at
// each buffer.
//
//===----------------------------------------------------------------------===//

#include "KernelChecks.h"
#include "Support/Remarks.h"
#include "Transforms/Utils/BufferTypes.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "workgroup/Analysis/Alignment.h"
#include "workgroup/Support/MemorySpace.h"
#include "workgroup/Target/Chip.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// Attributions
//===----------------------------------------------------------------------===//

/// What is wrong with `type` as the type of a workgroup attribution, which
/// upstream turns into a variable of as many elements as its shape has, in
/// space 3, whatever else it says; empty if nothing is.
static StringRef getDefect(Type type, Operation *scope) {
  auto memref = dyn_cast<MemRefType>(type);
  if (!memref || !isWorkgroupMemory(type))
    return "which is not a memref in workgroup memory; use "
           "#gpu.address_space<workgroup>";
  if (isa<NVVM::NVVMMemorySpaceAttr>(memref.getMemorySpace()))
    return "whose memory space the lowering does not know; run "
           "workgroup-hoist-allocs, which respells it";
  if (!memref.hasStaticShape())
    return "whose size is not static";
  if (llvm::is_contained(memref.getShape(), 0))
    return "which is empty; give it at least one element";
  if (!getElementBytes(memref, scope))
    return "whose element type has no form in LLVM; store it as an integer of "
           "the same width";
  if (!getStaticBytes(memref, scope))
    return "which is larger than any memory; make its extents smaller";
  SmallVector<int64_t> strides;
  int64_t offset;
  std::optional<int64_t> span;
  if (succeeded(memref.getStridesAndOffset(strides, offset)))
    span = getSpan(memref.getShape(), strides, offset);
  if (!span || *span > memref.getNumElements())
    return "whose layout has gaps, for which too few bytes would be reserved; "
           "allocate it by memref.alloc and run workgroup-hoist-allocs";
  return "";
}

static LogicalResult verifyWorkgroupAttribution(BlockArgument buffer,
                                                Operation *scope) {
  if (StringRef defect = getDefect(buffer.getType(), scope); !defect.empty())
    return scope->emitOpError("has workgroup attribution of type ")
           << buffer.getType() << ", " << defect;
  // LLVM's limit; no memory of a block is as large.
  constexpr int64_t kMaxAlignment = int64_t(1) << 32;
  int64_t alignment = getStatedAlignment(buffer);
  if (alignment != 0 &&
      (!llvm::isPowerOf2_64(alignment) || alignment > kMaxAlignment))
    return scope->emitOpError("has workgroup attribution with llvm.align = ")
           << alignment << ", which is not a power of two up to 2^32";
  return success();
}

static LogicalResult verifyPrivateAttribution(BlockArgument buffer,
                                              Operation *scope) {
  auto type = dyn_cast<MemRefType>(buffer.getType());
  auto space =
      type ? dyn_cast_or_null<gpu::AddressSpaceAttr>(type.getMemorySpace())
           : gpu::AddressSpaceAttr();
  if (space && space.getValue() == gpu::AddressSpace::Private)
    return success();
  return scope->emitOpError("has private attribution of type ")
         << buffer.getType() << "; use #gpu.address_space<private>";
}

LogicalResult verifyAttributions(Operation *scope) {
  ArrayRef<BlockArgument> workgroup, privates;
  if (auto launch = dyn_cast<gpu::LaunchOp>(scope)) {
    workgroup = launch.getWorkgroupAttributions();
    privates = launch.getPrivateAttributions();
  } else if (auto function = dyn_cast<gpu::GPUFuncOp>(scope)) {
    workgroup = function.getWorkgroupAttributions();
    privates = function.getPrivateAttributions();
  }
  bool hasFailed = false;
  for (BlockArgument buffer : workgroup)
    hasFailed |= failed(verifyWorkgroupAttribution(buffer, scope));
  for (BlockArgument buffer : privates)
    hasFailed |= failed(verifyPrivateAttribution(buffer, scope));
  return failure(hasFailed);
}

//===----------------------------------------------------------------------===//
// The memory of a kernel
//===----------------------------------------------------------------------===//

MemoryShortage emitCapacityError(RemarkId id, Operation *kernel,
                                 ArrayRef<KernelBuffer> buffers, int64_t bytes,
                                 int64_t limit, int64_t dynamicBytes) {
  InFlightDiagnostic diagnostic =
      emitError(kernel->getLoc(), "workgroup memory of kernel '")
      << getScopeName(kernel) << "' is " << bytes << " bytes";
  if (dynamicBytes > 0)
    diagnostic << ", " << dynamicBytes << " of them dynamic";
  diagnostic << ", exceeding the limit of " << limit
             << " bytes; make its tiles smaller";
  for (const KernelBuffer &buffer : buffers)
    diagnostic.attachNote(buffer.loc)
        << "a buffer of " << buffer.bytes << " bytes, aligned to "
        << buffer.alignment << ", is here";
  recordRemark(id, kernel) << remark::metric("Required", bytes)
                           << remark::metric("Limit", limit);
  return {getScopeName(kernel).str(), bytes, limit};
}

/// The most dynamic memory that a launch of `kernel` is known to ask for, or
/// that the kernel is known to need.
static int64_t getDynamicBytes(Operation *kernel, const KernelBuffers &memory,
                               ArrayRef<gpu::LaunchFuncOp> launches) {
  int64_t bytes = memory.dynamicBytes;
  auto addLaunch = [&](Value asked) {
    if (asked)
      bytes = std::max(bytes, getConstantIntValue(asked).value_or(0));
  };
  if (auto launch = dyn_cast<gpu::LaunchOp>(kernel))
    addLaunch(launch.getDynamicSharedMemorySize());
  for (gpu::LaunchFuncOp launch : launches)
    addLaunch(launch.getDynamicSharedMemorySize());
  return bytes;
}

static LogicalResult verifyCapacity(Operation *kernel,
                                    const KernelBuffers &memory,
                                    ArrayRef<gpu::LaunchFuncOp> launches,
                                    const VerifyKernelsOptions &options,
                                    std::vector<MemoryShortage> &shortages) {
  int64_t bytes = memory.getStaticBytes();
  auto fail = [&](int64_t required, int64_t limit, int64_t dynamic) {
    shortages.push_back(emitCapacityError(RemarkId::VerifyKernels_OutOfCapacity,
                                          kernel, memory.buffers, required,
                                          limit, dynamic));
    return failure();
  };
  if (bytes > options.maxStaticBytes)
    return fail(bytes, options.maxStaticBytes, /*dynamic=*/0);
  int64_t dynamic = getDynamicBytes(kernel, memory, launches);
  if (dynamic == 0)
    return success();
  int64_t limit = options.maxBytes;
  if (limit <= 0) {
    const Chip *chip = resolveChip(kernel, /*name=*/"");
    if (!chip)
      return failure();
    limit = chip->maxWorkgroupBytes;
  }
  return bytes + dynamic <= limit ? success()
                                  : fail(bytes + dynamic, limit, dynamic);
}

LogicalResult verifyWorkgroupMemory(ModuleOp module,
                                    ArrayRef<Operation *> scopes,
                                    const VerifyKernelsOptions &options,
                                    std::vector<MemoryShortage> &shortages) {
  bool hasFailed = false;
  DenseSet<Operation *> reported;
  LaunchSites sites = collectLaunchSites(module);
  for (Operation *kernel : llvm::make_filter_range(scopes, isKernel)) {
    KernelBuffers memory = collectKernelBuffers(kernel);
    auto function = dyn_cast<gpu::GPUFuncOp>(kernel);
    hasFailed |= failed(verifyCapacity(kernel, memory, sites.lookup(function),
                                       options, shortages));
    if (memory.buffers.empty())
      continue;
    for (Operation *op : memory.windows) {
      if (!isa<gpu::DynamicSharedMemoryOp>(op))
        continue;
      hasFailed = true;
      if (!reported.insert(op).second)
        continue;
      op->emitOpError("overlaps the static workgroup buffers of its kernel; "
                      "run workgroup-lower-dynamic-memory after "
                      "gpu-kernel-outlining")
              .attachNote(memory.buffers.front().loc)
          << "a static buffer is here";
    }
  }
  return failure(hasFailed);
}

} // namespace mlir::workgroup
