//===- CopyPlacement.h - The fewest copies between two memories -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A buffer has a copy in each of two memories. Steps of a program need the
// newest contents in one of them, and change them there. Which memories are
// sure to hold them at a point is a state, the same on all paths to it: none if
// it is the one on one path and the other on another, and nobody cares any
// more. A copy from one memory to the other leads from state to state. The
// placement is the cheapest choice of states: fewest copies at the deepest
// level of loops, then at the level above it, and so on, where each branch
// counts. That takes time linear in the size of the program, for there are
// four states. Of placements that cost the same, the one that copies latest is
// taken.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_DEVICE_COPYPLACEMENT_H
#define WORKGROUP_LIB_ANALYSIS_DEVICE_COPYPLACEMENT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include <array>
#include <optional>
#include <vector>

namespace mlir::workgroup {

/// A set of the two memories, one bit each.
using Sides = unsigned;
constexpr Sides kNoSide = 0, kHostSide = 1, kDeviceSide = 2, kBothSides = 3;

struct CopyNode;

/// Nodes in the order in which they are executed.
using CopySequence = std::vector<CopyNode>;

/// A step of a program, or a part with steps in it.
struct CopyNode {
  enum class Kind {
    Step,
    /// One of the sequences is executed.
    Branch,
    /// The only sequence is executed any number of times.
    Loop,
    /// The first sequence is executed, then the second and again the first, any
    /// number of times.
    While,
  };
  Kind kind = Kind::Step;
  /// What the client knows it by.
  unsigned id = 0;
  /// Of a step: the memories that need the contents before it, and those that
  /// have them behind it, if it changes them.
  Sides needs = kNoSide;
  std::optional<Sides> leaves = std::nullopt;
  std::vector<CopySequence> regions = {};
};

/// A copy of all of the buffer.
struct PlacedCopy {
  /// The sequence that it is in, and the node before which it is; the number of
  /// nodes if it is at the end.
  const CopySequence *sequence;
  unsigned position;
  /// The memory that it is copied to, from the other one.
  Sides to;
};

/// The number of copies at each level of loops, the outermost first.
class CopyCost {
public:
  /// One copy at `level`.
  static CopyCost ofCopy(unsigned level);

  CopyCost &operator+=(const CopyCost &other);
  /// Deeper levels come first.
  bool operator<(const CopyCost &other) const;
  llvm::ArrayRef<unsigned> getCounts() const { return counts; }

private:
  llvm::SmallVector<unsigned, 3> counts;
};

/// The cheapest copies for a program.
class CopyPlacement {
public:
  /// The contents are in `entry` before `program`, and needed in `exit` behind
  /// it. The placement refers to `program`.
  CopyPlacement(const CopySequence &program, Sides entry, Sides exit);

  /// In the order of the program.
  llvm::ArrayRef<PlacedCopy> getCopies() const { return copies; }
  const CopyCost &getCost() const { return cost; }

private:
  using CopyPrice = std::optional<CopyCost>;
  /// Prices by the state before and the state behind.
  using Prices = std::array<std::array<CopyPrice, 4>, 4>;
  /// Prices of what is left of a sequence by the state before.
  using Rest = std::vector<std::array<CopyPrice, 4>>;

  Rest evaluateRest(const CopySequence &sequence, Sides to, unsigned level);
  Prices evaluate(const CopySequence &sequence, unsigned level);
  Prices evaluate(const CopyNode &node, unsigned level);
  const Prices &getPrices(const CopyNode &node, unsigned level);
  void place(const CopySequence &sequence, Sides from, Sides to,
             unsigned level);
  void place(const CopyNode &node, Sides from, Sides to, unsigned level);
  void placeMove(const CopySequence &sequence, unsigned position, Sides from,
                 Sides to);

  llvm::DenseMap<const CopyNode *, Prices> known;
  llvm::SmallVector<PlacedCopy> copies;
  CopyCost cost;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_DEVICE_COPYPLACEMENT_H
