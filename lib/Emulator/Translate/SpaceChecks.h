//===- SpaceChecks.h - Whether memory is what it is called ---- -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Addresses of the host are generic ones: what a kernel calls constant, private
// or cluster memory has to be that, which only its provenance can show.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_TRANSLATE_SPACECHECKS_H
#define WORKGROUP_LIB_EMULATOR_TRANSLATE_SPACECHECKS_H

#include "Provenance.h"

namespace mlir::workgroup::emulator {

/// Adds errors for accesses to memories that they cannot be to, or that there
/// are none of. True if there are no such accesses.
bool checkSpaces(const llvm::Function &function, const Provenances &provenances,
                 std::vector<DiagnosticRecord> &errors);

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_TRANSLATE_SPACECHECKS_H
