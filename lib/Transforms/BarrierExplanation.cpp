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

static void printIds(raw_ostream &os, const std::array<int64_t, 3> &ids) {
  os << "thread (" << ids[0] << ", " << ids[1] << ", " << ids[2] << ")";
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
    printIds(os, witness->threads[0]);
    os << " and ";
    printIds(os, witness->threads[1]);
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

void explainBarrier(Operation *barrier, const KernelSync &kernel,
                    const SyncTree &tree, SyncGap gap, ArrayRef<Hazard> hazards,
                    const SyncPlacement &placement) {
  if (!barrier->getContext()->getRemarkEngine())
    return;
  PairPrinter printer(kernel);
  constexpr size_t kMaxTold = 4, kMaxPairs = 256;
  SmallVector<std::string> told;
  llvm::json::Array pairs, certificate;
  unsigned count = 0;
  for (const Hazard &hazard : hazards) {
    // What this barrier alone would do.
    if (!isCut(tree.getProgram(), hazard.order, gap) ||
        isCut(tree.getProgram(), hazard.order, {}))
      continue;
    ++count;
    if (told.size() < kMaxTold)
      told.push_back(printer.print(hazard));
    if (pairs.size() < kMaxPairs)
      pairs.push_back(printer.toJSON(hazard));
  }
  // Behind the hazards, a placement may have orders of warps.
  SmallVector<std::string> needed;
  for (unsigned number : placement.certificate)
    if (number < hazards.size()) {
      if (needed.size() < kMaxTold)
        needed.push_back(printer.print(hazards[number]));
      certificate.push_back(printer.toJSON(hazards[number]));
    }
  llvm::json::Object explanation{{"pairs", std::move(pairs)},
                                 {"barriers", int64_t(placement.gaps.size())},
                                 {"certificate", std::move(certificate)},
                                 {"optimal", placement.isOptimal}};
  std::string json;
  llvm::raw_string_ostream(json) << llvm::json::Value(std::move(explanation));
  std::string message = "barrier orders " + llvm::join(told, ", ");
  if (count > told.size())
    message += " and " + std::to_string(count - told.size()) + " more";
  passedRemark(RemarkSource::InsertBarriers, "InsertedBarrier", barrier)
      << message << remark::metric("Hazards", count)
      << remark::metric("Barriers", placement.gaps.size())
      << remark::metric("Needed", placement.certificate.size())
      << remark::metric("Certificate", llvm::join(needed, ", "))
      << remark::metric("Optimal", placement.isOptimal);
  analysisRemark(RemarkSource::InsertBarriers, "ExplainedBarrier", barrier)
      << json;
}

} // namespace mlir::workgroup
