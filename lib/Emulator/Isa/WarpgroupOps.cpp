//===- WarpgroupOps.cpp - What four warps do together ---------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layouts are those of PTX ISA, "Shared Memory Matrix Layout" and
// "Strides"; the swizzle permutes address bits as that of tensor maps does.
//
//===----------------------------------------------------------------------===//

#include "WarpgroupOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include <algorithm>
#include <limits>
#include <vector>

namespace mlir::workgroup::emulator {

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

/// Rows or columns of a core matrix.
static constexpr unsigned kCore = 8;

MatrixDescriptor MatrixDescriptor::decode(uint64_t bits) {
  auto getOffset = [&](unsigned first) {
    constexpr uint64_t kMask = (1 << 14) - 1;
    return (bits >> first & kMask) * kChunk;
  };
  MatrixDescriptor descriptor;
  descriptor.start = getOffset(0);
  descriptor.leading = getOffset(16);
  descriptor.stride = getOffset(32);
  descriptor.baseOffset = bits >> 49 & 7;
  constexpr unsigned kSwizzles[] = {0, 3, 2, 1}; // none, 128, 64, 32 bytes
  descriptor.swizzle = kSwizzles[bits >> 62];
  return descriptor;
}

uint64_t MatrixDescriptor::permute(uint64_t address) const {
  constexpr unsigned kLineBits = 7, kChunkBits = 4;
  uint64_t mask = (uint64_t(1) << swizzle) - 1;
  return address ^ (address >> kLineBits & mask) << kChunkBits;
}

uint64_t MatrixDescriptor::getChunkByRows(unsigned row, unsigned chunk) const {
  uint64_t rowBytes = uint64_t(kChunk) << swizzle;
  uint64_t chunkBytes = swizzle ? kChunk : leading;
  return permute(start + row / kCore * stride + row % kCore * rowBytes +
                 chunk * chunkBytes);
}

uint64_t MatrixDescriptor::getChunkByColumns(unsigned column,
                                             unsigned chunk) const {
  uint64_t rowBytes = uint64_t(kChunk) << swizzle;
  uint64_t address = start + column % kCore * rowBytes;
  if (!swizzle)
    return address + chunk * stride + column / kCore * leading;
  unsigned perRow = 1u << swizzle;
  return permute(address + column / kCore * stride + chunk / perRow * leading +
                 chunk % perRow * kChunk);
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

std::optional<WarpgroupOp> WarpgroupOp::decode(llvm::StringRef name) {
  auto kind =
      llvm::StringSwitch<std::optional<Kind>>(name)
          .Case("llvm.nvvm.wgmma.fence.sync.aligned", Kind::Fence)
          .Case("llvm.nvvm.wgmma.commit_group.sync.aligned", Kind::Commit)
          .Case("llvm.nvvm.wgmma.wait_group.sync.aligned", Kind::Wait)
          .Case("llvm.nvvm.setmaxnreg.dec.sync.aligned.u32",
                Kind::ReleaseRegisters)
          .Case("llvm.nvvm.setmaxnreg.inc.sync.aligned.u32",
                Kind::RequestRegisters)
          .Default(std::nullopt);
  if (!kind)
    return std::nullopt;
  return WarpgroupOp{*kind, {}};
}

/// Parses what comes behind the name of the operation, as
/// `m64n128k16.f32.f16.f16`.
static std::optional<WgmmaOp> parseTypes(llvm::StringRef text) {
  WgmmaOp op;
  unsigned inner = 0;
  auto [shape, types] = text.split('.');
  if (!shape.consume_front("m64n") || shape.consumeInteger(10, op.n) ||
      !shape.consume_front("k") || shape.getAsInteger(10, inner))
    return std::nullopt;
  op.saturates = types.consume_front("satfinite.");
  op.saturates |= types.consume_back(".satfinite");
  llvm::SmallVector<llvm::StringRef, 3> names;
  types.split(names, '.');
  if (names.size() != 3)
    return std::nullopt;
  auto d = parseScalar(names[0]), a = parseScalar(names[1]),
       b = parseScalar(names[2]);
  if (!d || !a || !b)
    return std::nullopt;
  op.d = *d, op.a = *a, op.b = *b;
  constexpr unsigned kMostColumns = 256, kColumns = 8;
  auto isOf = [](Scalar type, std::initializer_list<Scalar> types) {
    return llvm::is_contained(types, type);
  };
  bool isSame = *a == *b;
  bool isHalf = *d == Scalar::F16, isFloat = *d == Scalar::F32;
  bool isKnown =
      (isSame && *a == Scalar::F16 && (isHalf || isFloat)) ||
      (isSame && isOf(*a, {Scalar::BF16, Scalar::TF32}) && isFloat) ||
      (isOf(*a, {Scalar::E4M3, Scalar::E5M2}) &&
       isOf(*b, {Scalar::E4M3, Scalar::E5M2}) && (isHalf || isFloat)) ||
      (isOf(*a, {Scalar::S8, Scalar::U8}) &&
       isOf(*b, {Scalar::S8, Scalar::U8}) && *d == Scalar::S32);
  if (!isKnown || op.n == 0 || op.n > kMostColumns || op.n % kColumns ||
      inner != op.getInner() || (op.saturates && *d != Scalar::S32))
    return std::nullopt;
  return op;
}

/// Splits at commas that are in no braces.
static llvm::SmallVector<llvm::StringRef> splitOperands(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef> parts;
  while (!text.empty()) {
    size_t from = text.starts_with("{") ? text.find('}') : 0;
    size_t end = text.find(',', from == llvm::StringRef::npos ? 0 : from);
    parts.push_back(text.take_front(end).trim());
    text = end == llvm::StringRef::npos ? "" : text.drop_front(end + 1).ltrim();
  }
  return parts;
}

static std::optional<AssemblyValue> parseValue(llvm::StringRef text) {
  AssemblyValue value;
  unsigned operand = 0;
  if (text.consume_front("$")) {
    if (text.getAsInteger(10, operand))
      return std::nullopt;
    value.operand = operand;
    return value;
  }
  if (text.getAsInteger(0, value.constant))
    return std::nullopt;
  return value;
}

/// Values in braces.
static bool parseValues(llvm::StringRef text,
                        llvm::SmallVectorImpl<AssemblyValue> &values) {
  if (!text.consume_front("{") || !text.consume_back("}"))
    return false;
  for (llvm::StringRef part : splitOperands(text.trim())) {
    auto value = parseValue(part);
    if (!value)
      return false;
    values.push_back(*value);
  }
  return true;
}

namespace {
/// The statements of a text of assembly.
struct Statements {
  llvm::StringRef product;
  /// A predicate and the value that it says is not zero.
  llvm::StringRef predicate, condition;

  static std::optional<Statements> parse(llvm::StringRef text);
};
} // namespace

std::optional<Statements> Statements::parse(llvm::StringRef text) {
  Statements found;
  text = text.trim();
  if (text.consume_front("{") && !text.consume_back("}"))
    return std::nullopt;
  llvm::SmallVector<llvm::StringRef> statements;
  text.split(statements, ';');
  for (llvm::StringRef statement : statements) {
    statement = statement.trim();
    if (statement.empty() || statement.starts_with(".reg .pred "))
      continue;
    if (statement.consume_front("setp.ne.b32 ")) {
      auto parts = splitOperands(statement.trim());
      if (parts.size() != 3 || parts[2] != "0" || !found.predicate.empty())
        return std::nullopt;
      found.predicate = parts[0];
      found.condition = parts[1];
      continue;
    }
    if (!statement.consume_front("wgmma.mma_async.sync.aligned.") ||
        !found.product.empty())
      return std::nullopt;
    found.product = statement;
  }
  if (found.product.empty())
    return std::nullopt;
  return found;
}

/// Fills what comes behind the descriptor of B, which only some types have.
static bool parseModifiers(llvm::ArrayRef<llvm::StringRef> rest,
                           WgmmaAssembly &assembly) {
  WgmmaOp &op = assembly.op;
  bool isFloat = getArithmetic(op.a) == Arithmetic::Float;
  bool hasLayouts = getBits(op.a) == 16;
  llvm::SmallVector<std::optional<AssemblyValue> *, 4> fields;
  if (isFloat)
    fields.append({&assembly.signA, &assembly.signB});
  if (hasLayouts && !op.hasFragmentA)
    fields.push_back(&assembly.transposeA);
  if (hasLayouts)
    fields.push_back(&assembly.transposeB);
  if (rest.size() != fields.size())
    return false;
  for (auto [field, text] : llvm::zip_equal(fields, rest))
    if (!(*field = parseValue(text)))
      return false;
  return true;
}

std::optional<WgmmaAssembly> WgmmaAssembly::decode(llvm::StringRef text) {
  auto statements = Statements::parse(text);
  if (!statements)
    return std::nullopt;
  auto [types, rest] = statements->product.split(' ');
  auto op = parseTypes(types);
  auto operands = splitOperands(rest.trim());
  constexpr size_t kLeast = 4; // D, A, B and the predicate
  if (!op || operands.size() < kLeast)
    return std::nullopt;
  WgmmaAssembly assembly;
  assembly.op = *op;
  assembly.op.hasFragmentA = operands[1].starts_with("{");
  bool hasA =
      assembly.op.hasFragmentA ? parseValues(operands[1], assembly.a) : [&] {
        auto value = parseValue(operands[1]);
        if (value)
          assembly.a.push_back(*value);
        return value.has_value();
      }();
  auto b = parseValue(operands[2]);
  auto scale =
      parseValue(operands[3] == statements->predicate ? statements->condition
                                                      : operands[3]);
  bool isWhole =
      hasA && b && scale && parseValues(operands[0], assembly.d) &&
      assembly.d.size() == op->getAccumulator().getNumRegisters() &&
      (!assembly.op.hasFragmentA ||
       assembly.a.size() == op->getFragmentA().getNumRegisters()) &&
      parseModifiers(llvm::ArrayRef(operands).drop_front(kLeast), assembly);
  if (!isWhole)
    return std::nullopt;
  assembly.b = *b;
  assembly.scale = *scale;
  return assembly;
}

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

namespace {
/// One product in numbers of type T.
template <typename T>
class Product {
public:
  Product(const WgmmaOp &op, unsigned warp, uint32_t *const registers[],
          WgmmaOp::Access access)
      : op(op), warp(warp), registers(registers), access(access),
        inner(op.getInner()), a(WgmmaOp::kRows * inner), b(inner * op.n),
        d(WgmmaOp::kRows * op.n) {}

  void run();

private:
  MatrixDescriptor getDescriptor(unsigned first) const {
    return MatrixDescriptor::decode(uint64_t(registers[0][first + 1]) << 32 |
                                    registers[0][first]);
  }
  void load(bool isB, unsigned firstRow, unsigned rows, Strides strides,
            T *matrix);

  const WgmmaOp &op;
  unsigned warp;
  uint32_t *const *registers;
  WgmmaOp::Access access;
  unsigned inner;
  std::vector<T> a, b, d;
};
} // namespace

/// Reads a matrix, of which some outer indices are wanted, by way of its
/// descriptor.
template <typename T>
void Product<T>::load(bool isB, unsigned firstRow, unsigned rows,
                      Strides strides, T *matrix) {
  MatrixDescriptor descriptor = getDescriptor(isB ? op.getRegisterOfB() : 0);
  Scalar type = isB ? op.b : op.a;
  unsigned perChunk = MatrixDescriptor::kChunk * 8 / getBits(type);
  bool isTransposed = isB ? op.isTransposedB : op.isTransposedA;
  unsigned lines = isTransposed ? inner : rows;
  unsigned chunks = (isTransposed ? rows : inner) / perChunk;
  uint64_t lineStep = isTransposed ? strides.inner : strides.outer;
  uint64_t step = isTransposed ? strides.outer : strides.inner;
  T values[MatrixDescriptor::kChunk];
  for (unsigned line = 0; line < lines; ++line)
    for (unsigned chunk = 0; chunk < chunks; ++chunk) {
      uint64_t address =
          isTransposed
              ? descriptor.getChunkByColumns(line, firstRow / perChunk + chunk)
              : descriptor.getChunkByRows(firstRow + line, chunk);
      T *to = matrix + line * lineStep + chunk * perChunk * step;
      const uint8_t *from = access(isB, address);
      if (!from)
        continue;
      unpack(type, from, perChunk, values);
      for (unsigned i = 0; i < perChunk; ++i)
        to[i * step] = values[i];
    }
}

template <typename T>
void Product<T>::run() {
  if (op.hasFragmentA)
    gather(op.getFragmentA(), registers, 0, {inner, 1}, a.data());
  else
    load(/*isB=*/false, warp * WgmmaOp::kRows, WgmmaOp::kRows, {inner, 1},
         a.data());
  load(/*isB=*/true, 0, op.n, {1, op.n}, b.data());
  if (registers[0][op.getRegisterOfScale()])
    gather(op.getAccumulator(), registers, op.getRegisterOfD(), {op.n, 1},
           d.data());
  T sign = op.negatesA != op.negatesB ? T(-1) : T(1);
  std::vector<T> sums(op.n);
  for (unsigned row = 0; row < WgmmaOp::kRows; ++row) {
    T *to = &d[row * op.n];
    // Without D, no sum of integers is too large.
    if (op.saturates)
      std::fill(sums.begin(), sums.end(), T(0));
    else
      std::copy_n(to, op.n, sums.begin());
    for (unsigned k = 0; k < inner; ++k) {
      T factor = a[row * inner + k] * sign;
      const T *from = &b[k * op.n];
      for (unsigned column = 0; column < op.n; ++column)
        sums[column] += factor * from[column];
    }
    for (unsigned column = 0; column < op.n; ++column)
      to[column] =
          op.saturates
              ? T(std::clamp<int64_t>(int64_t(int32_t(to[column])) +
                                          int32_t(sums[column]),
                                      std::numeric_limits<int32_t>::min(),
                                      std::numeric_limits<int32_t>::max()))
              : sums[column];
  }
  scatter(op.getAccumulator(), registers, {op.n, 1}, d.data());
}

void WgmmaOp::execute(unsigned warp, uint32_t *const registers[kWarpSize],
                      Access access) const {
  if (getArithmetic(a) == Arithmetic::Integer)
    Product<uint32_t>(*this, warp, registers, access).run();
  else
    Product<float>(*this, warp, registers, access).run();
}

} // namespace mlir::workgroup::emulator
