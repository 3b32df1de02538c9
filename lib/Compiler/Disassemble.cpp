//===- Disassemble.cpp - Bitcode of LLVM as text --------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs are text, of which errors and findings show lines. Bitcode has none,
// and gets those that LLVM's disassembler would write.
//
//===----------------------------------------------------------------------===//

#include "Support/CrashGuard.h"
#include "workgroup/Compiler/Compile.h"
#include "workgroup/Target/LLVMDiagnostics.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/JSON.h"

namespace mlir::workgroup {

/// The text of `bitcode`; else why there is none.
static Disassembly read(const SourceText &bitcode) {
  llvm::LLVMContext context;
  std::shared_ptr<const LLVMErrors> errors = collectErrors(context);
  llvm::Expected<std::unique_ptr<llvm::Module>> llvmModule =
      llvm::parseBitcodeFile(llvm::MemoryBufferRef(bitcode.text, bitcode.name),
                             context);
  if (!llvmModule)
    return {std::nullopt,
            llvm::json::fixUTF8(llvm::toString(llvmModule.takeError()))};
  if (!errors->empty())
    return {std::nullopt, llvm::json::fixUTF8(errors->front().message)};
  std::string text;
  llvm::raw_string_ostream stream(text);
  (*llvmModule)->print(stream, nullptr);
  return {std::move(text), ""};
}

Disassembly disassemble(const SourceText &bitcode) {
  constexpr unsigned kStackBytes = 64u << 20;
  Disassembly result;
  CrashReport crash = runGuarded([&] { result = read(bitcode); }, kStackBytes);
  if (!crash.hasReturned)
    return {std::nullopt, "this is no bitcode that LLVM can read: " +
                              crash.reason.value_or("it crashes")};
  return result;
}

} // namespace mlir::workgroup
