//===- vector_functions.h - Empty in place of CUDA's -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs include it. What it would declare is in kernels.h, which each begins
// with, or is not needed.
//
//===----------------------------------------------------------------------===//
