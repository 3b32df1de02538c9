//===- WorkgroupMemory.cpp - Static and dynamic workgroup memory ----------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BufferTypes.h"
#include "KernelChecks.h"
#include "LowerReductions.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "workgroup/Analysis/Alignment.h"
#include "workgroup/Support/MemorySpace.h"
#include "workgroup/Support/Remarks.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// Attributions
//===----------------------------------------------------------------------===//

/// The number of bytes of `type`, which is static; nothing if it overflows or
/// an element has no size that is known.
static std::optional<int64_t> getBytes(MemRefType type, Operation *scope) {
  std::optional<int64_t> bytes = getElementBytes(type, scope);
  if (!bytes)
    return std::nullopt;
  for (int64_t extent : type.getShape())
    if (llvm::MulOverflow(*bytes, extent, *bytes))
      return std::nullopt;
  return bytes;
}

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
  if (!getBytes(memref, scope))
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

namespace {
/// A static buffer that counts against a kernel's memory.
struct StaticBuffer {
  Location loc;
  int64_t bytes;
  int64_t alignment;
};

/// The workgroup memory of a kernel and of the functions it calls.
struct KernelMemory {
  SmallVector<StaticBuffer> buffers;
  SmallVector<gpu::DynamicSharedMemoryOp> dynamic;
};
} // namespace

static std::optional<StaticBuffer> getStaticBuffer(Value value,
                                                   Operation *scope) {
  auto type = dyn_cast<MemRefType>(value.getType());
  if (!type || !type.hasStaticShape() || !isWorkgroupMemory(type))
    return std::nullopt;
  // What has no number of bytes was reported before.
  std::optional<int64_t> bytes = getBytes(type, scope);
  if (!bytes)
    return std::nullopt;
  int64_t alignment =
      std::max(getStatedAlignment(value), getNaturalAlignment(type, scope));
  return StaticBuffer{value.getLoc(), *bytes, alignment};
}

/// The buffer that the lowering of `op` takes and aligns, if any.
static std::optional<StaticBuffer> getReductionBuffer(gpu::AllReduceOp op) {
  MemRefType type = getReductionBufferType(op);
  std::optional<int64_t> bytes = type ? getBytes(type, op) : std::nullopt;
  if (!bytes)
    return std::nullopt;
  return StaticBuffer{op.getLoc(), *bytes, kMinBufferAlignment};
}

static KernelMemory collectMemory(Operation *kernel) {
  KernelMemory memory;
  auto add = [&](Value value) {
    if (std::optional<StaticBuffer> buffer = getStaticBuffer(value, kernel))
      memory.buffers.push_back(*buffer);
  };
  if (auto launch = dyn_cast<gpu::LaunchOp>(kernel))
    llvm::for_each(launch.getWorkgroupAttributions(), add);
  else if (auto function = dyn_cast<gpu::GPUFuncOp>(kernel))
    llvm::for_each(function.getWorkgroupAttributions(), add);

  SymbolTableCollection symbols;
  SetVector<Operation *> reached;
  DenseSet<Operation *> globals;
  DenseSet<std::pair<Operation *, Type>> reductions;
  reached.insert(kernel);
  for (unsigned i = 0; i < reached.size(); ++i)
    reached[i]->walk([&](Operation *op) {
      if (auto dynamic = dyn_cast<gpu::DynamicSharedMemoryOp>(op)) {
        memory.dynamic.push_back(dynamic);
      } else if (auto reduce = dyn_cast<gpu::AllReduceOp>(op)) {
        std::optional<StaticBuffer> buffer = getReductionBuffer(reduce);
        if (buffer && reductions.insert({reached[i], reduce.getType()}).second)
          memory.buffers.push_back(*buffer);
      } else if (auto get = dyn_cast<memref::GetGlobalOp>(op)) {
        Operation *global =
            symbols.lookupNearestSymbolFrom(get, get.getNameAttr());
        if (global && globals.insert(global).second)
          add(get.getResult());
      } else if (auto call = dyn_cast<CallOpInterface>(op)) {
        if (Operation *callee = call.resolveCallableInTable(&symbols))
          reached.insert(callee);
      }
    });
  return memory;
}

static LogicalResult verifyCapacity(Operation *kernel,
                                    ArrayRef<StaticBuffer> buffers,
                                    int64_t limit) {
  int64_t bytes = 0;
  for (const StaticBuffer &buffer : buffers) {
    bytes = llvm::alignTo(bytes, buffer.alignment);
    if (llvm::AddOverflow(bytes, buffer.bytes, bytes))
      bytes = std::numeric_limits<int64_t>::max() / 2;
  }
  if (bytes <= limit)
    return success();
  InFlightDiagnostic diagnostic =
      emitError(kernel->getLoc(), "workgroup memory of kernel '")
      << getScopeName(kernel) << "' is " << bytes
      << " bytes, exceeding the limit of " << limit
      << " bytes; make its tiles smaller";
  for (const StaticBuffer &buffer : buffers)
    diagnostic.attachNote(buffer.loc)
        << "a buffer of " << buffer.bytes << " bytes, aligned to "
        << buffer.alignment << ", is here";
  remark::failed(kernel->getLoc(), remarkOptions(RemarkSource::VerifyKernels,
                                                 "OutOfCapacity", kernel))
      << remark::metric("Required", bytes) << remark::metric("Limit", limit);
  return diagnostic;
}

LogicalResult verifyWorkgroupMemory(ArrayRef<Operation *> scopes,
                                    const VerifyKernelsOptions &options) {
  bool hasFailed = false;
  DenseSet<Operation *> reported;
  for (Operation *kernel : llvm::make_filter_range(scopes, isKernel)) {
    KernelMemory memory = collectMemory(kernel);
    hasFailed |=
        failed(verifyCapacity(kernel, memory.buffers, options.maxStaticBytes));
    if (memory.buffers.empty())
      continue;
    for (gpu::DynamicSharedMemoryOp op : memory.dynamic) {
      hasFailed = true;
      if (!reported.insert(op).second)
        continue;
      op.emitOpError("overlaps the static workgroup buffers of its kernel; run "
                     "workgroup-lower-dynamic-memory after "
                     "gpu-kernel-outlining")
              .attachNote(memory.buffers.front().loc)
          << "a static buffer is here";
    }
  }
  return failure(hasFailed);
}

} // namespace mlir::workgroup
