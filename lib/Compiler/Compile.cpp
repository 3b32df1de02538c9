//===- Compile.cpp - From source text to PTX in one call ------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "workgroup/Compiler/Compile.h"
#include "Compiler/Certificates/Certificate.h"
#include "Compiler/Plan/LaunchPlan.h"
#include "Compiler/Plan/Requirements.h"
#include "Compiler/Records/Describe.h"
#include "Compiler/Records/Explain.h"
#include "Compiler/Records/KernelFunctions.h"
#include "Compiler/Records/Records.h"
#include "Compiler/Records/TextLines.h"
#include "HostBranches.h"
#include "KeepReads.h"
#include "NoKernels.h"
#include "Printing.h"
#include "ReadSource.h"
#include "Registration.h"
#include "Schedule.h"
#include "Support/CrashGuard.h"
#include "Target/LineTables.h"
#include "Transforms/Checks/NestedLaunches.h"
#include "Transforms/Linalg/TensorEncodings.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/Verifier.h"
#include "workgroup/IR/Workgroup.h"
#include "workgroup/Passes.h"
#include "workgroup/Pipelines.h"
#include "workgroup/Support/Kernel.h"
#include "workgroup/Target/Chip.h"
#include "workgroup/Target/PTX.h"
#include "workgroup/Transforms/ProgramChecks.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/Module.h"
#include <chrono>

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// The stages
//===----------------------------------------------------------------------===//

namespace {

class Compilation {
public:
  Compilation(const SourceText &source, const CompileOptions &options,
              CompileResult &result)
      : source(source), options(options), result(result),
        owned(std::make_shared<MLIRContext>(getRegistry(),
                                            MLIRContext::Threading::DISABLED)),
        context(*owned) {}

  void run();

private:
  LogicalResult runStage(Stage stage, function_ref<LogicalResult()> body);
  void explain(Stage stage);
  TextLinesRecord &addLines(Stage stage);
  LogicalResult parse();
  LogicalResult schedule();
  LogicalResult chooseSchedule(std::optional<SourceText> &chosen);
  LogicalResult checkScheduled(ModuleOp given);
  LogicalResult formKernelFunctions(ModuleOp on);
  LogicalResult checkSync();
  LogicalResult lowerMemory();
  LogicalResult lowerToNVVM();
  LogicalResult lowerToLLVM();
  LogicalResult lowerToPTX();

  LogicalResult runPasses(ModuleOp on,
                          function_ref<void(OpPassManager &)> build);
  LogicalResult runPasses(function_ref<void(OpPassManager &)> build);
  LogicalResult lower(function_ref<void(OpPassManager &)> build);
  LogicalResult runQuietly(function_ref<LogicalResult()> body);
  OwningOpRef<ModuleOp> parseText(const SourceText &text);
  OwningOpRef<ModuleOp> parseProgram();
  LogicalResult checkHasKernel();
  void keepText(Stage stage, std::string text);

  const SourceText &source;
  const CompileOptions &options;
  CompileResult &result;

  /// Whoever explains the program later needs it, too.
  std::shared_ptr<MLIRContext> owned;
  MLIRContext &context;
  llvm::SourceMgr sources;
  OwningOpRef<ModuleOp> module;
  /// The same, with functions of what becomes kernels, for which a schedule was
  /// chosen.
  OwningOpRef<ModuleOp> formed;
  PipelineReport report;
  std::optional<LaunchPlan> plan;
  RequirementsOf requirements;
  LLVMProgram program;
  /// The one who chooses schedules does not want more.
  bool isEnded = false;
  bool areArgumentsDistinct = false;
  /// Kernels are from other compilers.
  bool hasForeignKernels = false;
  /// The program brings its schedule.
  bool isOwn = false;
};

} // namespace

void Compilation::keepText(Stage stage, std::string text) {
  result.texts.emplace_back(stage, std::move(text));
}

LogicalResult Compilation::runStage(Stage stage,
                                    function_ref<LogicalResult()> body) {
  auto start = std::chrono::steady_clock::now();
  result.stage = stage;
  LogicalResult outcome = body();
  std::chrono::duration<double> elapsed =
      std::chrono::steady_clock::now() - start;
  result.seconds.emplace_back(stage, elapsed.count());
  if (failed(outcome))
    return failure();
  bool isMLIR =
      stage == Stage::Schedule || stage == Stage::GPU || stage == Stage::NVVM;
  if (isMLIR && options.explains)
    explain(stage);
  else if (isMLIR && (options.keepTexts || stage == options.lastStage))
    keepText(stage, printModule(*module));
  return success();
}

/// Keeps what explains the program after a stage of MLIR.
void Compilation::explain(Stage stage) {
  OperationLines lines;
  keepText(stage, printWithLines(*module, addLines(stage), lines));
  if (stage != Stage::GPU)
    return;
  relocate(*module, lines);
  result.explain = explainLater(owned, *module, report.barriers);
}

TextLinesRecord &Compilation::addLines(Stage stage) {
  return result.lines.emplace_back(stage, TextLinesRecord()).second;
}

OwningOpRef<ModuleOp> Compilation::parseText(const SourceText &text) {
  // The renderer shows lines of this buffer; the parser makes its own.
  sources.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBufferCopy(text.text, text.name),
      llvm::SMLoc());
  ReadModule read = readSource(text, options, &context);
  hasForeignKernels |= read.hasForeignKernels;
  return std::move(read.module);
}

LogicalResult Compilation::parse() {
  module = parseText(source);
  if (!module)
    return failure();
  structureHostBranches(*module);
  requirements = findRequirements(*module);
  return success();
}

LogicalResult Compilation::schedule() {
  std::optional<SnapshotScope> recording;
  if (options.keepSnapshots || options.explains)
    recording.emplace(context, result.snapshots);
  isOwn = !options.schedule && options.useOwnSchedule && hasSchedule(*module);
  result.areKernelsFormed = isOwn && formsKernels(*module);
  // Upstream's bufferization, which schedules may run, makes them dense.
  if ((isOwn || options.schedule) &&
      failed(checkEncodings(*module, /*onlySparse=*/true)))
    return failure();
  if (isOwn && failed(applySchedule(*module, *module)))
    return failure();
  eraseSchedules(*module);
  module = unwrapProgram(std::move(module));
  if (isOwn)
    return success();
  std::optional<SourceText> text = options.schedule;
  if (!text && failed(chooseSchedule(text)))
    return failure();
  if (!text)
    return success();
  OwningOpRef<ModuleOp> given = parseText(*text);
  if (!given)
    return failure();
  bool isFormed = formsKernels(*given);
  // A schedule that was chosen goes on where it was chosen for.
  if (formed && dropKernelFormation(*given))
    module = std::move(formed);
  if (failed(applySchedule(*module, *given)))
    return failure();
  result.areKernelsFormed = isFormed;
  return isFormed ? checkScheduled(*given) : success();
}

/// After a schedule that makes all kernels: there may be none to make.
LogicalResult Compilation::checkScheduled(ModuleOp given) {
  if (failed(checkAllScheduled(*module))) {
    // A misspelt name of a function is no error to MLIR.
    OwningOpRef<ModuleOp> again = parseProgram();
    if (succeeded(runQuietly([&] { return formKernelFunctions(*again); })))
      reportUnknownFunctions(*again, given);
    return failure();
  }
  if (!hasKernels(*module)) {
    warnOfNoKernels(*parseProgram());
    auto builder = OpBuilder::atBlockEnd(module->getBody());
    gpu::GPUModuleOp::create(builder, module->getLoc(), "no_kernels");
  }
  return success();
}

/// The program as it was given, without the schedules that it carries.
OwningOpRef<ModuleOp> Compilation::parseProgram() {
  OwningOpRef<ModuleOp> program = parseText(source);
  eraseSchedules(*program);
  structureHostBranches(*program);
  return unwrapProgram(std::move(program));
}

/// Runs `body`, of which nothing is said if it succeeds.
LogicalResult Compilation::runQuietly(function_ref<LogicalResult()> body) {
  size_t numDiagnostics = result.diagnostics.size();
  size_t numRemarks = result.remarks.size();
  size_t numLetters = result.rendered.size();
  if (failed(body()))
    return failure();
  result.diagnostics.resize(numDiagnostics);
  result.remarks.resize(numRemarks);
  result.rendered.resize(numLetters);
  return success();
}

/// Does what schedules begin with.
LogicalResult Compilation::formKernelFunctions(ModuleOp on) {
  KernelPipelineOptions pipeline;
  pipeline.assumeDistinctArguments = true; // as the schedules say
  pipeline.chainBytes = options.chainBytes;
  pipeline.chainBlocks = options.chainBlocks;
  pipeline.chip = options.chip;
  pipeline.narrow = options.narrow;
  return runPasses(
      on, [&](OpPassManager &pm) { buildKernelPipeline(pm, pipeline); });
}

/// Asks for a schedule if that is wanted, and there is something to schedule.
LogicalResult Compilation::chooseSchedule(std::optional<SourceText> &chosen) {
  if (!options.chooseSchedule || hasKernels(*module))
    return success();
  formed = module->clone();
  if (failed(formKernelFunctions(*formed)))
    return failure();
  std::vector<KernelFunctionRecord> functions =
      describeKernelFunctions(*formed);
  if (functions.empty() && !hasWork(*module))
    return success();
  chosen = options.chooseSchedule(functions);
  isEnded = !chosen;
  result.needsDistinctArguments = true; // the schedules say that they are
  return success();
}

LogicalResult
Compilation::runPasses(ModuleOp on, function_ref<void(OpPassManager &)> build) {
  PassManager manager(&context, ModuleOp::getOperationName());
  build(manager);
  manager.enableVerifier(false); // each time takes longer than most passes
  bool isExplained = options.explains && result.stage <= Stage::GPU;
  if ((options.keepSnapshots || isExplained) && on == *module)
    recordSnapshots(manager, result.snapshots);
  OwningOpRef<ModuleOp> before = on.clone();
  if (succeeded(manager.run(on)) && succeeded(verify(on)))
    return success();
  result.reproducer = makeReproducer(*before, manager);
  return failure();
}

LogicalResult
Compilation::runPasses(function_ref<void(OpPassManager &)> build) {
  return runPasses(*module, build);
}

/// Runs a pipeline whose passes tell something in `report`.
LogicalResult Compilation::lower(function_ref<void(OpPassManager &)> build) {
  LogicalResult outcome = runPasses(build);
  if (!report.memory.shortages.empty())
    result.shortage = describeShortage(report.memory.shortages.front());
  return outcome;
}

/// True for what stands for kernels where there is nothing to compute.
static bool isModuleEmpty(gpu::GPUModuleOp module) {
  return module.getBody()->empty();
}

/// A program without a kernel is most often one that lacks its schedule.
LogicalResult Compilation::checkHasKernel() {
  bool hasKernel = false;
  module->walk(
      [&](gpu::GPUFuncOp function) { hasKernel |= function.isKernel(); });
  reportHostWork(*module,
                 /*warns=*/hasKernel && !isOwn && options.chooseSchedule);
  auto modules = module->getOps<gpu::GPUModuleOp>();
  if (hasKernel || llvm::any_of(modules, isModuleEmpty))
    return success();
  for (auto nested : module->getOps<ModuleOp>())
    return nested.emitOpError("is one of several modules in the program, which "
                              "are not compiled; compile each by itself");
  return emitError(module->getLoc())
         << "the module has no kernel to compile: neither a gpu.launch nor a "
            "gpu.func; give it a schedule that makes one by --schedule FILE"
         << (options.chooseSchedule
                 ? "; none was chosen, for there is no linalg operation and no "
                   "parallel loop that becomes a kernel"
                 : ", or have one chosen by --schedule auto");
}

/// Checks the synchronisation of the kernels as the program and its schedule
/// have them or, if a schedule has made them of operations that know of no
/// barriers, or leaves loops over blocks, with those that compiling inserts.
LogicalResult Compilation::checkSync() {
  for (const DistributionFinding &finding : compareDistributions(*module))
    result.distributions.push_back(describeDistribution(finding));
  // Loops over blocks become launches on the way.
  result.areKernelsFormed |=
      collectDeviceScopes(*module).empty() && hasKernels(*module);
  if (result.areKernelsFormed) {
    if (failed(runQuietly([&] { return lowerMemory(); })))
      return failure();
  } else if (failed(checkNestedLaunches(*module)) ||
             failed(verifyProgram(*module, /*isSunk=*/false))) {
    return failure();
  }
  std::vector<SyncReport> reports;
  SyncOptions options;
  options.assumeDistinctArguments = true; // as when they are compiled
  (void)verifySync(*module, options, &reports);
  for (const SyncReport &report : reports)
    result.sync.push_back(describeSync(report));
  return reports.empty() ? checkHasKernel() : success();
}

LogicalResult Compilation::lowerMemory() {
  if (options.keepReads)
    useReads(*module);
  MemoryPipelineOptions pipeline;
  (void)pipeline.parseFromString(options.memoryOptions); // checked before
  pipeline.chip = options.chip;
  // Padded rows are longer than what is asserted, and have no slices left.
  if (options.assertBounds)
    pipeline.resolveBankConflicts = false;
  pipeline.sync =
      llvm::StringSwitch<SyncMode>(options.sync)
          .Case("keep", SyncMode::Keep)
          .Case("insert", SyncMode::Insert)
          .Case("minimize", SyncMode::Minimize)
          .Default(hasForeignKernels ? SyncMode::Keep : SyncMode::Insert);
  pipeline.contractions.tf32 = pipeline.contractions.tf32 || options.tf32;
  pipeline.assumeAlignment = options.assumeAlignment;
  pipeline.verifyBarriers = options.verifyBarriers;
  if (!pipeline.rings.assumeDistinctArguments.hasValue())
    pipeline.rings.assumeDistinctArguments = true; // the runtime checks it
  areArgumentsDistinct = pipeline.rings.assumeDistinctArguments;
  int64_t numLoads = countTensorLoads(*module);
  if (failed(lower([&](OpPassManager &manager) {
        buildMemoryPipeline(manager, pipeline, &report);
      })))
    return failure();
  result.needsDistinctArguments |=
      pipeline.rings.assumeDistinctArguments &&
      (pipeline.rings.slots > 1 || countTensorLoads(*module) > numLoads);
  for (const MemoryPlacement &placement : report.memory.placements)
    result.memory.push_back(describeMemory(placement));
  for (const BarrierReport &barrier : report.barriers)
    result.barriers.push_back(describeBarrier(barrier));
  for (auto kernels : module->getOps<gpu::GPUModuleOp>())
    if (NVVM::NVVMTargetAttr target = getTarget(kernels))
      result.chip = target.getChip().str();
  result.sharedBuffers = describeSharedBuffers(*module);
  result.entries = describeEntries(*module, options.assumeAlignment);
  if (options.certifies)
    (void)runQuietly([&] {
      result.sync = proveKernels(*module, areArgumentsDistinct);
      return success();
    });
  serializeLoops(*module, {/*all=*/true}); // what is left on the host
  plan.emplace(*module, requirements);
  return checkHasKernel();
}

LogicalResult Compilation::lowerToNVVM() {
  ToNVVMPipelineOptions pipeline;
  pipeline.chip = options.chip;
  pipeline.verifyBarriers = options.verifyBarriers;
  pipeline.assumeDistinctArguments = areArgumentsDistinct;
  pipeline.assertBounds = options.assertBounds;
  pipeline.areVerified = true;
  if (failed(lower([&](OpPassManager &manager) {
        buildToNVVMPipeline(manager, pipeline, &report);
      })))
    return failure();
  plan->nameKernels(*module);
  for (const KernelSignature &signature : report.signatures)
    result.kernels.push_back(
        describeKernel(*module, signature, options.assumeAlignment));
  return success();
}

LogicalResult Compilation::lowerToLLVM() {
  if (failed(translateToLLVM(*module, program, options.libdevice,
                             &result.needsLibdevice, &result.bitcode,
                             options.explains)))
    return failure();
  for (const KernelMemory &memory : getKernelMemory(*program.module))
    for (KernelRecord &kernel : result.kernels)
      if (kernel.name == memory.kernel)
        kernel.staticSharedBytes = memory.staticBytes;
  if (options.explains) {
    keepText(Stage::LLVM,
             printWithLines(*program.module, addLines(Stage::LLVM)));
  } else if (options.keepTexts || options.certifies ||
             options.lastStage == Stage::LLVM) {
    std::string text = printModule(*program.module);
    if (options.certifies)
      result.certificate = writeCertificate(*program.module, text, result.chip,
                                            result.sync, result.kernels);
    keepText(Stage::LLVM, std::move(text));
  }
  return success();
}

LogicalResult Compilation::lowerToPTX() {
  FailureOr<std::string> text =
      translateToPTX(*module, program, options.libdevice, result.bitcode);
  if (failed(text))
    return failure();
  if (options.explains) {
    result.locatedPTX = std::move(*text);
    text = takeLines(result.locatedPTX, addLines(Stage::PTX));
  }
  keepText(Stage::PTX, std::move(*text));
  return success();
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

void Compilation::run() {
  Recorder recorder(context, sources, options.useColor, result);
  const std::pair<Stage, LogicalResult (Compilation::*)()> stages[] = {
      {Stage::Parse, &Compilation::parse},
      {Stage::Schedule, &Compilation::schedule},
      {Stage::GPU, &Compilation::lowerMemory},
      {Stage::NVVM, &Compilation::lowerToNVVM},
      {Stage::LLVM, &Compilation::lowerToLLVM},
      {Stage::PTX, &Compilation::lowerToPTX},
  };
  for (auto [stage, body] : stages) {
    if (failed(runStage(stage, [&, body = body] { return (this->*body)(); })))
      return;
    if (isEnded)
      break;
    if (stage == Stage::Schedule && options.checksSync) {
      result.succeeded = succeeded(checkSync());
      return;
    }
    if (stage == options.lastStage)
      break;
  }
  if (plan)
    result.plan = std::move(*plan).print(result.chip);
  result.succeeded = true;
}

CompileResult compile(const SourceText &source, const CompileOptions &options) {
  registerPassesOnce();
  CompileResult result;
  CrashReport crash = runGuarded(
      [&] { Compilation(source, options, result).run(); }, kDeepStackBytes);
  if (!crash.hasReturned) {
    result.succeeded = false;
    result.crash = crash.reason.value_or("a pass received a fatal signal");
  }
  return result;
}

} // namespace mlir::workgroup
