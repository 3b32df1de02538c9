//===- Sentences.h - Words for findings ----------------------- -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The wording of each kind of finding, in one table for each question: what it
// is, what the thread did, and what remedies it.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_REPORT_SENTENCES_H
#define WORKGROUP_LIB_EMULATOR_REPORT_SENTENCES_H

#include "Emulator/State/Findings.h"
#include "Emulator/State/Tables.h"

namespace mlir::workgroup::emulator {

/// The kind of a finding as reports name it, as `race.shared`.
llvm::StringRef getKindName(FindingKind kind);

/// The message of a finding, in one sentence without a full stop.
std::string getMessage(const FindingKey &key, const KernelTables &tables);

/// The verb for what a thread does at `site`, as `writes`.
std::string getVerb(const Site &site);

/// The verb for what a thread does where the finding is no access to memory.
std::string getDeed(FindingKind kind);

/// The remedy, or what has to be known, in one sentence; empty where the
/// finding says it.
std::string getRemedy(const FindingKey &key, const FindingInstance &instance,
                      const KernelTables &tables);

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_REPORT_SENTENCES_H
