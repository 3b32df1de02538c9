//===- MatrixFragments.cpp - Matrices in the lanes of a warp --------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MatrixFragments.h"
#include "llvm/ADT/bit.h"
#include <algorithm>
#include <cstring>
#include <iterator>
#include <type_traits>

namespace mlir::workgroup::emulator {

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

namespace {

struct ScalarInfo {
  llvm::StringLiteral name;
  unsigned bits;
  Arithmetic arithmetic;
};

} // namespace

/// In the order of Scalar.
static constexpr ScalarInfo kScalars[] = {
    {"f16", 16, Arithmetic::Float},   {"bf16", 16, Arithmetic::Float},
    {"tf32", 32, Arithmetic::Float},  {"f32", 32, Arithmetic::Float},
    {"f64", 64, Arithmetic::Double},  {"e4m3", 8, Arithmetic::Float},
    {"e5m2", 8, Arithmetic::Float},   {"s8", 8, Arithmetic::Integer},
    {"u8", 8, Arithmetic::Integer},   {"s4", 4, Arithmetic::Integer},
    {"u4", 4, Arithmetic::Integer},   {"b1", 1, Arithmetic::Integer},
    {"s32", 32, Arithmetic::Integer},
};

std::optional<Scalar> parseScalar(llvm::StringRef name) {
  for (unsigned index = 0; index < std::size(kScalars); ++index)
    if (kScalars[index].name == name)
      return Scalar(index);
  return std::nullopt;
}

unsigned getBits(Scalar type) { return kScalars[unsigned(type)].bits; }

Arithmetic getArithmetic(Scalar type) {
  return kScalars[unsigned(type)].arithmetic;
}

Scalar getAccumulatorType(Scalar operand) {
  switch (getArithmetic(operand)) {
  case Arithmetic::Float:
    return Scalar::F32;
  case Arithmetic::Double:
    return Scalar::F64;
  case Arithmetic::Integer:
    break;
  }
  return Scalar::S32;
}

//===----------------------------------------------------------------------===//
// Fragment
//===----------------------------------------------------------------------===//

/// The outer indices, and the groups of inner ones, that the lanes of a warp
/// cover together.
static constexpr unsigned kTileOuter = 8, kTileGroups = kWarpSize / kTileOuter;

Fragment Fragment::getOperand(Scalar type, unsigned outer, unsigned inner,
                              bool isWmma) {
  Fragment fragment{type, outer, inner};
  fragment.width = std::max(1u, 32 / getBits(type));
  fragment.numElements = fragment.getShare();
  // With wmma, halves take as many registers as the largest shape needs.
  if (isWmma && type == Scalar::F16)
    fragment.numElements = std::max(fragment.numElements, 16u);
  return fragment;
}

Fragment Fragment::getAccumulator(Scalar type, unsigned rows,
                                  unsigned columns) {
  Fragment fragment{type, rows, columns};
  fragment.width = 2;
  fragment.numElements = fragment.getShare();
  return fragment;
}

bool Fragment::isValid() const {
  return outer && inner && outer % kTileOuter == 0 &&
         inner % (kTileGroups * width) == 0;
}

unsigned Fragment::getNumRegisters() const {
  return numElements * getBits(type) / 32;
}

uint64_t Fragment::getLaneOffset(unsigned lane, Strides strides) const {
  return lane / kTileGroups * strides.outer +
         lane % kTileGroups * width * strides.inner;
}

uint64_t Fragment::getElementOffset(unsigned element, Strides strides) const {
  unsigned tiles = outer / kTileOuter;
  unsigned position = element % getShare(), group = position / width;
  return group % tiles * kTileOuter * strides.outer +
         (group / tiles * kTileGroups * width + position % width) *
             strides.inner;
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// The floating-point number in the low bits of `bits`: a sign, `Exponent` bits
/// of exponent with the usual bias, `Mantissa` bits of mantissa. If `IsFinite`,
/// there are no infinities and but one NaN, all ones.
template <unsigned Exponent, unsigned Mantissa, bool IsFinite = false>
static float expand(uint32_t bits) {
  constexpr uint32_t bias = (1u << (Exponent - 1)) - 1;
  constexpr uint32_t mask = (1u << (Exponent + Mantissa)) - 1;
  constexpr uint32_t limit =
      IsFinite ? mask : ((1u << Exponent) - 1) << Mantissa;
  constexpr uint32_t rebias = (127 - bias) << 23;
  // The weight of the last bit of a subnormal number.
  float ulp = llvm::bit_cast<float>((128 - bias - Mantissa) << 23);
  uint32_t magnitude = bits & mask;
  uint32_t sign = (bits >> (Exponent + Mantissa) & 1) << 31;
  uint32_t normal = (magnitude << (23 - Mantissa)) + rebias;
  uint32_t subnormal =
      llvm::bit_cast<uint32_t>(float(int32_t(magnitude)) * ulp);
  uint32_t result = magnitude >> Mantissa ? normal : subnormal;
  // The exponent of infinities and NaNs is all ones before and after.
  result |= magnitude >= limit ? 0x7f800000 : 0;
  return llvm::bit_cast<float>(result | sign);
}

/// The half nearest to `value`, ties to even; the canonical NaN of PTX for NaN.
static uint32_t roundToHalf(float value) {
  constexpr uint32_t infinity = 0x7f800000, overflow = 0x477ff000;
  constexpr uint32_t smallestNormal = 0x38800000, rebias = 112u << 23;
  uint32_t bits = llvm::bit_cast<uint32_t>(value);
  uint32_t magnitude = bits & 0x7fffffff, sign = bits >> 16 & 0x8000;
  if (magnitude > infinity)
    return 0x7fff;
  if (magnitude >= overflow)
    return sign | 0x7c00;
  if (magnitude < smallestNormal) {
    // The last bit of 0.5 weighs as much as that of a subnormal half: the sum
    // is rounded where it has to be.
    float sum = llvm::bit_cast<float>(magnitude) + 0.5f;
    return sign |
           (llvm::bit_cast<uint32_t>(sum) - llvm::bit_cast<uint32_t>(0.5f));
  }
  uint32_t isOdd = magnitude >> 13 & 1;
  return sign | (magnitude - rebias + 0xfff + isOdd) >> 13;
}

namespace {

/// What lanes contribute to the offsets of their elements, as these are alike
/// otherwise.
struct LaneOffsets {
  LaneOffsets(const Fragment &fragment, Strides strides) {
    for (unsigned lane = 0; lane < kWarpSize; ++lane)
      offsets[lane] = fragment.getLaneOffset(lane, strides);
  }

  uint32_t operator[](unsigned lane) const { return offsets[lane]; }

private:
  uint32_t offsets[kWarpSize];
};

} // namespace

/// Lets `decode` convert each element, given in the low bits of a word whose
/// other bits are to be ignored.
template <unsigned Bits, typename T, typename Decode>
static void gatherWith(const Fragment &fragment,
                       const uint32_t *const registers[], unsigned first,
                       Strides strides, T *matrix, Decode decode) {
  LaneOffsets offsets(fragment, strides);
  for (unsigned element = 0; element < fragment.getShare(); ++element) {
    T *to = matrix + fragment.getElementOffset(element, strides);
    unsigned index = first + element * Bits / 32, shift = element * Bits % 32;
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      const uint32_t *from = registers[lane] + index;
      if constexpr (Bits == 64)
        to[offsets[lane]] = decode(from[0] | uint64_t(from[1]) << 32);
      else
        to[offsets[lane]] = decode(*from >> shift);
    }
  }
}

/// Lets `encode` convert each element to the low bits of a word whose other
/// bits are zero.
template <unsigned Bits, typename T, typename Encode>
static void scatterWith(const Fragment &fragment, uint32_t *const registers[],
                        Strides strides, const T *matrix, Encode encode) {
  LaneOffsets offsets(fragment, strides);
  for (unsigned element = 0; element < fragment.numElements; ++element) {
    const T *from = matrix + fragment.getElementOffset(element, strides);
    unsigned index = element * Bits / 32, shift = element * Bits % 32;
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      uint32_t *to = registers[lane] + index;
      auto word = encode(from[offsets[lane]]);
      // The first element of a register clears the others.
      *to = uint32_t(word) << shift | (shift ? *to : 0);
      if constexpr (Bits == 64)
        to[1] = word >> 32;
    }
  }
}

/// Calls `use` with the bits of an element of `type`, and with the function
/// that makes a float of them.
template <typename Use>
static void withFloats(Scalar type, Use use) {
  using Bits8 = std::integral_constant<unsigned, 8>;
  using Bits16 = std::integral_constant<unsigned, 16>;
  using Bits32 = std::integral_constant<unsigned, 32>;
  switch (type) {
  case Scalar::F16:
    return use(Bits16(), [](uint32_t word) { return expand<5, 10>(word); });
  case Scalar::BF16:
    return use(Bits16(),
               [](uint32_t word) { return llvm::bit_cast<float>(word << 16); });
  case Scalar::TF32:
    // Hardware ignores the bits of float that tf32 does not have.
    return use(Bits32(), [](uint32_t word) {
      return llvm::bit_cast<float>(word >> 13 << 13);
    });
  case Scalar::E4M3:
    return use(Bits8(), [](uint32_t word) {
      return expand<4, 3, /*IsFinite=*/true>(word);
    });
  case Scalar::E5M2:
    return use(Bits8(), [](uint32_t word) { return expand<5, 2>(word); });
  default:
    return use(Bits32(),
               [](uint32_t word) { return llvm::bit_cast<float>(word); });
  }
}

/// The same for integers modulo 2^32.
template <typename Use>
static void withIntegers(Scalar type, Use use) {
  using Bits1 = std::integral_constant<unsigned, 1>;
  using Bits4 = std::integral_constant<unsigned, 4>;
  using Bits8 = std::integral_constant<unsigned, 8>;
  using Bits32 = std::integral_constant<unsigned, 32>;
  switch (type) {
  case Scalar::S8:
    return use(Bits8(), [](uint32_t word) { return int8_t(word); });
  case Scalar::U8:
    return use(Bits8(), [](uint32_t word) { return uint8_t(word); });
  case Scalar::S4:
    return use(Bits4(), [](uint32_t word) { return int8_t(word << 4) >> 4; });
  case Scalar::U4:
    return use(Bits4(), [](uint32_t word) { return word & 15; });
  case Scalar::B1:
    return use(Bits1(), [](uint32_t word) { return word & 1; });
  default:
    return use(Bits32(), [](uint32_t word) { return word; });
  }
}

void gather(const Fragment &fragment, const uint32_t *const registers[],
            unsigned first, Strides strides, float *matrix) {
  withFloats(fragment.type, [&](auto bits, auto decode) {
    gatherWith<bits.value>(fragment, registers, first, strides, matrix, decode);
  });
}

void gather(const Fragment &fragment, const uint32_t *const registers[],
            unsigned first, Strides strides, double *matrix) {
  gatherWith<64>(fragment, registers, first, strides, matrix,
                 [](uint64_t word) { return llvm::bit_cast<double>(word); });
}

void gather(const Fragment &fragment, const uint32_t *const registers[],
            unsigned first, Strides strides, uint32_t *matrix) {
  withIntegers(fragment.type, [&](auto bits, auto decode) {
    gatherWith<bits.value>(fragment, registers, first, strides, matrix, decode);
  });
}

/// Lets `decode` convert elements of `Bits` bits, which may be less than a byte
/// for types that no memory holds.
template <unsigned Bits, typename T, typename Decode>
static void unpackWith(const uint8_t *memory, unsigned count, T *values,
                       Decode decode) {
  constexpr unsigned kBytes = Bits < 8 ? 1 : Bits / 8;
  for (unsigned i = 0; i < count; ++i) {
    uint32_t word = 0;
    std::memcpy(&word, memory + i * kBytes, kBytes);
    values[i] = decode(word);
  }
}

uint16_t packNarrow(Scalar type, float value) {
  if (type == Scalar::F16)
    return roundToHalf(value);
  uint32_t bits = llvm::bit_cast<uint32_t>(value);
  if (value != value)
    return 0x7fff;
  return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

void unpack(Scalar type, const uint8_t *memory, unsigned count, float *values) {
  withFloats(type, [&](auto bits, auto decode) {
    unpackWith<bits.value>(memory, count, values, decode);
  });
}

void unpack(Scalar type, const uint8_t *memory, unsigned count,
            uint32_t *values) {
  withIntegers(type, [&](auto bits, auto decode) {
    unpackWith<bits.value>(memory, count, values, decode);
  });
}

void scatter(const Fragment &fragment, uint32_t *const registers[],
             Strides strides, const float *matrix) {
  if (fragment.type == Scalar::F16)
    return scatterWith<16>(fragment, registers, strides, matrix, roundToHalf);
  scatterWith<32>(fragment, registers, strides, matrix,
                  [](float value) { return llvm::bit_cast<uint32_t>(value); });
}

void scatter(const Fragment &fragment, uint32_t *const registers[],
             Strides strides, const double *matrix) {
  scatterWith<64>(fragment, registers, strides, matrix,
                  [](double value) { return llvm::bit_cast<uint64_t>(value); });
}

void scatter(const Fragment &fragment, uint32_t *const registers[],
             Strides strides, const uint32_t *matrix) {
  scatterWith<32>(fragment, registers, strides, matrix,
                  [](uint32_t value) { return value; });
}

} // namespace mlir::workgroup::emulator
