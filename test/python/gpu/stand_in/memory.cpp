//===- memory.cpp - Memory and tensor maps --------------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Calls on memory: allocation, copies, fills, tensor maps.
//
//===----------------------------------------------------------------------===//

#include "call.h"

#include <cstdlib>

using namespace stand_in;

API cuMemAlloc_v2(uint64_t *address, size_t bytes) {
  BEGIN(Context, " %zu", bytes);
  if (Result code = refuseWhileCapturing())
    return code;
  return allocate(address, bytes, currentContext()->device, false);
}

API cuMemFree_v2(uint64_t address) {
  BEGIN(Context, " %s", describe(address).c_str());
  if (Result code = refuseWhileCapturing())
    return code;
  // It waits for all work of the device.
  for (auto &[handle, stream] : state().streams)
    drain(*stream);
  if (currentContext()->legacy)
    drain(*currentContext()->legacy);
  return address ? release(address) : Success;
}

API cuMemAllocAsync(uint64_t *address, size_t bytes, void *handle) {
  BEGIN(Context, " %zu on %s", bytes, describe(handle).c_str());
  FIND_STREAM(stream, handle);
  // While a stream is captured, memory would be the graph's; nobody here asks
  // for that.
  if (stream->capture || !state().hasPools)
    return NotSupported;
  return allocate(address, bytes, stream->context->device, true);
}

API cuMemFreeAsync(uint64_t address, void *handle) {
  BEGIN(Context, " %s on %s", describe(address).c_str(),
        describe(handle).c_str());
  FIND_STREAM(stream, handle);
  uint64_t base = 0;
  const Allocation *found = findAllocation(address, 0, &base);
  if (!found || base != address || stream->capture || !state().hasPools)
    return InvalidValue;
  return enqueue(*stream, [address] { release(address); });
}

static bool isHost(const void *pointer) {
  return pointer && !findAllocation(reinterpret_cast<uintptr_t>(pointer), 0);
}

API cuMemcpyHtoDAsync_v2(uint64_t target, const void *source, size_t bytes,
                         void *handle) {
  BEGIN(Context, " %s %zu on %s", describe(target).c_str(), bytes,
        describe(handle).c_str());
  FIND_STREAM(stream, handle);
  if (!bytes)
    return Success;
  if (!isHost(source) || !findAllocation(target, bytes))
    return InvalidValue;
  auto *to = reinterpret_cast<char *>(target);
  // Pageable memory is read before the call returns, unless it is captured.
  if (stream->capture)
    return enqueue(*stream, [=] { memcpy(to, source, bytes); });
  const char *from = static_cast<const char *>(source);
  std::vector<char> staged(from, from + bytes);
  return enqueue(*stream, [to, staged = std::move(staged)] {
    memcpy(to, staged.data(), staged.size());
  });
}

API cuMemcpyDtoHAsync_v2(void *target, uint64_t source, size_t bytes,
                         void *handle) {
  BEGIN(Context, " %s %zu on %s", describe(source).c_str(), bytes,
        describe(handle).c_str());
  FIND_STREAM(stream, handle);
  if (!bytes)
    return Success;
  if (!isHost(target) || !findAllocation(source, bytes))
    return InvalidValue;
  return enqueue(*stream, [=] {
    memcpy(target, reinterpret_cast<const void *>(source), bytes);
  });
}

API cuMemcpyDtoDAsync_v2(uint64_t target, uint64_t source, size_t bytes,
                         void *handle) {
  BEGIN(Context, " %s from %s %zu on %s", describe(target).c_str(),
        describe(source).c_str(), bytes, describe(handle).c_str());
  FIND_STREAM(stream, handle);
  if (!bytes)
    return Success;
  if (!findAllocation(target, bytes) || !findAllocation(source, bytes))
    return InvalidValue;
  return enqueue(*stream, [=] {
    memmove(reinterpret_cast<void *>(target),
            reinterpret_cast<const void *>(source), bytes);
  });
}

/// One side of a copy of rows: where it starts, or 0 if it is not all there.
static uintptr_t findRows(unsigned type, const void *host, uint64_t device,
                          size_t x, size_t y, size_t pitch, size_t width,
                          size_t height) {
  bool isHostSide = type == 1, isDeviceSide = type == 2;
  if ((!isHostSide && !isDeviceSide) || (height > 1 && pitch < x + width))
    return 0;
  uint64_t start = isHostSide ? reinterpret_cast<uintptr_t>(host) : device;
  if (!start)
    return 0;
  start += y * pitch + x;
  size_t bytes = (height - 1) * pitch + width;
  bool isThere = isHostSide ? isHost(reinterpret_cast<void *>(start))
                            : findAllocation(start, bytes) != nullptr;
  return isThere ? start : 0;
}

API cuMemcpy2DAsync_v2(const Memcpy2D *copy, void *handle) {
  BEGIN(Context, " %zu x %zu on %s", copy->height, copy->widthInBytes,
        describe(handle).c_str());
  FIND_STREAM(stream, handle);
  Memcpy2D c = *copy;
  if (!c.widthInBytes || !c.height)
    return Success;
  uintptr_t from =
      findRows(c.srcMemoryType, c.srcHost, c.srcDevice, c.srcXInBytes, c.srcY,
               c.srcPitch, c.widthInBytes, c.height);
  uintptr_t to =
      findRows(c.dstMemoryType, c.dstHost, c.dstDevice, c.dstXInBytes, c.dstY,
               c.dstPitch, c.widthInBytes, c.height);
  // cuMemAllocPitch takes no pitch above this, nor do copies.
  size_t mostPitch = size_t(1) << 31;
  if (!from || !to || c.srcPitch >= mostPitch || c.dstPitch >= mostPitch)
    return InvalidValue;
  return enqueue(*stream, [=] {
    for (size_t row = 0; row < c.height; ++row)
      memmove(reinterpret_cast<char *>(to) + row * c.dstPitch,
              reinterpret_cast<const char *>(from) + row * c.srcPitch,
              c.widthInBytes);
  });
}

template <typename T>
static int fillRows(uint64_t target, size_t pitch, T value, size_t width,
                    size_t height, void *handle) {
  FIND_STREAM(stream, handle);
  if (!width || !height)
    return Success;
  size_t bytes = (height - 1) * pitch + width * sizeof(T);
  if (target % sizeof(T) || pitch % sizeof(T) ||
      (height > 1 && pitch < width * sizeof(T)) ||
      !findAllocation(target, bytes))
    return InvalidValue;
  return enqueue(*stream, [=] {
    for (size_t row = 0; row < height; ++row)
      for (size_t i = 0; i < width; ++i)
        reinterpret_cast<T *>(target + row * pitch)[i] = value;
  });
}

API cuMemsetD8Async(uint64_t target, unsigned char value, size_t count,
                    void *handle) {
  BEGIN(Context, " %s %zu times 0x%02x on %s", describe(target).c_str(), count,
        value, describe(handle).c_str());
  return fillRows(target, 0, value, count, 1, handle);
}

API cuMemsetD16Async(uint64_t target, unsigned short value, size_t count,
                     void *handle) {
  BEGIN(Context, " %s %zu times 0x%04x on %s", describe(target).c_str(), count,
        value, describe(handle).c_str());
  return fillRows(target, 0, value, count, 1, handle);
}

API cuMemsetD32Async(uint64_t target, unsigned value, size_t count,
                     void *handle) {
  BEGIN(Context, " %s %zu times 0x%08x on %s", describe(target).c_str(), count,
        value, describe(handle).c_str());
  return fillRows(target, 0, value, count, 1, handle);
}

API cuMemsetD2D32Async(uint64_t target, size_t pitch, unsigned value,
                       size_t width, size_t height, void *handle) {
  BEGIN(Context, " %s %zu x %zu times 0x%08x on %s", describe(target).c_str(),
        height, width, value, describe(handle).c_str());
  return fillRows(target, pitch, value, width, height, handle);
}

API cuPointerGetAttribute(void *value, int attribute, uint64_t address) {
  BEGIN(Initialization, " %d of %s", attribute, describe(address).c_str());
  const Allocation *found = findAllocation(address, 0);
  if (!found)
    return InvalidValue;
  if (attribute == 2) { // MEMORY_TYPE
    *static_cast<unsigned *>(value) = 2;
    return Success;
  }
  if (attribute == 9) { // DEVICE_ORDINAL
    *static_cast<int *>(value) = found->device;
    return Success;
  }
  return InvalidValue;
}

// --- tensor maps ------------------------------------------------------------

/// Bytes of the elements of `CUtensorMapDataType`, 0 where it has no such
/// number.
static size_t elementBytes(int type) {
  static const size_t bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  return type >= 0 && type < 13 ? bytes[type] : 0;
}

static bool isFloat(int type) { return type >= 6; }

/// What the tests read of a map: the address, then rank, type and modes, a
/// byte each, then extents, strides and boxes.
static void encode(TensorMap *map, const uint8_t (&modes)[6], uint64_t address,
                   const uint64_t *extents, const uint64_t *strides,
                   const unsigned *box, const unsigned *elementStrides) {
  memset(map, 0, sizeof *map);
  unsigned rank = modes[0];
  auto *words = map->opaque;
  words[0] = address;
  memcpy(&words[1], modes, sizeof modes);
  for (unsigned i = 0; i < rank; ++i) {
    words[2 + i] = extents[i];
    if (i + 1 < rank)
      words[7 + i] = strides[i];
    // 5 boxes of 9 bits, and 5 strides of 4.
    words[11] |= uint64_t(box[i]) << (9 * i);
    words[12] |= uint64_t(elementStrides[i]) << (4 * i);
  }
  words[15] = 0x70616d726f736e65; // ensormap
}

API cuTensorMapEncodeTiled(TensorMap *map, int type, unsigned rank,
                           void *address, const uint64_t *extents,
                           const uint64_t *strides, const unsigned *box,
                           const unsigned *elementStrides, int interleave,
                           int swizzle, int promotion, int fill) {
  BEGIN(Initialization, " rank %u at %s", rank,
        describe(reinterpret_cast<uintptr_t>(address)).c_str());
  auto start = reinterpret_cast<uintptr_t>(map);
  auto at = reinterpret_cast<uintptr_t>(address);
  size_t bytes = elementBytes(type);
  if (start % 64 || !bytes || rank < 1 || rank > 5 || interleave < 0 ||
      interleave > 2 || swizzle < 0 || swizzle > 3 || promotion < 0 ||
      promotion > 3 || fill < 0 || fill > 1)
    return InvalidValue;
  size_t alignment = interleave == 2 ? 32 : 16;
  if (at % alignment || (interleave && rank < 3) || (fill && !isFloat(type)))
    return InvalidValue;
  for (unsigned i = 0; i < rank; ++i) {
    if (extents[i] < 1 || extents[i] > uint64_t(1) << 32 || box[i] < 1 ||
        box[i] > 256 || elementStrides[i] < 1 || elementStrides[i] > 8)
      return InvalidValue;
    if (i + 1 < rank &&
        (strides[i] % alignment || strides[i] >= uint64_t(1) << 40))
      return InvalidValue;
  }
  static const size_t spans[] = {0, 32, 64, 128};
  size_t row = box[0] * bytes;
  if (!interleave && (row % 16 || (swizzle && row > spans[swizzle])))
    return InvalidValue;
  encode(map,
         {uint8_t(rank), uint8_t(type), uint8_t(interleave), uint8_t(swizzle),
          uint8_t(promotion), uint8_t(fill)},
         at, extents, strides, box, elementStrides);
  return Success;
}
