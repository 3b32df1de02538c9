//===- Alignment.cpp - Proved alignment of memory accesses ----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Views are followed here and not by MemRefAddress, because what is known of a
// view in the midst (`memref.assume_alignment`, `assume` of a client) holds of
// all that is added to it behind, which the sum of all offsets does not show.
//
//===----------------------------------------------------------------------===//

#include "workgroup/Analysis/Alignment.h"
#include "Support/BlockLoops.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Support/MemorySpace.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::workgroup {

/// Recursion ends here: a longer chain of operations proves nothing.
static constexpr unsigned kMaxDivisorDepth = 64;

static int64_t capped(int64_t divisor) {
  return std::min(divisor, AlignmentAnalysis::kMaxDivisor);
}

/// The largest power of two that divides `value`.
static int64_t getConstantDivisor(int64_t value) {
  if (value == 0)
    return AlignmentAnalysis::kMaxDivisor;
  return capped(int64_t(1) << llvm::countr_zero(static_cast<uint64_t>(value)));
}

/// Product of two powers of two up to `kMaxDivisor`.
static int64_t multiplyDivisors(int64_t lhs, int64_t rhs) {
  return capped(lhs * rhs);
}

//===----------------------------------------------------------------------===//
// Divisors of indices
//===----------------------------------------------------------------------===//

int64_t AlignmentAnalysis::getDivisor(OpFoldResult index) {
  if (std::optional<int64_t> constant = getConstantIntValue(index))
    return getConstantDivisor(*constant);
  Value value = cast<Value>(index);
  if (auto it = divisors.find(value); it != divisors.end())
    return it->second;
  if (depth == kMaxDivisorDepth)
    return 1;
  ++depth;
  int64_t divisor = computeDivisor(value);
  --depth;
  divisors[value] = divisor;
  return divisor;
}

int64_t AlignmentAnalysis::computeDivisor(Value index) {
  if (auto argument = dyn_cast<BlockArgument>(index))
    return getArgumentDivisor(argument);
  Operation *op = index.getDefiningOp();
  auto ofOperand = [&](unsigned i) { return getDivisor(op->getOperand(i)); };
  auto ofMap = [&](AffineMap map) {
    int64_t divisor = kMaxDivisor;
    for (AffineExpr result : map.getResults())
      divisor = std::min(divisor, getAffineDivisor(result, op->getOperands(),
                                                   map.getNumDims()));
    return divisor;
  };
  return llvm::TypeSwitch<Operation *, int64_t>(op)
      .Case<arith::MulIOp>(
          [&](auto) { return multiplyDivisors(ofOperand(0), ofOperand(1)); })
      .Case<arith::AddIOp, arith::SubIOp, arith::OrIOp, arith::XOrIOp,
            arith::MinSIOp, arith::MinUIOp, arith::MaxSIOp, arith::MaxUIOp,
            arith::RemSIOp, arith::RemUIOp>(
          [&](auto) { return std::min(ofOperand(0), ofOperand(1)); })
      .Case<arith::AndIOp>(
          [&](auto) { return std::max(ofOperand(0), ofOperand(1)); })
      .Case<arith::SelectOp>(
          [&](auto) { return std::min(ofOperand(1), ofOperand(2)); })
      .Case<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp,
            arith::ExtUIOp, arith::TruncIOp>([&](auto) { return ofOperand(0); })
      .Case<arith::ShLIOp>([&](arith::ShLIOp shift) {
        std::optional<int64_t> bits = getConstantIntValue(shift.getRhs());
        return bits && *bits >= 0 && *bits < 30
                   ? multiplyDivisors(ofOperand(0), int64_t(1) << *bits)
                   : ofOperand(0);
      })
      .Case<affine::AffineApplyOp, affine::AffineMinOp, affine::AffineMaxOp>(
          [&](auto affine) { return ofMap(affine.getAffineMap()); })
      .Case<affine::AffineDelinearizeIndexOp>([&](auto delinearize) {
        // The last result is a remainder.
        SmallVector<OpFoldResult> basis = delinearize.getEffectiveBasis();
        bool isLast = index == delinearize.getResults().back();
        return isLast && !basis.empty()
                   ? std::min(ofOperand(0), getDivisor(basis.back()))
                   : 1;
      })
      .Case<gpu::BlockDimOp>([&](gpu::BlockDimOp dim) {
        BlockShape shape = getBlockShape(getExecutionScope(dim));
        auto size = shape.sizes[static_cast<unsigned>(dim.getDimension())];
        return size ? getConstantDivisor(*size) : 1;
      })
      .Case<memref::DimOp>([&](memref::DimOp dim) {
        auto type = dyn_cast<MemRefType>(dim.getSource().getType());
        std::optional<int64_t> i = dim.getConstantIndex();
        bool isStatic = type && i && *i >= 0 && *i < type.getRank() &&
                        !type.isDynamicDim(*i);
        return isStatic ? getConstantDivisor(type.getDimSize(*i)) : 1;
      })
      .Default([](Operation *) { return 1; });
}

int64_t AlignmentAnalysis::getArgumentDivisor(BlockArgument argument) {
  Operation *parent = argument.getOwner()->getParentOp();
  if (auto loop = dyn_cast<scf::ForOp>(parent))
    return argument == loop.getInductionVar()
               ? std::min(getDivisor(loop.getLowerBound()),
                          getDivisor(loop.getStep()))
               : 1;
  if (auto loop = dyn_cast<scf::ForallOp>(parent)) {
    unsigned dim = argument.getArgNumber();
    return dim < loop.getRank()
               ? std::min(getDivisor(loop.getMixedLowerBound()[dim]),
                          getDivisor(loop.getMixedStep()[dim]))
               : 1;
  }
  if (auto loop = dyn_cast<affine::AffineForOp>(parent)) {
    if (argument != loop.getInductionVar())
      return 1;
    int64_t divisor = getConstantDivisor(loop.getStepAsInt());
    AffineMap map = loop.getLowerBoundMap();
    for (AffineExpr result : map.getResults())
      divisor = std::min(divisor,
                         getAffineDivisor(result, loop.getLowerBoundOperands(),
                                          map.getNumDims()));
    return divisor;
  }
  if (auto launch = dyn_cast<gpu::LaunchOp>(parent)) {
    gpu::KernelDim3 sizes = launch.getBlockSize();
    gpu::KernelDim3 operands = launch.getBlockSizeOperandValues();
    for (auto [size, operand] :
         {std::pair(sizes.x, operands.x), std::pair(sizes.y, operands.y),
          std::pair(sizes.z, operands.z)})
      if (argument == size)
        return getDivisor(operand);
  }
  return 1;
}

int64_t AlignmentAnalysis::getAffineDivisor(AffineExpr expr,
                                            ValueRange operands,
                                            unsigned numDims) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return getConstantDivisor(constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return getDivisor(operands[dim.getPosition()]);
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return getDivisor(operands[numDims + symbol.getPosition()]);
  auto binary = cast<AffineBinaryOpExpr>(expr);
  int64_t lhs = getAffineDivisor(binary.getLHS(), operands, numDims);
  int64_t rhs = getAffineDivisor(binary.getRHS(), operands, numDims);
  switch (expr.getKind()) {
  case AffineExprKind::Mul:
    return multiplyDivisors(lhs, rhs);
  case AffineExprKind::Add:
  case AffineExprKind::Mod:
    return std::min(lhs, rhs);
  case AffineExprKind::FloorDiv:
  case AffineExprKind::CeilDiv:
    // A power of two that divides the dividend more often than the divisor.
    if (auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS()))
      if (llvm::isPowerOf2_64(divisor.getValue()) && lhs >= divisor.getValue())
        return lhs / divisor.getValue();
    return 1;
  default:
    return 1;
  }
}

//===----------------------------------------------------------------------===//
// Alignment of memrefs
//===----------------------------------------------------------------------===//

int64_t AlignmentAnalysis::getAlignment(Value memref) {
  return getPointer(memref).first;
}

AlignmentAnalysis::Pointer AlignmentAnalysis::getPointer(Value memref) {
  if (auto it = pointers.find(memref); it != pointers.end())
    return it->second;
  if (depth == kMaxDivisorDepth || !isa<MemRefType>(memref.getType()))
    return Pointer();
  ++depth;
  Pointer pointer = computePointer(memref);
  --depth;
  pointers[memref] = pointer;
  return pointer;
}

AlignmentAnalysis::Pointer AlignmentAnalysis::computePointer(Value memref) {
  Operation *op = memref.getDefiningOp();
  if (Value source = op ? getViewSource(op) : Value();
      source && isa<MemRefType>(source.getType()))
    return getViewPointer(op, source);
  // A root, or a value of unknown origin: its type says what the offset is.
  auto type = cast<MemRefType>(memref.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return Pointer();
  Pointer pointer;
  pointer.base = getRootAlignment(memref);
  pointer.offset =
      ShapedType::isDynamic(offset) ? 1 : getConstantDivisor(offset);
  Operation *scope = memref.getParentRegion()->getParentOp();
  int64_t bytes = getElementBytes(type, scope).value_or(1);
  pointer.first =
      std::min(pointer.base,
               multiplyDivisors(pointer.offset, getConstantDivisor(bytes)));
  return pointer;
}

/// Divisors of the strides of `type`. Of one that has no others than its
/// extents make, they follow from these: 64 divides the first of `8x?x64`.
static SmallVector<int64_t> getStrideDivisors(MemRefType type,
                                              ArrayRef<int64_t> strides) {
  SmallVector<int64_t> divisors(strides.size(), 1);
  int64_t ofExtents = 1;
  for (unsigned dim = strides.size(); dim-- > 0;) {
    if (!ShapedType::isDynamic(strides[dim]))
      divisors[dim] = getConstantDivisor(strides[dim]);
    else if (type.getLayout().isIdentity())
      divisors[dim] = ofExtents;
    if (!type.isDynamicDim(dim))
      ofExtents =
          multiplyDivisors(ofExtents, getConstantDivisor(type.getDimSize(dim)));
  }
  return divisors;
}

AlignmentAnalysis::Pointer AlignmentAnalysis::getViewPointer(Operation *view,
                                                             Value source) {
  Pointer from = getPointer(source);
  auto sourceType = cast<MemRefType>(source.getType());
  int64_t bytes =
      getConstantDivisor(getElementBytes(sourceType, view).value_or(1));
  return llvm::TypeSwitch<Operation *, Pointer>(view)
      .Case<memref::SubViewOp>([&](memref::SubViewOp op) -> Pointer {
        SmallVector<int64_t> strides;
        int64_t sourceOffset;
        if (failed(sourceType.getStridesAndOffset(strides, sourceOffset)))
          return Pointer();
        int64_t added = kMaxDivisor;
        for (auto [offset, divisor] : llvm::zip_equal(
                 op.getMixedOffsets(), getStrideDivisors(sourceType, strides)))
          added =
              std::min(added, multiplyDivisors(getDivisor(offset), divisor));
        return {from.base, std::min(from.offset, added),
                std::min(from.first, multiplyDivisors(added, bytes))};
      })
      .Case<memref::ReinterpretCastOp>([&](memref::ReinterpretCastOp op) {
        // The offset counts from the buffer, not from the source's own offset.
        int64_t offset = getDivisor(op.getMixedOffsets().front());
        return Pointer{from.base, offset,
                       std::min(from.base, multiplyDivisors(offset, bytes))};
      })
      .Case<memref::ViewOp>([&](memref::ViewOp op) {
        int64_t base = std::min(from.first, getDivisor(op.getByteShift()));
        return Pointer{base, kMaxDivisor, base};
      })
      .Case<memref::AssumeAlignmentOp>([&](memref::AssumeAlignmentOp op) {
        Pointer to = from;
        to.first = std::max(to.first, getConstantDivisor(op.getAlignment()));
        if (from.offset == kMaxDivisor) // no offset: it is the buffer's start
          to.base = std::max(to.base, to.first);
        return to;
      })
      .Case<memref::CastOp, memref::MemorySpaceCastOp, memref::ExpandShapeOp,
            memref::CollapseShapeOp, memref::TransposeOp>(
          [&](auto) { return from; })
      .Default([&](Operation *) { return Pointer(); });
}

int64_t AlignmentAnalysis::getRootAlignment(Value root) {
  auto type = cast<MemRefType>(root.getType());
  Operation *scope = root.getParentRegion()->getParentOp();
  int64_t natural = getNaturalAlignment(type, scope);
  int64_t alignment = natural;
  if (isWorkgroupMemory(type))
    if (Value buffer = getRaisableBuffer(root, options.anchor))
      alignment =
          std::max({alignment, options.workgroup, getStatedAlignment(buffer)});
  if (auto argument = dyn_cast<BlockArgument>(root))
    return std::max(alignment, getArgumentAlignment(argument, natural));
  Operation *op = root.getDefiningOp();
  if (isa<memref::AllocOp, memref::AllocaOp, memref::GetGlobalOp>(op))
    alignment = std::max(alignment, getStatedAlignment(root));
  bool isOfRuntime = isa<memref::AllocOp, gpu::AllocOp>(op)
                         ? isInLaunchingCode(op)
                         : isa<gpu::DynamicSharedMemoryOp>(op);
  if (isOfRuntime)
    alignment = std::max(alignment, kRuntimeAlignment);
  return alignment;
}

/// True if `function` has loops the iterations of which will be blocks.
static bool hasBlockLoops(Operation *function) {
  return function
      ->walk([](scf::ForallOp loop) {
        return isMappedToBlocks(loop) ? WalkResult::interrupt()
                                      : WalkResult::advance();
      })
      .wasInterrupted();
}

int64_t AlignmentAnalysis::getArgumentAlignment(BlockArgument argument,
                                                int64_t natural) {
  Operation *owner = argument.getOwner()->getParentOp();
  auto function = dyn_cast<FunctionOpInterface>(owner);
  if (!function || !argument.getOwner()->isEntryBlock() ||
      argument.getArgNumber() >= function.getNumArguments())
    return natural;
  if (auto stated = function.getArgAttrOfType<IntegerAttr>(
          argument.getArgNumber(), LLVM::LLVMDialect::getAlignAttrName()))
    return std::max(natural, getConstantDivisor(stated.getInt()));
  bool isEntry =
      isKernel(owner) || isInLaunchingCode(owner) || hasBlockLoops(owner);
  if (isEntry && !isWorkgroupMemory(argument.getType()))
    return std::max(natural, options.arguments);
  return natural;
}

//===----------------------------------------------------------------------===//
// Layout and stated alignment
//===----------------------------------------------------------------------===//

/// True if MLIR's data layout knows `type`, which it aborts on otherwise, and
/// LLVM too.
static bool hasKnownLayout(Type type) {
  if (auto vector = dyn_cast<VectorType>(type))
    return !vector.isScalable() && hasKnownLayout(vector.getElementType());
  if (auto complex = dyn_cast<ComplexType>(type))
    return hasKnownLayout(complex.getElementType());
  if (auto integer = dyn_cast<IntegerType>(type))
    return integer.getWidth() != 0;
  // LLVM has no such type.
  return isa<IndexType, FloatType>(type) && !isa<FloatTF32Type>(type);
}

std::optional<int64_t> getElementBytes(MemRefType type, Operation *scope) {
  Type element = type.getElementType();
  if (!hasKnownLayout(element))
    return std::nullopt;
  DataLayout layout = DataLayout::closest(scope);
  return llvm::alignTo(layout.getTypeSize(element).getFixedValue(),
                       layout.getTypeABIAlignment(element));
}

int64_t getNaturalAlignment(MemRefType type, Operation *scope) {
  Type element = type.getElementType();
  if (!hasKnownLayout(element))
    return 1;
  return DataLayout::closest(scope).getTypeABIAlignment(element);
}

memref::GlobalOp getGlobal(Value buffer) {
  auto get = buffer.getDefiningOp<memref::GetGlobalOp>();
  if (!get)
    return {};
  return SymbolTable::lookupNearestSymbolFrom<memref::GlobalOp>(
      get, get.getNameAttr());
}

std::optional<unsigned> getAttributionIndex(Value buffer,
                                            gpu::GPUFuncOp &function) {
  auto argument = dyn_cast<BlockArgument>(buffer);
  if (!argument)
    return std::nullopt;
  function = dyn_cast<gpu::GPUFuncOp>(argument.getOwner()->getParentOp());
  if (!function || !argument.getOwner()->isEntryBlock())
    return std::nullopt;
  unsigned number = argument.getArgNumber();
  unsigned first = function.getFirstWorkgroupAttributionIndex();
  if (number < first ||
      number >= first + function.getNumWorkgroupAttributions())
    return std::nullopt;
  return number - first;
}

Value getRaisableBuffer(Value memref, Operation *anchor) {
  Value root = getRootBuffer(memref);
  if (!anchor || !isWorkgroupMemory(root.getType()))
    return {};
  gpu::GPUFuncOp function;
  if (getAttributionIndex(root, function))
    return anchor->isAncestor(function) ? root : Value();
  Operation *op = root.getDefiningOp();
  if (isa_and_nonnull<memref::AllocOp, memref::AllocaOp>(op))
    return anchor->isAncestor(op) ? root : Value();
  if (memref::GlobalOp global = getGlobal(root))
    return anchor->isAncestor(global) ? root : Value();
  return {};
}

int64_t getStatedAlignment(Value buffer) {
  gpu::GPUFuncOp function;
  if (std::optional<unsigned> index = getAttributionIndex(buffer, function)) {
    auto stated =
        dyn_cast_or_null<IntegerAttr>(function.getWorkgroupAttributionAttr(
            *index, LLVM::LLVMDialect::getAlignAttrName()));
    return stated ? stated.getInt() : 0;
  }
  Operation *op = buffer.getDefiningOp();
  if (auto alloc = dyn_cast_or_null<memref::AllocOp>(op))
    return alloc.getAlignment().value_or(0);
  if (auto alloca = dyn_cast_or_null<memref::AllocaOp>(op))
    return alloca.getAlignment().value_or(0);
  if (memref::GlobalOp global = getGlobal(buffer))
    return global.getAlignment().value_or(0);
  return 0;
}

} // namespace mlir::workgroup
