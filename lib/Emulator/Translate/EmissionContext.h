//===- EmissionContext.h - What all emitters share ------------ -*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernel that is being rewritten, what is known of it, and how code is
// emitted that all emitters need: fields of the thread's state, calls of the
// runtime, operands in registers, suspensions.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_TRANSLATE_EMISSIONCONTEXT_H
#define WORKGROUP_LIB_EMULATOR_TRANSLATE_EMISSIONCONTEXT_H

#include "Emulator/State/ThreadState.h"
#include "IdleValues.h"
#include "KernelFacts.h"
#include "llvm/IR/IRBuilder.h"

namespace mlir::workgroup::emulator {

struct InstrumentOptions {
  bool checksRaces = false;
  bool withStatistics = false;
  /// Threads stop where they order memory.
  bool withDelays = false;
  /// Nobody looks at what is computed: it is left out, if it decides nothing.
  bool forgetsValues = false;
};

class EmissionContext {
public:
  EmissionContext(llvm::Function &function, const KernelFacts &facts,
                  InstrumentOptions options, KernelTables &tables,
                  std::vector<DiagnosticRecord> &errors);

  const DataLayout &getLayout() const { return module.getDataLayout(); }

  /// Adds an error; returns false.
  bool refuse(const llvm::Instruction &instruction, const llvm::Twine &message);
  uint32_t addSite(const llvm::Instruction &at) {
    return facts.addSite(at, tables);
  }
  /// Adds an operation at the site of `at`; returns its number.
  uint32_t addOperation(const llvm::Instruction &at, Operation operation);

  //===--------------------------------------------------------------------===//
  // Code
  //===--------------------------------------------------------------------===//

  /// Loads a field of a structure that is `offset` bytes behind `base`.
  Value *getField(llvm::IRBuilder<> &builder, Type *type, Value *base,
                  uint64_t offset, bool isInvariant = true);
  /// The same of the thread's state.
  Value *getThreadField(llvm::IRBuilder<> &builder, Type *type, uint64_t offset,
                        bool isInvariant = true) {
    return getField(builder, type, thread, offset, isInvariant);
  }
  /// The address of a field of the thread's state.
  Value *getThreadAddress(llvm::IRBuilder<> &builder, uint64_t offset) {
    return builder.CreateConstInBoundsGEP1_64(i8, thread, offset);
  }
  llvm::StoreInst *setThreadField(llvm::IRBuilder<> &builder, uint64_t offset,
                                  uint32_t value);
  /// Calls a function of RuntimeNames.h with the thread and `operands`.
  llvm::CallInst *callRuntime(llvm::IRBuilder<> &builder, llvm::StringRef name,
                              Type *result, llvm::ArrayRef<Value *> operands);
  void replace(llvm::Instruction &instruction, Value *value);

  /// The bits of an address: of workgroup memory, the offset in the window.
  Value *getOffset(llvm::IRBuilder<> &builder, Value *pointer) {
    return builder.CreatePtrToInt(pointer, i64);
  }
  /// The bits of the host's address of the window of workgroup memory.
  Value *getWindow(llvm::IRBuilder<> &builder);
  /// The offset in the window of an address in workgroup memory, generic ones
  /// included.
  Value *getSharedOffset(llvm::IRBuilder<> &builder, Value *pointer);

  /// Stores values to the registers of the thread; loads one of `type` from
  /// that of number `index` on, which then is behind it.
  void storeRegisters(llvm::IRBuilder<> &builder,
                      llvm::ArrayRef<Value *> values);
  Value *loadRegisters(llvm::IRBuilder<> &builder, Type *type, unsigned &index);

  //===--------------------------------------------------------------------===//
  // Threads that wait or end
  //===--------------------------------------------------------------------===//

  /// Lets the thread wait for `wait` at operation `number`.
  void suspend(llvm::IRBuilder<> &builder, uint32_t number, Wait wait);
  /// The thread is suspended behind `last`.
  void addSuspension(llvm::Instruction &last) { suspensions.push_back(&last); }
  llvm::ArrayRef<llvm::Instruction *> getSuspensions() const {
    return suspensions;
  }
  /// Where threads go that are done.
  llvm::BasicBlock *getEnd();
  /// Ends the thread instead of executing what follows `call`, which goes away.
  void endThreadAfter(llvm::Instruction &call);

  /// The new function, whose argument is the state of the thread.
  llvm::Function &function;
  llvm::Module &module;
  llvm::LLVMContext &context;
  const KernelFacts &facts;
  const InstrumentOptions options;
  KernelTables &tables;
  std::vector<DiagnosticRecord> &errors;
  Value *const thread;
  llvm::IntegerType *const i8, *const i32, *const i64;
  llvm::PointerType *const ptr;
  Type *const voidType;
  /// Of each product of a warpgroup its number, and what it does to registers.
  llvm::DenseMap<const Value *, std::pair<uint32_t, uint32_t>> products;
  /// Parameters that are tensor maps.
  llvm::SmallPtrSet<const Value *, 4> tensorMaps;
  /// What is left out of the kernel.
  IdleValues idle;

private:
  llvm::BasicBlock *end = nullptr;
  /// Instructions after which the thread waits.
  llvm::SmallVector<llvm::Instruction *> suspensions;
};

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_TRANSLATE_EMISSIONCONTEXT_H
