//===- Workgroup.cpp - The dialect `workgroup` ----------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "workgroup/IR/Workgroup.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"
#include "workgroup/Support/MemorySpace.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::workgroup;

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

static ParseResult parseTileShape(AsmParser &parser, int64_t &rows,
                                  int64_t &columns) {
  SmallVector<int64_t> shape;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseDimensionList(shape, /*allowDynamic=*/false,
                                /*withTrailingX=*/false))
    return failure();
  if (shape.size() != 2)
    return parser.emitError(loc, "expected two extents, as in 64x32");
  rows = shape[0];
  columns = shape[1];
  return success();
}

static void printTileShape(AsmPrinter &printer, int64_t rows, int64_t columns) {
  printer << rows << "x" << columns;
}

LogicalResult TileLayoutAttr::verify(
    function_ref<InFlightDiagnostic()> emitError, int64_t rows, int64_t columns,
    int64_t width, int64_t chunk, int64_t shift, int64_t mask, int64_t scale) {
  if (rows <= 0 || columns <= 0)
    return emitError() << "a tile has at least one row and one column, not "
                       << rows << "x" << columns;
  if (width <= 0 || columns % width != 0)
    return emitError() << columns << " columns are not cut into boxes of "
                       << width;
  if (chunk <= 0 || chunk > 16 || !llvm::isPowerOf2_64(chunk) ||
      width % chunk != 0)
    return emitError() << "rows of " << width
                       << " elements are not cut into chunks of " << chunk
                       << ", a power of two up to 16";
  if (shift < 0 || shift > 30 || scale < 0 || scale > 30 || mask < 0 ||
      mask > 255)
    return emitError() << "xor takes a shift and a scale from 0 to 30 and a "
                          "mask from 0 to 255";
  int64_t numChunks = width / chunk;
  if (mask != 0 && !llvm::isPowerOf2_64(numChunks))
    return emitError() << "chunks can be exchanged only in rows of a power of "
                          "two of them, not "
                       << numChunks;
  if (mask << scale >= numChunks)
    return emitError() << "xor leaves the row of " << numChunks << " chunks";
  return success();
}

/// The sum of bits of `x ^ y`, each in its place, where `x` and `y` have no
/// more than `numBits` bits.
static AffineExpr makeXor(AffineExpr x, AffineExpr y, unsigned numBits) {
  AffineExpr result = getAffineConstantExpr(0, x.getContext());
  for (unsigned bit = 0; bit < numBits; ++bit) {
    int64_t weight = int64_t(1) << bit;
    result = result + ((x.floorDiv(weight) + y.floorDiv(weight)) % 2) * weight;
  }
  return result;
}

AffineMap TileLayoutAttr::getAffineMap() const {
  AffineExpr row = getAffineDimExpr(0, getContext());
  AffineExpr column = getAffineDimExpr(1, getContext());
  AffineExpr box = column.floorDiv(getWidth());
  AffineExpr inBox = column % getWidth();
  AffineExpr chunk = inBox.floorDiv(getChunk());
  // The bits of the row that the mask keeps, each where the scale puts it.
  AffineExpr moved = getAffineConstantExpr(0, getContext());
  for (unsigned bit = 0; getMask() >> bit != 0; ++bit)
    if (getMask() >> bit & 1)
      moved = moved + (row.floorDiv(int64_t(1) << (getShift() + bit)) % 2) *
                          (int64_t(1) << (bit + getScale()));
  unsigned numBits = llvm::Log2_64_Ceil(getWidth() / getChunk());
  if (getMask() != 0)
    chunk = makeXor(chunk, moved, numBits);
  AffineExpr place = box * (getRows() * getWidth()) + row * getWidth() +
                     chunk * getChunk() + inBox % getChunk();
  return AffineMap::get(/*dimCount=*/2, /*symbolCount=*/0, place);
}

bool TileLayoutAttr::isIdentity() const {
  return getWidth() == getColumns() && getMask() == 0;
}

LogicalResult TileLayoutAttr::verifyLayout(
    ArrayRef<int64_t> shape,
    function_ref<InFlightDiagnostic()> emitError) const {
  if (shape == ArrayRef<int64_t>{getRows(), getColumns()})
    return success();
  return emitError() << "layout " << *this << " is of another shape";
}

/// Row-major tiles have strides; others have none, whatever a map would say.
LogicalResult
TileLayoutAttr::getStridesAndOffset(ArrayRef<int64_t> shape,
                                    SmallVectorImpl<int64_t> &strides,
                                    int64_t &offset) const {
  if (!isIdentity())
    return failure();
  strides.assign({getColumns(), 1});
  offset = 0;
  return success();
}

/// The pattern by which the hardware swizzles boxes with rows of `bytes` bytes:
/// it repeats after as many times 128 bytes as a row has chunks (PTX ISA,
/// "Swizzling modes").
static TileLayoutAttr getSwizzledBoxes(MLIRContext *context, int64_t rows,
                                       int64_t columns, int64_t elementBytes,
                                       int64_t bytes) {
  constexpr int64_t kChunkBytes = 16, kPassBytes = 128;
  return TileLayoutAttr::get(
      context, rows, columns, bytes / elementBytes, kChunkBytes / elementBytes,
      llvm::Log2_64(kPassBytes / bytes), bytes / kChunkBytes - 1, /*scale=*/0);
}

TileLayoutAttr TileLayoutAttr::getSwizzled(MLIRContext *context, int64_t rows,
                                           int64_t columns,
                                           int64_t elementBytes) {
  for (int64_t bytes : {128, 64, 32})
    if (columns * elementBytes % bytes == 0)
      return getSwizzledBoxes(context, rows, columns, elementBytes, bytes);
  return {};
}

int64_t TileLayoutAttr::getSwizzleBytes(int64_t elementBytes) const {
  for (int64_t bytes : {128, 64, 32})
    if (getWidth() * elementBytes == bytes &&
        *this == getSwizzledBoxes(getContext(), getRows(), getColumns(),
                                  elementBytes, bytes))
      return bytes;
  return 0;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

LogicalResult RingType::verify(function_ref<InFlightDiagnostic()> emitError,
                               int64_t slots, ArrayRef<MemRefType> tiles) {
  if (slots < 1)
    return emitError() << "a ring has at least one slot, not " << slots;
  if (tiles.empty())
    return emitError() << "a ring has at least one tile in each slot";
  for (MemRefType tile : tiles) {
    if (!tile.hasStaticShape())
      return emitError() << "a tile has constant extents, unlike " << tile;
    if (!isWorkgroupMemory(tile))
      return emitError() << "a tile is in workgroup memory, unlike " << tile;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Dialect
//===----------------------------------------------------------------------===//

#define GET_ATTRDEF_CLASSES
#include "workgroup/IR/WorkgroupAttributes.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "workgroup/IR/WorkgroupTypes.cpp.inc"

#include "workgroup/IR/WorkgroupDialect.cpp.inc"

namespace {
/// A ring may stand in a function that goes into those that call it.
struct WorkgroupInliner : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *, Region *, bool,
                       IRMapping &) const override {
    return true;
  }
};
} // namespace

void WorkgroupDialect::initialize() {
  addInterfaces<WorkgroupInliner>();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "workgroup/IR/WorkgroupAttributes.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "workgroup/IR/WorkgroupTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "workgroup/IR/Workgroup.cpp.inc"
      >();
}
