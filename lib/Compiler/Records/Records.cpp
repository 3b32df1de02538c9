//===- Records.cpp - Diagnostics, remarks and snapshots as data -----------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Records.h"
#include "Target/LineTables.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "llvm/Support/JSON.h"

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// Diagnostics and remarks
//===----------------------------------------------------------------------===//

std::string toUTF8(StringRef text) {
  // What mends a text takes apart the right ones, too.
  return llvm::json::isUTF8(text) ? text.str() : llvm::json::fixUTF8(text);
}

SourceLocation getSourceLocation(Location loc) {
  if (auto location = loc->findInstanceOf<FileLineColLoc>())
    return {toUTF8(location.getFilename()), location.getLine(),
            location.getColumn()};
  return {};
}

SyncPlaceRecord describePlace(Operation *op) {
  return {op->getName().getStringRef().str(), getSourceLocation(op->getLoc())};
}

static std::string getVerdictName(SyncVerdict verdict) {
  switch (verdict) {
  case SyncVerdict::Safe:
    return "SAFE";
  case SyncVerdict::Maybe:
    return "MAYBE";
  case SyncVerdict::Race:
    return "RACE";
  case SyncVerdict::Unfixable:
    return "UNFIXABLE";
  case SyncVerdict::Deadlock:
    return "DEADLOCK";
  case SyncVerdict::Divergent:
    return "DIVERGENT";
  }
  llvm_unreachable("unknown verdict");
}

static SyncPlaceRecord describeSite(const SyncFinding::Site &site) {
  return {site.op, getSourceLocation(site.location)};
}

SyncRecord describeSync(const SyncReport &report) {
  SyncRecord record;
  record.kernel = toUTF8(report.kernel);
  record.location = getSourceLocation(report.location);
  record.verdict = getVerdictName(report.verdict);
  record.assumesInBounds = report.assumesInBounds;
  for (const SyncFinding &finding : report.findings) {
    SyncFindingRecord &found = record.findings.emplace_back();
    found.verdict = getVerdictName(finding.verdict);
    found.message = toUTF8(finding.message);
    found.at = describeSite(finding.at);
    if (finding.other)
      found.other = describeSite(*finding.other);
    found.threads.assign(finding.threads.begin(), finding.threads.end());
    found.blocks.assign(finding.blocks.begin(), finding.blocks.end());
    found.place.assign(finding.coordinates.begin(), finding.coordinates.end());
  }
  return record;
}

static StringRef getVerdictName(DistributionVerdict verdict) {
  switch (verdict) {
  case DistributionVerdict::Agree:
    return "AGREE";
  case DistributionVerdict::Undecided:
    return "UNDECIDED";
  case DistributionVerdict::Differ:
    return "DIFFER";
  }
  llvm_unreachable("unknown verdict");
}

DistributionRecord describeDistribution(const DistributionFinding &finding) {
  return {getVerdictName(finding.verdict).str(), toUTF8(finding.message),
          describePlace(finding.first), describePlace(finding.second)};
}

static OrderedPairRecord describePair(const OrderedPair &pair) {
  return {describeSite(pair.first),
          describeSite(pair.second),
          pair.isInLaterIteration,
          {pair.threads.begin(), pair.threads.end()},
          {pair.coordinates.begin(), pair.coordinates.end()},
          pair.isInBytes,
          toUTF8(pair.reason)};
}

BarrierRecord describeBarrier(const BarrierReport &report) {
  BarrierRecord record;
  for (const OrderedPair &pair : report.pairs)
    record.pairs.push_back(describePair(pair));
  record.barriers = report.numBarriers;
  record.needed = report.numNeeded;
  if (report.certificate)
    record.certificate = describePair(*report.certificate);
  record.isOptimal = report.isOptimal;
  return record;
}

static std::string getSeverityName(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Error:
    return "error";
  case DiagnosticSeverity::Warning:
    return "warning";
  case DiagnosticSeverity::Remark:
    return "remark";
  case DiagnosticSeverity::Note:
    return "note";
  }
  llvm_unreachable("unknown severity");
}

/// Lets what is said about an operation that stands for several, as in a kernel
/// for others that are alike, name them all.
static void nameAllLocations(Diagnostic &diagnostic) {
  SmallVector<FileLineColRange> locations =
      getLocations(diagnostic.getLocation());
  for (FileLineColRange location :
       ArrayRef(locations).drop_front(!locations.empty()))
    diagnostic.attachNote(Location(location))
        << "one operation of the kernel stands for that and for the one here";
}

static DiagnosticRecord makeRecord(Diagnostic &diagnostic) {
  DiagnosticRecord record{getSeverityName(diagnostic.getSeverity()),
                          toUTF8(diagnostic.str()),
                          getSourceLocation(diagnostic.getLocation()),
                          {}};
  for (Diagnostic &note : diagnostic.getNotes())
    record.notes.push_back(makeRecord(note));
  return record;
}

static std::string getKindName(const remark::detail::Remark &remark) {
  switch (remark.getRemarkType()) {
  case llvm::remarks::Type::Passed:
    return "passed";
  case llvm::remarks::Type::Missed:
    return "missed";
  case llvm::remarks::Type::Failure:
    return "failed";
  default:
    return "analysis";
  }
}

namespace {

/// Passes remarks on to a result.
class RemarkCollector final : public remark::detail::MLIRRemarkStreamerBase {
public:
  explicit RemarkCollector(std::vector<RemarkRecord> &remarks)
      : remarks(remarks) {}

  void streamOptimizationRemark(const remark::detail::Remark &remark) override {
    RemarkRecord record{getKindName(remark),
                        remark.getRemarkName().str(),
                        remark.getCombinedCategoryName().str(),
                        toUTF8(remark.getFunction()),
                        "",
                        getSourceLocation(remark.getLocation()),
                        {}};
    for (const remark::detail::Remark::Arg &argument : remark.getArgs()) {
      bool isText = argument.key == "Remark";
      if (!record.message.empty())
        record.message += isText ? " " : ", ";
      record.message +=
          isText ? argument.val : argument.key + "=" + argument.val;
      if (!isText)
        record.arguments.emplace_back(argument.key, toUTF8(argument.val));
    }
    record.message = toUTF8(record.message);
    remarks.push_back(std::move(record));
  }

private:
  std::vector<RemarkRecord> &remarks;
};

} // namespace

struct Recorder::Impl {
  /// A string that calls itself a terminal with colours.
  class TextStream final : public llvm::raw_string_ostream {
  public:
    TextStream(std::string &text, bool useColor)
        : raw_string_ostream(text), useColor(useColor) {
      enable_colors(useColor);
    }
    bool has_colors() const override { return useColor; }

  private:
    bool useColor;
  };

  Impl(MLIRContext &context, llvm::SourceMgr &sources, bool useColor,
       CompileResult &result)
      : context(context), result(result), stream(result.rendered, useColor),
        renderer(sources, &context, stream),
        collector(&context, [&result](Diagnostic &diagnostic) {
          nameAllLocations(diagnostic);
          result.diagnostics.push_back(makeRecord(diagnostic));
          return failure(); // the renderer comes next
        }) {}

  MLIRContext &context;
  CompileResult &result;
  TextStream stream;
  SourceMgrDiagnosticHandler renderer;
  ScopedDiagnosticHandler collector;
};

Recorder::Recorder(MLIRContext &context, llvm::SourceMgr &sources,
                   bool useColor, CompileResult &result)
    : impl(std::make_unique<Impl>(context, sources, useColor, result)) {
  context.printOpOnDiagnostic(false);
  remark::RemarkCategories all;
  all.all = all.passed = all.missed = all.analysis = all.failed = ".*";
  (void)remark::enableOptimizationRemarks(
      context, std::make_unique<RemarkCollector>(result.remarks),
      std::make_unique<remark::RemarkEmittingPolicyAll>(), all);
}

Recorder::~Recorder() {
  impl->context.setRemarkEngine(nullptr);
  impl->result.rendered = toUTF8(impl->result.rendered);
}

//===----------------------------------------------------------------------===//
// Snapshots
//===----------------------------------------------------------------------===//

static std::string printSnapshot(Operation *op) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  op->print(stream, OpPrintingFlags().useLocalScope());
  return text;
}

namespace {
class SnapshotRecorder final : public PassInstrumentation {
public:
  explicit SnapshotRecorder(std::vector<SnapshotRecord> &snapshots)
      : snapshots(snapshots) {}

  void runBeforePass(Pass *pass, Operation *op) override {
    if (!isReal(pass))
      return;
    // Printing takes longer than most passes.
    before.push_back(op == last.op ? std::move(last.text) : printSnapshot(op));
    last = {};
  }

  void runAfterPass(Pass *pass, Operation *op) override {
    if (!isReal(pass))
      return;
    last = {op, printSnapshot(op)};
    if (last.text != before.back())
      snapshots.push_back({pass->getArgument().str(),
                           op->getName().getStringRef().str(),
                           std::move(before.back()), last.text});
    before.pop_back();
  }

  void runAfterPassFailed(Pass *pass, Operation *op) override {
    if (isReal(pass))
      before.pop_back();
  }

private:
  /// Adaptors, which only run other passes, have no argument.
  static bool isReal(Pass *pass) { return !pass->getArgument().empty(); }

  std::vector<SnapshotRecord> &snapshots;
  std::vector<std::string> before;
  /// The operation that a pass has run on right before, and its text since.
  struct {
    Operation *op = nullptr;
    std::string text;
  } last;
};
} // namespace

void recordSnapshots(PassManager &manager,
                     std::vector<SnapshotRecord> &snapshots) {
  manager.addInstrumentation(std::make_unique<SnapshotRecorder>(snapshots));
}

SnapshotScope::SnapshotScope(MLIRContext &context,
                             std::vector<SnapshotRecord> &snapshots)
    : context(context) {
  context.registerActionHandler(
      [&snapshots](function_ref<void()> run, const tracing::Action &action) {
        auto *execution = dyn_cast<PassExecutionAction>(&action);
        // Adaptors, which only run other passes, have no argument.
        if (!execution || execution->getPass().getArgument().empty())
          return run();
        Operation *op = execution->getOp();
        std::string before = printSnapshot(op);
        run();
        std::string after = printSnapshot(op);
        if (before != after)
          snapshots.push_back({execution->getPass().getArgument().str(),
                               op->getName().getStringRef().str(),
                               std::move(before), std::move(after)});
      });
}

SnapshotScope::~SnapshotScope() { context.registerActionHandler(nullptr); }

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

std::string printType(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

static std::optional<int64_t> getIfStatic(int64_t value) {
  return ShapedType::isDynamic(value) ? std::nullopt : std::optional(value);
}

static TensorMapRecord describeTensorMap(nvgpu::TensorMapDescriptorType map) {
  MemRefType tile = map.getTensor();
  TensorMapRecord record;
  record.elementType = printType(tile.getElementType());
  record.box.assign(tile.getShape().rbegin(), tile.getShape().rend());
  record.swizzle = stringifyEnum(map.getSwizzle());
  record.interleave = stringifyEnum(map.getInterleave());
  record.l2promo = stringifyEnum(map.getL2promo());
  record.oob = stringifyEnum(map.getOob());
  return record;
}

/// How `type` of LLVM lies in the memory of a GPU: its bytes, and what they are
/// aligned to; none if that is not known.
static std::optional<std::pair<int64_t, int64_t>> getLayout(Type type) {
  constexpr int64_t kPointerBytes = 8;
  using Layout = std::optional<std::pair<int64_t, int64_t>>;
  if (isa<LLVM::LLVMPointerType>(type))
    return std::pair(kPointerBytes, kPointerBytes);
  auto array = dyn_cast<LLVM::LLVMArrayType>(type);
  if (array) {
    Layout element = getLayout(array.getElementType());
    return element ? Layout({element->first * int64_t(array.getNumElements()),
                             element->second})
                   : std::nullopt;
  }
  auto structure = dyn_cast<LLVM::LLVMStructType>(type);
  if (!structure) {
    auto vector = dyn_cast<VectorType>(type);
    if (!getElementTypeOrSelf(type).isIntOrFloat() ||
        (vector && vector.isScalable()))
      return std::nullopt;
    int64_t bits = getElementTypeOrSelf(type).getIntOrFloatBitWidth() *
                   (vector ? vector.getNumElements() : 1);
    int64_t bytes = llvm::PowerOf2Ceil(llvm::divideCeil(bits, 8));
    return std::pair(bytes, bytes);
  }
  int64_t bytes = 0, alignment = 1;
  for (Type part : structure.getBody()) {
    Layout layout = getLayout(part);
    if (!layout)
      return std::nullopt;
    int64_t own = structure.isPacked() ? 1 : layout->second;
    bytes = llvm::alignTo(bytes, own) + layout->first;
    alignment = std::max(alignment, own);
  }
  return std::pair(int64_t(llvm::alignTo(bytes, alignment)), alignment);
}

/// True if a pointer is part of `type`.
static bool holdsPointer(Type type) {
  if (auto array = dyn_cast<LLVM::LLVMArrayType>(type))
    return holdsPointer(array.getElementType());
  if (auto structure = dyn_cast<LLVM::LLVMStructType>(type))
    return llvm::any_of(structure.getBody(), holdsPointer);
  return isa<LLVM::LLVMPointerType>(type);
}

ArgumentRecord describeArgument(Type type, int64_t alignment) {
  ArgumentRecord record;
  record.type = printType(type);
  record.elementType = printType(getElementTypeOrSelf(type));
  if (isa<LLVM::LLVMStructType, LLVM::LLVMArrayType>(type)) {
    auto layout = getLayout(type);
    record.elementType = holdsPointer(type) || !layout
                             ? record.type
                             : "bytes<" + std::to_string(layout->first) + ">";
    return record;
  }
  if (auto map = dyn_cast<nvgpu::TensorMapDescriptorType>(type))
    record.tensorMap = describeTensorMap(map);
  auto memref = dyn_cast<MemRefType>(type);
  if (!memref) {
    record.elementType = record.type;
    return record;
  }
  record.isMemRef = true;
  record.alignment = alignment;
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  (void)memref.getStridesAndOffset(strides, offset);
  for (int64_t extent : memref.getShape())
    record.shape.push_back(getIfStatic(extent));
  for (int64_t stride : strides)
    record.strides.push_back(getIfStatic(stride));
  record.offset = getIfStatic(offset);
  return record;
}

} // namespace mlir::workgroup
