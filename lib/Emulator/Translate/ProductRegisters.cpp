//===- ProductRegisters.cpp - Registers of asynchronous products ----------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From where a value comes is followed backwards, with its place in the
// aggregates that it passes; what may use it, forwards.
//
//===----------------------------------------------------------------------===//

#include "ProductRegisters.h"
#include "Emulator/State/RuntimeNames.h"
#include "ProductCalls.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Operator.h"
#include <set>

using namespace llvm;

namespace mlir::workgroup::emulator {

/// True for what only names registers anew.
static bool isRenaming(const Value &value) {
  return isa<PHINode, SelectInst, FreezeInst, BitCastInst, ExtractValueInst,
             InsertValueInst, ExtractElementInst, InsertElementInst,
             ShuffleVectorInst>(value);
}

namespace {

/// A part of an aggregate.
using Place = std::pair<Value *, std::vector<unsigned>>;

/// From where a value comes.
struct Origins {
  BitVector products;
  /// What computes it, where that is no product.
  SmallSetVector<Instruction *, 8> others;
};

class RegisterWatch {
public:
  explicit RegisterWatch(EmissionContext &context) : context(context) {}
  void run();

private:
  struct Product {
    CallInst *call;
    ProductCall parts;
    /// Products that may have made what D holds before.
    BitVector before;
  };

  void findProducts();
  void follow(Place place, Origins &origins) const;
  Origins findOrigins(Value *value) const {
    Origins origins{BitVector(products.size()), {}};
    follow({value, {}}, origins);
    return origins;
  }
  void findOperands(unsigned number);
  void findReaders();
  void addReader(Use &use);
  RegisterUse &getUse(Instruction *at);
  void setSuccessors();
  void emit();

  EmissionContext &context;
  std::vector<Product> products;
  DenseMap<const Value *, unsigned> numbers;
  MapVector<Instruction *, RegisterUse> uses;
};

} // namespace

void RegisterWatch::findProducts() {
  for (Instruction &instruction : instructions(context.function)) {
    auto *call = dyn_cast<CallInst>(&instruction);
    if (!call || !call->isInlineAsm())
      continue;
    if (auto parts = ProductCall::get(*call)) {
      numbers[call] = products.size();
      products.push_back({call, std::move(*parts), {}});
    }
  }
}

/// Adds the places that `value`, at `path`, takes its registers from.
static void addSources(Value *value, ArrayRef<unsigned> path,
                       SmallVectorImpl<Place> &places) {
  auto add = [&](Value *source, ArrayRef<unsigned> rest) {
    places.push_back({source, rest.vec()});
  };
  if (auto *extract = dyn_cast<ExtractValueInst>(value)) {
    std::vector<unsigned> whole = extract->getIndices().vec();
    whole.insert(whole.end(), path.begin(), path.end());
    return add(extract->getAggregateOperand(), whole);
  }
  if (auto *insert = dyn_cast<InsertValueInst>(value)) {
    ArrayRef<unsigned> indices = insert->getIndices();
    size_t common = std::min(indices.size(), path.size());
    bool isSame = indices.take_front(common) == path.take_front(common);
    if (isSame)
      add(insert->getInsertedValueOperand(), path.drop_front(common));
    if (!isSame || path.size() < indices.size())
      add(insert->getAggregateOperand(), path);
    return;
  }
  auto *user = cast<User>(value);
  bool keepsPath = isa<PHINode, SelectInst, FreezeInst>(value);
  for (Value *operand : user->operands())
    if (!isa<SelectInst>(user) || operand != user->getOperand(0))
      add(operand, keepsPath ? path : ArrayRef<unsigned>());
}

void RegisterWatch::follow(Place start, Origins &origins) const {
  SmallVector<Place> worklist = {std::move(start)};
  std::set<Place> visited;
  while (!worklist.empty()) {
    Place place = worklist.pop_back_val();
    if (!isa<Instruction>(place.first) || !visited.insert(place).second)
      continue;
    if (auto it = numbers.find(place.first); it != numbers.end())
      origins.products.set(it->second);
    else if (isRenaming(*place.first))
      addSources(place.first, place.second, worklist);
    else
      origins.others.insert(cast<Instruction>(place.first));
  }
}

RegisterUse &RegisterWatch::getUse(Instruction *at) {
  RegisterUse &use = uses[at];
  use.products.resize(products.size());
  use.next.resize(products.size());
  return use;
}

/// Finds what makes the values that a product gets in registers.
void RegisterWatch::findOperands(unsigned number) {
  Product &product = products[number];
  product.before.resize(products.size());
  for (bool isD : {true, false})
    for (Value *value :
         isD ? product.parts.accumulators : product.parts.fragment) {
      Origins origins = findOrigins(value);
      for (Instruction *other : origins.others)
        getUse(other).next.set(number);
      if (isD)
        product.before |= origins.products;
      else if (origins.products.any())
        getUse(product.call).products |= origins.products;
    }
}

void RegisterWatch::addReader(Use &use) {
  auto *user = cast<Instruction>(use.getUser());
  if (numbers.contains(user) || isa<DbgInfoIntrinsic>(user))
    return; // its operands have been looked at
  Origins origins = findOrigins(use.get());
  if (origins.products.any())
    getUse(user).products |= origins.products;
}

/// Finds what reads the values that products make.
void RegisterWatch::findReaders() {
  SmallVector<Value *> worklist;
  SmallPtrSet<Value *, 32> visited;
  for (const Product &product : products)
    worklist.push_back(product.call);
  while (!worklist.empty()) {
    Value *value = worklist.pop_back_val();
    if (!visited.insert(value).second)
      continue;
    for (Use &use : value->uses())
      if (isRenaming(*use.getUser()))
        worklist.push_back(use.getUser());
      else
        addReader(use);
  }
}

/// What reads a value of a product comes before the products that get the value
/// for D; and so does a product of another shape.
void RegisterWatch::setSuccessors() {
  for (auto &[at, use] : uses)
    for (auto [number, product] : enumerate(products))
      if (product.before.anyCommon(use.products))
        use.next.set(number);
  for (auto [number, product] : enumerate(products)) {
    RegisterUse &use = getUse(product.call);
    for (auto [next, other] : enumerate(products))
      if (other.before.test(number) &&
          !product.parts.op.hasShapeOf(other.parts.op))
        use.next.set(next);
  }
}

void RegisterWatch::emit() {
  KernelTables &tables = context.tables;
  tables.numProducts = products.size();
  for (auto &[at, use] : uses) {
    uint32_t index = tables.registerUses.size();
    use.site = context.addSite(*at);
    auto product = numbers.find(at);
    Site &site = tables.sites[use.site];
    site.isProduct = product != numbers.end();
    site.isOfRegisters = !site.isProduct;
    if (product != numbers.end())
      context.products[at] = {product->second, index};
    bool isRead = use.products.any();
    tables.registerUses.push_back(std::move(use));
    // What a product does to registers, the runtime sees when it executes it,
    // but for what it reads as A.
    if (product != numbers.end() && !isRead)
      continue;
    IRBuilder<> builder(at);
    context.callRuntime(builder, runtime::kUseRegisters, context.voidType,
                        {builder.getInt32(index)});
  }
}

void RegisterWatch::run() {
  findProducts();
  for (unsigned number = 0; number < products.size(); ++number)
    findOperands(number);
  findReaders();
  setSuccessors();
  emit();
}

void watchProductRegisters(EmissionContext &context) {
  RegisterWatch(context).run();
}

} // namespace mlir::workgroup::emulator
