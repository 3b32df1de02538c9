//===- plain.h - Programs without volatile ---------------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Behind what CUDA and the host declare, which cannot do without the word.
//
//===----------------------------------------------------------------------===//

#include <stdio.h>
#include <stdlib.h>

#define volatile
