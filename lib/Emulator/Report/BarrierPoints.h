//===- BarrierPoints.h - Where a barrier is missing ----------- -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For two accesses that race, the points where one barrier would separate them:
// on the paths from one to the other within an iteration, or else at the back
// edge of the innermost loop around both. A point is moved up the dominator
// tree to one that all threads of the block pass, if there is one between. The
// emulator then tries which of them mends the kernel.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_REPORT_BARRIERPOINTS_H
#define WORKGROUP_LIB_EMULATOR_REPORT_BARRIERPOINTS_H

#include "Emulator/Translate/Prepare.h"
#include <map>

namespace mlir::workgroup::emulator {

/// A point for a barrier: before an instruction of the prepared kernel.
struct BarrierPoint {
  uint32_t ordinal = 0;
  SourceLocation location;
  /// `before`, or `at the end of the loop at`: what `location` is to it.
  std::string words;
  /// All threads of the block are known to come by together.
  bool isUniform = false;
};

/// Finds points in the kernel as it is prepared for checks.
class BarrierPoints {
public:
  BarrierPoints(const std::string &bitcode, const std::string &name);
  ~BarrierPoints();

  /// The points that cover the paths without a barrier between two
  /// instructions, in either direction.
  std::vector<BarrierPoint> find(uint32_t ordinal, uint32_t otherOrdinal) const;

private:
  struct Analyses;
  std::optional<BarrierPoint> findOnPath(const llvm::Instruction &from,
                                         const llvm::Instruction &to) const;
  const llvm::Instruction &moveToUniform(const llvm::Instruction &from,
                                         const llvm::Instruction &at) const;
  BarrierPoint makePoint(const llvm::Instruction &at,
                         const llvm::Instruction &named,
                         std::string words) const;
  bool isUniform(const llvm::BasicBlock &block) const;

  std::unique_ptr<llvm::LLVMContext> context;
  PreparedKernel kernel;
  std::unique_ptr<Analyses> analyses;
};

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_REPORT_BARRIERPOINTS_H
