//===- Program.h - A kernel as code of the host --------------- -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel from bitcode to machine code of the host: prepared, instrumented,
// optimised and compiled in the process.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_TRANSLATE_PROGRAM_H
#define WORKGROUP_LIB_EMULATOR_TRANSLATE_PROGRAM_H

#include "Emulator/State/Tables.h"
#include "Instrument.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"

namespace mlir::workgroup::emulator {

struct ThreadState;

struct Program {
  KernelTables tables;
  std::unique_ptr<llvm::orc::LLJIT> jit;
  void *(*entry)(ThreadState *) = nullptr;
  /// Variables in global memory.
  struct Variable {
    std::string name;
    uint8_t *address;
    uint64_t bytes;
    bool isConstant;
  };
  std::vector<Variable> variables;
  /// Values are computed though they were to be left out.
  bool needsValues = false;
};

/// Names and addresses of what generated code calls.
using RuntimeFunctions = llvm::ArrayRef<std::pair<const char *, void *>>;

struct ProgramOptions {
  RuntimeFunctions runtimeFunctions;
  InstrumentOptions instrument;
  /// Optimise as for this chip first; empty means not.
  std::string chip;
  /// Put barriers before these instructions, by their numbers.
  std::vector<uint32_t> barriersBefore;
};

/// Compiles kernel `name` of `bitcode`. Null after an error.
std::unique_ptr<Program> makeProgram(const std::string &bitcode,
                                     const std::string &name,
                                     const ProgramOptions &options,
                                     std::vector<DiagnosticRecord> &errors);

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_TRANSLATE_PROGRAM_H
