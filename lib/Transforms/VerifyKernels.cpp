//===- VerifyKernels.cpp - Reject kernels that would be miscompiled -------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One function per thing that upstream's lowering to NVVM gets wrong without a
// message, or with one that does not name the op. The numbers B1 to B8 are
// those of docs/verification.md, which shows each of them.
//
//===----------------------------------------------------------------------===//

#include "MatrixOperands.h"
#include "mlir/Dialect/GPU/Transforms/ParallelLoopMapper.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/RegionUtils.h"
#include "workgroup/Analysis/Alignment.h"
#include "workgroup/Analysis/Uniformity.h"
#include "workgroup/Passes.h"
#include "workgroup/Support/MemorySpace.h"
#include "workgroup/Support/Remarks.h"
#include "workgroup/Target/Chip.h"
#include "workgroup/Transforms.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_VERIFYKERNELSPASS
#include "workgroup/Passes.h.inc"

namespace {

class KernelVerifier {
public:
  KernelVerifier(ModuleOp module, const VerifyKernelsOptions &options)
      : module(module), options(options), uniformity(module) {}

  LogicalResult verify();

private:
  void verifyOp(Operation *op);
  void verifyAllocation(Operation *op);
  void verifyLaunch(gpu::LaunchOp launch);
  void verifyFunction(gpu::GPUFuncOp function);
  void verifyWorkgroupBuffer(BlockArgument buffer, Operation *scope);
  void verifyPrivateBuffer(BlockArgument buffer, Operation *scope);
  void verifyAlignmentOf(Value buffer, MemRefType type, Operation *reportAt);
  void verifyMapping(Operation *op, ArrayAttr mapping);
  void verifyBarrier(Operation *op);
  void verifyCopy(Operation *op);
  void verifyAccess(Operation *op, Value memref, ValueRange indices,
                    int64_t promised);
  void verifyDynamicMemory(gpu::DynamicSharedMemoryOp op);
  void verifyCapacity(Operation *scope);

  InFlightDiagnostic error(Operation *op, const Twine &message) {
    hasFailed = true;
    return op->emitOpError(message);
  }

  ModuleOp module;
  const VerifyKernelsOptions &options;
  UniformityAnalysis uniformity;
  bool hasFailed = false;
};

} // namespace

//===----------------------------------------------------------------------===//
// B1, B2: workgroup memory that nobody has placed
//===----------------------------------------------------------------------===//

void KernelVerifier::verifyAllocation(Operation *op) {
  if (isa<memref::DeallocOp>(op)) {
    if (isWorkgroupMemory(op->getOperand(0).getType()))
      error(op, "of workgroup memory, which is static; workgroup-hoist-allocs "
                "erases it");
    return;
  }
  if (!isWorkgroupMemory(op->getResult(0).getType()))
    return;
  if (isInDeviceCode(op))
    error(op, "in workgroup memory was not hoisted; run workgroup-hoist-allocs "
              "after gpu-kernel-outlining");
  else
    error(op,
          "in workgroup memory was not hoisted and stands in host code; run "
          "workgroup-sink-allocs before gpu-kernel-outlining, or make its "
          "function private if only kernels call it");
}

void KernelVerifier::verifyLaunch(gpu::LaunchOp launch) {
  SetVector<Value> captured;
  getUsedValuesDefinedAbove(launch.getBody(), captured);
  for (Value value : captured)
    if (isWorkgroupMemory(value.getType()) && isa<BlockArgument>(value))
      error(launch, "uses workgroup memory of the host; allocate it in the "
                    "kernel, or next to the launch and run "
                    "workgroup-sink-allocs");
  for (BlockArgument buffer : launch.getWorkgroupAttributions())
    verifyWorkgroupBuffer(buffer, launch);
  for (BlockArgument buffer : launch.getPrivateAttributions())
    verifyPrivateBuffer(buffer, launch);
}

void KernelVerifier::verifyFunction(gpu::GPUFuncOp function) {
  if (function.isKernel())
    for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
      if (isWorkgroupMemory(type))
        error(function, "is a kernel with workgroup memory as argument ")
            << i
            << ", which no launch can pass; run workgroup-sink-allocs, or make "
               "it a workgroup attribution";
  for (BlockArgument buffer : function.getWorkgroupAttributions()) {
    verifyWorkgroupBuffer(buffer, function);
    if (auto type = dyn_cast<MemRefType>(buffer.getType()))
      verifyAlignmentOf(buffer, type, function);
  }
  for (BlockArgument buffer : function.getPrivateAttributions())
    verifyPrivateBuffer(buffer, function);
}

/// Upstream makes of each attribution a variable of as many elements as its
/// shape has, in space 3, whatever its type says.
void KernelVerifier::verifyWorkgroupBuffer(BlockArgument buffer,
                                           Operation *scope) {
  auto type = dyn_cast<MemRefType>(buffer.getType());
  auto report = [&](StringRef what) {
    error(scope, "has workgroup attribution of type ")
        << buffer.getType() << ", " << what;
  };
  if (!type || !isWorkgroupMemory(type))
    return report("which is not a memref in workgroup memory; use "
                  "#gpu.address_space<workgroup>");
  if (isa<NVVM::NVVMMemorySpaceAttr>(type.getMemorySpace()))
    return report("whose memory space the lowering does not know; run "
                  "workgroup-hoist-allocs, which respells it");
  if (!type.hasStaticShape())
    return report("whose size is not static");
  if (type.getNumElements() == 0)
    return report("which is empty; give it at least one element");
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  if (!type.getLayout().isIdentity() &&
      (failed(type.getStridesAndOffset(strides, offset)) || offset != 0 ||
       !type.areTrailingDimsContiguous(type.getRank())))
    report("whose layout has gaps, for which too few bytes would be reserved; "
           "allocate it by memref.alloc and run workgroup-hoist-allocs");
}

void KernelVerifier::verifyPrivateBuffer(BlockArgument buffer,
                                         Operation *scope) {
  auto type = dyn_cast<MemRefType>(buffer.getType());
  auto space =
      type ? dyn_cast_or_null<gpu::AddressSpaceAttr>(type.getMemorySpace())
           : gpu::AddressSpaceAttr();
  if (!space || space.getValue() != gpu::AddressSpace::Private)
    error(scope, "has private attribution of type ")
        << buffer.getType() << "; use #gpu.address_space<private>";
}

//===----------------------------------------------------------------------===//
// B3, B4: parallel loops that nobody has distributed
//===----------------------------------------------------------------------===//

/// True if `op` maps to lanes more iterations than a warp has; `count` is
/// theirs.
static bool overflowsLanes(scf::ForallOp op, int64_t &count) {
  constexpr int64_t kLanes = 32;
  if (llvm::none_of(*op.getMapping(), llvm::IsaPred<gpu::GPULaneMappingAttr>))
    return false;
  count = 1;
  for (auto [lower, upper, step] :
       llvm::zip_equal(op.getMixedLowerBound(), op.getMixedUpperBound(),
                       op.getMixedStep())) {
    std::optional<int64_t> from = getConstantIntValue(lower),
                           to = getConstantIntValue(upper),
                           by = getConstantIntValue(step);
    if (!from || !to || !by || *by <= 0)
      return false;
    count *= std::max<int64_t>(llvm::divideCeilSigned(*to - *from, *by), 0);
  }
  return count > kLanes;
}

void KernelVerifier::verifyMapping(Operation *op, ArrayAttr mapping) {
  if (!mapping || mapping.empty())
    return;
  int64_t count;
  if (auto forall = dyn_cast<scf::ForallOp>(op);
      forall && overflowsLanes(forall, count)) {
    error(op, "maps ") << count
                       << " iterations to the 32 lanes of a warp, of which the "
                          "rest would never run; distribute it cyclically";
    return;
  }
  error(op, "is mapped to processors but was not distributed: every thread "
            "would run all of its iterations; resolve the mapping, for example "
            "by transform.gpu.map_nested_forall_to_threads");
}

//===----------------------------------------------------------------------===//
// B5: barriers in divergent control flow
//===----------------------------------------------------------------------===//

void KernelVerifier::verifyBarrier(Operation *op) {
  if (!options.verifyBarriers ||
      !(isBlockBarrier(op) || isa<gpu::AllReduceOp>(op)))
    return;
  if (getBlockShape(getExecutionScope(op)).isSingleThread())
    return;
  std::optional<Divergence> why = uniformity.getDivergence(op);
  if (!why)
    return;
  hasFailed = true;
  InFlightDiagnostic diagnostic =
      emitError(op->getLoc(), "barrier in divergent control flow: '")
      << op->getName()
      << "' is not known to be reached by all threads of the block together; "
         "move it to where all of them pass";
  why->explain(diagnostic);
}

//===----------------------------------------------------------------------===//
// B7: alignment
//===----------------------------------------------------------------------===//

/// LLVM takes the preferred alignment of a variable, 16 bytes for any larger
/// array, for its actual one, while the PTX it prints declares the alignment of
/// the element. Only a stated alignment is the same for both.
void KernelVerifier::verifyAlignmentOf(Value buffer, MemRefType type,
                                       Operation *reportAt) {
  constexpr int64_t kPreferredAlignment = 16;
  if (getStatedAlignment(buffer) != 0 ||
      getNaturalAlignment(type, reportAt) >= kPreferredAlignment ||
      !type.hasStaticShape())
    return;
  int64_t bytes =
      type.getNumElements() * getElementBytes(type, reportAt).value_or(0);
  if (bytes < kPreferredAlignment)
    return;
  error(reportAt, "has a workgroup buffer of type ")
      << type << " without a stated alignment, which LLVM takes to be "
      << kPreferredAlignment
      << " and PTX to be the element's; run workgroup-hoist-allocs, or set "
         "llvm.align";
}

/// Checks an access to `memref` that promises to be aligned to `promised`
/// bytes.
void KernelVerifier::verifyAccess(Operation *op, Value memref,
                                  ValueRange indices, int64_t promised) {
  auto type = dyn_cast<MemRefType>(memref.getType());
  if (!type || !isWorkgroupMemory(type) || !type.isStrided() || promised <= 1)
    return;
  Value buffer = getRaisableBuffer(memref, module);
  if (!buffer)
    return;
  int64_t has =
      std::max(getStatedAlignment(buffer),
               getNaturalAlignment(cast<MemRefType>(buffer.getType()), op));
  if (has < promised) {
    error(op, "promises an alignment of ")
        << promised << " bytes, but its buffer is aligned to " << has
        << "; raise the alignment of the buffer, or drop the promise";
    return;
  }
  // A constant place in the buffer is known to the byte.
  SmallVector<int64_t> strides;
  int64_t place;
  (void)type.getStridesAndOffset(strides, place);
  std::optional<int64_t> bytes = getElementBytes(type, op);
  if (!bytes || ShapedType::isDynamic(place) || getRootBuffer(memref) != buffer)
    return;
  for (auto [index, stride] : llvm::zip_equal(indices, strides)) {
    std::optional<int64_t> constant = getConstantIntValue(index);
    if (!constant || ShapedType::isDynamic(stride))
      return;
    place += *constant * stride;
  }
  if (place * *bytes % promised != 0)
    error(op, "promises an alignment of ")
        << promised << " bytes, but accesses byte " << place * *bytes
        << " of its buffer; drop the promise";
}

//===----------------------------------------------------------------------===//
// Copies, B8, capacity
//===----------------------------------------------------------------------===//

void KernelVerifier::verifyCopy(Operation *op) {
  auto copy = dyn_cast<linalg::CopyOp>(op);
  bool isCopy =
      isa<memref::CopyOp>(op) || (copy && copy.hasPureBufferSemantics());
  if (isCopy && isInDeviceCode(op))
    error(op, "in device code was not lowered; run workgroup-lower-copies");
}

void KernelVerifier::verifyDynamicMemory(gpu::DynamicSharedMemoryOp op) {
  Operation *scope = getExecutionScope(op);
  ArrayRef<BlockArgument> buffers;
  if (auto launch = dyn_cast_or_null<gpu::LaunchOp>(scope))
    buffers = launch.getWorkgroupAttributions();
  else if (auto function = dyn_cast_or_null<gpu::GPUFuncOp>(scope))
    buffers = function.getWorkgroupAttributions();
  if (buffers.empty())
    return;
  error(op, "overlaps the static workgroup buffers of its kernel; run "
            "workgroup-lower-dynamic-memory after gpu-kernel-outlining")
          .attachNote(buffers.front().getLoc())
      << "a static buffer is here";
}

namespace {
/// A static buffer that counts against a kernel's memory.
struct StaticBuffer {
  Location loc;
  int64_t bytes;
  int64_t alignment;
};
} // namespace

static std::optional<StaticBuffer> getStaticBuffer(Value value,
                                                   Operation *scope) {
  auto type = dyn_cast<MemRefType>(value.getType());
  if (!type || !type.hasStaticShape() || !isWorkgroupMemory(type))
    return std::nullopt;
  std::optional<int64_t> elementBytes = getElementBytes(type, scope);
  if (!elementBytes)
    return std::nullopt;
  return StaticBuffer{
      value.getLoc(), type.getNumElements() * *elementBytes,
      std::max(getStatedAlignment(value), getNaturalAlignment(type, scope))};
}

/// The static workgroup buffers of kernel `scope` and the functions it calls.
static SmallVector<StaticBuffer> collectStaticBuffers(Operation *scope) {
  SmallVector<StaticBuffer> buffers;
  auto add = [&](Value value) {
    if (std::optional<StaticBuffer> buffer = getStaticBuffer(value, scope))
      buffers.push_back(*buffer);
  };
  if (auto launch = dyn_cast<gpu::LaunchOp>(scope))
    llvm::for_each(launch.getWorkgroupAttributions(), add);
  else if (auto function = dyn_cast<gpu::GPUFuncOp>(scope))
    llvm::for_each(function.getWorkgroupAttributions(), add);

  SymbolTableCollection symbols;
  SetVector<Operation *> reached;
  DenseSet<Operation *> globals;
  reached.insert(scope);
  for (unsigned i = 0; i < reached.size(); ++i)
    reached[i]->walk([&](Operation *op) {
      if (auto get = dyn_cast<memref::GetGlobalOp>(op)) {
        Operation *global =
            symbols.lookupNearestSymbolFrom(get, get.getNameAttr());
        if (global && globals.insert(global).second)
          add(get.getResult());
      } else if (auto call = dyn_cast<CallOpInterface>(op)) {
        if (Operation *callee = call.resolveCallableInTable(&symbols))
          reached.insert(callee);
      }
    });
  return buffers;
}

void KernelVerifier::verifyCapacity(Operation *scope) {
  SmallVector<StaticBuffer> buffers = collectStaticBuffers(scope);
  int64_t bytes = 0;
  for (const StaticBuffer &buffer : buffers)
    bytes = llvm::alignTo(bytes, buffer.alignment) + buffer.bytes;
  if (bytes <= options.maxStaticBytes)
    return;
  hasFailed = true;
  InFlightDiagnostic diagnostic =
      emitError(scope->getLoc(), "workgroup memory of kernel '")
      << getScopeName(scope) << "' is " << bytes
      << " bytes, exceeding the limit of " << options.maxStaticBytes
      << " bytes; make its tiles smaller";
  for (const StaticBuffer &buffer : buffers)
    diagnostic.attachNote(buffer.loc)
        << "a buffer of " << buffer.bytes << " bytes, aligned to "
        << buffer.alignment << ", is here";
  remark::failed(scope->getLoc(), remarkOptions(RemarkSource::VerifyKernels,
                                                "OutOfCapacity", scope))
      << remark::metric("Required", bytes)
      << remark::metric("Limit", options.maxStaticBytes);
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

void KernelVerifier::verifyOp(Operation *op) {
  if (isa<memref::AllocOp, memref::AllocaOp, memref::DeallocOp>(op))
    return verifyAllocation(op);
  if (auto launch = dyn_cast<gpu::LaunchOp>(op))
    return verifyLaunch(launch);
  if (auto function = dyn_cast<gpu::GPUFuncOp>(op))
    return verifyFunction(function);
  if (auto forall = dyn_cast<scf::ForallOp>(op))
    return verifyMapping(op, forall.getMappingAttr());
  if (auto parallel = dyn_cast<scf::ParallelOp>(op))
    return verifyMapping(
        op, parallel->getAttrOfType<ArrayAttr>(gpu::getMappingAttrName()));
  if (auto dynamic = dyn_cast<gpu::DynamicSharedMemoryOp>(op))
    return verifyDynamicMemory(dynamic);
  if (auto get = dyn_cast<memref::GetGlobalOp>(op)) {
    if (isWorkgroupMemory(get.getType()) && isInDeviceCode(op))
      verifyAlignmentOf(get.getResult(), get.getType(), op);
    return;
  }
  if (auto load = dyn_cast<vector::LoadOp>(op))
    return verifyAccess(op, load.getBase(), load.getIndices(),
                        load.getAlignment().value_or(1));
  if (auto store = dyn_cast<vector::StoreOp>(op))
    return verifyAccess(op, store.getBase(), store.getIndices(),
                        store.getAlignment().value_or(1));
  verifyBarrier(op);
  verifyCopy(op);
}

LogicalResult KernelVerifier::verify() {
  module.walk([&](Operation *op) { verifyOp(op); });
  for (Operation *scope : collectDeviceScopes(module)) {
    if (!isKernel(scope))
      continue;
    hasFailed |= failed(verifyMatrixOperands(scope, uniformity));
    verifyCapacity(scope);
  }
  return failure(hasFailed);
}

LogicalResult verifyKernels(ModuleOp module,
                            const VerifyKernelsOptions &options) {
  return KernelVerifier(module, options).verify();
}

namespace {
struct VerifyKernelsPass final
    : impl::VerifyKernelsPassBase<VerifyKernelsPass> {
  using VerifyKernelsPassBase::VerifyKernelsPassBase;

  void runOnOperation() override {
    if (failed(verifyKernels(getOperation(), {verifyBarriers, maxStaticBytes})))
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace

} // namespace mlir::workgroup
