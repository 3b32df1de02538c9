//===- KernelFacts.h - What a kernel's LLVM IR does -------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The accesses of a kernel to workgroup memory, what orders them, and behind
// which barriers each can be.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_COMPILER_CERTIFICATES_KERNELFACTS_H
#define WORKGROUP_LIB_COMPILER_CERTIFICATES_KERNELFACTS_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Instructions.h"
#include <set>
#include <string>
#include <vector>

namespace mlir::workgroup {

/// The line of the text of a module that each instruction is on.
using LineNumbers = llvm::DenseMap<const llvm::Instruction *, unsigned>;

/// What orders threads, or closes a group of copies or waits for some.
struct OrderFact {
  enum class Kind { Barrier, Warp, Commit, Wait };
  Kind kind;
  unsigned line = 0;
  /// Of a wait: the groups that may still be on their way behind it.
  unsigned numPending = 0;
};

struct AccessFact {
  enum class Kind { Read, Write, Copy };
  Kind kind;
  const llvm::Instruction *at = nullptr;
  unsigned line = 0;
  const llvm::Value *pointer = nullptr;
  uint64_t bytes = 0;
  /// Threads of a warp do it as one.
  bool isOfWarp = false;
  /// Where it may be.
  llvm::SmallSetVector<const llvm::GlobalVariable *, 2> variables;
  /// The lines of the barriers behind which it may happen, or go on, with no
  /// other between; 0 for the beginning of the kernel.
  std::set<unsigned> behind;
};

struct KernelFacts {
  std::vector<OrderFact> orders;
  std::vector<AccessFact> accesses;
  /// The lines of calls and operations whose effects are told in no other way.
  std::vector<unsigned> others;
};

/// Finds what `kernel` does, but for the barriers behind which.
KernelFacts collectFacts(const llvm::Function &kernel,
                         const LineNumbers &lines);

/// The values of `kernel` that are what an extent leaves for a block: something
/// that parameters tell, less what blocks before have. The launch sees to it
/// that each is at least 1.
std::vector<const llvm::Instruction *>
findBlockExtents(const llvm::Function &kernel);

/// What orders threads at `instruction`, if anything does.
std::optional<OrderFact> getOrder(const llvm::Instruction &instruction);

/// True if `instruction` concerns mbarriers, barriers of part of the block, or
/// units that work by themselves: TMA, products of warp groups, fences, and
/// assembly with effects.
bool hasOwnOrder(const llvm::Instruction &instruction);

/// Finds the barriers behind which each access may be.
void findIntervals(const llvm::Function &kernel, const LineNumbers &lines,
                   KernelFacts &facts);

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_COMPILER_CERTIFICATES_KERNELFACTS_H
