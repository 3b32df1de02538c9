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

namespace {

/// Tells of pairs of accesses, for people and as JSON.
class PairPrinter {
public:
  explicit PairPrinter(const KernelSync &kernel) : kernel(kernel) {}

  std::string print(const Hazard &hazard) const;
  /// Writes an object whose keys are in order, as those of the others are.
  void write(llvm::json::OStream &json, const Hazard &hazard) const;

private:
  static void write(llvm::json::OStream &json, const ThreadAccess &access);
  /// True if places are bytes, not indices.
  bool isInBytes(const Hazard &hazard) const {
    const ThreadAccess &access = kernel.getAccess(hazard.first);
    return access.footprint && !access.footprint->basis;
  }

  const KernelSync &kernel;
};

} // namespace

static void printLine(raw_ostream &os, Operation *op) {
  os << "'" << op->getName() << "'";
  if (auto location = op->getLoc()->findInstanceOf<FileLineColLoc>())
    os << " of line " << location.getLine();
}

std::string PairPrinter::print(const Hazard &hazard) const {
  std::string text;
  llvm::raw_string_ostream os(text);
  printLine(os, kernel.getAccess(hazard.first).op);
  os << " before ";
  printLine(os, kernel.getAccess(hazard.second).op);
  if (hazard.order.loop)
    os << " in a later iteration";
  if (const auto &witness = hazard.conflict.witness) {
    os << " (";
    os << printIds("thread", witness->threads[0]);
    os << " and ";
    os << printIds("thread", witness->threads[1]);
    os << (isInBytes(hazard) ? " at byte " : " at index ");
    llvm::interleave(witness->place, os, ", ");
    os << ")";
  } else {
    os << " (possibly: " << hazard.conflict.reason << ")";
  }
  return text;
}

void PairPrinter::write(llvm::json::OStream &json, const ThreadAccess &access) {
  auto location = access.op->getLoc()->findInstanceOf<FileLineColLoc>();
  json.object([&] {
    if (location) {
      json.attribute("column", location.getColumn());
      json.attribute("file", location.getFilename().getValue());
      json.attribute("line", location.getLine());
    }
    json.attribute("op", access.op->getName().getStringRef());
  });
}

static void writeNumbers(llvm::json::OStream &json, ArrayRef<int64_t> numbers) {
  json.array([&] {
    for (int64_t number : numbers)
      json.value(number);
  });
}

void PairPrinter::write(llvm::json::OStream &json, const Hazard &hazard) const {
  const auto &witness = hazard.conflict.witness;
  auto writePlace = [&](StringRef name) {
    json.attributeBegin(name);
    writeNumbers(json, witness->place);
    json.attributeEnd();
  };
  auto writeAccess = [&](StringRef name, unsigned access) {
    json.attributeBegin(name);
    write(json, kernel.getAccess(access));
    json.attributeEnd();
  };
  json.object([&] {
    if (witness && isInBytes(hazard))
      writePlace("byte");
    writeAccess("first", hazard.first);
    if (witness && !isInBytes(hazard))
      writePlace("index");
    json.attribute("later_iteration", hazard.order.loop.has_value());
    if (!witness)
      json.attribute("reason", hazard.conflict.reason);
    writeAccess("second", hazard.second);
    if (witness)
      json.attributeArray("threads", [&] {
        for (const std::array<int64_t, 3> &ids : witness->threads)
          writeNumbers(json, ids);
      });
  });
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

void BarrierExplainer::explain(Operation *barrier, unsigned point) {
  auto told =
      passedRemark(RemarkSource::InsertBarriers, "InsertedBarrier", barrier);
  auto explained =
      analysisRemark(RemarkSource::InsertBarriers, "ExplainedBarrier", barrier);
  if (!told && !explained)
    return;
  PairPrinter printer(kernel);
  constexpr size_t kMaxTold = 4, kMaxPairs = 256;
  SmallVector<unsigned, 0> ordered = findOrdered(point);
  SmallVector<std::string> texts;
  for (unsigned number : ArrayRef(ordered).take_front(kMaxTold))
    texts.push_back(printer.print(hazards[number]));
  // No other barrier helps against that.
  auto *needed = llvm::find_if(ordered, [&](unsigned number) {
    return llvm::binary_search(placement.certificate, number);
  });
  std::string message =
      "barrier orders " + (texts.empty() ? "what those do who go this way"
                                         : llvm::join(texts, ", "));
  if (ordered.size() > texts.size())
    message +=
        " and " + std::to_string(ordered.size() - texts.size()) + " more";
  told << message << remark::metric("Hazards", ordered.size())
       << remark::metric("Barriers", placement.points.size())
       << remark::metric("Needed", placement.certificate.size())
       << remark::metric("Optimal", placement.isOptimal);
  if (needed != ordered.end())
    told << remark::metric("Certificate", printer.print(hazards[*needed]));
  std::string text;
  llvm::raw_string_ostream stream(text);
  // Values that are made first take as long as a pass.
  llvm::json::OStream json(stream);
  json.object([&] {
    json.attribute("barriers", int64_t(placement.points.size()));
    if (needed != ordered.end()) {
      json.attributeBegin("certificate");
      printer.write(json, hazards[*needed]);
      json.attributeEnd();
    }
    json.attribute("needed", int64_t(placement.certificate.size()));
    json.attribute("optimal", placement.isOptimal);
    json.attributeArray("pairs", [&] {
      for (unsigned number : ArrayRef(ordered).take_front(kMaxPairs))
        printer.write(json, hazards[number]);
    });
  });
  explained << text;
}

} // namespace mlir::workgroup
