//===- Placement.cpp - Python bindings of the placement of barriers -------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// lib/Analysis/Placement, which no IR is needed for: the tests compare
// placements with what an enumeration of all executions says.
//
//===----------------------------------------------------------------------===//

#include "Analysis/Placement/BarrierPlacement.h"
#include "Bindings.h"
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;
using namespace mlir::workgroup;

using Hazard = std::tuple<unsigned, unsigned, std::optional<unsigned>, bool>;
using Point = std::pair<unsigned, unsigned>;

static void check(bool isRight, const char *what) {
  if (!isRight)
    throw nb::index_error(what);
}

static SyncHazard makeHazard(const SyncProgram &program, const Hazard &hazard) {
  auto [from, to, loop, isFar] = hazard;
  size_t size = program.nodes.size();
  check(from < size && to < size && (!loop || *loop < size), "no such node");
  return {from, to, loop, isFar};
}

static unsigned append(SyncProgram &program, unsigned sequence,
                       SyncNode::Kind kind, unsigned exit, bool hasIteration,
                       std::optional<unsigned> call) {
  check(sequence < program.sequences.size(), "no such sequence");
  unsigned node = program.append(sequence, kind);
  program.nodes[node].exit = exit;
  program.nodes[node].hasIteration = hasIteration;
  program.nodes[node].call = call;
  return node;
}

static unsigned addPart(SyncProgram &program, unsigned node) {
  check(node < program.nodes.size(), "no such node");
  return program.addPart(node);
}

static bool isCoveredBy(const SyncProgram &program, const Hazard &hazard,
                        const std::vector<Point> &points) {
  llvm::SmallVector<SyncPoint> places;
  for (auto [sequence, index] : points)
    places.push_back({sequence, index});
  return isCovered(program, makeHazard(program, hazard), places);
}

static llvm::SmallVector<SyncHazard>
makeHazards(const SyncProgram &program, const std::vector<Hazard> &hazards) {
  llvm::SmallVector<SyncHazard> list;
  for (const Hazard &hazard : hazards)
    list.push_back(makeHazard(program, hazard));
  return list;
}

static SyncPlacement place(const SyncProgram &program,
                           const std::vector<Hazard> &hazards,
                           bool replaceExisting) {
  return placeBarriers(program, makeHazards(program, hazards), replaceExisting);
}

static SyncPlacement placeWithWarps(const SyncProgram &program,
                                    const std::vector<Hazard> &hazards,
                                    const std::vector<Hazard> &ofWarps) {
  auto orders = makeHazards(program, ofWarps);
  auto getSame = [](SyncPoint point) { return std::optional(point); };
  return placeBarriers(program, makeHazards(program, hazards),
                       WarpOrders{program, orders, getSame});
}

static SyncPlacement choose(const SyncProgram &program,
                            const std::vector<Hazard> &hazards) {
  return chooseBarriers(program, makeHazards(program, hazards));
}

void bindPlacement(nb::module_ &m) {
  nb::enum_<SyncNode::Kind>(m, "SyncKind")
      .value("STEP", SyncNode::Step)
      .value("BARRIER", SyncNode::Barrier)
      .value("LOOP", SyncNode::Loop)
      .value("BRANCH", SyncNode::Branch);
  nb::class_<SyncProgram>(m, "SyncProgram")
      .def(nb::init<>())
      .def("append", append, "sequence"_a, "kind"_a, "exit"_a = 0,
           "has_iteration"_a = false, "call"_a = nb::none())
      .def("add_part", addPart, "node"_a);
  nb::class_<SyncPlacement>(m, "SyncPlacement")
      .def_prop_ro("points",
                   [](const SyncPlacement &placement) {
                     std::vector<Point> points;
                     for (SyncPoint point : placement.points)
                       points.emplace_back(point.sequence, point.index);
                     return points;
                   })
      .def_prop_ro("certificate",
                   [](const SyncPlacement &placement) {
                     return std::vector<unsigned>(placement.certificate.begin(),
                                                  placement.certificate.end());
                   })
      .def_prop_ro("uncovered",
                   [](const SyncPlacement &placement) {
                     return std::vector<unsigned>(placement.uncovered.begin(),
                                                  placement.uncovered.end());
                   })
      .def_ro("is_optimal", &SyncPlacement::isOptimal);
  m.def("is_covered", isCoveredBy, "program"_a, "hazard"_a, "points"_a);
  m.def("place_barriers", place, "program"_a, "hazards"_a,
        "replace_existing"_a = false);
  m.def("place_barriers_with_warps", placeWithWarps, "program"_a, "hazards"_a,
        "of_warps"_a);
  m.def("choose_barriers", choose, "program"_a, "hazards"_a);
}
