//===- PackRewriter.cpp - Make workgroup buffers views of an arena --------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BufferTypes.h"
#include "DynamicWindow.h"
#include "LaunchSizes.h"
#include "PackedKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "workgroup/Analysis/Alignment.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Support/MemorySpace.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::workgroup {

namespace {

class KernelRewriter {
public:
  KernelRewriter(PackedKernel &kernel, RewriterBase &rewriter)
      : kernel(kernel), rewriter(rewriter),
        module(kernel.kernel->getParentOfType<gpu::GPUModuleOp>()),
        isGlobal(needsGlobal()) {}

  void run();

private:
  bool needsGlobal() const;
  Value getArena(Operation *scope);
  Value createArena(Location loc);
  Value createWindow(Location loc);
  Value getConstant(Operation *scope, int64_t value);
  Value createView(Value arena, Location loc, int64_t offset, MemRefType type);
  void setInsertionPointToViews();
  void replaceMember(const PackedBuffer &member);
  void replaceAttribution(const PackedBuffer &member);
  void replaceAllocation(const PackedBuffer &member);
  void replaceGlobal(const PackedBuffer &member);
  void eraseAttributions();
  void eraseDeallocs();
  void confineWindow(gpu::DynamicSharedMemoryOp window);
  void confineWindows();
  void placeRuntimeSized();
  void updateLaunches();
  void mapRuntimeSizes(Operation *launch, IRMapping &mapping);
  int64_t getRuntimeAlignment() const;
  int64_t getConstantBytes() const;
  Value createRuntimeWindow(Location loc, Value bytes);
  Value createRuntimeBytes(Operation *alloc, int64_t alignment,
                           IRMapping &mapping);
  Value createLaunchSize(Operation *launch, Value asked, IRMapping &mapping);

  PackedKernel &kernel;
  RewriterBase &rewriter;
  /// Null if the kernel is not outlined.
  gpu::GPUModuleOp module;
  /// Whether functions use the arena as well; a static one is `global` then.
  bool isGlobal;
  memref::GlobalOp global;
  DenseMap<Operation *, Value> arenas;
  /// The last view of an attribution that was made.
  Operation *lastView = nullptr;
  DenseMap<std::pair<Operation *, int64_t>, Value> constants;
};

} // namespace

static MemRefType getBytesType(MLIRContext *context, int64_t bytes) {
  return MemRefType::get({bytes}, IntegerType::get(context, 8),
                         MemRefLayoutAttrInterface(),
                         getWorkgroupSpace(context));
}

//===----------------------------------------------------------------------===//
// The arena
//===----------------------------------------------------------------------===//

/// True if a function that the kernel calls has a part of the arena.
bool KernelRewriter::needsGlobal() const {
  auto isElsewhere = [&](Operation *op) {
    return op && getExecutionScope(op) != kernel.kernel;
  };
  return llvm::any_of(kernel.members, [&](const PackedBuffer &member) {
    return isElsewhere(member.buffer.value.getDefiningOp()) ||
           llvm::any_of(member.buffer.gets, [&](memref::GetGlobalOp get) {
             return isElsewhere(get);
           });
  });
}

/// All bytes of dynamic memory that the arena reaches to.
Value KernelRewriter::createWindow(Location loc) {
  if (!module)
    return gpu::DynamicSharedMemoryOp::create(
        rewriter, loc,
        getBytesType(rewriter.getContext(), ShapedType::kDynamic));
  bool isShared = !kernel.memory.windows.empty();
  memref::GlobalOp symbol = getDynamicSymbol(
      module, std::max(kernel.alignment,
                       isShared ? kWindowAlignment : kMinBufferAlignment));
  Value start = memref::GetGlobalOp::create(rewriter, loc, symbol.getType(),
                                            symbol.getSymName());
  int64_t bytes = kernel.windowBytes + kernel.bytes;
  return memref::ReinterpretCastOp::create(
      rewriter, loc, getBytesType(rewriter.getContext(), bytes), start,
      /*offset=*/0, /*sizes=*/ArrayRef<int64_t>(bytes),
      /*strides=*/ArrayRef<int64_t>(1));
}

Value KernelRewriter::createArena(Location loc) {
  if (kernel.isDynamic)
    return createWindow(loc);
  MemRefType type = getBytesType(rewriter.getContext(), kernel.bytes);
  auto alignment = rewriter.getI64IntegerAttr(kernel.alignment);
  if (!module) // an attribution could not say its alignment
    return memref::AllocOp::create(rewriter, loc, type, alignment);
  if (!isGlobal) {
    auto function = cast<gpu::GPUFuncOp>(kernel.kernel);
    Value buffer = function.addWorkgroupAttribution(type, loc);
    raiseAlignment(buffer, kernel.alignment);
    return buffer;
  }
  if (!global) {
    OpBuilder detached(rewriter.getContext()); // the table inserts it, renamed
    global = memref::GlobalOp::create(
        detached, loc, (getScopeName(kernel.kernel) + "_arena").str(),
        rewriter.getStringAttr("private"), type,
        /*initial_value=*/rewriter.getUnitAttr(), /*constant=*/false,
        alignment);
    SymbolTable(module).insert(global, kernel.kernel->getIterator());
  }
  return memref::GetGlobalOp::create(rewriter, loc, type, global.getSymName());
}

/// The arena as `scope`, the kernel or a function that it calls, sees it.
Value KernelRewriter::getArena(Operation *scope) {
  Value &arena = arenas[scope];
  if (!arena) {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(&getBody(scope)->front());
    arena = createArena(scope->getLoc());
  }
  return arena;
}

Value KernelRewriter::getConstant(Operation *scope, int64_t value) {
  Value &constant = constants[{scope, value}];
  if (!constant) {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(&getBody(scope)->front());
    constant = arith::ConstantIndexOp::create(rewriter, scope->getLoc(), value);
  }
  return constant;
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

/// The `type`, a static memref without gaps, that starts at byte `offset` of
/// the arena.
Value KernelRewriter::createView(Value arena, Location loc, int64_t offset,
                                 MemRefType type) {
  Operation *scope =
      getExecutionScope(rewriter.getInsertionBlock()->getParentOp());
  int64_t start = offset + (kernel.isDynamic ? kernel.windowBytes : 0);
  Attribute space = getWorkgroupSpace(rewriter.getContext());
  bool isIdentity = type.getLayout().isIdentity();
  auto flat = MemRefType::get(
      isIdentity ? type.getShape() : ArrayRef(type.getNumElements()),
      type.getElementType(), MemRefLayoutAttrInterface(), space);
  Value view = memref::ViewOp::create(rewriter, loc, flat, arena,
                                      getConstant(scope, start),
                                      /*sizes=*/ValueRange());
  if (isIdentity)
    return view;
  SmallVector<int64_t> strides;
  int64_t first;
  (void)type.getStridesAndOffset(strides, first);
  return memref::ReinterpretCastOp::create(
      rewriter, loc, cast<MemRefType>(withMemorySpace(type, space)), view,
      first, type.getShape(), strides);
}

/// Sets the insertion point to the start of the kernel, after the arena and the
/// views that are there already.
void KernelRewriter::setInsertionPointToViews() {
  Operation *last = lastView ? lastView : arenas[kernel.kernel].getDefiningOp();
  if (last)
    rewriter.setInsertionPointAfter(last);
  else
    rewriter.setInsertionPointToStart(&getBody(kernel.kernel)->front());
}

void KernelRewriter::replaceAttribution(const PackedBuffer &member) {
  const KernelBuffer &buffer = member.buffer;
  Value arena = getArena(kernel.kernel);
  setInsertionPointToViews();
  Value view = createView(arena, buffer.loc, member.offset,
                          cast<MemRefType>(buffer.value.getType()));
  lastView = view.getDefiningOp();
  replaceBuffer(rewriter, buffer.value, view);
}

void KernelRewriter::replaceAllocation(const PackedBuffer &member) {
  Operation *op = member.buffer.value.getDefiningOp();
  Value arena = getArena(getExecutionScope(op));
  rewriter.setInsertionPoint(op);
  Value contents = createView(arena, op->getLoc(), member.offset,
                              getBufferType(op, *getBufferSpan(op)));
  replaceBuffer(rewriter, op->getResult(0),
                createViewOfType(rewriter, op, contents));
  rewriter.eraseOp(op);
}

void KernelRewriter::replaceGlobal(const PackedBuffer &member) {
  SmallVector<memref::GetGlobalOp> gets = member.buffer.gets;
  auto symbol = SymbolTable::lookupNearestSymbolFrom<memref::GlobalOp>(
      gets.front(), gets.front().getNameAttr());
  for (memref::GetGlobalOp get : gets) {
    Value arena = getArena(getExecutionScope(get));
    rewriter.setInsertionPoint(get);
    replaceBuffer(
        rewriter, get,
        createView(arena, get.getLoc(), member.offset, get.getType()));
    rewriter.eraseOp(get);
  }
  rewriter.eraseOp(symbol);
}

void KernelRewriter::replaceMember(const PackedBuffer &member) {
  switch (member.buffer.kind) {
  case KernelBuffer::Kind::Attribution:
    return replaceAttribution(member);
  case KernelBuffer::Kind::Allocation:
    return replaceAllocation(member);
  case KernelBuffer::Kind::Global:
    return replaceGlobal(member);
  case KernelBuffer::Kind::Lowering:
    llvm_unreachable("is no member");
  }
}

/// Erases the attributions whose place is in the arena now.
void KernelRewriter::eraseAttributions() {
  Block &entry = getBody(kernel.kernel)->front();
  llvm::BitVector erased(entry.getNumArguments());
  for (const PackedBuffer &member : kernel.members)
    if (member.buffer.kind == KernelBuffer::Kind::Attribution)
      erased.set(cast<BlockArgument>(member.buffer.value).getArgNumber());
  if (erased.none())
    return;
  auto count = [&](StringRef name, int64_t number) {
    rewriter.modifyOpInPlace(kernel.kernel, [&] {
      kernel.kernel->setAttr(name, rewriter.getI64IntegerAttr(number));
      entry.eraseArguments(erased);
    });
  };
  if (auto launch = dyn_cast<gpu::LaunchOp>(kernel.kernel))
    return count(launch.getNumWorkgroupAttributionsAttrName(),
                 launch.getNumWorkgroupAttributions() - erased.count());
  auto function = cast<gpu::GPUFuncOp>(kernel.kernel);
  SmallVector<Attribute> attributes;
  if (ArrayAttr all = function.getWorkgroupAttribAttrsAttr())
    for (auto [i, attribute] : llvm::enumerate(all))
      if (!erased.test(function.getFirstWorkgroupAttributionIndex() + i))
        attributes.push_back(attribute);
  function.setWorkgroupAttribAttrsAttr(
      attributes.empty() ? ArrayAttr() : rewriter.getArrayAttr(attributes));
  count(function.getNumWorkgroupAttributionsAttrName(),
        function.getNumWorkgroupAttributions() - erased.count());
}

/// Erases deallocations of what is a view of the arena now.
void KernelRewriter::eraseDeallocs() {
  DenseSet<Value> roots;
  for (auto [scope, arena] : arenas)
    roots.insert(getRootBuffer(arena));
  SmallVector<memref::DeallocOp> deallocs;
  for (auto [scope, arena] : arenas)
    scope->walk([&](memref::DeallocOp dealloc) {
      if (roots.contains(getRootBuffer(dealloc.getMemref())))
        deallocs.push_back(dealloc);
    });
  for (memref::DeallocOp dealloc : deallocs)
    rewriter.eraseOp(dealloc);
}

//===----------------------------------------------------------------------===//
// Dynamic memory
//===----------------------------------------------------------------------===//

/// Gives the kernel, where it takes dynamic memory as a whole, the part that is
/// left to it: what launches have asked for, before the arena or behind it.
void KernelRewriter::confineWindow(gpu::DynamicSharedMemoryOp window) {
  rewriter.setInsertionPointAfter(window);
  Location loc = window.getLoc();
  Value start =
      arith::ConstantIndexOp::create(rewriter, loc, kernel.windowShift);
  SmallPtrSet<Operation *, 2> kept;
  Value size;
  if (kernel.windowAsked) {
    size = arith::ConstantIndexOp::create(rewriter, loc, *kernel.windowAsked);
  } else {
    Value all = memref::DimOp::create(rewriter, loc, window, 0);
    kept.insert(all.getDefiningOp());
    size = arith::SubIOp::create(rewriter, loc, all, start);
  }
  Value part = memref::ViewOp::create(
      rewriter, loc, cast<MemRefType>(window.getType()), window, start, size);
  kept.insert(part.getDefiningOp());
  rewriter.replaceAllUsesExcept(window, part, kept);
}

void KernelRewriter::confineWindows() {
  for (Operation *op : kernel.memory.windows)
    if (auto window = dyn_cast<gpu::DynamicSharedMemoryOp>(op))
      confineWindow(window);
  if (!kernel.windowAsked)
    return;
  // Where it is lowered already, the register says how much there is.
  for (Operation *scope : kernel.memory.scopes)
    scope->walk([&](NVVM::DynamicSmemSize size) {
      rewriter.setInsertionPoint(size);
      rewriter.replaceOpWithNewOp<arith::ConstantOp>(
          size, rewriter.getI32IntegerAttr(*kernel.windowAsked));
    });
}

/// Creates the number of bytes of `alloc`, a multiple of `alignment`, from the
/// values that `mapping` has for what its sizes depend on.
Value KernelRewriter::createRuntimeBytes(Operation *alloc, int64_t alignment,
                                         IRMapping &mapping) {
  Location loc = alloc->getLoc();
  auto type = cast<MemRefType>(alloc->getResult(0).getType());
  int64_t constant = *getElementBytes(type, alloc);
  for (int64_t extent : type.getShape())
    if (!ShapedType::isDynamic(extent))
      constant *= extent;
  Value bytes = arith::ConstantIndexOp::create(rewriter, loc, constant);
  for (Value size : alloc->getOperands())
    bytes = arith::MulIOp::create(rewriter, loc, bytes,
                                  rebuildSize(size, mapping, rewriter));
  Value unit = arith::ConstantIndexOp::create(rewriter, loc, alignment);
  Value units = arith::CeilDivUIOp::create(rewriter, loc, bytes, unit);
  return arith::MulIOp::create(rewriter, loc, units, unit);
}

/// Maps what the sizes of buffers depend on to what is known at `launch`, or at
/// the start of the kernel if that is null.
void KernelRewriter::mapRuntimeSizes(Operation *launch, IRMapping &mapping) {
  for (Operation *alloc : kernel.runtimeSized)
    mapSizes(alloc->getOperands(), kernel.kernel, launch, mapping);
}

/// The alignment of every buffer of a size that the launch knows.
int64_t KernelRewriter::getRuntimeAlignment() const {
  int64_t alignment = std::max(kernel.alignment, kMinBufferAlignment);
  for (Operation *alloc : kernel.runtimeSized)
    alignment = std::max(alignment, getStatedAlignment(alloc->getResult(0)));
  return alignment;
}

/// Bytes of dynamic memory before the buffers of sizes that the launch knows.
int64_t KernelRewriter::getConstantBytes() const {
  int64_t bytes = kernel.windowBytes + (kernel.isDynamic ? kernel.bytes : 0);
  return kernel.runtimeSized.empty()
             ? bytes
             : llvm::alignTo(bytes, getRuntimeAlignment());
}

/// Gives the buffers of sizes that the launch knows their places, behind all
/// other dynamic memory.
void KernelRewriter::placeRuntimeSized() {
  if (kernel.runtimeSized.empty())
    return;
  Location loc = kernel.kernel->getLoc();
  rewriter.setInsertionPointToStart(&getBody(kernel.kernel)->front());
  IRMapping mapping;
  mapRuntimeSizes(/*launch=*/nullptr, mapping);
  int64_t alignment = getRuntimeAlignment();
  Value end = arith::ConstantIndexOp::create(rewriter, loc, getConstantBytes());
  SmallVector<Value> offsets;
  for (Operation *alloc : kernel.runtimeSized) {
    offsets.push_back(end);
    end = arith::AddIOp::create(rewriter, loc, end,
                                createRuntimeBytes(alloc, alignment, mapping));
  }
  Value window = createRuntimeWindow(loc, end);
  for (auto [alloc, offset] : llvm::zip_equal(kernel.runtimeSized, offsets)) {
    auto type = cast<MemRefType>(
        withMemorySpace(cast<MemRefType>(alloc->getResult(0).getType()),
                        getWorkgroupSpace(rewriter.getContext())));
    SmallVector<Value> sizes = llvm::map_to_vector(
        alloc->getOperands(), [&](Value size) { return mapping.lookup(size); });
    Value view = memref::ViewOp::create(rewriter, alloc->getLoc(), type, window,
                                        offset, sizes);
    replaceBuffer(rewriter, alloc->getResult(0), view);
    for (Operation *user : llvm::make_early_inc_range(view.getUsers()))
      if (isa<memref::DeallocOp>(user))
        rewriter.eraseOp(user);
    rewriter.eraseOp(alloc);
  }
}

/// All `bytes` of dynamic memory.
Value KernelRewriter::createRuntimeWindow(Location loc, Value bytes) {
  MemRefType type = getBytesType(rewriter.getContext(), ShapedType::kDynamic);
  if (!module)
    return gpu::DynamicSharedMemoryOp::create(rewriter, loc, type);
  memref::GlobalOp symbol = getDynamicSymbol(module, getRuntimeAlignment());
  Value start = memref::GetGlobalOp::create(rewriter, loc, symbol.getType(),
                                            symbol.getSymName());
  return memref::ReinterpretCastOp::create(
      rewriter, loc, type, start, /*offset=*/rewriter.getIndexAttr(0),
      /*sizes=*/ArrayRef<OpFoldResult>(bytes),
      /*strides=*/ArrayRef<OpFoldResult>(rewriter.getIndexAttr(1)));
}

/// The bytes of dynamic memory that `launch`, which has `asked` for some, has
/// to ask for; an `i32`.
Value KernelRewriter::createLaunchSize(Operation *launch, Value asked,
                                       IRMapping &mapping) {
  Location loc = launch->getLoc();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(rewriter, loc,
                                     rewriter.getI32IntegerAttr(value));
  };
  if (kernel.windowShift != 0) {
    Value shift = constant(kernel.windowShift);
    return asked ? rewriter.createOrFold<arith::AddIOp>(loc, asked, shift)
                 : shift;
  }
  Value needed = constant(getConstantBytes());
  for (Operation *alloc : kernel.runtimeSized) {
    Value bytes = createRuntimeBytes(alloc, getRuntimeAlignment(), mapping);
    bytes = arith::IndexCastUIOp::create(rewriter, loc, rewriter.getI32Type(),
                                         bytes);
    needed = arith::AddIOp::create(rewriter, loc, needed, bytes);
  }
  // What launches ask for and the kernel does not use may have its reasons.
  if (!asked || !kernel.memory.windows.empty())
    return needed;
  return rewriter.createOrFold<arith::MaxUIOp>(loc, asked, needed);
}

void KernelRewriter::updateLaunches() {
  if (!kernel.isDynamic && kernel.runtimeSized.empty())
    return;
  if (auto launch = dyn_cast<gpu::LaunchOp>(kernel.kernel)) {
    rewriter.setInsertionPoint(launch);
    IRMapping mapping;
    mapRuntimeSizes(launch, mapping);
    Value size =
        createLaunchSize(launch, launch.getDynamicSharedMemorySize(), mapping);
    launch.getDynamicSharedMemorySizeMutable().assign(size);
    return;
  }
  for (gpu::LaunchFuncOp launch : kernel.launches) {
    rewriter.setInsertionPoint(launch);
    IRMapping mapping;
    mapRuntimeSizes(launch, mapping);
    Value size =
        createLaunchSize(launch, launch.getDynamicSharedMemorySize(), mapping);
    launch.getDynamicSharedMemorySizeMutable().assign(size);
  }
}

//===----------------------------------------------------------------------===//
// The rewriting
//===----------------------------------------------------------------------===//

void KernelRewriter::run() {
  for (Operation *op : kernel.barriers) {
    rewriter.setInsertionPoint(op);
    gpu::BarrierOp::create(rewriter, op->getLoc());
  }
  updateLaunches(); // while the allocations still say what they need
  if (kernel.isDynamic || !kernel.runtimeSized.empty())
    confineWindows();
  placeRuntimeSized();
  if (!kernel.hasArena)
    return;
  for (const PackedBuffer &member : kernel.members)
    replaceMember(member);
  eraseAttributions();
  eraseDeallocs();
}

void rewriteKernel(PackedKernel &kernel, RewriterBase &rewriter) {
  KernelRewriter(kernel, rewriter).run();
}

} // namespace mlir::workgroup
