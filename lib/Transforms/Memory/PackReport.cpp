//===- PackReport.cpp - What packing has decided --------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Packing as it is told to users: remarks for each kernel and buffer, and the
// same as data. The lower bound is the most bytes that live at one time,
// alignment included; if the arena has that size, no layout is better.
//
//===----------------------------------------------------------------------===//

#include "PackedKernel.h"
#include "Support/Remarks.h"
#include "Transforms/Utils/BufferTypes.h"
#include "workgroup/Analysis/Alignment.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

SmallVector<LayoutItem> PackedKernel::getItems() const {
  return llvm::map_to_vector(members, [](const PackedBuffer &member) {
    return LayoutItem{member.life.isUsed ? member.buffer.bytes : 0,
                      member.buffer.alignment, member.life.range.first,
                      member.life.range.last};
  });
}

int64_t PackedKernel::getSum() const {
  int64_t sum = 0;
  for (const PackedBuffer &member : members)
    sum += member.life.isUsed ? member.buffer.bytes : 0;
  return sum;
}

int64_t PackedKernel::getKeptBytes() const {
  KernelBuffers kept;
  DenseSet<Value> packed;
  for (const PackedBuffer &member : members)
    packed.insert(member.buffer.value);
  for (const KernelBuffer &buffer : memory.buffers)
    if (!buffer.value || !packed.contains(buffer.value))
      kept.buffers.push_back(buffer);
  return kept.getStaticBytes();
}

int64_t PackedKernel::getLowerBoundWithPadding() const {
  // Each buffer begins at a multiple of the smallest alignment, so that all but
  // the highest one take whole multiples of it.
  SmallVector<LayoutItem> items = getItems();
  int64_t unit = std::numeric_limits<int64_t>::max(), slack = 0;
  for (const LayoutItem &item : items)
    unit = std::min(unit, item.alignment);
  for (LayoutItem &item : items) {
    int64_t whole = llvm::alignTo(item.bytes, unit);
    slack = std::max(slack, whole - item.bytes);
    item.bytes = whole;
  }
  return std::max<int64_t>(0, getLowerBound(items) - slack);
}

int64_t PackedKernel::getRuntimeAlignment() const {
  int64_t result = std::max(alignment, kMinBufferAlignment);
  for (Operation *op : runtimeSized)
    result = std::max({result, getStatedAlignment(op->getResult(0)),
                       getNeededAlignment(op->getResult(0))});
  return result;
}

//===----------------------------------------------------------------------===//
// Remarks and records
//===----------------------------------------------------------------------===//

static void reportMember(const PackedBuffer &member,
                         const PackedKernel &kernel) {
  recordRemark(RemarkId::PackMemory_Packed, kernel.kernel, member.buffer.loc)
      << (member.isShared ? "workgroup buffer packed into bytes that others "
                            "use before or after it"
                          : "workgroup buffer packed into bytes of its own")
      << remark::metric("Offset", kernel.windowBytes + member.offset)
      << remark::metric("Bytes", member.buffer.bytes)
      << remark::metric("Alignment", member.buffer.alignment);
}

static void reportRuntimeSized(const PackedKernel &kernel) {
  for (Operation *op : kernel.runtimeSized)
    recordRemark(RemarkId::PackMemory_SizedByLaunch, op)
        << "workgroup buffer made a part of dynamic memory whose size the "
           "launch computes"
        << remark::metric("Alignment", kernel.getRuntimeAlignment());
}

void reportKernel(const PackedKernel &kernel) {
  reportRuntimeSized(kernel);
  int64_t bytes = makeLinearLayout(kernel.getItems()).bytes;
  int64_t bound = kernel.getLowerBoundWithPadding();
  if (!kernel.hasArena) {
    if (kernel.members.size() > 1)
      recordRemark(RemarkId::PackMemory_NotPacked, kernel.kernel)
          << remark::reason(getLowerBound(kernel.getItems()) < kernel.getSum()
                                ? "no two lives are disjoint, or barriers "
                                  "between them would not pay"
                                : "all buffers are in use at the same time")
          << remark::metric("Bytes", bytes)
          << remark::metric("LowerBound", bound);
    return;
  }
  for (const PackedBuffer &member : kernel.members)
    reportMember(member, kernel);
  recordRemark(RemarkId::PackMemory_PackedKernel, kernel.kernel)
      << (kernel.isDynamic ? "workgroup buffers packed into dynamic memory"
                           : "workgroup buffers packed into static memory")
      << remark::metric("BytesBefore", bytes)
      << remark::metric("BytesAfter", kernel.bytes)
      << remark::metric("LowerBound", bound)
      << remark::metric("Reused", llvm::count_if(kernel.members,
                                                 [](const PackedBuffer &b) {
                                                   return b.isShared;
                                                 }))
      << remark::metric("Barriers", kernel.barriers.size());
  bool isLaunchUnknown = isa<gpu::GPUFuncOp>(kernel.kernel) &&
                         kernel.isDynamic && kernel.launches.empty();
  if (isLaunchUnknown)
    recordRemark(RemarkId::PackMemory_LaunchUnknown, kernel.kernel)
        << remark::reason("no launch of the kernel is in the module; each has "
                          "to ask for {0} bytes of dynamic workgroup memory{1}",
                          kernel.getDynamicBytes(),
                          kernel.windowShift ? " more than it would otherwise"
                                             : "");
}

static PlacementLife describeLife(const BufferLife &life) {
  auto describe = [](Operation *op) -> std::optional<PlacementLife::Site> {
    if (!op)
      return std::nullopt;
    return PlacementLife::Site{op->getName().getStringRef().str(),
                               op->getLoc()};
  };
  return {life.range.first, life.range.last, describe(life.begin),
          describe(life.end)};
}

MemoryPlacement describeKernel(const PackedKernel &kernel) {
  MemoryPlacement placement;
  placement.kernel = getScopeName(kernel.kernel);
  placement.maxBytes = kernel.maxBytes;
  placement.isPackedDynamic = kernel.isDynamic;
  placement.staticBytes =
      kernel.hasArena ? kernel.getKeptBytes() : kernel.memory.getStaticBytes();
  if (kernel.hasArena && !kernel.isDynamic)
    placement.staticBytes =
        llvm::alignTo(placement.staticBytes, kernel.alignment) + kernel.bytes;
  placement.dynamicBytes = kernel.getDynamicBytes();
  DenseMap<Value, const PackedBuffer *> members;
  for (const PackedBuffer &member : kernel.members)
    members[member.buffer.value] = &member;
  for (const KernelBuffer &buffer : kernel.memory.buffers) {
    auto type =
        buffer.value ? cast<MemRefType>(buffer.value.getType()) : MemRefType();
    // What is not packed, hoisting aligns.
    BufferPlacement place{buffer.loc, type, buffer.bytes,
                          std::max(buffer.alignment, kMinBufferAlignment),
                          std::nullopt};
    const PackedBuffer *member = members.lookup(buffer.value);
    if (member && member->life.isUsed)
      place.life = describeLife(member->life);
    if (member && kernel.hasArena) {
      place.offset = kernel.windowBytes + member->offset;
      place.alignment = member->buffer.alignment;
      place.isShared = member->isShared;
    }
    placement.buffers.push_back(place);
  }
  for (Operation *op : kernel.runtimeSized)
    placement.buffers.push_back(
        {op->getLoc(), cast<MemRefType>(op->getResult(0).getType()),
         std::nullopt, kernel.getRuntimeAlignment(), std::nullopt});
  return placement;
}

} // namespace mlir::workgroup
