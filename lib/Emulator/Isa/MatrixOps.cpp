//===- MatrixOps.cpp - The matrix operations of a warp --------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MatrixOps.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <cmath>
#include <cstring>

namespace mlir::workgroup::emulator {

/// The registers of an address, which come before all other operands.
static constexpr unsigned kAddressRegisters = 2;

/// The bytes of the largest operands once they are unpacked, of which those of
/// single bits need most, and the elements of the largest accumulators.
static constexpr unsigned kOperandBytes = 16 * 256 * sizeof(uint32_t);
static constexpr unsigned kMaxAccumulator = 16 * 16;

/// No matrix is larger in any dimension.
static constexpr unsigned kMaxExtent = 256;

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

namespace {

/// The extents of a product: A is m times k, B is k times n.
struct Shape {
  unsigned m = 0, n = 0, k = 0;
};

/// The parts of a name, between dots, as far as they are not yet consumed.
class NameParser {
public:
  explicit NameParser(llvm::StringRef name) { name.split(parts, '.'); }

  bool isAtEnd() const { return next == parts.size(); }

  /// True if `part` came next.
  bool consume(llvm::StringRef part) {
    if (isAtEnd() || parts[next] != part)
      return false;
    ++next;
    return true;
  }

  /// True for `row`, false for `col`.
  std::optional<bool> parseLayout() {
    if (consume("row"))
      return true;
    return consume("col") ? std::optional(false) : std::nullopt;
  }

  std::optional<Scalar> parseType() {
    std::optional<Scalar> type;
    if (!isAtEnd() && (type = parseScalar(parts[next])))
      ++next;
    return type;
  }

  /// A shape as in `m16n8k16`.
  std::optional<Shape> parseShape() {
    if (isAtEnd())
      return std::nullopt;
    llvm::StringRef part = parts[next++];
    Shape shape;
    if (!consumeExtent(part, "m", shape.m) ||
        !consumeExtent(part, "n", shape.n) ||
        !consumeExtent(part, "k", shape.k) || !part.empty())
      return std::nullopt;
    return shape;
  }

private:
  static bool consumeExtent(llvm::StringRef &part, llvm::StringRef letter,
                            unsigned &extent) {
    return part.consume_front(letter) && !part.consumeInteger(10, extent) &&
           extent <= kMaxExtent;
  }

  llvm::SmallVector<llvm::StringRef, 12> parts;
  unsigned next = 0;
};

} // namespace

/// `name` without the suffix of an overload, as `.p3`.
static llvm::StringRef dropOverload(llvm::StringRef name) {
  auto [front, last] = name.rsplit('.');
  if (last.consume_front("p") && !last.empty() &&
      llvm::all_of(last, llvm::isDigit))
    return front;
  return name;
}

/// Parses the types of a product into its fragments. The names spell out those
/// of D, A, B and C; or of D and C, A and B being f16; or of A and B, of which
/// the latter may be missing if it is the same.
static bool parseTypes(NameParser &parser, const Shape &shape, bool isWmma,
                       MatrixProduct &product) {
  llvm::SmallVector<Scalar, 4> types;
  while (std::optional<Scalar> type = parser.parseType())
    types.push_back(*type);
  if (types.size() != 1 && types.size() != 2 && types.size() != 4)
    return false;
  Scalar a = types[0], b = types.back();
  Scalar c = getAccumulatorType(a), d = c;
  if (types.size() == 4) {
    d = types[0], a = types[1], b = types[2], c = types[3];
  } else if (types.size() == 2 && (a == Scalar::F16 || a == Scalar::F32)) {
    d = a, c = b;
    a = b = Scalar::F16;
  }
  product.a = Fragment::getOperand(a, shape.m, shape.k, isWmma);
  product.b = Fragment::getOperand(b, shape.n, shape.k, isWmma);
  product.c = Fragment::getAccumulator(c, shape.m, shape.n);
  product.d = Fragment::getAccumulator(d, shape.m, shape.n);
  return true;
}

/// True if `multiply` can execute `product`.
static bool isSupported(const MatrixProduct &product) {
  const Fragment &a = product.a, &b = product.b, &c = product.c;
  Arithmetic arithmetic = getArithmetic(a.type);
  bool isInteger = arithmetic == Arithmetic::Integer;
  bool isOfBits = product.term != MatrixProduct::Term::Product;
  if ((a.type == Scalar::B1) != isOfBits || (product.saturates && !isInteger))
    return false;
  for (const Fragment *fragment : {&a, &b, &c, &product.d})
    if (!fragment->isValid() || getArithmetic(fragment->type) != arithmetic)
      return false;
  unsigned bytes = arithmetic == Arithmetic::Double ? 8 : 4;
  return getBits(a.type) == getBits(b.type) &&
         a.outer * a.inner * bytes <= kOperandBytes &&
         b.outer * b.inner * bytes <= kOperandBytes &&
         c.outer * c.inner <= kMaxAccumulator &&
         a.getNumRegisters() + b.getNumRegisters() + c.getNumRegisters() <=
             kRegisters;
}

/// Parses what products of bits have before the shape in the names of mma and
/// after it in those of wmma.
static MatrixProduct::Term parseTerm(NameParser &parser) {
  MatrixProduct::Term term = MatrixProduct::Term::Product;
  if (parser.consume("and"))
    term = MatrixProduct::Term::And;
  else if (parser.consume("xor"))
    term = MatrixProduct::Term::Xor;
  if (term != MatrixProduct::Term::Product)
    parser.consume("popc");
  return term;
}

/// Parses a product of mma or, if the shape came first, wmma. The layouts of
/// wmma do not matter: they tell how A and B were loaded, not how they are
/// held.
static std::optional<MatrixProduct> parseProduct(NameParser &parser,
                                                 std::optional<Shape> shape) {
  bool isWmma = shape.has_value();
  MatrixProduct product;
  product.term = parseTerm(parser);
  if (!isWmma && !(shape = parser.parseShape()))
    return std::nullopt;
  if (isWmma ? !parser.parseLayout() || !parser.parseLayout()
             : !parser.consume("row") || !parser.consume("col"))
    return std::nullopt;
  // That of the host. Other roundings are not covered.
  parser.consume("rn");
  product.saturates = parser.consume("satfinite");
  if (!parseTypes(parser, *shape, isWmma, product))
    return std::nullopt;
  product.saturates |= parser.consume("satfinite");
  if (!parser.isAtEnd() || !isSupported(product))
    return std::nullopt;
  return product;
}

static std::optional<FragmentMove>
parseFragmentMove(NameParser &parser, const Shape &shape, bool isStore) {
  FragmentMove move;
  move.isStore = isStore;
  bool isA = !isStore && parser.consume("a");
  bool isB = !isStore && !isA && parser.consume("b");
  bool isAccumulator = !isA && !isB && parser.consume(isStore ? "d" : "c");
  std::optional<bool> isByRows = parser.parseLayout();
  move.hasStride = parser.consume("stride");
  std::optional<Scalar> type = parser.parseType();
  if (!(isA || isB || isAccumulator) || !isByRows || !type || !parser.isAtEnd())
    return std::nullopt;
  if (isAccumulator)
    move.fragment = Fragment::getAccumulator(*type, shape.m, shape.n);
  else
    move.fragment = Fragment::getOperand(*type, isB ? shape.n : shape.m,
                                         shape.k, /*isWmma=*/true);
  move.isOuterStrided = *isByRows != isB;
  // Elements of less than a byte have no address of their own.
  if (!move.fragment.isValid() ||
      (!move.isOuterStrided && getBits(*type) < 8) ||
      move.fragment.getNumRegisters() + kAddressRegisters + 1 > kRegisters)
    return std::nullopt;
  return move;
}

static std::optional<RowsMove> parseRowsMove(NameParser &parser, bool isStore) {
  RowsMove move;
  move.isStore = isStore;
  if (!parser.consume("sync") || !parser.consume("aligned") ||
      !parser.consume("m8n8"))
    return std::nullopt;
  move.count = parser.consume("x4") ? 4 : parser.consume("x2") ? 2 : 1;
  if (move.count == 1 && !parser.consume("x1"))
    return std::nullopt;
  move.isTransposed = parser.consume("trans");
  if (!parser.consume("b16") || !parser.isAtEnd())
    return std::nullopt;
  return move;
}

std::optional<MatrixOp> MatrixOp::decode(llvm::StringRef name) {
  auto wrap = [](auto operation) {
    return operation ? std::optional(MatrixOp(*operation)) : std::nullopt;
  };
  if (!name.consume_front("llvm.nvvm."))
    return std::nullopt;
  NameParser parser(dropOverload(name));
  if (parser.consume("mma"))
    return wrap(parseProduct(parser, /*shape=*/std::nullopt));
  if (parser.consume("ldmatrix"))
    return wrap(parseRowsMove(parser, /*isStore=*/false));
  if (parser.consume("stmatrix"))
    return wrap(parseRowsMove(parser, /*isStore=*/true));
  if (!parser.consume("wmma"))
    return std::nullopt;
  std::optional<Shape> shape = parser.parseShape();
  if (!shape)
    return std::nullopt;
  if (parser.consume("mma"))
    return wrap(parseProduct(parser, shape));
  if (parser.consume("load"))
    return wrap(parseFragmentMove(parser, *shape, /*isStore=*/false));
  if (parser.consume("store"))
    return wrap(parseFragmentMove(parser, *shape, /*isStore=*/true));
  return std::nullopt;
}

MatrixOp::Kind MatrixOp::getKind() const {
  auto *fragment = std::get_if<FragmentMove>(&operation);
  auto *rows = std::get_if<RowsMove>(&operation);
  if (!fragment && !rows)
    return Kind::Compute;
  return (fragment ? fragment->isStore : rows->isStore) ? Kind::Store
                                                        : Kind::Load;
}

unsigned MatrixOp::getNumMovedRegisters() const {
  if (auto *move = std::get_if<FragmentMove>(&operation))
    return move->fragment.getNumRegisters();
  auto *move = std::get_if<RowsMove>(&operation);
  return move ? move->count : 0;
}

unsigned MatrixOp::getNumOperandRegisters() const {
  if (auto *product = std::get_if<MatrixProduct>(&operation))
    return product->a.getNumRegisters() + product->b.getNumRegisters() +
           product->c.getNumRegisters();
  auto *fragment = std::get_if<FragmentMove>(&operation);
  unsigned numRegisters =
      kAddressRegisters + (fragment && fragment->hasStride ? 1 : 0);
  return numRegisters + (getKind() == Kind::Store ? getNumMovedRegisters() : 0);
}

unsigned MatrixOp::getNumResultRegisters() const {
  if (auto *product = std::get_if<MatrixProduct>(&operation))
    return product->d.getNumRegisters();
  return getKind() == Kind::Load ? getNumMovedRegisters() : 0;
}

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

/// Adds to `c` the product of `a` and `b`, all stored by rows, by way of
/// `step`, which adds one product to a sum.
template <typename T, typename Step>
static void addProduct(const Shape &shape, const T *a, const T *b, T *c,
                       Step step) {
  // As many as compilers keep in one vector register.
  constexpr unsigned numSums = 4;
  for (unsigned row = 0; row < shape.m; ++row, a += shape.k, c += shape.n) {
    for (unsigned column = 0; column < shape.n; column += numSums) {
      T sums[numSums];
      std::copy_n(c + column, numSums, sums);
      const T *factors = b + column;
      for (unsigned k = 0; k < shape.k; ++k, factors += shape.n)
        for (unsigned index = 0; index < numSums; ++index)
          sums[index] = step(sums[index], a[k], factors[index]);
      std::copy_n(sums, numSums, c + column);
    }
  }
}

/// The same for signed integers, sums that these cannot hold becoming the
/// closest that they can.
template <typename Step>
static void addSaturating(const Shape &shape, const uint32_t *a,
                          const uint32_t *b, uint32_t *c, Step step) {
  // Without C, no sum is too large.
  uint32_t sums[kMaxAccumulator] = {};
  addProduct(shape, a, b, sums, step);
  for (unsigned index = 0; index < shape.m * shape.n; ++index)
    c[index] =
        std::clamp<int64_t>(int64_t(int32_t(c[index])) + int32_t(sums[index]),
                            INT32_MIN, INT32_MAX);
}

/// Executes `product` with all elements unpacked to `T`, by way of `add`, which
/// adds to one matrix the product of two others, as `addProduct` does.
template <typename T, typename Add>
static void multiply(const MatrixProduct &product, uint32_t *const registers[],
                     Add add) {
  T a[kOperandBytes / sizeof(T)], b[kOperandBytes / sizeof(T)];
  T c[kMaxAccumulator];
  Shape shape{product.c.outer, product.c.inner, product.a.inner};
  unsigned firstOfB = product.a.getNumRegisters();
  unsigned firstOfC = firstOfB + product.b.getNumRegisters();
  gather(product.a, registers, 0, {shape.k, 1}, a);
  gather(product.b, registers, firstOfB, {1, shape.n}, b);
  gather(product.c, registers, firstOfC, {shape.n, 1}, c);
  add(shape, a, b, c);
  scatter(product.d, registers, {shape.n, 1}, c);
}

static void multiplyIntegers(const MatrixProduct &product,
                             uint32_t *const registers[]) {
  using Term = MatrixProduct::Term;
  auto run = [&](auto step) {
    multiply<uint32_t>(product, registers, [&](auto... operands) {
      if (product.saturates)
        addSaturating(operands..., step);
      else
        addProduct(operands..., step);
    });
  };
  switch (product.term) {
  case Term::Product:
    return run(
        [](uint32_t sum, uint32_t a, uint32_t b) { return sum + a * b; });
  case Term::And:
    return run(
        [](uint32_t sum, uint32_t a, uint32_t b) { return sum + (a & b); });
  case Term::Xor:
    return run(
        [](uint32_t sum, uint32_t a, uint32_t b) { return sum + (a ^ b); });
  }
}

static void execute(const MatrixProduct &product, uint32_t *const registers[]) {
  switch (getArithmetic(product.a.type)) {
  case Arithmetic::Float:
    return multiply<float>(product, registers, [](auto... operands) {
      addProduct(operands...,
                 [](float sum, float a, float b) { return sum + a * b; });
    });
  case Arithmetic::Double:
    return multiply<double>(product, registers, [](auto... operands) {
      addProduct(operands..., [](double sum, double a, double b) {
        return std::fma(a, b, sum);
      });
    });
  case Arithmetic::Integer:
    return multiplyIntegers(product, registers);
  }
}

static uint64_t getAddress(const uint32_t *registers) {
  return registers[0] | uint64_t(registers[1]) << 32;
}

/// Moves `bytes` bytes from `memory` to byte `offset` of `registers` or, with
/// `isStore`, back; nothing if `memory` is null.
static void moveBytes(uint8_t *memory, uint32_t *registers, unsigned offset,
                      unsigned bytes, bool isStore) {
  uint8_t *held = reinterpret_cast<uint8_t *>(registers) + offset;
  if (memory)
    std::memcpy(isStore ? memory : held, isStore ? held : memory, bytes);
}

/// The elements from one row, or column, of the matrix to the next.
static uint64_t getStride(const FragmentMove &move, const uint32_t *registers) {
  const Fragment &fragment = move.fragment;
  if (!move.hasStride)
    return move.isOuterStrided ? fragment.inner : fragment.outer;
  return registers[kAddressRegisters +
                   (move.isStore ? fragment.getNumRegisters() : 0)];
}

bool MatrixOp::isAligned(const uint32_t *registers, uint64_t origin) const {
  constexpr uint64_t kStart = 32, kApart = 16;
  auto *move = std::get_if<FragmentMove>(&operation);
  if (!move)
    return true;
  uint64_t bytes = 4 * move->fragment.getNumRegisters();
  uint64_t apart =
      getStride(*move, registers) * getBits(move->fragment.type) / 8;
  return (getAddress(registers) - origin) % std::min(bytes, kStart) == 0 &&
         apart % std::min(bytes, kApart) == 0;
}

static void execute(const FragmentMove &move, uint32_t *const registers[],
                    MatrixOp::Access access) {
  const Fragment &fragment = move.fragment;
  unsigned bits = getBits(fragment.type);
  unsigned first = move.isStore ? kAddressRegisters : 0;
  // Neighbours in memory that share a register move together.
  unsigned count = move.isOuterStrided && bits < 32 ? 32 / bits : 1;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    uint32_t *held = registers[lane];
    uint64_t address = getAddress(held);
    uint64_t stride = getStride(move, held);
    Strides strides =
        move.isOuterStrided ? Strides{stride, 1} : Strides{1, stride};
    address += fragment.getLaneOffset(lane, strides) * bits / 8;
    for (unsigned element = 0; element < fragment.numElements;
         element += count) {
      uint64_t offset = fragment.getElementOffset(element, strides) * bits / 8;
      unsigned bytes = count * bits / 8;
      moveBytes(access(lane, address + offset, bytes), held + first,
                element * bits / 8, bytes, move.isStore);
    }
  }
}

static void execute(const RowsMove &move, uint32_t *const registers[],
                    MatrixOp::Access access) {
  // Results replace addresses that other lanes still need.
  uint64_t rows[kWarpSize];
  for (unsigned lane = 0; lane < kWarpSize; ++lane)
    rows[lane] = getAddress(registers[lane]);
  unsigned first = move.isStore ? kAddressRegisters : 0;
  unsigned bytes = move.isTransposed ? 2 : 4;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    // The pair of elements that the lane has of each matrix.
    unsigned group = lane / 4, pair = lane % 4;
    for (unsigned matrix = 0; matrix < move.count; ++matrix) {
      for (unsigned offset = 0; offset < 4; offset += bytes) {
        unsigned row = move.isTransposed ? pair * 2 + offset / 2 : group;
        unsigned column = move.isTransposed ? group : pair * 2;
        uint8_t *memory =
            access(lane, rows[matrix * 8 + row] + column * 2, bytes);
        moveBytes(memory, registers[lane] + first + matrix, offset, bytes,
                  move.isStore);
      }
    }
  }
}

void MatrixOp::execute(uint32_t *const registers[kWarpSize],
                       Access access) const {
  if (auto *product = std::get_if<MatrixProduct>(&operation))
    emulator::execute(*product, registers);
  else if (auto *move = std::get_if<FragmentMove>(&operation))
    emulator::execute(*move, registers, access);
  else if (auto *move = std::get_if<RowsMove>(&operation))
    emulator::execute(*move, registers, access);
}

} // namespace mlir::workgroup::emulator
