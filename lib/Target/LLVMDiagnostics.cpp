//===- LLVMDiagnostics.cpp - What LLVM says of a program ------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "workgroup/Target/LLVMDiagnostics.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ModuleSlotTracker.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace mlir::workgroup {

SourceLocation getLocation(const DILocation &location) {
  if (location.getLine() == 0)
    return {};
  SmallString<128> path(location.getDirectory());
  sys::path::append(path, location.getFilename());
  return {path.str().str(), location.getLine(), location.getColumn()};
}

SourceLocation getLocation(const Instruction &instruction) {
  const DebugLoc &loc = instruction.getDebugLoc();
  return loc ? getLocation(*loc) : SourceLocation();
}

SourceLocation getLocation(const Function &function) {
  const DISubprogram *location = function.getSubprogram();
  if (!location || location->getLine() == 0)
    return {};
  SmallString<128> path(location->getDirectory());
  sys::path::append(path, location->getFilename());
  return {path.str().str(), location->getLine(), 0};
}

/// As above; of the directory, that knows only together with the file.
static SourceLocation makeLocation(const DiagnosticLocation &location) {
  if (!location.isValid() || location.getLine() == 0)
    return {};
  StringRef file = location.getRelativePath();
  std::string path =
      file.starts_with("./") ? file.str() : location.getAbsolutePath();
  return {path, location.getLine(), location.getColumn()};
}

//===----------------------------------------------------------------------===//
// Listening to a context
//===----------------------------------------------------------------------===//

static void locateAt(const Instruction *instruction, LLVMError &error) {
  if (!instruction)
    return;
  error.function = instruction->getFunction()->getName().str();
  error.location = getLocation(*instruction);
}

/// The errors that know their location, of all that there are.
static const DiagnosticInfoWithLocationBase *
getLocated(const DiagnosticInfo &info) {
  switch (info.getKind()) {
  case DK_GenericWithLoc:
  case DK_LegalizationFailure:
  case DK_RegAllocFailure:
  case DK_ResourceLimit:
  case DK_StackSize:
  case DK_Unsupported:
    return static_cast<const DiagnosticInfoWithLocationBase *>(&info);
  default:
    return nullptr;
  }
}

static std::string getMessage(const DiagnosticInfo &info) {
  // These print where they are, too, and whole functions.
  if (auto *unsupported = dyn_cast<DiagnosticInfoUnsupported>(&info))
    return unsupported->getMessage().str();
  if (auto *generic = dyn_cast<DiagnosticInfoGenericWithLoc>(&info))
    return generic->getMsgStr().str();
  if (auto *assembly = dyn_cast<DiagnosticInfoInlineAsm>(&info))
    return assembly->getMsgStr().str();
  if (auto *generic = dyn_cast<DiagnosticInfoGeneric>(&info))
    return generic->getMsgStr().str();
  std::string text;
  raw_string_ostream stream(text);
  DiagnosticPrinterRawOStream printer(stream);
  info.print(printer);
  return text;
}

static LLVMError makeError(const DiagnosticInfo &info) {
  LLVMError error{getMessage(info), "", {}};
  if (auto *assembly = dyn_cast<DiagnosticInfoInlineAsm>(&info))
    locateAt(assembly->getInstruction(), error);
  else if (auto *generic = dyn_cast<DiagnosticInfoGeneric>(&info))
    locateAt(generic->getInstruction(), error);
  else if (const DiagnosticInfoWithLocationBase *located = getLocated(info)) {
    error.function = located->getFunction().getName().str();
    error.location = makeLocation(located->getLocation());
  }
  return error;
}

namespace {
class ErrorCollector final : public DiagnosticHandler {
public:
  explicit ErrorCollector(std::shared_ptr<LLVMErrors> errors)
      : errors(std::move(errors)) {}

  bool handleDiagnostics(const DiagnosticInfo &info) override {
    if (info.getSeverity() == DS_Error)
      errors->push_back(makeError(info));
    return true;
  }

private:
  std::shared_ptr<LLVMErrors> errors;
};
} // namespace

std::shared_ptr<const LLVMErrors> collectErrors(LLVMContext &context) {
  auto errors = std::make_shared<LLVMErrors>();
  context.setDiagnosticHandler(std::make_unique<ErrorCollector>(errors));
  return errors;
}

//===----------------------------------------------------------------------===//
// The verifier
//===----------------------------------------------------------------------===//

/// The instructions of `function`, by what the verifier prints of them.
static StringMap<const Instruction *> printAll(const Function &function) {
  StringMap<const Instruction *> texts;
  ModuleSlotTracker slots(function.getParent());
  for (const Instruction &instruction : instructions(function)) {
    std::string text;
    raw_string_ostream stream(text);
    instruction.print(stream, slots);
    texts.try_emplace(text, &instruction);
  }
  return texts;
}

/// The error in what the verifier wrote of `function`: its first line says what
/// is wrong, the next ones, which are indented, what with; the user of a value
/// comes after it.
static LLVMError readError(const Function &function, StringRef written) {
  auto [message, rest] = written.split('\n');
  LLVMError error{message.str(), function.getName().str(), {}};
  StringMap<const Instruction *> texts = printAll(function);
  for (StringRef line : split(rest, '\n')) {
    if (!line.starts_with(" "))
      break;
    locateAt(texts.lookup(line), error);
  }
  return error;
}

LLVMErrors verifyAndMend(Module &llvmModule) {
  std::string all;
  raw_string_ostream allStream(all);
  bool hasBrokenDebugInfo = false;
  bool isBroken = verifyModule(llvmModule, &allStream, &hasBrokenDebugInfo);
  LLVMErrors errors;
  if (isBroken)
    for (const Function &function : llvmModule) {
      std::string written;
      raw_string_ostream stream(written);
      if (verifyFunction(function, &stream))
        errors.push_back(readError(function, written));
    }
  if (isBroken && errors.empty())
    errors.push_back({StringRef(all).split('\n').first.str(), "", {}});
  if (!isBroken && hasBrokenDebugInfo)
    StripDebugInfo(llvmModule);
  return errors;
}

} // namespace mlir::workgroup
