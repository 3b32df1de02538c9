//===- Products.cpp - Products of tiles by warp groups --------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What `wgmma` can read: boxes of one of three swizzles, which it addresses by
// a descriptor, with the sum along rows; of elements of 16 bits also across
// them, in boxes of 128 bytes (PTX ISA, "Matrix Descriptor", "Strides").
//
//===----------------------------------------------------------------------===//

#include "mlir/Interfaces/LoopLikeInterface.h"
#include "workgroup/IR/Workgroup.h"
#include "workgroup/Support/MemorySpace.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::workgroup;

namespace {
/// One of the two tiles that are multiplied.
struct ProductTile {
  MemRefType storage;
  TileLayoutAttr layout;
  /// Whether the sum goes along the rows of the tile, which are contiguous.
  bool isAlongRows;

  int64_t getBytes() const { return storage.getElementTypeBitWidth() / 8; }
  int64_t getNumSteps() const {
    return isAlongRows ? layout.getColumns() : layout.getRows();
  }
  int64_t getExtent() const {
    return isAlongRows ? layout.getRows() : layout.getColumns();
  }
};
} // namespace

/// Why a warp group cannot read `factor`; empty if it can.
static std::string getReadObstacle(const ProductTile &factor) {
  constexpr int64_t kStepBytes = 32, kPatternRows = 8, kWidestBytes = 128;
  MemRefType storage = factor.storage;
  if (!isWorkgroupMemory(storage) || !storage.hasStaticShape() ||
      !storage.getLayout().isIdentity())
    return "needs its tiles in contiguous workgroup memory of constant extent";
  if (storage.getNumElements() != factor.layout.getNumElements())
    return "has a layout of another size than a tile";
  int64_t bytes = factor.layout.getSwizzleBytes(factor.getBytes());
  if (bytes == 0)
    return "has a layout that is no swizzle of the hardware";
  if (factor.layout.getRows() % kPatternRows != 0)
    return "needs tiles whose rows are a multiple of 8";
  if (!factor.isAlongRows && factor.getBytes() != 2)
    return "multiplies only elements of 16 bits across the rows of a tile";
  if (!factor.isAlongRows && bytes != kWidestBytes)
    return "multiplies across rows of 128 bytes only";
  if (factor.getNumSteps() * factor.getBytes() % kStepBytes != 0)
    return "needs a sum of whole steps of 32 bytes";
  return "";
}

/// True if there is an instruction for elements of `lhs` and `rhs`.
static bool haveProduct(Type lhs, Type rhs) {
  auto isNarrow = llvm::IsaPred<Float8E4M3FNType, Float8E5M2Type>;
  if (isNarrow(lhs) && isNarrow(rhs))
    return true;
  return lhs == rhs && (lhs.isF16() || lhs.isBF16() || lhs.isInteger(8));
}

/// True if there is an instruction for `numColumns`, a multiple of 8, of sums
/// of integers.
static bool haveIntegerColumns(int64_t numColumns) {
  constexpr int64_t kMostOfAny = 32;
  return numColumns <= kMostOfAny || numColumns % 16 == 0;
}

/// Why there is no instruction for integers like those of `product`; empty if
/// there is, or they are none.
static std::string getIntegerObstacle(GroupProductOp product, Type element) {
  if (!element.isInteger(8))
    return product.getUnsignedLhs() || product.getUnsignedRhs()
               ? "has factors without a sign that are no integers"
               : "";
  return haveIntegerColumns(product.getNumColumns())
             ? ""
             : "has sums of integers of more than 32 columns, no multiple of "
               "16";
}

/// Adds what a loop hands `use`, which it yields, on as; false if nothing is
/// known to.
static bool addHandedOn(OpOperand &use, SetVector<Value> &names) {
  auto loop = dyn_cast<LoopLikeOpInterface>(use.getOwner()->getParentOp());
  if (!loop || !use.getOwner()->hasTrait<OpTrait::IsTerminator>())
    return false;
  for (OpOperand &yielded :
       loop.getYieldedValuesMutable().value_or(MutableArrayRef<OpOperand>())) {
    if (&yielded != &use)
      continue;
    size_t number = &yielded - loop.getYieldedValuesMutable()->begin();
    names.insert(loop.getRegionIterArgs()[number]);
    if (std::optional<ResultRange> results = loop.getLoopResults())
      names.insert((*results)[number]);
    return true;
  }
  return false;
}

/// Finds who uses a result of `product`, or what it is handed on as, otherwise
/// than a product may be that is under way; null if nobody does.
static Operation *findEarlyUser(GroupProductOp product) {
  SetVector<Value> names;
  names.insert_range(product.getResults());
  for (size_t i = 0; i < names.size(); ++i)
    for (OpOperand &use : names[i].getUses()) {
      Operation *user = use.getOwner();
      if (!isa<GroupProductOp, AwaitProductsOp>(user) &&
          !addHandedOn(use, names))
        return user;
    }
  return nullptr;
}

static LogicalResult verifyPending(GroupProductOp product) {
  constexpr int64_t kMaxPending = 7; // PTX ISA, wgmma.wait_group
  int64_t numPending = product.getPending();
  if (numPending < 0 || numPending > kMaxPending)
    return product.emitOpError("leaves ")
           << numPending << " products under way, not 0 to 7";
  if (numPending == 0)
    return success();
  Operation *user = findEarlyUser(product);
  if (!user)
    return success();
  InFlightDiagnostic diagnostic = product.emitOpError(
      "has a result that is used while the product is under way; await it "
      "before by workgroup.await_products");
  diagnostic.attachNote(user->getLoc()) << "here";
  return diagnostic;
}

LogicalResult GroupProductOp::verify() {
  ProductTile lhs{cast<MemRefType>(getLhs().getType()), getLhsLayout(),
                  !getTransposeLhs()};
  ProductTile rhs{cast<MemRefType>(getRhs().getType()), getRhsLayout(),
                  getTransposeRhs()};
  if (!haveProduct(lhs.storage.getElementType(), rhs.storage.getElementType()))
    return emitOpError("has no product of ")
           << lhs.storage.getElementType() << " and "
           << rhs.storage.getElementType();
  for (const ProductTile &factor : {lhs, rhs})
    if (std::string why = getReadObstacle(factor); !why.empty())
      return emitOpError(why);
  if (lhs.getNumSteps() != rhs.getNumSteps())
    return emitOpError("has tiles of ")
           << lhs.getNumSteps() << " and " << rhs.getNumSteps()
           << " steps of the sum";
  constexpr size_t kMaxSums = 32;
  if (getSums().empty() || getSums().size() > kMaxSums)
    return emitOpError("has ") << getSums().size() << " sums, not 1 to 32";
  Type element = lhs.storage.getElementType();
  if (std::string why = getIntegerObstacle(*this, element); !why.empty())
    return emitOpError(why);
  Builder builder(getContext());
  auto sum = VectorType::get({2, 2}, element.isInteger(8)
                                         ? Type(builder.getI32Type())
                                         : Type(builder.getF32Type()));
  if (!llvm::all_equal(getSums().getTypes()) ||
      getSums().front().getType() != sum)
    return emitOpError("needs sums of type ") << sum;
  if (lhs.getExtent() < kRows || rhs.getExtent() < getNumColumns())
    return emitOpError("reads beyond its tiles of ")
           << lhs.getExtent() << " rows and " << rhs.getExtent() << " columns";
  return verifyPending(*this);
}
