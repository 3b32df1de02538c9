//===- Native.cpp - Python bindings ---------------------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions and records of workgroup/Compiler/Compile.h, and nothing else.
//
//===----------------------------------------------------------------------===//

#include "Bindings.h"
#include "workgroup/Compiler/Compile.h"
#include "workgroup/Support/SymbolNames.h"
#include "workgroup/Target/AccessWidth.h"
#include "workgroup/Target/LaunchLimits.h"
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;
using namespace mlir::workgroup;

static void bindDiagnostics(nb::module_ &m) {
  auto location = nb::class_<SourceLocation>(m, "SourceLocation")
                      .def_ro("file", &SourceLocation::file)
                      .def_ro("line", &SourceLocation::line)
                      .def_ro("column", &SourceLocation::column);
  makePicklable(location, &SourceLocation::file, &SourceLocation::line,
                &SourceLocation::column);
  nb::class_<DiagnosticRecord>(m, "Diagnostic")
      .def_ro("severity", &DiagnosticRecord::severity)
      .def_ro("message", &DiagnosticRecord::message)
      .def_ro("location", &DiagnosticRecord::location)
      .def_ro("notes", &DiagnosticRecord::notes);
  nb::class_<RemarkRecord>(m, "Remark")
      .def_ro("kind", &RemarkRecord::kind)
      .def_ro("name", &RemarkRecord::name)
      .def_ro("category", &RemarkRecord::category)
      .def_ro("function", &RemarkRecord::function)
      .def_ro("message", &RemarkRecord::message)
      .def_ro("location", &RemarkRecord::location)
      .def_prop_ro("arguments", [](const RemarkRecord &remark) {
        nb::typed<nb::dict, std::string, std::string> arguments;
        for (const auto &[name, value] : remark.arguments)
          arguments[name.c_str()] = value;
        return arguments;
      });
  nb::class_<SnapshotRecord>(m, "Snapshot")
      .def_ro("pass_", &SnapshotRecord::pass)
      .def_ro("op", &SnapshotRecord::op)
      .def_ro("before", &SnapshotRecord::before)
      .def_ro("after", &SnapshotRecord::after);
}

static void bindKernels(nb::module_ &m) {
  nb::class_<TensorMapRecord>(m, "TensorMap")
      .def_ro("element_type", &TensorMapRecord::elementType)
      .def_ro("box", &TensorMapRecord::box)
      .def_ro("swizzle", &TensorMapRecord::swizzle)
      .def_ro("interleave", &TensorMapRecord::interleave)
      .def_ro("l2promo", &TensorMapRecord::l2promo)
      .def_ro("oob", &TensorMapRecord::oob);
  nb::class_<ArgumentRecord>(m, "Argument")
      .def_ro("type", &ArgumentRecord::type)
      .def_ro("is_memref", &ArgumentRecord::isMemRef)
      .def_ro("element_type", &ArgumentRecord::elementType)
      .def_ro("shape", &ArgumentRecord::shape)
      .def_ro("strides", &ArgumentRecord::strides)
      .def_ro("offset", &ArgumentRecord::offset, nb::arg().none())
      .def_ro("alignment", &ArgumentRecord::alignment)
      .def_ro("tensor_map", &ArgumentRecord::tensorMap);
  nb::class_<PartRecord>(m, "Part")
      .def_ro("kind", &PartRecord::kind)
      .def_ro("argument", &PartRecord::argument)
      .def_ro("dim", &PartRecord::dim);
  nb::class_<ParameterRecord>(m, "Parameter")
      .def_ro("parts", &ParameterRecord::parts);
  nb::class_<KernelRecord>(m, "Kernel")
      .def_ro("name", &KernelRecord::name)
      .def_ro("arguments", &KernelRecord::arguments)
      .def_ro("parameters", &KernelRecord::parameters)
      .def_ro("block", &KernelRecord::block)
      .def_ro("grid", &KernelRecord::grid)
      .def_ro("cluster", &KernelRecord::cluster)
      .def_ro("known_block", &KernelRecord::knownBlock)
      .def_ro("known_grid", &KernelRecord::knownGrid)
      .def_ro("static_shared_bytes", &KernelRecord::staticSharedBytes)
      .def_ro("least_dynamic_shared_bytes",
              &KernelRecord::leastDynamicSharedBytes)
      .def_ro("dynamic_shared_bytes", &KernelRecord::dynamicSharedBytes);
}

static nb::bytes asBytes(const std::string &bytes) {
  return nb::bytes(bytes.data(), bytes.size());
}

static void bindEntries(nb::module_ &m) {
  nb::class_<EntryRecord>(m, "Entry")
      .def_ro("name", &EntryRecord::name)
      .def_ro("arguments", &EntryRecord::arguments)
      .def_prop_ro("written", [](const EntryRecord &entry) {
        return std::vector<bool>(entry.written);
      });
}

static void bindBarriers(nb::module_ &m) {
  nb::class_<SyncPlaceRecord>(m, "SyncPlace")
      .def_ro("op", &SyncPlaceRecord::op)
      .def_ro("location", &SyncPlaceRecord::location);
  nb::class_<OrderedPairRecord>(m, "OrderedPair")
      .def_ro("first", &OrderedPairRecord::first)
      .def_ro("second", &OrderedPairRecord::second)
      .def_ro("is_in_later_iteration", &OrderedPairRecord::isInLaterIteration)
      .def_ro("threads", &OrderedPairRecord::threads)
      .def_ro("place", &OrderedPairRecord::place)
      .def_ro("is_in_bytes", &OrderedPairRecord::isInBytes)
      .def_ro("reason", &OrderedPairRecord::reason);
  nb::class_<BarrierRecord>(m, "Barrier")
      .def_ro("pairs", &BarrierRecord::pairs)
      .def_ro("barriers", &BarrierRecord::barriers)
      .def_ro("needed", &BarrierRecord::needed)
      .def_ro("certificate", &BarrierRecord::certificate)
      .def_ro("is_optimal", &BarrierRecord::isOptimal);
}

static void bindSync(nb::module_ &m) {
  nb::class_<SyncFindingRecord>(m, "SyncFinding")
      .def_ro("verdict", &SyncFindingRecord::verdict)
      .def_ro("message", &SyncFindingRecord::message)
      .def_ro("at", &SyncFindingRecord::at)
      .def_ro("other", &SyncFindingRecord::other)
      .def_ro("threads", &SyncFindingRecord::threads)
      .def_ro("blocks", &SyncFindingRecord::blocks)
      .def_ro("place", &SyncFindingRecord::place);
  nb::class_<SyncRecord>(m, "SyncVerdict")
      .def_ro("name", &SyncRecord::kernel)
      .def_ro("location", &SyncRecord::location)
      .def_ro("verdict", &SyncRecord::verdict)
      .def_ro("findings", &SyncRecord::findings)
      .def_ro("assumes_in_bounds", &SyncRecord::assumesInBounds);
  nb::class_<DistributionRecord>(m, "DistributionFinding")
      .def_ro("verdict", &DistributionRecord::verdict)
      .def_ro("message", &DistributionRecord::message)
      .def_ro("first", &DistributionRecord::first)
      .def_ro("second", &DistributionRecord::second);
}

using Choose = std::optional<
    nb::typed<nb::callable,
              std::optional<SourceText>(std::vector<KernelFunctionRecord>)>>;

/// Compiles, and asks `choose` for a schedule if there is none. The compilation
/// runs on a thread of its own through code that knows no exceptions.
static CompileResult compileChoosing(const SourceText &source,
                                     CompileOptions options,
                                     const Choose &choose) {
  std::exception_ptr raised;
  if (choose)
    options.chooseSchedule =
        [&](const std::vector<KernelFunctionRecord> &functions)
        -> std::optional<SourceText> {
      nb::gil_scoped_acquire lock;
      try {
        return nb::cast<std::optional<SourceText>>((*choose)(functions));
      } catch (...) {
        raised = std::current_exception();
        return std::nullopt;
      }
    };
  CompileResult result;
  {
    nb::gil_scoped_release unlock;
    result = compile(source, options);
  }
  if (raised)
    std::rethrow_exception(raised);
  return result;
}

static void bindCompileOptions(nb::module_ &m) {
  nb::enum_<Stage>(m, "Stage")
      .value("PARSE", Stage::Parse)
      .value("SCHEDULE", Stage::Schedule)
      .value("GPU", Stage::GPU)
      .value("NVVM", Stage::NVVM)
      .value("LLVM", Stage::LLVM)
      .value("PTX", Stage::PTX);
  nb::class_<SourceText>(m, "SourceText")
      .def(nb::init<std::string, std::string>(), "text"_a, "name"_a);
  nb::class_<CompileOptions>(m, "CompileOptions")
      .def(nb::init<>())
      .def_rw("chip", &CompileOptions::chip)
      .def_rw("schedule", &CompileOptions::schedule, nb::arg().none())
      .def_rw("use_own_schedule", &CompileOptions::useOwnSchedule)
      .def_rw("memory_options", &CompileOptions::memoryOptions)
      .def_rw("kernel", &CompileOptions::kernel)
      .def_rw("block", &CompileOptions::block, nb::arg().none())
      .def_rw("grid", &CompileOptions::grid, nb::arg().none())
      .def_rw("sync", &CompileOptions::sync)
      .def_rw("verify_barriers", &CompileOptions::verifyBarriers)
      .def_rw("chain_bytes", &CompileOptions::chainBytes)
      .def_rw("chain_blocks", &CompileOptions::chainBlocks)
      .def_rw("assert_bounds", &CompileOptions::assertBounds)
      .def_rw("keep_reads", &CompileOptions::keepReads)
      .def_rw("tf32", &CompileOptions::tf32)
      .def_rw("narrow", &CompileOptions::narrow)
      .def_rw("assume_alignment", &CompileOptions::assumeAlignment)
      .def_rw("libdevice", &CompileOptions::libdevice)
      .def_rw("checks_sync", &CompileOptions::checksSync)
      .def_rw("last_stage", &CompileOptions::lastStage)
      .def_rw("keep_texts", &CompileOptions::keepTexts)
      .def_rw("keep_snapshots", &CompileOptions::keepSnapshots)
      .def_rw("explains", &CompileOptions::explains)
      .def_rw("certifies", &CompileOptions::certifies)
      .def_rw("use_color", &CompileOptions::useColor);
}

static void bindMemory(nb::module_ &m) {
  nb::class_<BufferLifeRecord>(m, "BufferLife")
      .def_ro("first", &BufferLifeRecord::first)
      .def_ro("last", &BufferLifeRecord::last)
      .def_ro("begin_op", &BufferLifeRecord::beginOp)
      .def_ro("begin", &BufferLifeRecord::begin)
      .def_ro("end_op", &BufferLifeRecord::endOp)
      .def_ro("end", &BufferLifeRecord::end);
  nb::class_<BufferPlacementRecord>(m, "BufferPlacement")
      .def_ro("type", &BufferPlacementRecord::type)
      .def_ro("bytes", &BufferPlacementRecord::bytes, nb::arg().none())
      .def_ro("alignment", &BufferPlacementRecord::alignment)
      .def_ro("offset", &BufferPlacementRecord::offset, nb::arg().none())
      .def_ro("is_shared", &BufferPlacementRecord::isShared)
      .def_ro("location", &BufferPlacementRecord::location)
      .def_ro("life", &BufferPlacementRecord::life, nb::arg().none());
  nb::class_<MemoryRecord>(m, "Memory")
      .def_ro("kernel", &MemoryRecord::kernel)
      .def_ro("static_bytes", &MemoryRecord::staticBytes)
      .def_ro("dynamic_bytes", &MemoryRecord::dynamicBytes)
      .def_ro("max_bytes", &MemoryRecord::maxBytes)
      .def_ro("is_packed_dynamic", &MemoryRecord::isPackedDynamic)
      .def_ro("buffers", &MemoryRecord::buffers);
  nb::class_<ShortageRecord>(m, "Shortage")
      .def_ro("kernel", &ShortageRecord::kernel)
      .def_ro("required_bytes", &ShortageRecord::requiredBytes)
      .def_ro("limit_bytes", &ShortageRecord::limitBytes);
}

static void bindMBarriers(nb::module_ &m) {
  nb::class_<ThreadRangeRecord>(m, "ThreadRange")
      .def_ro("first", &ThreadRangeRecord::first)
      .def_ro("last", &ThreadRangeRecord::last)
      .def_ro("step", &ThreadRangeRecord::step);
  nb::class_<MBarrierStepRecord>(m, "MBarrierStep")
      .def_ro("iterations", &MBarrierStepRecord::iterations)
      .def_ro("slot", &MBarrierStepRecord::slot)
      .def_ro("phase", &MBarrierStepRecord::phase, nb::arg().none())
      .def_ro("parity", &MBarrierStepRecord::parity)
      .def_ro("bytes", &MBarrierStepRecord::bytes);
  nb::class_<MBarrierUseRecord>(m, "MBarrierUse")
      .def_ro("operation", &MBarrierUseRecord::operation)
      .def_ro("threads", &MBarrierUseRecord::threads)
      .def_ro("steps", &MBarrierUseRecord::steps);
  nb::class_<MBarriersRecord>(m, "MBarriers")
      .def_ro("kernel", &MBarriersRecord::kernel, nb::arg().none())
      .def_ro("at", &MBarriersRecord::at)
      .def_ro("slots", &MBarriersRecord::slots)
      .def_ro("arrivals", &MBarriersRecord::arrivals, nb::arg().none())
      .def_ro("purpose", &MBarriersRecord::purpose)
      .def_ro("uses", &MBarriersRecord::uses)
      .def_ro("missing", &MBarriersRecord::missing);
}

static void bindExplanation(nb::module_ &m) {
  nb::class_<TextLinesRecord>(m, "TextLines")
      .def_ro("places", &TextLinesRecord::places)
      .def_ro("lines", &TextLinesRecord::lines);
  nb::class_<LoopRecord>(m, "Loop")
      .def_ro("line", &LoopRecord::line)
      .def_ro("iterations", &LoopRecord::iterations, nb::arg().none());
  nb::class_<SyncOperationRecord>(m, "SyncOperation")
      .def_ro("kernel", &SyncOperationRecord::kernel, nb::arg().none())
      .def_ro("role", &SyncOperationRecord::role)
      .def_ro("at", &SyncOperationRecord::at)
      .def_ro("loops", &SyncOperationRecord::loops)
      .def_ro("is_conditional", &SyncOperationRecord::isConditional)
      .def_ro("num_pending", &SyncOperationRecord::numPending, nb::arg().none())
      .def_ro("mbarriers", &SyncOperationRecord::mbarriers, nb::arg().none());
  bindMBarriers(m);
  nb::class_<BarrierNeedRecord>(m, "BarrierNeed")
      .def_ro("kernel", &BarrierNeedRecord::kernel, nb::arg().none())
      .def_ro("at", &BarrierNeedRecord::at)
      .def_ro("inserted", &BarrierNeedRecord::inserted, nb::arg().none())
      .def_ro("verdict", &BarrierNeedRecord::verdict)
      .def_ro("findings", &BarrierNeedRecord::findings);
  nb::class_<ExplanationRecord>(m, "KernelExplanation")
      .def_ro("operations", &ExplanationRecord::operations)
      .def_ro("mbarriers", &ExplanationRecord::mbarriers)
      .def_ro("verdicts", &ExplanationRecord::verdicts)
      .def_ro("needs", &ExplanationRecord::needs);
}

static ExplanationRecord explain(CompileResult &result) {
  nb::gil_scoped_release unlock;
  return result.explain ? std::exchange(result.explain, nullptr)(result.crash)
                        : ExplanationRecord();
}

static void bindCompileResult(nb::module_ &m) {
  nb::class_<CompileResult>(m, "CompileResult")
      .def_ro("succeeded", &CompileResult::succeeded)
      .def_ro("stage", &CompileResult::stage)
      .def_ro("texts", &CompileResult::texts)
      .def_ro("kernels", &CompileResult::kernels)
      .def_ro("entries", &CompileResult::entries)
      .def_ro("plan", &CompileResult::plan)
      // Kept by modules, which do not keep the rest.
      .def_ro("shared_buffers", &CompileResult::sharedBuffers,
              nb::rv_policy::copy)
      .def_ro("memory", &CompileResult::memory)
      .def_ro("shortage", &CompileResult::shortage)
      .def_ro("barriers", &CompileResult::barriers)
      .def_ro("sync", &CompileResult::sync)
      .def_ro("distributions", &CompileResult::distributions)
      .def_ro("are_kernels_formed", &CompileResult::areKernelsFormed)
      .def_prop_ro(
          "bitcode",
          [](const CompileResult &result) { return asBytes(result.bitcode); })
      .def_ro("certificate", &CompileResult::certificate)
      .def_ro("chip", &CompileResult::chip)
      .def_ro("needs_distinct_arguments",
              &CompileResult::needsDistinctArguments)
      .def_ro("diagnostics", &CompileResult::diagnostics)
      .def_ro("rendered", &CompileResult::rendered)
      .def_ro("remarks", &CompileResult::remarks)
      .def_ro("snapshots", &CompileResult::snapshots)
      .def_ro("lines", &CompileResult::lines)
      .def_ro("located_ptx", &CompileResult::locatedPTX)
      .def("explain", &explain,
           "What explains the kernels; to be asked for once.")
      .def_ro("seconds", &CompileResult::seconds)
      .def_ro("reproducer", &CompileResult::reproducer)
      .def_ro("needs_libdevice", &CompileResult::needsLibdevice)
      .def_ro("crash", &CompileResult::crash);
}

static void bindCompile(nb::module_ &m) {
  m.def("check_memory_options", &checkMemoryOptions, "options"_a);
  m.def(
      "disassemble",
      [](nb::bytes bitcode, const std::string &name) {
        Disassembly result =
            disassemble({std::string(bitcode.c_str(), bitcode.size()), name});
        return std::pair(result.text, result.error);
      },
      "bitcode"_a, "name"_a,
      "The text of bitcode of LLVM or, if there is none, what is wrong.");
  m.def("compile", &compileChoosing, "source"_a, "options"_a,
        "choose_schedule"_a = nb::none(),
        "Compile a source text; see workgroup/Compiler/Compile.h.");
  m.def("pass_summaries", &getPassSummaries,
        "Name and summary of each pass and pipeline of this project.");
  m.def("llvm_version", &getLLVMVersion, "The version of LLVM in use.");
  m.def(
      "readable_name",
      [](const std::string &symbol) { return getReadableName(symbol); },
      "symbol"_a, "The name that the author of a symbol knows it by.");
  m.def(
      "is_called",
      [](const std::string &symbol, const std::string &name) {
        return isCalled(symbol, name);
      },
      "symbol"_a, "name"_a, "Whether a name is meant for a symbol.");
}

/// The chips, and the limits of all of them.
static void bindChips(nb::module_ &m) {
  nb::class_<ChipRecord>(m, "Chip")
      .def_ro("name", &ChipRecord::name)
      .def_ro("max_workgroup_bytes", &ChipRecord::maxWorkgroupBytes)
      .def_ro("multiprocessor_bytes", &ChipRecord::multiprocessorBytes)
      .def_ro("system_bytes_per_block", &ChipRecord::systemBytesPerBlock)
      .def_ro("max_blocks", &ChipRecord::maxBlocks)
      .def_ro("max_threads", &ChipRecord::maxThreads)
      .def_ro("multiprocessors", &ChipRecord::multiprocessors);
  m.def("chip_names", &getChipNames, "The supported chips, oldest first.");
  m.def("chips", &describeChips, "The supported chips, oldest first.");
  m.def("default_chip", &getDefaultChipName,
        "The chip that is meant where none is named.");
  m.attr("STAGE_FILE") = kStageFile;
  m.attr("MAX_BLOCK_THREADS") = kMaxBlockThreads;
  m.attr("WIDEST_ACCESS_BYTES") = kWidestAccessBytes;
  m.def(
      "max_block", [] { return kMaxBlockSizes; },
      "The most threads of a block along x, y and z.");
  m.def(
      "max_grid", [] { return kMaxGridSizes; },
      "The most blocks of a grid along x, y and z.");
}

NB_MODULE(_native, m) {
  m.doc() = "The compiler of mlir-workgroup; use the package `pipeline`.";
  bindDiagnostics(m);
  bindKernels(m);
  bindEntries(m);
  bindEmulator(m);
  bindBarriers(m);
  bindSync(m);
  bindCompileOptions(m);
  bindMemory(m);
  bindExplanation(m);
  bindCompileResult(m);
  bindCompile(m);
  bindChips(m);
  bindKernelFunctions(m);
}
