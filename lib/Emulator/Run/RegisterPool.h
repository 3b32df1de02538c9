//===- RegisterPool.h - The registers of a block -------------- -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Warps give registers back to their block, and ask for more (PTX ISA,
// "setmaxnreg"): they wait until others have given enough back. What a block
// has is what its threads begin with.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_RUN_REGISTERPOOL_H
#define WORKGROUP_LIB_EMULATOR_RUN_REGISTERPOOL_H

#include "FindingCollector.h"

namespace mlir::workgroup::emulator {

class RegisterPool {
public:
  RegisterPool(const Launch &launch, BlockState &block,
               FindingCollector &findings);

  void beginBlock();

  /// Lets each thread of `warp` have `count` registers, fewer or more than now.
  void release(unsigned warp, const Operation &operation, uint32_t count);
  void request(unsigned warp, const Operation &operation, uint32_t count);
  /// Lets warps go on that wait for registers that there are now. True if any
  /// can.
  bool grant();

  /// What there is, for a warp that waits for more.
  std::string describe(unsigned warp) const;

private:
  bool checkCount(unsigned warp, const Operation &operation, uint32_t count,
                  bool isMore);
  bool take(unsigned warp);

  BlockState &block;
  FindingCollector &findings;
  /// Per thread, when a block begins.
  uint32_t initial;
  /// Per thread of each warp: what it has, and what it asks for.
  std::vector<uint32_t> held, wanted;
  uint64_t &getFree(unsigned warp) { return numFree[getBlock(warp)]; }
  unsigned getBlock(unsigned warp) const {
    return block.threads[warp * kWarpSize].rank;
  }

  /// Registers of each block that no warp has.
  std::vector<uint64_t> numFree;
};

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_RUN_REGISTERPOOL_H
