//===- PointsTo.cpp - The memory that a value may refer to ----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PointsTo.h"
#include "PointerAddress.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "workgroup/IR/Workgroup.h"
#include "workgroup/Support/Kernel.h"
#include "llvm/ADT/PriorityQueue.h"

namespace mlir::workgroup {

PointsTo::PointsTo(Operation *scope, const UniformityAnalysis &uniformity,
                   ArrayRef<Value> values, SmallVectorImpl<MemoryRoot> &roots)
    : scope(scope), uniformity(uniformity), roots(roots) {
  anything.roots.push_back(0);
  collect(values);
  solve();
}

const PointsTo::Target &PointsTo::getTarget(Value value) const {
  auto node = nodes.find(value);
  return node == nodes.end() ? anything : node->second.target;
}

//===----------------------------------------------------------------------===//
// Where values come from
//===----------------------------------------------------------------------===//

void PointsTo::collect(ArrayRef<Value> values) {
  SmallVector<Value> worklist(values);
  for (unsigned i = 0; i < worklist.size(); ++i) {
    Value value = worklist[i];
    if (nodes.contains(value))
      continue;
    Node node = makeNode(value);
    llvm::append_range(worklist, node.sources);
    nodes.insert({value, std::move(node)});
  }
  for (unsigned number = 0, e = nodes.size(); number != e; ++number)
    for (Value source : (nodes.begin() + number)->second.sources)
      nodes.find(source)->second.users.push_back(number);
}

PointsTo::Node PointsTo::makeJoin(SmallVector<Value> sources) {
  Node node;
  node.origin = Origin::Join;
  node.sources.assign(sources);
  return node;
}

/// The memref that result number `number` of `op` is another view of, or null.
static Value getSource(Operation *op, unsigned number) {
  if (auto metadata = dyn_cast<memref::ExtractStridedMetadataOp>(op))
    return number == 0 ? metadata.getSource() : Value();
  if (isa<memref::DistinctObjectsOp>(op))
    return op->getOperand(number);
  if (auto map = dyn_cast<nvgpu::TmaCreateDescriptorOp>(op))
    return map.getTensor();
  if (auto tile = dyn_cast<nvgpu::WarpgroupGenerateDescriptorOp>(op))
    return tile.getTensor();
  return op->getNumResults() == 1 ? getViewSource(op) : Value();
}

PointsTo::Node PointsTo::makeNode(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return makeNodeOfArgument(argument);
  Operation *op = value.getDefiningOp();
  unsigned number = cast<OpResult>(value).getResultNumber();
  Value source = getSource(op, number);
  if (!source)
    source = getPointerSource(value);
  if (source) {
    Node node;
    node.origin = Origin::View;
    node.sources.push_back(source);
    return node;
  }
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return makeJoin({select.getTrueValue(), select.getFalseValue()});
  if (isa<RegionBranchOpInterface>(op))
    return makeNodeOfJoin(value);
  return makeRoot(value);
}

PointsTo::Node PointsTo::makeNodeOfArgument(BlockArgument argument) {
  Operation *parent = argument.getOwner()->getParentOp();
  if (argument.getOwner()->isEntryBlock() &&
      (isa<gpu::LaunchOp, FunctionOpInterface>(parent) ||
       !isa<RegionBranchOpInterface>(parent)))
    return makeRoot(argument);
  return makeNodeOfJoin(argument);
}

PointsTo::Node PointsTo::makeNodeOfJoin(Value value) {
  SmallVector<Value> sources;
  for (const IncomingValue &from : incoming.get(value)) {
    if (!from.value)
      return makeRoot(value);
    sources.push_back(from.value);
  }
  return makeJoin(sources);
}

//===----------------------------------------------------------------------===//
// Roots
//===----------------------------------------------------------------------===//

/// True if `value`, an argument of a function or launch, is memory of its own:
/// an attribution, or promised to be.
static bool isOwnMemory(BlockArgument value) {
  Operation *owner = value.getOwner()->getParentOp();
  unsigned number = value.getArgNumber();
  if (auto launch = dyn_cast<gpu::LaunchOp>(owner))
    return number >= launch.getNumConfigRegionAttributes();
  auto function = cast<FunctionOpInterface>(owner);
  return number >= function.getNumArguments() ||
         function.getArgAttr(number, LLVM::LLVMDialect::getNoAliasAttrName());
}

/// The space of what `pointer`, a root, points to. Whoever launches a kernel
/// has addresses of global memory only; what is passed by value, or allocated
/// by LLVM, each thread has.
static MemorySpace getSpaceOfPointer(Value pointer) {
  MemorySpace space = getPointerSpace(pointer);
  if (space == MemorySpace::Other && pointer.getDefiningOp<LLVM::AllocaOp>())
    return MemorySpace::Private;
  auto argument = dyn_cast<BlockArgument>(pointer);
  Operation *owner = argument ? argument.getOwner()->getParentOp() : nullptr;
  if (space != MemorySpace::Other || !owner || !isKernel(owner) ||
      !isa<FunctionOpInterface>(owner) || !argument.getOwner()->isEntryBlock())
    return space;
  Attribute byValue = cast<FunctionOpInterface>(owner).getArgAttr(
      argument.getArgNumber(), LLVM::LLVMDialect::getByValAttrName());
  return byValue ? MemorySpace::Private : MemorySpace::Global;
}

static MemorySpace getSpaceOfRoot(Value root) {
  if (isa<BaseMemRefType>(root.getType()))
    return getMemorySpace(root);
  if (isa<nvgpu::MBarrierGroupType>(root.getType()))
    return MemorySpace::Workgroup;
  if (isa<LLVM::LLVMPointerType>(root.getType()))
    return getSpaceOfPointer(root);
  return isa<nvgpu::TensorMapDescriptorType>(root.getType())
             ? MemorySpace::Global
             : MemorySpace::Other;
}

/// The symbol whose memory `op` finds; null if it finds none.
static FlatSymbolRefAttr getSymbol(Operation *op) {
  if (auto get = dyn_cast_or_null<memref::GetGlobalOp>(op))
    return get.getNameAttr();
  if (auto address = dyn_cast_or_null<LLVM::AddressOfOp>(op))
    return address.getGlobalNameAttr();
  return {};
}

/// True for the dynamic memory of the launch, by its operation or by a symbol
/// without elements, or of LLVM without a body: all of these start at one
/// place.
static bool isDynamicMemory(Operation *op) {
  if (isa_and_nonnull<gpu::DynamicSharedMemoryOp>(op))
    return true;
  if (auto get = dyn_cast_or_null<memref::GetGlobalOp>(op))
    return isWorkgroupMemory(get.getType()) && get.getType().hasStaticShape() &&
           get.getType().getNumElements() == 0;
  auto address = dyn_cast_or_null<LLVM::AddressOfOp>(op);
  auto global = address ? SymbolTable::lookupNearestSymbolFrom<LLVM::GlobalOp>(
                              address, address.getGlobalNameAttr())
                        : LLVM::GlobalOp();
  return global && getPointerSpace(address) == MemorySpace::Workgroup &&
         global.getLinkage() == LLVM::Linkage::External;
}

PointsTo::Node PointsTo::makeRoot(Value value) {
  Node node;
  node.target.roots = anything.roots;
  Operation *op = value.getDefiningOp();
  auto argument = dyn_cast<BlockArgument>(value);
  bool isOfEntry = argument && argument.getOwner()->isEntryBlock() &&
                   isa<gpu::LaunchOp, FunctionOpInterface>(
                       argument.getOwner()->getParentOp());
  bool isOutside = !scope->isAncestor(value.getParentBlock()->getParentOp());
  bool isAllocated =
      isa_and_nonnull<memref::AllocOp, memref::AllocaOp, LLVM::AllocaOp,
                      gpu::AllocOp, nvgpu::MBarrierCreateOp>(op);
  MemoryRoot root{value, nullptr, MemorySpace::Other, false};
  FlatSymbolRefAttr symbol = getSymbol(op);
  if (isDynamicMemory(op)) {
    root.space = MemorySpace::Workgroup;
    root.isDistinct = !symbol;
    if (symbol)
      root.global = SymbolTable::lookupNearestSymbolFrom(op, symbol);
    if (!dynamicMemory)
      dynamicMemory = addRoot(root);
    node.target.roots.front() = *dynamicMemory;
  } else if (symbol) {
    node.target.roots.front() = getGlobalRoot(value, symbol);
  } else if (isa_and_nonnull<PutOp, GetOp>(op)) {
    if (!ringTiles.isOrderly(op->getOperand(0))) {
      node.target.roots.front() = getRingRoot(cast<OpResult>(value));
      return node; // in one slot or the other
    }
    // As if it were memory of its own, that only lasts for this iteration.
    root.space = MemorySpace::Workgroup;
    root.isDistinct = true;
    node.target.roots.front() = addRoot(root);
  } else if (isAllocated || isOfEntry || isOutside) {
    root.space = getSpaceOfRoot(value);
    root.isDistinct = isOfEntry ? isOwnMemory(argument) : isAllocated;
    node.target.roots.front() = addRoot(root);
  } else {
    return node; // any memory
  }
  node.target.address =
      MemRefAddress::ofRoot(value, [&] { return isFixed(value); });
  return node;
}

unsigned PointsTo::getGlobalRoot(Value memory, FlatSymbolRefAttr symbol) {
  auto [known, isNew] = globals.try_emplace(symbol, 0);
  if (isNew) {
    Operation *global =
        SymbolTable::lookupNearestSymbolFrom(memory.getDefiningOp(), symbol);
    known->second = addRoot({memory, global, getSpaceOfRoot(memory), false});
  }
  return known->second;
}

/// The slots that `tile` may be of: those for the tiles of its number.
unsigned PointsTo::getRingRoot(OpResult tile) {
  Value ring = tile.getOwner()->getOperand(0);
  if (!ring.getDefiningOp<RingOp>())
    return 0;
  auto [known, isNew] =
      rings.try_emplace({ring, tile.getResultNumber()}, roots.size());
  if (isNew)
    addRoot({ring, nullptr, MemorySpace::Workgroup, /*isDistinct=*/true});
  return known->second;
}

/// True for an operation that makes of the same operands the same, wherever and
/// whenever it is executed: a view, arithmetic, the one buffer of an allocation
/// in workgroup memory.
static bool isFunctionOfOperands(Operation *op) {
  auto alloc = dyn_cast<memref::AllocOp>(op);
  bool isBuffer = alloc && isWorkgroupMemory(alloc.getType());
  return isBuffer || (op->getNumRegions() == 0 && isPure(op));
}

bool PointsTo::isFixed(Value value) const {
  auto it = fixed.find(value);
  if (it == fixed.end())
    it = fixed.try_emplace(value, computeFixed(value)).first;
  return it->second;
}

bool PointsTo::computeFixed(Value value) const {
  if (!scope->isAncestor(value.getParentBlock()->getParentOp()))
    return true;
  Operation *op = value.getDefiningOp();
  if (!op)
    return value.getParentBlock()->getParentOp() == scope &&
           uniformity.isUniform(value);
  if (isa<memref::GetGlobalOp, LLVM::AddressOfOp, gpu::DynamicSharedMemoryOp>(
          op) ||
      getTileSource(value))
    return true;
  if (!uniformity.isUniform(value))
    return false;
  if (!isInLoop(op, scope))
    return true;
  return isFunctionOfOperands(op) &&
         llvm::all_of(op->getOperands(),
                      [&](Value operand) { return isFixed(operand); });
}

//===----------------------------------------------------------------------===//
// The fixed point
//===----------------------------------------------------------------------===//

void PointsTo::solve() {
  // Sources first, as far as there are no cycles.
  llvm::PriorityQueue<unsigned> worklist;
  llvm::BitVector isQueued(nodes.size(), true);
  for (unsigned number = 0, e = nodes.size(); number != e; ++number)
    worklist.push(number);
  while (!worklist.empty()) {
    unsigned number = worklist.top();
    worklist.pop();
    isQueued.reset(number);
    auto &[value, node] = *(nodes.begin() + number);
    if (node.origin == Origin::Root)
      continue;
    Target target = evaluate(value, node);
    if (target == node.target)
      continue;
    node.target = std::move(target);
    for (unsigned user : node.users)
      if (!isQueued.test(user)) {
        isQueued.set(user);
        worklist.push(user);
      }
  }
}

PointsTo::Target PointsTo::evaluate(Value value, const Node &node) const {
  if (node.origin == Origin::Join)
    return join(value, node);
  const Target &source = nodes.find(node.sources.front())->second.target;
  Target target;
  target.roots = source.roots;
  if (source.address)
    target.address = MemRefAddress::ofView(value, *source.address,
                                           [&] { return isFixed(value); });
  return target;
}

PointsTo::Target PointsTo::join(Value value, const Node &node) const {
  Target joined;
  if (node.sources.empty())
    return anything; // of an edge that is not known
  bool isFirst = true;
  for (Value from : node.sources) {
    const Target &source = nodes.find(from)->second.target;
    if (source.roots.empty())
      continue; // nothing is known of it yet
    llvm::append_range(joined.roots, source.roots);
    if (isFirst)
      joined.address = source.address;
    else if (joined.address && source.address)
      joined.address = MemRefAddress::join(*joined.address, *source.address);
    else
      joined.address = std::nullopt;
    isFirst = false;
  }
  llvm::sort(joined.roots);
  joined.roots.erase(llvm::unique(joined.roots), joined.roots.end());
  if (!joined.address)
    return joined;
  joined.address->dropBounds();
  if (joined.address->base && !isKnownAt(*joined.address->base, value))
    joined.address->base = std::nullopt;
  if (!llvm::all_of(joined.address->origin, [&](const LinearIndex &index) {
        return isKnownAt(index, value);
      }))
    joined.address = std::nullopt;
  return joined;
}

/// True if the terms of `index` have the values that they have where something
/// comes from also where it gets to be `value`.
bool PointsTo::isKnownAt(const LinearIndex &index, Value value) const {
  Block *block = value.getParentBlock();
  return llvm::all_of(index.terms, [&](std::pair<Value, int64_t> term) {
    Block *defining = term.first.getParentBlock();
    if (isa<BlockArgument>(value) && !block->isEntryBlock())
      return dominance.properlyDominates(defining, block);
    Operation *branch =
        value.getDefiningOp() ? value.getDefiningOp() : block->getParentOp();
    return !branch->isAncestor(defining->getParentOp());
  });
}

} // namespace mlir::workgroup
