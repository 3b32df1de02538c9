//===- MappedLoops.cpp - What runs of loops that upstream maps ------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MappedLoops.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::workgroup {

int64_t multiply(ArrayRef<int64_t> sizes) {
  int64_t product = 1;
  for (int64_t size : sizes)
    if (llvm::MulOverflow(product, size, product))
      return std::numeric_limits<int64_t>::max();
  return product;
}

//===----------------------------------------------------------------------===//
// Mappings
//===----------------------------------------------------------------------===//

std::optional<MappedLoop> MappedLoop::get(scf::ForallOp loop,
                                          int64_t warpSize) {
  MappedLoop mapped;
  mapped.warpSize = warpSize;
  std::optional<SmallVector<int64_t>> counts =
      getConstantIntValues(loop.getMixedUpperBound());
  if (!loop.isNormalized() || loop.getNumResults() != 0 || !counts ||
      warpSize < 1 || !mapped.setKind(loop))
    return std::nullopt;
  mapped.extents.assign(*counts);
  if (!mapped.setSizes(loop))
    return std::nullopt;
  return mapped;
}

/// Sets what the loop goes to; false if that is no one kind of processors.
bool MappedLoop::setKind(scf::ForallOp loop) {
  SmallVector<DeviceMappingAttrInterface> mapping =
      loop.getDeviceMappingAttrs();
  FailureOr<DeviceMaskingAttrInterface> masking = loop.getDeviceMaskingAttr();
  if (mapping.empty() || failed(masking))
    return false;
  if (*masking) {
    auto bits = dyn_cast<gpu::GPUMappingMaskAttr>(Attribute(*masking));
    if (!bits)
      return false;
    mask = bits.getMask();
  }
  auto getKind = [](DeviceMappingAttrInterface attribute) {
    return llvm::TypeSwitch<Attribute, std::optional<Kind>>(attribute)
        .Case([](gpu::GPUBlockMappingAttr) { return Kind::Blocks; })
        .Case([](gpu::GPUWarpgroupMappingAttr) { return Kind::Warpgroups; })
        .Case([](gpu::GPUWarpMappingAttr) { return Kind::Warps; })
        .Case([](gpu::GPUThreadMappingAttr) { return Kind::Threads; })
        .Case([](gpu::GPULaneMappingAttr) { return Kind::Lanes; })
        .Default([](Attribute) { return std::nullopt; });
  };
  std::optional<Kind> first = getKind(mapping.front());
  isLinear = mapping.front().isLinearMapping();
  DenseSet<Attribute> seen;
  for (DeviceMappingAttrInterface attribute : mapping)
    if (getKind(attribute) != first ||
        attribute.isLinearMapping() != isLinear ||
        !seen.insert(attribute).second)
      return false;
  if (!first || (mask && !isLinear))
    return false;
  kind = *first;
  return true;
}

/// Sets how many processors go to each dimension of the mapping, 1 where the
/// loop has none. Lanes always count as linear.
bool MappedLoop::setSizes(scf::ForallOp loop) {
  constexpr int64_t kNumDims = 3;
  SmallVector<DeviceMappingAttrInterface> mapping =
      loop.getDeviceMappingAttrs();
  if (mapping.size() != extents.size())
    return false;
  SmallVector<std::pair<int64_t, int64_t>> known;
  for (auto [attribute, extent] : llvm::zip_equal(mapping, extents)) {
    known.emplace_back(attribute.getMappingId(), extent);
    places.push_back(attribute.getRelativeIndex());
  }
  int64_t first = kind == Kind::Lanes || isLinear ? kNumDims : 0;
  int64_t last = isLinear ? llvm::max_element(known)->first
                          : (kind == Kind::Lanes
                                 ? int64_t(gpu::getMaxEnumValForMappingId())
                                 : kNumDims - 1);
  for (int64_t id = first; id <= last; ++id)
    if (llvm::none_of(known, [&](auto entry) { return entry.first == id; }))
      known.emplace_back(id, 1);
  llvm::sort(known);
  sizes.assign(llvm::to_vector(llvm::make_second_range(known)));
  return true;
}

/// The number of threads of one processor.
int64_t MappedLoop::getMultiplicity() const {
  constexpr int64_t kWarpsOfGroup = 4;
  if (kind == Kind::Warpgroups)
    return kWarpsOfGroup * warpSize;
  return kind == Kind::Warps ? warpSize : 1;
}

//===----------------------------------------------------------------------===//
// Iterations
//===----------------------------------------------------------------------===//

/// The ids of a linear one, the first dimension the fastest. What does not fit
/// stays in the last one.
Iteration MappedLoop::delinearize(int64_t id) const {
  Iteration ids;
  for (int64_t size : ArrayRef(sizes).drop_back()) {
    ids.push_back(id % size);
    id /= size;
  }
  ids.push_back(id);
  return pick(ids);
}

Iteration MappedLoop::pick(ArrayRef<int64_t> ids) const {
  return llvm::map_to_vector<3>(places,
                                [&](int64_t place) { return ids[place]; });
}

std::optional<Iteration>
MappedLoop::getIteration(const std::array<int64_t, 3> &ids,
                         const std::array<int64_t, 3> &shape,
                         bool isPredicated) const {
  int64_t multiplicity = getMultiplicity();
  if (kind != Kind::Lanes && !isLinear) {
    for (auto [dim, id] : llvm::enumerate(ids))
      if (isPredicated && id >= sizes[dim] * (dim == 0 ? multiplicity : 1))
        return std::nullopt;
    return pick({ids[0] / multiplicity, ids[1], ids[2]});
  }
  int64_t linear = ids[0] + shape[0] * (ids[1] + shape[1] * ids[2]);
  int64_t wanted = multiply(sizes) * multiplicity;
  bool hasCondition = isPredicated && wanted < multiply(shape);
  if (kind == Kind::Lanes)
    linear %= warpSize;
  if (kind == Kind::Lanes || !mask) {
    if (hasCondition && linear >= wanted)
      return std::nullopt;
    return delinearize(linear / multiplicity);
  }
  uint64_t bit = uint64_t(1) << (linear / multiplicity);
  if (isPredicated && !(*mask & bit))
    return std::nullopt;
  return delinearize(llvm::popcount(*mask & (bit - 1)));
}

} // namespace mlir::workgroup
