//===- Describe.cpp - Kernels and their launches as data ------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Describe.h"
#include "Records.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "workgroup/Analysis/Alignment.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Support/MemorySpace.h"

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

static std::string getKindName(ArgumentPart::Kind kind) {
  switch (kind) {
  case ArgumentPart::Kind::Value:
    return "value";
  case ArgumentPart::Kind::Pointer:
    return "pointer";
  case ArgumentPart::Kind::Extent:
    return "extent";
  case ArgumentPart::Kind::Stride:
    return "stride";
  case ArgumentPart::Kind::Offset:
    return "offset";
  case ArgumentPart::Kind::TensorMap:
    return "tensormap";
  }
  llvm_unreachable("unknown kind of part");
}

static std::optional<std::array<int64_t, 3>> getConstants(gpu::KernelDim3 dim) {
  auto x = getConstantIntValue(dim.x), y = getConstantIntValue(dim.y),
       z = getConstantIntValue(dim.z);
  if (!x || !y || !z)
    return std::nullopt;
  return std::array<int64_t, 3>{*x, *y, *z};
}

/// Bytes of dynamic workgroup memory of `launch`, if constant.
static std::optional<int64_t> getDynamicBytes(gpu::LaunchFuncOp launch) {
  Value size = launch.getDynamicSharedMemorySize();
  return size ? getConstantIntValue(size) : std::optional<int64_t>(0);
}

/// Blocks per cluster of `launch`, if constant.
static std::optional<std::array<int64_t, 3>>
getCluster(gpu::LaunchFuncOp launch) {
  if (launch.hasClusterSize())
    return getConstants(launch.getClusterSizeOperandValues());
  return std::array<int64_t, 3>{1, 1, 1};
}

/// Fills in the sizes that all launches of a kernel agree on.
static void describeLaunches(KernelRecord &kernel,
                             MutableArrayRef<gpu::LaunchFuncOp> launches) {
  for (auto [i, launch] : llvm::enumerate(launches)) {
    auto block = getConstants(launch.getBlockSizeOperandValues());
    auto grid = getConstants(launch.getGridSizeOperandValues());
    auto cluster = getCluster(launch);
    std::optional<int64_t> bytes = getDynamicBytes(launch);
    bool isFirst = i == 0;
    kernel.block = isFirst || kernel.block == block ? block : std::nullopt;
    kernel.grid = isFirst || kernel.grid == grid ? grid : std::nullopt;
    kernel.cluster =
        isFirst || kernel.cluster == cluster ? cluster : std::nullopt;
    kernel.dynamicSharedBytes =
        isFirst || kernel.dynamicSharedBytes == bytes ? bytes : std::nullopt;
  }
}

KernelRecord describeKernel(ModuleOp module, const KernelSignature &signature,
                            int64_t alignment) {
  KernelRecord kernel;
  kernel.name = signature.name;
  for (auto [type, needed] :
       llvm::zip_equal(signature.arguments, signature.alignments))
    kernel.arguments.push_back(
        describeArgument(type, std::max(alignment, needed)));
  for (const KernelParameter &parameter : signature.parameters) {
    std::vector<PartRecord> &parts = kernel.parameters.emplace_back().parts;
    for (const ArgumentPart &part : parameter)
      parts.push_back({getKindName(part.kind), part.argument, part.dim});
  }
  SmallVector<gpu::LaunchFuncOp> launches;
  module.walk([&](gpu::LaunchFuncOp launch) {
    if (launch.getKernelName().getValue() == signature.name)
      launches.push_back(launch);
  });
  kernel.cluster = {1, 1, 1};
  describeLaunches(kernel, launches);
  kernel.knownBlock = signature.knownBlock;
  kernel.knownGrid = signature.knownGrid;
  kernel.leastDynamicSharedBytes = signature.leastDynamicBytes;
  if (launches.empty() && signature.dynamicBytes > 0)
    kernel.dynamicSharedBytes = signature.dynamicBytes;
  return kernel;
}

//===----------------------------------------------------------------------===//
// Host functions
//===----------------------------------------------------------------------===//

/// True if `op` itself may write to `memref`.
static bool mayWrite(Operation *op, Value memref) {
  auto interface = dyn_cast<MemoryEffectOpInterface>(op);
  if (!interface || op->getNumRegions() != 0)
    return true;
  SmallVector<MemoryEffects::EffectInstance> effects;
  interface.getEffectsOnValue(memref, effects);
  return llvm::any_of(effects, [](const auto &effect) {
    return !isa<MemoryEffects::Read>(effect.getEffect());
  });
}

static bool mayBeWritten(Value memref, DenseSet<Value> &visited);

/// True if who takes a memref by `use`, and is not among `visited`, may write
/// to it.
static bool mayWrite(OpOperand &use, DenseSet<Value> &visited) {
  Operation *user = use.getOwner();
  unsigned number = use.getOperandNumber();
  auto isWritten = [&](Value result) {
    return isa<BaseMemRefType>(result.getType()) &&
           mayBeWritten(result, visited);
  };
  if (auto launch = dyn_cast<gpu::LaunchFuncOp>(user)) {
    auto kernel = SymbolTable::lookupNearestSymbolFrom<gpu::GPUFuncOp>(
        launch, launch.getKernelAttr());
    number -= launch.getKernelOperands().getBeginOperandIndex();
    return !kernel || mayBeWritten(kernel.getArgument(number), visited);
  }
  if (auto call = dyn_cast<func::CallOp>(user)) {
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
        call, call.getCalleeAttr());
    return !callee || callee.isDeclaration() ||
           mayBeWritten(callee.getArgument(number), visited) ||
           llvm::any_of(call.getResults(), isWritten);
  }
  if (getViewSource(user) == use.get() ||
      isa<nvgpu::TmaCreateDescriptorOp>(user))
    return llvm::any_of(user->getResults(), [&](Value view) {
      return mayBeWritten(view, visited);
    });
  if (isa<func::ReturnOp>(user))
    return false; // its callers look at it
  // Where control flow takes memory is not followed, nor is its address.
  if (user->hasTrait<OpTrait::IsTerminator>() ||
      isa<memref::ExtractAlignedPointerAsIndexOp, UnrealizedConversionCastOp>(
          user))
    return true;
  if (isMemoryEffectFree(user) && user->getNumRegions() == 0)
    return llvm::any_of(user->getResults(), isWritten);
  return mayWrite(user, use.get());
}

/// True if whoever gets `memref`, and is not among `visited`, may write to it.
static bool mayBeWritten(Value memref, DenseSet<Value> &visited) {
  return visited.insert(memref).second &&
         llvm::any_of(memref.getUses(),
                      [&](OpOperand &use) { return mayWrite(use, visited); });
}

static EntryRecord describeEntry(func::FuncOp function, int64_t alignment) {
  EntryRecord entry;
  entry.name = function.getName().str();
  for (BlockArgument argument : function.getArguments()) {
    DenseSet<Value> visited;
    bool isMemRef = isa<BaseMemRefType>(argument.getType());
    entry.arguments.push_back(describeArgument(
        argument.getType(), std::max(alignment, getNeededAlignment(argument))));
    entry.written.push_back(isMemRef && mayBeWritten(argument, visited));
  }
  return entry;
}

std::vector<EntryRecord> describeEntries(ModuleOp module, int64_t alignment) {
  std::vector<EntryRecord> launching, others;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isDeclaration() || !function.isPublic() ||
        isDeviceFunction(function))
      continue;
    bool launches = false;
    function.walk([&](Operation *op) {
      launches |= isa<gpu::LaunchFuncOp, func::CallOp>(op);
    });
    (launches ? launching : others)
        .push_back(describeEntry(function, alignment));
  }
  return launching.empty() ? others : launching;
}

//===----------------------------------------------------------------------===//
// Workgroup memory
//===----------------------------------------------------------------------===//

static std::optional<BufferLifeRecord>
describeLife(const std::optional<PlacementLife> &life) {
  if (!life)
    return std::nullopt;
  BufferLifeRecord record{life->first, life->last, "", {}, "", {}};
  if (life->begin) {
    record.beginOp = life->begin->op;
    record.begin = getSourceLocation(life->begin->location);
  }
  if (life->end) {
    record.endOp = life->end->op;
    record.end = getSourceLocation(life->end->location);
  }
  return record;
}

MemoryRecord describeMemory(const MemoryPlacement &placement) {
  MemoryRecord record{placement.kernel,          placement.staticBytes,
                      placement.dynamicBytes,    placement.maxBytes,
                      placement.isPackedDynamic, {}};
  for (const BufferPlacement &buffer : placement.buffers) {
    std::string type;
    llvm::raw_string_ostream stream(type);
    if (buffer.type) {
      for (int64_t extent : buffer.type.getShape())
        (ShapedType::isDynamic(extent) ? stream << "?" : stream << extent)
            << "x";
      stream << buffer.type.getElementType();
    }
    record.buffers.push_back({std::move(type), buffer.bytes, buffer.alignment,
                              buffer.offset, buffer.isShared,
                              getSourceLocation(buffer.loc),
                              describeLife(buffer.life)});
  }
  return record;
}

ShortageRecord describeShortage(const MemoryShortage &shortage) {
  return {toUTF8(shortage.kernel), shortage.requiredBytes, shortage.limitBytes};
}

static SharedBuffer describeBuffer(MemRefType type, std::string symbol,
                                   int64_t offset, std::string name,
                                   Location loc) {
  SharedBuffer buffer;
  ArgumentRecord record = describeArgument(type, 1);
  buffer.symbol = std::move(symbol);
  buffer.offset = offset;
  buffer.name = std::move(name);
  buffer.elementType = record.elementType;
  if (type.getElementType().isIntOrIndexOrFloat())
    buffer.elementBytes = llvm::divideCeil(
        type.getElementType().isIndex() ? 64 : type.getElementTypeBitWidth(),
        8);
  buffer.bytes = buffer.elementBytes * type.getNumElements();
  for (auto [extent, stride] : llvm::zip_equal(record.shape, record.strides)) {
    buffer.shape.push_back(extent.value_or(0));
    buffer.strides.push_back(stride.value_or(0));
  }
  buffer.location = getSourceLocation(loc);
  return buffer;
}

/// Adds the buffers that `memory`, which becomes `symbol`, is made of: the
/// views of it, if there is nothing but views at constant places; else itself.
static void describeBuffers(Value memory, const Twine &symbol,
                            function_ref<std::string()> makeName,
                            std::vector<SharedBuffer> &buffers) {
  bool isArena = !memory.use_empty() &&
                 llvm::all_of(memory.getUsers(), [](Operation *user) {
                   auto view = dyn_cast<memref::ViewOp>(user);
                   return view && view.getType().hasStaticShape() &&
                          getConstantIntValue(view.getByteShift());
                 });
  if (!isArena) {
    auto type = cast<MemRefType>(memory.getType());
    buffers.push_back(
        describeBuffer(type, symbol.str(), 0, makeName(), memory.getLoc()));
    return;
  }
  SmallVector<Operation *> users(memory.getUsers());
  for (Operation *user : llvm::reverse(users)) {
    auto view = cast<memref::ViewOp>(user);
    buffers.push_back(describeBuffer(view.getType(), symbol.str(),
                                     *getConstantIntValue(view.getByteShift()),
                                     makeName(), view.getLoc()));
  }
}

/// Attributions become globals that the lowering of `gpu.func` names after the
/// function and their number.
static void describeFunction(gpu::GPUFuncOp function,
                             std::vector<SharedBuffer> &buffers) {
  unsigned number = 0;
  auto makeName = [&] {
    return ("buffer " + Twine(number++) + " of " + function.getName()).str();
  };
  for (auto [i, buffer] : llvm::enumerate(function.getWorkgroupAttributions()))
    describeBuffers(buffer, "__wg_" + function.getName() + "_" + Twine(i),
                    makeName, buffers);
  function.walk([&](memref::ReinterpretCastOp memory) {
    auto get = memory.getSource().getDefiningOp<memref::GetGlobalOp>();
    if (get && memory.getType().hasStaticShape() &&
        isWorkgroupMemory(get.getType()) && get.getType().getNumElements() == 0)
      describeBuffers(memory, get.getName(), makeName, buffers);
  });
}

std::vector<SharedBuffer> describeSharedBuffers(ModuleOp module) {
  std::vector<SharedBuffer> buffers;
  module.walk(
      [&](gpu::GPUFuncOp function) { describeFunction(function, buffers); });
  module.walk([&](memref::GlobalOp global) {
    if (isWorkgroupMemory(global.getType()) &&
        global.getType().getNumElements() != 0)
      buffers.push_back(describeBuffer(global.getType(), global.getName().str(),
                                       0, "@" + global.getName().str(),
                                       global.getLoc()));
  });
  return buffers;
}

int64_t countTensorLoads(ModuleOp module) {
  int64_t count = 0;
  module.walk([&](nvgpu::TmaAsyncLoadOp) { ++count; });
  return count;
}

} // namespace mlir::workgroup
