//===- BarrierExplanation.cpp - Why a barrier stands where it does --------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelSync.h"
#include "workgroup/Support/Remarks.h"
#include "llvm/Support/JSON.h"

namespace mlir::workgroup {

namespace {

/// Tells of pairs of accesses, for people and as JSON.
class PairPrinter {
public:
  explicit PairPrinter(const KernelSync &kernel) : kernel(kernel) {}

  std::string print(const Hazard &hazard) const;
  llvm::json::Object toJSON(const Hazard &hazard) const;

private:
  static llvm::json::Object toJSON(const ThreadAccess &access);
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
    os << " in a later turn";
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

llvm::json::Object PairPrinter::toJSON(const ThreadAccess &access) {
  llvm::json::Object object{{"op", access.op->getName().getStringRef()}};
  if (auto location = access.op->getLoc()->findInstanceOf<FileLineColLoc>()) {
    object["file"] = location.getFilename().getValue();
    object["line"] = location.getLine();
    object["column"] = location.getColumn();
  }
  return object;
}

llvm::json::Object PairPrinter::toJSON(const Hazard &hazard) const {
  llvm::json::Object object{{"first", toJSON(kernel.getAccess(hazard.first))},
                            {"second", toJSON(kernel.getAccess(hazard.second))},
                            {"later_turn", hazard.order.loop.has_value()}};
  if (const auto &witness = hazard.conflict.witness) {
    llvm::json::Array threads;
    for (const std::array<int64_t, 3> &ids : witness->threads)
      threads.push_back(llvm::json::Array(ids));
    object["threads"] = std::move(threads);
    object[isInBytes(hazard) ? "byte" : "index"] =
        llvm::json::Array(witness->place);
  } else {
    object["reason"] = hazard.conflict.reason;
  }
  return object;
}

/// Which hazards, by number, the barrier at a gap of the placement orders: by
/// itself or, if there are none of these, with a barrier in each other arm,
/// say.
SmallVector<unsigned, 0> BarrierExplainer::findOrdered(unsigned gap) {
  if (orderedBy.empty())
    orderedBy = findCut(tree.getProgram(), getOrders(hazards), placement.gaps);
  SmallVector<unsigned, 0> found = orderedBy[gap];
  if (!found.empty())
    return found;
  SmallVector<SyncGap> others = placement.gaps;
  others.erase(others.begin() + gap);
  for (auto [number, hazard] : llvm::enumerate(hazards))
    if (isCut(tree.getProgram(), hazard.order, placement.gaps) &&
        !isCut(tree.getProgram(), hazard.order, others))
      found.push_back(number);
  return found;
}

void BarrierExplainer::explain(Operation *barrier, unsigned gap) {
  auto told =
      passedRemark(RemarkSource::InsertBarriers, "InsertedBarrier", barrier);
  auto explained =
      analysisRemark(RemarkSource::InsertBarriers, "ExplainedBarrier", barrier);
  if (!told && !explained)
    return;
  PairPrinter printer(kernel);
  constexpr size_t kMaxTold = 4, kMaxPairs = 256;
  SmallVector<unsigned, 0> ordered = findOrdered(gap);
  SmallVector<std::string> texts;
  llvm::json::Array pairs;
  for (unsigned number : ArrayRef(ordered).take_front(kMaxPairs)) {
    if (texts.size() < kMaxTold)
      texts.push_back(printer.print(hazards[number]));
    pairs.push_back(printer.toJSON(hazards[number]));
  }
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
       << remark::metric("Barriers", placement.gaps.size())
       << remark::metric("Needed", placement.certificate.size())
       << remark::metric("Optimal", placement.isOptimal);
  llvm::json::Object explanation{
      {"pairs", std::move(pairs)},
      {"barriers", int64_t(placement.gaps.size())},
      {"needed", int64_t(placement.certificate.size())},
      {"optimal", placement.isOptimal}};
  if (needed != ordered.end()) {
    told << remark::metric("Certificate", printer.print(hazards[*needed]));
    explanation["certificate"] = printer.toJSON(hazards[*needed]);
  }
  std::string json;
  llvm::raw_string_ostream(json) << llvm::json::Value(std::move(explanation));
  explained << json;
}

} // namespace mlir::workgroup
