//===- Program.cpp - A kernel as code of the host -------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How the host's optimiser and code generator are set up for coroutines, and
// which symbols generated code may refer to.
//
//===----------------------------------------------------------------------===//

#include "Program.h"
#include "Emulator/Math/MathLibrary.h"
#include "Emulator/State/ThreadState.h"
#include "KernelErrors.h"
#include "Target/LLVMPasses.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Coroutines/CoroCleanup.h"
#include "llvm/Transforms/Coroutines/CoroEarly.h"
#include "llvm/Transforms/Coroutines/CoroSplit.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include <mutex>

using namespace llvm;

namespace mlir::workgroup::emulator {

static void initializeHost() {
  static std::once_flag once;
  std::call_once(once, [] {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
  });
}

/// What is cheaper to compute again than to keep over a suspension: casts,
/// addresses, and one step of integer arithmetic. The default takes sums of
/// floats as well; and of chains of steps, each suspension would repeat what
/// all before it did.
static bool isCheap(Instruction &instruction) {
  if (isa<CastInst, GetElementPtrInst>(instruction))
    return true;
  return instruction.getType()->isIntegerTy() &&
         isa<BinaryOperator, CmpInst>(instruction) &&
         none_of(instruction.operands(), [](const Use &operand) {
           return isa<BinaryOperator, CmpInst, CastInst>(operand);
         });
}

/// LLVM takes quadratic time for very long straight-line code: known bits,
/// value numbers and live ranges all look back. With more blocks than this, of
/// which an access makes two or three, only what is linear is done.
static bool isHuge(const Function &function) {
  constexpr size_t kManyBlocks = 2000;
  return function.size() > kManyBlocks;
}

/// The least that coroutines need.
static ModulePassManager makeLightPipeline() {
  auto clean = [] {
    FunctionPassManager passes;
    passes.addPass(SROAPass(SROAOptions::ModifyCFG));
    passes.addPass(SimplifyCFGPass());
    return createModuleToFunctionPassAdaptor(std::move(passes));
  };
  ModulePassManager passes;
  passes.addPass(clean());
  passes.addPass(CoroEarlyPass());
  passes.addPass(createModuleToPostOrderCGSCCPassAdaptor(
      CoroSplitPass(std::function<bool(Instruction &)>(isCheap))));
  passes.addPass(CoroCleanupPass());
  passes.addPass(clean());
  return passes;
}

static void optimizeForHost(Module &module, TargetMachine &machine,
                            bool isHuge) {
  runLLVMPasses(module, &machine, [&](PassBuilder &builder) {
    if (isHuge)
      return makeLightPipeline();
    builder.registerCGSCCOptimizerLateEPCallback([](CGSCCPassManager &passes,
                                                    OptimizationLevel) {
      passes.addPass(CoroSplitPass(std::function<bool(Instruction &)>(isCheap),
                                   /*OptimizeFrame=*/true));
    });
    return builder.buildPerModuleDefaultPipeline(OptimizationLevel::O2);
  });
}

static void insertBarriers(PreparedKernel &kernel,
                           ArrayRef<uint32_t> barriersBefore) {
  for (uint32_t number : barriersBefore) {
    Instruction *place = kernel.instructions[number];
    IRBuilder<> builder(place);
    kernel.instructions.push_back(
        builder.CreateIntrinsic(Intrinsic::nvvm_barrier_cta_sync_aligned_all,
                                {}, {builder.getInt32(0)}));
  }
}

/// Gives variables in global memory names by which they can be found.
static void exposeVariables(Module &module, Program &program) {
  unsigned number = 0;
  for (GlobalVariable &variable : module.globals()) {
    if (variable.getName().starts_with("llvm."))
      continue;
    program.variables.push_back(
        {variable.getName().str(), nullptr,
         module.getDataLayout().getTypeAllocSize(variable.getValueType()),
         variable.isConstant()});
    variable.setName("emulator.variable." + Twine(number++));
    variable.setLinkage(GlobalValue::ExternalLinkage);
  }
}

/// What generated code may refer to, and nothing else of the process.
static Error defineSymbols(orc::LLJIT &jit, const Module &module,
                           RuntimeFunctions runtimeFunctions) {
  orc::SymbolMap symbols;
  auto define = [&](StringRef name, void *address) {
    symbols[jit.mangleAndIntern(name)] = {orc::ExecutorAddr::fromPtr(address),
                                          JITSymbolFlags::Exported};
  };
  for (auto [name, address] : runtimeFunctions)
    define(name, address);
  for (auto [name, address] : getSupportFunctions())
    define(name, address);
  for (const Function &function : module) {
    StringRef name = function.getName();
    if (function.isDeclaration() && name.consume_front("emulator.math."))
      define(function.getName(), findMathFunction(name));
  }
  return jit.getMainJITDylib().define(orc::absoluteSymbols(symbols));
}

static Error compile(Program &program, std::unique_ptr<Module> module,
                     std::unique_ptr<LLVMContext> context,
                     orc::JITTargetMachineBuilder host,
                     RuntimeFunctions runtimeFunctions) {
  auto jit = orc::LLJITBuilder().setJITTargetMachineBuilder(host).create();
  if (!jit)
    return jit.takeError();
  program.jit = std::move(*jit);
  if (Error error = defineSymbols(*program.jit, *module, runtimeFunctions))
    return error;
  if (Error error = program.jit->addIRModule(
          orc::ThreadSafeModule(std::move(module), std::move(context))))
    return error;
  auto entry = program.jit->lookup("emulated");
  if (!entry)
    return entry.takeError();
  program.entry = entry->toPtr<void *(ThreadState *)>();
  for (auto [number, variable] : enumerate(program.variables)) {
    auto address =
        program.jit->lookup(("emulator.variable." + Twine(number)).str());
    if (!address)
      return address.takeError();
    variable.address = address->toPtr<uint8_t *>();
  }
  return Error::success();
}

std::unique_ptr<Program> makeProgram(const std::string &bitcode,
                                     const std::string &name,
                                     const ProgramOptions &options,
                                     std::vector<DiagnosticRecord> &errors) {
  initializeHost();
  auto context = std::make_unique<LLVMContext>();
  std::shared_ptr<const LLVMErrors> found = collectErrors(*context);
  PreparedKernel kernel =
      prepareKernel(*context, bitcode, name, options.chip, errors);
  if (!kernel.module)
    return nullptr;
  SourceLocation place = getLocation(*kernel.function);
  auto fail = [&](Error error) {
    addError(errors, nullptr, toString(std::move(error)));
    return nullptr;
  };
  auto host = orc::JITTargetMachineBuilder::detectHost();
  if (!host)
    return fail(host.takeError());
  auto machine = host->createTargetMachine();
  if (!machine)
    return fail(machine.takeError());
  kernel.module->setDataLayout((*machine)->createDataLayout());
  kernel.module->setTargetTriple((*machine)->getTargetTriple());
  insertBarriers(kernel, options.barriersBefore);

  auto program = std::make_unique<Program>();
  InstrumentOptions instrumented = options.instrument;
  Function *function =
      instrument(kernel, instrumented, program->tables, errors);
  if (!function)
    return nullptr;
  program->needsValues =
      options.instrument.forgetsValues && !instrumented.forgetsValues;
  StripDebugInfo(*kernel.module);
  std::string problem;
  raw_string_ostream stream(problem);
  if (verifyModule(*kernel.module, &stream))
    report_fatal_error(
        StringRef("instrumentation made no valid IR: " + problem));
  exposeVariables(*kernel.module, *program);
  bool hasMuch = isHuge(*function);
  if (hasMuch)
    host->setCodeGenOptLevel(CodeGenOptLevel::None);
  optimizeForHost(*kernel.module, **machine, hasMuch);
  if (Error error =
          compile(*program, std::move(kernel.module), std::move(context), *host,
                  options.runtimeFunctions))
    return fail(std::move(error));
  addErrors(errors, *found, place);
  return found->empty() ? std::move(program) : nullptr;
}

} // namespace mlir::workgroup::emulator
