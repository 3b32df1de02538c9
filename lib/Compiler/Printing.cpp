//===- Printing.cpp - Modules as texts ------------------------------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Printing.h"
#include "llvm/IR/Module.h"

namespace mlir::workgroup {

std::string printModule(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  return text;
}

std::string printModule(const llvm::Module &module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, nullptr);
  return text;
}

std::string makeReproducer(ModuleOp module, PassManager &manager) {
  std::string text = printModule(module);
  llvm::raw_string_ostream stream(text);
  stream << "{-#\n  external_resources: {\n    mlir_reproducer: {\n"
            "      pipeline: \"";
  manager.printAsTextualPipeline(stream);
  stream << "\",\n      disable_threading: true,\n      verify_each: true\n"
            "    }\n  }\n#-}\n";
  return text;
}

} // namespace mlir::workgroup
