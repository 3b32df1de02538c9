//===- SizeBounds.cpp - Sizes that a kernel was compiled for --------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attributes first, then the special registers that the kernel reads.
//
//===----------------------------------------------------------------------===//

#include "SizeBounds.h"
#include "LLVMNames.h"
#include "llvm/IR/ConstantRange.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include <numeric>

using namespace llvm;

namespace mlir::workgroup::emulator {

static void readAttributes(const Function &function, KernelTables &tables) {
  auto readSizes = [&](StringRef name) {
    SmallVector<StringRef> parts;
    SmallVector<uint32_t> sizes;
    StringRef text = function.getFnAttribute(name).getValueAsString();
    text.split(parts, ',', -1, /*KeepEmpty=*/false);
    for (StringRef part : parts)
      if (uint32_t size = 0; !part.trim().getAsInteger(10, size))
        sizes.push_back(size);
    return sizes;
  };
  if (SmallVector<uint32_t> sizes = readSizes("nvvm.maxntid"); !sizes.empty())
    tables.maxThreads = std::accumulate(sizes.begin(), sizes.end(), 1u,
                                        std::multiplies<uint32_t>());
  if (SmallVector<uint32_t> sizes = readSizes("nvvm.cluster_dim");
      !sizes.empty()) {
    tables.cluster = {1, 1, 1};
    copy(ArrayRef(sizes).take_front(3), tables.cluster->begin());
  }
  if (SmallVector<uint32_t> most = readSizes("nvvm.maxclusterrank");
      !most.empty())
    tables.maxClusterBlocks = most.front();
  if (SmallVector<uint32_t> most = readSizes("nvvm.maxnreg"); !most.empty())
    tables.maxRegisters = most.front();
  if (SmallVector<uint32_t> least = readSizes("nvvm.minctasm");
      !least.empty() && least.front() != 0)
    tables.minBlocks = least.front();
  if (SmallVector<uint32_t> sizes = readSizes("nvvm.reqntid"); !sizes.empty()) {
    sizes.resize(3, 1); // what is left out is one
    for (auto [dim, size] : enumerate(sizes))
      tables.sizeBounds.push_back({false, unsigned(dim), size, size});
  }
}

/// Ranges of what special registers hold.
static void readRanges(const Function &function, KernelTables &tables) {
  for (const Instruction &instruction : instructions(function)) {
    auto *call = dyn_cast<IntrinsicInst>(&instruction);
    std::optional<ConstantRange> range = call ? call->getRange() : std::nullopt;
    StringRef name = call ? call->getCalledFunction()->getName() : "";
    if (!range || !name.consume_front("llvm.nvvm.read.ptx.sreg."))
      continue;
    auto [kind, part] = name.split('.');
    unsigned dim = part == "x" ? 0 : part == "y" ? 1 : 2;
    uint32_t end = range->getUnsignedMax().getZExtValue();
    bool isGrid = kind.contains("ctaid");
    if (kind == "tid" || kind == "ctaid")
      tables.sizeBounds.push_back({isGrid, dim, 1, end + 1});
    else if (kind == "ntid" || kind == "nctaid")
      tables.sizeBounds.push_back({isGrid, dim, 1, end});
  }
}

void findSizeBounds(const Function &function, KernelTables &tables) {
  readAttributes(function, tables);
  readRanges(function, tables);
}

} // namespace mlir::workgroup::emulator
