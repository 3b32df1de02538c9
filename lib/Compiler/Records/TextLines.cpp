//===- TextLines.cpp - Which lines are made of which ----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TextLines.h"
#include "Records.h"
#include "Target/LineTables.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/AsmState.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/AssemblyAnnotationWriter.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FormattedStream.h"
#include "llvm/Transforms/Utils/Cloning.h"

namespace mlir::workgroup {

namespace {

/// Collects places for the lines of a text.
class LineCollector {
public:
  explicit LineCollector(TextLinesRecord &record) : record(record) {}

  /// Adds a place to `line`, counted from 1.
  void add(unsigned line, SourceLocation place) {
    if (line == 0 || place.line == 0)
      return;
    if (record.lines.size() < line)
      record.lines.resize(line);
    std::string key = place.file + ":" + std::to_string(place.line);
    auto [it, isNew] = numbers.try_emplace(key, record.places.size());
    if (isNew)
      record.places.push_back({std::move(place.file), place.line, 0});
    std::vector<unsigned> &here = record.lines[line - 1];
    if (!llvm::is_contained(here, it->second))
      here.push_back(it->second);
  }

private:
  TextLinesRecord &record;
  llvm::StringMap<unsigned> numbers;
};

} // namespace

//===----------------------------------------------------------------------===//
// MLIR
//===----------------------------------------------------------------------===//

std::string printWithLines(ModuleOp module, TextLinesRecord &record,
                           OperationLines &operations) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  AsmState state(module, OpPrintingFlags(), &operations);
  module.print(stream, state);
  LineCollector collector(record);
  module->walk([&](Operation *op) {
    auto it = operations.find(op);
    if (it == operations.end())
      return;
    for (FileLineColRange place : getLocations(op->getLoc()))
      collector.add(it->second.first,
                    {toUTF8(place.getFilename()), place.getStartLine(), 0});
  });
  return text;
}

void relocate(ModuleOp module, const OperationLines &operations) {
  auto file = StringAttr::get(module.getContext(), kStageFile);
  for (auto kernels : module.getOps<gpu::GPUModuleOp>())
    kernels->walk([&](Operation *op) {
      if (auto it = operations.find(op); it != operations.end())
        op->setLoc(
            FileLineColLoc::get(file, it->second.first, it->second.second));
    });
}

//===----------------------------------------------------------------------===//
// LLVM IR
//===----------------------------------------------------------------------===//

namespace {

/// Is told of each instruction before it is printed, in the order of `places`.
class InstructionLines final : public llvm::AssemblyAnnotationWriter {
public:
  InstructionLines(ArrayRef<SourceLocation> places, LineCollector &collector)
      : places(places), collector(collector) {}

  void emitInstructionAnnot(const llvm::Instruction *,
                            llvm::formatted_raw_ostream &stream) override {
    collector.add(stream.getLine() + 1, places[next++]);
  }

private:
  ArrayRef<SourceLocation> places;
  size_t next = 0;
  LineCollector &collector;
};

} // namespace

std::string printWithLines(const llvm::Module &module,
                           TextLinesRecord &record) {
  std::vector<SourceLocation> places;
  for (const llvm::Function &function : module)
    for (const llvm::Instruction &instruction : llvm::instructions(function)) {
      SourceLocation &place = places.emplace_back();
      if (const llvm::DILocation *location = instruction.getDebugLoc().get())
        place = {toUTF8(location->getFilename()), location->getLine(), 0};
    }
  std::unique_ptr<llvm::Module> plain = llvm::CloneModule(module);
  llvm::StripDebugInfo(*plain);
  LineCollector collector(record);
  InstructionLines lines(places, collector);
  std::string text;
  llvm::raw_string_ostream stream(text);
  plain->print(stream, &lines);
  return text;
}

//===----------------------------------------------------------------------===//
// PTX
//===----------------------------------------------------------------------===//

/// The next number of `text`, which is taken off it.
static unsigned takeNumber(StringRef &text) {
  unsigned number = 0;
  text = text.ltrim();
  (void)text.consumeInteger(10, number);
  return number;
}

std::string takeLines(StringRef ptx, TextLinesRecord &record) {
  std::string text;
  LineCollector collector(record);
  DenseMap<unsigned, StringRef> files;
  SmallVector<StringRef> lines;
  ptx.split(lines, '\n');
  for (StringRef line : lines) {
    StringRef rest = line.trim();
    if (rest.consume_front(".file")) {
      unsigned number = takeNumber(rest);
      files[number] = rest.split('"').second.rsplit('"').first;
    }
  }
  SourceLocation place;
  unsigned number = 1;
  for (StringRef line : lines) {
    StringRef rest = line.trim();
    if (rest.consume_front(".loc")) {
      place.file = files.lookup(takeNumber(rest)).str();
      place.line = takeNumber(rest);
      continue;
    }
    bool isLabel = rest.starts_with("$L__tmp") ||
                   rest.starts_with("$L__func_") ||
                   rest.starts_with("$L__info_");
    if (isLabel || rest.starts_with(".file") ||
        rest.starts_with(".section\t.debug"))
      continue;
    bool isInstruction = !rest.empty() && rest.ends_with(";") &&
                         !rest.starts_with(".") && !rest.starts_with("//");
    if (isInstruction)
      collector.add(number, place);
    if (rest == "}")
      place = {};
    text += (line + "\n").str();
    ++number;
  }
  text.pop_back(); // behind the last line there was none
  return text;
}

} // namespace mlir::workgroup
