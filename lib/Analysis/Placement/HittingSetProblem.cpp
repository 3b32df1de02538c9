//===- HittingSetProblem.cpp - Choices, demands, prices -------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HittingSetProblem.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace mlir::workgroup {

Price &Price::operator+=(const Price &other) {
  for (auto [digit, more] : zip_equal(digits, other.digits))
    digit += more;
  return *this;
}

Price &Price::operator-=(const Price &other) {
  for (auto [digit, less] : zip_equal(digits, other.digits))
    digit -= less;
  return *this;
}

Price Price::getInfinite(unsigned size) {
  Price price(size);
  price.digits.front() = 1 << 30;
  return price;
}

} // namespace mlir::workgroup
