//===- AsyncCopies.cpp - Copies that are under way ------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How the bytes of a copy get from one memory to the other.
//
//===----------------------------------------------------------------------===//

#include "AsyncCopies.h"
#include <cstring>

namespace mlir::workgroup::emulator {

void AsyncCopy::write(uint8_t *window) const {
  std::memcpy(window + target, source, sourceBytes);
  std::memset(window + target + sourceBytes, 0, bytes - sourceBytes);
}

void BulkCopy::load(uint8_t *window) const {
  if (!map) {
    std::memcpy(window + shared, global, bytes);
    return;
  }
  std::vector<uint8_t> row(map->getRowBytes());
  map->forEachRow(getCoordinates(), [&](const TensorMap::Row &place) {
    std::fill(row.begin(), row.end(), map->getFill());
    if (place.begin != place.end)
      std::memcpy(row.data() + place.begin, map->address + place.offset,
                  place.end - place.begin);
    for (uint64_t at = 0; at < row.size(); at += TensorMap::kChunk)
      std::memcpy(window + map->swizzle(shared + place.tileOffset + at),
                  row.data() + at, TensorMap::kChunk);
  });
}

std::vector<uint8_t> BulkCopy::gather(const uint8_t *window) const {
  std::vector<uint8_t> result(getBytes());
  for (uint64_t at = 0; at < result.size(); at += TensorMap::kChunk) {
    uint64_t from = map ? map->swizzle(shared + at) : shared + at;
    std::memcpy(result.data() + at, window + from, TensorMap::kChunk);
  }
  return result;
}

void BulkCopy::store(const uint8_t *bytes,
                     std::optional<BulkElement> element) const {
  if (!map) {
    std::memcpy(global, bytes, getBytes());
    return;
  }
  map->forEachRow(getCoordinates(), [&](const TensorMap::Row &row) {
    uint8_t *to = map->address + row.offset;
    const uint8_t *from = bytes + row.tileOffset + row.begin;
    uint64_t size = row.end - row.begin;
    if (size && element)
      reduce(*element, *reduction, to, from, size / map->view.elementBytes);
    else if (size)
      std::memcpy(to, from, size);
  });
}

} // namespace mlir::workgroup::emulator
