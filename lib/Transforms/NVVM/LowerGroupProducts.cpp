//===- LowerGroupProducts.cpp - Products of warp groups -------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A descriptor of 64 bits tells the instruction where a tile is: in bits 0-13
// the address, in 16-29 and 32-45 two distances, all three in units of 16
// bytes, in 62-63 the swizzle (PTX ISA, "Matrix Descriptor"). Where the sum
// goes along rows, the second distance is that of eight rows; where it goes
// across them, the first is that of two boxes, the second that of eight steps.
//
//===----------------------------------------------------------------------===//

#include "LowerGroupProducts.h"
#include "Transforms/Utils/IndexBuilder.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "workgroup/IR/Workgroup.h"

namespace mlir::workgroup {

using NVVM::WGMMATypes;

/// Of the sum, that one instruction multiplies.
constexpr int64_t kStepBytes = 32;
/// The rows after which a swizzle repeats.
constexpr int64_t kPatternRows = 8;

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

namespace {
/// One of the two tiles.
struct GroupTile {
  TypedValue<MemRefType> storage;
  TileLayoutAttr layout;
  /// Of the result, the first row or column.
  Value first;
  /// Whether the sum goes along the rows of the tile.
  bool isAlongRows;

  int64_t getElementBytes() const {
    return storage.getType().getElementTypeBitWidth() / 8;
  }
  int64_t getRowBytes() const {
    return layout.getSwizzleBytes(getElementBytes());
  }
  int64_t getBoxBytes() const { return layout.getRows() * getRowBytes(); }
  int64_t getNumSteps() const {
    int64_t steps = isAlongRows ? layout.getColumns() : layout.getRows();
    return steps * getElementBytes() / kStepBytes;
  }
  /// The bytes from the start of the tile to step `i` of the sum.
  int64_t getStepOffset(int64_t i) const {
    if (!isAlongRows)
      return i * kStepBytes / getElementBytes() * getRowBytes();
    int64_t bytes = i * kStepBytes;
    return bytes / getRowBytes() * getBoxBytes() + bytes % getRowBytes();
  }
  /// The bytes from one row, or column, of the result to the next: those of a
  /// box lie beside each other.
  int64_t getUnitBytes() const {
    return isAlongRows ? getRowBytes() : layout.getRows() * getElementBytes();
  }
};
} // namespace

static uint64_t getSwizzleMode(int64_t rowBytes) {
  return rowBytes == 128 ? 1 : rowBytes == 64 ? 2 : 3;
}

/// All of the descriptor of `factor` but for its address.
static uint64_t getDistances(const GroupTile &factor) {
  constexpr uint64_t kUnit = 16;
  uint64_t first = factor.isAlongRows ? kUnit : factor.getBoxBytes();
  uint64_t second = kPatternRows * factor.getRowBytes();
  return first / kUnit << 16 | second / kUnit << 32 |
         getSwizzleMode(factor.getRowBytes()) << 62;
}

/// The lower half of the descriptor of `factor` for the first step of the sum:
/// all that depends on the address.
static Value makeLowerHalf(OpBuilder &builder, Location loc,
                           const GroupTile &factor) {
  IndexBuilder index{builder, loc};
  Value start = memref::ExtractAlignedPointerAsIndexOp::create(builder, loc,
                                                               factor.storage);
  OpFoldResult offset =
      index.mul(factor.first, builder.getIndexAttr(factor.getUnitBytes()));
  Value address = index.i32(index.add(start, offset));
  auto number = [&](uint32_t value) -> Value {
    return arith::ConstantIntOp::create(builder, loc, int32_t(value), 32);
  };
  constexpr uint32_t kAddressMask = 0x3ffff;
  address = arith::AndIOp::create(builder, loc, address, number(kAddressMask));
  address = arith::ShRUIOp::create(builder, loc, address, number(4));
  return arith::OrIOp::create(builder, loc, address,
                              number(uint32_t(getDistances(factor))));
}

/// The descriptor of `factor` for step `i` of the sum, `lower` being the lower
/// half of that for the first one.
static Value makeDescriptor(OpBuilder &builder, Location loc,
                            const GroupTile &factor, Value lower, int64_t i) {
  if (i != 0) {
    Value units = arith::ConstantIntOp::create(
        builder, loc, factor.getStepOffset(i) / 16, 32);
    lower = arith::AddIOp::create(builder, loc, lower, units);
  }
  constexpr uint64_t kUpper = ~uint64_t(0) << 32;
  Value wide =
      arith::ExtUIOp::create(builder, loc, builder.getI64Type(), lower);
  Value upper = arith::ConstantIntOp::create(
      builder, loc, int64_t(getDistances(factor) & kUpper), 64);
  return arith::OrIOp::create(builder, loc, wide, upper);
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// The elements of `sums`, in the order of the instruction's registers.
static Value packRegisters(OpBuilder &builder, Location loc, ValueRange sums) {
  SmallVector<Value> elements;
  for (Value sum : sums)
    for (int64_t row : {0, 1})
      for (int64_t column : {0, 1})
        elements.push_back(vector::ExtractOp::create(
            builder, loc, sum, ArrayRef<int64_t>{row, column}));
  SmallVector<Type> types(elements.size(), elements.front().getType());
  auto type = LLVM::LLVMStructType::getLiteral(builder.getContext(), types);
  Value registers = LLVM::UndefOp::create(builder, loc, type);
  for (auto [i, element] : llvm::enumerate(elements))
    registers = LLVM::InsertValueOp::create(builder, loc, registers, element,
                                            int64_t(i));
  return registers;
}

static SmallVector<Value> unpackRegisters(OpBuilder &builder, Location loc,
                                          Value registers, VectorType type,
                                          size_t count) {
  SmallVector<Value> sums;
  for (size_t i = 0; i < count; ++i) {
    SmallVector<Value> elements;
    for (int64_t j = 0; j < type.getNumElements(); ++j)
      elements.push_back(LLVM::ExtractValueOp::create(
          builder, loc, registers, int64_t(i) * type.getNumElements() + j));
    sums.push_back(
        vector::FromElementsOp::create(builder, loc, type, elements));
  }
  return sums;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

static WGMMATypes getElementKind(Type type, bool isUnsigned) {
  if (type.isInteger())
    return isUnsigned ? WGMMATypes::u8 : WGMMATypes::s8;
  if (type.isF16())
    return WGMMATypes::f16;
  if (type.isBF16())
    return WGMMATypes::bf16;
  return isa<Float8E4M3FNType>(type) ? WGMMATypes::e4m3 : WGMMATypes::e5m2;
}

namespace {
struct LowerGroupProduct final : OpRewritePattern<GroupProductOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(GroupProductOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    GroupTile lhs{cast<TypedValue<MemRefType>>(op.getLhs()), op.getLhsLayout(),
                  op.getRow(), !op.getTransposeLhs()};
    GroupTile rhs{cast<TypedValue<MemRefType>>(op.getRhs()), op.getRhsLayout(),
                  op.getColumn(), op.getTransposeRhs()};
    Value left = makeLowerHalf(rewriter, loc, lhs);
    Value right = makeLowerHalf(rewriter, loc, rhs);
    Value sums = packRegisters(rewriter, loc, op.getSums());
    NVVM::WgmmaFenceAlignedOp::create(rewriter, loc);
    for (int64_t i = 0; i < lhs.getNumSteps(); ++i)
      sums = multiply(rewriter, op, lhs, rhs,
                      makeDescriptor(rewriter, loc, lhs, left, i),
                      makeDescriptor(rewriter, loc, rhs, right, i), sums);
    NVVM::WgmmaGroupSyncAlignedOp::create(rewriter, loc);
    NVVM::WgmmaWaitGroupSyncOp::create(rewriter, loc, op.getPending());
    auto type = cast<VectorType>(op.getSums().front().getType());
    rewriter.replaceOp(
        op, unpackRegisters(rewriter, loc, sums, type, op.getSums().size()));
    return success();
  }

private:
  static Value multiply(PatternRewriter &rewriter, GroupProductOp op,
                        const GroupTile &lhs, const GroupTile &rhs, Value left,
                        Value right, Value sums) {
    MLIRContext *context = rewriter.getContext();
    auto shape = NVVM::MMAShapeAttr::get(context, GroupProductOp::kRows,
                                         op.getNumColumns(),
                                         kStepBytes / lhs.getElementBytes());
    auto layoutOfLhs =
        lhs.isAlongRows ? NVVM::MMALayout::row : NVVM::MMALayout::col;
    auto layoutOfRhs =
        rhs.isAlongRows ? NVVM::MMALayout::col : NVVM::MMALayout::row;
    Type ofLhs = lhs.storage.getType().getElementType();
    Type ofRhs = rhs.storage.getType().getElementType();
    return NVVM::WgmmaMmaAsyncOp::create(
        rewriter, op.getLoc(), sums.getType(), sums, left, right, shape,
        getElementKind(ofLhs, op.getUnsignedLhs()),
        getElementKind(ofRhs, op.getUnsignedRhs()),
        ofLhs.isInteger() ? WGMMATypes::s32 : WGMMATypes::f32,
        NVVM::WGMMAScaleOut::one, NVVM::WGMMAScaleIn::one,
        NVVM::WGMMAScaleIn::one, layoutOfLhs, layoutOfRhs,
        NVVM::MMAIntOverflowAttr());
  }
};
} // namespace

/// `registers` as they are behind what waits for them: nothing that is computed
/// of them may come before.
static Value tie(OpBuilder &builder, Location loc, Value registers) {
  auto type = cast<LLVM::LLVMStructType>(registers.getType());
  size_t count = type.getBody().size();
  StringRef result = type.getBody().front().isInteger() ? "=r," : "=f,";
  SmallVector<Value> elements;
  std::string constraints;
  for (size_t i = 0; i < count; ++i) {
    elements.push_back(
        LLVM::ExtractValueOp::create(builder, loc, registers, int64_t(i)));
    constraints += result;
  }
  for (size_t i = 0; i < count; ++i)
    constraints += std::to_string(i) + (i + 1 < count ? "," : "");
  return LLVM::InlineAsmOp::create(
             builder, loc, type, elements, /*asm_string=*/"", constraints,
             /*has_side_effects=*/true, /*is_align_stack=*/false,
             LLVM::TailCallKind::None, /*asm_dialect=*/LLVM::AsmDialectAttr(),
             /*operand_attrs=*/ArrayAttr())
      .getRes();
}

namespace {
struct LowerAwaitProducts final : OpRewritePattern<AwaitProductsOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AwaitProductsOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    NVVM::WgmmaWaitGroupSyncOp::create(rewriter, loc, 0);
    if (op.getSums().empty()) {
      rewriter.eraseOp(op);
      return success();
    }
    Value sums = tie(rewriter, loc, packRegisters(rewriter, loc, op.getSums()));
    auto type = cast<VectorType>(op.getSums().front().getType());
    rewriter.replaceOp(
        op, unpackRegisters(rewriter, loc, sums, type, op.getSums().size()));
    return success();
  }
};
} // namespace

void populateGroupProductPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerGroupProduct, LowerAwaitProducts>(patterns.getContext());
}

} // namespace mlir::workgroup
