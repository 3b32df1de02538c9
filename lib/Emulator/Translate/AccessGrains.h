//===- AccessGrains.h - The smallest pieces of memory --------- -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How large the cells of shadow memory are: as small as the smallest piece that
// the kernel accesses by itself, so that neighbours are told apart.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_TRANSLATE_ACCESSGRAINS_H
#define WORKGROUP_LIB_EMULATOR_TRANSLATE_ACCESSGRAINS_H

#include "Provenance.h"

namespace mlir::workgroup::emulator {

/// Sets the grains of `tables`.
void findGrains(const llvm::Function &function, const Provenances &provenances,
                KernelTables &tables);

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_TRANSLATE_ACCESSGRAINS_H
