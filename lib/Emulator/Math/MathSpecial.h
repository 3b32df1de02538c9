//===- MathSpecial.h - Functions that libm lacks ----------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions of libdevice that C++ has no portable function for. They compute
// with long double, to be off by little more than half of the last place where
// that is wider than double and by a few last places where it is not.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_MATH_MATHSPECIAL_H
#define WORKGROUP_LIB_EMULATOR_MATH_MATHSPECIAL_H

#include <cmath>

namespace mlir::workgroup::emulator {

/// Sine and cosine of pi times `x`, exact at multiples of a half.
double sinpi(double x);
double cospi(double x);

double exp10(double x);
double rsqrt(double x);
double cbrt(double x);
double rcbrt(double x);

/// The logarithm of the magnitude of gamma; unlike that of libm it leaves the
/// sign nowhere for other threads to stumble over.
double lgamma(double x);

/// exp(x * x) * erfc(x).
double erfcx(double x);
double erfinv(double y);
double erfcinv(double y);
/// The distribution function of the standard normal distribution.
double normcdf(double x);
double normcdfinv(double y);

/// Bessel functions; as on the device those of negative order are NaN.
double jn(int order, double x);
double yn(int order, double x);
/// Modified Bessel functions of the first kind.
double cylBesselI0(double x);
double cylBesselI1(double x);

template <typename T>
void sincos(T x, T *sine, T *cosine) {
  *sine = std::sin(x);
  *cosine = std::cos(x);
}

template <typename T>
T powi(T x, int exponent) {
  return T(std::pow(double(x), double(exponent)));
}

/// The length of a vector; infinite if one component is, even next to NaN.
template <typename T>
long double getLength(int count, const T *components) {
  long double length = 0;
  for (int i = 0; i < count; ++i)
    length = std::hypot(length, static_cast<long double>(components[i]));
  return length;
}
template <typename T>
T norm(int count, const T *components) {
  return T(getLength(count, components));
}
template <typename T>
T rnorm(int count, const T *components) {
  return T(1 / getLength(count, components));
}
template <typename T, typename... Ts>
T normOf(T first, Ts... others) {
  T components[] = {first, others...};
  return norm(int(1 + sizeof...(Ts)), components);
}
template <typename T, typename... Ts>
T rnormOf(T first, Ts... others) {
  T components[] = {first, others...};
  return rnorm(int(1 + sizeof...(Ts)), components);
}

/// The variant for float of a function of double.
template <double (*Compute)(double)>
float narrowed(float x) {
  return float(Compute(double(x)));
}
template <double (*Compute)(int, double)>
float narrowedOrder(int order, float x) {
  return float(Compute(order, double(x)));
}

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_MATH_MATHSPECIAL_H
