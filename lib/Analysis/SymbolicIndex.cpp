//===- SymbolicIndex.cpp - Index arithmetic as linear forms ---------------===//
//
// Part of the mlir-workgroup project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "workgroup/Analysis/SymbolicIndex.h"
#include "IntegerArithmetic.h"
#include "SymbolicTranslator.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::workgroup {

using Atom = SymbolicAtom;
using Condition = SymbolicCondition;
using Form = SymbolicForm;

/// Deep chains of operations are not worth the stack.
static constexpr unsigned kMaxDepth = 128;

/// Along which dimensions `scope`, and what it calls, asks for ids of threads,
/// or for numbers of them. False if that is not known.
static bool findAskedIds(Operation *scope, std::array<bool, 3> &isAsked,
                         DenseSet<Operation *> &visited) {
  bool isKnown = true;
  scope->walk([&](Operation *op) {
    if (auto call = dyn_cast<CallOpInterface>(op)) {
      Operation *callee = call.resolveCallable();
      bool isBody = callee && getBody(callee);
      isKnown &= isBody && (!visited.insert(callee).second ||
                            findAskedIds(callee, isAsked, visited));
    }
    llvm::TypeSwitch<Operation *>(op)
        .Case<gpu::ThreadIdOp, gpu::BlockDimOp, gpu::GlobalIdOp>(
            [&](auto id) { isAsked[unsigned(id.getDimension())] = true; })
        .Case<NVVM::ThreadIdYOp, NVVM::BlockDimYOp>(
            [&](auto) { isAsked[1] = true; })
        .Case<NVVM::ThreadIdZOp, NVVM::BlockDimZOp>(
            [&](auto) { isAsked[2] = true; });
  });
  if (auto launch = dyn_cast<gpu::LaunchOp>(scope)) {
    gpu::KernelDim3 ids = launch.getThreadIds(), sizes = launch.getBlockSize();
    isAsked[1] |= !ids.y.use_empty() || !sizes.y.use_empty();
    isAsked[2] |= !ids.z.use_empty() || !sizes.z.use_empty();
  }
  return isKnown;
}

SymbolicIndex::SymbolicIndex(Operation *scope, const KernelLoops &loops,
                             const UniformityAnalysis &block,
                             const UniformityAnalysis &warp)
    : scope(scope), loops(loops), block(block), warp(warp),
      shape(getBlockShape(scope)) {
  // What a kernel never asks for is taken not to be there: threads that differ
  // only in it would all do the same.
  std::array<bool, 3> isAsked = {false, false, false};
  DenseSet<Operation *> visited = {scope};
  if (!isKernel(scope) || !findAskedIds(scope, isAsked, visited))
    return;
  for (unsigned dim = 1; dim < 3; ++dim)
    if (!shape.sizes[dim] && !isAsked[dim])
      shape.sizes[dim] = 1;
}

//===----------------------------------------------------------------------===//
// Leaves
//===----------------------------------------------------------------------===//

SymbolicRange getTypeRange(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || integer.getWidth() >= 64)
    return {};
  if (integer.getWidth() == 1)
    return {0, 1};
  return {llvm::minIntN(integer.getWidth()), llvm::maxIntN(integer.getWidth())};
}

/// True if a launch may choose `value` freely: an argument of the kernel, or
/// what is computed outside of it.
static bool isFree(Value value, Operation *scope) {
  Region *region = value.getParentRegion();
  if (!getBody(scope)->isAncestor(region))
    return true;
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getOwner() == &getBody(scope)->front();
}

SymbolicForm SymbolicIndex::makeOpaque(Value value) {
  Atom atom;
  if (!value) {
    // Nothing is known of it, not even when it is the same.
    atom.isDivergent = atom.isDivergentInWarp = atom.isUnsteady = true;
    atom.isInput = false;
    atom.dim = atoms.size();
    return ofAtom(std::move(atom));
  }
  atom.value = value;
  atom.range = getTypeRange(value.getType());
  atom.isInput = isFree(value, scope);
  // What is left of an argument in a narrower type is as free as that.
  if (auto cast = value.getDefiningOp<arith::IndexCastOp>())
    atom.isInput |= isFree(cast.getIn(), scope);
  if (getBody(scope)->isAncestor(value.getParentRegion())) {
    atom.isDivergent = !block.isUniform(value);
    atom.isDivergentInWarp = atom.isDivergent && !warp.isUniform(value);
    for (const KernelLoop *loop = loops.getLoop(value.getParentBlock()); loop;
         loop = loop->parent) {
      atom.loops.push_back(loop);
      atom.isUnsteady |= !loop->isCountable;
    }
  }
  return ofAtom(std::move(atom));
}

SymbolicForm SymbolicIndex::makeThreadId(unsigned dim) {
  Atom atom;
  atom.kind = Atom::ThreadId;
  atom.dim = dim;
  atom.isDivergent = atom.isDivergentInWarp = atom.isOfThread = true;
  return ofAtom(std::move(atom));
}

SymbolicForm SymbolicIndex::makeGridValue(Atom::GridKind what, unsigned dim) {
  if (what == Atom::BlockSize && shape.sizes[dim])
    return *shape.sizes[dim];
  Atom atom;
  atom.kind = Atom::GridValue;
  atom.what = what;
  atom.dim = dim;
  return ofAtom(std::move(atom));
}

SymbolicForm SymbolicIndex::getTurn(const KernelLoop *loop) {
  Atom atom;
  atom.kind = Atom::Turn;
  atom.loop = loop;
  atom.loops = {loop};
  atom.isUnsteady = !loop->isCountable;
  atom.range.min = 0;
  if (std::optional<Span> span = getSpan(loop)) {
    SymbolicRange length = getRange(span->length), step = getRange(span->step);
    if (length.max)
      atom.range.max = std::max<int64_t>(0, *length.max - 1) /
                       std::max<int64_t>(1, step.min.value_or(1));
  }
  return ofAtom(std::move(atom));
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

SymbolicForm SymbolicIndex::getForm(OpFoldResult index) {
  if (std::optional<int64_t> number = getConstantIntValue(index))
    return *number;
  return getForm(cast<Value>(index));
}

SymbolicForm SymbolicIndex::getForm(Value value) {
  if (auto it = forms.find(value); it != forms.end())
    return it->second;
  if (depth == kMaxDepth)
    return makeOpaque(value);
  ++depth;
  Form form = SymbolicTranslator(*this).translate(value);
  --depth;
  forms[value] = form;
  return form;
}

SymbolicForm SymbolicIndex::getForm(const LinearIndex &index) {
  Form form = index.constant;
  for (auto [value, factor] : index.terms)
    form = add(form, getForm(value), factor, nullptr);
  for (const LinearIndex::AffineTerm &term : index.affineTerms)
    form = add(form, getForm(term.map, term.operands), term.factor, nullptr);
  return form;
}

SymbolicForm SymbolicIndex::getForm(AffineMap map, ValueRange operands) {
  return SymbolicTranslator(*this).translate(map.getResult(0), operands,
                                             map.getNumDims());
}

} // namespace mlir::workgroup
