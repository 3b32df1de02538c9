//===- PointsTo.h - The memory that a value may refer to --------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which memory a memref may be of, and where in it: a forward fixed point over
// every edge that values take (views, casts, selections, regions, branches), of
// only those values that are asked for and what they come from. What an edge
// is that is not understood is any memory.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_MEMORY_POINTSTO_H
#define WORKGROUP_LIB_ANALYSIS_MEMORY_POINTSTO_H

#include "MemRefAddress.h"
#include "RingTiles.h"
#include "Support/IncomingValues.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Dominance.h"
#include "workgroup/Analysis/Uniformity.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::workgroup {

class PointsTo {
public:
  /// The memory that a value may refer to.
  struct Target {
    /// In ascending order; empty if control never gets there.
    SmallVector<unsigned, 1> roots;
    /// In whichever root it is; nothing if it may be anywhere.
    std::optional<MemRefAddress> address;

    bool operator==(const Target &other) const {
      return roots == other.roots && address == other.address;
    }
  };

  /// The targets of `values`, used in `scope`. Numbers what roots they have
  /// behind those in `roots`, of which the first stands for all memory.
  PointsTo(Operation *scope, const UniformityAnalysis &uniformity,
           ArrayRef<Value> values, SmallVectorImpl<MemoryRoot> &roots);

  /// The target of `value`; any memory if it is none of the values that were
  /// asked for.
  const Target &getTarget(Value value) const;

private:
  /// The way in which a value is made.
  enum class Origin { Root, View, Join };
  struct Node {
    Origin origin = Origin::Root;
    SmallVector<Value, 2> sources;
    /// The values that have this one as source.
    SmallVector<unsigned, 2> users;
    Target target;
  };

  void collect(ArrayRef<Value> values);
  Node makeNode(Value value);
  Node makeRoot(Value value);
  Node makeJoin(SmallVector<Value> sources);
  Node makeNodeOfArgument(BlockArgument argument);
  Node makeNodeOfJoin(Value value);
  unsigned addRoot(MemoryRoot root) {
    roots.push_back(root);
    return roots.size() - 1;
  }
  unsigned getGlobalRoot(Value memory, FlatSymbolRefAttr symbol);
  unsigned getRingRoot(OpResult tile);

  void solve();
  Target evaluate(Value value, const Node &node) const;
  Target join(Value value, const Node &node) const;
  /// True if `value` is one and the same, memory or number, for all threads and
  /// at any time that it is asked for.
  bool isFixed(Value value) const;
  bool computeFixed(Value value) const;
  bool isKnownAt(const LinearIndex &index, Value value) const;

  Operation *scope;
  const UniformityAnalysis &uniformity;
  SmallVectorImpl<MemoryRoot> &roots;
  mutable DominanceInfo dominance;
  mutable DenseMap<Value, bool> fixed;
  /// Sources mostly behind their users.
  llvm::MapVector<Value, Node> nodes;
  IncomingValues incoming;
  DenseMap<Attribute, unsigned> globals;
  RingTiles ringTiles;
  DenseMap<std::pair<Value, unsigned>, unsigned> rings;
  std::optional<unsigned> dynamicMemory;
  Target anything;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_MEMORY_POINTSTO_H
