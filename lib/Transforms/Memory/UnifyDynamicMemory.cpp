//===- UnifyDynamicMemory.cpp - One spelling of dynamic memory ------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// CUDA's `extern __shared__` is a `memref.global` without elements and without
// an initial value: upstream lowers it to an external variable, of which all in
// a kernel begin where static memory ends. `gpu.dynamic_shared_memory` is the
// same memory, and the spelling that other passes make room for.
//
//===----------------------------------------------------------------------===//

#include "UnifyDynamicMemory.h"
#include "Transforms/Utils/BufferTypes.h"
#include "Transforms/Utils/KernelBuffers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/PatternMatch.h"
#include "workgroup/Analysis/Alignment.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Support/MemorySpace.h"

namespace mlir::workgroup {

/// True for the form that `workgroup-lower-dynamic-memory` gives dynamic
/// memory.
static bool isLowered(memref::GetGlobalOp get) {
  auto isWindow = [](Operation *user) {
    auto view = dyn_cast<memref::ReinterpretCastOp>(user);
    return view && view.getType().getRank() == 1 &&
           view.getType().getElementType().isInteger(8);
  };
  return get->getParentOfType<gpu::GPUModuleOp>() &&
         get.getType().getElementType().isInteger(8) &&
         llvm::all_of(get->getUsers(), isWindow);
}

/// The memory that `get` names as elements of its type, as many as the launch
/// makes room for: folding would believe that there are none.
static Value createElements(RewriterBase &rewriter, memref::GetGlobalOp get) {
  Location loc = get.getLoc();
  Attribute space = getWorkgroupSpace(rewriter.getContext());
  MemRefLayoutAttrInterface layout;
  auto bytes = MemRefType::get({ShapedType::kDynamic}, rewriter.getI8Type(),
                               layout, space);
  Value memory = gpu::DynamicSharedMemoryOp::create(rewriter, loc, bytes);
  Value size = memref::DimOp::create(rewriter, loc, memory, 0);
  int64_t width = getElementBytes(get.getType(), get).value_or(1);
  if (width > 1)
    size = arith::DivUIOp::create(
        rewriter, loc, size,
        arith::ConstantIndexOp::create(rewriter, loc, width));
  Value start = arith::ConstantIndexOp::create(rewriter, loc, 0);
  auto elements = MemRefType::get(
      {ShapedType::kDynamic}, get.getType().getElementType(), layout, space);
  return memref::ViewOp::create(rewriter, loc, elements, memory, start, size);
}

static void unify(RewriterBase &rewriter, memref::GetGlobalOp get) {
  rewriter.setInsertionPoint(get);
  Value elements = createElements(rewriter, get);
  auto type = cast<MemRefType>(
      withMemorySpace(get.getType(), getWorkgroupSpace(get.getContext())));
  Value empty = elements;
  if (type.getRank() == 1) {
    empty = memref::CastOp::create(rewriter, get.getLoc(), type, elements);
  } else {
    SmallVector<OpFoldResult> sizes =
        getAsIndexOpFoldResult(get.getContext(), type.getShape());
    empty = memref::ReinterpretCastOp::create(
        rewriter, get.getLoc(), type, elements, rewriter.getIndexAttr(0), sizes,
        getAsIndexOpFoldResult(get.getContext(),
                               computeSuffixProduct(type.getShape())));
  }
  replaceBuffer(rewriter, get.getResult(), empty);
  // What makes a view of its own of it need not know of its type.
  rewriter.replaceUsesWithIf(empty, elements, [](OpOperand &use) {
    return isa<memref::ReinterpretCastOp, memref::ViewOp>(use.getOwner());
  });
  rewriter.eraseOp(get);
  if (empty.use_empty())
    rewriter.eraseOp(empty.getDefiningOp());
}

void unifyDynamicMemory(Operation *root) {
  SmallVector<memref::GetGlobalOp> gets;
  SetVector<Operation *> symbols;
  SymbolTableCollection tables;
  root->walk([&](memref::GetGlobalOp get) {
    if (!isWorkgroupMemory(get.getType()) || !isInDeviceCode(get) ||
        isLowered(get))
      return;
    auto symbol = tables.lookupNearestSymbolFrom<memref::GlobalOp>(
        get, get.getNameAttr());
    if (!symbol || !isDynamicSymbol(symbol))
      return;
    gets.push_back(get);
    symbols.insert(symbol);
  });
  IRRewriter rewriter(root->getContext());
  for (memref::GetGlobalOp get : gets)
    unify(rewriter, get);
  for (Operation *symbol : symbols)
    if (root->isProperAncestor(symbol) &&
        SymbolTable::symbolKnownUseEmpty(symbol, symbol->getParentOp()))
      rewriter.eraseOp(symbol);
}

} // namespace mlir::workgroup
