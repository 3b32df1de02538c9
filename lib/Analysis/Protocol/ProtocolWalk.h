//===- ProtocolWalk.h - What some threads do, in order ----------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Goes through a kernel as some of its threads do, all on one path, and
// computes on the way which mbarrier and which parity each wait is for: slots
// and parities follow from constants by what loops hand on. Of a loop of which
// it is not known how often it goes on, so many iterations are taken that what
// repeats is seen to.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_ANALYSIS_PROTOCOL_PROTOCOLWALK_H
#define WORKGROUP_LIB_ANALYSIS_PROTOCOL_PROTOCOLWALK_H

#include "Analysis/Index/ThreadEvaluator.h"
#include "ProtocolPlaces.h"
#include "ProtocolTargets.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <memory>

namespace mlir::workgroup {

class ProtocolWalk {
public:
  /// With `goesOn`, a loop in one of unknown length is taken to go on from one
  /// iteration of that to the next, however few iterations it has itself.
  ProtocolWalk(Operation *scope, const ProtocolTargets &targets,
               ArrayRef<int64_t> threads, int64_t numTurns, int64_t elected,
               bool goesOn);

  /// False if the threads go different ways (`getSplit`), or their way is not
  /// known (`getUnknown`).
  bool walk();

  ProtocolStream &getStream() { return stream; }
  /// What differs between the threads, for each of them; empty if nothing does.
  ArrayRef<int64_t> getSplit() const { return split; }
  Operation *getUnknown() const { return unknown; }
  /// The values of the endless loop's iterations that events depend on.
  ArrayRef<Value> getAsked() const { return asked.getArrayRef(); }
  /// The values that the endless loop hands on, in each iteration.
  ArrayRef<DenseMap<Value, ThreadValues>> getCarried() const { return carried; }
  /// True if the endless loop is in no other that is followed.
  bool isCounted() const { return isCountable; }

private:
  bool fail(Operation *op) {
    unknown = unknown ? unknown : op;
    return false;
  }
  void refresh();
  const ThreadValues *evaluate(Value value);
  std::optional<ThreadValues> getBound(Value value, ThreadEvaluator &own);
  std::optional<int64_t> evaluateOne(Value value, Operation *op);

  bool walkBlock(Block &block);
  bool visit(Operation &op);
  bool visitIf(scf::IfOp branch);
  bool visitFor(scf::ForOp loop);
  bool visitRepeated(scf::ForOp loop);
  struct Bounds {
    std::optional<int64_t> first, step, count;
  };
  Bounds getBounds(scf::ForOp loop);
  bool holdsEndless(scf::ForOp loop);
  bool visitTurns(scf::ForOp loop, std::optional<int64_t> count,
                  const Bounds &bounds);
  void leaveOut(Operation *op);
  void leaveBehind(Operation &op);

  bool visitLeaf(Operation &op);
  bool visitMBarrier(Operation &op);
  std::optional<bool> isPredicated(Value predicate, Operation *op);
  bool setBarrier(ProtocolEvent &event, Value group, Value index);
  bool visitBarrier(Operation &op);
  bool visitCopy(nvgpu::TmaAsyncLoadOp load);
  void addAccesses(Operation *op, const ProtocolEvent &like);
  void visitGroup(Operation &op);
  void visitProduct(Operation *op, int64_t numPending);
  void settleProducts(Operation *op, int64_t numPending);
  ProtocolEvent &add(ProtocolEvent::Kind kind, Operation *op);

  Operation *scope;
  const ProtocolTargets &targets;
  int64_t numTurns, elected;
  bool goesOn, isOfEndless = false;
  std::array<int64_t, 3> shape;
  ProtocolStream stream;
  SmallVector<int64_t, 0> split;
  Operation *unknown = nullptr;

  std::unique_ptr<ThreadEvaluator> evaluator;
  DenseMap<Value, ThreadValues> bound;
  /// The numbers that loops which are not followed count through.
  DenseMap<Value, std::pair<int64_t, int64_t>> ranges;
  SmallVector<ProtocolIteration, 2> around;
  unsigned numEndless = 0;
  bool isStopped = false, isCountable = true;
  llvm::SetVector<Value> asked;
  std::vector<DenseMap<Value, ThreadValues>> carried;
  /// Of each engine, the events of groups under way, the oldest group first;
  /// the last one is not committed yet.
  std::array<SmallVector<SmallVector<size_t>>, 3> groups;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_ANALYSIS_PROTOCOL_PROTOCOLWALK_H
