//===- AssemblyStatements.cpp - What a statement of PTX is ----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operands, and all statements but accesses to memory.
//
//===----------------------------------------------------------------------===//

#include "AssemblyStatements.h"
#include "StatementBuilder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Module.h"

namespace mlir::workgroup {

//===----------------------------------------------------------------------===//
// Questions
//===----------------------------------------------------------------------===//

static std::string getRegisterIntrinsic(StringRef special) {
  return ("llvm.nvvm.read.ptx.sreg." + special).str();
}

bool StatementBuilder::isKnownAtom(const Atom &atom) const {
  return atom.special.empty() || llvm::Intrinsic::lookupIntrinsicID(
                                     getRegisterIntrinsic(atom.special)) !=
                                     llvm::Intrinsic::not_intrinsic;
}

bool StatementBuilder::isSource(unsigned number, size_t size) const {
  if (number >= count())
    return false;
  const AssemblyOperand &operand = statement.operands[number];
  return !operand.isAddress && operand.atoms.size() == size &&
         llvm::all_of(operand.atoms,
                      [&](const Atom &atom) { return isKnownAtom(atom); });
}

bool StatementBuilder::isTarget(unsigned number, size_t size) const {
  return isSource(number, size) &&
         llvm::all_of(statement.operands[number].atoms, [&](const Atom &atom) {
           return atom.place && *atom.place < registers.numResults;
         });
}

bool StatementBuilder::isAtom(unsigned number) const {
  return isSource(number, 1);
}

bool StatementBuilder::isAddress(unsigned number) const {
  return number < count() && statement.operands[number].isAddress &&
         statement.operands[number].atoms.front().place;
}

llvm::Type *StatementBuilder::readType(StringRef word) const {
  unsigned bits = 0;
  if (word == "f16x2")
    return llvm::FixedVectorType::get(Type::getHalfTy(context), 2);
  if (word == "bf16x2")
    return llvm::FixedVectorType::get(Type::getBFloatTy(context), 2);
  if (word == "bf16")
    return Type::getBFloatTy(context);
  if (word.size() < 2 || !StringRef("busf").contains(word.front()) ||
      word.drop_front().getAsInteger(10, bits))
    return nullptr;
  if (word.front() != 'f')
    return bits == 8 || bits == 16 || bits == 32 || bits == 64 || bits == 128
               ? llvm::IntegerType::get(context, bits)
               : nullptr;
  return bits == 16   ? Type::getHalfTy(context)
         : bits == 32 ? Type::getFloatTy(context)
         : bits == 64 ? Type::getDoubleTy(context)
                      : nullptr;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// The bits of `value` as another type, of as many or of more or fewer bits.
llvm::Value *StatementBuilder::convert(Value *value, Type *type,
                                       bool isSigned) {
  if (value->getType() == type)
    return value;
  if (value->getType()->isPointerTy() && type->isPointerTy())
    return builder->CreateAddrSpaceCast(value, type);
  const llvm::DataLayout &layout =
      builder->GetInsertBlock()->getModule()->getDataLayout();
  auto ofBits = [&](Type *other) {
    return llvm::IntegerType::get(
        context, layout.getTypeSizeInBits(other).getFixedValue());
  };
  if (value->getType()->isPointerTy())
    value = builder->CreatePtrToInt(value, ofBits(value->getType()));
  else
    value = builder->CreateBitCast(value, ofBits(value->getType()));
  value = builder->CreateIntCast(value, ofBits(type), isSigned);
  return type->isPointerTy() ? builder->CreateIntToPtr(value, type)
                             : builder->CreateBitCast(value, type);
}

llvm::Value *StatementBuilder::get(const Atom &atom, Type *type) {
  if (atom.place)
    return convert(registers.values[*atom.place], type);
  if (!atom.special.empty())
    return convert(call(getRegisterIntrinsic(atom.special), {}), type);
  return convert(builder->getInt64(atom.number), type);
}

llvm::Value *StatementBuilder::getAddress(unsigned operand, unsigned space) {
  const AssemblyOperand &given = statement.operands[operand];
  Value *base = registers.values[*given.atoms.front().place];
  auto *type = llvm::PointerType::get(context, space);
  // A generic address of what is known to be elsewhere stays what it is.
  if (!base->getType()->isPointerTy() || space != 0)
    base = convert(base, type);
  if (given.offset == 0)
    return base;
  return builder->CreatePtrAdd(base, builder->getInt64(given.offset));
}

void StatementBuilder::set(const Atom &atom, Value *value, bool isSigned) {
  Value *&held = registers.values[*atom.place];
  held = convert(value, held->getType(), isSigned);
}

llvm::CallInst *StatementBuilder::call(StringRef name,
                                       ArrayRef<Value *> operands,
                                       ArrayRef<Type *> types) {
  llvm::Intrinsic::ID id = llvm::Intrinsic::lookupIntrinsicID(name);
  return builder->CreateIntrinsic(id, types, operands);
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

bool StatementBuilder::move() {
  Type *type =
      statement.opcode.size() == 2 ? readType(statement.last()) : nullptr;
  if (statement.opcode.front() != "mov" || !type || count() != 2 ||
      !isTarget(0, 1) || !isSource(1, 1))
    return false;
  if (builder)
    set(statement.operands[0].atoms.front(), get(1, type));
  return true;
}

/// `bar.sync`, `barrier.sync`, `bar.arrive`, `bar.warp.sync`.
bool StatementBuilder::barrier() {
  ArrayRef<StringRef> words = statement.opcode;
  bool isShort = words.front() == "bar";
  if (!isShort && words.front() != "barrier")
    return false;
  words = words.drop_front();
  bool isOfWarp = isShort && words == ArrayRef<StringRef>({"warp", "sync"});
  if (!words.empty() && words.front() == "cta")
    words = words.drop_front();
  bool isAligned = isShort;
  if (!words.empty() && words.back() == "aligned" && !isShort) {
    isAligned = true;
    words = words.drop_back();
  }
  bool isKnown = isOfWarp || (words.size() == 1 &&
                              (words.front() == "sync" ||
                               (words.front() == "arrive" && count() == 2)));
  if (!isKnown || count() == 0 || count() > (isOfWarp ? 1 : 2) ||
      !isSource(0, 1) || (count() == 2 && !isSource(1, 1)))
    return false;
  if (!builder)
    return true;
  std::string name = "llvm.nvvm.bar.warp.sync";
  if (!isOfWarp)
    name = ("llvm.nvvm.barrier.cta." + words.front() +
            (isAligned ? ".aligned" : "") + (count() == 2 ? ".count" : ".all"))
               .str();
  SmallVector<Value *> operands;
  for (unsigned i = 0; i < count(); ++i)
    operands.push_back(get(i, builder->getInt32Ty()));
  call(name, operands);
  return true;
}

/// `membar.gl`, `fence.acq_rel.gpu`, `fence.proxy.async.shared::cta`.
bool StatementBuilder::fence() {
  ArrayRef<StringRef> words = statement.opcode;
  if (count() != 0 || words.size() < 2)
    return false;
  std::string name;
  bool isOrder = words.size() == 3 && words.front() == "fence" &&
                 (words[1] == "acq_rel" || words[1] == "sc");
  if (words.front() == "membar" && words.size() == 2)
    name = ("llvm.nvvm.membar." + words[1]).str();
  else if (isOrder)
    name = llvm::StringSwitch<std::string>(words[2])
               .Case("cta", "llvm.nvvm.membar.cta")
               .Case("gpu", "llvm.nvvm.membar.gl")
               .Case("sys", "llvm.nvvm.membar.sys")
               .Default("");
  else if (words.take_front(3) ==
           ArrayRef<StringRef>({"fence", "proxy", "async"}))
    name = words.size() == 3      ? "llvm.nvvm.fence.proxy.async"
           : words.size() > 4     ? ""
           : words[3] == "global" ? "llvm.nvvm.fence.proxy.async.global"
           : words[3] == "shared::cta"
               ? "llvm.nvvm.fence.proxy.async.shared_cta"
               : "";
  if (name.empty() || llvm::Intrinsic::lookupIntrinsicID(name) ==
                          llvm::Intrinsic::not_intrinsic)
    return false;
  if (builder)
    call(name, {});
  return true;
}

bool StatementBuilder::lanes() {
  if (ArrayRef<StringRef>(statement.opcode) !=
          ArrayRef<StringRef>({"activemask", "b32"}) ||
      count() != 1 || !isTarget(0, 1))
    return false;
  if (builder)
    set(statement.operands[0].atoms.front(), call("llvm.nvvm.activemask", {}));
  return true;
}

bool StatementBuilder::sleep() {
  if (ArrayRef<StringRef>(statement.opcode) !=
          ArrayRef<StringRef>({"nanosleep", "u32"}) ||
      count() != 1 || !isSource(0, 1))
    return false;
  if (builder)
    call("llvm.nvvm.nanosleep", {get(0, builder->getInt32Ty())});
  return true;
}

//===----------------------------------------------------------------------===//
// Products of matrices
//===----------------------------------------------------------------------===//

/// The name of the intrinsic that `mma.sync` of these words is.
static std::string getProductIntrinsic(ArrayRef<StringRef> words) {
  constexpr size_t kFewest = 9; // mma.sync.aligned.SHAPE.ROW.COL.D.A.B.C
  if (words.size() < kFewest + 1 || words[0] != "mma" || words[1] != "sync" ||
      words[2] != "aligned")
    return "";
  std::string name =
      ("llvm.nvvm.mma." + words[3] + "." + words[4] + "." + words[5]).str();
  for (StringRef word : words.slice(6, words.size() - 10))
    name += ("." + word).str(); // satfinite
  ArrayRef<StringRef> types = words.take_back(4);
  StringRef d = types[0], a = types[1], b = types[2], c = types[3];
  if (a == "f16")
    return name + ("." + d + "." + c).str();
  if (a.starts_with("e"))
    return name + ("." + d + "." + a + "." + b + "." + c).str();
  return name + ("." + a + (a == b ? "" : "." + b.str())).str();
}

bool StatementBuilder::product() {
  std::string name = getProductIntrinsic(statement.opcode);
  if (name.empty() || count() != 4)
    return false;
  llvm::Intrinsic::ID id = llvm::Intrinsic::lookupIntrinsicID(name);
  if (id == llvm::Intrinsic::not_intrinsic)
    return false;
  llvm::FunctionType *type = llvm::Intrinsic::getType(context, id);
  auto *record = dyn_cast<llvm::StructType>(type->getReturnType());
  size_t numResults = record ? record->getNumElements() : 1, numFactors = 0;
  SmallVector<const Atom *> sources;
  for (unsigned i = 1; i < 4; ++i) {
    const AssemblyOperand &operand = statement.operands[i];
    if (!isSource(i, operand.atoms.size()))
      return false;
    numFactors += operand.atoms.size();
    for (const Atom &atom : operand.atoms)
      sources.push_back(&atom);
  }
  if (!isTarget(0, numResults) || numFactors != type->getNumParams())
    return false;
  if (!builder)
    return true;
  SmallVector<Value *> operands;
  for (auto [atom, wanted] : llvm::zip_equal(sources, type->params()))
    operands.push_back(get(*atom, wanted));
  Value *result = call(name, operands);
  for (auto [i, atom] : llvm::enumerate(statement.operands[0].atoms))
    set(atom, record ? builder->CreateExtractValue(result, i) : result);
  return true;
}

//===----------------------------------------------------------------------===//
// All of them
//===----------------------------------------------------------------------===//

static bool visit(StatementBuilder statement) {
  using Kind = bool (StatementBuilder::*)();
  constexpr Kind kinds[] = {
      &StatementBuilder::move,       &StatementBuilder::load,
      &StatementBuilder::store,      &StatementBuilder::update,
      &StatementBuilder::copy,       &StatementBuilder::groupCopies,
      &StatementBuilder::barrier,    &StatementBuilder::fence,
      &StatementBuilder::lanes,      &StatementBuilder::sleep,
      &StatementBuilder::loadMatrix, &StatementBuilder::product,
  };
  return llvm::any_of(kinds, [&](Kind kind) { return (statement.*kind)(); });
}

bool isKnownStatement(const AssemblyStatement &statement,
                      AssemblyRegisters &registers,
                      llvm::LLVMContext &context) {
  return visit({statement, registers, /*builder=*/nullptr, context});
}

void buildStatement(const AssemblyStatement &statement,
                    AssemblyRegisters &registers, llvm::IRBuilder<> &builder) {
  visit({statement, registers, &builder, builder.getContext()});
}

} // namespace mlir::workgroup
