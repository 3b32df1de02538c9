//===- Chip.cpp - The chips that are compiled for -------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "workgroup/Target/Chip.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::workgroup {

static constexpr int64_t kKiB = 1024;

static constexpr Chip kChips[] = {
    {"sm_75", 63, 64 * kKiB, 64 * kKiB, 0, 16, 1024, 40},
    {"sm_80", 70, 163 * kKiB, 164 * kKiB, kKiB, 32, 2048, 108},
    {"sm_86", 71, 99 * kKiB, 100 * kKiB, kKiB, 16, 1536, 84},
    {"sm_89", 78, 99 * kKiB, 100 * kKiB, kKiB, 24, 1536, 128},
    {"sm_90", 80, 227 * kKiB, 228 * kKiB, kKiB, 32, 2048, 132},
    {"sm_90a", 80, 227 * kKiB, 228 * kKiB, kKiB, 32, 2048, 132},
    {"sm_100", 86, 227 * kKiB, 228 * kKiB, kKiB, 32, 2048, 148},
    {"sm_120", 87, 99 * kKiB, 100 * kKiB, kKiB, 24, 1536, 170},
};

ArrayRef<Chip> getChips() { return kChips; }

const Chip *findChip(StringRef name) {
  const Chip *chip =
      llvm::find_if(kChips, [&](const Chip &c) { return c.name == name; });
  return chip == std::end(kChips) ? nullptr : chip;
}

const Chip &getDefaultChip() { return *findChip("sm_80"); }

std::string listChips() {
  return llvm::join(
      llvm::map_range(kChips, [](const Chip &chip) { return chip.name.str(); }),
      ", ");
}

std::string getPTXName(StringRef name) {
  std::string valid;
  for (char c : name)
    valid += llvm::isAlnum(c) || c == '_' || c == '$' ? c : '_';
  // A digit cannot come first, and `_` and `$` not alone.
  bool isIdentifier = !valid.empty() && llvm::isAlpha(valid[0]);
  return isIdentifier || (valid.size() > 1 && !llvm::isDigit(valid[0]))
             ? valid
             : "_" + valid + "_";
}

NVVM::NVVMTargetAttr getTarget(gpu::GPUModuleOp module) {
  if (ArrayAttr targets = module.getTargetsAttr())
    for (Attribute target : targets)
      if (auto nvvm = dyn_cast<NVVM::NVVMTargetAttr>(target))
        return nvvm;
  return {};
}

unsigned Chip::getArchitecture() const {
  unsigned version = 0;
  StringRef digits = name.drop_front(StringRef("sm_").size());
  return digits.consumeInteger(10, version) ? 0 : version;
}

bool Chip::hasAsyncCopies() const {
  constexpr unsigned kAmpere = 80;
  return getArchitecture() >= kAmpere;
}

bool Chip::hasMatrixProducts(Type type) const {
  // PTX ISA, "Target ISA Notes" of mma.
  constexpr unsigned kTuring = 75, kAmpere = 80;
  return (type.isF16() && getArchitecture() >= kTuring) ||
         (type.isBF16() && getArchitecture() >= kAmpere);
}

bool Chip::hasTensorCopies() const {
  constexpr unsigned kHopper = 90;
  return getArchitecture() >= kHopper;
}

int64_t Chip::getResidentBlocks(int64_t bytes, int64_t numThreads) const {
  constexpr int64_t kGranularity = 256, kWarp = 32;
  int64_t taken = llvm::alignTo(bytes + systemBytesPerBlock, kGranularity);
  int64_t byMemory = taken == 0 ? maxBlocks : multiprocessorBytes / taken;
  int64_t byThreads = maxThreads / llvm::alignTo(numThreads, kWarp);
  return std::min({maxBlocks, byMemory, byThreads});
}

const Chip *resolveChip(Operation *op, StringRef name) {
  auto module = dyn_cast<gpu::GPUModuleOp>(op);
  if (!module)
    module = op->getParentOfType<gpu::GPUModuleOp>();
  NVVM::NVVMTargetAttr target =
      module ? getTarget(module) : NVVM::NVVMTargetAttr();
  if (target && !name.empty() && target.getChip() != name) {
    module.emitOpError("has a target for ")
        << target.getChip() << ", but is to be compiled for " << name
        << "; drop the target, or name its chip";
    return nullptr;
  }
  StringRef wanted = target          ? target.getChip()
                     : !name.empty() ? name
                                     : StringRef(getDefaultChip().name);
  const Chip *chip = findChip(wanted);
  if (!chip)
    op->emitOpError("cannot be compiled for unknown chip '")
        << wanted << "'; supported are " << listChips();
  return chip;
}

} // namespace mlir::workgroup
