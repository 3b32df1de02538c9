//===- MapMemorySpaces.cpp - Memory spaces of other systems ---------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Systems number their memories as they like: 1 may be the larger one and 2 the
// one next to the core. Who knows what the numbers mean says so, and the types
// are respelled for all passes here. A buffer that turns out to be private is
// put on the stack of its thread, where a kernel would call `malloc` for it.
//
//===----------------------------------------------------------------------===//

#include "BufferEscape.h"
#include "KernelOperands.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Support/MemorySpace.h"
#include "workgroup/Transforms/Memory.h"
#include "llvm/ADT/StringSwitch.h"
#include <map>

namespace mlir::workgroup {

/// What each number stands for.
using SpaceMap = std::map<uint64_t, gpu::AddressSpaceAttr>;

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

static LogicalResult parseMappings(Operation *root,
                                   ArrayRef<std::string> mappings,
                                   SpaceMap &spaces) {
  auto fail = [&](StringRef mapping, StringRef why) {
    return emitError(root->getLoc())
           << "option from-spaces cannot take '" << mapping << "': " << why
           << "; write N:workgroup, N:private or N:global once for each memory "
              "space N, as in from-spaces=1:workgroup,2:private";
  };
  for (StringRef mapping : mappings) {
    auto [number, word] = mapping.split(':');
    uint32_t from;
    if (number.getAsInteger(/*Radix=*/10, from))
      return fail(mapping, "it does not start with the number of a space");
    if (from == 0)
      return fail(mapping, "0 is the default memory space");
    auto space = llvm::StringSwitch<std::optional<gpu::AddressSpace>>(word)
                     .Case("workgroup", gpu::AddressSpace::Workgroup)
                     .Case("private", gpu::AddressSpace::Private)
                     .Case("global", gpu::AddressSpace::Global)
                     .Default(std::nullopt);
    if (!space)
      return fail(mapping, "it does not end with the name of a memory");
    auto attribute = gpu::AddressSpaceAttr::get(root->getContext(), *space);
    if (!spaces.emplace(from, attribute).second)
      return fail(mapping, "the number has a meaning already");
  }
  return success();
}

/// What the memory space of `type` stands for; null if it is none of `spaces`.
static gpu::AddressSpaceAttr getMapped(BaseMemRefType type,
                                       const SpaceMap &spaces) {
  auto number = dyn_cast_or_null<IntegerAttr>(type.getMemorySpace());
  if (!number || number.getValue().getActiveBits() > 32)
    return {};
  auto it = spaces.find(number.getValue().getZExtValue());
  return it == spaces.end() ? gpu::AddressSpaceAttr() : it->second;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// An operation inside `root` whose types cannot change, because something
/// outside has to agree with them; null if there is none.
static Operation *findShared(Operation *root, AttrTypeReplacer &replacer) {
  if (!root->getParentOp())
    return nullptr;
  auto changes = [&](Type type) { return replacer.replace(type) != type; };
  Operation *shared = nullptr;
  root->walk([&](Operation *op) {
    DictionaryAttr attributes = op->getAttrDictionary();
    auto symbol = dyn_cast<SymbolOpInterface>(op);
    bool isVisible = op == root ||
                     (op->getParentOp() == root && symbol && symbol.isPublic());
    if (isVisible && replacer.replace(attributes) != attributes) {
      shared = op;
      return WalkResult::interrupt();
    }
    if (llvm::none_of(op->getOperandTypes(), changes) &&
        llvm::none_of(op->getResultTypes(), changes))
      return WalkResult::advance();
    return attributes.walk<WalkOrder::PreOrder>([&](SymbolRefAttr reference) {
      Operation *used = SymbolTable::lookupNearestSymbolFrom(op, reference);
      if (!used || root->isAncestor(used))
        return WalkResult::skip();
      shared = op;
      return WalkResult::interrupt();
    });
  });
  return shared;
}

//===----------------------------------------------------------------------===//
// Private buffers
//===----------------------------------------------------------------------===//

/// The block at whose start a buffer of a thread can stand: the first one of
/// the kernel, or of the iteration of a parallel loop that it belongs to.
static Block *getFrame(Operation *op, Operation *scope) {
  Region *region = op->getParentRegion();
  while (region->getParentOp() != scope &&
         !region->getParentOp()->hasTrait<OpTrait::HasParallelRegion>())
    region = region->getParentRegion();
  return &region->front();
}

/// Puts allocations of `allocs` that kernels make on the stack of the thread.
static LogicalResult placePrivateAllocs(Operation *root,
                                        ArrayRef<Operation *> allocs) {
  SmallVector<Operation *> scopes = collectDeviceScopes(root);
  DenseSet<Operation *> device(scopes.begin(), scopes.end());
  auto isPlaced = [&](Operation *op) {
    return device.contains(getExecutionScope(op)) &&
           cast<MemRefType>(op->getResult(0).getType()).hasStaticShape();
  };
  DominanceInfo dominance;
  for (Operation *op : llvm::make_filter_range(allocs, isPlaced)) {
    Operation *scope = getExecutionScope(op);
    if (isInLoop(op, scope) || !isKernel(scope))
      if (Operation *escape = findEscape(op, dominance))
        return emitEscapeError(op, escape, "private");
  }
  IRRewriter rewriter(root->getContext());
  for (Operation *op :
       llvm::make_early_inc_range(llvm::make_filter_range(allocs, isPlaced))) {
    // Elsewhere it would take more of the stack each time that it runs.
    Block *frame = getFrame(op, getExecutionScope(op));
    rewriter.setInsertionPoint(op);
    if (op->getBlock() != frame)
      rewriter.setInsertionPointToStart(frame);
    rewriter.replaceOp(op, cloneIntoKernel(rewriter, op));
  }
  return success();
}

/// Erases those of `deallocs` that are of no buffer made by `malloc`.
static void erasePrivateDeallocs(Operation *root,
                                 ArrayRef<memref::DeallocOp> deallocs) {
  SmallVector<Operation *> scopes = collectDeviceScopes(root);
  DenseSet<Operation *> device(scopes.begin(), scopes.end());
  for (memref::DeallocOp dealloc : deallocs)
    if (device.contains(getExecutionScope(dealloc)) &&
        !getRootBuffer(dealloc.getMemref()).getDefiningOp<memref::AllocOp>())
      dealloc.erase();
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

LogicalResult mapMemorySpaces(Operation *root, ArrayRef<std::string> mappings) {
  SpaceMap spaces;
  if (failed(parseMappings(root, mappings, spaces)))
    return failure();
  if (spaces.empty())
    return success();
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](BaseMemRefType type) -> std::optional<Type> {
    gpu::AddressSpaceAttr space = getMapped(type, spaces);
    return space ? std::optional<Type>(withMemorySpace(type, space))
                 : std::nullopt;
  });
  if (Operation *shared = findShared(root, replacer))
    return shared->emitOpError("shares memory that from-spaces maps with code "
                               "outside of the operation that the pass runs "
                               "on; run it on the module around both");
  SmallVector<Operation *> allocs;
  SmallVector<memref::DeallocOp> deallocs;
  auto becomesPrivate = [&](Type type) {
    gpu::AddressSpaceAttr space = getMapped(cast<BaseMemRefType>(type), spaces);
    return space && space.getValue() == gpu::AddressSpace::Private;
  };
  root->walk([&](Operation *op) {
    if (isa<memref::AllocOp, memref::AllocaOp>(op) &&
        becomesPrivate(op->getResult(0).getType()))
      allocs.push_back(op);
    auto dealloc = dyn_cast<memref::DeallocOp>(op);
    if (dealloc && becomesPrivate(dealloc.getMemref().getType()))
      deallocs.push_back(dealloc);
  });
  replacer.recursivelyReplaceElementsIn(root, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
  if (failed(placePrivateAllocs(root, allocs)))
    return failure();
  erasePrivateDeallocs(root, deallocs);
  return success();
}

} // namespace mlir::workgroup
