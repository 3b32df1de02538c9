//===- MathIntrinsics.cpp - Intrinsics on floats and integers -------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A table from names of `llvm.nvvm.*` intrinsics on scalars to host functions:
// arithmetic with a rounding mode, conversions, extrema, bit fields,
// permutations of bytes, dot products. Modifiers (`.ftz`, `.sat`) are
// parameters of templates; results are those of the PTX ISA, bit for bit where
// it defines them.
//
//===----------------------------------------------------------------------===//

#include "MathInstructions.h"
#include "MathSpecial.h"
#include <algorithm>

namespace mlir::workgroup::emulator {

using llvm::StringRef;
using llvm::Twine;

//===----------------------------------------------------------------------===//
// Instructions with a rounding mode
//===----------------------------------------------------------------------===//

/// Function `Compute` as `<name>.rn<suffix>` and the like.
template <auto Compute, unsigned Flags = kPlain>
static void addRounded(MathTable &table, StringRef name, StringRef suffix) {
  define(table, name + Twine(".rn") + suffix,
         instruction<Compute, FE_TONEAREST, Flags>());
  define(table, name + Twine(".rz") + suffix,
         instruction<Compute, FE_TOWARDZERO, Flags>());
  define(table, name + Twine(".rm") + suffix,
         instruction<Compute, FE_DOWNWARD, Flags>());
  define(table, name + Twine(".rp") + suffix,
         instruction<Compute, FE_UPWARD, Flags>());
}

template <auto Float, auto Double>
static void addArithmetic(MathTable &table, StringRef name) {
  addRounded<Float>(table, name, ".f");
  addRounded<Float, kFlush>(table, name, ".ftz.f");
  addRounded<Double>(table, name, ".d");
}

template <auto Float>
static void addSaturating(MathTable &table, StringRef name) {
  addRounded<Float, kSaturate>(table, name, ".sat.f");
  addRounded<Float, kFlush | kSaturate>(table, name, ".ftz.sat.f");
}

static void addRoundedArithmetic(MathTable &table) {
  addArithmetic<add<float>, add<double>>(table, "add");
  addArithmetic<multiply<float>, multiply<double>>(table, "mul");
  addArithmetic<divide<float>, divide<double>>(table, "div");
  addArithmetic<multiplyAdd<float>, multiplyAdd<double>>(table, "fma");
  addArithmetic<reciprocal<float>, reciprocal<double>>(table, "rcp");
  addArithmetic<squareRoot<float>, squareRoot<double>>(table, "sqrt");
  addSaturating<add<float>>(table, "add");
  addSaturating<multiplyAdd<float>>(table, "fma");
}

template <typename Int>
static void addIntegerConversions(MathTable &table, StringRef type) {
  addRounded<toInteger<Int, float>>(table, ("f2" + type).str(), "");
  addRounded<toInteger<Int, float>, kFlush>(table, ("f2" + type).str(), ".ftz");
  addRounded<toInteger<Int, double>>(table, ("d2" + type).str(), "");
  addRounded<toFloat<float, Int>>(table, (type + "2f").str(), "");
  addRounded<toFloat<double, Int>>(table, (type + "2d").str(), "");
}

static double joinHalves(uint32_t low, uint32_t high) {
  return llvm::bit_cast<double>(uint64_t(high) << 32 | low);
}

template <unsigned Shift>
static uint32_t getHalf(double x) {
  return uint32_t(llvm::bit_cast<uint64_t>(x) >> Shift);
}

static void addConversions(MathTable &table) {
  addIntegerConversions<int32_t>(table, "i");
  addIntegerConversions<uint32_t>(table, "ui");
  addIntegerConversions<int64_t>(table, "ll");
  addIntegerConversions<uint64_t>(table, "ull");
  addRounded<toFloat<float, double>>(table, "d2f", "");
  addRounded<toFloat<float, double>, kFlush>(table, "d2f", ".ftz");
  define(table, "lohi.i2d", hostAddress(joinHalves));
  define(table, "d2i.lo", hostAddress(getHalf<0>));
  define(table, "d2i.hi", hostAddress(getHalf<32>));
}

//===----------------------------------------------------------------------===//
// Other floating-point instructions
//===----------------------------------------------------------------------===//

/// A function of any floating-point type, by its overload for `T`.
#define OVERLOAD(NAME, FUNCTION)                                               \
  template <typename T>                                                        \
  static T NAME(T x) {                                                         \
    return FUNCTION(x);                                                        \
  }
OVERLOAD(roundUp, std::ceil)
OVERLOAD(roundDown, std::floor)
OVERLOAD(roundToZero, std::trunc)
OVERLOAD(roundToEven, std::nearbyint)
OVERLOAD(magnitude, std::fabs)
OVERLOAD(exponential2, std::exp2)
OVERLOAD(logarithm2, std::log2)
OVERLOAD(sine, std::sin)
OVERLOAD(cosine, std::cos)
OVERLOAD(identity, )
#undef OVERLOAD

template <typename T>
static T reciprocalRoot(T x) {
  return T(rsqrt(x));
}

/// `Float` as `<name><suffix>` and `<name>.ftz<suffix>`.
template <auto Float>
static void addFlushing(MathTable &table, StringRef name, StringRef suffix) {
  define(table, name + Twine(suffix), hostAddress(Float));
  define(table, name + Twine(".ftz") + suffix,
         instruction<Float, FE_TONEAREST, kFlush>());
}

template <auto Float, auto Double>
static void addUnary(MathTable &table, StringRef name, StringRef float32 = ".f",
                     StringRef float64 = ".d") {
  addFlushing<Float>(table, name, float32);
  define(table, name + Twine(float64), hostAddress(Double));
}

static void addUnaries(MathTable &table) {
  addUnary<roundUp<float>, roundUp<double>>(table, "ceil");
  addUnary<roundDown<float>, roundDown<double>>(table, "floor");
  addUnary<roundToZero<float>, roundToZero<double>>(table, "trunc");
  addUnary<roundToEven<float>, roundToEven<double>>(table, "round");
  addUnary<magnitude<float>, magnitude<double>>(table, "fabs", ".f32", ".f64");
  addUnary<saturated<float>, saturated<double>>(table, "saturate");
  addUnary<logarithm2<float>, logarithm2<double>>(table, "lg2.approx");
  addUnary<reciprocalRoot<float>, reciprocalRoot<double>>(table,
                                                          "rsqrt.approx");
  addFlushing<exponential2<float>>(table, "ex2.approx", ".f32");
  addFlushing<sine<float>>(table, "sin.approx", ".f");
  addFlushing<cosine<float>>(table, "cos.approx", ".f");
  addFlushing<squareRoot<float>>(table, "sqrt.approx", ".f");
  addFlushing<divide<float>>(table, "div.approx", ".f");
  addFlushing<divide<float>>(table, "div.full", "");
  define(table, "sqrt.f", hostAddress(squareRoot<float>));
  define(table, "rsqrt.approx.ftz.d",
         instruction<reciprocalRoot<double>, FE_TONEAREST, kFlush>());
  define(table, "rcp.approx.ftz.f",
         instruction<reciprocal<float>, FE_TONEAREST, kFlush>());
  define(table, "rcp.approx.ftz.d",
         instruction<reciprocal<double>, FE_TONEAREST, kFlush>());
  define(table, "move.float", hostAddress(identity<float>));
  define(table, "move.double", hostAddress(identity<double>));
}

template <bool IsMax>
static void addExtrema(MathTable &table, StringRef name) {
  define(table, name + Twine(".d"), hostAddress(extremum<double, IsMax>));
  addFlushing<extremum<float, IsMax>>(table, name, ".f");
  addFlushing<extremum<float, IsMax, true>>(table, name, ".nan.f");
  addFlushing<extremum<float, IsMax, false, true>>(table, name,
                                                   ".xorsign.abs.f");
  addFlushing<extremum<float, IsMax, true, true>>(table, name,
                                                  ".nan.xorsign.abs.f");
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

// Integers of 16 bits come with anything in the rest of their registers.

template <typename Narrow>
static uint32_t multiplyHigh16(uint32_t a, uint32_t b) {
  return uint16_t(uint32_t(Narrow(a) * int64_t(Narrow(b))) >> 16);
}

template <typename Narrow>
static uint32_t addDifference16(uint32_t a, uint32_t b, uint32_t c) {
  return uint16_t(addDifference<int32_t>(Narrow(a), Narrow(b), c));
}

/// A mode of prmt: `selector` picks one of four selections.
template <uint16_t S0, uint16_t S1, uint16_t S2, uint16_t S3>
static uint32_t permute(uint32_t a, uint32_t b, uint32_t selector) {
  constexpr uint16_t kSelections[] = {S0, S1, S2, S3};
  return permuteBytes(a, b, kSelections[selector & 3]);
}

/// Modes that look at the bytes of one operand only.
template <uint16_t S0, uint16_t S1, uint16_t S2, uint16_t S3>
static uint32_t permuteOne(uint32_t a, uint32_t selector) {
  return permute<S0, S1, S2, S3>(a, 0, selector);
}

static void addPermutations(MathTable &table) {
  define(table, "prmt", hostAddress(permuteBytes));
  define(table, "prmt.f4e",
         hostAddress(permute<0x3210, 0x4321, 0x5432, 0x6543>));
  define(table, "prmt.b4e",
         hostAddress(permute<0x5670, 0x6701, 0x7012, 0x0123>));
  define(table, "prmt.rc8",
         hostAddress(permuteOne<0x0000, 0x1111, 0x2222, 0x3333>));
  define(table, "prmt.ecl",
         hostAddress(permuteOne<0x3210, 0x3211, 0x3222, 0x3333>));
  define(table, "prmt.ecr",
         hostAddress(permuteOne<0x0000, 0x1110, 0x2210, 0x3210>));
  define(table, "prmt.rc16",
         hostAddress(permuteOne<0x1010, 0x3232, 0x1010, 0x3232>));
}

/// The sum of products of the `Bits` wide parts of `a` with as many bytes of
/// `b`, from the byte `first` on, and of `c`.
template <typename PartA, typename PartB>
static uint32_t addProducts(uint32_t a, uint32_t b, unsigned first,
                            uint32_t c) {
  constexpr unsigned kBits = 8 * sizeof(PartA);
  for (unsigned i = 0; i < 32 / kBits; ++i)
    c += uint32_t(PartA(a >> (i * kBits)) * PartB(b >> (8 * (first + i))));
  return c;
}

template <typename PartA, typename PartB>
static uint32_t dotProduct4(uint32_t a, uint32_t b, uint32_t c) {
  return addProducts<PartA, PartB>(a, b, 0, c);
}

template <typename PartA, typename PartB>
static uint32_t dotProduct2(uint32_t a, uint32_t b, uint32_t isHigh,
                            uint32_t c) {
  return addProducts<PartA, PartB>(a, b, isHigh & 1 ? 2 : 0, c);
}

static void addDotProducts(MathTable &table) {
  define(table, "idp4a.s.s", hostAddress(dotProduct4<int8_t, int8_t>));
  define(table, "idp4a.s.u", hostAddress(dotProduct4<int8_t, uint8_t>));
  define(table, "idp4a.u.s", hostAddress(dotProduct4<uint8_t, int8_t>));
  define(table, "idp4a.u.u", hostAddress(dotProduct4<uint8_t, uint8_t>));
  define(table, "idp2a.s.s", hostAddress(dotProduct2<int16_t, int8_t>));
  define(table, "idp2a.s.u", hostAddress(dotProduct2<int16_t, uint8_t>));
  define(table, "idp2a.u.s", hostAddress(dotProduct2<uint16_t, int8_t>));
  define(table, "idp2a.u.u", hostAddress(dotProduct2<uint16_t, uint8_t>));
}

/// `count` ones from bit `position` on. Numbers of 32 and more count modulo 32
/// or, with `Clamps`, reach past the last bit.
template <bool Clamps>
static uint32_t makeMask(uint32_t position, uint32_t count) {
  position = Clamps ? std::min(position, 32u) : position & 31;
  count = Clamps ? std::min(count, 32u) : count & 31;
  return uint32_t(((uint64_t(1) << count) - 1) << position);
}

/// The low `count` bits of `value`, extended to all with a sign or with zeros.
/// Numbers of 32 and more count modulo 32 or, with `Clamps`, take all bits.
template <bool Clamps, bool IsSigned>
static uint32_t extend(uint32_t value, uint32_t count) {
  if (Clamps && count >= 32)
    return value;
  count &= 31;
  uint32_t low = value & ((1u << count) - 1);
  bool isNegative = IsSigned && count != 0 && low >> (count - 1);
  return isNegative ? low | ~0u << count : low;
}

/// The position of the highest bit of `value` that is not a copy of its sign or
/// how far that bit is from the top; all ones if there is no such bit.
template <typename Int>
static uint32_t findHighest(Int value, uint32_t isDistance) {
  using Bits = std::make_unsigned_t<Int>;
  auto bits = Bits(value < 0 ? ~value : value);
  if (bits == 0)
    return ~0u;
  uint32_t distance = llvm::countl_zero(bits);
  return isDistance & 1 ? distance : 8 * sizeof(Int) - 1 - distance;
}

/// The position of the set bit of `mask` that is the `offset`th one when
/// counting from bit `base` on, downwards if negative; all ones if there is
/// none. With an offset of zero only bit `base` itself will do.
static uint32_t findNthSet(uint32_t mask, uint32_t base, int32_t offset) {
  int64_t left = offset == 0 ? 1 : std::abs(int64_t(offset));
  for (int64_t i = base; i >= 0 && i < 32; i += offset < 0 ? -1 : 1) {
    if ((mask >> i & 1) && --left == 0)
      return uint32_t(i);
    if (offset == 0)
      break;
  }
  return ~0u;
}

/// Shifts of `high` and `low`, as one integer, by 32 bits at most.
static uint32_t shiftLeft(uint32_t high, uint32_t low, uint32_t amount) {
  uint64_t bits = uint64_t(high) << 32 | low;
  return uint32_t(bits << std::min(amount, 32u) >> 32);
}
static uint32_t shiftRight(uint32_t high, uint32_t low, uint32_t amount) {
  uint64_t bits = uint64_t(high) << 32 | low;
  return uint32_t(bits >> std::min(amount, 32u));
}

static void addBitFields(MathTable &table) {
  define(table, "bmsk.clamp", hostAddress(makeMask<true>));
  define(table, "bmsk.wrap", hostAddress(makeMask<false>));
  define(table, "sext.clamp", hostAddress(extend<true, true>));
  define(table, "sext.wrap", hostAddress(extend<false, true>));
  define(table, "zext.clamp", hostAddress(extend<true, false>));
  define(table, "zext.wrap", hostAddress(extend<false, false>));
  define(table, "flo.s.i32", hostAddress(findHighest<int32_t>));
  define(table, "flo.s.i64", hostAddress(findHighest<int64_t>));
  define(table, "flo.u.i32", hostAddress(findHighest<uint32_t>));
  define(table, "flo.u.i64", hostAddress(findHighest<uint64_t>));
  define(table, "fns", hostAddress(findNthSet));
  define(table, "fshl.clamp.i32", hostAddress(shiftLeft));
  define(table, "fshr.clamp.i32", hostAddress(shiftRight));
}

static void addIntegers(MathTable &table) {
  define(table, "mulhi.s", hostAddress(multiplyHigh16<int16_t>));
  define(table, "mulhi.us", hostAddress(multiplyHigh16<uint16_t>));
  define(table, "mulhi.i", hostAddress(multiplyHigh<int32_t>));
  define(table, "mulhi.ui", hostAddress(multiplyHigh<uint32_t>));
  define(table, "mulhi.ll", hostAddress(multiplyHighSigned));
  define(table, "mulhi.ull", hostAddress(multiplyHighUnsigned));
  define(table, "mul24.i", hostAddress(multiply24));
  define(table, "mul24.ui", hostAddress(multiply24Unsigned));
  define(table, "sad.s", hostAddress(addDifference16<int16_t>));
  define(table, "sad.us", hostAddress(addDifference16<uint16_t>));
  define(table, "sad.i", hostAddress(addDifference<int32_t>));
  define(table, "sad.ui", hostAddress(addDifference<uint32_t>));
  define(table, "sad.ll", hostAddress(addDifference<int64_t>));
  define(table, "sad.ull", hostAddress(addDifference<uint64_t>));
  define(table, "move.i16", hostAddress(identity<uint32_t>));
  define(table, "move.i32", hostAddress(identity<uint32_t>));
  define(table, "move.i64", hostAddress(identity<uint64_t>));
  addPermutations(table);
  addDotProducts(table);
  addBitFields(table);
}

void addIntrinsics(MathTable &table) {
  addRoundedArithmetic(table);
  addConversions(table);
  addUnaries(table);
  addExtrema<true>(table, "fmax");
  addExtrema<false>(table, "fmin");
  addIntegers(table);
}

} // namespace mlir::workgroup::emulator
