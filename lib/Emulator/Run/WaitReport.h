//===- WaitReport.h - Who waits where ------------------------- -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The threads of a block in words: at which place each of them waits, and for
// whom. Findings about barriers and deadlocks come with it.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_RUN_WAITREPORT_H
#define WORKGROUP_LIB_EMULATOR_RUN_WAITREPORT_H

#include "BlockState.h"
#include "Emulator/State/Findings.h"
#include "MBarrierTable.h"
#include "RegisterPool.h"

namespace mlir::workgroup::emulator {

class WaitReport {
public:
  WaitReport(const KernelTables &tables, const BlockState &block,
             const MBarrierTable &mbarriers, const RegisterPool &registers)
      : tables(tables), block(block), mbarriers(mbarriers),
        registers(registers) {}

  /// Where the threads `which` are, a note for each place.
  std::vector<DiagnosticRecord> describe(llvm::ArrayRef<unsigned> which) const;
  /// The same of all threads of the block.
  std::vector<DiagnosticRecord> describeAll() const;

private:
  std::string describeWait(const ThreadState &thread,
                           const Operation &operation) const;

  const KernelTables &tables;
  const BlockState &block;
  const MBarrierTable &mbarriers;
  const RegisterPool &registers;
};

/// The lanes that a thread waits for at a warp operation.
uint32_t getMask(const Operation &operation, const ThreadState &thread);
/// Lanes as a number in hexadecimal digits.
std::string printMask(uint32_t lanes);

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_RUN_WAITREPORT_H
