//===- Scopes.cpp - Whom an atomic operation reaches ----------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Scopes.h"
#include "llvm/Support/ErrorHandling.h"

namespace mlir::workgroup::emulator {

llvm::StringRef getName(Scope scope) {
  switch (scope) {
  case Scope::Thread:
    return "singlethread";
  case Scope::Block:
    return "block";
  case Scope::Cluster:
    return "cluster";
  case Scope::Device:
    return "device";
  }
  llvm_unreachable("unknown scope");
}

std::array<uint32_t, 3> BlockGrid::locate(uint64_t block) const {
  return {uint32_t(block % blocks[0]), uint32_t(block / blocks[0] % blocks[1]),
          uint32_t(block / blocks[0] / blocks[1])};
}

uint64_t BlockGrid::getBlock(uint64_t number, unsigned rank) const {
  uint64_t block = 0, width = 1;
  for (unsigned dim = 0; dim < 3; ++dim) {
    uint64_t clusters = blocks[dim] / cluster[dim];
    uint64_t at = number % clusters * cluster[dim] + rank % cluster[dim];
    block += at * width;
    width *= blocks[dim];
    number /= clusters;
    rank /= cluster[dim];
  }
  return block;
}

uint64_t BlockGrid::getCluster(uint64_t block) const {
  std::array<uint32_t, 3> at = locate(block);
  uint64_t number = 0, width = 1;
  for (unsigned dim = 0; dim < 3; ++dim) {
    number += at[dim] / cluster[dim] * width;
    width *= blocks[dim] / cluster[dim];
  }
  return number;
}

Scope BlockGrid::getDistance(uint64_t block, uint64_t other) const {
  if (block == other)
    return Scope::Block;
  std::array<uint32_t, 3> at = locate(block), there = locate(other);
  for (unsigned dim = 0; dim < 3; ++dim)
    if (at[dim] / cluster[dim] != there[dim] / cluster[dim])
      return Scope::Device;
  return Scope::Cluster;
}

} // namespace mlir::workgroup::emulator
