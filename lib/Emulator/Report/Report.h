//===- Report.h - Findings in words --------------------------- -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From findings, which are keys of sites and counts, to records with words and
// places of the program: an address becomes a buffer and indices, a number a
// thread and block. Findings that follow from another one are left out, and
// operations that became several instructions are told once.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_REPORT_REPORT_H
#define WORKGROUP_LIB_EMULATOR_REPORT_REPORT_H

#include "Emulator/State/Findings.h"
#include "Emulator/State/Tables.h"

namespace mlir::workgroup::emulator {

/// The facts about a launch that reports name besides its findings.
struct ReportContext {
  const KernelTables &tables;
  const LaunchRequest &request;
  Check check;
  const std::vector<SharedBuffer> &sharedBuffers;
};

/// A finding in words, and what it is about.
struct Described {
  FindingKey key;
  uint64_t block = 0;
  FindingRecord record;
};

/// Turns findings into records, the gravest first. What follows from another
/// finding is left out: reads of memory that a race keeps from being written.
std::vector<Described> describeFindings(const FindingTable &findings,
                                        const ReportContext &context);

/// `FILE:LINE:COLUMN`.
std::string printLocation(const SourceLocation &location);

/// A finding as an error with notes.
DiagnosticRecord makeDiagnostic(const FindingRecord &finding);

/// Findings as text, with the lines of the sources that they concern.
std::string render(const std::vector<FindingRecord> &findings,
                   const std::vector<SourceText> &sources);

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_REPORT_REPORT_H
