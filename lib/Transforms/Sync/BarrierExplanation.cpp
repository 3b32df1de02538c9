//===- BarrierExplanation.cpp - Why a barrier stands where it does --------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each barrier that was put in: the hazards that it covers, as pairs of
// operations with two threads that meet, and those hazards of the certificate
// that show that no fewer barriers will do. Each barrier has two remarks, one
// for people and one as data.
//
//===----------------------------------------------------------------------===//

#include "KernelSync.h"
#include "Support/Remarks.h"
#include "llvm/Support/JSON.h"

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// In words and as JSON
//===----------------------------------------------------------------------===//

static FileLineColLoc getFileLocation(LocationAttr location) {
  return location.findInstanceOf<FileLineColLoc>();
}

static void printSite(raw_ostream &os, const SyncFinding::Site &site) {
  os << "'" << site.op << "'";
  if (auto location = getFileLocation(site.location))
    os << " of line " << location.getLine();
}

static std::string print(const OrderedPair &pair) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printSite(os, pair.first);
  os << " before ";
  printSite(os, pair.second);
  if (pair.isInLaterIteration)
    os << " in a later iteration";
  if (pair.threads.empty()) {
    os << " (possibly: " << pair.reason << ")";
    return text;
  }
  os << " (" << printIds("thread", pair.threads[0]) << " and "
     << printIds("thread", pair.threads[1])
     << (pair.isInBytes ? " at byte " : " at index ");
  llvm::interleave(pair.coordinates, os, ", ");
  os << ")";
  return text;
}

static void write(llvm::json::OStream &json, StringRef name,
                  const SyncFinding::Site &site) {
  json.attributeObject(name, [&] {
    if (auto location = getFileLocation(site.location)) {
      json.attribute("column", location.getColumn());
      json.attribute("file", location.getFilename().getValue());
      json.attribute("line", location.getLine());
    }
    json.attribute("op", site.op);
  });
}

static void writeNumbers(llvm::json::OStream &json, ArrayRef<int64_t> numbers) {
  for (int64_t number : numbers)
    json.value(number);
}

/// Writes an object whose keys are in order, as those of the others are.
static void write(llvm::json::OStream &json, const OrderedPair &pair) {
  auto writeCoordinates = [&](StringRef name) {
    json.attributeArray(name, [&] { writeNumbers(json, pair.coordinates); });
  };
  bool isKnown = !pair.threads.empty();
  json.object([&] {
    if (isKnown && pair.isInBytes)
      writeCoordinates("byte");
    write(json, "first", pair.first);
    if (isKnown && !pair.isInBytes)
      writeCoordinates("index");
    json.attribute("later_iteration", pair.isInLaterIteration);
    if (!isKnown)
      json.attribute("reason", pair.reason);
    write(json, "second", pair.second);
    if (isKnown)
      json.attributeArray("threads", [&] {
        for (const std::array<int64_t, 3> &ids : pair.threads)
          json.array([&] { writeNumbers(json, ids); });
      });
  });
}

static std::string printJSON(const BarrierReport &report) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  // Values that are made first take as long as a pass.
  llvm::json::OStream json(stream);
  json.object([&] {
    json.attribute("barriers", int64_t(report.numBarriers));
    if (report.certificate) {
      json.attributeBegin("certificate");
      write(json, *report.certificate);
      json.attributeEnd();
    }
    json.attribute("needed", int64_t(report.numNeeded));
    json.attribute("optimal", report.isOptimal);
    json.attributeArray("pairs", [&] {
      for (const OrderedPair &pair : report.pairs)
        write(json, pair);
    });
  });
  return text;
}

static std::string print(const BarrierReport &report) {
  constexpr size_t kMaxTold = 4;
  SmallVector<std::string> texts;
  for (const OrderedPair &pair : ArrayRef(report.pairs).take_front(kMaxTold))
    texts.push_back(print(pair));
  std::string message =
      "barrier orders " + (texts.empty() ? "what those do who go this way"
                                         : llvm::join(texts, ", "));
  if (report.numPairs > texts.size())
    message +=
        " and " + std::to_string(report.numPairs - texts.size()) + " more";
  return message;
}

//===----------------------------------------------------------------------===//
// What a barrier is for
//===----------------------------------------------------------------------===//

static OrderedPair describePair(const KernelSync &kernel,
                                const Hazard &hazard) {
  OrderedPair pair;
  const ThreadAccess &first = kernel.getAccess(hazard.first);
  pair.first = getSite(first.op);
  pair.second = getSite(kernel.getAccess(hazard.second).op);
  pair.isInLaterIteration = hazard.order.loop.has_value();
  pair.isInBytes = first.footprint && !first.footprint->basis;
  if (const auto &witness = hazard.conflict.witness) {
    pair.threads.assign(std::begin(witness->threads),
                        std::end(witness->threads));
    pair.coordinates = witness->coordinates;
  } else {
    pair.reason = hazard.conflict.reason;
  }
  return pair;
}

/// Which hazards, by number, the barrier at a point of the placement orders: by
/// itself or, if there are none of these, with a barrier in each other region,
/// say.
SmallVector<unsigned, 0> BarrierExplainer::findOrdered(unsigned point) {
  if (orderedBy.empty())
    orderedBy =
        findCovered(tree.getProgram(), getOrders(hazards), placement.points);
  SmallVector<unsigned, 0> found = orderedBy[point];
  if (!found.empty())
    return found;
  SmallVector<SyncPoint> others = placement.points;
  others.erase(others.begin() + point);
  for (auto [number, hazard] : llvm::enumerate(hazards))
    if (isCovered(tree.getProgram(), hazard.order, placement.points) &&
        !isCovered(tree.getProgram(), hazard.order, others))
      found.push_back(number);
  return found;
}

BarrierReport BarrierExplainer::makeReport(unsigned point) {
  constexpr size_t kMaxPairs = 256;
  BarrierReport report;
  report.numBarriers = placement.points.size();
  report.numNeeded = placement.certificate.size();
  report.isOptimal = placement.isOptimal;
  SmallVector<unsigned, 0> ordered = findOrdered(point);
  report.numPairs = ordered.size();
  for (unsigned number : ArrayRef(ordered).take_front(kMaxPairs))
    report.pairs.push_back(describePair(kernel, hazards[number]));
  // No other barrier helps against that.
  auto *needed = llvm::find_if(ordered, [&](unsigned number) {
    return llvm::binary_search(placement.certificate, number);
  });
  if (needed != ordered.end())
    report.certificate = describePair(kernel, hazards[*needed]);
  return report;
}

void BarrierExplainer::explain(Operation *barrier, unsigned point) {
  auto told = recordRemark(RemarkId::InsertBarriers_InsertedBarrier, barrier);
  auto explained =
      recordRemark(RemarkId::InsertBarriers_ExplainedBarrier, barrier);
  if (!told && !explained && !reports)
    return;
  BarrierReport report = makeReport(point);
  report.barrier = barrier;
  told << print(report) << remark::metric("Hazards", report.numPairs)
       << remark::metric("Barriers", report.numBarriers)
       << remark::metric("Needed", report.numNeeded)
       << remark::metric("Optimal", report.isOptimal);
  if (report.certificate)
    told << remark::metric("Certificate", print(*report.certificate));
  if (explained)
    explained << printJSON(report);
  if (reports)
    reports->push_back(std::move(report));
}

} // namespace mlir::workgroup
