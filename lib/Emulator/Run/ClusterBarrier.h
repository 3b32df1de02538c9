//===- ClusterBarrier.h - Where blocks of a cluster meet ------ -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The barrier of a cluster (PTX ISA, "barrier.cluster"): threads arrive, and
// wait later until all of the cluster that have not left have arrived.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_RUN_CLUSTERBARRIER_H
#define WORKGROUP_LIB_EMULATOR_RUN_CLUSTERBARRIER_H

#include "FindingCollector.h"

namespace mlir::workgroup::emulator {

class ClusterBarrier {
public:
  ClusterBarrier(const KernelTables &tables, BlockState &block,
                 FindingCollector &findings)
      : tables(tables), block(block), findings(findings),
        hasArrived(block.threads.size()) {}

  void beginBlock();

  /// `thread` arrives by operation `number`, and goes on.
  void arrive(const ThreadState &thread, uint32_t number);
  /// Lets threads go on that wait for what is over. True if there are any.
  bool open();

private:
  enum class Arrival : uint8_t { None, Now, Before };

  const KernelTables &tables;
  BlockState &block;
  FindingCollector &findings;
  /// Whether each thread has arrived and not waited yet: in this phase, or in
  /// the one that is over.
  std::vector<Arrival> hasArrived;
  bool isInUse = false;
  Clocks::Meeting arriving, passed;
};

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_RUN_CLUSTERBARRIER_H
