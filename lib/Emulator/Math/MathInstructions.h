//===- MathInstructions.h - Arithmetic as the device does it ----*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The arithmetic that libdevice and the intrinsics share: operations in a
// rounding mode, with subnormal numbers flushed or results saturated, and
// operations on integers that C++ has no operator for.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_MATH_MATHINSTRUCTIONS_H
#define WORKGROUP_LIB_EMULATOR_MATH_MATHINSTRUCTIONS_H

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/Twine.h"
#include "llvm/ADT/bit.h"
#include <cfenv>
#include <cmath>
#include <limits>
#include <type_traits>

namespace mlir::workgroup::emulator {

/// Host functions by the names of what they compute.
using MathTable = llvm::StringMap<void *>;

/// Adds the functions of libdevice.
void addLibdevice(MathTable &table);
/// Adds the intrinsics on 32 and 64-bit floats and on integers.
void addIntrinsics(MathTable &table);
/// Adds the intrinsics on half and bfloat.
void addNarrowIntrinsics(MathTable &table);

/// Adds the host function at `address` as intrinsic `llvm.nvvm.<name>`.
inline void define(MathTable &table, const llvm::Twine &name, void *address) {
  table[("llvm.nvvm." + name).str()] = address;
}

/// The address of the overload of `function` that has this signature.
template <typename Signature>
void *hostAddress(Signature *function) {
  return reinterpret_cast<void *>(function);
}

//===----------------------------------------------------------------------===//
// Modifiers
//===----------------------------------------------------------------------===//

/// The modifiers that PTX has for operands and results of an instruction.
enum Modifiers : unsigned {
  kPlain = 0,
  /// Subnormal operands and results become zeros of their sign.
  kFlush = 1,
  /// Results are clamped to [0, 1], NaN becomes zero.
  kSaturate = 2,
  /// Results below zero become zero.
  kRelu = 4,
  /// Results out of range become the largest finite numbers, infinities too.
  kFinite = 8,
};

template <typename T>
T flushed(T value) {
  if constexpr (std::is_floating_point_v<T>)
    if (std::fpclassify(value) == FP_SUBNORMAL)
      return std::copysign(T(0), value);
  return value;
}

template <typename T>
T saturated(T value) {
  // False for NaN.
  if (!(value > 0))
    return 0;
  return value < 1 ? value : 1;
}

/// Has the thread round as `mode` says for as long as it lives.
class RoundingScope {
public:
  explicit RoundingScope(int mode) : saved(std::fegetround()) {
    std::fesetround(mode);
  }
  ~RoundingScope() { std::fesetround(saved); }
  RoundingScope(const RoundingScope &) = delete;
  RoundingScope &operator=(const RoundingScope &) = delete;

private:
  int saved;
};

/// Function `Compute` as an instruction with a rounding mode and modifiers.
template <auto Compute, int Mode, unsigned Flags>
struct Instruction;

template <typename R, typename... Ts, R (*Compute)(Ts...), int Mode,
          unsigned Flags>
struct Instruction<Compute, Mode, Flags> {
  static R computeInMode(Ts... operands) {
    if constexpr (Mode == FE_TONEAREST)
      return Compute(operands...);
    // Compilers take arithmetic to be free of the rounding mode and would move
    // it out of the scope; a call of who knows what stays.
    R (*volatile opaque)(Ts...) = Compute;
    RoundingScope scope(Mode);
    return opaque(operands...);
  }

  static R call(Ts... operands) {
    constexpr bool kFlushes = (Flags & kFlush) != 0;
    R result = computeInMode((kFlushes ? flushed(operands) : operands)...);
    if constexpr ((Flags & kSaturate) != 0)
      result = saturated(result);
    return kFlushes ? flushed(result) : result;
  }
};

/// The address of that instruction.
template <auto Compute, int Mode = FE_TONEAREST, unsigned Flags = kPlain>
void *instruction() {
  return hostAddress(&Instruction<Compute, Mode, Flags>::call);
}

//===----------------------------------------------------------------------===//
// Operations in the current rounding mode
//===----------------------------------------------------------------------===//

template <typename T>
T add(T a, T b) {
  return a + b;
}
template <typename T>
T subtract(T a, T b) {
  return a - b;
}
template <typename T>
T multiply(T a, T b) {
  return a * b;
}
template <typename T>
T divide(T a, T b) {
  return a / b;
}
template <typename T>
T multiplyAdd(T a, T b, T c) {
  return std::fma(a, b, c);
}
template <typename T>
T reciprocal(T a) {
  return 1 / a;
}
template <typename T>
T squareRoot(T a) {
  return std::sqrt(a);
}

/// A conversion to a floating-point type.
template <typename To, typename From>
To toFloat(From value) {
  if constexpr (std::is_same_v<From, uint64_t>) {
    // Compilers have sequences for these that only hold when rounding to
    // nearest. Half of a number too large for the signed conversion, the lost
    // bit kept in the last one, rounds as the whole does.
    if (value >> 63)
      return 2 * To(int64_t(value >> 1 | (value & 1)));
    return To(int64_t(value));
  } else if constexpr (std::is_same_v<From, uint32_t>) {
    return To(int64_t(value));
  } else {
    return To(value);
  }
}

/// A conversion to an integer. A value out of range becomes the closest
/// integer; NaN becomes zero if both types have 32 bits, else just the top bit.
template <typename Int, typename Float>
Int toInteger(Float value) {
  using Limits = std::numeric_limits<Int>;
  if (std::isnan(value))
    return sizeof(Int) == 4 && sizeof(Float) == 4
               ? 0
               : Int(uint64_t(1) << (8 * sizeof(Int) - 1));
  value = std::nearbyint(value);
  // Powers of two, thus exact.
  if (value < Float(Limits::min()))
    return Limits::min();
  if (value >= std::ldexp(Float(1), Limits::digits))
    return Limits::max();
  return Int(value);
}

//===----------------------------------------------------------------------===//
// Minimum and maximum
//===----------------------------------------------------------------------===//

/// The greater operand if `IsMax`, else the smaller; zeros compare by their
/// signs. One NaN is passed over, unless `KeepsNaN`. With `XorSign` of the
/// magnitudes, and the result is negative if one operand is.
template <typename T, bool IsMax, bool KeepsNaN = false, bool XorSign = false>
T extremum(T a, T b) {
  bool isNegative = std::signbit(a) != std::signbit(b);
  if constexpr (XorSign) {
    a = std::fabs(a);
    b = std::fabs(b);
  }
  if (std::isnan(a) || std::isnan(b)) {
    if (KeepsNaN || (std::isnan(a) && std::isnan(b)))
      return std::numeric_limits<T>::quiet_NaN();
    a = std::isnan(a) ? b : a;
  } else if (a == b) {
    a = std::signbit(a) == IsMax ? b : a;
  } else {
    a = (a < b) == IsMax ? b : a;
  }
  return XorSign && isNegative ? -a : a;
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

/// The upper half of the product of 32-bit integers.
template <typename Int>
Int multiplyHigh(Int a, Int b) {
  using Wide = std::conditional_t<std::is_signed_v<Int>, int64_t, uint64_t>;
  return Int(Wide(a) * Wide(b) >> 32);
}

/// The upper half of the product of 64-bit integers.
inline uint64_t multiplyHighUnsigned(uint64_t a, uint64_t b) {
  uint64_t lowA = uint32_t(a), highA = a >> 32;
  uint64_t lowB = uint32_t(b), highB = b >> 32;
  // Neither sum can overflow.
  uint64_t middle = highA * lowB + (lowA * lowB >> 32);
  uint64_t otherMiddle = lowA * highB + uint32_t(middle);
  return highA * highB + (middle >> 32) + (otherMiddle >> 32);
}
inline int64_t multiplyHighSigned(int64_t a, int64_t b) {
  uint64_t high = multiplyHighUnsigned(uint64_t(a), uint64_t(b));
  return int64_t(high - (a < 0 ? uint64_t(b) : 0) - (b < 0 ? uint64_t(a) : 0));
}

/// The low half of the product of the low 24 bits, which have a sign or not.
inline uint32_t multiply24(uint32_t a, uint32_t b) {
  return uint32_t(int64_t(int32_t(a << 8) >> 8) * (int32_t(b << 8) >> 8));
}
inline uint32_t multiply24Unsigned(uint32_t a, uint32_t b) {
  return (a & 0xffffff) * (b & 0xffffff);
}

/// |a - b| + c, which wraps around.
template <typename Int, typename Bits = std::make_unsigned_t<Int>>
Bits addDifference(Int a, Int b, Bits c) {
  return c + (a < b ? Bits(b) - Bits(a) : Bits(a) - Bits(b));
}

/// Four bytes out of eight, `a` being the low four and `b` the high ones. Each
/// of the low four digits of `selector` picks one; the top bit of a digit asks
/// for copies of the sign of that byte instead.
inline uint32_t permuteBytes(uint32_t a, uint32_t b, uint32_t selector) {
  uint64_t bytes = uint64_t(b) << 32 | a;
  uint32_t result = 0;
  for (unsigned shift = 0; shift < 32; shift += 8, selector >>= 4) {
    uint32_t byte = bytes >> (8 * (selector & 7)) & 0xff;
    if (selector & 8)
      byte = byte & 0x80 ? 0xff : 0;
    result |= byte << shift;
  }
  return result;
}

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_MATH_MATHINSTRUCTIONS_H
