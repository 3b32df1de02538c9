//===- ReadLLVM.cpp - Programs that are LLVM IR ---------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReadLLVM.h"
#include "CopyStructures.h"
#include "FloatConstants.h"
#include "FoldReflect.h"
#include "KeepLoads.h"
#include "KnownCallees.h"
#include "Overruns.h"
#include "RaiseAssembly.h"
#include "Target/LLVMPasses.h"
#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Target/LLVMIR/Import.h"
#include "workgroup/Target/LLVMDiagnostics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/AsmParser/AsmParserContext.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/DIBuilder.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/IPO/Inliner.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Utils/Mem2Reg.h"

namespace mlir::workgroup {

bool isLLVM(const SourceText &source) {
  StringRef text = StringRef(source.text).ltrim();
  // Comments of MLIR begin with `//`, and its operations with other words.
  constexpr StringLiteral words[] = {";", "source_filename", "target ",
                                     "define ", "declare "};
  return llvm::any_of(words,
                      [&](StringRef word) { return text.starts_with(word); });
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// The place in a text that `line` and `column`, from 1 on, are.
static Location getPlace(const SourceText &source, MLIRContext *context,
                         unsigned line, unsigned column) {
  return FileLineColLoc::get(context, source.name, line, column);
}

static void emitErrors(const LLVMErrors &errors, const SourceText &source,
                       MLIRContext *context) {
  for (const LLVMError &error : errors) {
    const SourceLocation &at = error.location;
    Location loc =
        at.line > 0 ? FileLineColLoc::get(context, at.file, at.line, at.column)
                    : getPlace(source, context, 1, 1);
    InFlightDiagnostic diagnostic = emitError(loc);
    if (!error.function.empty())
      diagnostic << "function '" << error.function << "': ";
    diagnostic << error.message;
  }
}

/// True if the module says from which lines it was compiled.
static bool hasLines(const llvm::Module &llvmModule) {
  return !llvmModule.debug_compile_units().empty();
}

/// Names files as the compiler was told them, not where it found them.
static void dropDirectories(llvm::Module &llvmModule) {
  constexpr unsigned kDirectory = 1; // the number of the operand of a DIFile
  llvm::DebugInfoFinder finder;
  finder.processModule(llvmModule);
  auto drop = [&](llvm::DIFile *file) {
    if (file && file->getRawDirectory())
      file->replaceOperandWith(kDirectory, nullptr);
  };
  for (llvm::DICompileUnit *unit : finder.compile_units())
    drop(unit->getFile());
  for (llvm::DISubprogram *function : finder.subprograms())
    drop(function->getFile());
  for (llvm::DIScope *scope : finder.scopes())
    drop(scope->getFile());
}

/// Says of each instruction from which line of its text it is.
static void addLines(llvm::Module &llvmModule,
                     const llvm::AsmParserContext &places,
                     const SourceText &source) {
  llvm::DIBuilder builder(llvmModule);
  llvm::DIFile *file = builder.createFile(source.name, "");
  builder.createCompileUnit(llvm::DISourceLanguageName(llvm::dwarf::DW_LANG_C),
                            file, "mlir-workgroup", /*isOptimized=*/true, "", 0,
                            "", llvm::DICompileUnit::LineTablesOnly);
  llvm::DISubroutineType *type =
      builder.createSubroutineType(builder.getOrCreateTypeArray({}));
  for (llvm::Function &function : llvmModule) {
    std::optional<llvm::FileLocRange> range =
        places.getFunctionLocation(&function);
    if (function.isDeclaration() || !range)
      continue;
    unsigned line = range->Start.Line + 1;
    llvm::DISubprogram *scope =
        builder.createFunction(file, function.getName(), function.getName(),
                               file, line, type, line, llvm::DINode::FlagZero,
                               llvm::DISubprogram::SPFlagDefinition |
                                   llvm::DISubprogram::SPFlagOptimized);
    function.setSubprogram(scope);
    for (llvm::BasicBlock &block : function)
      for (llvm::Instruction &instruction : block)
        if (auto at = places.getInstructionLocation(&instruction))
          instruction.setDebugLoc(
              llvm::DILocation::get(function.getContext(), at->Start.Line + 1,
                                    at->Start.Col + 1, scope));
  }
  builder.finalize();
  if (!llvmModule.getModuleFlag("Debug Info Version"))
    llvmModule.addModuleFlag(llvm::Module::Warning, "Debug Info Version",
                             llvm::DEBUG_METADATA_VERSION);
}

/// Has LLVM leave debug information as it is: where that is to be checked, a
/// module that is broken ends the process, before anybody can say where.
static void keepDebugInfo() {
  static const bool isKept = [] {
    auto &known = llvm::cl::getRegisteredOptions();
    auto it = known.find("disable-auto-upgrade-debug-info");
    if (it == known.end())
      return false;
    static_cast<llvm::cl::opt<bool> *>(it->second)->setValue(true);
    return true;
  }();
  (void)isKept;
}

static std::unique_ptr<llvm::Module> parse(const SourceText &source,
                                           llvm::LLVMContext &llvmContext,
                                           MLIRContext *context) {
  llvm::SMDiagnostic fault;
  llvm::AsmParserContext places;
  std::string text = respellFloats(source.text);
  keepDebugInfo();
  std::unique_ptr<llvm::Module> llvmModule = llvm::parseAssemblyString(
      text, fault, llvmContext, /*Slots=*/nullptr, &places);
  if (!llvmModule) {
    emitError(getPlace(source, context, std::max(1, fault.getLineNo()),
                       fault.getColumnNo() + 1))
        << fault.getMessage();
    return nullptr;
  }
  if (llvm::getDebugMetadataVersionFromModule(*llvmModule) !=
      llvm::DEBUG_METADATA_VERSION)
    llvm::StripDebugInfo(*llvmModule);
  if (hasLines(*llvmModule))
    dropDirectories(*llvmModule);
  else
    addLines(*llvmModule, places, source);
  return llvmModule;
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static LogicalResult check(const llvm::Module &llvmModule,
                           const SourceText &source, MLIRContext *context) {
  const llvm::Triple &triple = llvmModule.getTargetTriple();
  Location begin = getPlace(source, context, 1, 1);
  if (!triple.empty() && triple.getArch() != llvm::Triple::nvptx64)
    return emitError(begin)
           << "this is LLVM IR for " << triple.str()
           << "; what is understood here is for nvptx64, as clang makes of "
              "CUDA for the device (--cuda-device-only)";
  bool hasKernel = llvm::any_of(llvmModule, [](const llvm::Function &function) {
    return function.getCallingConv() == llvm::CallingConv::PTX_Kernel &&
           !function.isDeclaration();
  });
  if (hasKernel)
    return success();
  return emitError(begin) << "there is no kernel in this LLVM IR: no function "
                             "is defined as ptx_kernel (in CUDA: __global__)";
}

//===----------------------------------------------------------------------===//
// Simplifying
//===----------------------------------------------------------------------===//

/// Allows functions to be inlined that were compiled for a debugger.
static void allowInlining(llvm::Module &llvmModule) {
  for (llvm::Function &function : llvmModule)
    if (function.hasFnAttribute(llvm::Attribute::OptimizeNone)) {
      function.removeFnAttr(llvm::Attribute::OptimizeNone);
      function.removeFnAttr(llvm::Attribute::NoInline);
    }
}

static void inlineCalls(llvm::Module &llvmModule) {
  allowInlining(llvmModule);
  runLLVMPasses(llvmModule, /*machine=*/nullptr, [](llvm::PassBuilder &) {
    constexpr int kAny = 1 << 20;
    llvm::ModulePassManager passes;
    passes.addPass(llvm::AlwaysInlinerPass());
    passes.addPass(llvm::ModuleInlinerWrapperPass(llvm::getInlineParams(kAny)));
    return passes;
  });
}

template <typename Pass>
static void runOnFunctions(llvm::Module &llvmModule, Pass pass) {
  runLLVMPasses(llvmModule, /*machine=*/nullptr, [&](llvm::PassBuilder &) {
    llvm::ModulePassManager passes;
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(pass)));
    return passes;
  });
}

/// Keeps variables in registers, and loads and wrong accesses where they are.
static void promoteVariables(llvm::Module &llvmModule) {
  runOnFunctions(llvmModule, llvm::PromotePass()); // addresses become visible
  useLoads(llvmModule);
  keepOverrun(llvmModule);
  runOnFunctions(llvmModule, llvm::SROAPass(llvm::SROAOptions::PreserveCFG));
}

/// Inlines calls and keeps variables in registers. Nothing else: races are
/// looked for in the program as it is written.
static void simplify(llvm::Module &llvmModule) {
  constexpr unsigned kMaxRounds = 8; // of functions that are handed on
  inlineCalls(llvmModule);
  copyStructures(llvmModule);
  promoteVariables(llvmModule);
  for (unsigned i = 0; i < kMaxRounds && callByName(llvmModule); ++i) {
    inlineCalls(llvmModule);
    promoteVariables(llvmModule);
  }
  dropOtherUses(llvmModule);
  runLLVMPasses(llvmModule, /*machine=*/nullptr, [](llvm::PassBuilder &) {
    llvm::ModulePassManager passes;
    passes.addPass(llvm::GlobalDCEPass());
    return passes;
  });
  shareParts(llvmModule);
}

//===----------------------------------------------------------------------===//
// Importing
//===----------------------------------------------------------------------===//

/// The operations that `llvmModule` stands for; null after an error.
static OwningOpRef<ModuleOp>
importModule(std::unique_ptr<llvm::Module> llvmModule, MLIRContext *context) {
  // Warnings are about what the import leaves out, which no kernel needs.
  ScopedDiagnosticHandler quiet(context, [](Diagnostic &diagnostic) {
    return success(diagnostic.getSeverity() != DiagnosticSeverity::Error);
  });
  context->loadDialect<LLVM::LLVMDialect, NVVM::NVVMDialect, DLTIDialect>();
  return translateLLVMIRToModule(std::move(llvmModule), context,
                                 /*emitExpensiveWarnings=*/false,
                                 /*dropDICompositeTypeElements=*/true,
                                 /*loadAllDialects=*/false);
}

OwningOpRef<ModuleOp> readLLVM(const SourceText &source, StringRef chip,
                               MLIRContext *context) {
  llvm::LLVMContext llvmContext;
  std::shared_ptr<const LLVMErrors> errors = collectErrors(llvmContext);
  std::unique_ptr<llvm::Module> llvmModule =
      parse(source, llvmContext, context);
  if (!llvmModule)
    return nullptr;
  LLVMErrors found = verifyAndMend(*llvmModule);
  if (found.empty() && failed(check(*llvmModule, source, context)))
    return nullptr;
  if (found.empty()) {
    raiseAssembly(*llvmModule);
    foldReflect(*llvmModule, chip);
    simplify(*llvmModule);
    found = *errors;
  }
  emitErrors(found, source, context);
  return found.empty() ? importModule(std::move(llvmModule), context) : nullptr;
}

} // namespace mlir::workgroup
