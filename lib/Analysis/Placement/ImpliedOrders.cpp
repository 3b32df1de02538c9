//===- ImpliedOrders.cpp - What barriers cover that cover others ----------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What lies between two steps of one region is passed by all who come from the
// first of them, or from before it, and get to the second one, or behind it:
//   - from somewhere in the region, on their way to its end, or
//   - to somewhere in the region, on their way from its start.
// (Who passes the region from outside to outside may pass another region, or no
// iteration.) But a loop that tests later may be left before its end.
//
//===----------------------------------------------------------------------===//

#include "ImpliedOrders.h"

using namespace llvm;

namespace mlir::workgroup {

ImpliedOrders::ImpliedOrders(const SyncProgram &program)
    : program(program), positions(program.nodes.size(), 0),
      begins(program.sequences.size(), 0), stops(program.sequences.size(), 0),
      regions(program.sequences.size(), 0),
      outers(program.sequences.size(), kNone),
      loopsAround(program.sequences.size()), endsOf(program.sequences.size()) {
  number(0, 0);
}

void ImpliedOrders::number(unsigned sequence, unsigned region) {
  begins[sequence] = numPositions;
  if (std::optional<unsigned> parent = program.sequences[sequence].parent) {
    loopsAround[sequence] = loopsAround[program.nodes[*parent].sequence];
    if (program.nodes[*parent].kind == SyncNode::Loop)
      loopsAround[sequence].push_back(*parent);
    outers[sequence] = getRegion(*parent);
  }
  regions[sequence] = region;
  for (unsigned item : program.sequences[sequence].items) {
    positions[item] = numPositions++;
    const SyncNode &node = program.nodes[item];
    bool isPassed =
        node.kind == SyncNode::Loop && node.hasIteration && node.exit == 0;
    for (unsigned part : node.parts)
      number(part, isPassed ? region : part);
  }
  stops[sequence] = numPositions;
}

/// True for a body that may be left before its end.
bool ImpliedOrders::leavesEarly(unsigned sequence) const {
  std::optional<unsigned> parent = program.sequences[sequence].parent;
  return parent && program.nodes[*parent].exit != 0;
}

//===----------------------------------------------------------------------===//
// Leading orders
//===----------------------------------------------------------------------===//

void ImpliedOrders::add(unsigned sequence, Ends &ends, unsigned from,
                        unsigned to) {
  unsigned begin = begins[sequence];
  if (ends.empty())
    ends.assign(stops[sequence] - begin, kNone);
  for (unsigned place = from - begin + 1; place-- > 0 && ends[place] > to;)
    ends[place] = to;
}

void ImpliedOrders::addBarriers() {
  for (auto [number, node] : enumerate(program.nodes))
    if (node.kind == SyncNode::Barrier)
      add(getRegion(number), endsOf[getRegion(number)], positions[number],
          positions[number]);
}

void ImpliedOrders::add(const SyncHazard &order) {
  assert(canLead(order.from, order.to, order.loop) &&
         "what leads is of one region");
  unsigned from = positions[order.from], to = positions[order.to];
  if (!order.loop)
    add(getRegion(order.from), endsOf[getRegion(order.from)], from, to);
  else
    add(program.nodes[*order.loop].parts.front(), endsAround[*order.loop], from,
        to);
}

bool ImpliedOrders::canLead(unsigned from, unsigned to,
                            std::optional<unsigned> loop) const {
  unsigned region = getRegion(from);
  return region == getRegion(to) && (loop ? region == getRegionOfBody(*loop)
                                          : positions[from] < positions[to]);
}

//===----------------------------------------------------------------------===//
// Implied ones
//===----------------------------------------------------------------------===//

/// The first end, in a region, of what starts at `start` or behind it.
unsigned ImpliedOrders::getEnd(unsigned region, unsigned start) const {
  const Ends &ends = endsOf[region];
  unsigned place = start - std::min(start, begins[region]);
  return place < ends.size() ? ends[place] : kNone;
}

bool ImpliedOrders::isPassedInIteration(const SyncHazard &order) const {
  unsigned from = positions[order.from], to = positions[order.to];
  if (from >= to)
    return false;
  for (unsigned region = getRegion(order.from); region != kNone;
       region = outers[region]) {
    bool isLeft = to >= stops[region];
    if (!(isLeft && leavesEarly(region)) && getEnd(region, from) <= to)
      return true;
  }
  for (unsigned region = getRegion(order.to); region != kNone;
       region = outers[region])
    if (getEnd(region, from) <= to)
      return true;
  return false;
}

/// In the iteration of the first step, all is passed up to the end of the body
/// of the loop; in that of the second one, all from its start on.
bool ImpliedOrders::isPassedInIterations(const SyncHazard &order) const {
  unsigned from = positions[order.from], to = positions[order.to];
  unsigned body = program.nodes[*order.loop].parts.front();
  unsigned begin = begins[body], stop = stops[body];
  for (unsigned region = getRegion(order.from); region != kNone;
       region = outers[region]) {
    bool isInside = begins[region] > begin;
    if (!(isInside && leavesEarly(region)) && getEnd(region, from) < stop)
      return true;
  }
  for (unsigned region = getRegion(order.to); region != kNone;
       region = outers[region])
    if (getEnd(region, begin) <= to)
      return true;
  for (unsigned region = regions[body]; order.isFar && region != kNone;
       region = outers[region])
    if (getEnd(region, begin) < stop)
      return true;
  return isPassedAround(order);
}

/// True if something leads from one iteration into the next: of the loop
/// itself, or of one in it that is around both steps, and is left at its end.
bool ImpliedOrders::isPassedAround(const SyncHazard &order) const {
  unsigned from = positions[order.from], to = positions[order.to];
  ArrayRef<unsigned> loops = loopsAround[program.nodes[order.from].sequence];
  ArrayRef<unsigned> others = loopsAround[program.nodes[order.to].sequence];
  bool isReached = false;
  for (auto [loop, other] : zip(loops, others)) {
    if (loop != other)
      break;
    bool isOwn = loop == *order.loop;
    isReached |= isOwn;
    auto it = endsAround.find(loop);
    if (!isReached || it == endsAround.end() ||
        (!isOwn && program.nodes[loop].exit != 0))
      continue;
    if (it->second[from - begins[program.nodes[loop].parts.front()]] <= to)
      return true;
  }
  return false;
}

bool ImpliedOrders::isImplied(const SyncHazard &order) const {
  return order.loop ? isPassedInIterations(order) : isPassedInIteration(order);
}

/// Asks for the order in one iteration, and for those into the next iteration
/// of each loop around both: what lies between in one iteration does so from
/// that iteration to later ones, too.
bool ImpliedOrders::areImplied(unsigned lhs, unsigned rhs) const {
  unsigned first = lhs, second = rhs;
  if (positions[second] < positions[first])
    std::swap(first, second);
  if (!isImplied({first, second, std::nullopt, false}))
    return false;
  ArrayRef<unsigned> loops = loopsAround[program.nodes[first].sequence];
  ArrayRef<unsigned> others = loopsAround[program.nodes[second].sequence];
  for (auto [loop, other] : zip(loops, others)) {
    if (loop != other)
      break;
    if (!isImplied({second, first, loop, false}))
      return false;
  }
  return true;
}

} // namespace mlir::workgroup
