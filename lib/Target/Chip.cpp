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

namespace mlir::workgroup {

static constexpr Chip kChips[] = {
    {"sm_75", 63, 64 * 1024},   {"sm_80", 70, 163 * 1024},
    {"sm_86", 71, 99 * 1024},   {"sm_89", 78, 99 * 1024},
    {"sm_90", 80, 227 * 1024},  {"sm_90a", 80, 227 * 1024},
    {"sm_100", 86, 227 * 1024}, {"sm_120", 87, 99 * 1024},
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

} // namespace mlir::workgroup
