//===- Instrument.h - From kernels to coroutines that are watched  -*- C++
//-*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_EMULATOR_TRANSLATE_INSTRUMENT_H
#define WORKGROUP_LIB_EMULATOR_TRANSLATE_INSTRUMENT_H

#include "Emulator/Isa/TensorMaps.h"
#include "Emulator/State/Tables.h"
#include "Prepare.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

namespace mlir::workgroup::emulator {

// Here is LLVM's IR; MLIR has other things by the same names.
using llvm::Attribute;
using llvm::DataLayout;
using llvm::FunctionType;
using llvm::IntegerType;
using llvm::Type;
using llvm::Value;

struct InstrumentOptions {
  bool checksRaces = false;
  bool withStatistics = false;
};

/// What a pointer points into, as far as it can be told from where it is made.
struct Provenance {
  enum class Kind { Unknown, Shared, Argument, Variable, Private };
  Kind kind = Kind::Unknown;
  /// The index of the object, if it is in a table.
  uint32_t object = 0;
  /// The allocation or variable.
  llvm::Value *base = nullptr;
  /// If it is not known: private buffers that it may be.
  llvm::SmallVector<llvm::AllocaInst *, 0> buffers = {};
};

/// The pointer operand and the type of what a load, a store or an atomic
/// operation accesses; no type if it is none of them.
std::pair<unsigned, llvm::Type *> getAccess(const llvm::Instruction &access);

/// The name of an intrinsic, or the text of inline assembly.
llvm::StringRef getAsyncName(const llvm::Instruction &instruction);

/// What an atomic operation, or a volatile access, orders.
AtomicOrder getAtomicOrder(const llvm::Instruction &instruction,
                           const llvm::DataLayout &layout);

/// True for an instruction of LLVM or of PTX that is nothing but a fence.
bool isFence(const llvm::Instruction &instruction);

/// The scope of an operation or a fence.
Scope getScope(const llvm::Instruction &instruction);

/// Rewrites a kernel, so that a host thread can run it: `ptr (ptr thread)`.
///
/// Every access goes by a check, special registers are read from the thread's
/// state, and operations that wait become suspensions of a coroutine. What is
/// not understood is an error.
class Instrumenter {
public:
  Instrumenter(PreparedKernel &kernel, InstrumentOptions options,
               KernelTables &tables, std::vector<DiagnosticRecord> &errors);

  /// Returns the new function; null after an error.
  llvm::Function *run();

private:
  // InstrumentAnalysis.cpp: what there is to know beforehand.
  void collectShared();
  void collectProvenances();
  Provenance trace(llvm::Value *pointer);
  void findGrains();
  void refineGrains(const Provenance &provenance, const llvm::Value &pointer,
                    unsigned grain);
  void findExchanges();
  void findEscapedBuffers();
  bool mayBeShared(const llvm::Instruction &access, unsigned operand) const;
  bool isOnlyShared(const llvm::Instruction &access, unsigned operand) const;
  void findSizeBounds();

  // InstrumentOrder.cpp: what orders memory, and for whom.
  void findPartialOrder();
  void findAtomicScopes();

  // Instrument.cpp: the kernel as a whole.
  bool makeFunction();
  void replaceShared();
  void instrument(llvm::Instruction &instruction);
  void countInstructions();
  void instrumentPrivate(llvm::AllocaInst &memory);

  // InstrumentAccess.cpp: memory.
  void instrumentLoad(llvm::LoadInst &load);
  void instrumentStore(llvm::StoreInst &store);
  void instrumentAtomic(llvm::Instruction &atomic, unsigned pointerOperand,
                        llvm::Type *type, AccessKind kind);
  void instrumentFence(llvm::Instruction &fence, Scope scope);
  void instrumentMemory(llvm::MemIntrinsic &memory);
  bool isWithinPrivate(const llvm::Value *pointer, const llvm::Value *length);
  void instrumentCast(llvm::AddrSpaceCastInst &cast);
  void instrumentDivision(llvm::BinaryOperator &division);
  llvm::Value *getHostAddress(llvm::Instruction &at, unsigned pointerOperand,
                              uint32_t site);
  llvm::Value *getSharedAddress(llvm::IRBuilder<> &builder,
                                llvm::Value *pointer, uint32_t site);
  llvm::Value *getOtherAddress(llvm::IRBuilder<> &builder, llvm::Value *pointer,
                               const Provenance &provenance, uint32_t site);
  llvm::Value *checkElsewhere(llvm::IRBuilder<> &builder, llvm::Value *address,
                              const Provenance &provenance, llvm::Value *host,
                              uint32_t site);
  llvm::Value *readSaturated(llvm::IRBuilder<> &builder, llvm::Value *offset,
                             uint32_t site);
  llvm::Value *checkBounds(llvm::IRBuilder<> &builder, llvm::Value *address,
                           llvm::Value *base, llvm::Value *bytes,
                           llvm::Value *host, uint32_t site);
  uint32_t addAccess(llvm::Instruction &at, unsigned pointerOperand,
                     AccessKind kind, uint64_t bytes, llvm::Align align);

  // InstrumentCalls.cpp: intrinsics, inline assembly, functions.
  void instrumentCall(llvm::CallInst &call);
  void instrumentIntrinsic(llvm::IntrinsicInst &call);
  bool instrumentRegister(llvm::IntrinsicInst &call, llvm::StringRef name);
  bool instrumentBarrier(llvm::IntrinsicInst &call, llvm::StringRef name);
  bool instrumentWarp(llvm::IntrinsicInst &call, llvm::StringRef name);
  bool instrumentMatrix(llvm::IntrinsicInst &call, llvm::StringRef name);
  bool instrumentQuery(llvm::IntrinsicInst &call, llvm::StringRef name);
  void instrumentPrint(llvm::CallInst &call);
  bool bindMath(llvm::CallInst &call, llvm::StringRef name);
  void instrumentAssembly(llvm::CallInst &call);
  void suspendAt(llvm::CallInst &call, Operation operation,
                 llvm::ArrayRef<llvm::Value *> operands);
  void arriveAt(llvm::CallInst &call);
  void endThreadAfter(llvm::Instruction &call);
  bool refuse(const llvm::Instruction &instruction, const llvm::Twine &message);

  // InstrumentAsync.cpp: copies, and mbarriers that track them.
  bool instrumentAsyncCopy(llvm::IntrinsicInst &call, llvm::StringRef name);
  bool instrumentAsync(llvm::IntrinsicInst &call, llvm::StringRef name);
  bool instrumentAsyncAssembly(llvm::CallInst &call, llvm::StringRef text);
  bool instrumentProxy(llvm::CallInst &call, llvm::StringRef name);
  void instrumentAsyncOp(llvm::CallInst &call, llvm::IRBuilder<> &builder,
                         const AsyncOp &op);
  void instrumentBulkCopy(llvm::CallInst &call, llvm::IRBuilder<> &builder,
                          const AsyncOp &op);
  void instrumentMBarrier(llvm::CallInst &call, llvm::IRBuilder<> &builder,
                          const AsyncOp &op);
  void executeAt(llvm::CallInst &call, llvm::IRBuilder<> &builder,
                 Operation operation, llvm::ArrayRef<llvm::Value *> operands);
  uint32_t addSharedAccess(llvm::CallInst &call, unsigned operand,
                           AccessKind kind, uint64_t bytes);
  bool isTensorMap(const llvm::Value *pointer) const;
  llvm::Value *getSharedOffset(llvm::IRBuilder<> &builder,
                               llvm::Value *pointer);

  // InstrumentSpaces.cpp: which memory an access is to.
  bool checkSpaces();
  std::string checkSpace(const llvm::Instruction &instruction,
                         const llvm::Use &operand) const;
  bool instrumentSpaceQuery(llvm::IntrinsicInst &call, llvm::StringRef name);

  // Coroutine.cpp: loops and suspensions.
  void freezeBranches();
  void limitLoops();
  void yieldAfter(llvm::BasicBlock &from, llvm::BasicBlock *next);
  void makeCoroutine();

  // Instrument.cpp: helpers.
  uint32_t addSite(const llvm::Instruction &at);
  llvm::Value *getField(llvm::IRBuilder<> &builder, llvm::Type *type,
                        llvm::Value *base, uint64_t offset,
                        bool isInvariant = true);
  llvm::CallInst *callRuntime(llvm::IRBuilder<> &builder, llvm::StringRef name,
                              llvm::Type *result,
                              llvm::ArrayRef<llvm::Value *> operands);
  void replace(llvm::Instruction &instruction, llvm::Value *value);
  llvm::Value *getOffset(llvm::IRBuilder<> &builder, llvm::Value *pointer);
  void storeRegisters(llvm::IRBuilder<> &builder,
                      llvm::ArrayRef<llvm::Value *> values);
  llvm::Value *loadRegisters(llvm::IRBuilder<> &builder, llvm::Type *type,
                             unsigned &index);

  PreparedKernel &kernel;
  llvm::Module &module;
  llvm::Function *function;
  InstrumentOptions options;
  KernelTables &tables;
  std::vector<DiagnosticRecord> &errors;
  llvm::LLVMContext &context;
  llvm::IntegerType *i8, *i32, *i64;
  llvm::PointerType *ptr;
  llvm::Type *voidType;
  /// The state of the thread, the new function's argument.
  llvm::Value *thread = nullptr;
  /// Where threads go that are done.
  llvm::BasicBlock *end = nullptr;
  llvm::DenseMap<const llvm::GlobalVariable *, uint32_t> sharedObjects;
  llvm::DenseMap<const llvm::Argument *, uint32_t> argumentObjects;
  llvm::DenseMap<std::pair<const llvm::Instruction *, unsigned>, Provenance>
      provenances;
  llvm::DenseMap<const llvm::Instruction *, uint32_t> ordinals;
  llvm::SmallVector<llvm::AllocaInst *, 0> escapedBuffers;
  uint64_t privateBytes = 0;
  /// The exchanges between lanes that the values of loads go into, and those
  /// that stores keep the outcome of.
  using Exchanges = llvm::DenseMap<const llvm::Instruction *, llvm::BitVector>;
  Exchanges feeds, follows;
  /// Loads for compare-and-swap.
  llvm::SmallPtrSet<const llvm::Instruction *, 4> guesses;
  /// Parameters that are tensor maps.
  llvm::SmallPtrSet<const llvm::Value *, 4> tensorMaps;
  /// Instructions after which the thread waits.
  llvm::SmallVector<llvm::Instruction *> suspensions;
};

} // namespace mlir::workgroup::emulator

#endif // WORKGROUP_LIB_EMULATOR_TRANSLATE_INSTRUMENT_H
