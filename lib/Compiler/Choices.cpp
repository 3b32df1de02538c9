//===- Choices.cpp - What a compilation can be asked for ------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What can be asked of the compiler, for those who ask in text: options of the
// memory pipeline, names and properties of chips, the version of LLVM. The
// tables themselves are in Target and Pipelines.
//
//===----------------------------------------------------------------------===//

#include "workgroup/Compiler/Compile.h"
#include "workgroup/Pipelines.h"
#include "workgroup/Target/Chip.h"
#include "llvm/Config/llvm-config.h"

namespace mlir::workgroup {

std::string checkMemoryOptions(const std::string &options) {
  MemoryPipelineOptions parsed;
  std::string complaint;
  llvm::raw_string_ostream stream(complaint);
  if (failed(parsed.parseFromString(options, stream)))
    return complaint.empty() ? "an option has a value that it does not take"
                             : StringRef(complaint).trim().str();
  bool isOther = parsed.chip.hasValue() || parsed.sync.hasValue() ||
                 parsed.assumeAlignment.hasValue() ||
                 parsed.verifyBarriers.hasValue();
  if (isOther)
    return "chip, barriers and the alignment of arguments are not set this way";
  std::string why = getSlotsObstacle(parsed.rings.slots);
  int64_t producers = parsed.rings.specializeWarps;
  if (why.empty() && producers != 0 && producers != -1)
    why = getProducersObstacle(producers);
  int64_t blocks = parsed.rings.persistGrid;
  if (why.empty() && blocks != 0 && blocks != -1)
    why = getBlocksObstacle(blocks);
  return why;
}

std::vector<std::string> getChipNames() {
  std::vector<std::string> names;
  for (const Chip &chip : getChips())
    names.push_back(chip.name.str());
  return names;
}

std::vector<ChipRecord> describeChips() {
  std::vector<ChipRecord> records;
  for (const Chip &chip : getChips())
    records.push_back({chip.name.str(), chip.maxWorkgroupBytes,
                       chip.multiprocessorBytes, chip.systemBytesPerBlock,
                       chip.maxBlocks, chip.maxThreads, chip.multiprocessors});
  return records;
}

std::string getDefaultChipName() { return getDefaultChip().name.str(); }

namespace {
struct PassEntry {
  const char *name, *summary;
};
} // namespace

#define GET_PassTable_IMPL
#include "workgroup/Tables.inc"

std::vector<std::pair<std::string, std::string>> getPassSummaries() {
  std::vector<std::pair<std::string, std::string>> summaries;
  for (const PassEntry &pass : PassTable)
    summaries.emplace_back(pass.name, pass.summary);
  for (auto [name, summary] : getPipelineSummaries())
    summaries.emplace_back(name, summary);
  return summaries;
}

std::string getLLVMVersion() { return LLVM_VERSION_STRING; }

} // namespace mlir::workgroup
