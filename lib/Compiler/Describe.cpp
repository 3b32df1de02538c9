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
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
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

/// Fills in the sizes that all launches of a kernel agree on.
static void describeLaunches(KernelRecord &kernel,
                             MutableArrayRef<gpu::LaunchFuncOp> launches) {
  for (auto [i, launch] : llvm::enumerate(launches)) {
    auto block = getConstants(launch.getBlockSizeOperandValues());
    auto grid = getConstants(launch.getGridSizeOperandValues());
    std::optional<int64_t> bytes = getDynamicBytes(launch);
    bool isFirst = i == 0;
    kernel.block = isFirst || kernel.block == block ? block : std::nullopt;
    kernel.grid = isFirst || kernel.grid == grid ? grid : std::nullopt;
    kernel.dynamicSharedBytes =
        isFirst || kernel.dynamicSharedBytes == bytes ? bytes : std::nullopt;
  }
}

KernelRecord describeKernel(ModuleOp module, const KernelSignature &signature,
                            int64_t alignment) {
  KernelRecord kernel;
  kernel.name = signature.name;
  for (Type type : signature.arguments)
    kernel.arguments.push_back(describeArgument(type, alignment));
  for (const KernelParameter &parameter : signature.parameters) {
    auto &parts = kernel.parameters.emplace_back();
    for (const ArgumentPart &part : parameter)
      parts.push_back({getKindName(part.kind), part.argument, part.dim});
  }
  SmallVector<gpu::LaunchFuncOp> launches;
  module.walk([&](gpu::LaunchFuncOp launch) {
    if (launch.getKernelName().getValue() == signature.name)
      launches.push_back(launch);
  });
  describeLaunches(kernel, launches);
  kernel.knownBlock = signature.knownBlock;
  kernel.knownGrid = signature.knownGrid;
  if (launches.empty() && signature.dynamicBytes > 0)
    kernel.dynamicSharedBytes = signature.dynamicBytes;
  return kernel;
}

//===----------------------------------------------------------------------===//
// Host functions
//===----------------------------------------------------------------------===//

static SourceLocation makeLocation(Location loc) {
  SourceLocation location;
  loc->walk([&](Location part) {
    auto file = dyn_cast<FileLineColLoc>(part);
    if (!file)
      return WalkResult::advance();
    location = {file.getFilename().str(), file.getLine(), file.getColumn()};
    return WalkResult::interrupt();
  });
  return location;
}

static std::string getBytes(const APInt &value) {
  APInt wide = value.zext(llvm::alignTo(std::max(64u, value.getBitWidth()), 8));
  std::string bytes(wide.getBitWidth() / 8, '\0');
  for (unsigned i = 0; i < bytes.size(); ++i)
    bytes[i] = wide.extractBitsAsZExtValue(8, 8 * i);
  return bytes;
}

/// True if `size` is the extent of dimension `dim` of `memref`.
static bool isExtentOf(OpFoldResult size, Value memref, int64_t dim) {
  auto value = dyn_cast<Value>(size);
  auto query = value ? value.getDefiningOp<memref::DimOp>() : memref::DimOp();
  return query && query.getSource() == memref &&
         query.getConstantIndex() == dim;
}

/// The parts that `slice` has of its source; nothing if they are not constant.
static std::optional<std::vector<SliceRecord>>
describeSlice(memref::SubViewOp slice) {
  std::vector<SliceRecord> parts;
  llvm::SmallBitVector dropped = slice.getDroppedDims();
  for (auto [dim, offset, size, stride] :
       llvm::enumerate(slice.getMixedOffsets(), slice.getMixedSizes(),
                       slice.getMixedStrides())) {
    auto first = getConstantIntValue(offset),
         step = getConstantIntValue(stride);
    std::optional<int64_t> length = getConstantIntValue(size);
    bool isWhole = !length && isExtentOf(size, slice.getSource(), dim) &&
                   first == 0 && step == 1;
    if (!first || !step || (!length && !isWhole))
      return std::nullopt;
    parts.push_back({*first, length, *step, dropped.test(dim)});
  }
  return parts;
}

/// `memref`, of which a tensor map is made: an argument of the function whose
/// body is `entry`, or slices of one.
static std::optional<OperandRecord> describeView(Value memref, Block &entry) {
  OperandRecord record;
  while (Operation *op = memref.getDefiningOp()) {
    if (auto slice = dyn_cast<memref::SubViewOp>(op)) {
      auto parts = describeSlice(slice);
      if (!parts)
        return std::nullopt;
      record.slices.insert(record.slices.begin(), std::move(*parts));
    } else if (!isa<memref::CastOp, memref::AssumeAlignmentOp>(op)) {
      return std::nullopt;
    }
    memref = getViewSource(op);
  }
  auto argument = cast<BlockArgument>(memref);
  if (argument.getOwner() != &entry)
    return std::nullopt;
  record.argument = argument.getArgNumber();
  return record;
}

/// What stands for `value` in a launch; nullopt if only running the host's code
/// would tell.
static std::optional<OperandRecord> describeOperand(Value value, Block &entry) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (argument && argument.getOwner() == &entry)
    return OperandRecord{argument.getArgNumber(), ""};
  if (auto map = value.getDefiningOp<nvgpu::TmaCreateDescriptorOp>())
    return describeView(map.getTensor(), entry);
  Attribute constant;
  if (!matchPattern(value, m_Constant(&constant)))
    return std::nullopt;
  if (auto integer = dyn_cast<IntegerAttr>(constant))
    return OperandRecord{std::nullopt, getBytes(integer.getValue())};
  if (auto real = dyn_cast<FloatAttr>(constant))
    return OperandRecord{std::nullopt,
                         getBytes(real.getValue().bitcastToAPInt())};
  return std::nullopt;
}

static void refuse(EntryRecord &entry, Operation *op, const Twine &reason) {
  if (!entry.refusal.empty())
    return;
  entry.refusal = reason.str();
  entry.refusalLocation = makeLocation(op->getLoc());
}

static void describeLaunch(EntryRecord &entry, gpu::LaunchFuncOp launch,
                           Block &body) {
  LaunchRecord record;
  record.kernel = launch.getKernelName().str();
  bool isKnown = true;
  auto describe = [&](Value value) {
    std::optional<OperandRecord> operand = describeOperand(value, body);
    isKnown &= operand.has_value();
    return operand.value_or(OperandRecord());
  };
  gpu::KernelDim3 grid = launch.getGridSizeOperandValues();
  gpu::KernelDim3 block = launch.getBlockSizeOperandValues();
  record.grid = {describe(grid.x), describe(grid.y), describe(grid.z)};
  record.block = {describe(block.x), describe(block.y), describe(block.z)};
  if (Value bytes = launch.getDynamicSharedMemorySize())
    record.dynamicSharedBytes = describe(bytes);
  else
    record.dynamicSharedBytes = {std::nullopt, std::string(8, '\0')};
  for (Value operand : launch.getKernelOperands())
    record.operands.push_back(describe(operand));
  if (!isKnown)
    refuse(entry, launch,
           "the launch takes values that the host computes, neither constants "
           "nor arguments of '" +
               entry.name + "'");
  entry.launches.push_back(std::move(record));
}

static EntryRecord describeEntry(func::FuncOp function, int64_t alignment) {
  EntryRecord entry;
  entry.name = function.getName().str();
  for (Type type : function.getArgumentTypes())
    entry.arguments.push_back(describeArgument(type, alignment));
  Block &body = function.getBody().front();
  if (!function.getBody().hasOneBlock())
    refuse(entry, function, "'" + entry.name + "' branches");
  for (Operation &op : body.without_terminator()) {
    if (auto launch = dyn_cast<gpu::LaunchFuncOp>(op))
      describeLaunch(entry, launch, body);
    else if (!isMemoryEffectFree(&op) && !isa<nvgpu::TmaCreateDescriptorOp>(op))
      refuse(entry, &op,
             "'" + op.getName().getStringRef() + "' is work of the host");
  }
  if (body.getTerminator()->getNumOperands())
    refuse(entry, body.getTerminator(),
           "'" + entry.name + "' returns something");
  return entry;
}

std::vector<EntryRecord> describeEntries(ModuleOp module, int64_t alignment) {
  std::vector<EntryRecord> entries;
  for (auto function : module.getOps<func::FuncOp>()) {
    bool launches = false;
    function.walk([&](gpu::LaunchFuncOp) { launches = true; });
    if (launches)
      entries.push_back(describeEntry(function, alignment));
  }
  return entries;
}

void renameKernels(ModuleOp module, std::vector<EntryRecord> &entries) {
  for (EntryRecord &entry : entries) {
    auto function = module.lookupSymbol<func::FuncOp>(entry.name);
    size_t number = 0;
    for (auto launch : function.getBody().front().getOps<gpu::LaunchFuncOp>())
      entry.launches[number++].kernel = launch.getKernelName().str();
  }
}

//===----------------------------------------------------------------------===//
// Workgroup memory
//===----------------------------------------------------------------------===//

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
                              makeLocation(buffer.loc)});
  }
  return record;
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
  buffer.location = makeLocation(loc);
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

} // namespace mlir::workgroup
