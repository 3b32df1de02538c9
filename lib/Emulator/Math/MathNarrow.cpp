//===- MathNarrow.cpp - Intrinsics on half, bfloat and TF32 ---------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Intrinsics on half, bfloat and TF32, scalar and in pairs. A value is computed
// in double and rounded once to the narrow format; a fused multiply-add is
// rounded to odd first, so that the second rounding does no harm. Modifiers
// clamp, flush or cut off negative results.
//
//===----------------------------------------------------------------------===//

#include "MathFormats.h"
#include "MathInstructions.h"

namespace mlir::workgroup::emulator {

using llvm::StringRef;
using llvm::Twine;

//===----------------------------------------------------------------------===//
// Conversions of float
//===----------------------------------------------------------------------===//

/// The bits of `value`, rounded to `Format`, for an instruction with modifiers.
template <typename Format, unsigned Flags>
static uint16_t finish(double value, bool truncates = false) {
  if constexpr ((Flags & kSaturate) != 0)
    value = saturated(value);
  if (std::isnan(value))
    return Format::kNaN;
  if ((Flags & kRelu) && !(value > 0))
    return 0;
  uint16_t bits = Format::encode(value, truncates);
  uint16_t sign = bits & Format::kSign;
  if ((Flags & kFlush) && Format::isSubnormal(bits))
    return sign;
  if ((Flags & kFinite) && (bits & ~Format::kSign) == Format::kInfinity)
    return sign | Format::kLargest;
  return bits;
}

template <typename Format, bool Truncates, unsigned Flags>
static float convert(float value) {
  return packLanes(finish<Format, Flags>(value, Truncates));
}

/// As in PTX, the first operand becomes the upper element.
template <typename Format, bool Truncates, unsigned Flags>
static float convertPair(float high, float low) {
  return packLanes(finish<Format, Flags>(low, Truncates),
                   finish<Format, Flags>(high, Truncates));
}

template <typename Format, unsigned Flags>
static void addNarrowing(MathTable &table, StringRef format, StringRef suffix) {
  define(table, "f2" + format + ".rn" + suffix,
         hostAddress(convert<Format, false, Flags>));
  define(table, "f2" + format + ".rz" + suffix,
         hostAddress(convert<Format, true, Flags>));
  define(table, "ff2" + format + "x2.rn" + suffix,
         hostAddress(convertPair<Format, false, Flags>));
  define(table, "ff2" + format + "x2.rz" + suffix,
         hostAddress(convertPair<Format, true, Flags>));
}

/// The conversion to half that returns it as an integer.
template <unsigned Flags>
static uint32_t convertToBits(float value) {
  return finish<Half, kPlain>((Flags & kFlush) ? flushed(value) : value);
}

namespace {
enum class TF32Rounding { NearestEven, NearestAway, Zero };
} // namespace

/// `value` in the upper bits of a float, the ones that TF32 ignores cleared.
template <TF32Rounding Mode, unsigned Flags>
static uint32_t convertToTF32(float value) {
  constexpr uint32_t kInfinity = 0x7f800000, kIgnored = 0x1fff;
  if (std::isnan(value))
    return 0x7fffffff;
  uint32_t bits = llvm::bit_cast<uint32_t>(value);
  uint32_t sign = bits & 0x80000000, magnitude = bits & 0x7fffffff;
  if ((Flags & kRelu) && sign)
    return 0;
  if (Mode == TF32Rounding::NearestEven)
    magnitude += (kIgnored >> 1) + ((magnitude >> 13) & 1);
  else if (Mode == TF32Rounding::NearestAway)
    magnitude += (kIgnored >> 1) + 1;
  magnitude &= ~kIgnored;
  if ((Flags & kFinite) && magnitude >= kInfinity)
    magnitude = (kInfinity - 1) & ~kIgnored;
  return sign | magnitude;
}

template <unsigned Flags>
static void addConversions(MathTable &table, StringRef suffix) {
  addNarrowing<Half, Flags>(table, "f16", suffix);
  addNarrowing<BFloat, Flags>(table, "bf16", suffix);
  define(table, Twine("f2tf32.rn") + suffix,
         hostAddress(convertToTF32<TF32Rounding::NearestEven, Flags>));
  define(table, Twine("f2tf32.rz") + suffix,
         hostAddress(convertToTF32<TF32Rounding::Zero, Flags>));
  if constexpr ((Flags & kRelu) == 0)
    define(table, Twine("f2tf32.rna") + suffix,
           hostAddress(convertToTF32<TF32Rounding::NearestAway, Flags>));
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

namespace {

/// Function `Compute`, on values that double holds, as an instruction on
/// vectors of `Lanes` elements in `Format`.
template <typename Format, unsigned Lanes, auto Compute, unsigned Flags>
struct NarrowInstruction;

/// The type of the register for an operand.
template <typename>
using RegisterFor = float;

template <typename Format, unsigned Lanes, typename R, typename... Ts,
          R (*Compute)(Ts...), unsigned Flags>
struct NarrowInstruction<Format, Lanes, Compute, Flags> {
  static float read(uint16_t bits) {
    if ((Flags & kFlush) && Format::isSubnormal(bits))
      bits &= Format::kSign;
    return Format::decode(bits);
  }

  static float call(RegisterFor<Ts>... operands) {
    uint16_t results[2] = {};
    for (unsigned lane = 0; lane < Lanes; ++lane)
      results[lane] =
          finish<Format, Flags>(Compute(Ts(read(getLane(operands, lane)))...));
    return packLanes(results[0], results[1]);
  }
};

} // namespace

/// a * b + c, rounded to an odd last bit if it is inexact: that bit then tells
/// a later rounding to fewer bits all that it has to know.
static double multiplyAddToOdd(double a, double b, double c) {
  // Products of the narrow formats are exact.
  double product = a * b;
  double sum = product + c;
  double part = sum - product;
  double error = (product - (sum - part)) + (c - part);
  uint64_t bits = llvm::bit_cast<uint64_t>(sum);
  if (!std::isfinite(sum) || error == 0 || (bits & 1))
    return sum;
  bool isTooSmall = (error > 0) == (sum > 0);
  return llvm::bit_cast<double>(isTooSmall ? bits + 1 : bits - 1);
}

static float negate(float value) { return -value; }
static float getMagnitude(float value) { return std::fabs(value); }
static float exponential2(float value) { return std::exp2(value); }

/// Function `Compute` as `<name><suffix>` for scalars and for vectors of two.
template <typename Format, auto Compute, unsigned Flags = kPlain>
static void addInstruction(MathTable &table, const Twine &name,
                           StringRef scalar, StringRef vector) {
  define(table, name + scalar,
         hostAddress(NarrowInstruction<Format, 1, Compute, Flags>::call));
  define(table, name + vector,
         hostAddress(NarrowInstruction<Format, 2, Compute, Flags>::call));
}

namespace {
/// What the names of intrinsics on a format end in; those of overloaded ones
/// have vectors of another name.
struct FormatNames {
  StringRef scalar, vector, overloadedVector;
};
} // namespace

template <typename Format, bool IsMax, bool KeepsNaN, bool XorSign>
static void addExtremum(MathTable &table, StringRef name, StringRef suffix,
                        const FormatNames &names) {
  constexpr auto kCompute = extremum<float, IsMax, KeepsNaN, XorSign>;
  addInstruction<Format, kCompute>(table, name + suffix, names.scalar,
                                   names.vector);
  addInstruction<Format, kCompute, kFlush>(table, name + Twine(".ftz") + suffix,
                                           names.scalar, names.vector);
}

template <typename Format, bool IsMax>
static void addExtrema(MathTable &table, StringRef name,
                       const FormatNames &names) {
  addExtremum<Format, IsMax, false, false>(table, name, "", names);
  addExtremum<Format, IsMax, true, false>(table, name, ".nan", names);
  addExtremum<Format, IsMax, false, true>(table, name, ".xorsign.abs", names);
  addExtremum<Format, IsMax, true, true>(table, name, ".nan.xorsign.abs",
                                         names);
}

template <typename Format, unsigned Flags>
static void addMultiplyAdd(MathTable &table, StringRef suffix,
                           const FormatNames &names) {
  addInstruction<Format, multiplyAddToOdd, Flags>(table, "fma.rn" + suffix,
                                                  names.scalar, names.vector);
  addInstruction<Format, multiplyAddToOdd, Flags | kFlush>(
      table, "fma.rn.ftz" + suffix, names.scalar, names.vector);
}

template <typename Format>
static void addArithmetic(MathTable &table, const FormatNames &names) {
  addExtrema<Format, true>(table, "fmax", names);
  addExtrema<Format, false>(table, "fmin", names);
  addMultiplyAdd<Format, kPlain>(table, "", names);
  addMultiplyAdd<Format, kRelu>(table, ".relu", names);
  addMultiplyAdd<Format, kSaturate>(table, ".sat", names);
  addInstruction<Format, getMagnitude>(table, "fabs", names.scalar,
                                       names.overloadedVector);
  addInstruction<Format, getMagnitude, kFlush>(table, "fabs.ftz", names.scalar,
                                               names.overloadedVector);
  addInstruction<Format, exponential2>(table, "ex2.approx", names.scalar,
                                       names.overloadedVector);
  addInstruction<Format, exponential2, kFlush>(
      table, "ex2.approx.ftz", names.scalar, names.overloadedVector);
}

void addNarrowIntrinsics(MathTable &table) {
  addConversions<kPlain>(table, "");
  addConversions<kRelu>(table, ".relu");
  addConversions<kFinite>(table, ".satfinite");
  addConversions<kRelu | kFinite>(table, ".relu.satfinite");
  define(table, "f2h.rn", hostAddress(convertToBits<kPlain>));
  define(table, "f2h.rn.ftz", hostAddress(convertToBits<kFlush>));
  addArithmetic<Half>(table, {".f16", ".f16x2", ".v2f16"});
  addArithmetic<BFloat>(table, {".bf16", ".bf16x2", ".v2bf16"});
  addInstruction<BFloat, negate>(table, "neg", ".bf16", ".bf16x2");
}

} // namespace mlir::workgroup::emulator
