//===- ShuffleWords.h - Shuffles of other than words ------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lanes exchange words of 32 bits. What is narrower is moved in a word of its
// own, a vector in as many as its bits fill.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_TRANSFORMS_NVVM_SHUFFLEWORDS_H
#define WORKGROUP_LIB_TRANSFORMS_NVVM_SHUFFLEWORDS_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::workgroup {

/// True if shuffles of words move values of `type`.
bool isMovedByWords(Type type);

/// A `gpu.shuffle` of vectors and narrow elements becomes some of words.
void populateShuffleWordPatterns(RewritePatternSet &patterns);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_TRANSFORMS_NVVM_SHUFFLEWORDS_H
