//===- BulkReductions.cpp - Stores that reduce ----------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Narrow floats are reduced as floats and rounded to the nearest.
//
//===----------------------------------------------------------------------===//

#include "BulkReductions.h"
#include "MatrixFragments.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/bit.h"
#include <cmath>
#include <cstring>

namespace mlir::workgroup::emulator {

std::optional<BulkElement> parseElement(llvm::StringRef name) {
  return llvm::StringSwitch<std::optional<BulkElement>>(name)
      .Case("f16", BulkElement::F16)
      .Case("bf16", BulkElement::BF16)
      .Case("f32", BulkElement::F32)
      .Case("f64", BulkElement::F64)
      .Cases({"i32", "si32"}, BulkElement::S32)
      .Case("ui32", BulkElement::U32)
      .Cases({"i64", "si64"}, BulkElement::S64)
      .Case("ui64", BulkElement::U64)
      .Default(std::nullopt);
}

static bool isFloat(BulkElement element) { return element < BulkElement::S32; }

bool canReduce(BulkElement element, BulkReduction reduction) {
  switch (reduction) {
  case BulkReduction::Add:
    return true;
  case BulkReduction::Min:
  case BulkReduction::Max:
    return element != BulkElement::F32 && element != BulkElement::F64;
  case BulkReduction::Inc:
  case BulkReduction::Dec:
    return element == BulkElement::U32 || element == BulkElement::S32;
  case BulkReduction::And:
  case BulkReduction::Or:
  case BulkReduction::Xor:
    return !isFloat(element);
  }
  return false;
}

/// Of integers of `T`, which wrap around.
template <typename T>
static T combine(BulkReduction reduction, T old, T value) {
  using Bits = std::make_unsigned_t<T>;
  switch (reduction) {
  case BulkReduction::Add:
    return T(Bits(old) + Bits(value));
  case BulkReduction::Min:
    return std::min(old, value);
  case BulkReduction::Max:
    return std::max(old, value);
  case BulkReduction::Inc:
    return Bits(old) >= Bits(value) ? T(0) : T(old + 1);
  case BulkReduction::Dec:
    return old == 0 || Bits(old) > Bits(value) ? value : T(old - 1);
  case BulkReduction::And:
    return old & value;
  case BulkReduction::Or:
    return old | value;
  case BulkReduction::Xor:
    return old ^ value;
  }
  return old;
}

/// Of floats; the least or greatest is the number if one is none.
template <typename T>
static T combineFloats(BulkReduction reduction, T old, T value) {
  return reduction == BulkReduction::Add   ? old + value
         : reduction == BulkReduction::Min ? std::fmin(old, value)
                                           : std::fmax(old, value);
}

/// Replaces each element by what `run` makes of its bits and those of the
/// source.
template <typename Bits, typename Run>
static void replaceEach(uint8_t *target, const uint8_t *source, uint64_t count,
                        Run run) {
  for (uint64_t i = 0; i < count; ++i) {
    auto *at = reinterpret_cast<Bits *>(target) + i;
    Bits value, old = __atomic_load_n(at, __ATOMIC_RELAXED);
    std::memcpy(&value, source + i * sizeof(Bits), sizeof(Bits));
    Bits next = run(old, value);
    while (!__atomic_compare_exchange_n(at, &old, next, /*weak=*/false,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
      next = run(old, value);
  }
}

template <typename T>
static void reduceIntegers(BulkReduction reduction, uint8_t *target,
                           const uint8_t *source, uint64_t count) {
  replaceEach<T>(target, source, count, [&](T old, T value) {
    return combine<T>(reduction, old, value);
  });
}

template <typename T, typename Bits>
static void reduceFloats(BulkReduction reduction, uint8_t *target,
                         const uint8_t *source, uint64_t count) {
  replaceEach<Bits>(target, source, count, [&](Bits old, Bits value) {
    return llvm::bit_cast<Bits>(combineFloats(reduction, llvm::bit_cast<T>(old),
                                              llvm::bit_cast<T>(value)));
  });
}

static void reduceNarrow(Scalar type, BulkReduction reduction, uint8_t *target,
                         const uint8_t *source, uint64_t count) {
  replaceEach<uint16_t>(
      target, source, count, [&](uint16_t old, uint16_t value) {
        float a = 0, b = 0;
        unpack(type, reinterpret_cast<const uint8_t *>(&old), 1, &a);
        unpack(type, reinterpret_cast<const uint8_t *>(&value), 1, &b);
        return packNarrow(type, combineFloats(reduction, a, b));
      });
}

void reduce(BulkElement element, BulkReduction reduction, uint8_t *target,
            const uint8_t *source, uint64_t count) {
  switch (element) {
  case BulkElement::F16:
    return reduceNarrow(Scalar::F16, reduction, target, source, count);
  case BulkElement::BF16:
    return reduceNarrow(Scalar::BF16, reduction, target, source, count);
  case BulkElement::F32:
    return reduceFloats<float, uint32_t>(reduction, target, source, count);
  case BulkElement::F64:
    return reduceFloats<double, uint64_t>(reduction, target, source, count);
  case BulkElement::S32:
    return reduceIntegers<int32_t>(reduction, target, source, count);
  case BulkElement::U32:
    return reduceIntegers<uint32_t>(reduction, target, source, count);
  case BulkElement::S64:
    return reduceIntegers<int64_t>(reduction, target, source, count);
  case BulkElement::U64:
    return reduceIntegers<uint64_t>(reduction, target, source, count);
  }
}

} // namespace mlir::workgroup::emulator
