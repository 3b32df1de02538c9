//===- AsyncPoints.cpp - Where asynchronous work is waited for ------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AsyncPoints.h"

namespace mlir::workgroup {

namespace {
/// Two nodes of one sequence: a step is one of them, or in it.
struct Span {
  unsigned sequence = 0;
  /// What comes first may be in an earlier iteration; then this is not known.
  std::optional<unsigned> first;
  unsigned second = 0;
};
} // namespace

/// The place in `sequence` of the node that `node` is, or is in; none if it is
/// somewhere else.
static std::optional<unsigned> findIndex(const SyncProgram &program,
                                         unsigned sequence, unsigned node) {
  std::optional<unsigned> at = node;
  while (at && program.nodes[*at].sequence != sequence)
    at = program.sequences[program.nodes[*at].sequence].parent;
  return at ? std::optional(program.nodes[*at].index) : std::nullopt;
}

/// What lies between two accesses in an iteration of `carrier`, before the
/// second one.
static std::optional<Span> findSpanInIteration(const SyncTree &tree,
                                               unsigned to,
                                               const KernelLoop *carrier) {
  const SyncProgram &program = tree.getProgram();
  for (unsigned loop : tree.getLoopsAround(to)) {
    if (tree.getLoop(loop) != carrier)
      continue;
    Span span;
    span.sequence = program.nodes[loop].parts.front();
    span.second = *findIndex(program, span.sequence, to);
    return span;
  }
  return std::nullopt;
}

/// What lies between two accesses in the same iteration of all loops around;
/// nothing if they are parts of one step.
static std::optional<Span> findSpan(const SyncTree &tree, unsigned from,
                                    unsigned to) {
  const SyncProgram &program = tree.getProgram();
  for (std::optional<unsigned> at = to; at;
       at = program.sequences[program.nodes[*at].sequence].parent) {
    Span span;
    span.sequence = program.nodes[*at].sequence;
    span.first = findIndex(program, span.sequence, from);
    span.second = program.nodes[*at].index;
    if (!span.first)
      continue;
    return *span.first < span.second ? std::optional(span) : std::nullopt;
  }
  return std::nullopt;
}

/// The operation of the innermost block around both before which what comes
/// between them has to stand: the second one, or, if that comes in a later
/// iteration only, what is behind the first one. Null if it does not come
/// behind.
static Operation *findPointInStep(Operation *first, Operation *second,
                                  bool isLater) {
  for (Operation *at = second; at; at = at->getParentOp()) {
    Operation *before = at->getBlock()->findAncestorOpInBlock(*first);
    if (!before)
      continue;
    if (before != at && before->isBeforeInBlock(at))
      return at;
    return isLater ? before->getNextNode() : nullptr;
  }
  return nullptr;
}

static unsigned getDepth(const SyncProgram &program, unsigned sequence) {
  std::optional<unsigned> parent = program.sequences[sequence].parent;
  return parent ? getDepth(program, program.nodes[*parent].sequence) + 1 : 0;
}

AsyncPoint findAsyncPoint(const KernelSync &kernel, const SyncTree &tree,
                          const Hazard &hazard, bool isForOthers) {
  AsyncPoint point;
  point.first = hazard.first;
  point.second = hazard.second;
  point.carrier = hazard.relation.carrier;
  unsigned from = tree.getStep(point.first), to = tree.getStep(point.second);
  std::optional<Span> span = point.carrier
                                 ? findSpanInIteration(tree, to, point.carrier)
                                 : findSpan(tree, from, to);
  const SyncProgram &program = tree.getProgram();
  if (!span) {
    point.depth = ~0u;
    point.next = findPointInStep(kernel.getAccess(point.first).op,
                                 kernel.getAccess(point.second).op,
                                 point.carrier != nullptr);
    return point;
  }
  point.sequence = span->sequence;
  point.depth = getDepth(program, span->sequence);
  point.index = span->second;
  unsigned first = span->first ? *span->first + 1 : 0;
  if (isForOthers)
    for (unsigned index = span->second; index-- > first;) {
      unsigned node = program.sequences[span->sequence].items[index];
      if (program.nodes[node].kind != SyncNode::Barrier)
        continue;
      point.index = index;
      point.isAtBarrier = true;
      break;
    }
  point.next = tree.getInsertionPoint({span->sequence, point.index});
  return point;
}

InsertedOps
insertInProgram(RewriterBase &rewriter, InlinedProgram &program,
                Operation *point, bool isBehind,
                llvm::function_ref<Operation *(OriginalOf getOriginal)> make) {
  auto insertAt = [&](Operation *at, OriginalOf getOriginal) {
    if (isBehind)
      rewriter.setInsertionPointAfter(at);
    else
      rewriter.setInsertionPoint(at);
    return make(getOriginal);
  };
  InsertedOps inserted;
  inserted.ops.push_back(insertAt(point, [](Operation *op) { return op; }));
  Operation *original = program.getOriginal(point);
  if (original == point)
    return inserted;
  auto getOriginal = [&](Operation *op) { return program.getOriginal(op); };
  inserted.ops.push_back(insertAt(original, getOriginal));
  program.addCopy(inserted.ops[0], inserted.ops[1]);
  return inserted;
}

} // namespace mlir::workgroup
