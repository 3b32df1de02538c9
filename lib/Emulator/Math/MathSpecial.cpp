//===- MathSpecial.cpp - Functions that libm lacks ------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MathSpecial.h"
#include <limits>

namespace mlir::workgroup::emulator {

constexpr long double kPi = 3.14159265358979323846264338327950288L;
constexpr long double kSqrtPi = 1.77245385090551602729816748334114518L;
constexpr long double kSqrt2 = 1.41421356237309504880168872420969808L;
constexpr long double kInfinity = std::numeric_limits<long double>::infinity();
constexpr long double kNaN = std::numeric_limits<long double>::quiet_NaN();

/// The sine of pi times `x` plus `quarters` right angles.
static long double getSine(double x, int quarters) {
  int halves = 0;
  // Exact, and `halves` is right modulo eight.
  long double angle = kPi * std::remquo(x, 0.5, &halves);
  quarters += halves;
  long double sine = quarters & 1 ? std::cos(angle) : std::sin(angle);
  return quarters & 2 ? -sine : sine;
}

double sinpi(double x) {
  double sine = getSine(x, 0);
  return sine == 0 ? std::copysign(0.0, x) : sine;
}

double cospi(double x) {
  double cosine = getSine(x, 1);
  return cosine == 0 ? 0.0 : cosine;
}

double exp10(double x) { return std::pow(10.0, x); }

double rsqrt(double x) { return 1 / std::sqrt(static_cast<long double>(x)); }

double cbrt(double x) { return std::cbrt(static_cast<long double>(x)); }

double rcbrt(double x) { return 1 / std::cbrt(static_cast<long double>(x)); }

double lgamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

//===----------------------------------------------------------------------===//
// The error function
//===----------------------------------------------------------------------===//

double erfcx(double x) {
  long double square = static_cast<long double>(x) * x;
  if (!(x >= 10))
    return std::exp(square) * std::erfc(static_cast<long double>(x));
  // The asymptotic series, whose terms shrink for long enough from here on.
  long double term = 1, sum = 1;
  for (int n = 1; n <= 16; ++n) {
    term *= (1 - 2 * n) / (2 * square);
    sum += term;
  }
  return sum / (x * kSqrtPi);
}

/// The x with erf(x) == y, for y of at most 1/2 in magnitude.
static long double invertErf(long double y) {
  long double x = y * kSqrtPi / 2;
  // Halley's method: each step triples the number of right digits.
  for (int i = 0; i < 5; ++i) {
    long double step = (std::erf(x) - y) * std::exp(x * x) * (kSqrtPi / 2);
    x -= step / (1 + x * step);
  }
  return x;
}

/// The x with erfc(x) == y, for positive y of at most 1/2.
static long double invertErfc(long double y) {
  // Not less than the result, as erfc(x) <= exp(-x * x). Newton's method comes
  // down from there, as the logarithm of erfc is concave and falls; it doubles
  // the number of right digits with each step.
  long double x = std::sqrt(-std::log(y));
  for (int i = 0; i < 8; ++i) {
    long double value = std::erfc(x);
    x +=
        std::log(value / y) * std::exp(x * x + std::log(value)) * (kSqrtPi / 2);
  }
  return x;
}

/// Subtractions from one and two are exact here for doubles and their doubles.
static long double getErfcinv(long double y) {
  if (!(y >= 0 && y <= 2))
    return kNaN;
  if (y == 0 || y == 2)
    return y == 0 ? kInfinity : -kInfinity;
  if (y < 0.5L)
    return invertErfc(y);
  return y > 1.5L ? -invertErfc(2 - y) : invertErf(1 - y);
}

double erfcinv(double y) { return getErfcinv(y); }

double erfinv(double y) {
  if (std::fabs(y) <= 0.5)
    return invertErf(y);
  return std::copysign(getErfcinv(1 - std::fabs(y)), y);
}

double normcdf(double x) { return std::erfc(-x / kSqrt2) / 2; }

double normcdfinv(double y) {
  return -kSqrt2 * getErfcinv(2 * static_cast<long double>(y));
}

//===----------------------------------------------------------------------===//
// Bessel functions
//===----------------------------------------------------------------------===//

double jn(int order, double x) { return order < 0 ? kNaN : ::jn(order, x); }

double yn(int order, double x) { return order < 0 ? kNaN : ::yn(order, x); }

/// The power series of a modified Bessel function of order 0 or 1. Its terms
/// are all positive, thus no digits are lost wherever it is summed.
static long double sumBesselSeries(double x, int order) {
  long double quarter = static_cast<long double>(x) * x / 4;
  // Beyond the range of double and for NaN the series would not end.
  if (!(quarter < 400.0L * 400.0L))
    return quarter * kInfinity;
  long double term = 1, sum = 1;
  for (int n = 1; term > sum * std::numeric_limits<long double>::epsilon();
       ++n) {
    term *= quarter / n / (n + order);
    sum += term;
  }
  return sum;
}

double cylBesselI0(double x) { return sumBesselSeries(x, 0); }

double cylBesselI1(double x) { return x / 2 * sumBesselSeries(x, 1); }

} // namespace mlir::workgroup::emulator
