//===- StatementBuilder.h - Builds one statement of PTX ---------*- C++ -*-===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operands as values of LLVM, and the kinds of statements. Without a builder, a
// kind only tells whether the statement is one of it.
//
//===----------------------------------------------------------------------===//

#ifndef WORKGROUP_LIB_COMPILER_STATEMENTBUILDER_H
#define WORKGROUP_LIB_COMPILER_STATEMENTBUILDER_H

#include "Assembly.h"
#include "AssemblyRegisters.h"
#include "llvm/IR/IRBuilder.h"

namespace mlir::workgroup {

class StatementBuilder {
public:
  StatementBuilder(const AssemblyStatement &statement,
                   AssemblyRegisters &registers, llvm::IRBuilder<> *builder,
                   llvm::LLVMContext &context)
      : statement(statement), registers(registers), builder(builder),
        context(context) {}

  /// Each of these is true if the statement is of that kind, and then builds it
  /// if there is a builder.
  bool move();
  bool barrier();
  bool fence();
  bool lanes();
  bool sleep();
  bool load();
  bool store();
  bool update();
  bool copy();
  bool groupCopies();
  bool loadMatrix();
  bool product();

private:
  using Atom = AssemblyOperand::Atom;
  using Type = llvm::Type;
  using Value = llvm::Value;

  /// What an opcode says of an access, beside its first word.
  struct Access {
    unsigned space = 0, elements = 1;
    bool isVolatile = false;
    llvm::AtomicOrdering order = llvm::AtomicOrdering::NotAtomic;
    llvm::SyncScope::ID scope = llvm::SyncScope::System;
    /// The name of the scope in PTX; empty if none is given.
    StringRef scopeName;
    /// The words that say none of that.
    SmallVector<StringRef, 4> others;
    Type *type = nullptr;
    bool isSigned = false;
  };

  //===--------------------------------------------------------------------===//
  // Questions
  //===--------------------------------------------------------------------===//

  size_t count() const { return statement.operands.size(); }
  bool isAtom(unsigned number) const;
  bool isAddress(unsigned number) const;
  /// True if operand `number` is made of `size` registers of the results.
  bool isTarget(unsigned number, size_t size) const;
  /// True if operand `number` is made of `size` registers or numbers.
  bool isSource(unsigned number, size_t size) const;
  bool isKnownAtom(const Atom &atom) const;
  /// The type that a word of an opcode names; null if it is none.
  Type *readType(StringRef word) const;
  std::optional<Access> readAccess() const;
  bool readOrder(StringRef word, Access &access) const;

  //===--------------------------------------------------------------------===//
  // Building
  //===--------------------------------------------------------------------===//

  Value *convert(Value *value, Type *type, bool isSigned = false);
  Value *get(const Atom &atom, Type *type);
  Value *get(unsigned operand, Type *type) {
    return get(statement.operands[operand].atoms.front(), type);
  }
  Value *getAddress(unsigned operand, unsigned space);
  void set(const Atom &atom, Value *value, bool isSigned = false);
  /// Calls the intrinsic `name`; false if LLVM has none of that name.
  llvm::CallInst *call(StringRef name, ArrayRef<Value *> operands,
                       ArrayRef<Type *> types = {});
  void fenceFor(const Access &access);
  Value *makeUpdate(const Access &access, Value *address);

  const AssemblyStatement &statement;
  AssemblyRegisters &registers;
  llvm::IRBuilder<> *builder;
  llvm::LLVMContext &context;
};

} // namespace mlir::workgroup

#endif // WORKGROUP_LIB_COMPILER_STATEMENTBUILDER_H
