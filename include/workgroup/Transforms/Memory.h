//===- Memory.h - Where workgroup buffers live ------------------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From an allocation to bytes of workgroup memory: allocations are sunk into
// the kernel that uses them, views are brought into forms that upstream lowers,
// allocations become attributions of the kernel, and packing gives buffers that
// do not live at the same time the same bytes. Dynamic memory is lowered last.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_TRANSFORMS_MEMORY_H
#define WORKGROUP_TRANSFORMS_MEMORY_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Pass/Pass.h"
#include "workgroup/Target/LaunchLimits.h"
#include "workgroup/Transforms/Verify.h"
#include "llvm/Support/CommandLine.h"
#include <optional>
#include <string>
#include <vector>

namespace mlir::workgroup {

/// Respells memrefs inside `root` whose memory space is a number of another
/// system: each of `mappings` is `N:workgroup`, `N:private` or `N:global`. See
/// option `from-spaces` of pass `workgroup-sink-allocs`.
LogicalResult mapMemorySpaces(Operation *root, ArrayRef<std::string> mappings);

/// Moves workgroup and private allocations of host code inside `root` into the
/// kernels that use them. See pass `workgroup-sink-allocs`.
LogicalResult sinkAllocs(Operation *root);

/// Splits views inside `root` that upstream's passes crash on. See pass
/// `workgroup-split-views`.
void splitViews(Operation *root);

struct HoistAllocsOptions {
  /// Smallest alignment in bytes of buffers of a `gpu.func`.
  int64_t defaultAlignment = 16;
  /// Put a barrier where a loop allocates a buffer again.
  bool insertBarriers = false;
};

/// Turns workgroup allocations in device code inside `root` into buffers of
/// their kernel. See pass `workgroup-hoist-allocs`.
LogicalResult hoistAllocs(Operation *root,
                          const HoistAllocsOptions &options = {});

/// Lowers `gpu.dynamic_shared_memory` in the `gpu.module`s inside `root` to an
/// extern symbol. See pass `workgroup-lower-dynamic-memory`.
void lowerDynamicMemory(Operation *root);

/// The cases in which workgroup buffers with disjoint lives share bytes.
enum class Reuse { Always, Auto, Never };

/// When workgroup memory is dynamic: sized by the launch.
enum class DynamicMemory { Auto, Always, Never };

struct PackMemoryOptions {
  Reuse reuse = Reuse::Always;
  DynamicMemory dynamic = DynamicMemory::Auto;
  /// Largest number of bytes of static workgroup memory of a kernel.
  int64_t maxStaticBytes = kMaxStaticWorkgroupBytes;
  /// Largest number of bytes of workgroup memory of a kernel; 0 means that of
  /// the chip.
  int64_t maxBytes = 0;
  /// Smallest alignment in bytes of a buffer in the arena.
  int64_t alignment = 16;
  /// Put barriers between lives that share bytes.
  bool insertBarriers = true;
  /// The chip to compile for; empty means the target of the `gpu.module`.
  std::string chip;
};

/// From when to when a workgroup buffer is in use.
struct PlacementLife {
  /// Positions in the order of the kernel, comparable with those of others.
  unsigned first = 0, last = 0;
  /// An operation, by its name, and where it stands.
  struct Site {
    std::string op;
    LocationAttr location;
  };
  /// The operation before which it begins, and the one after which it ends;
  /// nothing for the beginning and the end of the kernel.
  std::optional<Site> begin, end;
};

/// The bytes that a workgroup buffer of a kernel is placed at.
struct BufferPlacement {
  Location loc;
  /// The type of the buffer; null for what the lowering of an operation takes.
  MemRefType type;
  /// Nothing if only the launch knows.
  std::optional<int64_t> bytes;
  int64_t alignment;
  /// In bytes from the start of the memory that the buffers are packed into;
  /// nothing for a variable of its own.
  std::optional<int64_t> offset;
  /// Whether other buffers have some of the bytes before or after it.
  bool isShared = false;
  /// Nothing if it is not known: it lives as long as the kernel.
  std::optional<PlacementLife> life = std::nullopt;
};

/// The workgroup memory of a kernel.
struct MemoryPlacement {
  std::string kernel;
  /// Bytes of memory that the kernel has, and that launches have to ask for;
  /// buffers of sizes that only launches know are not included.
  int64_t staticBytes = 0, dynamicBytes = 0;
  /// Bytes that a block of the chip can have in all.
  int64_t maxBytes = 0;
  /// Whether the memory that buffers are packed into is dynamic.
  bool isPackedDynamic = false;
  std::vector<BufferPlacement> buffers;
};

/// The workgroup memory of the kernels of a module.
struct MemoryReport {
  std::vector<MemoryPlacement> placements;
  std::vector<MemoryShortage> shortages;
};

/// Packs the workgroup buffers of all kernels of `module`. See pass
/// `workgroup-pack-memory`. Appends the memory of each kernel to `report` if
/// given.
LogicalResult packMemory(ModuleOp module, const PackMemoryOptions &options = {},
                         MemoryReport *report = nullptr);

/// The pass `workgroup-pack-memory`, which reports the memory of each kernel to
/// `report`; it must outlive the run.
std::unique_ptr<Pass> createPackMemoryPass(const PackMemoryOptions &options,
                                           MemoryReport *report);

inline llvm::cl::ValuesClass getReuseValues() {
  return llvm::cl::values(
      clEnumValN(Reuse::Always, "always", "wherever lives are disjoint"),
      clEnumValN(Reuse::Auto, "auto", "where it needs no barrier, or pays"),
      clEnumValN(Reuse::Never, "never", "nowhere"));
}

inline llvm::cl::ValuesClass getDynamicMemoryValues() {
  return llvm::cl::values(
      clEnumValN(DynamicMemory::Auto, "auto",
                 "if it is too large for static memory"),
      clEnumValN(DynamicMemory::Always, "always", "whatever its size"),
      clEnumValN(DynamicMemory::Never, "never",
                 "never; larger kernels are refused"));
}

#define GEN_PASS_DECL
#include "workgroup/Transforms/Memory.h.inc"

} // namespace mlir::workgroup

#endif // WORKGROUP_TRANSFORMS_MEMORY_H
