//===- Native.cpp - The extension of the tests ----------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What tests call of the analyses that is no part of the product: the package
// has an extension of its own, python/src/Native.cpp, and this one is not
// installed.
//
//===----------------------------------------------------------------------===//

#include "Bindings.h"

NB_MODULE(_native_test, m) {
  bindPlacement(m);
  bindSolver(m);
}
