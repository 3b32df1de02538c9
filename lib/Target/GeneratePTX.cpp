//===- GeneratePTX.cpp - From LLVM IR to PTX ------------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The back end refuses what a chip lacks by an error, or by giving up. It works
// on code without debug information, so that the PTX has none, unless lines are
// kept. Where something
// is refused, code is generated once more from what still knows its lines.
//
//===----------------------------------------------------------------------===//

#include "LLVMModules.h"
#include "SharedBases.h"
#include "Support/CrashGuard.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVM/ModuleToObject.h"
#include "workgroup/Target/Chip.h"
#include "workgroup/Target/PTX.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/JSON.h"
#include "llvm/Target/TargetMachine.h"

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

LLVMProgram::LLVMProgram()
    : context(std::make_unique<llvm::LLVMContext>()),
      errors(collectErrors(*context)) {}

LLVMProgram::~LLVMProgram() = default;

void LLVMProgram::abandon() {
  (void)module.release();
  (void)context.release();
}

//===----------------------------------------------------------------------===//
// The version of PTX
//===----------------------------------------------------------------------===//

/// True if `instruction` needs a stack that grows while a thread runs.
static bool growsStack(const llvm::Instruction &instruction) {
  if (auto *memory = dyn_cast<llvm::AllocaInst>(&instruction))
    return !memory->isStaticAlloca();
  auto *call = dyn_cast<llvm::IntrinsicInst>(&instruction);
  return call && (call->getIntrinsicID() == llvm::Intrinsic::stacksave ||
                  call->getIntrinsicID() == llvm::Intrinsic::stackrestore);
}

/// The features of a target, with the version of PTX that `llvmModule` needs
/// beyond the chip's; LLVM takes the newest of several.
static std::string getFeatures(NVVM::NVVMTargetAttr target,
                               const llvm::Module &llvmModule) {
  std::string features = target.getFeatures().str();
  for (const llvm::Function &function : llvmModule)
    if (llvm::any_of(llvm::instructions(function), growsStack))
      return features.empty() ? "+ptx73" : features + ",+ptx73";
  return features;
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

/// The location that function `name` of LLVM IR comes from.
static Location findFunction(ModuleOp module, StringRef name) {
  for (auto kernels : module.getOps<gpu::GPUModuleOp>())
    for (auto function : kernels.getOps<LLVM::LLVMFuncOp>())
      if (function.getName() == name || getPTXName(function.getName()) == name)
        return function.getLoc();
  return module.getLoc();
}

void reportErrors(ModuleOp module, const LLVMErrors &errors,
                  const Twine &what) {
  SmallVector<std::pair<Location, std::string>> reported;
  for (const LLVMError &error : errors) {
    Location loc = findFunction(module, error.function);
    if (const SourceLocation &location = error.location; location.line > 0)
      loc = FileLineColLoc::get(module.getContext(), location.file,
                                location.line, location.column);
    // It says the same once for each part of an operation.
    std::pair<Location, std::string> report(loc, error.message);
    if (llvm::is_contained(reported, report))
      continue;
    emitError(loc) << what << llvm::json::fixUTF8(error.message);
    reported.push_back(std::move(report));
  }
}

/// The error in the `reason` why the back end gave up: a node of its graph, and
/// at the end the function.
static LLVMError readReason(StringRef reason) {
  LLVMError error{reason.split('\n').first.str(), "", {}};
  constexpr StringLiteral kFunction = "In function: ";
  if (size_t at = reason.find(kFunction); at != StringRef::npos)
    error.function =
        reason.substr(at + kFunction.size()).split('\n').first.str();
  return error;
}

/// Finds the location of `error` in `llvmModule` if it is about an intrinsic,
/// which is all that the back end says of some.
static void locateIntrinsic(const llvm::Module &llvmModule, LLVMError &error) {
  constexpr StringLiteral kIntrinsic = "intrinsic %";
  size_t at = StringRef(error.message).find(kIntrinsic);
  if (error.location.line > 0 || at == StringRef::npos)
    return;
  StringRef name = StringRef(error.message).substr(at + kIntrinsic.size());
  for (const llvm::Function &function : llvmModule)
    for (const llvm::Instruction &instruction : llvm::instructions(function)) {
      auto *call = dyn_cast<llvm::IntrinsicInst>(&instruction);
      if (!call || !call->getCalledFunction()->getName().starts_with(name))
        continue;
      error.function = function.getName().str();
      error.location = getLocation(instruction);
      return;
    }
}

//===----------------------------------------------------------------------===//
// Generating code
//===----------------------------------------------------------------------===//

namespace {
struct Generated {
  std::string text;
  LLVMErrors errors;
};
} // namespace

/// The result of generating `program`, which is gone if LLVM crashes.
static Generated generate(ModuleOp module, LLVMProgram &program,
                          NVVM::NVVMTargetAttr target) {
  FailureOr<SmallString<0>> text = failure();
  nameSharedBasesOnce(*program.module);
  CrashReport crash = runGuardedHere([&] {
    std::unique_ptr<llvm::TargetMachine> machine = createTargetMachine(
        target.getChip(), getFeatures(target, *program.module));
    text = LLVM::ModuleToObject::translateModuleToISA(
        *program.module, *machine, [&] { return emitError(module.getLoc()); });
  });
  Generated result;
  result.errors = *program.errors;
  if (!crash.hasReturned) {
    program.abandon();
    if (!crash.reason && result.errors.empty()) // a defect of LLVM
      llvm::report_fatal_error("the back end received a fatal signal");
    if (result.errors.empty())
      result.errors.push_back(readReason(*crash.reason));
  } else if (succeeded(text)) {
    result.text = text->str().rtrim('\0').str();
  }
  return result;
}

/// Reads `bitcode` into `program`; false if it cannot be read.
static bool read(const std::string &bitcode, LLVMProgram &program) {
  auto parsed = llvm::parseBitcodeFile(
      llvm::MemoryBufferRef(bitcode, "kernels"), *program.context);
  if (parsed)
    program.module = std::move(*parsed);
  else
    llvm::consumeError(parsed.takeError());
  return program.module != nullptr;
}

/// The errors that generating code for `bitcode` runs into; for kernel `only`
/// of it, if one is named.
static LLVMErrors generateAgain(ModuleOp module, NVVM::NVVMTargetAttr target,
                                StringRef libdevice, const std::string &bitcode,
                                StringRef only = "") {
  LLVMProgram program;
  if (!read(bitcode, program))
    return {};
  for (llvm::Function &function : *program.module)
    if (!only.empty() && !function.hasLocalLinkage() &&
        function.getName() != only)
      function.deleteBody();
  std::unique_ptr<llvm::TargetMachine> machine =
      createTargetMachine(target.getChip(), target.getFeatures());
  if (failed(finishModule(module, *program.module, *machine, libdevice)))
    return {};
  return generate(module, program, target).errors;
}

/// The errors of generating code for `bitcode`, each with the location that it
/// is about or, where LLVM does not say, the kernel.
static LLVMErrors locateErrors(ModuleOp module, NVVM::NVVMTargetAttr target,
                               StringRef libdevice,
                               const std::string &bitcode) {
  LLVMErrors errors = generateAgain(module, target, libdevice, bitcode);
  LLVMProgram source;
  if (!read(bitcode, source))
    return errors;
  for (LLVMError &error : errors)
    locateIntrinsic(*source.module, error);
  auto hasLocation = [](const LLVMError &error) {
    return !error.function.empty();
  };
  if (llvm::all_of(errors, hasLocation))
    return errors;
  for (const llvm::Function &function : *source.module)
    if (!function.isDeclaration() && !function.hasLocalLinkage())
      for (LLVMError &error : generateAgain(module, target, libdevice, bitcode,
                                            function.getName())) {
        if (!hasLocation(error))
          error.function = function.getName().str();
        errors.push_back(std::move(error));
      }
  llvm::erase_if(errors, std::not_fn(hasLocation));
  return errors;
}

FailureOr<std::string> translateToPTX(ModuleOp module, LLVMProgram &program,
                                      StringRef libdevice,
                                      const std::string &bitcode) {
  NVVM::NVVMTargetAttr target = getCommonTarget(module);
  if (!target)
    return failure();
  Generated result = generate(module, program, target);
  if (result.errors.empty() && !result.text.empty())
    return result.text;
  LLVMErrors located = locateErrors(module, target, libdevice, bitcode);
  reportErrors(module, located.empty() ? result.errors : located,
               "LLVM has no code for this on " + target.getChip() + ": ");
  return failure();
}

} // namespace mlir::workgroup
