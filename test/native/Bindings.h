//===- Bindings.h - Parts of the tests' extension ------------- -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The extension of the tests is one module in several sources, one for each
// analysis that tests call; each adds its functions to the module by one of
// these.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_TEST_BINDINGS_H
#define WORKGROUP_TEST_BINDINGS_H

#include <nanobind/nanobind.h>

void bindPlacement(nanobind::module_ &m);
void bindSolver(nanobind::module_ &m);

#endif // WORKGROUP_TEST_BINDINGS_H
