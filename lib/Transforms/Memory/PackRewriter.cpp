//===- PackRewriter.cpp - Make workgroup buffers views of an arena --------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PackRewriter.h"
#include "Transforms/Utils/BufferAlignment.h"
#include "Transforms/Utils/BufferTypes.h"
#include "Transforms/Utils/ConservativeBarriers.h"
#include "Transforms/Utils/DynamicWindow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "workgroup/Analysis/Alignment.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Support/MemorySpace.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::workgroup {

MemRefType getBytesType(MLIRContext *context, int64_t bytes) {
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

/// Erases the attributions whose place is in the arena now, and unused ones.
void KernelRewriter::eraseAttributions() {
  Block &entry = getBody(kernel.kernel)->front();
  llvm::BitVector erased(entry.getNumArguments());
  for (BlockArgument buffer : kernel.dead)
    erased.set(buffer.getArgNumber());
  if (kernel.hasArena)
    for (const PackedBuffer &member : kernel.members)
      if (member.buffer.kind == KernelBuffer::Kind::Attribution)
        erased.set(cast<BlockArgument>(member.buffer.value).getArgNumber());
  workgroup::eraseAttributions(kernel.kernel, erased, rewriter);
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
// The rewriting
//===----------------------------------------------------------------------===//

void KernelRewriter::run() {
  for (Operation *op : kernel.barriers)
    insertBarrierBefore(rewriter, op);
  updateLaunches(); // while the allocations still say what they need
  if (kernel.isDynamic || !kernel.runtimeSized.empty())
    confineWindows();
  placeRuntimeSized();
  if (kernel.hasArena)
    for (const PackedBuffer &member : kernel.members)
      replaceMember(member);
  eraseAttributions();
  eraseDeallocs();
}

void rewriteKernel(PackedKernel &kernel, RewriterBase &rewriter) {
  KernelRewriter(kernel, rewriter).run();
}

} // namespace mlir::workgroup
