//===- Warpgroups.h - What four warps do together ------------- -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products of warpgroups go on by themselves until they are waited for: their
// reads of workgroup memory are those of an agent, and the registers of their
// operands are not to be touched. Each warp does its part when its lanes have
// come; that the four do the same is checked, not waited for, as hardware does
// not promise it either. Which registers warps have is in RegisterPool.h.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_RUN_WARPGROUPS_H
#define WORKGROUP_LIB_EMULATOR_RUN_WARPGROUPS_H

#include "AccessChecker.h"
#include "RegisterPool.h"

namespace mlir::workgroup::emulator {

class Warpgroups {
public:
  Warpgroups(Launch &launch, BlockState &block, FindingCollector &findings,
             AccessChecker &memory);

  void beginBlock();
  /// Tells of what is under way; the block may have run to its end, or not.
  void endBlock(bool isComplete);

  /// Executes an operation for a warp of which `lanes` have come.
  void execute(unsigned warp, uint32_t lanes, const Operation &operation);
  /// `thread` touches registers that products have for operands.
  void useRegisters(const ThreadState &thread, uint32_t use);

  RegisterPool &getRegisters() { return registers; }
  const RegisterPool &getRegisters() const { return registers; }

private:
  /// Products that are waited for together.
  struct Group {
    /// Who makes their accesses.
    std::optional<Access> agent;
    std::vector<const Operation *> products;
  };
  struct Warp {
    Group open;
    std::deque<Group> groups;
    bool hasFence = false;
    /// Operations of its warpgroup that it has executed.
    uint64_t numSteps = 0;
  };
  /// An operation that warps of a warpgroup are to execute, and what they are
  /// to agree on.
  struct Step {
    const Operation *operation = nullptr;
    std::array<uint64_t, 3> values = {};
    unsigned warp = 0;
  };
  struct Team {
    std::deque<Step> steps;
    /// The number of the first of them.
    uint64_t first = 0;
  };

  Step makeStep(unsigned warp, const Operation &operation) const;
  void checkStep(unsigned warp, const Operation &operation);
  void reportStep(const Step &theirs, const Step &own);
  void multiply(unsigned warp, const Operation &operation);
  const uint8_t *read(unsigned warp, const Operation &operation, bool isB,
                      uint64_t address, unsigned knower);
  bool checkDescriptors(const ThreadState &thread, const Operation &operation);
  void checkLayout(const ThreadState &thread, uint64_t address, uint32_t site,
                   unsigned swizzle);
  void checkRegisters(unsigned warp, const Operation &operation);
  void reportFence(const ThreadState &thread, const Operation &operation,
                   uint32_t use);
  void wait(unsigned warp, uint64_t newerGroups);
  void fence(unsigned warp);
  uint32_t &getLastUse(unsigned thread, unsigned product) {
    return lastUses[size_t(thread) * tables.numProducts + product];
  }
  llvm::ArrayRef<unsigned> getThreads(unsigned warp);
  /// The number of a warp in its block, and the warpgroup that it is in.
  unsigned getLocal(unsigned warp) const { return warp % warpsPerBlock; }
  unsigned getTeam(unsigned warp) const {
    return warp / warpsPerBlock * teamsPerBlock + getLocal(warp) / kGroupWarps;
  }

  Launch &launch;
  const KernelTables &tables;
  BlockState &block;
  FindingCollector &findings;
  AccessChecker &memory;
  RegisterPool registers;
  unsigned warpsPerBlock, teamsPerBlock;
  std::vector<Warp> warps;
  std::vector<Team> teams;
  /// Per thread and product: the last use, plus one, of registers that it may
  /// have for operands since the last fence; zero if there is none.
  std::vector<uint32_t> lastUses;
  std::array<unsigned, kWarpSize> members = {};
};

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_RUN_WARPGROUPS_H
