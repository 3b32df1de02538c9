//===- AtomTable.cpp - What forms of a kernel are made of -----------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Atoms are found by a hash of what they are made of. Functions of others
// inherit where these differ.
//
//===----------------------------------------------------------------------===//

#include "AtomTable.h"
#include "NonNegative.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::workgroup {

using Atom = SymbolicAtom;
using Form = SymbolicForm;

//===----------------------------------------------------------------------===//
// Functions of atoms
//===----------------------------------------------------------------------===//

/// Adds what the atoms of `form` are to what `atom` is.
static void inherit(SymbolicAtom &atom, const SymbolicForm &form) {
  for (auto [part, factor] : form.terms) {
    atom.isDivergent |= part->isDivergent;
    atom.isDivergentInWarp |= part->isDivergentInWarp;
    atom.isDivergentInGrid |= part->isDivergentInGrid;
    atom.isUnsteady |= part->isUnsteady;
    atom.isInput &= part->isInput;
    atom.isOfThread &= part->isOfThread;
    for (const KernelLoop *loop : part->loops)
      if (!llvm::is_contained(atom.loops, loop))
        atom.loops.push_back(loop);
  }
}

static void inherit(SymbolicAtom &atom, const SymbolicCondition &condition) {
  inherit(atom, condition.form);
  for (const SymbolicCondition &part : condition.parts)
    inherit(atom, part);
}

void AtomTable::derive(SymbolicAtom &atom) {
  if (!atom.isLeaf()) {
    atom.isOfThread = true;
    for (const SymbolicForm &operand : atom.operands)
      inherit(atom, operand);
    inherit(atom, atom.condition);
  }
  if (atom.kind == SymbolicAtom::Total) {
    atom.loops.push_back(atom.loop);
    atom.isOfThread = false;
  }
  atom.range = deriveRange(atom, sizes);
}

static llvm::hash_code hashCondition(const SymbolicCondition &condition) {
  llvm::hash_code hash = llvm::hash_combine(condition.kind, condition.form);
  for (const SymbolicCondition &part : condition.parts)
    hash = llvm::hash_combine(hash, hashCondition(part));
  return hash;
}

const SymbolicAtom *AtomTable::intern(SymbolicAtom atom) {
  // Functions are told apart by what they do, not by where they stand.
  const void *name =
      atom.op ? atom.op->getName().getAsOpaquePointer() : nullptr;
  size_t hash = llvm::hash_combine(
      atom.kind, atom.dim, atom.what, atom.loop,
      atom.value.getAsOpaquePointer(), name,
      llvm::hash_combine_range(atom.operands.begin(), atom.operands.end()),
      hashCondition(atom.condition));
  auto [begin, end] = interned.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    const SymbolicAtom &other = *it->second;
    bool isSameFunction =
        (!atom.op && !other.op) ||
        (atom.op && other.op && atom.op->getName() == other.op->getName() &&
         atom.op->getResultTypes() == other.op->getResultTypes());
    // More may be taken for granted of a value than is known.
    bool isSameRange = atom.kind != SymbolicAtom::Opaque ||
                       (atom.range.min == other.range.min &&
                        atom.range.max == other.range.max);
    if (isSameRange && other.kind == atom.kind && other.dim == atom.dim &&
        other.what == atom.what && other.loop == atom.loop &&
        other.value == atom.value && isSameFunction &&
        other.operands == atom.operands && other.condition == atom.condition)
      return &other;
  }
  derive(atom);
  atom.number = atoms.size();
  atoms.push_back(std::make_unique<SymbolicAtom>(std::move(atom)));
  interned.emplace(hash, atoms.back().get());
  return atoms.back().get();
}

SymbolicForm AtomTable::ofAtom(SymbolicAtom atom) {
  const SymbolicAtom *made = intern(std::move(atom));
  SymbolicForm form;
  if (made->range.min && made->range.min == made->range.max)
    form.constant = *made->range.min;
  else
    form.terms.emplace_back(made, 1);
  return form;
}

//===----------------------------------------------------------------------===//
// Leaves
//===----------------------------------------------------------------------===//

Interval getTypeRange(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || integer.getWidth() >= 64)
    return {};
  if (integer.getWidth() == 1)
    return {0, 1};
  return {llvm::minIntN(integer.getWidth()), llvm::maxIntN(integer.getWidth())};
}

/// True if `value` is one for all of a launch: an argument of the kernel, or
/// what is computed outside of it.
static bool isGiven(Value value, Operation *scope) {
  if (!getBody(scope)->isAncestor(value.getParentRegion()))
    return true;
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getOwner() == &getBody(scope)->front();
}

/// What is given, and of which `value` is a narrower cast; else null.
static Value getGivenSource(Value value, Operation *scope) {
  auto cast = value.getDefiningOp<arith::IndexCastOp>();
  return cast && isa<IndexType>(cast.getIn().getType()) &&
                 isGiven(cast.getIn(), scope)
             ? cast.getIn()
             : Value();
}

/// The first of all casts of `source` to `type`.
static Value getFirstCast(Value source, Type type) {
  Value first;
  for (Operation *user : source.getUsers()) // the last one comes first
    if (isa<arith::IndexCastOp>(user) && user->getResult(0).getType() == type)
      first = user->getResult(0);
  return first;
}

/// True if a launch may choose `value`, which is given or the cast of what is,
/// whatever it chooses besides.
bool AtomTable::isFree(Value value) const {
  if (Value source = getGivenSource(value, scope)) {
    // What is left in another type depends on it.
    bool isOnlyCast = llvm::all_of(source.getUsers(), [&](Operation *user) {
      return isa<arith::IndexCastOp>(user) &&
             user->getResult(0).getType() == value.getType();
    });
    return isOnlyCast && isFree(source);
  }
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getOwner() == &getBody(scope)->front()
             ? arguments.isFree(argument)
             : arguments.isChosen(value);
}

/// What is different each time; `number` tells it from others.
static Atom makeUnknown(unsigned number) {
  Atom atom;
  atom.isDivergent = atom.isDivergentInWarp = atom.isDivergentInGrid = true;
  atom.isUnsteady = true;
  atom.isInput = false;
  atom.dim = number;
  return atom;
}

SymbolicForm AtomTable::makeAny(int64_t count) {
  Atom atom = makeUnknown(atoms.size());
  atom.range = {0, count - 1};
  return ofAtom(std::move(atom));
}

SymbolicForm AtomTable::makeOpaque(Value value) {
  if (!value)
    return ofAtom(makeUnknown(atoms.size()));
  Atom atom;
  atom.value = value;
  atom.range = getTypeRange(value.getType());
  if (isNeverNegative(value))
    atom.range.min = 0;
  Value source = getGivenSource(value, scope);
  if (source)
    atom.value = getFirstCast(source, value.getType());
  atom.isDivergentInGrid = !source && !isGiven(value, scope);
  atom.isInput = !atom.isDivergentInGrid && isFree(value);
  Value made = source ? source : value;
  if (getBody(scope)->isAncestor(made.getParentRegion())) {
    atom.isDivergent = !block.isUniform(made);
    atom.isDivergentInWarp = atom.isDivergent && !warp.isUniform(made);
    for (const KernelLoop *loop = loops.getLoop(made.getParentBlock()); loop;
         loop = loop->parent) {
      atom.loops.push_back(loop);
      atom.isUnsteady |= !loop->isCountable;
    }
  }
  return ofAtom(std::move(atom));
}

SymbolicForm AtomTable::getThreadId(unsigned dim) {
  Atom atom;
  atom.kind = Atom::ThreadId;
  atom.dim = dim;
  atom.isDivergent = atom.isDivergentInWarp = atom.isDivergentInGrid = true;
  atom.isOfThread = true;
  return ofAtom(std::move(atom));
}

SymbolicForm AtomTable::makeGridValue(Atom::GridKind what, unsigned dim) {
  if (what == Atom::BlockSize && sizes.shape.sizes[dim])
    return *sizes.shape.sizes[dim];
  if (what == Atom::GridSize && sizes.grid[dim])
    return *sizes.grid[dim];
  if (what == Atom::BlockId && sizes.grid[dim] == 1)
    return 0;
  Atom atom;
  atom.kind = Atom::GridValue;
  atom.what = what;
  atom.dim = dim;
  atom.isDivergentInGrid = what == Atom::BlockId;
  return ofAtom(std::move(atom));
}

SymbolicCondition AtomTable::isOne(SymbolicForm form) {
  form.constant -= 1;
  return SymbolicCondition::of(SymbolicCondition::NonNegative, form);
}

SymbolicCondition AtomTable::getUnknown() { return isOne(makeAny(2)); }

} // namespace mlir::workgroup
