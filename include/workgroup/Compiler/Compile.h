//===- Compile.h - From source text to PTX in one call ----------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The whole way in process, for clients that are not compilers: text goes in,
// and text and plain data come out. Nothing is printed, nothing is thrown, and
// no operation, attribute or context outlives the call. A crash of a pass ends
// the call, not the process.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_COMPILER_COMPILE_H
#define WORKGROUP_COMPILER_COMPILE_H

#include "workgroup/Compiler/KernelFunctions.h"
#include "workgroup/Emulator/Emulator.h"
#include "workgroup/Support/SourceLocation.h"
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mlir::workgroup {

/// The stages of a compilation, in order. Each but the first two has a text.
enum class Stage {
  /// Reading the source.
  Parse,
  /// Applying the schedule; the text is what it leaves.
  Schedule,
  /// Pipeline `workgroup-memory`; outlined kernels.
  GPU,
  /// Pipeline `workgroup-to-nvvm`.
  NVVM,
  /// LLVM IR, linked and optimised.
  LLVM,
  /// PTX.
  PTX,
};

/// The name of a stage: `parse`, `schedule`, `gpu`, `nvvm`, `llvm`, `ptx`.
std::string getStageName(Stage stage);

struct CompileOptions {
  /// The chip to compile for; empty means the target of the `gpu.module`, else
  /// the default.
  std::string chip;
  /// Apply this schedule instead of the one that the source carries.
  std::optional<SourceText> schedule;
  /// Apply the schedule that the source carries, if any.
  bool useOwnSchedule = true;
  /// If there is neither of these, and the program has no kernel, returns the
  /// schedule to apply to one whose operations become these functions; nothing
  /// to end the compilation there.
  std::function<std::optional<SourceText>(
      const std::vector<KernelFunctionRecord> &)>
      chooseSchedule;
  /// Workgroup memory of a kernel of chained contractions, and the blocks that
  /// it is to have, in programs that a schedule is chosen for: see pass
  /// `workgroup-form-kernels`. The schedule gives it the same.
  int64_t chainBytes = 0, chainBlocks = 0;
  /// What becomes of barriers: `insert`, `keep` or `minimize`, as the option
  /// `sync` of the pipeline `workgroup-memory` says.
  std::string sync = "insert";
  /// Prove that threads do not race, and reject barriers in divergent control
  /// flow.
  bool verifyBarriers = true;
  /// Further options of the pipeline `workgroup-memory`, as `mlir-opt` takes
  /// them: `reuse=never from-spaces=1:workgroup`. What has an option of its own
  /// here is not among them.
  std::string memoryOptions;
  /// Alignment in bytes that memref arguments are assumed to have.
  int64_t assumeAlignment = 16;
  /// Path of NVIDIA's libdevice; empty if there is none.
  std::string libdevice;
  /// Find out what is known of the synchronisation of the kernels, and stop: as
  /// they are after the schedule or, if that has formed them of operations of
  /// linalg, with the barriers that compiling inserts.
  bool checksSync = false;
  /// The last stage to run.
  Stage lastStage = Stage::PTX;
  /// Keep the text of every stage, not only of the last.
  bool keepTexts = false;
  /// Keep what each pass changed.
  bool keepSnapshots = false;
  /// Render diagnostics with terminal colours.
  bool useColor = false;
};

struct RemarkRecord {
  /// `passed`, `missed`, `failed` or `analysis`.
  std::string kind;
  std::string name;
  /// The pass.
  std::string category;
  std::string function;
  std::string message;
  SourceLocation location;
  /// Metrics and reasons, in order.
  std::vector<std::pair<std::string, std::string>> arguments;
};

/// What one pass changed in one operation.
struct SnapshotRecord {
  std::string pass;
  std::string op;
  std::string before;
  std::string after;
};

/// How a kernel wants a tensor map to be made.
struct TensorMapRecord {
  /// As `f16`.
  std::string elementType;
  /// Extents of the box that one copy moves, in elements, innermost first.
  std::vector<int64_t> box;
  /// As MLIR spells them: `none`, `swizzle_128b`; `none`, `interleave_16b`;
  /// `none`, `l2promo_128b`; `zero`, `nan`.
  std::string swizzle, interleave, l2promo, oob;
};

/// An argument of a kernel as its author wrote it.
struct ArgumentRecord {
  /// The type as MLIR prints it.
  std::string type;
  bool isMemRef = false;
  /// Of a memref its element, else the type itself, as `f32`.
  std::string elementType;
  /// Extents, strides and offset of a memref, in elements; nothing where only
  /// the launch knows.
  std::vector<std::optional<int64_t>> shape, strides;
  std::optional<int64_t> offset;
  /// Alignment in bytes that the code relies on; 1 for a scalar.
  int64_t alignment = 1;
  /// Of a tensor map.
  std::optional<TensorMapRecord> tensorMap;
};

/// Part `kind` (`value`, `pointer`, `extent`, `stride`, `offset`, `tensormap`)
/// of argument number `argument`, along `dim`.
struct PartRecord {
  std::string kind;
  unsigned argument;
  unsigned dim;
};

struct KernelRecord {
  std::string name;
  std::vector<ArgumentRecord> arguments;
  /// Each parameter of the PTX, with the parts that it stands for, which are
  /// equal.
  std::vector<std::vector<PartRecord>> parameters;
  /// Threads per block and blocks per grid, if all launches agree on constants.
  std::optional<std::array<int64_t, 3>> block, grid;
  /// Those that every launch has to have, because the code relies on them.
  std::optional<std::array<int64_t, 3>> knownBlock, knownGrid;
  /// Blocks per cluster; ones if no launch asks for clusters, nothing if
  /// launches do not agree on constants.
  std::optional<std::array<int64_t, 3>> cluster;
  /// Bytes of dynamic workgroup memory that the kernel is known to use.
  int64_t leastDynamicSharedBytes = 0;
  /// Bytes of workgroup memory; dynamic only if all launches agree.
  int64_t staticSharedBytes = 0;
  std::optional<int64_t> dynamicSharedBytes;
};

/// A host function, and which of its arguments are memory that it may write.
struct EntryRecord {
  std::string name;
  std::vector<ArgumentRecord> arguments;
  std::vector<bool> written;
};

/// Where a workgroup buffer has its bytes.
struct BufferPlacementRecord {
  /// As in `64x64xf32`; empty for what the lowering of an operation takes.
  std::string type;
  /// Nothing if only the launch knows.
  std::optional<int64_t> bytes;
  int64_t alignment;
  /// In the memory that buffers are packed into; nothing for one of its own.
  std::optional<int64_t> offset;
  bool isShared;
  SourceLocation location;
};

/// The workgroup memory of a kernel, as packing leaves it; sizes in bytes.
struct MemoryRecord {
  std::string kernel;
  int64_t staticBytes, dynamicBytes, maxBytes;
  bool isPackedDynamic;
  std::vector<BufferPlacementRecord> buffers;
};

/// Something that is wrong, or may be, with the synchronisation of a kernel.
struct SyncFindingRecord {
  /// `MAYBE`, `RACE`, `UNFIXABLE` or `DIVERGENT`.
  std::string verdict;
  std::string op;
  SourceLocation location;
  /// The other access; empty if there is none.
  std::string otherOp;
  SourceLocation otherLocation;
  std::string message;
  /// Ids of two threads for which it happens, that of the other access first;
  /// none if they are not known.
  std::vector<std::array<int64_t, 3>> threads;
  /// The blocks that those are of, if they are of different ones.
  std::vector<std::array<int64_t, 3>> blocks;
  /// Where they meet: a byte of the buffer or, of one with strides that only
  /// the launch knows, indices.
  std::vector<int64_t> place;
};

/// What is known of the synchronisation of a kernel.
struct SyncRecord {
  std::string kernel;
  SourceLocation location;
  /// `SAFE` or the gravest of the findings.
  std::string verdict;
  std::vector<SyncFindingRecord> findings;
};

struct CompileResult {
  bool succeeded = false;
  /// The stage that was reached or, after a failure, that failed.
  Stage stage = Stage::Parse;
  /// The texts that were asked for.
  std::vector<std::pair<Stage, std::string>> texts;
  std::vector<KernelRecord> kernels;
  std::vector<EntryRecord> entries;
  /// What the host does, a document: docs/launch-plan.md.
  std::string plan;
  /// Buffers in workgroup memory, by the symbols that they become.
  std::vector<SharedBuffer> sharedBuffers;
  /// From stage GPU on.
  std::vector<MemoryRecord> memory;
  /// If it was asked for.
  std::vector<SyncRecord> sync;
  /// A schedule has formed the kernels of operations of linalg.
  bool areKernelsFormed = false;
  /// From stage LLVM on: LLVM bitcode of the kernels with source lines, before
  /// optimisation. See workgroup/Emulator/Emulator.h.
  std::string bitcode;
  /// The chip that was compiled for.
  std::string chip;
  /// Memref arguments that overlap may give wrong results.
  bool needsDistinctArguments = false;
  std::vector<DiagnosticRecord> diagnostics;
  /// The diagnostics as `mlir-opt` prints them.
  std::string rendered;
  std::vector<RemarkRecord> remarks;
  std::vector<SnapshotRecord> snapshots;
  /// Seconds per stage.
  std::vector<std::pair<Stage, double>> seconds;
  /// After a failure, a text that `mlir-opt --run-reproducer` replays; empty if
  /// the failing stage is not a pass.
  std::string reproducer;
  /// A kernel needs libdevice, and none was given.
  bool needsLibdevice = false;
  /// A pass crashed; what LLVM said of it.
  std::optional<std::string> crash;
};

/// What is wrong with `options` as `CompileOptions::memoryOptions`; empty if
/// nothing is.
std::string checkMemoryOptions(const std::string &options);

/// Compiles `source`.
CompileResult compile(const SourceText &source, const CompileOptions &options);

/// The names of the supported chips, oldest first.
std::vector<std::string> getChipNames();

/// What those who choose schedules need to know of a chip.
struct ChipRecord {
  std::string name;
  /// Workgroup memory that a block can have.
  int64_t maxWorkgroupBytes;
};

/// The supported chips, oldest first, and the one that is meant where none is
/// named.
std::vector<ChipRecord> describeChips();
std::string getDefaultChipName();

/// Name and summary of each pass and pipeline of this project.
std::vector<std::pair<std::string, std::string>> getPassSummaries();

/// The version of LLVM that this library was built against and runs with.
std::string getLLVMVersion();

} // namespace mlir::workgroup

#endif // WORKGROUP_COMPILER_COMPILE_H
