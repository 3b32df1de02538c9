//===- MatrixForm.cpp - Contractions on tensor cores ----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Types are chosen such that every product is exact, as it is in the body if
// that multiplies in the type of the sum: conversions from fewer to more digits
// are left out where tensor cores take the fewer ones, and others are done in
// registers. Of the tiles of a warp, the one is taken that costs least, by the
// products of a warp and by what it loads for them.
//
//===----------------------------------------------------------------------===//

#include "MatrixForm.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "workgroup/Support/Kernel.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::workgroup {

using NVVM::MMATypes;

std::string MatrixForm::getName() const {
  std::array<int64_t, 3> extents = getExtents(shape.hasTwo ? 2 : 1);
  return llvm::formatv("m{0}n{1}k{2}.{3}.{4}", extents[0], extents[1],
                       extents[2], NVVM::stringifyMMATypes(lhs.type),
                       NVVM::stringifyMMATypes(rhs.type))
      .str();
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

/// The instructions of `chip` for elements of `type`: PTX ISA, "Target ISA
/// Notes" of mma. Nothing if it has none, or only such as are slower than its
/// other units.
static std::optional<MatrixShape> findShape(const Chip &chip, MMATypes type,
                                            MLIRContext *context) {
  constexpr unsigned kTuring = 75, kAmpere = 80, kAda = 89;
  unsigned architecture = chip.getArchitecture();
  bool isAmpere = architecture >= kAmpere;
  switch (type) {
  case MMATypes::f16:
    if (!chip.hasMatrixProducts(Float16Type::get(context)))
      return std::nullopt;
    return MatrixShape{16, /*hasOne=*/true, /*hasTwo=*/isAmpere};
  case MMATypes::bf16:
    if (!chip.hasMatrixProducts(BFloat16Type::get(context)))
      return std::nullopt;
    return MatrixShape{16, /*hasOne=*/true, /*hasTwo=*/true};
  case MMATypes::tf32:
    if (!isAmpere)
      return std::nullopt;
    return MatrixShape{16, /*hasOne=*/true, /*hasTwo=*/true};
  case MMATypes::s8:
  case MMATypes::u8:
    if (architecture < kTuring)
      return std::nullopt;
    return MatrixShape{isAmpere ? 16 : 8, /*hasOne=*/true,
                       /*hasTwo=*/isAmpere};
  case MMATypes::e4m3:
  case MMATypes::e5m2:
    if (architecture < kAda)
      return std::nullopt;
    return MatrixShape{16, /*hasOne=*/false, /*hasTwo=*/true};
  case MMATypes::f64:
    // Of data centers only.
    if (architecture != 80 && architecture != 90 && architecture != 100)
      return std::nullopt;
    return MatrixShape{8, /*hasOne=*/true, /*hasTwo=*/false};
  default:
    return std::nullopt;
  }
}

//===----------------------------------------------------------------------===//
// Factors
//===----------------------------------------------------------------------===//

/// What `value`, an integer that is read with a sign or without, is before
/// extensions, and how that is read.
static Value skipExtensions(Value value, bool &isSigned) {
  while (Operation *op = value.getDefiningOp()) {
    if (isa<arith::ExtUIOp>(op))
      isSigned = false;
    else if (!isa<arith::ExtSIOp>(op) || !isSigned)
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// Finds what `value`, a factor, is before conversions that change no value.
static void findValue(MatrixFactor &factor, Value value) {
  factor.value = value;
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<arith::ExtFOp>(op))
      break;
    factor.value = value = op->getOperand(0);
  }
  Operation *op = value.getDefiningOp();
  bool isNumber = isa<IntegerType>(value.getType());
  if (isa_and_nonnull<arith::SIToFPOp, arith::UIToFPOp>(op)) {
    factor.isSigned = isa<arith::SIToFPOp>(op);
    value = op->getOperand(0);
    isNumber = true;
  }
  if (!isNumber)
    return;
  bool isSigned = factor.isSigned;
  value = skipExtensions(value, isSigned);
  constexpr unsigned kMaxBits = 8;
  if (value.getType().getIntOrFloatBitWidth() > kMaxBits)
    return;
  factor.value = value;
  factor.isSigned = isSigned;
}

/// True if `type` has each value of `factor`.
static bool isExact(const MatrixFactor &factor, FloatType type) {
  Type from = factor.value.getType();
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  if (auto narrow = dyn_cast<FloatType>(from))
    return llvm::APFloat::isRepresentableBy(narrow.getFloatSemantics(),
                                            semantics);
  unsigned digits = from.getIntOrFloatBitWidth() - factor.isSigned;
  return digits <= llvm::APFloat::semanticsPrecision(semantics);
}

/// The factors of `body`'s products. Returns why it has none, or empty.
static std::string findFactors(ProductBody &body, MatrixForm &form) {
  Operation *product = body.ofBoth.empty() ? nullptr : body.ofBoth.front();
  if (body.ofBoth.size() != 2 || body.ofBoth[1] != body.contraction.combiner ||
      !isa<arith::MulFOp, arith::MulIOp>(product) ||
      !llvm::is_contained(body.ofBoth[1]->getOperands(),
                          product->getResult(0)) ||
      !isa<arith::AddFOp, arith::AddIOp>(body.contraction.combiner))
    return "its body is not a product that is added to the sum";
  Value first = product->getOperand(0), second = product->getOperand(1);
  bool isFirst = first == body.getElement(body.contraction.lhs) ||
                 llvm::is_contained(body.ofLhs, first.getDefiningOp());
  form.lhs.operand = body.contraction.lhs;
  form.rhs.operand = body.contraction.rhs;
  findValue(form.lhs, isFirst ? first : second);
  findValue(form.rhs, isFirst ? second : first);
  return "";
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static std::optional<MMATypes> getNarrowFloat(Type type) {
  if (isa<Float8E4M3FNType>(type))
    return MMATypes::e4m3;
  if (isa<Float8E5M2Type>(type))
    return MMATypes::e5m2;
  return std::nullopt;
}

namespace {
/// Types of elements to which both factors may be converted.
struct CommonType {
  MMATypes type;
  /// That has the same values, and that of registers.
  FloatType values, element;
  /// What sums are in.
  SmallVector<Type, 2> sums;
};
} // namespace

static SmallVector<CommonType> getCommonTypes(MLIRContext *context) {
  FloatType f16 = Float16Type::get(context), bf16 = BFloat16Type::get(context);
  FloatType f32 = Float32Type::get(context), f64 = Float64Type::get(context);
  FloatType tf32 = FloatTF32Type::get(context);
  return {{MMATypes::f16, f16, f16, {f32, f16}},
          {MMATypes::bf16, bf16, bf16, {f32}},
          {MMATypes::tf32, tf32, f32, {f32}},
          {MMATypes::f64, f64, f64, {f64}}};
}

static std::string describeTypes(const MatrixForm &form, Type sum) {
  return llvm::formatv("tensor cores have no products of {0} and {1} with "
                       "sums in {2}",
                       form.lhs.value.getType(), form.rhs.value.getType(), sum)
      .str();
}

/// Gives the factors types that tensor cores of `chip` multiply. Returns why
/// that cannot be, or empty.
static std::string setTypes(MatrixForm &form, MMATypes lhs, MMATypes rhs,
                            const Chip &chip) {
  form.lhs.type = lhs;
  form.rhs.type = rhs;
  std::optional<MatrixShape> shape =
      findShape(chip, lhs, form.lhs.value.getContext());
  if (!shape)
    return llvm::formatv("the tensor cores of {0} have no products of {1}",
                         chip.name, NVVM::stringifyMMATypes(lhs))
        .str();
  form.shape = *shape;
  return "";
}

static std::string chooseIntegers(MatrixForm &form, Type sum,
                                  const Chip &chip) {
  Type i8 = IntegerType::get(sum.getContext(), 8);
  // Narrower ones are extended in registers.
  constexpr unsigned kMinBits = 2, kMaxBits = 8;
  auto fits = [&](const MatrixFactor &factor) {
    unsigned bits = factor.value.getType().getIntOrFloatBitWidth();
    return kMinBits <= bits && bits <= kMaxBits;
  };
  if (!fits(form.lhs) || !fits(form.rhs) || !sum.isInteger(32))
    return describeTypes(form, sum);
  form.lhs.element = form.rhs.element = i8;
  auto getType = [](const MatrixFactor &factor) {
    return factor.isSigned ? MMATypes::s8 : MMATypes::u8;
  };
  return setTypes(form, getType(form.lhs), getType(form.rhs), chip);
}

/// Chooses the types for sums of floats. Sets `isRounding` instead if only
/// factors with fewer digits could be multiplied, and must not be.
static std::string chooseFloats(MatrixForm &form, Type sum, const Chip &chip,
                                bool roundsToTF32, bool &isRounding) {
  std::optional<MMATypes> lhs = getNarrowFloat(form.lhs.value.getType());
  std::optional<MMATypes> rhs = getNarrowFloat(form.rhs.value.getType());
  if (lhs && rhs && sum.isF32() && setTypes(form, *lhs, *rhs, chip).empty()) {
    form.lhs.element = form.lhs.value.getType();
    form.rhs.element = form.rhs.value.getType();
    return "";
  }
  std::string why = describeTypes(form, sum);
  bool isLacking = false;
  for (const CommonType &common : getCommonTypes(sum.getContext())) {
    if (!llvm::is_contained(common.sums, sum))
      continue;
    bool isRounded = false;
    auto fits = [&](MatrixFactor &factor) {
      factor.element = common.element;
      factor.isRounded = !isExact(factor, common.values);
      isRounded |= factor.isRounded;
      return isExact(factor, common.element);
    };
    bool areLhs = fits(form.lhs), areRhs = fits(form.rhs);
    if (!areLhs || !areRhs)
      continue;
    if (isRounded && !roundsToTF32) {
      isRounding = true;
      continue;
    }
    std::string lack = setTypes(form, common.type, common.type, chip);
    if (lack.empty())
      return "";
    // That of the types which are closest to those of the body.
    if (!isLacking)
      why = lack;
    isLacking = true;
  }
  return why;
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// The registers that a thread needs: sums, the fragments of two steps, and
/// what is around.
static int64_t getNumRegisters(const Contraction &contraction,
                               const MatrixForm &form) {
  constexpr int64_t kOthers = 38, kRegisterBits = 32;
  const ThreadTile &tile = form.tile;
  auto getWords = [](Type type) {
    return llvm::divideCeil(type.getIntOrFloatBitWidth(), kRegisterBits);
  };
  Type sum = contraction.combiner->getResult(0).getType();
  int64_t sums =
      tile.rows * tile.columns * sum.getIntOrFloatBitWidth() / kRegisterBits;
  int64_t fragments = 2 * (tile.rows + tile.columns / 2);
  return sums + 2 * fragments * int64_t(getWords(form.lhs.element)) + kOthers;
}

static std::string checkTile(Contraction &contraction, const MatrixForm &form,
                             int64_t numThreads) {
  int64_t rows = contraction.rows.getSize(), steps = contraction.sums.getSize();
  int64_t columns = contraction.columns.getSize();
  if (numThreads % kWarpSize != 0)
    return llvm::formatv("a block of {0} threads does not consist of warps",
                         numThreads)
        .str();
  if (rows % form.shape.rows != 0 || columns % kCellSize != 0)
    return llvm::formatv("a tile of {0}x{1} elements does not consist of "
                         "{2}x{3}",
                         rows, columns, form.shape.rows, kCellSize)
        .str();
  int64_t chunk = (form.shape.hasOne ? 1 : 2) * form.lhs.getChunk();
  if (contraction.sums.empty() || steps % chunk != 0)
    return llvm::formatv("a tile of {0} steps of the sum does not consist of "
                         "{1}",
                         steps, chunk)
        .str();
  if (contraction.columns.getLastSize() % 2 != 0)
    return "a thread's pairs of columns are no neighbours";
  return "";
}

/// Chooses the tile of a warp. Returns the reason why there is none, or empty.
static std::string chooseWarpTile(Contraction &contraction, MatrixForm &form,
                                  int64_t numThreads, bool hasWholeRows) {
  if (std::string why = checkTile(contraction, form, numThreads); !why.empty())
    return why;
  int64_t rows = contraction.rows.getSize();
  int64_t columns = contraction.columns.getSize();
  int64_t numWarps = numThreads / kWarpSize;
  // A multiprocessor has 64 Ki registers, a thread no more than 255.
  constexpr int64_t kAllRegisters = 65536, kMaxRegisters = 255;
  int64_t limit = std::min(kAllRegisters / numThreads, kMaxRegisters);
  // What a warp loads takes so many times longer than what it multiplies.
  constexpr int64_t kLoad = 16;
  std::optional<ThreadTile> best;
  int64_t least = 0;
  for (int64_t i = 1; i <= numWarps; ++i)
    for (int64_t j = 1; i * j <= (hasWholeRows ? i : numWarps); ++j) {
      if (rows % (i * form.shape.rows) != 0 || columns % (j * kCellSize) != 0)
        continue;
      ThreadTile &tile = form.tile;
      tile = ThreadTile{rows / i / kCellSize, 2 * (columns / j / kCellSize)};
      tile.columnRun = 2;
      tile.numThreads[0] = kCellSize;
      tile.numThreads[1] = kWarpSize / kCellSize;
      tile.numGroups[0] = i;
      tile.numGroups[1] = j;
      int64_t ofRows = rows / i, ofColumns = columns / j;
      int64_t cost = ofRows * ofColumns + kLoad * (ofRows + ofColumns);
      if ((best && cost >= least) || getNumRegisters(contraction, form) > limit)
        continue;
      least = cost;
      best = tile;
    }
  if (!best)
    return llvm::formatv("{0} warps have no registers for a tile of {1}x{2} "
                         "elements",
                         numWarps, rows, columns)
        .str();
  form.tile = *best;
  return "";
}

std::optional<MatrixForm> chooseMatrixForm(Contraction &contraction,
                                           const Chip &chip, bool roundsToTF32,
                                           int64_t numThreads, std::string &why,
                                           bool hasWholeRows) {
  MatrixForm form;
  ProductBody body(contraction);
  why = findFactors(body, form);
  bool isRounding = false;
  Type sum = contraction.combiner->getResult(0).getType();
  if (why.empty())
    why = isa<FloatType>(sum)
              ? chooseFloats(form, sum, chip, roundsToTF32, isRounding)
              : chooseIntegers(form, sum, chip);
  if (!why.empty()) {
    if (isRounding)
      why = "";
    return std::nullopt;
  }
  why = chooseWarpTile(contraction, form, numThreads, hasWholeRows);
  if (!why.empty())
    return std::nullopt;
  return form;
}

} // namespace mlir::workgroup
