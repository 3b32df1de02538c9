//===- UnpackProducts.cpp - Products of a warp on registers ---------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product of nvgpu takes vectors of rank two and returns one, which upstream
// makes arrays of: for each product a dozen operations pack its sums, and a
// dozen unpack them for the next one. Here products get the registers that the
// vectors were made of, and hand theirs on as they are.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/PatternMatch.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Transforms/NVVM.h"

namespace mlir::workgroup {

#define GEN_PASS_DEF_UNPACKPRODUCTSPASS
#include "workgroup/Transforms/NVVM.h.inc"

/// What the factors of `product` are to the instruction; none if it is not one
/// of those that are unpacked.
static std::optional<NVVM::MMATypes> getFactorType(nvgpu::MmaSyncOp product) {
  auto isOfRankTwo = [](Value matrix) {
    return cast<VectorType>(matrix.getType()).getRank() == 2;
  };
  if (!llvm::all_of(product->getOperands(), isOfRankTwo))
    return std::nullopt;
  Type type = product.getMatrixA().getType().getElementType();
  if (product.getMatrixB().getType().getElementType() != type)
    return std::nullopt;
  if (type.isF16())
    return NVVM::MMATypes::f16;
  if (type.isF64())
    return NVVM::MMATypes::f64;
  if (type.isF32() && product.getTf32EnabledAttr())
    return NVVM::MMATypes::tf32;
  return std::nullopt;
}

/// True if a register holds a row of a matrix of `type`, and not one element.
static bool isInRows(VectorType type) { return type.getElementType().isF16(); }

namespace {

using Registers = SmallVector<Value>;

class ProductUnpacker {
public:
  explicit ProductUnpacker(RewriterBase &rewriter) : rewriter(rewriter) {}

  void unpack(nvgpu::MmaSyncOp product, NVVM::MMATypes type);

  /// Lets go of what was unpacked.
  void finish();

private:
  const Registers &getRegisters(Value matrix);
  Registers getElements(vector::FromElementsOp packed);
  Registers getFactor(Value matrix, NVVM::MMATypes type);
  Value getRow(ValueRange elements, VectorType type, Location loc);
  Registers extract(Value matrix);
  void replaceUses(nvgpu::MmaSyncOp product);
  bool replaceUse(Operation *user, const Registers &registers);
  Value pack(const Registers &registers, VectorType type, Location loc);

  RewriterBase &rewriter;
  DenseMap<Value, Registers> registersOf, wordsOf;
  SmallVector<nvgpu::MmaSyncOp> products;
};

} // namespace

//===----------------------------------------------------------------------===//
// Registers of matrices
//===----------------------------------------------------------------------===//

/// The vector whose elements `elements` are, all of them in their order; null
/// if there is none.
static Value findVector(ValueRange elements, VectorType type) {
  auto source = elements.front().getDefiningOp<vector::ToElementsOp>();
  if (source && source.getSource().getType() == type &&
      llvm::equal(elements, source.getResults()))
    return source.getSource();
  return Value();
}

/// The vector of `type` of `elements`.
Value ProductUnpacker::getRow(ValueRange elements, VectorType type,
                              Location loc) {
  if (Value vector = findVector(elements, type))
    return vector;
  return vector::FromElementsOp::create(rewriter, loc, type, elements);
}

/// The registers of a matrix that was made of elements.
Registers ProductUnpacker::getElements(vector::FromElementsOp packed) {
  VectorType type = packed.getType();
  ValueRange elements = packed.getElements();
  if (!isInRows(type))
    return Registers(elements);
  int64_t width = type.getShape().back();
  auto row = VectorType::get({width}, type.getElementType());
  rewriter.setInsertionPoint(packed);
  Registers registers;
  for (int64_t at = 0; at < type.getNumElements(); at += width)
    registers.push_back(
        getRow(elements.slice(at, width), row, packed.getLoc()));
  return registers;
}

/// The registers of any matrix, taken out of it.
Registers ProductUnpacker::extract(Value matrix) {
  auto type = cast<VectorType>(matrix.getType());
  rewriter.setInsertionPointAfterValue(matrix);
  Registers registers;
  for (int64_t i = 0; i < type.getDimSize(0); ++i) {
    if (isInRows(type)) {
      registers.push_back(
          rewriter.createOrFold<vector::ExtractOp>(matrix.getLoc(), matrix, i));
      continue;
    }
    for (int64_t j = 0; j < type.getDimSize(1); ++j)
      registers.push_back(rewriter.createOrFold<vector::ExtractOp>(
          matrix.getLoc(), matrix, ArrayRef<int64_t>{i, j}));
  }
  return registers;
}

const Registers &ProductUnpacker::getRegisters(Value matrix) {
  auto [it, isNew] = registersOf.try_emplace(matrix);
  if (isNew) {
    auto packed = matrix.getDefiningOp<vector::FromElementsOp>();
    it->second = packed ? getElements(packed) : extract(matrix);
  }
  return it->second;
}

/// The registers of a factor as the instruction takes them: tf32 is in words.
Registers ProductUnpacker::getFactor(Value matrix, NVVM::MMATypes type) {
  if (type != NVVM::MMATypes::tf32)
    return getRegisters(matrix);
  auto [it, isNew] = wordsOf.try_emplace(matrix);
  if (isNew) {
    rewriter.setInsertionPointAfterValue(matrix);
    for (Value element : getRegisters(matrix))
      it->second.push_back(LLVM::BitcastOp::create(
          rewriter, matrix.getLoc(), rewriter.getI32Type(), element));
  }
  return it->second;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

void ProductUnpacker::unpack(nvgpu::MmaSyncOp product, NVVM::MMATypes type) {
  Location loc = product.getLoc();
  Registers lhs = getFactor(product.getMatrixA(), type);
  Registers rhs = getFactor(product.getMatrixB(), type);
  Registers sums = getRegisters(product.getMatrixC());
  SmallVector<Type> types = llvm::map_to_vector(
      sums, [](Value sum) -> Type { return sum.getType(); });
  auto result = LLVM::LLVMStructType::getLiteral(rewriter.getContext(), types);
  rewriter.setInsertionPoint(product);
  Value added = NVVM::MmaOp::create(
      rewriter, loc, result, lhs, rhs, sums, product.getMmaShapeAsArray(),
      /*b1Op=*/std::nullopt, /*intOverflow=*/std::nullopt,
      std::array{type, type},
      std::array{NVVM::MMALayout::row, NVVM::MMALayout::col});
  Registers &registers = registersOf[product.getRes()];
  registers.clear(); // a block that comes later may have been seen before
  for (int64_t i = 0, e = sums.size(); i < e; ++i)
    registers.push_back(LLVM::ExtractValueOp::create(rewriter, loc, added, i));
  products.push_back(product);
}

//===----------------------------------------------------------------------===//
// Uses of sums
//===----------------------------------------------------------------------===//

/// The matrix of `type` in `registers`.
Value ProductUnpacker::pack(const Registers &registers, VectorType type,
                            Location loc) {
  Registers elements;
  for (Value value : registers) {
    if (isInRows(type))
      llvm::append_range(
          elements,
          vector::ToElementsOp::create(rewriter, loc, value).getResults());
    else
      elements.push_back(value);
  }
  return vector::FromElementsOp::create(rewriter, loc, type, elements);
}

/// Replaces a `user` of a matrix that wants parts of it; false if it does not.
bool ProductUnpacker::replaceUse(Operation *user, const Registers &registers) {
  rewriter.setInsertionPoint(user);
  if (auto elements = dyn_cast<vector::ToElementsOp>(user)) {
    if (isInRows(elements.getSource().getType()))
      return false;
    rewriter.replaceOp(elements, registers);
    return true;
  }
  auto part = dyn_cast<vector::ExtractOp>(user);
  if (!part || part.hasDynamicPosition())
    return false;
  ArrayRef<int64_t> position = part.getStaticPosition();
  auto row = dyn_cast<VectorType>(part.getType());
  VectorType type = part.getSourceVectorType();
  if (isInRows(type)) {
    if (position.size() != 1)
      return false;
    rewriter.replaceOp(part, registers[position.front()]);
  } else if (position.size() == 2) {
    rewriter.replaceOp(
        part, registers[position[0] * type.getDimSize(1) + position[1]]);
  } else if (position.size() == 1 && row) {
    int64_t width = row.getNumElements();
    rewriter.replaceOp(
        part, getRow(ValueRange(registers).slice(position[0] * width, width),
                     row, part.getLoc()));
  } else {
    return false;
  }
  return true;
}

void ProductUnpacker::replaceUses(nvgpu::MmaSyncOp product) {
  const Registers &registers = registersOf[product.getRes()];
  for (Operation *user : llvm::make_early_inc_range(product->getUsers()))
    replaceUse(user, registers);
  if (product->use_empty())
    return;
  rewriter.setInsertionPoint(product);
  rewriter.replaceAllUsesWith(
      product.getRes(),
      pack(registers, product.getRes().getType(), product.getLoc()));
}

void ProductUnpacker::finish() {
  SetVector<Operation *> packed, sources;
  for (nvgpu::MmaSyncOp product : llvm::reverse(products)) {
    replaceUses(product); // those by products are gone
    for (Value operand : product->getOperands())
      if (auto made = operand.getDefiningOp<vector::FromElementsOp>())
        packed.insert(made);
    rewriter.eraseOp(product);
  }
  for (Operation *op : packed) {
    if (!op->use_empty())
      continue;
    for (Value element : op->getOperands())
      if (auto source = element.getDefiningOp<vector::ToElementsOp>())
        sources.insert(source);
    rewriter.eraseOp(op);
  }
  for (Operation *op : sources)
    if (op->use_empty())
      rewriter.eraseOp(op);
}

void unpackProducts(Operation *root) {
  SmallVector<std::pair<nvgpu::MmaSyncOp, NVVM::MMATypes>> products;
  for (Operation *scope : collectDeviceScopes(root))
    scope->walk([&](nvgpu::MmaSyncOp product) {
      if (std::optional<NVVM::MMATypes> type = getFactorType(product))
        products.emplace_back(product, *type);
    });
  IRRewriter rewriter(root->getContext());
  ProductUnpacker unpacker(rewriter);
  for (auto [product, type] : products)
    unpacker.unpack(product, type);
  unpacker.finish();
}

namespace {
struct UnpackProductsPass final
    : impl::UnpackProductsPassBase<UnpackProductsPass> {
  using UnpackProductsPassBase::UnpackProductsPassBase;

  void runOnOperation() override { unpackProducts(getOperation()); }
};
} // namespace

} // namespace mlir::workgroup
