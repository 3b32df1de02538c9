//===- MathFormats.h - Half and bfloat without host support -----*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The 16-bit floating-point formats as bits. C++17 has no types for them that
// all compilers know, so that functions which take or return them declare float
// in their place: both travel in the same registers, the 16-bit format in the
// low bits.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_MATH_MATHFORMATS_H
#define WORKGROUP_LIB_EMULATOR_MATH_MATHFORMATS_H

#include "llvm/ADT/bit.h"
#include <algorithm>
#include <cmath>

namespace mlir::workgroup::emulator {

/// A format of one sign bit, `Exponent` bits and `Mantissa` bits, 16 in all.
template <unsigned Exponent, unsigned Mantissa>
struct NarrowFloat {
  static_assert(1 + Exponent + Mantissa == 16, "not a format of 16 bits");

  static constexpr uint16_t kSign = 0x8000;
  static constexpr uint16_t kInfinity = 0x8000 - (1 << Mantissa);
  static constexpr uint16_t kLargest = kInfinity - 1;
  static constexpr uint16_t kSmallestNormal = 1 << Mantissa;
  /// The bits that the device makes of any NaN.
  static constexpr uint16_t kNaN = 0x7fff;

  static bool isSubnormal(uint16_t bits) {
    return (bits & ~kSign) != 0 && (bits & kInfinity) == 0;
  }

  /// The exact value; NaN keeps its payload and becomes quiet.
  static float decode(uint16_t bits) {
    uint32_t sign = uint32_t(bits & kSign) << 16;
    uint32_t magnitude = bits & ~kSign;
    if (magnitude >= kInfinity) {
      uint32_t quiet = magnitude > kInfinity ? 1u << 22 : 0;
      return llvm::bit_cast<float>(sign | 0x7f800000 | quiet |
                                   magnitude << (23 - Mantissa));
    }
    // As a mantissa of float it has the right value but for the bias, for which
    // a product makes up, exactly. bfloat has the bias of float.
    constexpr int kBiases = 127 - ((1 << (Exponent - 1)) - 1);
    return llvm::bit_cast<float>(sign | magnitude << (23 - Mantissa)) *
           llvm::bit_cast<float>(uint32_t(127 + kBiases) << 23);
  }

  /// The closest number, of two the even one, or with `truncates` the closest
  /// that is no further from zero. NaN keeps what fits of its payload and
  /// becomes quiet.
  static uint16_t encode(double value, bool truncates = false) {
    constexpr uint64_t kImplicit = uint64_t(1) << 52;
    constexpr int kLeastExponent = 2 - (1 << (Exponent - 1));
    uint64_t bits = llvm::bit_cast<uint64_t>(value);
    uint16_t sign = bits >> 63 << 15;
    if (std::isnan(value))
      return sign | kInfinity | 1 << (Mantissa - 1) |
             ((bits >> (52 - Mantissa)) & (kSmallestNormal - 1));

    // An exponent below the least one moves the mantissa to the right instead;
    // past half of the last bit it does not matter how far.
    int exponent = int((bits >> 52) & 0x7ff) - 1023;
    uint64_t mantissa = (bits & (kImplicit - 1)) | kImplicit;
    int below = std::max(kLeastExponent - exponent, 0);
    int shift = std::min<int>(52 - Mantissa + below, 54);
    // The implicit bit adds one to the exponent of a normal number.
    uint64_t field = std::max(exponent - kLeastExponent, 0);
    uint64_t result = (field << Mantissa) + (mantissa >> shift);
    uint64_t rest = mantissa & ((uint64_t(1) << shift) - 1);
    uint64_t half = uint64_t(1) << (shift - 1);
    if (!truncates && (rest > half || (rest == half && (result & 1))))
      ++result;
    bool overflows = !truncates || std::isinf(value);
    return sign | std::min<uint64_t>(result, overflows ? kInfinity : kLargest);
  }
};

using Half = NarrowFloat<5, 10>;
using BFloat = NarrowFloat<8, 7>;

/// The bits of lane `lane` of a vector in register `value`.
inline uint16_t getLane(float value, unsigned lane = 0) {
  return uint16_t(llvm::bit_cast<uint32_t>(value) >> (16 * lane));
}

/// The register that holds these lanes.
inline float packLanes(uint16_t low, uint16_t high = 0) {
  return llvm::bit_cast<float>(uint32_t(high) << 16 | low);
}

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_MATH_MATHFORMATS_H
