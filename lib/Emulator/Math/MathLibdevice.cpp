//===- MathLibdevice.cpp - The functions of libdevice ---------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A table from names of libdevice (`__nv_*`) to host functions. Most are those
// of libm, which are at least as exact as the device's; rounding, conversions
// and integers are exact. Fast variants (`__nv_fast_*`) are computed as the
// others, as nothing relies on their larger errors.
//
//===----------------------------------------------------------------------===//

#include "MathFormats.h"
#include "MathInstructions.h"
#include "MathSpecial.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <climits>

namespace mlir::workgroup::emulator {

//===----------------------------------------------------------------------===//
// Functions that C++ has otherwise
//===----------------------------------------------------------------------===//

template <typename T>
static void sincospi(T x, T *sine, T *cosine) {
  *sine = T(sinpi(x));
  *cosine = T(cospi(x));
}

/// Zero and NaN have an exponent of their own in libm, which differs by host.
template <typename T>
static int32_t ilogb(T x) {
  return x == 0 || std::isnan(x) ? INT_MIN : std::ilogb(x);
}

/// Rounds halves away from zero.
template <typename T>
static int64_t llround(T x) {
  return toInteger<int64_t>(std::round(x));
}

template <typename T>
static T rhypot(T x, T y) {
  return rnormOf(x, y);
}

template <typename T>
static T makeNaN(const char *tag) {
  return std::numeric_limits<T>::quiet_NaN();
}

template <typename T>
static int32_t isFinite(T x) {
  return std::isfinite(x);
}
template <typename T>
static int32_t isInf(T x) {
  return std::isinf(x);
}
template <typename T>
static int32_t isNaN(T x) {
  return std::isnan(x);
}
template <typename T>
static int32_t isNegative(T x) {
  return std::signbit(x);
}

static uint32_t toHalf(float x) {
  return std::isnan(x) ? Half::kNaN : Half::encode(x);
}

static float fromHalf(uint32_t bits) { return Half::decode(uint16_t(bits)); }

static double joinHalves(uint32_t high, uint32_t low) {
  return llvm::bit_cast<double>(uint64_t(high) << 32 | low);
}

static uint32_t getHighHalf(double x) {
  return uint32_t(llvm::bit_cast<uint64_t>(x) >> 32);
}

static uint32_t getLowHalf(double x) {
  return uint32_t(llvm::bit_cast<uint64_t>(x));
}

template <typename To, typename From>
static To reinterpret(From x) {
  return llvm::bit_cast<To>(x);
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

/// The average of two integers, rounded down or, with `Extra` of one, up.
template <typename Int, int Extra>
static Int average(Int x, Int y) {
  return Int((int64_t(x) + int64_t(y) + Extra) >> 1);
}

template <typename Int>
static Int least(Int x, Int y) {
  return std::min(x, y);
}
template <typename Int>
static Int greatest(Int x, Int y) {
  return std::max(x, y);
}

/// The magnitude; that of the least integer, which is none, is itself.
template <typename Bits>
static Bits magnitude(Bits x) {
  return x >> (8 * sizeof(Bits) - 1) ? Bits(0) - x : x;
}

template <typename Bits>
static int32_t countLeadingZeros(Bits x) {
  return llvm::countl_zero(x);
}
template <typename Bits>
static int32_t countOnes(Bits x) {
  return llvm::popcount(x);
}
template <typename Bits>
static int32_t findFirstSet(Bits x) {
  return x ? llvm::countr_zero(x) + 1 : 0;
}

/// Unlike the instruction, the function has no digits that ask for signs.
static uint32_t bytePerm(uint32_t a, uint32_t b, uint32_t selector) {
  return permuteBytes(a, b, selector & 0x7777);
}

static void addIntegers(MathTable &table) {
  table["__nv_abs"] = hostAddress(magnitude<uint32_t>);
  table["__nv_llabs"] = hostAddress(magnitude<uint64_t>);
  table["__nv_brev"] = hostAddress(llvm::reverseBits<uint32_t>);
  table["__nv_brevll"] = hostAddress(llvm::reverseBits<uint64_t>);
  table["__nv_clz"] = hostAddress(countLeadingZeros<uint32_t>);
  table["__nv_clzll"] = hostAddress(countLeadingZeros<uint64_t>);
  table["__nv_ffs"] = hostAddress(findFirstSet<uint32_t>);
  table["__nv_ffsll"] = hostAddress(findFirstSet<uint64_t>);
  table["__nv_popc"] = hostAddress(countOnes<uint32_t>);
  table["__nv_popcll"] = hostAddress(countOnes<uint64_t>);
  table["__nv_byte_perm"] = hostAddress(bytePerm);
  table["__nv_hadd"] = hostAddress(average<int32_t, 0>);
  table["__nv_uhadd"] = hostAddress(average<uint32_t, 0>);
  table["__nv_rhadd"] = hostAddress(average<int32_t, 1>);
  table["__nv_urhadd"] = hostAddress(average<uint32_t, 1>);
  table["__nv_max"] = hostAddress(greatest<int32_t>);
  table["__nv_umax"] = hostAddress(greatest<uint32_t>);
  table["__nv_llmax"] = hostAddress(greatest<int64_t>);
  table["__nv_ullmax"] = hostAddress(greatest<uint64_t>);
  table["__nv_min"] = hostAddress(least<int32_t>);
  table["__nv_umin"] = hostAddress(least<uint32_t>);
  table["__nv_llmin"] = hostAddress(least<int64_t>);
  table["__nv_ullmin"] = hostAddress(least<uint64_t>);
  table["__nv_mul24"] = hostAddress(multiply24);
  table["__nv_umul24"] = hostAddress(multiply24Unsigned);
  table["__nv_mulhi"] = hostAddress(multiplyHigh<int32_t>);
  table["__nv_umulhi"] = hostAddress(multiplyHigh<uint32_t>);
  table["__nv_mul64hi"] = hostAddress(multiplyHighSigned);
  table["__nv_umul64hi"] = hostAddress(multiplyHighUnsigned);
  table["__nv_sad"] = hostAddress(addDifference<int32_t>);
  table["__nv_usad"] = hostAddress(addDifference<uint32_t>);
}

//===----------------------------------------------------------------------===//
// Rounding and conversions
//===----------------------------------------------------------------------===//

/// Function `Compute` as `<prefix>_rn` and the like.
template <auto Compute>
static void addRounded(MathTable &table, llvm::StringRef prefix) {
  table[(prefix + "_rn").str()] = instruction<Compute, FE_TONEAREST>();
  table[(prefix + "_rz").str()] = instruction<Compute, FE_TOWARDZERO>();
  table[(prefix + "_rd").str()] = instruction<Compute, FE_DOWNWARD>();
  table[(prefix + "_ru").str()] = instruction<Compute, FE_UPWARD>();
}

static void addRoundedArithmetic(MathTable &table) {
  addRounded<add<float>>(table, "__nv_fadd");
  addRounded<subtract<float>>(table, "__nv_fsub");
  addRounded<multiply<float>>(table, "__nv_fmul");
  addRounded<divide<float>>(table, "__nv_fdiv");
  addRounded<reciprocal<float>>(table, "__nv_frcp");
  addRounded<squareRoot<float>>(table, "__nv_fsqrt");
  addRounded<multiplyAdd<float>>(table, "__nv_fmaf");
  addRounded<multiplyAdd<float>>(table, "__nv_fmaf_ieee");
  addRounded<add<double>>(table, "__nv_dadd");
  addRounded<subtract<double>>(table, "__nv_dsub");
  addRounded<multiply<double>>(table, "__nv_dmul");
  addRounded<divide<double>>(table, "__nv_ddiv");
  addRounded<reciprocal<double>>(table, "__nv_drcp");
  addRounded<squareRoot<double>>(table, "__nv_dsqrt");
  addRounded<multiplyAdd<double>>(table, "__nv_fma");
  // No square root is close enough to the middle of two floats for its rounding
  // to double to matter.
  table["__nv_frsqrt_rn"] = hostAddress(narrowed<rsqrt>);
}

static void addConversions(MathTable &table) {
  addRounded<toInteger<int32_t, float>>(table, "__nv_float2int");
  addRounded<toInteger<uint32_t, float>>(table, "__nv_float2uint");
  addRounded<toInteger<int64_t, float>>(table, "__nv_float2ll");
  addRounded<toInteger<uint64_t, float>>(table, "__nv_float2ull");
  addRounded<toInteger<int32_t, double>>(table, "__nv_double2int");
  addRounded<toInteger<uint32_t, double>>(table, "__nv_double2uint");
  addRounded<toInteger<int64_t, double>>(table, "__nv_double2ll");
  addRounded<toInteger<uint64_t, double>>(table, "__nv_double2ull");
  addRounded<toFloat<float, int32_t>>(table, "__nv_int2float");
  addRounded<toFloat<float, uint32_t>>(table, "__nv_uint2float");
  addRounded<toFloat<float, int64_t>>(table, "__nv_ll2float");
  addRounded<toFloat<float, uint64_t>>(table, "__nv_ull2float");
  addRounded<toFloat<double, int64_t>>(table, "__nv_ll2double");
  addRounded<toFloat<double, uint64_t>>(table, "__nv_ull2double");
  addRounded<toFloat<float, double>>(table, "__nv_double2float");
  table["__nv_int2double_rn"] = hostAddress(toFloat<double, int32_t>);
  table["__nv_uint2double_rn"] = hostAddress(toFloat<double, uint32_t>);
  table["__nv_float2half_rn"] = hostAddress(toHalf);
  table["__nv_half2float"] = hostAddress(fromHalf);
  table["__nv_hiloint2double"] = hostAddress(joinHalves);
  table["__nv_double2hiint"] = hostAddress(getHighHalf);
  table["__nv_double2loint"] = hostAddress(getLowHalf);
  table["__nv_double_as_longlong"] = hostAddress(reinterpret<int64_t, double>);
  table["__nv_longlong_as_double"] = hostAddress(reinterpret<double, int64_t>);
  table["__nv_float_as_int"] = hostAddress(reinterpret<int32_t, float>);
  table["__nv_float_as_uint"] = hostAddress(reinterpret<uint32_t, float>);
  table["__nv_int_as_float"] = hostAddress(reinterpret<float, int32_t>);
  table["__nv_uint_as_float"] = hostAddress(reinterpret<float, uint32_t>);
  table["__nv_llrint"] = hostAddress(toInteger<int64_t, double>);
  table["__nv_llrintf"] = hostAddress(toInteger<int64_t, float>);
  table["__nv_llround"] = hostAddress(llround<double>);
  table["__nv_llroundf"] = hostAddress(llround<float>);
}

//===----------------------------------------------------------------------===//
// The functions of libm
//===----------------------------------------------------------------------===//

// Function `NAME` of libm for double and the one for float. To the compiler
// their names are sets of overloads, which cannot be passed on.
#define ADD_LIBM(NAME, DOUBLE, FLOAT)                                          \
  table["__nv_" #NAME] = hostAddress<DOUBLE>(::NAME);                          \
  table["__nv_" #NAME "f"] = hostAddress<FLOAT>(::NAME##f)
#define ADD_UNARY(NAME) ADD_LIBM(NAME, double(double), float(float))
#define ADD_BINARY(NAME)                                                       \
  ADD_LIBM(NAME, double(double, double), float(float, float))

static void addLibmUnary(MathTable &table) {
  ADD_UNARY(acos);
  ADD_UNARY(acosh);
  ADD_UNARY(asin);
  ADD_UNARY(asinh);
  ADD_UNARY(atan);
  ADD_UNARY(atanh);
  ADD_UNARY(ceil);
  ADD_UNARY(cos);
  ADD_UNARY(cosh);
  ADD_UNARY(erf);
  ADD_UNARY(erfc);
  ADD_UNARY(exp);
  ADD_UNARY(exp2);
  ADD_UNARY(expm1);
  ADD_UNARY(fabs);
  ADD_UNARY(floor);
  ADD_UNARY(log);
  ADD_UNARY(log10);
  ADD_UNARY(log1p);
  ADD_UNARY(log2);
  ADD_UNARY(logb);
  ADD_UNARY(nearbyint);
  ADD_UNARY(rint);
  ADD_UNARY(round);
  ADD_UNARY(sin);
  ADD_UNARY(sinh);
  ADD_UNARY(sqrt);
  ADD_UNARY(tan);
  ADD_UNARY(tanh);
  ADD_UNARY(tgamma);
  ADD_UNARY(trunc);
}

static void addLibmOthers(MathTable &table) {
  ADD_BINARY(atan2);
  ADD_BINARY(copysign);
  ADD_BINARY(fdim);
  ADD_BINARY(fmod);
  ADD_BINARY(hypot);
  ADD_BINARY(nextafter);
  ADD_BINARY(pow);
  ADD_BINARY(remainder);
  ADD_LIBM(fma, double(double, double, double), float(float, float, float));
  ADD_LIBM(frexp, double(double, int *), float(float, int *));
  ADD_LIBM(ldexp, double(double, int), float(float, int));
  ADD_LIBM(modf, double(double, double *), float(float, float *));
  ADD_LIBM(remquo, double(double, double, int *), float(float, float, int *));
  ADD_LIBM(scalbn, double(double, int), float(float, int));
}

#undef ADD_LIBM
#undef ADD_UNARY
#undef ADD_BINARY

//===----------------------------------------------------------------------===//
// The other functions
//===----------------------------------------------------------------------===//

/// Function `Compute` for double and, computed by way of it, for float.
template <double (*Compute)(double)>
static void addSpecial(MathTable &table, llvm::StringRef name) {
  table[name] = hostAddress(Compute);
  table[(name + "f").str()] = hostAddress(narrowed<Compute>);
}
template <double (*Compute)(int, double)>
static void addOrdered(MathTable &table, llvm::StringRef name) {
  table[name] = hostAddress(Compute);
  table[(name + "f").str()] = hostAddress(narrowedOrder<Compute>);
}

static void addSpecials(MathTable &table) {
  addSpecial<cospi>(table, "__nv_cospi");
  addSpecial<sinpi>(table, "__nv_sinpi");
  addSpecial<cylBesselI0>(table, "__nv_cyl_bessel_i0");
  addSpecial<cylBesselI1>(table, "__nv_cyl_bessel_i1");
  addSpecial<erfcinv>(table, "__nv_erfcinv");
  addSpecial<erfcx>(table, "__nv_erfcx");
  addSpecial<erfinv>(table, "__nv_erfinv");
  addSpecial<exp10>(table, "__nv_exp10");
  addSpecial<lgamma>(table, "__nv_lgamma");
  addSpecial<normcdf>(table, "__nv_normcdf");
  addSpecial<normcdfinv>(table, "__nv_normcdfinv");
  addSpecial<cbrt>(table, "__nv_cbrt");
  addSpecial<rcbrt>(table, "__nv_rcbrt");
  addSpecial<rsqrt>(table, "__nv_rsqrt");
  addSpecial<::j0>(table, "__nv_j0");
  addSpecial<::j1>(table, "__nv_j1");
  addSpecial<::y0>(table, "__nv_y0");
  addSpecial<::y1>(table, "__nv_y1");
  addOrdered<jn>(table, "__nv_jn");
  addOrdered<yn>(table, "__nv_yn");
  table["__nv_rcp64h"] =
      instruction<reciprocal<double>, FE_TONEAREST, kFlush>();
  table["__nv_saturatef"] = hostAddress(saturated<float>);
}

/// Function templates for double and float.
template <auto Double, auto Float>
static void addBoth(MathTable &table, llvm::StringRef name,
                    llvm::StringRef floatName = {}) {
  table[name] = hostAddress(Double);
  table[floatName.empty() ? (name + "f").str() : floatName.str()] =
      hostAddress(Float);
}

static void addTemplates(MathTable &table) {
  addBoth<extremum<double, true>, extremum<float, true>>(table, "__nv_fmax");
  addBoth<extremum<double, false>, extremum<float, false>>(table, "__nv_fmin");
  addBoth<ilogb<double>, ilogb<float>>(table, "__nv_ilogb");
  addBoth<powi<double>, powi<float>>(table, "__nv_powi");
  addBoth<sincos<double>, sincos<float>>(table, "__nv_sincos");
  addBoth<sincospi<double>, sincospi<float>>(table, "__nv_sincospi");
  addBoth<makeNaN<double>, makeNaN<float>>(table, "__nv_nan");
  addBoth<norm<double>, norm<float>>(table, "__nv_norm");
  addBoth<rnorm<double>, rnorm<float>>(table, "__nv_rnorm");
  addBoth<normOf<double, double, double>, normOf<float, float, float>>(
      table, "__nv_norm3d");
  addBoth<rnormOf<double, double, double>, rnormOf<float, float, float>>(
      table, "__nv_rnorm3d");
  addBoth<normOf<double, double, double, double>,
          normOf<float, float, float, float>>(table, "__nv_norm4d");
  addBoth<rnormOf<double, double, double, double>,
          rnormOf<float, float, float, float>>(table, "__nv_rnorm4d");
  addBoth<rhypot<double>, rhypot<float>>(table, "__nv_rhypot");
  addBoth<isFinite<double>, isFinite<float>>(table, "__nv_isfinited",
                                             "__nv_finitef");
  addBoth<isInf<double>, isInf<float>>(table, "__nv_isinfd", "__nv_isinff");
  addBoth<isNaN<double>, isNaN<float>>(table, "__nv_isnand", "__nv_isnanf");
  addBoth<isNegative<double>, isNegative<float>>(table, "__nv_signbitd",
                                                 "__nv_signbitf");
}

/// Fast functions have larger errors on the device, which nothing relies on.
static void addFast(MathTable &table) {
  for (const char *name : {"sinf", "cosf", "tanf", "tanhf", "expf", "exp10f",
                           "logf", "log2f", "log10f", "powf", "sincosf"})
    table[(llvm::Twine("__nv_fast_") + name).str()] =
        table.lookup((llvm::Twine("__nv_") + name).str());
  table["__nv_fast_fdividef"] = hostAddress(divide<float>);
}

void addLibdevice(MathTable &table) {
  addIntegers(table);
  addRoundedArithmetic(table);
  addConversions(table);
  addLibmUnary(table);
  addLibmOthers(table);
  addSpecials(table);
  addTemplates(table);
  addFast(table);
}

} // namespace mlir::workgroup::emulator
