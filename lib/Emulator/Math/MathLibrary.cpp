//===- MathLibrary.cpp - Host functions for the device's math -------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MathLibrary.h"
#include "MathFormats.h"
#include "MathInstructions.h"
#include "MathSpecial.h"
#include <cstring>
#include <vector>

namespace mlir::workgroup::emulator {

void *findMathFunction(llvm::StringRef name) {
  static const MathTable functions = [] {
    MathTable table;
    addLibdevice(table);
    addIntrinsics(table);
    addNarrowIntrinsics(table);
    return table;
  }();
  return functions.lookup(name);
}

//===----------------------------------------------------------------------===//
// Support functions
//===----------------------------------------------------------------------===//

using SupportTable = std::vector<std::pair<const char *, void *>>;

template <typename Format, typename T>
static float narrow(T value) {
  return packLanes(Format::encode(value));
}
static float widenHalf(float value) { return Half::decode(getLane(value)); }

static void addNarrowConversions(SupportTable &table) {
  table.emplace_back("__extendhfsf2", hostAddress(widenHalf));
  table.emplace_back("__truncsfhf2", hostAddress(narrow<Half, float>));
  table.emplace_back("__truncdfhf2", hostAddress(narrow<Half, double>));
  table.emplace_back("__truncsfbf2", hostAddress(narrow<BFloat, float>));
  table.emplace_back("__truncdfbf2", hostAddress(narrow<BFloat, double>));
}

#ifdef __SIZEOF_INT128__
__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

template <typename Int>
static Int divide128(Int a, Int b) {
  return a / b;
}
template <typename Int>
static Int getRemainder128(Int a, Int b) {
  return a % b;
}
template <typename To, typename From>
static To convert128(From value) {
  return To(value);
}

static void addWideIntegers(SupportTable &table) {
  table.emplace_back("__divti3", hostAddress(divide128<Int128>));
  table.emplace_back("__modti3", hostAddress(getRemainder128<Int128>));
  table.emplace_back("__udivti3", hostAddress(divide128<UInt128>));
  table.emplace_back("__umodti3", hostAddress(getRemainder128<UInt128>));
  table.emplace_back("__fixsfti", hostAddress(convert128<Int128, float>));
  table.emplace_back("__fixdfti", hostAddress(convert128<Int128, double>));
  table.emplace_back("__fixunssfti", hostAddress(convert128<UInt128, float>));
  table.emplace_back("__fixunsdfti", hostAddress(convert128<UInt128, double>));
  table.emplace_back("__floattisf", hostAddress(convert128<float, Int128>));
  table.emplace_back("__floattidf", hostAddress(convert128<double, Int128>));
  table.emplace_back("__floatuntisf", hostAddress(convert128<float, UInt128>));
  table.emplace_back("__floatuntidf", hostAddress(convert128<double, UInt128>));
}
#else
static void addWideIntegers(SupportTable &table) {}
#endif

// Function `NAME` of libm for double and the one for float, which overload each
// other for the compiler.
#define ADD_LIBM(NAME, DOUBLE, FLOAT)                                          \
  table.emplace_back(#NAME, hostAddress<DOUBLE>(::NAME));                      \
  table.emplace_back(#NAME "f", hostAddress<FLOAT>(::NAME##f))
#define ADD_UNARY(NAME) ADD_LIBM(NAME, double(double), float(float))
#define ADD_BINARY(NAME)                                                       \
  ADD_LIBM(NAME, double(double, double), float(float, float))
#define ADD_INTEGER(NAME, TYPE) ADD_LIBM(NAME, TYPE(double), TYPE(float))

static void addLibmUnary(SupportTable &table) {
  ADD_UNARY(acos);
  ADD_UNARY(asin);
  ADD_UNARY(atan);
  ADD_UNARY(ceil);
  ADD_UNARY(cos);
  ADD_UNARY(cosh);
  ADD_UNARY(exp);
  ADD_UNARY(exp2);
  ADD_UNARY(fabs);
  ADD_UNARY(floor);
  ADD_UNARY(log);
  ADD_UNARY(log10);
  ADD_UNARY(log2);
  ADD_UNARY(nearbyint);
  ADD_UNARY(rint);
  ADD_UNARY(round);
  ADD_UNARY(sin);
  ADD_UNARY(sinh);
  ADD_UNARY(sqrt);
  ADD_UNARY(tan);
  ADD_UNARY(tanh);
  ADD_UNARY(trunc);
  ADD_INTEGER(llrint, long long);
  ADD_INTEGER(llround, long long);
  ADD_INTEGER(lrint, long);
  ADD_INTEGER(lround, long);
  table.emplace_back("exp10", hostAddress(exp10));
  table.emplace_back("exp10f", hostAddress(narrowed<exp10>));
  // Rounding to nearest is the mode that the host is in.
  table.emplace_back("roundeven", hostAddress<double(double)>(::nearbyint));
  table.emplace_back("roundevenf", hostAddress<float(float)>(::nearbyintf));
}

static void addLibmOthers(SupportTable &table) {
  ADD_BINARY(atan2);
  ADD_BINARY(copysign);
  ADD_BINARY(fmax);
  ADD_BINARY(fmin);
  ADD_BINARY(fmod);
  ADD_BINARY(pow);
  ADD_LIBM(fma, double(double, double, double), float(float, float, float));
  ADD_LIBM(frexp, double(double, int *), float(float, int *));
  ADD_LIBM(ldexp, double(double, int), float(float, int));
  ADD_LIBM(modf, double(double, double *), float(float, float *));
  table.emplace_back("__powidf2", hostAddress(powi<double>));
  table.emplace_back("__powisf2", hostAddress(powi<float>));
  table.emplace_back("sincos", hostAddress(sincos<double>));
  table.emplace_back("sincosf", hostAddress(sincos<float>));
}

#undef ADD_LIBM
#undef ADD_UNARY
#undef ADD_BINARY
#undef ADD_INTEGER

static void addMemory(SupportTable &table) {
  using Copy = void *(void *, const void *, size_t);
  using Compare = int(const void *, const void *, size_t);
  table.emplace_back("memcpy", hostAddress<Copy>(::memcpy));
  table.emplace_back("memmove", hostAddress<Copy>(::memmove));
  table.emplace_back("memset",
                     hostAddress<void *(void *, int, size_t)>(::memset));
  table.emplace_back("memcmp", hostAddress<Compare>(::memcmp));
  // Asked only whether there is a difference.
  table.emplace_back("bcmp", hostAddress<Compare>(::memcmp));
}

llvm::ArrayRef<std::pair<const char *, void *>> getSupportFunctions() {
  static const SupportTable functions = [] {
    SupportTable table;
    addNarrowConversions(table);
    addWideIntegers(table);
    addLibmUnary(table);
    addLibmOthers(table);
    addMemory(table);
    return table;
  }();
  return functions;
}

} // namespace mlir::workgroup::emulator
