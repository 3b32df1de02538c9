//===- KernelFacts.h - What is known of a kernel -------------- -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All that is found out of a kernel before it is rewritten. What the runtime
// has to know goes to the tables of the kernel; what emitters have to know is
// here.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_TRANSLATE_KERNELFACTS_H
#define WORKGROUP_LIB_EMULATOR_TRANSLATE_KERNELFACTS_H

#include "Exchanges.h"
#include "Prepare.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace mlir::workgroup::emulator {

struct KernelFacts {
  /// Looks at `kernel`, and fills `tables`. Adds errors for what it cannot be.
  KernelFacts(const PreparedKernel &kernel, KernelTables &tables,
              std::vector<DiagnosticRecord> &errors);

  /// Adds the site of an instruction, of which no more is known.
  uint32_t addSite(const llvm::Instruction &at, KernelTables &tables) const;

  /// The numbers of the kernel's own instructions, in order.
  llvm::DenseMap<const llvm::Instruction *, uint32_t> ordinals;
  Provenances provenances;
  Exchanges exchanges;
  /// Loads for compare-and-swap.
  llvm::SmallPtrSet<const llvm::Instruction *, 4> guesses;
};

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_TRANSLATE_KERNELFACTS_H
