//===- BankBuffers.cpp - Buffers whose layout may change ------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BankBuffers.h"
#include "Analysis/Memory/MemRefAddress.h"
#include "TensorSwizzles.h"
#include "Transforms/Copies/TensorSwizzle.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "workgroup/Analysis/Alignment.h"
#include "workgroup/Support/MemorySpace.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::workgroup {

ArrayRef<int64_t> BankBuffer::getRowShape() const {
  return type.getShape().take_back(std::min(rowDims, type.getRank()));
}

int64_t BankBuffer::getColumns() const {
  return llvm::product_of(getRowShape());
}

int64_t BankBuffer::getAlignment() const {
  Value memory = getMemory();
  auto memoryType = cast<MemRefType>(memory.getType());
  Operation *scope = memory.getParentRegion()->getParentOp();
  int64_t known = std::max(getNaturalAlignment(memoryType, scope),
                           getStatedAlignment(memory));
  return arena ? std::min(known, getPowerOfTwoDivisor(arena->slotBytes))
               : known;
}

int64_t BankBuffer::getSlotBytes(int64_t padBytes) const {
  int64_t bytes = type.getNumElements() * elementBytes + padBytes * getRows();
  if (!arena || padBytes == 0)
    return arena ? arena->slotBytes : bytes;
  // No instruction asks for more than matrices do.
  constexpr int64_t kMatrixAlignment = 32;
  int64_t aligned =
      std::min(getPowerOfTwoDivisor(arena->slotBytes), kMatrixAlignment);
  return llvm::alignTo(bytes, std::max(aligned, getAlignment()));
}

int64_t BankBuffer::getBytes(int64_t padBytes) const {
  return getSlotBytes(padBytes) * (arena ? arena->numSlots : 1);
}

int64_t BankBuffer::getAlignedBytes(int64_t alignment) const {
  int64_t slot = llvm::alignTo(getSlotBytes(0), alignment);
  return slot * (arena ? arena->numSlots : 1);
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

namespace {
/// The addresses of a memref's elements in its buffer.
struct Alias {
  MemRefAddress address;
  /// The address in elements; extents may be ShapedType::kDynamic.
  LinearIndex offset;
  SmallVector<int64_t> strides, extents;
};
} // namespace

/// The alias at `address`; nothing if it does not begin at a whole element, or
/// runs backwards.
static std::optional<Alias> makeAlias(MemRefAddress address) {
  if (address.basis)
    return std::nullopt;
  bool isWhole = true;
  auto divide = [&](int64_t bytes) {
    isWhole &= bytes % address.elementBytes == 0;
    return bytes / address.elementBytes;
  };
  Alias alias;
  alias.offset = address.origin.front();
  alias.offset.constant = divide(alias.offset.constant);
  for (auto &[value, factor] : alias.offset.terms)
    factor = divide(factor);
  for (const MemRefAddress::Dimension &dimension : address.dimensions) {
    auto extent = dyn_cast_if_present<Attribute>(dimension.extent);
    alias.strides.push_back(divide(dimension.stride));
    alias.extents.push_back(extent ? cast<IntegerAttr>(extent).getInt()
                                   : ShapedType::kDynamic);
    isWhole &= dimension.stride >= 0;
  }
  address.bounds.clear();
  alias.address = std::move(address);
  return isWhole ? std::optional(std::move(alias)) : std::nullopt;
}

/// True if the view `op`, which is `alias`, can be made anew for another layout
/// of the buffer.
static bool isRemakable(Operation *op, const Alias &alias) {
  auto isStatic = [&](int64_t dim) {
    return !ShapedType::isDynamic(alias.extents[dim]);
  };
  if (isa<memref::ReinterpretCastOp>(op))
    return alias.offset.isConstant();
  if (isa<memref::CollapseShapeOp>(op))
    return llvm::none_of(alias.extents, ShapedType::isDynamic);
  if (auto expand = dyn_cast<memref::ExpandShapeOp>(op))
    return llvm::all_of(expand.getReassociationIndices(), [&](auto &group) {
      return llvm::all_of(ArrayRef(group).drop_front(), isStatic);
    });
  return isa<memref::CastOp, memref::MemorySpaceCastOp,
             memref::AssumeAlignmentOp, memref::SubViewOp, memref::TransposeOp>(
      op);
}

/// The addresses of the view `op` of the memref `source`; nothing if it is no
/// view that is understood.
static std::optional<Alias> getView(const Alias &source, Operation *op) {
  if (op->getNumResults() != 1 || !isa<MemRefType>(op->getResult(0).getType()))
    return std::nullopt;
  // Indices into memrefs are not compared.
  std::optional<MemRefAddress> address = MemRefAddress::ofView(
      op->getResult(0), source.address, /*isFixed=*/[] { return false; });
  std::optional<Alias> alias =
      address ? makeAlias(std::move(*address)) : std::nullopt;
  return alias && isRemakable(op, *alias) ? alias : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Uses of a buffer
//===----------------------------------------------------------------------===//

namespace {
/// Finds all uses of a buffer.
class UseCollector {
public:
  UseCollector(BankBuffer &buffer, AlignmentAnalysis &alignments,
               Operation *root)
      : buffer(buffer), alignments(alignments), root(root) {}

  void collect();

private:
  bool visit(OpOperand &use);
  bool visitView(Operation *op, const Alias &source);
  bool visitAccess(OpOperand &use, const Alias &source);
  bool visitTensorLoad(nvgpu::TmaAsyncLoadOp load, const Alias &target);
  int64_t getColumnDivisor(const BankAccess &access);
  int64_t getMatrixUnit(const BankAccess &access);
  bool staysInRow(const BankAccess &access);
  void refuse(const Twine &why) { buffer.obstacle = why.str(); }

  BankBuffer &buffer;
  AlignmentAnalysis &alignments;
  Operation *root;
  DenseMap<Value, Alias> aliases;
  SmallVector<Value> worklist;
};
} // namespace

void UseCollector::collect() {
  for (Value root : buffer.roots) {
    // Its type is static, and without a layout.
    Alias alias = *makeAlias(
        *MemRefAddress::ofRoot(root, /*isFixed=*/[] { return false; }));
    buffer.extents[root] = alias.extents;
    aliases[root] = std::move(alias);
    worklist.push_back(root);
  }
  while (!worklist.empty())
    for (OpOperand &use : worklist.pop_back_val().getUses())
      if (!visit(use)) {
        if (buffer.obstacle.empty())
          refuse("its rows have to stay as they are for '" +
                 use.getOwner()->getName().getStringRef() + "'");
        return;
      }
  // Lists of uses are in reverse order.
  std::reverse(buffer.accesses.begin(), buffer.accesses.end());
  if (!buffer.tensorLoads.empty())
    refuse(getSwizzleObstacle(buffer.tensorLoads, root));
}

bool UseCollector::visit(OpOperand &use) {
  Operation *op = use.getOwner();
  const Alias source = aliases.lookup(use.get());
  if (isa<memref::DeallocOp>(op)) {
    buffer.deallocs.push_back(op);
    return true;
  }
  if (auto dim = dyn_cast<memref::DimOp>(op)) {
    std::optional<int64_t> number = dim.getConstantIndex();
    buffer.dims.push_back(op);
    return number && *number >= 0 && *number < int64_t(source.extents.size()) &&
           !ShapedType::isDynamic(source.extents[*number]);
  }
  if (getViewSource(op) == use.get())
    return visitView(op, source);
  if (auto load = dyn_cast<nvgpu::TmaAsyncLoadOp>(op))
    return visitTensorLoad(load, source);
  return visitAccess(use, source);
}

bool UseCollector::visitView(Operation *op, const Alias &source) {
  std::optional<Alias> alias = getView(source, op);
  if (!alias)
    return false;
  Value view = op->getResult(0);
  if (isa<memref::AssumeAlignmentOp>(op) && buffer.isRoot(op->getOperand(0)))
    buffer.roots.push_back(view);
  else
    buffer.views.push_back(op);
  buffer.extents[view] = alias->extents;
  aliases[view] = std::move(*alias);
  worklist.push_back(view);
  return true;
}

/// A power of two that divides the column of `access` and the length of a row.
int64_t UseCollector::getColumnDivisor(const BankAccess &access) {
  int64_t columns = buffer.getColumns();
  int64_t divisor = std::min(getPowerOfTwoDivisor(columns),
                             getPowerOfTwoDivisor(access.offset.constant));
  for (auto [value, factor] : access.offset.terms) {
    if (factor % columns == 0)
      continue; // whole rows
    int64_t ofTerm =
        alignments.getDivisor(value) * getPowerOfTwoDivisor(factor);
    divisor = std::min(divisor, ofTerm);
  }
  // A promise says as much, of a buffer that is known to be aligned so.
  int64_t promised = std::min({access.alignment, buffer.getAlignment(),
                               getPowerOfTwoDivisor(buffer.getRowBytes())}) /
                     buffer.elementBytes;
  return std::max(divisor, promised);
}

/// The number that the bytes of a row have to be a multiple of for the matrix
/// of `access` to be where its instruction can address it. A matrix begins at
/// multiples of 32 bytes, its rows at multiples of 16.
int64_t UseCollector::getMatrixUnit(const BankAccess &access) {
  constexpr int64_t kRowUnit = 16, kMatrixUnit = 32;
  if (!buffer.isRoot(getAccessMemref(access).get()) ||
      buffer.type.getRank() != 2)
    return kMatrixUnit;
  Value row = getAccessIndices(access)[0].get();
  return alignments.getDivisor(row) * kRowUnit >= kMatrixUnit ? kRowUnit
                                                              : kMatrixUnit;
}

/// True if no run of `access` goes past the end of a row.
bool UseCollector::staysInRow(const BankAccess &access) {
  int64_t columns = buffer.getColumns(), run = access.numElements;
  if (access.isOfMatrix() &&
      (access.leadDimension % columns != 0 || access.leadDimension <= 0))
    return false;
  if (run == 1 || (llvm::isPowerOf2_64(run) && access.divisor % run == 0))
    return true;
  if (!access.canSplit) // what cannot be split has to be aligned besides
    return false;
  bool isConstant = llvm::all_of(access.offset.terms, [&](auto term) {
    return term.second % columns == 0;
  });
  int64_t column = llvm::mod(access.offset.constant, columns);
  return isConstant && column + run <= columns;
}

bool UseCollector::visitAccess(OpOperand &use, const Alias &source) {
  std::optional<BankAccess> described =
      describeAccess(use, buffer.elementBytes);
  if (!described)
    return false;
  BankAccess access = std::move(*described);
  access.offset = source.offset;
  MutableOperandRange indices = getAccessIndices(access);
  for (auto [index, stride] : llvm::zip_equal(indices, source.strides))
    access.offset.add(index.get(), stride); // a constant may be poison
  access.divisor = getColumnDivisor(access);
  if (access.isOfMatrix())
    access.matrixUnit = getMatrixUnit(access);
  bool isRun = source.strides.empty() || source.strides.back() == 1;
  if (access.numElements > 1 && !isRun)
    return false;
  if (!staysInRow(access)) {
    refuse("it is not known that '" + use.getOwner()->getName().getStringRef() +
           "' stays within a row of " + Twine(buffer.getColumns()) +
           " elements");
    return false;
  }
  buffer.accesses.push_back(std::move(access));
  return true;
}

/// TMA writes whole rows, one after the other, and can swizzle them if the
/// first one stands where the pattern begins.
bool UseCollector::visitTensorLoad(nvgpu::TmaAsyncLoadOp load,
                                   const Alias &target) {
  int64_t rowBytes = buffer.getRowBytes();
  SmallVector<int64_t> dense = computeSuffixProduct(target.extents);
  bool isDense = llvm::all_of(
      llvm::zip_equal(target.extents, target.strides, dense), [](auto dim) {
        auto [extent, stride, expected] = dim;
        return extent == 1 || stride == expected;
      });
  if (!isDense || target.extents.empty() ||
      target.extents.back() != buffer.getColumns())
    return false;
  if (!getTensorLayout(rowBytes)) {
    refuse("TMA swizzles rows of 32, 64 and 128 bytes, and these have " +
           Twine(rowBytes));
    return false;
  }
  int64_t pattern = getTensorPatternBytes(rowBytes);
  auto isMultiple = [&](int64_t elements) {
    return elements * buffer.elementBytes % pattern == 0;
  };
  bool isAtPattern =
      isMultiple(target.offset.constant) &&
      llvm::all_of(target.offset.terms, [&](auto term) {
        return isMultiple(alignments.getDivisor(term.first) * term.second);
      });
  bool canAlign = buffer.getAlignment() >= pattern ||
                  getRaisableBuffer(buffer.getMemory(), root);
  if (!isAtPattern || !canAlign) {
    refuse("TMA does not write its rows from a multiple of " + Twine(pattern) +
           " bytes on");
    return false;
  }
  buffer.tensorLoads.push_back(load);
  return true;
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

/// Why the layout of a buffer of type `type` cannot change, whatever uses it.
static StringRef getTypeObstacle(MemRefType type, int64_t elementBytes) {
  constexpr int64_t kMaxElementBytes = 128, kMaxElements = int64_t(1) << 30;
  if (!type.hasStaticShape())
    return "its size is not static";
  if (!type.getLayout().isIdentity())
    return "its layout is not that of its shape";
  if (llvm::is_contained(type.getShape(), 0))
    return "it has no elements";
  if (!llvm::isPowerOf2_64(elementBytes) || elementBytes > kMaxElementBytes)
    return "the size of its elements is no power of two";
  int64_t numElements = 1;
  for (int64_t extent : type.getShape())
    if (llvm::MulOverflow(numElements, extent, numElements) ||
        numElements > kMaxElements)
      return "it is larger than any memory";
  return "";
}

/// Adds the buffers that `memref.get_global`s in `scope` refer to.
static void collectGlobals(Operation *root, Operation *scope,
                           SmallVectorImpl<BankBuffer> &buffers) {
  llvm::MapVector<Operation *, SmallVector<Value>> globals;
  SymbolTableCollection symbols;
  scope->walk([&](memref::GetGlobalOp get) {
    if (!isWorkgroupMemory(get.getType()))
      return;
    if (Operation *global =
            symbols.lookupNearestSymbolFrom(get, get.getNameAttr()))
      globals[global].push_back(get.getResult());
  });
  if (globals.empty())
    return;
  DenseMap<StringAttr, size_t> numUses;
  std::optional<SymbolTable::UseRange> uses = SymbolTable::getSymbolUses(
      &globals.front().first->getParentOp()->getRegion(0));
  if (uses)
    for (SymbolTable::SymbolUse use : *uses)
      ++numUses[use.getSymbolRef().getLeafReference()];
  for (auto &[op, gets] : globals) {
    auto global = dyn_cast<memref::GlobalOp>(op);
    if (!global || !root->isProperAncestor(global))
      continue;
    BankBuffer buffer;
    buffer.roots = gets;
    buffer.definition = global;
    buffer.type = global.getType();
    if (!global.isPrivate() || !uses)
      buffer.obstacle = "it is not private to its module";
    else if (!global.isUninitialized())
      buffer.obstacle = "it has an initial value";
    else if (numUses.lookup(global.getSymNameAttr()) != gets.size())
      buffer.obstacle = "other kernels or functions use it too";
    buffers.push_back(std::move(buffer));
  }
}

SmallVector<BankBuffer, 0> collectBankBuffers(Operation *root,
                                              Operation *scope) {
  SmallVector<BankBuffer, 0> buffers;
  auto add = [&](Value value) {
    auto type = dyn_cast<MemRefType>(value.getType());
    if (!type || !isWorkgroupMemory(type))
      return;
    BankBuffer buffer;
    buffer.roots.push_back(value);
    buffer.definition = value.getDefiningOp();
    buffer.type = type;
    if (buffer.definition)
      buffer.arena = matchArena(value, scope);
    if (buffer.arena) {
      buffer.roots.assign(buffer.arena->views.begin(),
                          buffer.arena->views.end());
      buffer.type = buffer.arena->getTile();
    }
    buffers.push_back(std::move(buffer));
  };
  if (root->isAncestor(scope)) {
    if (auto launch = dyn_cast<gpu::LaunchOp>(scope))
      llvm::for_each(launch.getWorkgroupAttributions(), add);
    else if (auto function = dyn_cast<gpu::GPUFuncOp>(scope))
      llvm::for_each(function.getWorkgroupAttributions(), add);
  }
  Operation *inner = root->isAncestor(scope) ? scope : root;
  inner->walk([&](Operation *op) {
    if (isa<memref::AllocOp, memref::AllocaOp>(op))
      add(op->getResult(0));
  });
  collectGlobals(root, scope, buffers);

  AlignmentAnalysis alignments;
  for (BankBuffer &buffer : buffers) {
    if (!buffer.obstacle.empty())
      continue;
    buffer.elementBytes = getElementBytes(buffer.type, scope).value_or(0);
    buffer.obstacle = getTypeObstacle(buffer.type, buffer.elementBytes);
    if (buffer.obstacle.empty())
      UseCollector(buffer, alignments, root).collect();
  }
  return buffers;
}

} // namespace mlir::workgroup
