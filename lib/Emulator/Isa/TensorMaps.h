//===- TensorMaps.h - Boxes of tensors ------------------------ -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A TMA copy moves a box of a tensor: rows of the box lie in global memory by
// the strides of the map, and one behind the other in the tile. Elements
// outside of the tensor are filled. A swizzle permutes chunks of 16 bytes in
// the tile by address bits (CUDA driver API, `CUtensorMapSwizzle`), for 128
// bytes:
//
//   bits 4 to 6 of the offset -> bits 4 to 6 xor bits 7 to 9
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_ISA_TENSORMAPS_H
#define WORKGROUP_LIB_EMULATOR_ISA_TENSORMAPS_H

#include "workgroup/Emulator/Emulator.h"
#include "llvm/ADT/ArrayRef.h"
#include <algorithm>

namespace mlir::workgroup::emulator {

/// A tensor in global memory and the boxes that copies move.
struct TensorMap {
  static constexpr unsigned kMaxRank = 5;
  /// Bytes that a swizzle moves together.
  static constexpr uint64_t kChunk = 16;

  TensorMap(const TensorMapView &view, uint8_t *address)
      : view(view), address(address) {}

  const TensorMapView &view;
  /// The address of element zero.
  uint8_t *address;

  unsigned getRank() const { return view.dims.size(); }
  uint64_t getRowBytes() const {
    return uint64_t(view.box[0]) * view.elementBytes;
  }
  uint64_t getBoxBytes() const {
    uint64_t bytes = view.elementBytes;
    for (uint32_t extent : view.box)
      bytes *= extent;
    return bytes;
  }
  uint8_t getFill() const {
    return view.oobFill == TensorFill::Zero ? 0 : 0xff;
  }

  /// The alignment that a tile in workgroup memory has to have: the bytes after
  /// which the pattern of the swizzle repeats.
  uint64_t getAlignment() const {
    constexpr uint64_t kLine = 128;
    return kLine << (view.swizzle == TensorSwizzle::None
                         ? 0
                         : unsigned(view.swizzle));
  }

  /// Bytes within which the swizzle moves chunks; one if there is none.
  uint64_t getSpan() const {
    return view.swizzle == TensorSwizzle::None
               ? 1
               : kChunk << unsigned(view.swizzle);
  }

  /// The address at which the chunk of an address of workgroup memory really
  /// is.
  uint64_t swizzle(uint64_t offset) const {
    constexpr unsigned kLineBits = 7, kChunkBits = 4;
    uint64_t mask = (uint64_t(1) << unsigned(view.swizzle)) - 1;
    return offset ^ (offset >> kLineBits & mask) << kChunkBits;
  }

  /// A row of a box: where it is in the tile, and which of its bytes there are
  /// in the tensor, from `offset` bytes after element zero on.
  struct Row {
    uint64_t tileOffset;
    int64_t offset;
    uint64_t begin, end;
  };

  /// Calls `run` for each row of the box at `coordinates`, innermost first.
  template <typename Function>
  void forEachRow(llvm::ArrayRef<int32_t> coordinates, Function run) const {
    uint64_t index[kMaxRank] = {};
    int64_t first = coordinates[0], extent = view.dims[0];
    int64_t begin = std::clamp<int64_t>(-first, 0, view.box[0]);
    int64_t end = std::clamp<int64_t>(extent - first, begin, view.box[0]);
    for (uint64_t at = 0, bytes = getBoxBytes(); at < bytes;
         at += getRowBytes()) {
      bool isInside = true;
      int64_t offset = (first + begin) * view.elementBytes;
      for (unsigned dim = 1; dim < getRank(); ++dim) {
        int64_t position = int64_t(coordinates[dim]) + int64_t(index[dim]);
        isInside &= position >= 0 && position < int64_t(view.dims[dim]);
        if (isInside)
          offset += position * int64_t(view.strides[dim - 1]);
      }
      uint64_t last = isInside ? end : begin;
      run(Row{at, offset, uint64_t(begin) * view.elementBytes,
              last * view.elementBytes});
      for (unsigned dim = 1; dim < getRank() && ++index[dim] == view.box[dim];
           ++dim)
        index[dim] = 0;
    }
  }
};

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_ISA_TENSORMAPS_H
