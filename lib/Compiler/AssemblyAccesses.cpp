//===- AssemblyAccesses.cpp - Accesses to memory of inline PTX ------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loads, stores, atomic operations, `cp.async` and `ldmatrix`. LLVM makes
// relaxed operations of `atomicrmw`, whatever its order, so that fences stand
// around those of PTX that order.
//
//===----------------------------------------------------------------------===//

#include "StatementBuilder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/NVPTXAddrSpace.h"

namespace mlir::workgroup {

using Ordering = llvm::AtomicOrdering;

//===----------------------------------------------------------------------===//
// What an opcode says
//===----------------------------------------------------------------------===//

static std::optional<unsigned> readSpace(StringRef word) {
  return llvm::StringSwitch<std::optional<unsigned>>(word)
      .Case("global", llvm::NVPTXAS::ADDRESS_SPACE_GLOBAL)
      .Cases({"shared", "shared::cta"}, llvm::NVPTXAS::ADDRESS_SPACE_SHARED)
      .Case("const", llvm::NVPTXAS::ADDRESS_SPACE_CONST)
      .Case("local", llvm::NVPTXAS::ADDRESS_SPACE_LOCAL)
      .Default(std::nullopt);
}

/// True for what is about caches, and changes no value.
static bool isHint(StringRef word) {
  return word.starts_with("L1::") || word.starts_with("L2::") ||
         llvm::is_contained({"ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc"},
                            word);
}

/// Takes `word` if it is about order: who sees an access, and when.
bool StatementBuilder::readOrder(StringRef word, Access &access) const {
  auto order = llvm::StringSwitch<std::optional<Ordering>>(word)
                   .Case("relaxed", Ordering::Monotonic)
                   .Case("acquire", Ordering::Acquire)
                   .Case("release", Ordering::Release)
                   .Case("acq_rel", Ordering::AcquireRelease)
                   .Case("weak", Ordering::NotAtomic)
                   .Default(std::nullopt);
  if (order) {
    access.order = *order;
    return true;
  }
  auto scope = llvm::StringSwitch<std::optional<StringRef>>(word)
                   .Case("cta", StringRef("block"))
                   .Case("cluster", StringRef("cluster"))
                   .Case("gpu", StringRef("device"))
                   .Case("sys", StringRef(""))
                   .Default(std::nullopt);
  if (!scope)
    return false;
  access.scope = context.getOrInsertSyncScopeID(*scope);
  access.scopeName = word;
  return true;
}

std::optional<StatementBuilder::Access> StatementBuilder::readAccess() const {
  Access access;
  ArrayRef<StringRef> words(statement.opcode);
  if (words.size() < 2)
    return std::nullopt;
  for (StringRef word : words.drop_front().drop_back()) {
    if (std::optional<unsigned> space = readSpace(word))
      access.space = *space;
    else if (word == "volatile")
      access.isVolatile = true;
    else if (word == "v2" || word == "v4" || word == "v8")
      access.elements = word.back() - '0';
    else if (!readOrder(word, access) && !isHint(word))
      access.others.push_back(word);
  }
  access.type = readType(words.back());
  access.isSigned = words.back().starts_with("s");
  if (!access.type)
    return std::nullopt;
  return access;
}

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

/// True if the last of `count` operands is a policy of caches.
static bool hasPolicy(const AssemblyStatement &statement, size_t count) {
  return statement.has("L2::cache_hint") && statement.operands.size() == count;
}

/// The type of an access to all elements at once; those of an atomic one are
/// accessed one by one.
static llvm::Type *getWhole(llvm::Type *type, unsigned elements) {
  return elements == 1 ? type : llvm::FixedVectorType::get(type, elements);
}

bool StatementBuilder::load() {
  std::optional<Access> access = readAccess();
  if (statement.opcode.front() != "ld" || !access || !access->others.empty() ||
      !isTarget(0, access->elements) || !isAddress(1) ||
      (count() != 2 && !hasPolicy(statement, 3)))
    return false;
  if (!builder)
    return true;
  Value *address = getAddress(1, access->space);
  const llvm::DataLayout &layout =
      builder->GetInsertBlock()->getModule()->getDataLayout();
  uint64_t bytes = layout.getTypeStoreSize(access->type);
  ArrayRef<Atom> targets = statement.operands[0].atoms;
  auto read = [&](Type *type, uint64_t offset, uint64_t align) {
    llvm::LoadInst *load = builder->CreateAlignedLoad(
        type, builder->CreatePtrAdd(address, builder->getInt64(offset)),
        llvm::Align(align), access->isVolatile);
    if (access->order != Ordering::NotAtomic)
      load->setAtomic(access->order, access->scope);
    return load;
  };
  if (access->order == Ordering::NotAtomic && access->elements > 1) {
    Value *whole = read(getWhole(access->type, access->elements), 0,
                        bytes * access->elements);
    for (auto [i, target] : llvm::enumerate(targets))
      set(target, builder->CreateExtractElement(whole, i), access->isSigned);
    return true;
  }
  for (auto [i, target] : llvm::enumerate(targets))
    set(target, read(access->type, i * bytes, bytes), access->isSigned);
  return true;
}

bool StatementBuilder::store() {
  std::optional<Access> access = readAccess();
  if (statement.opcode.front() != "st" || !access || !access->others.empty() ||
      !isAddress(0) || !isSource(1, access->elements) ||
      (count() != 2 && !hasPolicy(statement, 3)))
    return false;
  if (!builder)
    return true;
  Value *address = getAddress(0, access->space);
  const llvm::DataLayout &layout =
      builder->GetInsertBlock()->getModule()->getDataLayout();
  uint64_t bytes = layout.getTypeStoreSize(access->type);
  ArrayRef<Atom> sources = statement.operands[1].atoms;
  auto write = [&](Value *value, uint64_t offset, uint64_t align) {
    llvm::StoreInst *store = builder->CreateAlignedStore(
        value, builder->CreatePtrAdd(address, builder->getInt64(offset)),
        llvm::Align(align), access->isVolatile);
    if (access->order != Ordering::NotAtomic)
      store->setAtomic(access->order, access->scope);
  };
  if (access->order == Ordering::NotAtomic && access->elements > 1) {
    Value *whole =
        llvm::PoisonValue::get(getWhole(access->type, access->elements));
    for (auto [i, source] : llvm::enumerate(sources))
      whole = builder->CreateInsertElement(whole, get(source, access->type), i);
    write(whole, 0, bytes * access->elements);
    return true;
  }
  for (auto [i, source] : llvm::enumerate(sources))
    write(get(source, access->type), i * bytes, bytes);
  return true;
}

//===----------------------------------------------------------------------===//
// Atomic operations
//===----------------------------------------------------------------------===//

using AtomicUpdate = llvm::AtomicRMWInst::BinOp;

static std::optional<AtomicUpdate> findUpdate(StringRef name, llvm::Type *type,
                                              bool isSigned) {
  if (type->isFPOrFPVectorTy())
    return name == "add" ? std::optional(AtomicUpdate::FAdd) : std::nullopt;
  return llvm::StringSwitch<std::optional<AtomicUpdate>>(name)
      .Case("add", AtomicUpdate::Add)
      .Case("exch", AtomicUpdate::Xchg)
      .Case("min", isSigned ? AtomicUpdate::Min : AtomicUpdate::UMin)
      .Case("max", isSigned ? AtomicUpdate::Max : AtomicUpdate::UMax)
      .Case("and", AtomicUpdate::And)
      .Case("or", AtomicUpdate::Or)
      .Case("xor", AtomicUpdate::Xor)
      .Case("inc", AtomicUpdate::UIncWrap)
      .Case("dec", AtomicUpdate::UDecWrap)
      .Default(std::nullopt);
}

/// The word of `words` that says what an atomic operation does; empty if there
/// are several, or others.
static StringRef getUpdateName(ArrayRef<StringRef> words) {
  StringRef name;
  for (StringRef word : words) {
    if (word == "noftz" || word == "rn")
      continue;
    if (!name.empty())
      return "";
    name = word;
  }
  return name;
}

/// A fence of the scope of an atomic operation.
void StatementBuilder::fenceFor(const Access &access) {
  call(access.scopeName == "cta"   ? "llvm.nvvm.membar.cta"
       : access.scopeName == "gpu" ? "llvm.nvvm.membar.gl"
                                   : "llvm.nvvm.membar.sys",
       {});
}

/// Builds the operation; returns what was there before.
llvm::Value *StatementBuilder::makeUpdate(const Access &access,
                                          Value *address) {
  StringRef name = getUpdateName(access.others);
  bool hasTarget = statement.opcode.front() == "atom";
  unsigned value = hasTarget ? 2 : 1;
  if (name == "cas")
    return builder->CreateExtractValue(
        builder->CreateAtomicCmpXchg(address, get(value, access.type),
                                     get(value + 1, access.type),
                                     llvm::MaybeAlign(), Ordering::Monotonic,
                                     Ordering::Monotonic, access.scope),
        0);
  return builder->CreateAtomicRMW(
      *findUpdate(name, access.type, access.isSigned), address,
      get(value, access.type), llvm::MaybeAlign(), Ordering::Monotonic,
      access.scope);
}

/// `atom`, and `red`, which tells nothing of what was there.
bool StatementBuilder::update() {
  bool hasTarget = statement.opcode.front() == "atom";
  std::optional<Access> access = readAccess();
  if ((!hasTarget && statement.opcode.front() != "red") || !access ||
      access->elements != 1)
    return false;
  StringRef name = getUpdateName(access->others);
  unsigned first = hasTarget ? 1 : 0, values = name == "cas" ? 2 : 1;
  bool isSwap = hasTarget && name == "cas" && access->type->isIntegerTy();
  if ((!isSwap && !findUpdate(name, access->type, access->isSigned)) ||
      count() != first + 1 + values || (hasTarget && !isTarget(0, 1)) ||
      !isAddress(first) || !isSource(first + 1, 1) ||
      (values == 2 && !isSource(first + 2, 1)))
    return false;
  if (!builder)
    return true;
  // Without a scope it is that of the device.
  if (access->scopeName.empty()) {
    access->scopeName = "gpu";
    access->scope = context.getOrInsertSyncScopeID("device");
  }
  if (access->order == Ordering::Release ||
      access->order == Ordering::AcquireRelease)
    fenceFor(*access);
  Value *old = makeUpdate(*access, getAddress(first, access->space));
  if (access->order == Ordering::Acquire ||
      access->order == Ordering::AcquireRelease)
    fenceFor(*access);
  if (hasTarget)
    set(statement.operands[0].atoms.front(), old);
  return true;
}

//===----------------------------------------------------------------------===//
// Asynchronous copies and matrices
//===----------------------------------------------------------------------===//

/// `cp.async.commit_group`, `cp.async.wait_group`, `cp.async.wait_all`.
bool StatementBuilder::groupCopies() {
  ArrayRef<StringRef> words(statement.opcode);
  if (words.size() != 3 || words[0] != "cp" || words[1] != "async")
    return false;
  if (words[2] == "wait_group" && count() == 1 && isSource(0, 1)) {
    if (builder)
      call("llvm.nvvm.cp.async.wait.group", {get(0, builder->getInt32Ty())});
    return true;
  }
  bool isCommit = words[2] == "commit_group";
  if ((!isCommit && words[2] != "wait_all") || count() != 0)
    return false;
  if (builder)
    call(isCommit ? "llvm.nvvm.cp.async.commit.group"
                  : "llvm.nvvm.cp.async.wait.all",
         {});
  return true;
}

/// `cp.async.cg.shared.global`.
bool StatementBuilder::copy() {
  ArrayRef<StringRef> words(statement.opcode);
  if (words.size() < 3 || words[0] != "cp" || words[1] != "async")
    return false;
  words = words.drop_front(2);
  SmallVector<StringRef> place;
  llvm::copy_if(words.drop_front(), std::back_inserter(place),
                [](StringRef word) { return !isHint(word); });
  bool isKnown = place.size() == 2 &&
                 (place[0] == "shared" || place[0] == "shared::cta") &&
                 place[1] == "global" &&
                 (words.front() == "ca" || words.front() == "cg") &&
                 (count() == 3 || count() == 4) && isAddress(0) &&
                 isAddress(1) && isAtom(2) && (count() == 3 || isAtom(3));
  if (!isKnown || statement.operands[2].atoms.front().place)
    return false;
  int64_t bytes = statement.operands[2].atoms.front().number;
  std::string name =
      ("llvm.nvvm.cp.async." + words.front() + ".shared.global." +
       llvm::Twine(bytes) + (count() == 4 ? ".s" : ""))
          .str();
  if (llvm::Intrinsic::lookupIntrinsicID(name) ==
      llvm::Intrinsic::not_intrinsic)
    return false;
  if (!builder)
    return true;
  SmallVector<Value *> operands = {
      getAddress(0, llvm::NVPTXAS::ADDRESS_SPACE_SHARED),
      getAddress(1, llvm::NVPTXAS::ADDRESS_SPACE_GLOBAL)};
  if (count() == 4)
    operands.push_back(get(3, builder->getInt32Ty()));
  call(name, operands);
  return true;
}

/// `ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16`.
bool StatementBuilder::loadMatrix() {
  ArrayRef<StringRef> words(statement.opcode);
  if (words.size() < 7 || words[0] != "ldmatrix" || words[1] != "sync" ||
      words[2] != "aligned" || words[3] != "m8n8" || words.back() != "b16")
    return false;
  StringRef number = words[4];
  bool isTransposed = words[5] == "trans";
  ArrayRef<StringRef> rest = words.drop_front(isTransposed ? 6 : 5).drop_back();
  unsigned size = 0;
  if (rest.size() != 1 || (rest[0] != "shared" && rest[0] != "shared::cta") ||
      !number.consume_front("x") || number.getAsInteger(10, size) ||
      (size != 1 && size != 2 && size != 4) || count() != 2 ||
      !isTarget(0, size) || !isAddress(1))
    return false;
  if (!builder)
    return true;
  Value *address = getAddress(1, llvm::NVPTXAS::ADDRESS_SPACE_SHARED);
  Value *result = call(("llvm.nvvm.ldmatrix.sync.aligned.m8n8.x" + number +
                        (isTransposed ? ".trans" : "") + ".b16")
                           .str(),
                       {address}, {address->getType()});
  for (auto [i, target] : llvm::enumerate(statement.operands[0].atoms))
    set(target, size == 1 ? result : builder->CreateExtractValue(result, i));
  return true;
}

} // namespace mlir::workgroup
