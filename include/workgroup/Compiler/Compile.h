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

#include "workgroup/Compiler/Explanation.h"
#include "workgroup/Compiler/KernelFunctions.h"
#include "workgroup/Compiler/Records.h"
#include "workgroup/Emulator/Emulator.h"
#include <functional>
#include <optional>
#include <string>
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

/// Threads per block or blocks per grid, along x, y and z, if they are known.
using LaunchSizes = std::optional<std::array<int64_t, 3>>;

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
  /// The sizes that the kernel of this name, or all if it is empty, is launched
  /// with, if it is known; it takes no others then.
  std::string kernel;
  LaunchSizes block, grid;
  /// The treatment of barriers: `insert`, `keep` or `minimize`, as the option
  /// `sync` of the pipeline `workgroup-memory` says; `auto` keeps those of
  /// other compilers' kernels, and inserts what others lack.
  std::string sync = "auto";
  /// Prove that threads do not race, and reject barriers in divergent control
  /// flow.
  bool verifyBarriers = true;
  /// Have kernels assert that accesses and views are in bounds, as pass
  /// `workgroup-assert-bounds` does.
  bool assertBounds = false;
  /// Keep what kernels read and nothing follows from, for checks; PTX has none
  /// of it.
  bool keepReads = false;
  /// Tensor cores multiply factors in f32 rounded to tf32, as option `tf32` of
  /// pass `workgroup-lower-contractions` says.
  bool tf32 = false;
  /// In programs that a schedule is chosen for, tensor cores multiply the
  /// weights of attention rounded to 16 bits, as option `narrow` of pass
  /// `workgroup-form-kernels` says. The schedule gives it the same.
  bool narrow = false;
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
  /// linalg, or leaves loops over blocks on the host, with the barriers that
  /// compiling inserts.
  bool checksSync = false;
  /// The last stage to run.
  Stage lastStage = Stage::PTX;
  /// Keep the text of every stage, not only of the last.
  bool keepTexts = false;
  /// Keep what each pass changed.
  bool keepSnapshots = false;
  /// Keep all texts, what passes before stage NVVM changed, and what explains
  /// the kernels to a reader. Locations behind stage GPU are then those of its
  /// text, in file `kStageFile`.
  bool explains = false;
  /// Write down why the kernels do not race, by which others can check it.
  bool certifies = false;
  /// Render diagnostics with terminal colours.
  bool useColor = false;
};

struct CompileResult {
  bool succeeded = false;
  /// The stage that was reached or, after a failure, that failed.
  Stage stage = Stage::Parse;
  /// The texts that were asked for.
  std::vector<std::pair<Stage, std::string>> texts;
  std::vector<KernelRecord> kernels;
  std::vector<EntryRecord> entries;
  /// The plan of what the host does, a document: docs/launch-plan.md.
  std::string plan;
  /// Buffers in workgroup memory, by the symbols that they become.
  std::vector<SharedBuffer> sharedBuffers;
  /// From stage GPU on.
  std::vector<MemoryRecord> memory;
  /// After a failure, the first kernel that lacks some.
  std::optional<ShortageRecord> shortage;
  /// Why there is each barrier that was inserted; from stage GPU on.
  std::vector<BarrierRecord> barriers;
  /// If it was asked for.
  std::vector<SyncRecord> sync;
  /// Likewise, before parallel loops are distributed.
  std::vector<DistributionRecord> distributions;
  /// A schedule has formed the kernels of operations of linalg.
  bool areKernelsFormed = false;
  /// From stage LLVM on: LLVM bitcode of the kernels with source lines, before
  /// optimisation. See workgroup/Emulator/Emulator.h.
  std::string bitcode;
  /// If it was asked for, the certificate of the text of stage LLVM, a
  /// document: docs/certificates.md.
  std::string certificate;
  /// The chip that was compiled for.
  std::string chip;
  /// Memref arguments that overlap may give wrong results.
  bool needsDistinctArguments = false;
  std::vector<DiagnosticRecord> diagnostics;
  /// The diagnostics as `mlir-opt` prints them.
  std::string rendered;
  std::vector<RemarkRecord> remarks;
  std::vector<SnapshotRecord> snapshots;
  /// Of an explanation: what the lines of texts are made of, the PTX with
  /// directives that tell lines, and the rest.
  std::vector<std::pair<Stage, TextLinesRecord>> lines;
  std::string locatedPTX;
  /// Finds the rest out, once; that takes as long as to compile the program,
  /// and can be done by another thread. A crash is told as below.
  std::function<ExplanationRecord(std::optional<std::string> &crash)> explain;
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

/// The error in `options` as `CompileOptions::memoryOptions`; empty if there is
/// none.
std::string checkMemoryOptions(const std::string &options);

/// Compiles `source`.
CompileResult compile(const SourceText &source, const CompileOptions &options);

/// The text of bitcode of LLVM or, if there is none, what is wrong with it.
struct Disassembly {
  std::optional<std::string> text;
  std::string error;
};

/// The text of `bitcode`, the bytes of a file.
Disassembly disassemble(const SourceText &bitcode);

/// The names of the supported chips, oldest first.
std::vector<std::string> getChipNames();

/// The properties of a chip by which schedules are chosen and judged.
struct ChipRecord {
  std::string name;
  /// Workgroup memory that a block can have.
  int64_t maxWorkgroupBytes;
  /// What a multiprocessor has for its resident blocks: workgroup memory, of
  /// which each block takes some for the system; blocks; threads.
  int64_t multiprocessorBytes;
  int64_t systemBytesPerBlock;
  int64_t maxBlocks;
  int64_t maxThreads;
  /// The number of multiprocessors of the usual product with this chip.
  int64_t multiprocessors;
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
